//! What a person is told whose https does not work: one line with the fix, and soon.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::tls::nginx::{Nginx, ablaze};

/// A run that got no response: its status, few failures of one kind, and a line that says so.
fn told(words: &[&str], kind: &str, line: &str) {
    let ran = ablaze(words);
    let json = ran.json();
    assert_eq!(ran.status, 1, "{words:?}: {ran:?}");
    let failed = &json["failed"];
    assert_eq!(failed["by_kind"][kind], failed["total"], "{words:?}: {failed}");
    assert!(failed["total"].as_u64().unwrap() < 50, "{failed}");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines.iter().any(|own| own.contains(line)), "{words:?}: {line}: {lines:?}");
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[test]
fn a_certificate_that_is_not_believed_is_explained_once() {
    let Some(nginx) = Nginx::start() else { return };
    let issuer = nginx.file("issuer.pem");
    let url = |port: u16| format!("https://localhost:{port}/");
    let common = ["-n", "20k", "-c", "4", "--json", "--quiet"];
    let rows: [(u16, &[&str], &str, &str); 5] = [
        (nginx.tls, &[], "certificate-issuer", "trust the issuer with --cacert FILE"),
        (nginx.own, &[], "certificate-self-signed", "is self-signed"),
        (nginx.other, &["--cacert", &issuer], "certificate-name", "elsewhere.example"),
        (
            nginx.plain,
            &["-k"],
            "plain-http-not-tls",
            "responds in plain HTTP: use http://localhost",
        ),
        (
            nginx.old,
            &["-k", "--tls-min", "1.3"],
            "no-common-tls",
            "have no TLS version, cipher \
            suite or group in common",
        ),
    ];
    for (port, words, kind, line) in rows {
        told(&[&[&url(port)[..]], &common[..], words].concat(), kind, line);
    }
    // Given itself, a certificate is believed; accepted unseen, any is.
    let own = nginx.file("own.pem");
    for words in [&["--cacert", &own[..]][..], &["-k"]] {
        let ran = ablaze(&[&[&url(nginx.own)[..], "-n", "10"], words].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    let sni = ["--cacert", &issuer, "--sni", "elsewhere.example", "-n", "10"];
    assert_eq!(ablaze(&[&[&url(nginx.other)[..]], &sni[..]].concat()).status, 0);
}

#[test]
fn plain_http_where_tls_is_spoken_is_explained() {
    let Some(nginx) = Nginx::start() else { return };
    let ran = ablaze(&[&format!("http://localhost:{}/", nginx.tls), "-n", "10", "--json"]);
    let advice =
        format!("the server speaks TLS on this port: use https://localhost:{}/", nginx.tls);
    assert!(ran.stderr.contains(&advice), "{}", ran.stderr);
    assert_eq!(ran.status, 1);
    // ab calls that a success, and so it ends; but it is said.
    let ran = ablaze(&["ab", "-n", "10", &format!("http://localhost:{}/", nginx.tls)]);
    assert!(ran.stderr.contains(&advice), "{}", ran.stderr);
    assert_eq!(ran.status, 0);
    let other = ablaze(&["ab", "-n", "10", &format!("http://localhost:{}/", nginx.plain)]);
    assert!(!other.stderr.contains("TLS"), "{}", other.stderr);
}

#[test]
fn a_server_that_answers_plain_http_with_an_alert_is_understood() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            // protocol_version, as OpenSSL says to a request that is no ClientHello.
            let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, 70]);
        }
    });
    let url = format!("http://127.0.0.1:{port}/");
    let advice = format!("responds in TLS: use https://127.0.0.1:{port}/");
    told(&[&url, "-n", "20k", "-c", "4", "--json", "--quiet"], "tls-not-plain-http", &advice);
}
