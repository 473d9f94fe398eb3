//! Files of cookies in Netscape's format: what is read, what is written, and what is none.

use ablaze_journey::{Jar, Origin};

const NOW: i64 = 1_700_000_000;

fn origin<'a>(host: &'a str, path: &'a str, is_tls: bool) -> Origin<'a> {
    Origin { host, path, is_tls }
}

const FILE: &str = "# Netscape HTTP Cookie File\n\n\
    h.example\tFALSE\t/\tFALSE\t0\tone\t1\r\n\
    .h.example\tTRUE\t/\tFALSE\t0\tbelow\t2\n\
    #HttpOnly_h.example\tFALSE\t/x\tFALSE\t0\tx\t3\n\
    h.example\tFALSE\t/\tTRUE\t0\tsecure\t4\n\
    h.example\tFALSE\t/\tFALSE\t1000\tgone\t5\n\
    h.example\tFALSE\t/\tFALSE\t0\tempty\n";

#[test]
fn cookies_of_a_file_are_sent_where_they_are_meant() {
    let mut jar = Jar::new();
    jar.read_netscape(FILE, NOW).unwrap();
    let sent = |host, path, is_tls| jar.field_like_curl(&origin(host, path, is_tls), NOW);
    assert_eq!(sent("h.example", "/", false).as_deref(), Some("empty=; below=2; one=1"));
    assert_eq!(sent("h.example", "/x/y", false).as_deref(), Some("x=3; empty=; below=2; one=1"));
    assert_eq!(sent("a.h.example", "/", false).as_deref(), Some("below=2"));
    assert_eq!(sent("h.example", "/", true).as_deref(), Some("secure=4; empty=; below=2; one=1"));
    assert_eq!(sent("other", "/", true), None);
}

#[test]
fn what_is_written_is_read_again() {
    let mut jar = Jar::new();
    jar.read_netscape(FILE, NOW).unwrap();
    jar.store(b"s=1; Path=/; HttpOnly; Max-Age=60", &origin("h.example", "/a", false), NOW);
    let text = jar.to_netscape();
    assert!(text.contains("#HttpOnly_h.example\tFALSE\t/\tFALSE\t1700000060\ts\t1\n"), "{text}");
    assert!(text.contains("\n.h.example\tTRUE\t/\tFALSE\t0\tbelow\t2\n"), "{text}");
    assert!(!text.contains("gone"), "{text}");
    let mut again = Jar::new();
    again.read_netscape(&text, NOW).unwrap();
    assert_eq!(again.to_netscape(), text);
}

#[test]
fn what_is_no_cookie_is_named_by_its_line() {
    for (line, expected) in [
        ("a=b; c=d", "seven fields"),
        ("h\tMAYBE\t/\tFALSE\t0\ta\tb", "TRUE or FALSE"),
        ("h\tTRUE\t/\tFALSE\tsoon\ta\tb", "seconds since 1970"),
        ("h\tTRUE\tx\tFALSE\t0\ta\tb", "a path in the third"),
        ("\tTRUE\t/\tFALSE\t0\ta\tb", "a domain in the first"),
        ("h\tTRUE\t/\tFALSE\t0\ta\tb\u{1}", "no control characters"),
    ] {
        let (number, why) =
            Jar::new().read_netscape(&format!("# first\n{line}\n"), NOW).unwrap_err();
        assert!(number == 2 && why.contains(expected), "{line}: {number} {why}");
    }
}
