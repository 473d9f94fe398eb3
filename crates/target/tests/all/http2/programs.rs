//! Programs that people use as clients: curl by either way to HTTP/2, h2load with many streams.
//! A program that is not installed is skipped, unless `CI` is set.

use std::process::Command;

use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_target::{Options, Server};
use ablaze_testing::Bounded;
use ablaze_testing::skip::installed;

use super::{models, options};

fn with_tls() -> Options {
    Options { tls: Some(TlsOptions::new(Identity::self_made(&[]).unwrap())), ..options() }
}

fn run(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).bounded_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn curl_speaks_it_by_preface_and_by_alpn() {
    if installed("curl").is_none() {
        return;
    }
    let ask = |words: &[&str]| {
        let always = ["-sS", "-k", "--max-time", "20", "-w", "%{http_version} %{size_download}"];
        run("curl", &[&always, words].concat())
    };
    for model in models() {
        let server = Server::start(Options { model, ..options() }).unwrap();
        let url = format!("http://{}", server.address());
        let hello = format!("{url}/hello");
        assert_eq!(ask(&["--http2-prior-knowledge", &hello]), "hello, world!\n2 14", "{model}");
        assert_eq!(ask(&[&hello]), "hello, world!\n1.1 14", "{model}");
        let stream = format!("{url}/stream?lines=3&every=10ms");
        assert!(ask(&["--http2-prior-knowledge", &stream]).ends_with("line 3 of 3\n2 36"));
        server.stop().unwrap();

        let server = Server::start(Options { model, ..with_tls() }).unwrap();
        let url = format!("https://{}", server.address());
        let hello = format!("{url}/hello");
        assert_eq!(ask(&[&hello]), "hello, world!\n2 14", "{model}");
        assert_eq!(ask(&["--http1.1", &hello]), "hello, world!\n1.1 14", "{model}");
        let long = format!("{url}/bytes/8MiB");
        assert_eq!(ask(&["-o", "/dev/null", &long]), "2 8388608", "{model}");
        let echo = format!("{url}/echo");
        let text = "x".repeat(100_000);
        assert_eq!(ask(&["--data", &text, &echo]), format!("{text}2 100000"), "{model}");
        let stream = format!("{url}/stream?lines=3&every=10ms");
        assert!(ask(&[&stream]).ends_with("line 3 of 3\n2 36"), "{model}");
        server.stop().unwrap();
    }
}

#[test]
fn h2load_gets_every_response_over_many_streams() {
    if installed("h2load").is_none() {
        return;
    }
    for model in models() {
        for options in [options(), with_tls()] {
            let scheme = if options.tls.is_some() { "https" } else { "http" };
            let server = Server::start(Options { model, ..options }).unwrap();
            let url = format!("{scheme}://{}/", server.address());
            let load = |words: &[&str], path: &str| {
                run("h2load", &[words, &[&format!("{url}{path}")]].concat())
            };
            let said = load(&["-n", "10000", "-c", "10", "-m", "100"], "");
            assert!(said.contains("10000 succeeded, 0 failed"), "{model}: {said}");
            // Windows of 1 KiB for a stream and 4 KiB for all of them.
            let small = ["-n", "40", "-c", "2", "-m", "10", "-w", "10", "-W", "12"];
            let said = load(&small, "bytes/256KiB");
            assert!(said.contains("40 succeeded, 0 failed"), "{model}: {said}");
            assert_eq!(server.stop().unwrap().requests, 10_040);
        }
    }
}
