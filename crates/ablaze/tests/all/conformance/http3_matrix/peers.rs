//! Servers of HTTP/3 as processes: nginx and Caddy where they are installed, small programs on quic-go and aioquic (their
//! sources are in `tests/peers`), and the built-in one.

use std::path::PathBuf;
use std::process::Command;

use ablaze_testing::skip::{installed_if_all, skip};
use ablaze_testing::{Bounded, Scratch, ports, repository};

use super::{Started, Wish};
use crate::conformance::programs::backend;
use crate::conformance::server::Process;

pub fn ablaze_serve(wish: Wish, scratch: Scratch) -> Option<Started> {
    let port = ports::free();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ablaze"));
    command.args(["serve", &format!("127.0.0.1:{port}"), "--http", "3"]);
    command.args(["--tls-cert", &scratch.file("there.pem")]);
    command.args(["--tls-key", &scratch.file("there.key")]);
    for path in ["small", "large"] {
        let file = scratch.path().join("files").join(path);
        command.args(["--route", &format!("/{path}=200:@{}", file.display())]);
    }
    match wish {
        Wish::Nothing => {}
        Wish::Retry => drop(command.arg("--retry")),
        Wish::GoAway => drop(command.args(["--max-requests", "150"])),
    }
    Some(of_process(command, scratch, port))
}

/// The program of `tests/peers/quic_go`, built by `go build` there: `ABLAZE_QUIC_GO` names it.
pub fn quic_go(wish: Wish, scratch: Scratch) -> Option<Started> {
    let program = named("ABLAZE_QUIC_GO", "the server on quic-go")?;
    let port = ports::free();
    let mut command = Command::new(program);
    command.args(["-address", &format!("127.0.0.1:{port}"), "-root", &scratch.file("files")]);
    command.args(["-cert", &scratch.file("there.pem"), "-key", &scratch.file("there.key")]);
    match wish {
        Wish::Nothing => {}
        Wish::Retry => drop(command.arg("-retry")),
        Wish::GoAway => drop(command.args(["-goaway", "20ms"])),
    }
    Some(of_process(command, scratch, port))
}

/// `tests/peers/aioquic_server.py`, by the Python that `ABLAZE_AIOQUIC` names: one that has aioquic.
pub fn aioquic(wish: Wish, scratch: Scratch) -> Option<Started> {
    let python = named("ABLAZE_AIOQUIC", "a Python with aioquic")?;
    let port = ports::free();
    let mut command = Command::new(python);
    let script = repository::folder().join("crates/ablaze/tests/peers/aioquic_server.py");
    command.arg(script).args(["--port", &port.to_string(), "--root", &scratch.file("files")]);
    command.args(["--cert", &scratch.file("there.pem"), "--key", &scratch.file("there.key")]);
    match wish {
        Wish::Nothing => {}
        Wish::Retry => drop(command.arg("--retry")),
        Wish::GoAway => drop(command.args(["--goaway", "300"])),
    }
    Some(of_process(command, scratch, port))
}

/// The one that `ABLAZE_NGINX_HTTP3` names, or the system's.
pub fn nginx(wish: Wish, scratch: Scratch) -> Option<Started> {
    let program = match std::env::var_os("ABLAZE_NGINX_HTTP3") {
        Some(program) => PathBuf::from(program),
        None => installed_if_all("nginx")?,
    };
    let version = Command::new(&program).arg("-V").bounded_output().unwrap();
    if !String::from_utf8_lossy(&version.stderr).contains("http_v3_module") {
        skip("nginx is built without HTTP/3");
        return None;
    }
    let (port, backend) = (ports::free(), backend());
    let home = scratch.path().display();
    let address = backend.address();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = temporary.map(|name| format!("{name}_temp_path {home}/{name};")).concat();
    let retry = if wish == Wish::Retry { "on" } else { "off" };
    let requests = if wish == Wish::GoAway { 150 } else { 1_000_000 };
    let config = format!(
        "worker_processes 1; daemon off; master_process off; pid {home}/pid; error_log {home}/log info;
         events {{ worker_connections 1024; }}
         http {{ access_log off; {temporary}
         server {{ listen 127.0.0.1:{port} quic; listen 127.0.0.1:{port} ssl; quic_retry {retry};
         ssl_certificate {home}/there.pem; ssl_certificate_key {home}/there.key;
         keepalive_requests {requests}; client_max_body_size 10m; client_body_buffer_size 2m;
         root {home}/files;
         location = /echo {{ proxy_pass http://{address}; proxy_buffers 64 64k; }} }} }}\n"
    );
    let config = scratch.write("conf", &config);
    let mut command = Command::new(program);
    command.args(["-p", &home.to_string(), "-c", &config, "-e", &scratch.file("log")]);
    let process = Process::start(command, &scratch, &[port]);
    Some(Started { port, scratch, _alive: Box::new((process, backend)) })
}

pub fn caddy(_wish: Wish, scratch: Scratch) -> Option<Started> {
    let program = installed_if_all("caddy")?;
    let (port, backend) = (ports::free(), backend());
    let home = scratch.path().display();
    let address = backend.address();
    let config = format!(
        "{{\n admin off\n auto_https off\n}}\n\
         https://localhost:{port} {{\n tls {home}/there.pem {home}/there.key\n \
         handle /echo {{\n reverse_proxy {address}\n }}\n \
         handle {{\n root * {home}/files\n file_server\n }}\n}}\n"
    );
    let config = scratch.write("Caddyfile", &config);
    let mut command = Command::new(program);
    command.env("HOME", scratch.path());
    command.args(["run", "--adapter", "caddyfile", "--config", &config]);
    let process = Process::start(command, &scratch, &[port]);
    Some(Started { port, scratch, _alive: Box::new((process, backend)) })
}

fn of_process(command: Command, scratch: Scratch, port: u16) -> Started {
    let process = Process::start(command, &scratch, &[port]);
    Started { port, scratch, _alive: Box::new(process) }
}

/// The program that a variable of the environment names.
fn named(variable: &str, what: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    if path.is_none() {
        skip(&format!("{what} is not here: {variable} would name it"));
    }
    path
}
