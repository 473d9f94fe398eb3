//! TLS on the built-in servers, through rustls: a layer without I/O between a model and the
//! protocol of a connection. [`identity`] has the certificate, given or made by the server itself,
//! `configuration` makes of the options what rustls is told, [`session`] is one connection, `received`
//! what came and is not read, and `sealing` turns output into records.

mod configuration;
pub mod identity;
mod received;
mod sealing;
pub mod session;

pub use identity::Identity;

/// How a server speaks TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsOptions {
    /// The certificate and key that the server presents.
    pub identity: Identity,
    /// Oldest version that it accepts.
    pub min: TlsVersion,
    /// Newest version that it offers.
    pub max: TlsVersion,
    /// Whether sessions can be resumed: with tickets, in both versions.
    pub tickets: bool,
    /// Certificates, as PEM, of those who sign for clients: each client must then show a
    /// certificate that one of them signed.
    pub client_authorities: Option<Vec<u8>>,
}

impl TlsOptions {
    /// Everything that is usual, under this identity.
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            min: TlsVersion::Tls12,
            max: TlsVersion::Tls13,
            tickets: true,
            client_authorities: None,
        }
    }

    /// Checks that the parts go together.
    ///
    /// # Errors
    /// One sentence about the first that does not.
    pub fn check(&self) -> Result<(), String> {
        self.configuration(false).map(drop)
    }
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// RFC 5246.
    Tls12,
    /// RFC 8446.
    Tls13,
}

impl TlsVersion {
    /// Both, the older first.
    pub const ALL: [Self; 2] = [Self::Tls12, Self::Tls13];

    /// As it is written: 1.2.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        }
    }
}
