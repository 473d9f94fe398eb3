//! Redirects: where they lead, and what of a step's request goes along. The bytes are those that Hurl 8.0.1 sends, but for
//! the order of fields.

use ablaze_journey::{Drafts, Files, Headers, Jar, Redirect, Redirecting, Sending, Site};
use ablaze_wire::url::Url;

use super::support::{Fixed, journey};

fn sites() -> Vec<Site> {
    ["http://h:81/", "http://h:82/", "https://h/"]
        .map(|url| Site::of(&Url::parse(url).unwrap(), "agent"))
        .into()
}

/// The requests of a step that gets these responses: statuses and where they lead.
fn sent(text: &str, responses: &[(u16, &str)]) -> Result<Vec<String>, String> {
    let journey = journey(text);
    let (step, sites) = (&journey.steps[0], sites());
    let (mut url, mut origin, mut drafts) = (Vec::new(), 0, Drafts::default());
    let mut redirect = Redirect::default();
    let mut requests = Vec::new();
    for position in 0..=responses.len() {
        let mut out = Vec::new();
        let mut sending = Sending {
            sites: &sites,
            files: &Files::new(),
            jar: &Jar::new(),
            variables: &journey.variables(),
            moment: &mut Fixed,
            redirect: &redirect,
            url: &mut url,
            origin: &mut origin,
            drafts: &mut drafts,
        };
        step.write_request(&mut sending, &mut out).map_err(|failure| failure.to_string())?;
        let text = String::from_utf8(out).unwrap();
        requests.push(text.replace("User-Agent: agent\r\nAccept: */*\r\n", ""));
        let Some((status, location)) = responses.get(position) else { break };
        let fields = format!("Location: {location}\r\n");
        let headers = Headers::Lines(fields.as_bytes());
        let response = Redirecting { status: *status, headers, url: &url, origin };
        let followed = redirect.follow(step, &response, &sites);
        if !followed.map_err(|failure| failure.to_string())? {
            break;
        }
    }
    Ok(requests)
}

const POST: &str = "POST http://h:81/a\nX-A: 1\nContent-Type: text/x\nAuthorization: t\n[Cookies]\nk: v\n[Options]\nlocation: \
                    true\n`body`\n";
const WHOLE: &str = "Host: h:81\r\nX-A: 1\r\nContent-Type: text/x\r\nAuthorization: t\r\nCookie: k=v\r\nContent-Length: 4\r\n\r\nbody";

#[test]
fn the_method_becomes_get_where_curl_makes_it_one() {
    for status in [301, 302, 303] {
        let requests = sent(POST, &[(status, "/b")]).unwrap();
        assert_eq!(requests[0], format!("POST /a HTTP/1.1\r\n{WHOLE}"));
        let rest = WHOLE.replace("Content-Length: 4\r\n\r\nbody", "\r\n");
        assert_eq!(requests[1], format!("GET /b HTTP/1.1\r\n{rest}"), "{status}");
    }
    for status in [300, 304, 305, 307, 308] {
        let requests = sent(POST, &[(status, "/b")]).unwrap();
        assert_eq!(requests[1], format!("POST /b HTTP/1.1\r\n{WHOLE}"), "{status}");
    }
    // A GET stays one.
    let requests = sent(POST, &[(302, "/b"), (307, "/c")]).unwrap();
    assert!(requests[2].starts_with("GET /c HTTP/1.1\r\n"), "{}", requests[2]);
    let head = "HEAD http://h:81/a\n[Options]\nlocation: true\n";
    assert!(sent(head, &[(302, "/b")]).unwrap()[1].starts_with("GET "));
    assert!(sent(head, &[(307, "/b")]).unwrap()[1].starts_with("HEAD "));
    let form = "POST http://h:81/a\n[Options]\nlocation: true\n[Form]\na: b\n";
    assert_eq!(sent(form, &[(302, "/b")]).unwrap()[1], "GET /b HTTP/1.1\r\nHost: h:81\r\n\r\n");
    assert!(sent(form, &[(307, "/b")]).unwrap()[1].ends_with("\r\n\r\na=b"));
}

