//! What a Plan says about TLS: whom to trust, who to be, and what to offer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// TLS on every connection of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// The name that the server's certificate has to be for: a host name or an address.
    pub server_name: String,
    /// Send it in the ClientHello (SNI; RFC 6066, 3). Addresses are never sent.
    pub send_server_name: bool,
    /// Whose certificates are accepted.
    pub trust: Trust,
    /// What to show a server that asks who is there.
    pub identity: Option<Identity>,
    /// Oldest version offered.
    pub oldest: TlsVersion,
    /// Newest version offered.
    pub newest: TlsVersion,
    /// Cipher suites offered, as numbered by IANA, the preferred one first; empty for the usual ones.
    pub suites: Vec<u16>,
    /// Groups offered for the exchange of keys, as numbered by IANA, the preferred one first; empty
    /// for the usual ones.
    pub groups: Vec<u16>,
    /// Application protocols offered (ALPN; RFC 7301), the preferred one first; empty sends none.
    pub protocols: Vec<String>,
    /// Resume sessions where the server permits, instead of a full handshake per connection.
    pub resume: bool,
    /// List the messages of the first connection's handshake.
    #[serde(default)]
    pub list_messages: bool,
}

/// Whose certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Those that this system trusts.
    System,
    /// Those issued by one of these (DER), and these themselves.
    Issuers(Vec<Vec<u8>>),
    /// Any at all; nothing is checked, signatures of the handshake neither.
    Anyone,
}

/// A certificate to show, with its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The certificate and those between it and its root, DER.
    pub chain: Vec<Vec<u8>>,
    /// Its private key.
    pub key: PrivateKey,
}

/// A private key in DER: PKCS #8, PKCS #1 or SEC1. Shows nothing of itself, and is not saved.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PrivateKey {
    /// The key.
    #[serde(skip)]
    pub der: Vec<u8>,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "PrivateKey({} bytes)", self.der.len())
    }
}

/// A version of TLS that is spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "TLSv1.2")]
    V1_2,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "TLSv1.3")]
    V1_3,
}

impl TlsVersion {
    /// As reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1_2 => "TLSv1.2",
            Self::V1_3 => "TLSv1.3",
        }
    }
}

impl Tls {
    /// Everything usual, for a server of this name: verified, a full handshake each time.
    pub fn new(server_name: impl Into<String>) -> Self {
        Self {
            server_name: server_name.into(),
            send_server_name: true,
            trust: Trust::System,
            identity: None,
            oldest: TlsVersion::V1_2,
            newest: TlsVersion::V1_3,
            suites: Vec::new(),
            groups: Vec::new(),
            protocols: Vec::new(),
            resume: false,
            list_messages: false,
        }
    }
}
