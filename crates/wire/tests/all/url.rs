//! URLs: as people type them, as ab reads them, as gurl reads them.

use ablaze_wire::url::{InvalidLikeAb, Scheme, Url, UrlError, is_url_like};
use proptest::prelude::*;

/// Parsed and written again, with the host and port as the connection uses them.
fn parsed(text: &str) -> (String, String, u16) {
    let url = Url::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    (url.to_string(), url.host, url.port)
}

fn refused(text: &str, named: &str) {
    let error = Url::parse(text).expect_err(text).to_string();
    assert!(error.contains(named), "{text:?}: {error:?} does not name {named:?}");
    assert!(!error.contains('\n'));
}

#[test]
fn as_people_type_them() {
    for (typed, whole, host, port) in [
        (":8080/x", "http://127.0.0.1:8080/x", "127.0.0.1", 8080),
        (":8080", "http://127.0.0.1:8080/", "127.0.0.1", 8080),
        (":80?q", "http://127.0.0.1/?q", "127.0.0.1", 80),
        ("localhost", "http://localhost/", "localhost", 80),
        ("localhost:81", "http://localhost:81/", "localhost", 81),
        ("example.com/a/b?c=d#e", "http://example.com/a/b?c=d", "example.com", 80),
        ("http://h", "http://h/", "h", 80),
        ("http://h?x#y", "http://h/?x", "h", 80),
        ("http://h#y/z", "http://h/", "h", 80),
        ("HTTP://H:080/", "http://H/", "H", 80),
        ("http://h:/x", "http://h/x", "h", 80),
        ("https://h/", "https://h/", "h", 443),
        ("https://h:80/", "https://h:80/", "h", 80),
        ("http://h:443/", "http://h:443/", "h", 443),
        ("[::1]", "http://[::1]/", "::1", 80),
        ("http://[fe80::1]:8080/x", "http://[fe80::1]:8080/x", "fe80::1", 8080),
        ("https://[::1]:443/", "https://[::1]/", "::1", 443),
        ("h/a b/\u{fc}?\u{20ac}=x y", "http://h/a%20b/%C3%BC?%E2%82%AC=x%20y", "h", 80),
        ("h/%20%zz/{seq}?{rand:3}", "http://h/%20%zz/{seq}?{rand:3}", "h", 80),
        ("h/?u=http://x/#y", "http://h/?u=http://x/", "h", 80),
        ("h/a@b:c", "http://h/a@b:c", "h", 80),
        ("  h/  ", "http://h/", "h", 80),
        ("under_score.h:1/", "http://under_score.h:1/", "under_score.h", 1),
        ("h:65535/", "http://h:65535/", "h", 65535),
    ] {
        assert_eq!(parsed(typed), (whole.into(), host.into(), port), "{typed}");
    }
}

#[test]
fn userinfo_comes_apart_and_is_not_shown() {
    let url = Url::parse("http://me:a%40b%zz@h:8080/x").unwrap();
    assert_eq!(url.userinfo.as_deref(), Some("me:a@b%zz"));
    assert_eq!(url.to_string(), "http://h:8080/x");
    assert_eq!(url.host_header(), "h:8080");
    assert_eq!(Url::parse("a@b@h/").unwrap().userinfo.as_deref(), Some("a@b"));
    assert_eq!(Url::parse("h/").unwrap().userinfo, None);
    assert_eq!(Url::parse("%ff@h/"), Err(UrlError::Userinfo));
}

#[test]
fn what_cannot_be_loaded_is_refused_by_name() {
    refused("", "empty");
    refused("   ", "empty");
    refused("ftp://h/", "ftp://");
    refused("ws://h/", "ws://");
    refused("http:/h/", "two slashes");
    refused("http:h/", "two slashes");
    refused("http://", "no host");
    refused("http://:8080/", "no host");
    refused("/x", "no host");
    refused("u@:80/", "no host");
    refused("h:0/", "port 0");
    refused(":0", "port 0");
    refused("h:65536/", "port 65536");
    refused("h:99999999999999999999/", "out of range");
    refused("h:80x/", "port `80x`");
    refused("h:-1/", "port `-1`");
    refused("h:+80/", "port `+80`");
    refused("::1", "brackets");
    refused("::1:8080/", "brackets");
    refused("[::1/", "bracket is missing");
    refused("[::1]x/", "bracket");
    refused("[::1]:x/", "port `x`");
    refused("[1.2.3.4]/", "IPv6");
    refused("[fe80::1%eth0]/", "zone");
    refused("h h/", "letters");
    refused("h%41/", "letters");
    refused("b\u{fc}cher.example/", "xn--");
    refused("h/\r\nX: y", "control");
    refused("h/\u{7f}", "control");
}

/// The first word of a command line.
#[test]
fn words_that_are_urls() {
    for word in ["localhost", "h.example", ":8080", "h:80", "/x", "http://h", "[::1]"] {
        assert!(is_url_like(word), "{word}");
    }
    for word in ["", "serve", "demo", "localhos", "Localhost"] {
        assert!(!is_url_like(word), "{word}");
    }
}

