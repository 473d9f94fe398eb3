//! What a run knows of TLS besides its times: handshakes, what they agreed on, the server's
//! certificate, the first failure.

use super::TlsAlert;
use crate::failure::FailureKind;
use crate::plan::tls::TlsVersion;

/// What is known of a run's TLS.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsFacts {
    /// Connections that stood, whatever came of their handshake.
    pub connected: u64,
    /// Full handshakes.
    pub handshakes_full: u64,
    /// Those of them in which the server asked for another group, a round trip more.
    pub handshakes_retried: u64,
    /// Sessions resumed.
    pub handshakes_resumed: u64,
    /// What was agreed on, and how often.
    pub agreed: Vec<(Agreed, u64)>,
    /// The server's certificate, DER; empty where none was shown.
    pub certificate: Vec<u8>,
    /// What went wrong first: its kind, and in words.
    pub first_failure: Option<(FailureKind, String)>,
    /// The alert that this was, if it was one of the server.
    pub first_alert: Option<TlsAlert>,
    /// What was said on the first connection beside application data, in its order; empty unless the
    /// Plan asks for it. It is shown and not kept: a saved run has none.
    pub spoken: Vec<Spoken>,
}

impl TlsFacts {
    /// Whether every connection that stood completed its handshake: what failed came later.
    pub fn all_completed(&self) -> bool {
        self.connected > 0 && self.handshakes() >= self.connected
    }

    /// The alert that ended TLS first, if this kind of failure is what it came to.
    pub fn alert_of(&self, kind: FailureKind) -> Option<TlsAlert> {
        let is_it = self.first_failure.as_ref().is_some_and(|(of, _)| *of == kind);
        self.first_alert.filter(|_| is_it)
    }
}

/// One of the two that speak TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsParty {
    /// This program, the client.
    Client,
    /// The peer.
    Server,
}

/// A message of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Who sent it.
    pub from: TlsParty,
    /// Its name in the RFCs; of an alert, level and description.
    pub message: String,
    /// Bytes of it, without its header; of one that could not be opened, those of its record.
    pub bytes: usize,
}

/// What a handshake agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// The version of TLS.
    pub version: TlsVersion,
    /// The cipher suite, by IANA's number.
    pub suite: u16,
    /// The group keys were exchanged in, by IANA's number; `None` in a resumed session of TLS 1.2.
    pub group: Option<u16>,
    /// The application protocol (ALPN).
    pub protocol: Option<String>,
}

impl TlsFacts {
    /// Handshakes of all kinds.
    pub fn handshakes(&self) -> u64 {
        self.handshakes_full + self.handshakes_resumed
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self {
            connected,
            handshakes_full,
            handshakes_retried,
            handshakes_resumed,
            agreed,
            certificate,
            first_failure,
            first_alert,
            spoken,
        } = other;
        self.connected += connected;
        self.handshakes_full += handshakes_full;
        self.handshakes_retried += handshakes_retried;
        self.handshakes_resumed += handshakes_resumed;
        for (agreed, times) in agreed {
            match self.agreed.iter_mut().find(|(mine, _)| *mine == agreed) {
                Some((_, mine)) => *mine += times,
                None => self.agreed.push((agreed, times)),
            }
        }
        if self.certificate.is_empty() {
            self.certificate = certificate;
        }
        if self.spoken.is_empty() {
            self.spoken = spoken;
        }
        if self.first_failure.is_none() {
            (self.first_failure, self.first_alert) = (first_failure, first_alert);
        }
    }
}
