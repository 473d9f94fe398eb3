//! `ablaze ab` over https beside the real ab.

use std::process::Command;

use ablaze_testing::skip::installed;

use crate::tls::nginx::{Nginx, Ran, ablaze, run};

#[track_caller]
fn real_ab(words: &[&str]) -> Option<Ran> {
    Some(run(Command::new(installed("ab")?).args(words)))
}

/// The lines of a report that do not depend on the clock.
fn lines(ran: &Ran) -> Vec<&str> {
    let from_the_clock = ["Time taken", "Requests per", "Time per", "Transfer rate"];
    let head = ran.stdout.split("Connection Times").next().unwrap();
    let report = head.split("\n\n").skip(1).flat_map(str::lines);
    report
        .filter(|line| {
            line.contains(':') && !from_the_clock.iter().any(|own| line.starts_with(own))
        })
        .collect()
}

#[test]
fn the_report_says_the_same_of_tls() {
    let Some(nginx) = Nginx::start() else { return };
    let (tls, old) = (nginx.tls, nginx.old);
    let both = nginx.file("client.both");
    let rows: [(&[&str], u16, &str); 10] = [
        (&[], tls, "127.0.0.1"),
        (&["-k"], tls, "localhost"),
        (&["-I"], tls, "localhost"),
        (&["-f", "TLS1.2"], tls, "localhost"),
        (&["-f", "TLS1.3", "-Z", "TLS_AES_128_GCM_SHA256"], tls, "localhost"),
        (&["-f", "TLS1.2", "-Z", "ECDHE-ECDSA-CHACHA20-POLY1305"], tls, "localhost"),
        (&["-f", "TLS1.2", "-Z", "HIGH:!aNULL:-AES256"], tls, "localhost"),
        (&["-H", "Host: other.example"], tls, "localhost"),
        (&["-E", &both], nginx.wants, "localhost"),
        (&["-Z", "DEFAULT"], old, "localhost"),
    ];
    for (words, port, host) in rows {
        let url = format!("https://{host}:{port}/");
        let words = [&["-q", "-n", "20", "-c", "2"], words, &[&url]].concat();
        let Some(theirs) = real_ab(&words) else { return };
        let ours = ablaze(&[&["ab"], &words[..]].concat());
        assert_eq!(ours.status, 0, "{words:?}: {ours:?}");
        assert_eq!(theirs.status, 0, "{words:?}: {theirs:?}");
        assert_eq!(lines(&ours), lines(&theirs), "{words:?}");
    }
}

#[test]
fn the_handshake_is_part_of_connect() {
    let Some(nginx) = Nginx::start() else { return };
    let url = format!("https://localhost:{}/", nginx.tls);
    let json = ["--json", "--tls-max", "1.2"];
    let ran = ablaze(&[&["ab", "-n", "50", "-g", "/dev/null"], &json[..], &[&url[..]]].concat());
    let phases = &ran.json()["latency_ns"];
    let mean = |phase: &str| phases[phase]["mean"].as_f64().unwrap();
    let whole = mean("connect_and_tls") + mean("processing");
    assert!((whole - mean("total")).abs() < 2.0, "{whole} {}", mean("total"));
    let text = ablaze(&["ab", "-n", "50", &url]).stdout;
    let connect = text.lines().find(|line| line.starts_with("Connect:")).unwrap();
    let max: u64 = connect.split_whitespace().last().unwrap().parse().unwrap();
    assert!(max >= 1, "a handshake takes a millisecond here: {connect}");
}