#[test]
fn credentials_stay_where_they_were_meant_to_go() {
    let requests = sent(POST, &[(302, "http://h:82/b"), (302, "http://h:81/c")]).unwrap();
    // Not back at the first either.
    for (request, host) in requests[1..].iter().zip(["h:82", "h:81"]) {
        assert!(request.contains(&format!("Host: {host}\r\n")), "{request}");
        assert!(!request.contains("Authorization"), "{request}");
        assert!(request.contains("X-A: 1\r\n") && request.contains("Cookie: k=v\r\n"), "{request}");
    }
    let basic = "GET http://h:81/a\n[BasicAuth]\nu: p\n[Options]\nlocation: true\n";
    assert!(sent(basic, &[(302, "/b")]).unwrap()[1].contains("Authorization: Basic dTpw\r\n"));
    for other in ["http://h:82/", "https://h/"] {
        assert!(!sent(basic, &[(302, other)]).unwrap()[1].contains("Authorization"), "{other}");
    }
}

#[test]
fn trusted_redirects_take_credentials_along() {
    let trusting = POST.replace("location: ", "location-trusted: ");
    let requests = sent(&trusting, &[(307, "http://h:82/b"), (307, "http://h:81/c")]).unwrap();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|one| one.contains("\r\nAuthorization: t\r\n")), "{requests:?}");
    let basic = "GET http://h:81/a\n[BasicAuth]\nu: p\n[Options]\nlocation-trusted: true\n";
    let requests = sent(basic, &[(302, "https://h/")]).unwrap();
    assert!(requests[1].contains("Authorization: Basic dTpw\r\n"), "{requests:?}");
    // The later of the two options counts, as in Hurl.
    let not = basic.replace("trusted: true", "trusted: true\nlocation: false");
    assert_eq!(sent(&not, &[(302, "/b")]).unwrap().len(), 1);
}

#[test]
fn locations_are_resolved_as_references() {
    let lead = |from: &str, to: &str| {
        let text = format!("GET {from}\n[Options]\nlocation: true\n");
        let request = sent(&text, &[(302, to)]).unwrap().swap_remove(1);
        let mut lines = request.lines();
        let target = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
        (target, lines.next().unwrap()["Host: ".len()..].to_owned())
    };
    let same = |to: &str| lead("http://h:81/a/b?c=d", to).0;
    for (to, target) in [
        ("/e", "/e"),
        ("e", "/a/e"),
        ("./e", "/a/e"),
        ("../e", "/e"),
        ("../../../e/.", "/e/"),
        ("/e/../f?g/..", "/f?g/.."),
        ("?e", "/a/b?e"),
        ("", "/a/b?c=d"),
        ("#x", "/a/b?c=d"),
        ("/e f\u{e9}", "/e%20f%C3%A9"),
        ("http://h:81", "/"),
        ("http://h:81?e", "/?e"),
        ("HTTP://H:81/e", "/e"),
    ] {
        assert_eq!(same(to), target, "{to}");
    }
    assert_eq!(lead("http://h:81/a", "//h:82/e"), ("/e".into(), "h:82".into()));
    assert_eq!(lead("/a/b", "c"), ("/a/c".into(), "h:81".into()));
}

#[test]
fn what_is_not_followed() {
    let text = "GET http://h:81/a\n[Options]\nlocation: true\nmax-redirs: 1\n";
    assert_eq!(sent(text, &[(302, "/b"), (200, "/c")]).unwrap().len(), 2);
    assert_eq!(
        sent(text, &[(302, "/b"), (302, "/c")]).unwrap_err(),
        "line 1: too many redirects: the limit is 1 (fix: max-redirs)"
    );
    let none = text.replace("max-redirs: 1", "max-redirs: 0");
    assert_eq!(
        sent(&none, &[(302, "/b")]).unwrap_err(),
        "line 1: too many redirects: the limit is 0 (fix: max-redirs)"
    );
    let all = text.replace("max-redirs: 1", "max-redirs: -1");
    assert_eq!(sent(&all, &[(302, "/b"); 60]).unwrap().len(), 61);
    let usual = "GET http://h:81/a\n[Options]\nlocation: true\n";
    assert_eq!(sent(usual, &[(302, "/b"); 50]).unwrap().len(), 51);
    assert_eq!(
        sent(usual, &[(302, "/b"); 51]).unwrap_err(),
        "line 1: too many redirects: the limit is 50 (fix: max-redirs)"
    );
    assert_eq!(sent("GET http://h:81/a\n", &[(302, "/b")]).unwrap().len(), 1);
    for (to, host) in [
        ("http://u:p@b\u{7}/", "http://b\\u{7}"),
        ("ftp://h/", "ftp://h"),
        ("mailto:x", "mailto:x"),
    ] {
        let message = sent(usual, &[(302, to)]).unwrap_err();
        let start = format!("line 1: the redirect goes to {host}");
        assert!(message.starts_with(&start) && !message.contains("u:p"), "{message}");
    }
}
