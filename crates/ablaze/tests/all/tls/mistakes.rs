//! Everything people get wrong about certificates, names and versions, against the command's own
//! server, for `ablaze load` and `ablaze ab`: one line each that names it, and soon.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use ablaze_target::tls::{Identity, TlsOptions, TlsVersion};
use ablaze_target::{Options, Running, Server};

use rcgen::{CertificateParams, KeyPair};

use ablaze_testing::skip::skip;

use crate::authority::{Authority, Issued, NOW};
use crate::tls::nginx::ablaze;

fn tls(issued: &Issued) -> TlsOptions {
    TlsOptions::new(Identity::from_pem(issued.0.as_bytes(), issued.1.as_bytes()).unwrap())
}

fn serve_at(address: &str, tls: Option<TlsOptions>) -> Running {
    let address = address.parse().unwrap();
    Server::start(Options { address, threads: 1, tls, ..Options::default() }).unwrap()
}

fn serve(tls: TlsOptions) -> Running {
    serve_at("127.0.0.1:0", Some(tls))
}

/// A mistake: the line it gets from both commands, and its kind in reports.
struct Mistake<'a> {
    kind: &'a str,
    line: &'a str,
    words: Vec<&'a str>,
}

/// Makes it. `ablaze ab` says ab's own words before the line.
fn made(url: &str, mistake: &Mistake) {
    let Mistake { kind, line, words } = mistake;
    let load = ["load", url, "-n", "20k", "-c", "4", "--json", "--quiet"];
    let ran = ablaze(&[&load[..], words].concat());
    let failed = &ran.json()["failed"];
    assert_eq!(ran.status, 1, "{url} {words:?}: {ran:?}");
    assert_eq!(failed["by_kind"][kind], failed["total"], "{url} {words:?}: {failed}");
    assert!(failed["total"].as_u64().unwrap() < 50, "{url} {words:?}: {failed}");
    assert!(ran.stderr.contains(line), "{line}: {:?}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{url} {words:?}: {:?}", ran.stderr);

    // `ab` has neither -c above -n nor HTTP/2, and knows these by the same long names.
    if words.contains(&"--http") {
        return;
    }
    let ran = ablaze(&[&["ab", "-q", "-n", "20000", "-c", "4"], &words[..], &[url]].concat());
    assert_ne!(ran.status, 0, "ab {url} {words:?}: {ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().filter(|own| own.contains(line)).collect();
    assert_eq!(lines.len(), 1, "ab {url} {words:?}, {line}: {ran:?}");
    assert!(ran.stderr.lines().count() <= 4, "ab {url} {words:?}: {:?}", ran.stderr);
    // That asks for keep-alive there.
    assert!(!ran.stderr.contains("with -k"), "ab {url}: {}", ran.stderr);
}

fn is_fine(url: &str, words: &[&str]) {
    for command in [&["load"][..], &["ab", "-q"]] {
        let ran = ablaze(&[command, &["-n", "10", "-c", "2"], words, &[url]].concat());
        assert_eq!(ran.status, 0, "{command:?} {url} {words:?}: {ran:?}");
    }
}

fn at(server: &Running, host: &str) -> String {
    format!("https://{host}:{}/", server.address().port())
}

#[test]
fn certificates() {
    let (issuer, other) = (Authority::new("issuer"), Authority::new("other"));
    let trusted = vec!["--cacert", issuer.cacert()];
    let expired = "has expired: renew it, or accept any ";
    let early = "is not valid yet: check the clocks";
    let name = "is not valid for";
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let own = (own.self_signed(&key).unwrap().pem(), key.serialize_pem());
    let rows = [
        (issuer.issue("localhost", (2001, 2002)), "localhost", "certificate-expired", expired),
        (issuer.issue("localhost", (2080, 2090)), "localhost", "certificate-expired", early),
        (issuer.issue("elsewhere.example", NOW), "localhost", "certificate-name", name),
        (issuer.issue("127.0.0.2", NOW), "127.0.0.1", "certificate-name", "127.0.0.2"),
        (issuer.issue("localhost", NOW), "127.0.0.1", "certificate-name", "localhost"),
        (issuer.issue("*.localhost", NOW), "localhost", "certificate-name", name),
        (
            other.issue("localhost", NOW),
            "localhost",
            "certificate-issuer",
            "from an unknown issuer",
        ),
        (own, "localhost", "certificate-self-signed", "is self-signed"),
    ];
    for (issued, host, kind, line) in rows {
        let server = serve(tls(&issued));
        let url = at(&server, host);
        made(&url, &Mistake { kind, line, words: trusted.clone() });
        // Whoever asks for no verification gets none.
        is_fine(&url, &["--insecure"]);
    }
    let server = serve(tls(&issuer.issue("localhost", NOW)));
    is_fine(&at(&server, "localhost"), &trusted);
    is_fine(&at(&server, "localhost"), &[&trusted[..], &["--sni", "none"]].concat());
    let server = serve(tls(&issuer.issue("127.0.0.1", NOW)));
    is_fine(&at(&server, "127.0.0.1"), &trusted);
}

#[test]
fn addresses_of_ipv6() {
    if TcpListener::bind("[::1]:0").is_err() {
        return skip("there is no IPv6 here");
    }
    let issuer = Authority::new("issuer6");
    let trusted = vec!["--cacert", issuer.cacert()];
    let server = serve_at("[::1]:0", Some(tls(&issuer.issue("::1", NOW))));
    is_fine(&at(&server, "[::1]"), &trusted);
    is_fine(&at(&server, "[::1]"), &[&trusted[..], &["--sni", "none"]].concat());
    let server = serve_at("[::1]:0", Some(tls(&issuer.issue("::2", NOW))));
    let words = trusted;
    made(&at(&server, "[::1]"), &Mistake { kind: "certificate-name", line: "::2", words });
}

#[test]
fn nothing_in_common() {
    let issuer = Authority::new("common");
    let issued = issuer.issue("localhost", NOW);
    let none = "have no TLS version, cipher suite or group in common";
    let mistake = |more: &[&'static str]| Mistake {
        kind: "no-common-tls",
        line: none,
        words: [&["--cacert", issuer.cacert()], more].concat(),
    };
    let old = serve(TlsOptions { max: TlsVersion::Tls12, ..tls(&issued) });
    made(&at(&old, "localhost"), &mistake(&["--tls-min", "1.3"]));
    let new = serve(TlsOptions { min: TlsVersion::Tls13, ..tls(&issued) });
    made(&at(&new, "localhost"), &mistake(&["--tls-max", "1.2"]));
    // The server's key is not RSA.
    let rsa = ["--tls-max", "1.2", "--tls-ciphers", "ECDHE-RSA-AES128-GCM-SHA256"];
    // It says no more of them than that.
    let line = "handshake_failure (40), which does not say why: the versions, cipher suites or groups that were offered";
    let unsaid = |more| Mistake { kind: "tls-refused", line, ..mistake(more) };
    made(&at(&old, "localhost"), &unsaid(&rsa));
    let groups = ["--tls-min", "1.3", "--tls-groups", "MLKEM1024"];
    made(&at(&new, "localhost"), &unsaid(&groups));
    // HTTP/1 alone: no application protocol in common (RFC 7301, 3.2).
    let http2 = mistake(&["--http", "2"]);
    made(&at(&new, "localhost"), &Mistake { kind: "no-http2", line: "remove --http 2", ..http2 });
    let client_authorities = Some(issuer.pem.clone().into_bytes());
    let wants = serve(TlsOptions { client_authorities, ..tls(&issued) });
    let line = "requires a client certificate that it accepts: use --cert FILE --key FILE";
    for version in ["1.2", "1.3"] {
        let words = vec!["--cacert", issuer.cacert(), "--tls-max", version];
        let mistake = Mistake { kind: "client-certificate", line, words };
        made(&at(&wants, "localhost"), &mistake);
    }
}

#[test]
fn the_wrong_protocol() {
    let issuer = Authority::new("protocol");
    let secure = serve(tls(&issuer.issue("localhost", NOW)));
    let port = secure.address().port();
    // Who explains itself with a 400 did respond: the commands say so in their own ways.
    let url = format!("http://localhost:{port}/");
    let said =
        format!("all were 400: the server speaks TLS on this port: use https://localhost:{port}/");
    let ran = ablaze(&[&url, "-n", "20k", "-c", "4", "--quiet"]);
    assert!(ran.status == 1 && ran.stderr.contains(&said), "{ran:?}");
    let ran = ablaze(&["ab", "-q", "-n", "20", &url]);
    let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("400 (20×)")).collect();
    assert_eq!((ran.status, lines.len()), (0, 1), "{ran:?}");
    // Others end it with an alert: protocol_version, as OpenSSL does.
    let alerts = raw(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, 70]);
        let _ = stream.read(&mut [0; 4096]);
    });
    let line = format!("responds in TLS: use {alerts}");
    let mistake = Mistake { kind: "tls-not-plain-http", line: &line, words: vec![] };
    made(&alerts.replacen("https", "http", 1), &mistake);
    let plain = serve_at("127.0.0.1:0", None);
    let port = plain.address().port();
    let line = format!("responds in plain HTTP: use http://localhost:{port}/");
    let mistake = Mistake { kind: "plain-http-not-tls", line: &line, words: vec!["--insecure"] };
    made(&format!("https://localhost:{port}/"), &mistake);
}

