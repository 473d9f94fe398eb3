//! A client that speaks TLS to the servers of `target`: rustls over a socket, verifying the server by its own authority.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_target::{Model, Options};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

/// The versions of TLS.
pub const VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// The models that speak TLS.
pub fn models() -> impl Iterator<Item = Model> {
    Model::ALL.iter().copied().filter(|model| !model.is_exempt())
}

/// A server with TLS on a free port.
pub fn options() -> Options {
    Options {
        address: "127.0.0.1:0".parse().unwrap(),
        threads: 1,
        tls: Some(TlsOptions::new(Identity::self_made(&[]).unwrap())),
        ..Options::default()
    }
}

/// Who such a server is.
pub fn identity(options: &Options) -> &Identity {
    &options.tls.as_ref().unwrap().identity
}

/// A client's configuration that trusts who signed for this server, and nobody else.
pub fn config(options: &Options, version: &'static SupportedProtocolVersion) -> ClientConfig {
    builder(options, version).with_no_client_auth()
}

/// The same before it is said which certificate the client shows.
pub fn builder(
    options: &Options,
    version: &'static SupportedProtocolVersion,
) -> rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert> {
    let mut roots = RootCertStore::empty();
    let authority = identity(options).authority().unwrap();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
}

/// A connection without a socket.
pub fn connection(config: &Arc<ClientConfig>) -> ClientConnection {
    let name = ServerName::try_from("localhost").unwrap();
    ClientConnection::new(config.clone(), name).unwrap()
}

/// A connection over a socket.
#[derive(Debug)]
pub struct Client {
    /// TLS and the socket below it.
    pub stream: StreamOwned<ClientConnection, TcpStream>,
}

impl Client {
    /// Connects; no wait for bytes exceeds 20 s.
    pub fn connect(address: SocketAddr, config: &Arc<ClientConfig>) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.set_nodelay(true).unwrap();
        Self { stream: StreamOwned::new(connection(config), socket) }
    }

    /// Sends, and reads one response of the length that its head announces.
    pub fn ask(&mut self, request: impl AsRef<[u8]>) -> (String, Vec<u8>) {
        self.stream.write_all(request.as_ref()).unwrap();
        self.response()
    }

    /// Reads one response of the length that its head announces.
    pub fn response(&mut self) -> (String, Vec<u8>) {
        let head = self.head();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (head, body)
    }

    /// Reads a head.
    pub fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap()
    }

    /// Everything up to the end.
    ///
    /// # Errors
    /// Those of the socket, and an end without a close_notify.
    pub fn rest(&mut self) -> std::io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).map(|_| rest)
    }
}

/// A GET of this path.
pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}
