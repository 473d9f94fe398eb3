//! Runs over https: what is counted, what is agreed on, what is timed.

use serde_json::json;

use crate::tls::nginx::{Nginx, ablaze};

const BACKENDS: [&str; 2] = ["uring", "epoll"];

#[test]
fn every_way_to_use_connections_is_exact_over_both_versions() {
    let Some(nginx) = Nginx::start() else { return };
    let url = format!("https://127.0.0.1:{}/", nginx.tls);
    let issuer = nginx.file("issuer.pem");
    for io in BACKENDS {
        for (version, name) in [("1.2", "TLSv1.2"), ("1.3", "TLSv1.3")] {
            for way in
                [&[][..], &["--no-keepalive"], &["--pipeline", "4"], &["-r", "2k", "-c", "10"]]
            {
                let common = ["-n", "400", "--io", io, "--tls-max", version, "--tls-min", version];
                let words = [&[&url, "--cacert", &issuer, "--json"], &common[..], way].concat();
                let ran = ablaze(&words);
                assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
                let json = ran.json();
                assert_eq!(json["responses"], 400, "{words:?}");
                assert_eq!(json["failed"]["total"], 0, "{words:?}");
                assert_eq!(json["bytes"]["body"], 400 * 14, "{words:?}");
                let tls = &json["tls"];
                assert_eq!(tls["verified_by"], "given");
                assert_eq!(tls["agreed"][0]["version"], name);
                assert_eq!(tls["agreed"][0]["group"], "x25519");
                assert_eq!(tls["agreed"][0]["protocol"], json!("http/1.1"));
                assert_eq!(tls["handshakes_full"], json["connections_opened"]);
                assert_eq!(tls["handshakes_resumed"], 0);
                if way == ["--no-keepalive"] {
                    let phases = &json["latency_ns"];
                    assert_eq!(phases["tls"]["count"], 400);
                    let p50 = |phase: &str| phases[phase]["p50"].as_u64().unwrap();
                    assert!(p50("connect") < p50("connect_and_tls"));
                    assert!(p50("tls") < p50("connect_and_tls"));
                    assert!(p50("connect_and_tls") < p50("total"));
                }
            }
        }
    }
}

#[test]
fn eight_mebibytes_come_whole() {
    let Some(nginx) = Nginx::start() else { return };
    let url = format!("https://localhost:{}/8m", nginx.tls);
    for io in BACKENDS {
        for way in [&[][..], &["--http", "1.0", "--no-keepalive"]] {
            let words = [&[&url, "-k", "-n", "6", "-c", "2", "--json", "--io", io], way].concat();
            let json = ablaze(&words).json();
            assert_eq!((&json["responses"], &json["failed"]["total"]), (&json!(6), &json!(0)));
            assert_eq!(json["bytes"]["body"], 6 * (8 << 20), "{words:?}");
        }
    }
}

#[test]
fn sessions_are_resumed_where_the_server_permits_and_it_is_asked_for() {
    let Some(nginx) = Nginx::start() else { return };
    let url = format!("https://127.0.0.1:{}/", nginx.tickets);
    for version in ["1.2", "1.3"] {
        let words =
            [&url, "-k", "-n", "50", "-c", "1", "--no-keepalive", "--json", "--tls-max", version];
        let full = ablaze(&words).json();
        let tls = |json: &serde_json::Value| {
            let number = |name: &str| json["tls"][name].as_u64().unwrap();
            (number("handshakes_full"), number("handshakes_resumed"))
        };
        assert_eq!(tls(&full), (50, 0), "{version}");
        let resumed = ablaze(&[&words[..], &["--tls-resume"]].concat()).json();
        assert_eq!(tls(&resumed), (1, 49), "{version}");
    }
    let text =
        ablaze(&[&url, "-k", "-n", "20", "-c", "1", "--no-keepalive", "--tls-resume"]).stdout;
    assert!(text.contains("handshakes: 1 full, 19 resumed"), "{text}");
    assert!(text.contains("certificate NOT verified"), "{text}");
}

#[test]
fn a_certificate_of_the_client_is_shown() {
    let Some(nginx) = Nginx::start() else { return };
    let url = format!("https://127.0.0.1:{}/", nginx.wants);
    let (cert, key) = (nginx.file("client.pem"), nginx.file("client.key"));
    let issuer = nginx.file("issuer.pem");
    let base = [&url, "--cacert", &issuer, "-n", "20", "-c", "2", "--json"];
    let shown = ablaze(&[&base[..], &["--cert", &cert, "--key", &key]].concat()).json();
    assert_eq!(shown["statuses"], json!({ "200": 20 }));
    // nginx lets everyone in and responses those without a certificate with 400.
    assert_eq!(ablaze(&base).json()["statuses"], json!({ "400": 20 }));
    let both = nginx.file("client.both");
    let shown = ablaze(&[&base[..], &["--cert", &both]].concat()).json();
    assert_eq!(shown["statuses"], json!({ "200": 20 }));
    let other = nginx.file("there.key");
    let ran = ablaze(&[&base[..], &["--cert", &cert, "--key", &other]].concat());
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("must belong together"), "{}", ran.stderr);
}

#[test]
fn suites_and_groups_are_those_asked_for() {
    let Some(nginx) = Nginx::start() else { return };
    let url = format!("https://127.0.0.1:{}/", nginx.tls);
    let rows = [
        ("TLS_CHACHA20_POLY1305_SHA256", "P-256", "TLS_CHACHA20_POLY1305_SHA256", "secp256r1"),
        (
            "ECDHE-ECDSA-AES128-GCM-SHA256",
            // P-256 behind it, for the certificate's key: TLS 1.2 has one list for both.
            "P-384,P-256",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "secp384r1",
        ),
        (
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "x25519,P-256",
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "x25519",
        ),
    ];
    for (suite, group, expected_suite, expected_group) in rows {
        let words =
            [&url, "-k", "-n", "40", "--json", "--tls-ciphers", suite, "--tls-groups", group];
        let json = ablaze(&words).json();
        assert_eq!((&json["responses"], &json["failed"]["total"]), (&json!(40), &json!(0)));
        assert_eq!(json["tls"]["agreed"][0]["suite"], expected_suite);
        assert_eq!(json["tls"]["agreed"][0]["group"], expected_group);
    }
}