/// A server that does this to every connection.
fn raw(play: fn(TcpStream)) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.incoming().flatten().for_each(play));
    format!("https://127.0.0.1:{port}/")
}

#[test]
fn servers_that_are_silent_or_go() {
    let silent = raw(std::mem::forget);
    let line = "did not finish the TLS handshake within 300 ms: does it speak TLS?";
    let words = ["--insecure", "--timeout", "300ms", "-n", "8"];
    let ran = ablaze(&[&[&silent[..], "--json", "--quiet", "-c", "4"], &words[..]].concat());
    assert!(ran.stderr.contains(line) && ran.status == 1, "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    let goes = raw(|mut stream| drop(stream.read(&mut [0; 4096])));
    let line = "closed the connection during the TLS handshake: does it speak TLS?";
    let words = vec!["--insecure"];
    let ran = ablaze(&[&[&goes[..], "--json", "--quiet", "-n", "20k"], &words[..]].concat());
    assert!(ran.stderr.contains(line) && ran.status == 1, "{ran:?}");
    let noise = raw(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"220 mail.example ESMTP\r\n");
        let _ = stream.read(&mut [0; 4096]);
    });
    let line = "violates the TLS protocol: is it the right port?";
    made(&noise, &Mistake { kind: "tls-broken", line, words });
}

#[test]
fn names_outside_ascii() {
    let issuer = Authority::new("names");
    let server = serve(tls(&issuer.issue("xn--mnchen-3ya.example", NOW)));
    let there = server.address().to_string();
    let to = ["--cacert", issuer.cacert(), "--connect-to", &there, "-n", "10"];
    let fine = ablaze(&[&["https://xn--mnchen-3ya.example/"], &to[..]].concat());
    assert_eq!(fine.status, 0, "{fine:?}");
    for words in [
        vec!["https://münchen.example/"],
        vec!["http://münchen.example/"],
        vec!["https://xn--mnchen-3ya.example/", "--sni", "münchen.example"],
        vec!["ab", "-n", "10", "https://münchen.example/"],
    ] {
        let ran = ablaze(&words);
        assert_eq!(ran.stderr.lines().count(), 1, "{words:?}: {ran:?}");
        let said = ran.stderr.contains("xn--") || ran.stderr.contains("cannot be the name");
        assert!(said && ran.stderr.contains("münchen.example"), "{words:?}: {ran:?}");
        assert!([1, 2, 22].contains(&ran.status), "{words:?}: {ran:?}");
        assert!(ran.stdout.is_empty(), "{words:?}: {ran:?}");
    }
}
