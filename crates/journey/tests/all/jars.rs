//! The cookie jar, by the rules of RFC 6265 and those of curl.

use ablaze_journey::{Jar, Origin};

const NOW: i64 = 1_700_000_000;

fn origin<'a>(host: &'a str, path: &'a str) -> Origin<'a> {
    Origin { host, path, is_tls: false }
}

fn sent(jar: &Jar, host: &str, path: &str) -> String {
    sent_at(jar, &origin(host, path), NOW)
}

fn sent_at(jar: &Jar, origin: &Origin<'_>, now: i64) -> String {
    let mut out = Vec::new();
    let is_any = jar.write(origin, now, &mut out);
    assert_eq!(is_any, !out.is_empty());
    String::from_utf8(out).unwrap()
}

/// A jar with what a host set on a path.
fn jar(host: &str, path: &str, fields: &[&str]) -> Jar {
    let mut jar = Jar::new();
    for field in fields {
        jar.store(field.as_bytes(), &origin(host, path), NOW);
    }
    jar
}

#[test]
fn a_cookie_is_for_its_host_only() {
    let jar = jar("www.example.org", "/", &["a=1"]);
    assert_eq!(sent(&jar, "www.example.org", "/x"), "a=1");
    for other in ["example.org", "a.www.example.org", "ample.org", "xwww.example.org"] {
        assert_eq!(sent(&jar, other, "/"), "", "{other}");
    }
}

#[test]
fn a_domain_includes_what_is_below_it() {
    for field in ["a=1; Domain=example.org", "a=1; domain=.EXAMPLE.org"] {
        let jar = jar("www.example.org", "/", &[field]);
        for host in ["www.example.org", "example.org", "x.y.example.org"] {
            assert_eq!(sent(&jar, host, "/"), "a=1", "{host}");
        }
        for host in ["badexample.org", "org", "example.org.net"] {
            assert_eq!(sent(&jar, host, "/"), "", "{host}");
        }
    }
    let own = jar("example.org", "/", &["a=1; Domain=example.org"]);
    assert_eq!(sent(&own, "www.example.org", "/"), "a=1");
}

#[test]
fn nobody_sets_cookies_for_others() {
    for (host, domain) in [
        ("www.example.org", "other.org"),
        ("example.org", "www.example.org"),
        ("www.example.org", "org"),
        ("127.0.0.1", "0.0.1"),
        ("1.2.3.4", "3.4"),
    ] {
        let jar = jar(host, "/", &[&format!("a=1; Domain={domain}")]);
        assert!(jar.is_empty() && jar.refused() == 1, "{host} {domain}");
    }
    for host in ["localhost", "127.0.0.1", "::1"] {
        let jar = jar(host, "/", &[&format!("a=1; Domain={host}")]);
        assert_eq!(sent(&jar, host, "/"), "a=1", "{host}");
    }
}

#[test]
fn paths_are_matched_by_their_parts() {
    let named = jar("h", "/x/y", &["a=1; Path=/foo"]);
    for path in ["/foo", "/foo/", "/foo/bar"] {
        assert_eq!(sent(&named, "h", path), "a=1", "{path}");
    }
    for path in ["/", "/fo", "/foobar", "/x/foo", ""] {
        assert_eq!(sent(&named, "h", path), "", "{path}");
    }
    for (path, default) in
        [("/x/y", "/x"), ("/x/", "/x"), ("/x", "/"), ("/", "/"), ("", "/"), ("x", "/")]
    {
        let jar = jar("h", path, &["a=1; Path=relative"]);
        assert_eq!(sent(&jar, "h", default), "a=1", "{path}");
        assert_eq!(sent(&jar, "h", &format!("{default}z")).is_empty(), default != "/", "{path}");
    }
}

#[test]
fn longer_paths_come_first_and_older_cookies_before_younger() {
    let fields = ["a=1", "b=2; Path=/x/y", "c=3; Path=/x", "d=4; Path=/x", "a=5"];
    assert_eq!(sent(&jar("h", "/", &fields), "h", "/x/y/z"), "b=2; c=3; d=4; a=5");
    let both = ["a=1", "a=2; Path=/x"];
    assert_eq!(sent(&jar("h", "/", &both), "h", "/x"), "a=2; a=1");
}

