//! What all endpoints of a server have in common.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{EndpointConfig, IdleTimeout, ServerConfig};

use crate::transport::Transport;

/// Bytes that a client may send on a stream, and on a connection, before they are read.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;
/// The longest datagram that there is (RFC 9000, 18.2).
const RECEIVED_BYTES_MAX: u16 = 65_527;
/// Bytes of a connection that wait for a client's acknowledgement, at most.
const UNACKNOWLEDGED_BYTES_MAX: u64 = 4 << 20;
/// A connection on which nothing comes for so long is over (RFC 9000, 10.1).
const IDLE: Duration = Duration::from_secs(30);

/// How the endpoints of a server behave. Cloned, they share their keys.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(super) endpoint: Arc<EndpointConfig>,
    pub(super) server: Arc<ServerConfig>,
    transport: Transport,
    idle: IdleTimeout,
    /// Every client has to show that it receives at its address before anything is kept for it.
    pub(super) retry: bool,
    /// Longest field section of a request.
    pub(super) section_bytes_max: usize,
}

/// Why no server can be made of this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// QUIC's first packets are always under this suite (RFC 9001, 5.2).
    #[error("QUIC needs TLS 1.3 with AES-128-GCM, which this TLS does not have")]
    Tls,
    /// Not a time of QUIC.
    #[error("an idle connection cannot be kept for {0:?}: QUIC has at most 2^62 milliseconds")]
    Idle(Duration),
}

impl Settings {
    /// With this TLS, whose application protocols are HTTP/3's, and so many requests at a time on a connection. Keys for
    /// tokens and stateless resets are made up.
    ///
    /// # Errors
    /// When the TLS cannot be QUIC's, or the time is too long.
    pub fn new(
        tls: Arc<rustls::ServerConfig>,
        streams_max: u32,
        section_bytes_max: usize,
        idle: Option<Duration>,
        retry: bool,
    ) -> Result<Self, SettingsError> {
        let crypto = QuicServerConfig::try_from(tls).map_err(|_| SettingsError::Tls)?;
        let idle = idle.unwrap_or(IDLE);
        let idle_timeout = IdleTimeout::try_from(idle).map_err(|_| SettingsError::Idle(idle))?;
        let transport = Transport {
            stream_window_bytes: STREAM_WINDOW_BYTES.into(),
            connection_window_bytes: CONNECTION_WINDOW_BYTES.into(),
            request_streams: streams_max,
            ..Transport::default()
        };
        let mut server = ServerConfig::with_crypto(Arc::new(crypto));
        // A connection belongs to the worker whose socket the kernel gives its addresses to: after a change, its
        // datagrams would come to another.
        server.migration(false);
        let mut endpoint = EndpointConfig::default();
        // All that there is: clients come through any device.
        let _ = endpoint.max_udp_payload_size(RECEIVED_BYTES_MAX);
        let mut settings = Self {
            endpoint: Arc::new(endpoint),
            server: Arc::new(server),
            transport,
            idle: idle_timeout,
            retry,
            section_bytes_max,
        };
        settings.server = settings.through_device(None);
        Ok(settings)
    }

    /// The same for requests with field sections of at most this size.
    pub fn taking(mut self, section_bytes_max: usize) -> Self {
        self.section_bytes_max = section_bytes_max;
        self
    }

    /// How connections behave where the network device toward the client takes datagrams of this many bytes, as far as
    /// that is known.
    pub(super) fn through_device(&self, bytes_max: Option<u16>) -> Arc<ServerConfig> {
        let mut transport = Transport { device_bytes_max: bytes_max, ..self.transport }.config();
        transport.send_window(UNACKNOWLEDGED_BYTES_MAX).max_idle_timeout(Some(self.idle));
        let mut server = ServerConfig::clone(&self.server);
        server.transport_config(Arc::new(transport));
        Arc::new(server)
    }
}
