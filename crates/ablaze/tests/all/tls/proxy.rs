//! Runs through a proxy: tunnels for https and HTTP/2, the whole URL for plain requests, and what is
//! said when the proxy makes none.

use std::process::Command;

use serde_json::json;

use ablaze_testing::Bounded;

use crate::tls::nginx::{Nginx, Ran, ablaze, run};
use crate::tls::proxies::{Apache, Manner, Proxy};

const BACKENDS: [&str; 2] = ["uring", "epoll"];

/// The targets, what is asked of each, and by which way.
fn targets(nginx: &Nginx) -> [(String, &'static [&'static str], &'static str); 4] {
    [
        (format!("https://localhost:{}/", nginx.tls), &[], "tunnel"),
        (
            format!("https://localhost:{}/", nginx.http2),
            &["--http", "2", "--streams", "4"],
            "tunnel",
        ),
        (format!("http://127.0.0.1:{}/", nginx.h2c), &["--http", "2", "--streams", "4"], "tunnel"),
        (format!("http://127.0.0.1:{}/", nginx.plain), &[], "forward"),
    ]
}

fn counted(ran: &Ran, way: &str) -> serde_json::Value {
    assert_eq!(ran.status, 0, "{way}: {ran:?}");
    let json = ran.json();
    assert_eq!((&json["responses"], &json["failed"]["total"]), (&json!(60), &json!(0)), "{json}");
    assert_eq!(json["target"]["proxy"]["way"], way);
    if way == "tunnel" {
        assert_eq!(json["proxy"]["tunnels"], json["connections_opened"]);
    }
    json
}

#[test]
fn everything_gets_through_a_proxy() {
    let Some(nginx) = Nginx::start() else { return };
    for io in BACKENDS {
        for more in [&[][..], &["--no-keepalive"]] {
            for (url, words, way) in targets(&nginx) {
                if !more.is_empty() && !words.is_empty() {
                    continue;
                }
                let proxy =
                    Proxy::start(Manner::Wants("\r\nProxy-Authorization: Basic bWU6YUBi\r\n"));
                let user = format!("http://me:a%40b@127.0.0.1:{}", proxy.port);
                let common = ["-k", "-n", "60", "-c", "6", "--json", "--io", io, "--proxy", &user];
                let common = if url.starts_with("https") { &common[..] } else { &common[1..] };
                let ran = ablaze(&[&[url.as_str()], common, words, more].concat());
                let json = counted(&ran, way);
                assert!(!ran.stdout.contains("bWU6"), "no report has the credentials");
                let heads = proxy.asked.lock().unwrap();
                assert_eq!(json!(heads.len()), json["connections_opened"], "{url}");
                let authority = url.split('/').nth(2).unwrap();
                let line = match way {
                    "tunnel" => format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n"),
                    _ => format!("GET {url} HTTP/1.1\r\nHost: {authority}\r\n"),
                };
                assert!(heads.iter().all(|head| head.starts_with(&line)), "{heads:?}");
            }
        }
    }
}

