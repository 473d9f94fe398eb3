//! What is asked of HTTP, TLS and the machine, before a machine says what it can do.

use serde::{Deserialize, Serialize};

use super::blob::Blob;
use super::secrets::SecretRef;
use crate::plan::tls::TlsVersion;
use crate::plan::{IoChoice, Spin};

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HttpVersion {
    /// HTTP/1.0.
    #[serde(rename = "1.0")]
    Http10,
    /// HTTP/1.1.
    #[serde(rename = "1.1")]
    Http11,
    /// HTTP/2.
    #[serde(rename = "2")]
    Http2,
    /// HTTP/3.
    #[serde(rename = "3")]
    Http3,
}

impl HttpVersion {
    /// Minor version on the request line: requests of HTTP/2 and HTTP/3 are made as those of HTTP/1.1 and
    /// translated, so that the same are sent under all.
    pub fn minor(self) -> u8 {
        match self {
            Self::Http10 => 0,
            Self::Http11 | Self::Http2 | Self::Http3 => 1,
        }
    }
}

/// Threads, CPUs and the I/O backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkersSpec {
    /// Number of threads; `None` chooses.
    pub threads: Option<u32>,
    /// CPUs to pin them to; empty pins none.
    pub cpus: Vec<u32>,
    /// The I/O backend.
    pub io: IoChoice,
    /// Active waiting.
    pub spin: Spin,
}

impl Default for WorkersSpec {
    fn default() -> Self {
        Self { threads: None, cpus: Vec::new(), io: IoChoice::Auto, spin: Spin::Auto }
    }
}

/// TLS, where the destination speaks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsSpec {
    /// Whose certificates are accepted.
    pub trust: TrustSpec,
    /// The certificate to show a server that asks who is there, with its key.
    pub identity: Option<SecretRef>,
    /// The name to send and to verify; `None` is the host of the URL.
    pub server_name: Option<String>,
    /// Send a name in the ClientHello.
    pub send_server_name: bool,
    /// Oldest version offered; `None` is 1.2.
    pub oldest: Option<TlsVersion>,
    /// Newest version offered; `None` is 1.3.
    pub newest: Option<TlsVersion>,
    /// Cipher suites offered, as numbered by IANA; empty for the usual ones.
    pub suites: Vec<u16>,
    /// Groups offered for the exchange of keys, as numbered by IANA; empty for the usual ones.
    pub groups: Vec<u16>,
    /// Offer the version of HTTP as application protocol (ALPN).
    pub offer_protocol: bool,
    /// Resume sessions where the server permits.
    pub resume: bool,
    /// List the messages of the first connection's handshake.
    pub list_messages: bool,
}

/// Whose certificates are accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustSpec {
    /// Those that the system trusts.
    #[default]
    System,
    /// Those issued by one of the certificates in this PEM file, and these themselves.
    Issuers(Blob),
    /// Any at all.
    Anyone,
}

impl TrustSpec {
    /// The file with the certificates.
    pub fn file(&self) -> Option<&Blob> {
        match self {
            Self::Issuers(file) => Some(file),
            Self::System | Self::Anyone => None,
        }
    }
}

impl Default for TlsSpec {
    fn default() -> Self {
        Self {
            trust: TrustSpec::System,
            identity: None,
            server_name: None,
            send_server_name: true,
            oldest: None,
            newest: None,
            suites: Vec::new(),
            groups: Vec::new(),
            offer_protocol: true,
            resume: false,
            list_messages: false,
        }
    }
}
