//! An nginx of the test's own: its certificates, its ports, its folder, gone with it.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub use ablaze_testing::Ran;
use ablaze_testing::skip::installed;
use ablaze_testing::{Bounded, Running, ports};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// A running nginx.
pub struct Nginx {
    process: Running,
    folder: PathBuf,
    /// TLS, no sessions.
    pub tls: u16,
    /// TLS with tickets.
    pub tickets: u16,
    /// TLS that wants a certificate of the client.
    pub wants: u16,
    /// TLS with a certificate for another name.
    pub other: u16,
    /// TLS with a certificate that issued itself.
    pub own: u16,
    /// TLS 1.2 alone, with an RSA-free suite of its own.
    pub old: u16,
    /// Plain HTTP.
    pub plain: u16,
    /// HTTP/2 over TLS, by ALPN; 100 requests on a connection.
    pub http2: u16,
    /// HTTP/2 without TLS, by prior knowledge; 100 requests on a connection.
    pub h2c: u16,
}

impl Nginx {
    #[track_caller]
    pub fn start() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let program = installed("nginx")?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ablaze-tls-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        write_certificates(&folder);
        let big: Vec<u8> = (0..8_u32 << 20).map(|at| (at % 251) as u8).collect();
        std::fs::write(folder.join("8m"), &big).unwrap();
        let [tls, tickets, wants, other, own, old, plain, http2, h2c] =
            std::array::from_fn(|_| ports::free());
        let home = folder.display().to_string();
        let server = |port: u16, certificate: &str, more: &str| {
            format!(
                "server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {home}/{certificate}.pem; \
                 ssl_certificate_key {home}/{certificate}.key; ssl_protocols TLSv1.2 TLSv1.3; {more} \
                 root {home}; location = / {{ default_type text/plain; return 200 \"Hello, World!!\"; }} }}\n"
            )
        };
        let without = "ssl_session_tickets off; ssl_session_cache off;";
        let few = "keepalive_requests 100; client_max_body_size 10m;
             location = /post { return 200 \"got\"; }";
        let over_http2 = format!(
            "{}server {{ listen 127.0.0.1:{h2c} http2; {few} root {home}; location = / {{ return 200 \
             \"Hello, World!!\"; }} }}\n",
            server(http2, "there", few).replacen(" ssl;", " ssl http2;", 1)
        );
        let only_old = server(old, "there", without).replace(
            "ssl_protocols TLSv1.2 TLSv1.3;",
            "ssl_protocols TLSv1.2; ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256;",
        );
        let verifies = format!("ssl_verify_client on; ssl_client_certificate {home}/issuer.pem;");
        let config = format!(
            "worker_processes 1; daemon off; master_process off; pid {home}/pid; error_log {home}/log;\n\
             events {{ worker_connections 512; }}\n\
             http {{ access_log off; {over_http2} client_body_temp_path {home}/b; proxy_temp_path {home}/p; \
             fastcgi_temp_path {home}/f; uwsgi_temp_path {home}/u; scgi_temp_path {home}/s;\n{}{}{}{}{}{only_old}\
             server {{ listen 127.0.0.1:{plain}; location = / {{ return 200 \"plain\"; }} }} }}\n",
            server(tls, "there", without),
            server(tickets, "there", "ssl_session_tickets on;"),
            server(wants, "there", &verifies),
            server(other, "elsewhere", without),
            server(own, "own", without),
        );
        std::fs::write(folder.join("conf"), config).unwrap();
        let process = Command::new(program)
            .args(["-p", &home, "-c", &format!("{home}/conf"), "-e", &format!("{home}/log")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .start()
            .unwrap();
        let nginx =
            Self { process, folder, tls, tickets, wants, other, own, old, plain, http2, h2c };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", plain)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "nginx does not start: {home}/log");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(nginx)
    }

    /// A file beside nginx, as a word of a command line.
    pub fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn write_certificates(folder: &std::path::Path) {
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "issuer of the test");
    write("issuer.pem", params.self_signed(&key).unwrap().pem());
    let issuer = Issuer::new(params, key);
    for (name, names) in [
        ("there", vec!["localhost".to_owned(), "127.0.0.1".to_owned()]),
        ("elsewhere", vec!["elsewhere.example".to_owned()]),
        ("client", vec!["client.example".to_owned()]),
    ] {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &issuer).unwrap().pem();
        write(&format!("{name}.both"), format!("{certificate}{}", key.serialize_pem()));
        write(&format!("{name}.pem"), certificate);
        write(&format!("{name}.key"), key.serialize_pem());
    }
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    write("own.pem", params.self_signed(&key).unwrap().pem());
    write("own.key", key.serialize_pem());
}

/// Runs the command with these words.
pub fn ablaze(words: &[&str]) -> Ran {
    run(Command::new(env!("CARGO_BIN_EXE_ablaze")).args(words))
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Ran {
    command.ran()
}
