//! HTTP/3: nginx from 1.25 on, Caddy, and the built-in server.

use std::process::Command;

use ablaze_testing::skip::{installed_if_all, skip};
use ablaze_testing::{Bounded, Scratch, ports};

use crate::conformance::cases::{FILES, Server, conform, lines_with};
use crate::conformance::programs::backend;
use crate::conformance::scratch::scratch;
use crate::conformance::server::Process;

fn server<'a>(name: &'a str, scratch: &'a Scratch, port: u16) -> Server<'a> {
    Server { name, scratch, tls: None, h2c: None, h3: Some(port), http1: false, paths: FILES }
}

#[test]
fn nginx() {
    let Some(program) = installed_if_all("nginx") else { return };
    let version = Command::new(&program).arg("-V").bounded_output().unwrap();
    if !String::from_utf8_lossy(&version.stderr).contains("http_v3_module") {
        return skip("nginx is built without HTTP/3");
    }
    let (scratch, backend) = (scratch("nginx3"), backend());
    let port = ports::free();
    let home = scratch.path().display();
    let address = backend.address();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = temporary.map(|name| format!("{name}_temp_path {home}/{name};")).concat();
    // After so many requests nginx says GOAWAY.
    let config = format!(
        "worker_processes 1; daemon off; master_process off; pid {home}/pid;
         error_log {home}/log info;
         events {{ worker_connections 1024; }}
         http {{ access_log off; {temporary}
         server {{ listen 127.0.0.1:{port} quic; listen 127.0.0.1:{port} ssl;
         ssl_certificate {home}/there.pem; ssl_certificate_key {home}/there.key;
         keepalive_requests 150; client_max_body_size 10m; client_body_buffer_size 1m;
         root {home}/files;
         location = /echo {{ proxy_pass http://{address}; proxy_buffers 16 64k; }} }} }}\n"
    );
    let config = scratch.write("conf", &config);
    let mut command = Command::new(program);
    command.args(["-p", &home.to_string(), "-c", &config, "-e", &scratch.file("log")]);
    let _process = Process::start(command, &scratch, &[port]);
    conform(&server("nginx", &scratch, port), || {
        lines_with(&scratch.read("log"), |line| {
            let asked_for = line.contains("No such file or directory");
            let level = ["[warn]", "[error]", "[crit]", "[alert]", "[emerg]"];
            level.iter().any(|level| line.contains(level)) && !asked_for
        })
    });
}

#[test]
fn caddy() {
    let Some(program) = installed_if_all("caddy") else { return };
    let (scratch, backend) = (scratch("caddy"), backend());
    let port = ports::free();
    let home = scratch.path().display();
    let address = backend.address();
    let config = format!(
        "{{\n admin off\n auto_https off\n persist_config off\n}}\n\
         https://localhost:{port} {{\n tls {home}/there.pem {home}/there.key\n \
         handle /echo {{\n reverse_proxy {address}\n }}\n \
         handle {{\n root * {home}/files\n file_server\n }}\n}}\n"
    );
    let config = scratch.write("Caddyfile", &config);
    let mut command = Command::new(program);
    command.env("HOME", scratch.path()).args([
        "run",
        "--adapter",
        "caddyfile",
        "--config",
        &config,
    ]);
    let _process = Process::start(command, &scratch, &[port]);
    conform(&server("Caddy", &scratch, port), || {
        // What it warns of is its own configuration, and buffers that only root may enlarge.
        lines_with(&scratch.read("output"), |line| line.contains(r#""level":"error""#))
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
