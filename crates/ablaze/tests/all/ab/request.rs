//! The bytes that `ablaze ab` sends, compared with those of the real ab.

use crate::ab::support::{Scratch, Server, ablaze, ok, real_ab};

/// Runs both and gives what the server received from each.
fn both_sent(words: &[&str], path: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let server = Server::answering(ok("hello"));
    let url = format!("http://{}{path}", server.address);
    let words: Vec<&str> = words.iter().copied().chain([&url[..]]).collect();
    real_ab(&words)?;
    ablaze(&words);
    let requests = server.requests.lock().unwrap();
    let [theirs, ours] = &requests[..] else {
        panic!("{words:?}: {} requests", requests.len());
    };
    Some((theirs.clone(), ours.clone()))
}

#[test]
fn requests_are_ab_s_byte_for_byte() {
    let body = Scratch::with("request-body", b"a=1&b=2&c=hello");
    let empty = Scratch::with("request-empty", b"");
    let (body, empty) = (body.word(), empty.word());
    let table: &[(&[&str], &str)] = &[
        (&[], "/"),
        (&[], "/a/b?x=1&y=%20#fragment"),
        (&[], "/{seq}/{rand:3}"),
        (&["-k"], "/"),
        (&["-i"], "/"),
        (&["-m", "DELETE"], "/"),
        (&["-p", body], "/post"),
        (&["-p", body, "-T", "application/x-www-form-urlencoded"], "/post"),
        (&["-p", empty], "/post"),
        (&["-u", body, "-k"], "/put"),
        (&["-p", body, "-m", "PATCH"], "/patch"),
        (&["-C", "a=1"], "/"),
        (&["-A", "user:pass"], "/"),
        (&["-A", "  user:pass "], "/"),
        (&["-P", "q:r", "-A", "u:p", "-P", "s:t"], "/"),
        (&["-H", "X-1: 1", "-H", "X-2:2", "-H", "Accept-Encoding: gzip"], "/"),
        (&["-H", "Host: other", "-H", "user-agent: me", "-H", "ACCEPT: text/html"], "/"),
        (&["-H", "Content-Type: x/y", "-H", "Connection: close", "-p", body], "/"),
        (
            &["-k", "-C", "c=1", "-A", "u:p", "-P", "q:r", "-p", body, "-T", "t/t", "-H", "X: 1"],
            "/all",
        ),
        (&["-T", "ignored/without-body"], "/"),
    ];
    for (words, path) in table {
        let Some((theirs, ours)) = both_sent(words, path) else { return };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&ours), text(&theirs), "{words:?} {path}");
    }
}

#[test]
fn through_a_proxy_the_url_is_sent_as_typed() {
    let server = Server::answering(ok("hello"));
    let proxy = server.address.to_string();
    let words = ["-X", &proxy, "http://nowhere.invalid:81/x?y#z"];
    let ours = ablaze(&words);
    assert_eq!(ours.status, 0, "{}", ours.stderr);
    let introduction = format!("Benchmarking nowhere.invalid [through {proxy}] (be patient)...");
    assert!(ours.stdout.contains(&introduction), "{}", ours.stdout);
    let Some(theirs) = real_ab(&words) else { return };
    assert!(theirs.stdout.contains(&introduction));
    let requests = server.requests.lock().unwrap();
    assert_eq!(requests[0], requests[1]);
}

/// Quirk 9: documented as repeatable, but ab sends the last one only.
#[test]
fn cookies_are_joined_in_one_line() {
    let server = Server::answering(ok("hello"));
    ablaze(&["-C", "a=1", "-C", "b=2", &server.url()]);
    let sent = String::from_utf8(server.requests.lock().unwrap()[0].clone()).unwrap();
    assert!(sent.contains("\r\nCookie: a=1; b=2\r\n"), "{sent}");
    assert_eq!(sent.matches("Cookie").count(), 1);
}

/// Quirk 11: ab cuts a request at 8191 bytes and then hangs.
#[test]
fn long_requests_are_sent_whole() {
    let server = Server::answering(ok("hello"));
    let header = format!("X-Long: {}", "y".repeat(20_000));
    let ran = ablaze(&["-H", &header, &server.url()]);
    assert_eq!(ran.status, 0);
    let sent = server.requests.lock().unwrap()[0].clone();
    assert!(sent.ends_with(b"\r\nAccept: */*\r\n\r\n"));
    assert!(sent.len() > 20_000);
}
