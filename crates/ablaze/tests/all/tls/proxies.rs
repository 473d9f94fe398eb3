//! Proxies of the tests' own: a small one that makes tunnels byte for byte, and Apache's.

use ablaze_testing::skip::{in_ci, long_tests, skip};
use ablaze_testing::{Bounded, Running};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What a small proxy does when it is asked for a tunnel.
#[derive(Debug, Clone, Copy)]
pub enum Manner {
    /// Makes it.
    Tunnels,
    /// Makes it for who shows these credentials.
    Wants(&'static str),
    /// Says this and closes.
    Says(&'static [u8]),
}

/// A small proxy, on a port of its own until the test ends.
pub struct Proxy {
    pub port: u16,
    /// The heads it was sent.
    pub asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heads = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let heads = Arc::clone(&heads);
                thread::spawn(move || serve(client, manner, &heads));
            }
        });
        Self { port, asked }
    }

    /// As a word of a command line.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn serve(mut client: TcpStream, manner: Manner, heads: &Mutex<Vec<String>>) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    heads.lock().unwrap().push(head.clone());
    match manner {
        Manner::Says(bytes) => return client.write_all(bytes).ok(),
        Manner::Wants(credentials) if !head.contains(credentials) => {
            let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic \
                           realm=\"here\"\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope";
            return client.write_all(refusal.as_bytes()).ok();
        }
        Manner::Wants(_) | Manner::Tunnels => {}
    }
    let (method, target) = head.split_once(' ')?;
    let target = target.split(' ').next()?;
    let to = if method == "CONNECT" { target } else { target.split('/').nth(2)? };
    let Ok(mut server) = TcpStream::connect(to) else {
        return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n").ok();
    };
    if method == "CONNECT" {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
    } else {
        server.write_all(head.as_bytes()).ok()?;
    }
    let (from, to) = (client.try_clone().ok()?, server.try_clone().ok()?);
    thread::spawn(move || pump(from, to));
    pump(server, client);
    Some(())
}

fn pump(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// An Apache that forwards and makes tunnels, to any port of this host.
pub struct Apache {
    process: Running,
    folder: PathBuf,
    pub port: u16,
    /// The same for who is `me` with the password `secret`.
    pub known: u16,
}

const MODULES: &str = "/usr/lib/apache2/modules";

impl Apache {
    /// `None`, and a skip, where Apache is not and the long tests are not asked for.
    #[track_caller]
    pub fn start(ports: &[u16]) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let program = ["/usr/sbin/apache2", "/usr/local/sbin/apache2"].map(PathBuf::from);
        let program = program.into_iter().find(|path| path.is_file());
        let has_module = PathBuf::from(MODULES).join("mod_proxy_connect.so").is_file();
        let Some(program) = program.filter(|_| has_module) else {
            assert!(!(in_ci() && long_tests()), "apache2 with mod_proxy_connect is missing");
            skip("apache2 with mod_proxy_connect is not installed");
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("ablaze-proxy-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let home = folder.display().to_string();
        let [port, known] = std::array::from_fn(|_| {
            TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
        });
        // htpasswd(1) calls this form {SHA}: base64 of SHA-1, here of "secret".
        std::fs::write(folder.join("users"), "me:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n").unwrap();
        let modules = [
            "mpm_event",
            "authn_core",
            "authn_file",
            "authz_core",
            "authz_user",
            "auth_basic",
            "proxy",
            "proxy_http",
            "proxy_connect",
        ]
        .map(|name| format!("LoadModule {name}_module {MODULES}/mod_{name}.so\n"))
        .concat();
        let ports = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
        let config = format!(
            "ServerRoot {home}\nServerName localhost\nPidFile {home}/pid\nErrorLog {home}/log\n\
             Mutex file:{home}\n{modules}Listen 127.0.0.1:{port}\nListen 127.0.0.1:{known}\n\
             ProxyRequests On\nAllowCONNECT {ports}\n\
             <VirtualHost 127.0.0.1:{port}>\n<Proxy *>\nRequire all granted\n</Proxy>\n</VirtualHost>\n\
             <VirtualHost 127.0.0.1:{known}>\n<Proxy *>\nAuthType Basic\nAuthName here\n\
             AuthUserFile {home}/users\nRequire valid-user\n</Proxy>\n</VirtualHost>\n"
        );
        std::fs::write(folder.join("conf"), config).unwrap();
        let process = Command::new(program)
            .args(["-f", &format!("{home}/conf"), "-D", "FOREGROUND"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .start()
            .unwrap();
        let apache = Self { process, folder, port, known };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "Apache does not start: {home}/log");
            thread::sleep(Duration::from_millis(10));
        }
        Some(apache)
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        // Its children end with it when it is asked, not when it is killed.
        self.process.signal(Signal::TERM);
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
