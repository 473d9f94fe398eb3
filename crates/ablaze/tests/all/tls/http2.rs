//! HTTP/2 through the whole command: against nginx, by ALPN and by prior knowledge, and against the
//! command's own server.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use ablaze_testing::Bounded;

use crate::tls::nginx::{Nginx, ablaze, run};

const BACKENDS: [&str; 2] = ["uring", "epoll"];

fn counts(json: &Value) -> (&Value, &Value) {
    (&json["responses"], &json["failed"]["total"])
}

#[test]
fn nginx_answers_every_request_whatever_it_does_to_connections() {
    let Some(nginx) = Nginx::start() else { return };
    let by_alpn = format!("https://127.0.0.1:{}/", nginx.http2);
    let by_knowledge = format!("http://127.0.0.1:{}/", nginx.h2c);
    let issuer = nginx.file("issuer.pem");
    for io in BACKENDS {
        for url in [&by_alpn, &by_knowledge] {
            for way in [
                &["--streams", "1"][..],
                &["--streams", "10"],
                &["--streams", "40"],
                // More than nginx takes on a connection: some are refused on the next one too.
                &["--streams", "120"],
                &["--no-keepalive"],
                &["--streams", "5", "-r", "5k"],
            ] {
                let common = ["--http", "2", "-n", "1003", "-c", "3", "--io", io, "--json"];
                let words = [&[&url[..], "--cacert", &issuer], &common[..], way].concat();
                let ran = ablaze(&words);
                assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
                let json = ran.json();
                assert_eq!(counts(&json), (&json!(1003), &json!(0)), "{words:?}");
                assert_eq!(json["bytes"]["body"], 1003 * 14, "{words:?}");
                assert_eq!(json["request"]["http_version"], "2");
                if way[0] != "--no-keepalive" {
                    // A hundred requests on a connection, then GOAWAY.
                    assert!(json["http2"]["goaways"].as_u64().unwrap() >= 7, "{words:?}");
                }
                if url.starts_with("https") {
                    assert_eq!(json["tls"]["agreed"][0]["protocol"], "h2");
                }
            }
        }
    }
}

#[test]
fn fewer_streams_than_asked_for_are_noted() {
    let Some(nginx) = Nginx::start() else { return };
    let url = format!("http://127.0.0.1:{}/", nginx.h2c);
    let words = ["--http", "2", "-n", "90", "-c", "1", "--streams", "200", "--json", &url];
    let json = ablaze(&words).json();
    assert_eq!(counts(&json), (&json!(90), &json!(0)));
    // What nginx permits unless told otherwise.
    assert_eq!(
        (&json["http2"]["streams"], &json["http2"]["streams_permitted"]),
        (&json!(200), &json!(128))
    );
}

#[test]
fn large_bodies_go_both_ways() {
    let Some(nginx) = Nginx::start() else { return };
    let body = nginx.file("8m");
    for io in BACKENDS {
        for port in [nginx.http2, nginx.h2c] {
            let scheme = if port == nginx.http2 { "https" } else { "http" };
            let common = ["-k", "--http", "2", "-c", "2", "--streams", "3", "--io", io, "--json"];
            let url = format!("{scheme}://127.0.0.1:{port}/8m");
            let json = ablaze(&[&[&url, "-n", "12"], &common[..]].concat()).json();
            assert_eq!(counts(&json), (&json!(12), &json!(0)), "{url} {io}");
            assert_eq!(json["bytes"]["body"], 12 * (8 << 20), "{url} {io}");
            let url = format!("{scheme}://127.0.0.1:{port}/post");
            let file = format!("@{body}");
            let json = ablaze(&[&[&url, "-n", "12", "-b", &file], &common[..]].concat()).json();
            assert_eq!(counts(&json), (&json!(12), &json!(0)), "{url} {io}");
            // nginx answers before it has all, and resets the rest of the body without an error.
            assert!(json["bytes"]["sent"].as_u64().unwrap() > 12 << 10, "{url} {io}");
        }
    }
}

#[test]
fn a_server_without_http2_is_named_in_one_line() {
    let Some(nginx) = Nginx::start() else { return };
    for url in
        [format!("http://127.0.0.1:{}/", nginx.plain), format!("https://127.0.0.1:{}/", nginx.tls)]
    {
        let ran = ablaze(&["-k", "--http", "2", "-n", "500", "-c", "2", "--quiet", &url]);
        assert_eq!(ran.status, 1, "{ran:?}");
        let said = "does not speak HTTP/2; remove --http 2";
        assert!(ran.stderr.contains(said), "{url}: {}", ran.stderr);
        assert!(ran.stderr.contains("no common protocol"), "{}", ran.stderr);
    }
}

