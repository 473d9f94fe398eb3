//! nginx, Apache, nghttpd: servers with files of their own.

use std::process::Command;

use ablaze_target::{Options, Running, Server as BuiltIn};

use ablaze_testing::skip::installed_if_all;

use crate::conformance::cases::{FILES, Server, conform, lines_with};
use crate::conformance::scratch::scratch;
use crate::conformance::server::Process;
use ablaze_testing::{Scratch, ports};

/// The built-in server, which echoes for those who cannot.
pub fn backend() -> Running {
    let address = "127.0.0.1:0".parse().unwrap();
    BuiltIn::start(Options { address, threads: 1, ..Options::default() }).unwrap()
}

#[test]
fn nginx() {
    let Some(program) = installed_if_all("nginx") else { return };
    let (scratch, backend) = (scratch("nginx"), backend());
    let (tls, h2c) = (ports::free(), ports::free());
    let home = scratch.path().display();
    let address = backend.address();
    // After so many requests nginx says GOAWAY, over HTTP/1.1 `Connection: close`.
    let both = format!(
        "keepalive_requests 150; client_max_body_size 10m; client_body_buffer_size 1m; \
         root {home}/files; location = /echo {{ proxy_pass http://{address}; \
         proxy_buffers 16 64k; }}"
    );
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = temporary.map(|name| format!("{name}_temp_path {home}/{name};")).concat();
    let config = format!(
        "worker_processes 1; daemon off; master_process off; pid {home}/pid;
         error_log {home}/log info;
         events {{ worker_connections 512; }}
         http {{ access_log off; {temporary}
         server {{ listen 127.0.0.1:{tls} ssl http2; ssl_protocols TLSv1.2 TLSv1.3;
         ssl_certificate {home}/there.pem; ssl_certificate_key {home}/there.key; {both} }}
         server {{ listen 127.0.0.1:{h2c} http2; {both} }} }}\n"
    );
    let config = scratch.write("conf", &config);
    let mut command = Command::new(program);
    command.args(["-p", &home.to_string(), "-c", &config, "-e", &scratch.file("log")]);
    let _process = Process::start(command, &scratch, &[tls, h2c]);
    let server = Server {
        name: "nginx",
        scratch: &scratch,
        tls: Some(tls),
        h2c: Some(h2c),
        h3: None,
        http1: true,
        paths: FILES,
    };
    conform(&server, || {
        lines_with(&scratch.read("log"), |line| {
            let asked_for = line.contains("No such file or directory");
            let level = ["[warn]", "[error]", "[crit]", "[alert]", "[emerg]"];
            let grave = level.iter().any(|level| line.contains(level)) && !asked_for;
            grave || ["client sent", "SSL_", "prematurely"].iter().any(|word| line.contains(word))
        })
    });
}

#[test]
fn apache() {
    let Some(program) = installed_if_all("apache2") else { return };
    let (scratch, backend) = (scratch("apache"), backend());
    let (tls, h2c) = (ports::free(), ports::free());
    let home = scratch.path().display();
    let address = backend.address();
    let modules = ["mpm_event", "authz_core", "ssl", "http2", "proxy", "proxy_http"];
    let load =
        |name: &&str| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n");
    let modules: String = modules.iter().map(load).collect();
    // As root it needs someone else to be.
    let config = format!(
        "{modules}ServerRoot {home}\nServerName localhost\nPidFile {home}/pid\n\
         DefaultRuntimeDir {home}\nErrorLog {home}/log\nLogLevel info\nUser #65534\nGroup #65534\n\
         StartServers 1\nServerLimit 2\nThreadsPerChild 25\nMaxRequestWorkers 50\nMinSpareThreads 1\n\
         DocumentRoot {home}/files\n<Directory {home}/files>\nRequire all granted\n</Directory>\n\
         ProxyPass /echo http://{address}/echo\n\
         Listen 127.0.0.1:{tls}\nListen 127.0.0.1:{h2c}\n\
         <VirtualHost *:{tls}>\nProtocols h2 http/1.1\nSSLEngine on\n\
         SSLCertificateFile {home}/there.pem\nSSLCertificateKeyFile {home}/there.key\n\
         SSLProtocol -all +TLSv1.2 +TLSv1.3\nSSLSessionTickets off\n</VirtualHost>\n\
         <VirtualHost *:{h2c}>\nProtocols h2c http/1.1\n</VirtualHost>\n"
    );
    let config = scratch.write("conf", &config);
    let mut command = Command::new(program);
    command.args(["-DFOREGROUND", "-f", &config]);
    let _process = Process::start(command, &scratch, &[tls, h2c]);
    let server = Server {
        name: "Apache",
        scratch: &scratch,
        tls: Some(tls),
        h2c: Some(h2c),
        h3: None,
        http1: true,
        paths: FILES,
    };
    conform(&server, || {
        lines_with(&scratch.read("log"), |line| {
            let words = [":warn]", ":error]", ":crit]", ":alert]", ":emerg]", "SSL Library Error"];
            // What it says of its own configuration is no complaint about a client.
            words.iter().any(|word| line.contains(word)) && !line.contains(" Init: ")
        })
    });
}

#[test]
fn nghttpd() {
    let Some(program) = installed_if_all("nghttpd") else { return };
    let scratch = scratch("nghttpd");
    let (tls, h2c) = (ports::free(), ports::free());
    let files = scratch.file("files");
    let start = |port: u16, words: &[&str]| {
        let mut command = Command::new(&program);
        // It writes down every frame, and with that its reasons to end a connection.
        command.args(["-v", "-a", "127.0.0.1", "-d", &files, "--echo-upload"]);
        command.arg(port.to_string()).args(words);
        Process::start(command, &scratch, &[port])
    };
    let plain = start(h2c, &["--no-tls"]);
    let paths = FILES;
    let server = Server {
        name: "nghttpd",
        scratch: &scratch,
        tls: None,
        h2c: Some(h2c),
        h3: None,
        http1: false,
        paths,
    };
    conform(&server, || complaints_of_nghttpd(&scratch));
    // Each has the log for itself.
    drop(plain);
    let _secure = start(tls, &[&scratch.file("there.key"), &scratch.file("there.pem")]);
    conform(&Server { tls: Some(tls), h2c: None, ..server }, || complaints_of_nghttpd(&scratch));
}

fn complaints_of_nghttpd(scratch: &Scratch) -> Vec<String> {
    lines_with(&scratch.read("output"), |line| {
        let code = line.contains("error_code=") && !line.contains("error_code=NO_ERROR");
        code || ["[INVALID", "[ERROR]", "Error"].iter().any(|word| line.contains(word))
    })
}