#[test]
fn as_ab_reads_them() {
    let read = |text: &str| {
        let url = Url::parse_like_ab(text).unwrap_or_else(|_| panic!("{text:?}"));
        (url.scheme, url.host.clone(), url.port, url.path_and_query.clone(), url.host_header())
    };
    let http = |host: &str, port, path: &str, header: &str| {
        (Scheme::Http, host.to_owned(), port, path.to_owned(), header.to_owned())
    };
    assert_eq!(read("http://h/"), http("h", 80, "/", "h"));
    assert_eq!(read("h:8080/a b?c#d"), http("h", 8080, "/a b?c#d", "h:8080"));
    assert_eq!(read("http://h:443/"), http("h", 443, "/", "h:443"));
    assert_eq!(read("h:80/"), http("h", 80, "/", "h"));
    assert_eq!(read("https://h/").2, 443);
    assert_eq!(read("https://h:443/").4, "h");
    assert_eq!(read("http://[::1]:81/x"), http("::1", 81, "/x", "[::1]:81"));
    assert_eq!(read("[::1]/"), http("::1", 80, "/", "[::1]"));
    // Other schemes, other ports, a user: all part of a name, which the resolver will not know.
    assert_eq!(read("HTTP://h/"), http("HTTP:", 80, "//h/", "HTTP:"));
    assert_eq!(read("ftp://h/").1, "ftp:");
    assert_eq!(read("h:80x/").1, "h:80x");
    assert_eq!(read("u:p@h:81/").1, "u:p@h");
    assert_eq!(read("host9/").1, "host9");
    for invalid in [
        "",
        "h",
        "h:80",
        "http://h",
        "http://h?x",
        "/",
        "http:///x",
        ":80/",
        "8080/",
        "h:0/",
        "h:65536/",
        "h:99999999999/",
        "[::1/",
        "[::1]x/",
        "[h]/",
        "[fe80::1%eth0]/",
    ] {
        assert_eq!(Url::parse_like_ab(invalid), Err(InvalidLikeAb), "{invalid:?}");
    }
}

#[test]
fn as_gurl_reads_them() {
    let read = |text: &str| Url::parse_like_gurl(text).unwrap().to_string();
    assert_eq!(read(":12345/p"), "http://127.0.0.1:12345/p");
    assert_eq!(read("/p"), "http://127.0.0.1/p");
    assert_eq!(read("httpbin.org"), "http://httpbin.org/");
    assert_eq!(read("https://h/x"), "https://h/x");
    assert_eq!(Url::parse_like_gurl(""), Err(UrlError::Empty));
}

#[test]
fn a_text_loses_its_user_and_password_and_nothing_else() {
    let text = Url::text_without_userinfo;
    for (typed, shown) in [
        ("http://me:pw@h:80/a@b:c#x", "http://h:80/a@b:c#x"),
        ("HTTPS://token@[::1]/", "HTTPS://[::1]/"),
        ("a:b@c@h/?u=http://d:e@f/", "h/?u=http://d:e@f/"),
        ("h/a 1", "h/a 1"),
        ("/path/me:pw@x", "/path/me:pw@x"),
        ("h?a@b", "h?a@b"),
    ] {
        assert_eq!(text(typed), shown);
    }
}

proptest! {
    /// A text without user and password is the same URL without them.
    #[test]
    fn without_userinfo_it_is_the_same_url(text in "(https?://)?(\\PC{0,9}@)?\\PC{0,30}") {
        if let Ok(url) = Url::parse(&text) {
            let shown = Url::parse(&Url::text_without_userinfo(text.trim_ascii()));
            prop_assert_eq!(shown, Ok(Url { userinfo: None, ..url }));
        }
    }

    /// What was read can be written and read again, and fits a request line.
    #[test]
    fn reading_what_was_written_gives_the_same(text in "(https?://)?\\PC{0,30}") {
        if let Ok(url) = Url::parse(&text) {
            let target = url.path_and_query.as_bytes();
            prop_assert!(target[0] == b'/' && target.iter().all(|b| (0x21..0x7f).contains(b)));
            let again = Url::parse(&url.to_string());
            prop_assert_eq!(again, Ok(Url { userinfo: None, ..url }));
        }
    }

    #[test]
    fn ab_s_reading_never_panics(text in "[\\[\\]:/@%0-9a-f.]{0,20}") {
        let _ = Url::parse_like_ab(&text);
    }
}

#[test]
fn a_port_alone_and_a_scheme_without_its_colon_are_no_hosts() {
    let refused = |text: &str| Url::parse(text).unwrap_err().to_string();
    let line = refused("8080");
    assert!(line.contains("0.0.31.144") && line.ends_with("write :8080"), "{line}");
    assert!(refused("8080/x").contains("write :8080"));
    for text in ["http//127.0.0.1/", "https//h/"] {
        assert!(refused(text).contains("a colon and two slashes"), "{text}");
    }
    // An address as one number is no port, and a scheme says that a host follows.
    assert_eq!(Url::parse("2130706433").unwrap().host, "2130706433");
    assert_eq!(Url::parse("http://8080/").unwrap().host, "8080");
    assert_eq!(Url::parse("http").unwrap().host, "http");
}