#[test]
fn the_commands_own_server_over_http2() {
    let words = ["serve", "--http", "2", "127.0.0.1:0"];
    let mut server = Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .args(words)
        .stdout(Stdio::piped())
        .start()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    let load = |words: &[&str]| {
        let common = ["--http", "2", "-c", "2", "--streams", "5", "--json"];
        ablaze(&[&common[..], words].concat())
    };
    let heads = load(&["-n", "50", "-m", "HEAD", url]).json();
    assert_eq!((counts(&heads), &heads["bytes"]["body"]), ((&json!(50), &json!(0)), &json!(0)));
    let paths = load(&["-n", "50", "--expect", "404", &format!("{url}{{seq}}/{{rand:4}}")]).json();
    assert_eq!((&paths["statuses"]["404"], &paths["unexpected"]), (&json!(50), &json!(0)));
    let echo = load(&["-n", "50", "-b", "{rand:9} as it is", &format!("{url}echo")]).json();
    assert_eq!(echo["bytes"]["body"], 50 * 18);
    let late = load(&["-n", "20", "--timeout", "50ms", &format!("{url}delay/1000")]);
    assert_eq!(late.status, 1);
    let late = late.json();
    assert_eq!(late["failed"]["by_kind"]["timeout"], 20);
    assert_eq!(late["connections_opened"], 2, "each timeout is of its stream alone");
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn comparisons_take_the_options_of_tls_and_http_2() {
    let Some(nginx) = Nginx::start() else { return };
    let (issuer, folder) = (nginx.file("issuer.pem"), nginx.file("compared"));
    let targets = ["a", "b"].map(|name| format!("{name}=https://127.0.0.1:{}/", nginx.http2));
    let load = ["-c2", "-n60", "--http", "2", "--streams", "3", "--repeat", "1", "--quiet"];
    let common = ["compare", &targets[0], &targets[1], "--folder", &folder];
    let ran = ablaze(&[&common[..], &load, &["--cacert", &issuer]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let runs = runs_of(&folder);
    assert_eq!(runs.len(), 2, "{ran:?}");
    runs.iter().for_each(is_verified_http2);
}

/// Every kind of target that is started, with one certificate, which is verified; the control does what
/// the others do.
#[test]
fn an_experiment_gives_its_targets_a_certificate_and_http_2() {
    let Some(nginx) = Nginx::start() else { return };
    let folder = nginx.file("started");
    let own = "own=exec \"$ABLAZE\" serve 127.0.0.1:{port} --quiet --http 2 \
               --tls-cert {cert} --tls-key {key}";
    let ran = run(Command::new(env!("CARGO_BIN_EXE_ablaze"))
        .env("ABLAZE", env!("CARGO_BIN_EXE_ablaze"))
        .args([
            "compare",
            "serve:epoll-et",
            "serve:async,tls",
            "--start",
            own,
            "--control",
            "nginx",
        ])
        .args(["-c2", "-n60", "--http", "2", "--streams", "3", "--repeat", "1", "--quiet"])
        .args(["--https", "--folder", &folder]));
    assert_eq!(ran.status, 0, "{ran:?}");
    let runs = runs_of(&folder);
    assert_eq!(runs.len(), 4, "{ran:?}");
    runs.iter().for_each(is_verified_http2);
    // One that is alone with it has it alone; and one that cannot is refused before anything runs.
    let mixed = nginx.file("mixed");
    let words = ["-c2", "-n60", "--repeat", "1", "--quiet", "--folder", &mixed];
    let ran = ablaze(&[&["compare", "serve:epoll-et,tls", "serve:epoll-et"], &words[..]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    // Lines are broken between words.
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("TLS against plain TCP"), "{}", ran.stdout);
    let mut secure: Vec<bool> =
        runs_of(&mixed).iter().map(|json| json["tls"].is_object()).collect();
    secure.sort_unstable();
    assert_eq!(secure, [false, true]);
    let refused = ["compare", "serve:epoll-et", "serve:blocking", "--http", "2"];
    let ran = ablaze(&refused);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("model blocking handles one request at a time"), "{ran:?}");
}

/// A run of 60 requests over HTTP/2 in TLS, to a server whose certificate was verified.
fn is_verified_http2(run: &Value) {
    assert_eq!(counts(run), (&json!(60), &json!(0)));
    assert_eq!(run["tls"]["agreed"][0]["protocol"], "h2");
    assert_eq!(run["tls"]["verified_by"], "given");
}

fn runs_of(folder: &str) -> Vec<Value> {
    let runs = std::fs::read_dir(format!("{folder}/runs")).unwrap().map(|run| run.unwrap().path());
    runs.filter(|run| run.extension().is_some_and(|end| end == "json"))
        .map(|run| serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap())
        .collect()
}
