//! Programs that people use as clients, against every model: curl verifies, openssl speaks each
//! version, ab loads. A program that is not installed is skipped, unless `CI` is set.

use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};

use ablaze_target::{Options, Server};
use ablaze_testing::skip::installed;
use ablaze_testing::{Bounded, ScratchFile};

use ablaze_tamper::tls_client::{identity, models, options};

/// The authority of a server as a file, removed with this.
fn authority_file(options: &Options, test: &str) -> ScratchFile {
    let authority = identity(options).authority().unwrap();
    ScratchFile::with(test, authority.as_ref())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn curl_verifies_the_server_by_name_and_address() {
    if installed("curl").is_none() {
        return;
    }
    let options = options();
    let file = authority_file(&options, "curl");
    let curl = |words: &[&str]| -> Output {
        Command::new("curl").args(["-sS", "--max-time", "20"]).args(words).bounded_output().unwrap()
    };
    let authority = file.word();
    for model in models() {
        let server = Server::start(Options { model, ..options.clone() }).unwrap();
        for host in ["localhost", "127.0.0.1"] {
            let url = format!("https://{host}:{}/hello", server.address().port());
            for version in ["1.2", "1.3"] {
                let output = curl(&["--tls-max", version, "--cacert", authority, &url]);
                assert_eq!(output.stdout, b"hello, world!\n", "{model}: {}", text(&output.stderr));
            }
            // Nobody else vouches for it.
            assert_eq!(curl(&[&url]).status.code(), Some(60));
        }
        let long = format!("https://localhost:{}/bytes/8MiB", server.address().port());
        assert_eq!(curl(&["--cacert", authority, &long]).stdout.len(), 8 << 20);
        server.stop().unwrap();
    }
}

fn s_client(address: SocketAddr, words: &[&str], input: &str) -> String {
    let mut child = Command::new("openssl")
        .args(["s_client", "-connect", &address.to_string(), "-quiet", "-ign_eof"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn openssl_speaks_each_version_with_it() {
    if installed("openssl").is_none() {
        return;
    }
    let options = options();
    let file = authority_file(&options, "openssl");
    let request = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    for model in models() {
        let server = Server::start(Options { model, ..options.clone() }).unwrap();
        for version in ["-tls1_2", "-tls1_3"] {
            let authority = file.word();
            let words = [version, "-CAfile", authority, "-verify_return_error"];
            let said = s_client(server.address(), &words, request);
            assert!(said.contains("hello, world!\n"), "{model}, {version}: {said}");
            assert!(!said.contains("unexpected eof"), "{model}, {version}: {said}");
        }
        server.stop().unwrap();
    }
}

#[test]
fn ab_loads_every_model() {
    if installed("ab").is_none() {
        return;
    }
    for model in models() {
        let server = Server::start(Options { model, ..options() }).unwrap();
        let url = format!("https://{}/", server.address());
        for (words, requests) in [(&["-k"][..], 2000), (&[], 200)] {
            let output = Command::new("ab")
                .args(["-q", "-c", "10", "-n", &requests.to_string()])
                .args(words)
                .arg(&url)
                .bounded_output()
                .unwrap();
            let report = text(&output.stdout);
            assert!(output.status.success(), "{model}: {report}{}", text(&output.stderr));
            assert!(report.contains(&format!("Complete requests:      {requests}\n")), "{report}");
            assert!(report.contains("Failed requests:        0\n"), "{report}");
        }
        let served = server.stop().unwrap();
        assert_eq!((served.requests, served.tls_failures), (2200, 0), "{model}");
    }
}
