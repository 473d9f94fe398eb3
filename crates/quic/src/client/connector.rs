//! What all connections of a worker have in common, made once.

use std::sync::Arc;

use quinn_proto::{
    ClientConfig, ConnectError, EndpointConfig, NoneTokenStore, RandomConnectionIdGenerator,
};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;

use super::tls::{TlsConfig, VERSION};
use crate::clock::Clock;
use crate::transport::Transport;

/// The application protocol in the handshake (RFC 9114, 3.1).
const ALPN: &[u8] = b"h3";

/// How connections behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Requests in flight on each, at most.
    pub streams: u32,
    /// QUIC below them.
    pub transport: Transport,
    /// Our SETTINGS_QPACK_MAX_TABLE_CAPACITY.
    pub table_bytes: u32,
    /// Our SETTINGS_MAX_FIELD_SECTION_SIZE.
    pub field_section_bytes: u32,
}

impl Options {
    /// With so many streams, and everything else as it is unless asked for.
    pub fn with_streams(streams: u32) -> Self {
        Self {
            streams,
            transport: Transport::default(),
            table_bytes: 0,
            field_section_bytes: 64 * 1_024,
        }
    }
}

/// Why no connection can be begun.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// TLS cannot be used as it is configured: without TLS 1.3, for example.
    #[error("TLS cannot be used for QUIC as it is configured: {0}")]
    Tls(rustls::Error),
    /// The address or the name of the server is none.
    #[error("no QUIC connection can be begun: {0}")]
    Connect(ConnectError),
}

/// Begins connections.
#[derive(Clone)]
pub struct Connector {
    pub(super) endpoint: Arc<EndpointConfig>,
    pub(super) client: ClientConfig,
    pub(super) options: Options,
    pub(super) clock: Clock,
    /// Whether the size of datagrams is to be found out.
    pub(super) discovers: bool,
}

impl Connector {
    /// With the certificates, suites and groups of `tls`; its protocols do not matter. Sessions are not resumed, and
    /// nothing is sent before the handshake is complete.
    ///
    /// # Errors
    /// [`StartError::Tls`] when `tls` does not permit TLS 1.3.
    pub fn new(tls: &rustls::ClientConfig, options: Options) -> Result<Self, StartError> {
        let mut tls = tls.clone();
        tls.alpn_protocols = vec![ALPN.to_vec()];
        tls.enable_early_data = false;
        tls.resumption = Resumption::disabled();
        let tls = Arc::new(tls);
        try_out(&tls).map_err(StartError::Tls)?;
        let mut endpoint = EndpointConfig::default();
        endpoint
            // A socket has one connection: it needs no name of its own in every packet.
            .cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)))
            .supported_versions(vec![VERSION])
            .grease_quic_bit(false);
        let mut client = ClientConfig::new(Arc::new(TlsConfig(tls)));
        client.token_store(Arc::new(NoneTokenStore)).version(VERSION);
        let mut connector = Self {
            endpoint: Arc::new(endpoint),
            client,
            options,
            clock: Clock::new(),
            discovers: options.transport.datagram_bytes.is_none(),
        };
        connector.use_transport();
        Ok(connector)
    }

    /// The same where the network device takes datagrams of this many bytes, as far as that is known.
    pub fn through_device(&self, bytes_max: Option<u16>) -> Self {
        let mut connector = self.clone();
        connector.options.transport.device_bytes_max = bytes_max;
        connector.use_transport();
        connector
    }

    fn use_transport(&mut self) {
        let transport = &self.options.transport;
        self.client.transport_config(Arc::new(transport.config()));
        // At most what the field has room for.
        let _ = Arc::make_mut(&mut self.endpoint).max_udp_payload_size(transport.accepted_bytes());
    }
}

/// Whether a configuration can be used for QUIC.
fn try_out(tls: &Arc<rustls::ClientConfig>) -> Result<(), rustls::Error> {
    let name = ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into());
    let version = rustls::quic::Version::V1;
    rustls::quic::ClientConnection::new(tls.clone(), version, name, Vec::new()).map(|_| ())
}