#[test]
fn verbosity_shows_what_was_agreed_on() {
    let Some(nginx) = Nginx::start() else { return };
    let url = format!("https://localhost:{}/", nginx.old);
    let ran = ablaze(&["ab", "-n", "3", "-v", "3", &url]);
    for line in [
        "Transport Protocol      :TLSv1.2",
        "Cipher Suite Name       :ECDHE-ECDSA-AES128-GCM-SHA256",
        "Cipher Suite Cipher Bits:128 (128)",
        "SSL/TLS State [connect] 3 full, 0 resumed",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    let listed = ablaze(&["ab", "-n", "1", "-v", "2", &url]);
    assert!(!listed.stderr.contains("SSL/TLS"), "{}", listed.stderr);
    let failed = ablaze(&["ab", "-n", "3", "-f", "TLS1.3", &url]);
    assert_eq!(failed.status, 1);
    assert!(failed.stderr.starts_with("SSL handshake failed (1)."), "{}", failed.stderr);
    assert!(
        failed.stderr.contains("have no TLS version, cipher suite or group in common"),
        "{}",
        failed.stderr
    );
}

/// A message of a handshake by the words that OpenSSL has for it in its states.
const OF_OPENSSL: [(&str, &str); 13] = [
    ("client hello", "ClientHello"),
    ("server hello", "ServerHello"),
    ("encrypted extensions", "EncryptedExtensions"),
    ("server certificate request", "CertificateRequest"),
    ("server certificate verify", "CertificateVerify"),
    ("server certificate", "Certificate"),
    ("server key exchange", "ServerKeyExchange"),
    ("server done", "ServerHelloDone"),
    ("client certificate", "Certificate"),
    ("certificate verify", "CertificateVerify"),
    ("client key exchange", "ClientKeyExchange"),
    ("change cipher spec", "ChangeCipherSpec"),
    ("finished", "Finished"),
];

/// The messages of the real ab's first handshake, as `ablaze ab` names them.
fn of_the_real(ran: &Ran) -> Vec<String> {
    let handshake = ran.stderr.split("SSL/TLS Handshake [Done]").next().unwrap();
    let mut messages: Vec<String> = Vec::new();
    for line in handshake.lines().filter_map(|line| line.strip_prefix("SSL/TLS State [connect] ")) {
        let verb = if line.contains(" write ") { "write" } else { "read" };
        let words = line.split_once(&format!(" {verb} ")).map_or("", |(_, words)| words);
        let Some((_, name)) = OF_OPENSSL.iter().find(|(own, _)| *own == words) else { continue };
        let message = format!("{verb} {name}");
        if messages.last() != Some(&message) && is_compared(&message) {
            messages.push(message);
        }
    }
    messages
}

/// OpenSSL has no state for the server's ChangeCipherSpec in TLS 1.3, and tickets come behind it all.
fn is_compared(message: &str) -> bool {
    !["read ChangeCipherSpec", "read NewSessionTicket"].contains(&message)
}

/// Those of `ablaze ab`.
fn of_ours(ran: &Ran) -> Vec<String> {
    let lines = ran.stderr.lines().filter_map(|line| line.strip_prefix("SSL/TLS State [connect] "));
    let messages = lines.filter_map(|line| line.split_once(',')).map(|(message, _)| message);
    messages
        .filter(|message| is_compared(message))
        .filter(|message| message.starts_with("read") || message.starts_with("write"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_messages_of_a_handshake_are_those_that_the_real_one_lists() {
    let Some(nginx) = Nginx::start() else { return };
    let (tls, old, both) = (nginx.tls, nginx.old, nginx.file("client.both"));
    let rows: [(&[&str], u16); 5] = [
        (&["-v", "3"], tls),
        (&["-v", "4", "-f", "TLS1.2"], tls),
        (&["-v", "3", "-E", &both], nginx.wants),
        (&["-v", "3", "-f", "TLS1.2", "-E", &both], nginx.wants),
        (&["-v", "3"], old),
    ];
    for (words, port) in rows {
        let url = format!("https://localhost:{port}/");
        let words = [words, &["-n", "1", &url]].concat();
        let Some(theirs) = real_ab(&words) else { return };
        let ours = ablaze(&[&["ab"], &words[..]].concat());
        assert_eq!((ours.status, theirs.status), (0, 0), "{words:?}: {ours:?} {theirs:?}");
        let theirs = of_the_real(&theirs);
        let last = theirs.last().map_or("", |message| &message[..]);
        assert!(theirs.len() > 6 && last.ends_with("Finished"), "{theirs:?}");
        assert_eq!(of_ours(&ours), theirs, "{words:?}");
    }
}