#[test]
fn the_certificate_behind_a_tunnel_is_verified_for_the_target() {
    let Some(nginx) = Nginx::start() else { return };
    let proxy = Proxy::start(Manner::Tunnels);
    let (issuer, through) = (nginx.file("issuer.pem"), proxy.url());
    let words = |port: u16| format!("https://localhost:{port}/");
    let common = ["-n", "20", "-c", "2", "--proxy", &through];
    let ran = ablaze(&[&[words(nginx.tls).as_str(), "--cacert", &issuer], &common[..]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let report = format!("through the proxy 127.0.0.1:{} · 2 tunnels by CONNECT", proxy.port);
    assert!(ran.stdout.contains(&report), "{ran:?}");
    // Who is seen on this host is the proxy, and it is called so.
    assert!(ran.stdout.contains("figures of the server's process are the proxy's"), "{ran:?}");
    let ran = ablaze(&[&[words(nginx.other).as_str(), "--cacert", &issuer], &common[..]].concat());
    assert_eq!(ran.status, 1);
    let said = format!("localhost:{} (through the proxy 127.0.0.1:{})", nginx.other, proxy.port);
    assert!(ran.stderr.contains(&said) && ran.stderr.contains("is not valid for"), "{ran:?}");
}

#[test]
fn a_proxy_that_makes_no_tunnel_is_named_in_one_line() {
    let gone = Proxy::start(Manner::Tunnels).url();
    let rows: [(&'static [u8], &str); 6] = [
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "403 Forbidden; does it permit CONNECT to this host"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "502 Bad Gateway; can it reach the target?"),
        (b"HTTP/1.1 405 Not Allowed\r\n\r\n", "is it a proxy, and not the server itself?"),
        (b"", "it closed the connection without a response to CONNECT; is it an HTTP proxy"),
        (b"SSH-2.0-OpenSSH\r\n", "it begins with `SSH-2.0-OpenSSH`; is it an HTTP proxy"),
        (&[21, 3, 1, 0, 2, 2, 70], "it expects TLS"),
    ];
    drop(gone);
    let line = |proxy: &Proxy, words: &[&str]| {
        let url = "https://example.invalid:8443/";
        let common = [url, "-k", "-n", "1000", "-c", "5", "--quiet", "--proxy"];
        let ran = ablaze(&[&common[..], words].concat());
        assert_eq!(ran.status, 1, "{ran:?}");
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{ran:?}");
        assert!(lines[0].contains(&format!("the proxy 127.0.0.1:{}", proxy.port)), "{lines:?}");
        assert!(lines[0].contains("example.invalid:8443: "), "{lines:?}");
        lines[0].to_owned()
    };
    for (says, words) in rows {
        let proxy = Proxy::start(Manner::Says(says));
        let line = line(&proxy, &[&proxy.url()]);
        assert!(line.contains(words), "{line}");
    }
    let proxy = Proxy::start(Manner::Wants("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
    let without = line(&proxy, &[&proxy.url()]);
    let fix = format!(
        "refused the tunnel to example.invalid:8443: 407 Proxy Authentication Required; use \
         --proxy http://user:password@127.0.0.1:{}",
        proxy.port
    );
    assert!(without.ends_with(&fix), "{without}");
    let wrong = line(&proxy, &[&format!("http://me:wrong@127.0.0.1:{}", proxy.port)]);
    assert!(wrong.contains("check user and password of --proxy"), "{wrong}");
    assert!(!wrong.contains("wrong@"), "{wrong}");
}

#[test]
fn what_a_proxy_answers_in_the_targets_place_is_told_from_the_targets_responses() {
    let proxy = Proxy::start(Manner::Wants("Proxy-Authorization"));
    let url = "http://127.0.0.1:1/";
    let ran = ablaze(&[url, "-n", "5", "-c", "1", "--quiet", "--proxy", &proxy.url()]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("responded with 407: use --proxy http://user:password@"),
        "{ran:?}"
    );
    let proxy = Proxy::start(Manner::Tunnels);
    let ran = ablaze(&[url, "-n", "5", "-c", "1", "--quiet", "--proxy", &proxy.url()]);
    assert!(ran.stderr.contains("all were 502: can the proxy"), "{ran:?}");
}

#[test]
fn what_excludes_a_proxy_is_refused() {
    for (words, line) in [
        (&["--unix-socket", "/x"][..], "--proxy and --unix-socket cannot be used together"),
        (&["--connect-to", "h:1"], "--proxy and --connect-to cannot be used together"),
    ] {
        let ran = ablaze(&[&["--proxy", "p:1", "http://h/"], words].concat());
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains(line), "{ran:?}");
    }
    let ran = ablaze(&["ab", "-X", "p:1", "--unix-socket", "/x", "http://h/"]);
    assert_eq!(ran.status, 22, "{ran:?}");
    assert!(
        ran.stderr.contains("--unix-socket and the proxy p:1 cannot be used together"),
        "{ran:?}"
    );
}

#[test]
fn ab_speaks_tls_to_the_proxy_itself_and_so_does_this() {
    let Some(nginx) = Nginx::start() else { return };
    // To nginx a request with the whole URL is as good as any (RFC 9112, 3.2.2).
    let proxy = format!("127.0.0.1:{}", nginx.tls);
    let words = ["-q", "-n", "4", "-X", &proxy, "https://there.example:8443/"];
    let lines = |ran: &Ran| {
        let starts = ["Server Hostname", "Server Port", "TLS Server Name", "Document", "Complete"];
        let shown = |line: &&str| starts.iter().any(|start| line.starts_with(start));
        ran.stdout.lines().filter(shown).map(str::to_owned).collect::<Vec<_>>()
    };
    let ours = ablaze(&[&["ab"], &words[..]].concat());
    assert_eq!(ours.status, 0, "{ours:?}");
    assert!(ours.stdout.contains(&format!("[through {proxy}]")), "{ours:?}");
    assert!(ours.stdout.contains("TLS Server Name:        there.example"), "{ours:?}");
    if let Ok(true) = Command::new("ab").arg("-V").bounded_output().map(|out| out.status.success())
    {
        assert_eq!(lines(&ours), lines(&run(Command::new("ab").args(words))));
    }
    // A proxy as they mostly are does not understand that.
    let plain = format!("127.0.0.1:{}", nginx.plain);
    let ran = ablaze(&["ab", "-q", "-X", &plain, "https://there.example/"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("SSL handshake failed (1)."), "{ran:?}");
    let fix = format!("for a tunnel through the proxy use --proxy http://{plain} instead");
    assert!(ran.stderr.contains(&fix), "{ran:?}");
    // That way it works.
    let proxy = Proxy::start(Manner::Wants("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
    let url = format!("https://localhost:{}/", nginx.tls);
    let words = ["ab", "-q", "-n", "4", "-P", "me:secret", "--proxy", &proxy.url(), &url];
    let ran = ablaze(&words);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("Complete requests:      4"), "{ran:?}");
}

#[test]
fn apache_as_the_proxy() {
    let Some(nginx) = Nginx::start() else { return };
    let Some(apache) = Apache::start(&[nginx.tls, nginx.http2, nginx.h2c]) else { return };
    for io in BACKENDS {
        for (url, words, way) in targets(&nginx) {
            for proxy in [
                format!("http://127.0.0.1:{}", apache.port),
                format!("http://me:secret@127.0.0.1:{}", apache.known),
            ] {
                let common = ["-n", "60", "-c", "6", "--json", "--io", io, "--proxy", &proxy];
                let accepts = if url.starts_with("https") { &["-k"][..] } else { &[] };
                let ran = ablaze(&[&[url.as_str()], &common[..], accepts, words].concat());
                counted(&ran, way);
            }
        }
    }
    let refused = |proxy: u16, port: u16, words: &str| {
        let (proxy, url) = (format!("127.0.0.1:{proxy}"), format!("https://localhost:{port}/"));
        let ran = ablaze(&["-k", "-n", "50", "-c", "2", "--quiet", "--proxy", &proxy, &url]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    };
    refused(apache.known, nginx.tls, "407 Proxy Authentication Required; use --proxy http://user");
    // Apache's own reason phrase behind 403 is no "Forbidden" here.
    refused(apache.port, nginx.own, "does it permit CONNECT to this host and port?");
}
