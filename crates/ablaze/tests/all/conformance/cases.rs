//! What is asked of every server, and what has to come of it.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use ablaze_testing::Bounded;
use ablaze_testing::Scratch;

use crate::conformance::scratch::{LARGE_BYTES, SMALL};

const BACKENDS: [&str; 2] = ["uring", "epoll"];
/// What is posted. It comes back.
const POSTED_BYTES: usize = 100_000;

/// A running server, as the cases see it.
pub struct Server<'a> {
    pub name: &'a str,
    pub scratch: &'a Scratch,
    /// The port with HTTP/1.1 and HTTP/2 over TLS.
    pub tls: Option<u16>,
    /// The port with HTTP/2 without TLS.
    pub h2c: Option<u16>,
    /// The port with HTTP/3.
    pub h3: Option<u16>,
    /// Whether it speaks HTTP/1.1 at all.
    pub http1: bool,
    pub paths: Paths,
}

/// Where on a server is what.
#[derive(Clone, Copy)]
pub struct Paths {
    /// 15 bytes.
    pub small: &'static str,
    /// 1 MiB.
    pub large: &'static str,
    /// Sends back what it gets.
    pub echo: &'static str,
}

/// Of a server that has files, and something behind it that echoes.
pub const FILES: Paths = Paths { small: "/small", large: "/large", echo: "/echo" };

/// A way to speak to it.
struct Way {
    scheme: &'static str,
    port: u16,
    /// The version in the report, and of TLS.
    http: &'static str,
    tls: Option<&'static str>,
}

impl Server<'_> {
    fn ways(&self) -> Vec<Way> {
        let mut ways = Vec::new();
        if let Some(port) = self.tls {
            for tls in ["1.2", "1.3"] {
                for http in ["1.1", "2"] {
                    if http == "2" || self.http1 {
                        ways.push(Way { scheme: "https", port, http, tls: Some(tls) });
                    }
                }
            }
        }
        ways.extend(self.h2c.map(|port| Way { scheme: "http", port, http: "2", tls: None }));
        ways.extend(self.h3.map(|port| Way { scheme: "https", port, http: "3", tls: Some("1.3") }));
        ways
    }
}

/// A request, how often it is made, and the one status that it has to get.
struct Case {
    name: &'static str,
    path: &'static str,
    requests: usize,
    words: Vec<String>,
    status: &'static str,
    /// Of each response; `None` where it is the server's own.
    body_bytes: Option<usize>,
}

fn cases(server: &Server, way: &Way) -> Vec<Case> {
    let posted = server.scratch.path().join("posted");
    std::fs::write(&posted, vec![b'x'; POSTED_BYTES]).unwrap();
    let Paths { small, large, echo } = server.paths;
    let some = words(if way.http == "1.1" { "-c 4" } else { "-c 4 --streams 3" });
    let many = words(if way.http == "1.1" { "-c 10" } else { "-c 10 --streams 32" });
    let with = |more: &[&str]| {
        let more = more.iter().map(|word| (*word).to_owned());
        some.iter().cloned().chain(more).collect()
    };
    let body = format!("@{}", posted.display());
    let case = |name, path, requests, words, status, body_bytes| Case {
        name,
        path,
        requests,
        words,
        status,
        body_bytes,
    };
    vec![
        case("GET small", small, 100, with(&[]), "200", Some(SMALL.len())),
        case("GET 1 MiB", large, 24, with(&[]), "200", Some(LARGE_BYTES)),
        case("POST 100 kB", echo, 40, with(&["-b", &body]), "200", Some(POSTED_BYTES)),
        case("HEAD", small, 50, with(&["-m", "HEAD"]), "200", Some(0)),
        case("404", "/missing/it", 50, with(&["--expect", "404"]), "404", None),
        case("many", small, 2000, many, "200", Some(SMALL.len())),
    ]
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// Asks a server everything; what the server complained of must be nothing.
pub fn conform(server: &Server, complaints: impl FnOnce() -> Vec<String>) {
    let mut wrong = Vec::new();
    let mut runs = 0;
    for way in server.ways() {
        for case in cases(server, &way) {
            for io in BACKENDS {
                runs += 1;
                if let Err(said) = hold(server, &way, &case, io) {
                    let Way { scheme, http, tls, .. } = way;
                    let name = case.name;
                    wrong.push(format!("{io} {scheme} HTTP/{http} TLS {tls:?} {name}: {said}"));
                }
            }
        }
    }
    // Let it write down how the last connections ended.
    std::thread::sleep(Duration::from_millis(100));
    wrong.extend(complaints());
    println!("{}: {runs} runs", server.name);
    assert!(wrong.is_empty(), "{}:\n{}", server.name, wrong.join("\n"));
}

fn hold(server: &Server, way: &Way, case: &Case, io: &str) -> Result<(), String> {
    let url = format!("{}://localhost:{}{}", way.scheme, way.port, case.path);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args([&url, "--json", "--quiet", "--io", io, "--timeout", "20s"]);
    command.args(["--http", way.http, "-n", &case.requests.to_string()]).args(&case.words);
    if let Some(tls) = way.tls {
        let issuer = server.scratch.file("issuer.pem");
        command.args(["--cacert", &issuer, "--tls-min", tls, "--tls-max", tls]);
    }
    let output = command.stdin(Stdio::null()).bounded_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let json: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {} {stderr}", output.status))?;
    let body = &json["bytes"]["body"];
    let seen = json!([output.status.code(), json["statuses"], json["failed"]["total"], stderr]);
    let expected = json!([0, { case.status: case.requests }, 0, ""]);
    if seen != expected {
        return Err(format!("{seen} instead of {expected}: {} {}", json["http2"], json["http3"]));
    }
    if let Some(bytes) = case.body_bytes
        && body != &json!(bytes * case.requests)
    {
        return Err(format!("{body} bytes instead of {} of {bytes}", case.requests));
    }
    if let Some(tls) = way.tls {
        let protocol = match way.http {
            "2" => "h2",
            "3" => "h3",
            _ => "http/1.1",
        };
        let agreed = &json["tls"]["agreed"][0];
        let seen = json!([agreed["version"], agreed["protocol"]]);
        if seen != json!([format!("TLSv{tls}"), protocol]) {
            return Err(format!("agreed on {seen}"));
        }
    }
    Ok(())
}

/// Lines of a log that are complaints.
pub fn lines_with(log: &str, complaint: impl Fn(&str) -> bool) -> Vec<String> {
    log.lines().filter(|line| complaint(line)).map(str::to_owned).collect()
}
