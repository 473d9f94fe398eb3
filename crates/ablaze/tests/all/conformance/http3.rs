//! HTTP/3: nginx from 1.25 on, Caddy, and the built-in server.

use std::process::Command;

use ablaze_testing::{Scratch, ports};

use crate::conformance::cases::{FILES, Server, conform, lines_with};
use crate::conformance::http3_matrix::{Wish, peers};
use crate::conformance::scratch::scratch;
use crate::conformance::server::Process;

fn server<'a>(name: &'a str, scratch: &'a Scratch, port: u16) -> Server<'a> {
    Server { name, scratch, tls: None, h2c: None, h3: Some(port), http1: false, paths: FILES }
}

#[test]
fn nginx() {
    // After some requests it says GOAWAY.
    let Some(started) = peers::nginx(Wish::GoAway, scratch("nginx3")) else { return };
    conform(&server("nginx", &started.scratch, started.port), || {
        lines_with(&started.scratch.read("log"), |line| {
            let asked_for = line.contains("No such file or directory");
            let level = ["[warn]", "[error]", "[crit]", "[alert]", "[emerg]"];
            level.iter().any(|level| line.contains(level)) && !asked_for
        })
    });
}

#[test]
fn caddy() {
    let Some(started) = peers::caddy(Wish::Nothing, scratch("caddy")) else { return };
    conform(&server("Caddy", &started.scratch, started.port), || {
        // What it warns of is its own configuration, and buffers that only root may enlarge.
        lines_with(&started.scratch.read("output"), |line| line.contains(r#""level":"error""#))
    });
}

/// The built-in server, under each of its models that speak it.
#[test]
fn ablaze_serve() {
    for model in ["epoll-et", "epoll-lt", "uring", "async"] {
        let scratch = scratch("serve3");
        let port = ports::free();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
        command.args(["serve", &format!("127.0.0.1:{port}"), "--http", "3", "--model", model]);
        command.args(["--tls-cert", &scratch.file("there.pem")]);
        command.args(["--tls-key", &scratch.file("there.key"), "--threads", "2"]);
        for path in ["small", "large"] {
            let file = scratch.path().join("files").join(path);
            command.args(["--route", &format!("/{path}=200:@{}", file.display())]);
        }
        command.args(["--route", "/missing/*=404:gone"]);
        let _process = Process::start(command, &scratch, &[port]);
        conform(&server(model, &scratch, port), || {
            lines_with(&scratch.read("output"), |line| line.starts_with("ablaze: "))
        });
    }
}
