//! `ablaze serve --tls` as a program: files, the URL, and refusals before it listens.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ablaze_testing::Bounded;
use ablaze_testing::skip::installed;

use crate::serve_and_demo::support::{Serving, ablaze, directory};

#[track_caller]
fn curl(words: &[&str]) -> Option<Vec<u8>> {
    let curl = installed("curl")?;
    let ran = Command::new(curl).args(["-sS", "--max-time", "20"]).args(words).bounded_output();
    let output = ran.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_client_can_verify_it_by_the_authority_it_writes() {
    let (authority, stats) =
        (directory("tls-ca").join("ca.pem"), directory("tls-ca").join("s.json"));
    let words = ["serve", ":0", "--tls", "--tls-ca-out", text(&authority), "--stats", text(&stats)];
    let server = Serving::start(&words);
    assert!(server.line.contains("https://"), "{}", server.line);
    let url = format!("https://localhost:{}/hello", server.address.port());
    let Some(body) = curl(&["--cacert", text(&authority), &url]) else { return };
    assert_eq!(body, b"hello, world!\n");
    let table = server.stop();
    assert!(table.contains("tls handshakes"), "{table}");
    let stats: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(stats).unwrap()).unwrap();
    assert_eq!(stats["total"]["tls_handshakes"], 1);
    assert_eq!(stats["config"]["tls"]["max"], "1.3");
    assert!(!fs::read_to_string(&authority).unwrap().contains("PRIVATE"));
}

/// A certificate and a key, as openssl makes them.
#[track_caller]
fn made(name: &str) -> Option<(PathBuf, PathBuf)> {
    let (certificate, key) =
        (directory(name).join("certificate.pem"), directory(name).join("key.pem"));
    let made = Command::new(installed("openssl")?)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-out", text(&certificate), "-keyout", text(&key)])
        .ran();
    assert_eq!(made.status, 0, "{made:?}");
    Some((certificate, key))
}

#[test]
fn a_certificate_can_be_given() {
    let Some((certificate, key)) = made("tls-given") else { return };
    let words = ["serve", ":0", "--tls-cert", text(&certificate), "--tls-key", text(&key)];
    let server = Serving::start(&words);
    let url = format!("https://localhost:{}/hello", server.address.port());
    let Some(body) = curl(&["--tls-max", "1.2", "--cacert", text(&certificate), &url]) else {
        return;
    };
    assert_eq!(body, b"hello, world!\n");
}

#[test]
fn what_cannot_be_served_with_is_refused_in_one_line() {
    let Some((one, one_key)) = made("tls-one") else { return };
    let Some((other, other_key)) = made("tls-other") else { return };
    let missing = directory("tls-missing").join("none.pem");
    let cases: [(&[&str], &str); 8] = [
        (
            &["--tls-cert", text(&one), "--tls-key", text(&other_key)],
            "does not match the certificate",
        ),
        (&["--tls-cert", text(&missing), "--tls-key", text(&one_key)], "No such file"),
        (&["--tls-cert", text(&one), "--tls-key", text(&other)], "BEGIN PRIVATE KEY"),
        (&["--tls-cert", text(&one)], "--tls-key"),
        (&["--tls-client-ca", text(&one_key)], "BEGIN CERTIFICATE"),
        (&["--tls-min", "1.3", "--tls-max", "1.2"], "swap the two"),
        (&["--tls", "--tls-ca-out", "/nowhere/ca.pem"], "--tls-ca-out"),
        (&["--tls", "--model", "raw"], "use --model epoll-et"),
    ];
    for (words, needle) in cases {
        let output = ablaze(&[&["serve", ":0"], words].concat()).bounded_output().unwrap();
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {line}");
        assert!(line.contains(needle), "{words:?}: {line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}
