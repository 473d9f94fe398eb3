//! Tests of [`super`]: where redirects lead, and what they carry on.

use ablaze_model::spec::Body;

use super::*;

fn to(location: &str, status: u16) -> Redirect {
    Redirect { status, location: location.to_owned() }
}

fn asked(url: &str, body: Option<&str>) -> Request {
    Request {
        url: Url::parse(url).unwrap(),
        method: None,
        headers: ["Host: own", "Authorization: a", "Cookie: b", "Content-Type: t", "X: y"]
            .map(str::to_owned)
            .to_vec(),
        user_agent: "gurl".into(),
        body: body.map(|body| Body::Given(body.into())),
        content_type: None,
        referer: None,
    }
}

#[test]
fn references_are_joined_as_the_rfc_says() {
    let base = Url::parse("http://a/b/c/d;p?q").unwrap();
    // RFC 3986, 5.4.
    for (reference, expected) in [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("https://h:1/x", "https://h:1/x"),
        ("g:80/x", "-"),
        ("mailto:a@b", "-"),
    ] {
        let url = joined(&base, reference).map_or_else(|_| "-".to_owned(), |url| url.to_string());
        assert_eq!(url, expected, "{reference}");
    }
}

#[test]
fn the_method_stays_where_it_must() {
    for (status, method, body, expected) in [
        (301, None, Some("b"), (Some("GET"), false)),
        (302, Some("PUT"), Some("b"), (Some("GET"), false)),
        (303, Some("HEAD"), None, (Some("HEAD"), false)),
        (307, None, Some("b"), (Some("POST"), true)),
        (308, Some("PUT"), Some("b"), (Some("PUT"), true)),
        (307, None, None, (None, false)),
    ] {
        let before = Request { method: method.map(str::to_owned), ..asked("http://h/", body) };
        let next = to("/x", status).follow(&before).unwrap();
        assert_eq!((next.method.as_deref(), next.body.is_some()), expected, "{status}");
        let typed = next.headers.iter().any(|line| line.starts_with("Content-Type"));
        assert_eq!(typed, status > 303, "{status}");
    }
}

#[test]
fn another_server_gets_no_credentials() {
    let before = asked("http://me:secret@h/", None);
    let kept = |url: &str| {
        let next = to(url, 307).follow(&before).unwrap();
        let named = |name: &str| next.headers.iter().any(|line| line.starts_with(name));
        let all =
            [named("Host"), named("Authorization"), named("Cookie"), next.url.userinfo.is_some()];
        assert!(named("X: y") && all.iter().all(|one| *one == all[0]), "{url}: {next:?}");
        all[0]
    };
    assert!(kept("/x") && kept("http://H:80/x"));
    for elsewhere in ["http://g/", "http://h:81/", "https://h/", "http://sub.h/"] {
        assert!(!kept(elsewhere), "{elsewhere}");
    }
}

#[test]
fn the_next_server_hears_where_it_came_from() {
    let before = asked("https://me:secret@h/a?b", None);
    let next = to("/x", 302).follow(&before).unwrap();
    assert_eq!(next.referer.as_deref(), Some("https://h/a?b"));
    let last = to("/y", 302).follow(&next).unwrap();
    assert_eq!(last.referer.as_deref(), Some("https://h/x"));
    assert_eq!(to("http://h/", 302).follow(&before).unwrap().referer, None);
}

#[test]
fn only_responses_with_a_location_redirect() {
    let head = |status, bytes: &'static [u8]| Head { status, bytes, request: b"" };
    let located = b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n";
    assert_eq!(Redirect::of(&head(302, located)), Some(to("/x", 302)));
    assert_eq!(Redirect::of(&head(200, located)), None);
    assert_eq!(Redirect::of(&head(304, located)), None);
    assert_eq!(Redirect::of(&head(302, b"HTTP/1.1 302 Found\r\n\r\n")), None);
}
