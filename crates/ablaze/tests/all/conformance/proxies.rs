//! HAProxy before the built-in server, and Caddy with files.

use std::process::Command;

use ablaze_testing::ports;
use ablaze_testing::skip::installed_if_all;

use crate::conformance::cases::{FILES, Paths, Server, conform, lines_with};
use crate::conformance::programs::backend;
use crate::conformance::scratch::scratch;
use crate::conformance::server::Process;

#[test]
fn haproxy() {
    let Some(program) = installed_if_all("haproxy") else { return };
    let (scratch, backend) = (scratch("haproxy"), backend());
    let (tls, h2c) = (ports::free(), ports::free());
    let home = scratch.path().display();
    let address = backend.address();
    // Only what did not end as it should is written down.
    let config = format!(
        "global\n  log stderr format raw local0\n  nbthread 1\n  ssl-default-bind-options \
         ssl-min-ver TLSv1.2 no-tls-tickets\n  tune.ssl.cachesize 0\n\
         defaults\n  mode http\n  log global\n  option httplog\n  option dontlog-normal\n  \
         option http-ignore-probes\n  option dontlognull\n  timeout connect 10s\n  \
         timeout client 60s\n  timeout server 60s\n  default_backend built-in\n\
         frontend tls\n  bind 127.0.0.1:{tls} ssl crt {home}/there.both alpn h2,http/1.1\n\
         frontend h2c\n  bind 127.0.0.1:{h2c} proto h2\n\
         backend built-in\n  server built-in {address}\n"
    );
    let config = scratch.write("conf", &config);
    let mut command = Command::new(program);
    command.args(["-db", "-f", &config]);
    let _process = Process::start(command, &scratch, &[tls, h2c]);
    let paths = Paths { small: "/bytes/15", large: "/bytes/1048576", echo: "/echo" };
    let (tls, h2c) = (Some(tls), Some(h2c));
    let server =
        Server { name: "HAProxy", scratch: &scratch, tls, h2c, h3: None, http1: true, paths };
    // Its start, and the connections that asked whether it listens, are no complaints.
    conform(&server, || lines_with(&scratch.read("output"), |line| line.contains("127.0.0.1:")));
}

#[test]
fn caddy() {
    let Some(program) = installed_if_all("caddy") else { return };
    let scratch = scratch("caddy");
    let (tls, h2c) = (ports::free(), ports::free());
    let home = scratch.path().display();
    // Go's HTTP/1 server reads no request on while it answers, so what echoes has to wait for it all.
    let serves = format!(
        "bind 127.0.0.1\n  root * {home}/files\n  handle /echo {{\n    \
         respond \"{{http.request.body}}\"\n  }}\n  handle {{\n    file_server\n  }}\n"
    );
    let config = format!(
        "{{\n  admin off\n  auto_https off\n  storage file_system {home}/own\n  \
         log {{\n    output file {home}/log\n    level DEBUG\n  }}\n  \
         servers {{\n    protocols h1 h2 h2c\n  }}\n}}\n\
         https://localhost:{tls} {{\n  tls {home}/there.pem {home}/there.key\n  {serves}}}\n\
         http://localhost:{h2c} {{\n  {serves}}}\n"
    );
    let config = scratch.write("conf", &config);
    let mut command = Command::new(program);
    command.args(["run", "--config", &config, "--adapter", "caddyfile"]);
    let home = scratch.file("own");
    command.env("HOME", &home).env("XDG_DATA_HOME", &home).env("XDG_CONFIG_HOME", &home);
    // The port with TLS is there first; to ask whether it is would be a handshake that failed.
    let _process = Process::start(command, &scratch, &[h2c]);
    let (tls, h2c) = (Some(tls), Some(h2c));
    let server =
        Server { name: "Caddy", scratch: &scratch, tls, h2c, h3: None, http1: true, paths: FILES };
    conform(&server, || {
        lines_with(&scratch.read("log"), |line| {
            let grave = ["\"level\":\"warn\"", "\"level\":\"error\""];
            let of_requests = line.contains("\"logger\":\"http.");
            // What Go's HTTP server says of connections it could not go on with.
            let http2 = ["http2: server", "TLS handshake error"];
            of_requests && grave.iter().chain(&http2).any(|word| line.contains(word))
        })
    });
}