#[test]
fn cookies_end() {
    let jar = jar(
        "h",
        "/",
        &[
            "a=1; Max-Age=60",
            "b=2; Expires=Wed, 15 Nov 2023 22:13:20 GMT",
            "c=3",
            "d=4; Expires=never",
        ],
    );
    let at = |now| sent_at(&jar, &origin("h", "/"), now);
    assert_eq!(at(NOW), "a=1; b=2; c=3; d=4");
    assert_eq!(at(NOW + 59), "a=1; b=2; c=3; d=4");
    assert_eq!(at(NOW + 60), "b=2; c=3; d=4");
    assert_eq!(at(NOW + 86_400), "c=3; d=4");
    let gone = [
        "Max-Age=0",
        "Max-Age=-1",
        "Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "Max-Age=0; Expires=Wed, 15 Nov 2033 22:13:20 GMT",
    ];
    for end in gone {
        let jar = super::jars::jar("h", "/", &["a=1", "b=2", &format!("a=; {end}")]);
        assert_eq!((sent(&jar, "h", "/"), jar.len()), ("b=2".to_owned(), 1), "{end}");
    }
    let other_path = super::jars::jar("h", "/", &["a=1", "a=; Path=/x; Max-Age=0"]);
    assert_eq!(sent(&other_path, "h", "/x"), "a=1");
}

#[test]
fn secure_cookies_need_a_secure_way() {
    let tls = Origin { is_tls: true, ..origin("example.org", "/") };
    let mut over_tls = Jar::new();
    assert!(over_tls.store(b"a=1; Secure", &tls, NOW));
    assert_eq!(sent_at(&over_tls, &tls, NOW), "a=1");
    assert_eq!(sent(&over_tls, "example.org", "/"), "");
    assert_eq!(jar("example.org", "/", &["a=1; secure"]).refused(), 1);
    assert_eq!(sent(&jar("localhost", "/", &["a=1; Secure"]), "localhost", "/"), "a=1");
    for (field, is_taken) in [
        ("__Secure-a=1", false),
        ("__Secure-a=1; Secure", true),
        ("__Host-a=1; Secure; Path=/", true),
        ("__Host-a=1; Secure; Path=/x", false),
        ("__Host-a=1; Secure; Path=/; Domain=example.org", false),
        ("__Host-a=1; Path=/", false),
    ] {
        assert_eq!(Jar::new().store(field.as_bytes(), &tls, NOW), is_taken, "{field}");
    }
}

#[test]
fn values_are_kept_as_they_are() {
    let fields =
        ["a=\"q=1\"; x", " b = c d ;", "c=", "d=e=f", "=g", "h", "", ";", "i\u{1}=1", "j=\u{e4}"];
    let jar = jar("h", "/", &fields);
    assert_eq!(sent(&jar, "h", "/"), "a=\"q=1\"; b=c d; c=; d=e=f; j=\u{e4}");
    assert_eq!(jar.refused(), 5);
}

#[test]
fn a_jar_is_bounded() {
    let mut jar = Jar::new();
    let here = origin("h", "/");
    assert!(!jar.store(format!("a={}", "x".repeat(4096)).as_bytes(), &here, NOW));
    assert!(jar.store(format!("a={}", "x".repeat(4095)).as_bytes(), &here, NOW));
    for index in 0..298 {
        assert!(jar.store(format!("n{index}=1").as_bytes(), &here, NOW));
    }
    assert!(jar.store(b"last=1; Max-Age=1", &here, NOW));
    assert_eq!(jar.len(), 300);
    assert!(!jar.store(b"more=1", &here, NOW));
    assert!(jar.store(b"n5=2", &here, NOW), "one that is known is no more");
    assert!(jar.store(b"more=1", &here, NOW + 1), "one has ended");
    assert_eq!((jar.len(), jar.refused()), (300, 2));
    jar.clear();
    assert!(jar.is_empty());
    jar.set("a", "1", "H");
    assert_eq!(sent(&jar, "h", "/x"), "a=1");
}
