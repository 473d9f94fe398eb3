//! Why a connection is over, as evidence: who ended it, with which code, and what was said. What it is
//! called in a report is decided by whoever counts it.

use ablaze_wire::http3::error::{ErrorCode, ErrorKind};
use quinn_proto::{ConnectionError, TransportErrorCode};
use rustls::AlertDescription;

use crate::codes::TransportCode;

/// Of what the server said at most so many characters are kept.
const SAID_CHARACTERS: usize = 200;

/// Why a connection is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// What happened.
    pub why: Why,
    /// What was said of it: by the server where it closed the connection, then to be shown through
    /// `ablaze_wire::printable` only.
    pub said: String,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// Our owner closed it.
    Closed,
    /// Nothing came for as long as the idle timeout permits; during the handshake, too.
    IdleTimeout,
    /// The server closed it with a code of HTTP/3; H3_NO_ERROR is among them.
    ByServer(ErrorCode),
    /// The server closed it with a code of QUIC.
    ByServersQuic(TransportCode),
    /// The server ended the handshake, or the connection, with this TLS alert.
    ByAlert(u8),
    /// The server does not know the connection (any more): a stateless reset (RFC 9000, 10.3).
    Forgotten,
    /// The server speaks no version of QUIC that is spoken here.
    NoCommonVersion,
    /// The server did not agree to `h3` in the handshake.
    NoHttp3,
    /// What the server sent in the handshake was not accepted: its certificate, for example.
    Tls(rustls::Error),
    /// The server broke the rules of HTTP/3.
    Http3(ErrorKind),
    /// The server broke the rules of QUIC.
    Quic(TransportCode),
}

impl Ended {
    /// What quinn-proto says, and what its TLS session knows.
    pub(super) fn of(error: ConnectionError, tls: Option<rustls::Error>) -> Self {
        let nothing = String::new();
        let (why, said) = match error {
            ConnectionError::VersionMismatch => (Why::NoCommonVersion, nothing),
            ConnectionError::TransportError(error) => match tls {
                Some(tls) => (Why::Tls(tls), nothing),
                None => (Why::Quic(code(error.code)), error.reason),
            },
            ConnectionError::ConnectionClosed(close) => {
                let code = code(close.error_code);
                let why = code.alert().map_or(Why::ByServersQuic(code), Why::ByAlert);
                (why, said(&close.reason))
            }
            ConnectionError::ApplicationClosed(close) => {
                let code = ErrorCode(close.error_code.into_inner());
                (Why::ByServer(code), said(&close.reason))
            }
            ConnectionError::Reset => (Why::Forgotten, nothing),
            ConnectionError::TimedOut => (Why::IdleTimeout, nothing),
            ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => {
                (Why::Closed, nothing)
            }
        };
        Self { why, said }
    }

    /// The same where the handshake was not complete. Nothing but `h3` is offered, so no protocol in common is no HTTP/3 (RFC
    /// 7301, 3.2). Which protocol a server chooses is checked by rustls.
    pub(super) fn in_handshake(self) -> Self {
        let none = Why::ByAlert(AlertDescription::NoApplicationProtocol.into());
        let why = match self.why {
            why if why == none => Why::NoHttp3,
            Why::Tls(rustls::Error::NoApplicationProtocol) => Why::NoHttp3,
            why => why,
        };
        Self { why, ..self }
    }

    /// The name of the code that the server closed the connection with, if it did.
    pub fn code_name(&self) -> Option<String> {
        match &self.why {
            Why::ByServer(code) => Some(code.to_string()),
            Why::ByServersQuic(code) => Some(code.to_string()),
            Why::ByAlert(alert) => Some(TransportCode(0x100 + u64::from(*alert)).to_string()),
            _ => None,
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.why {
            Why::Closed => f.write_str("the connection was closed here"),
            Why::IdleTimeout => f.write_str("nothing came from the server within the idle timeout"),
            Why::ByServer(code) => write!(f, "the server closed the connection with {code}"),
            Why::ByServersQuic(code) => write!(f, "the server closed the connection with {code}"),
            Why::ByAlert(alert) => {
                let alert = AlertDescription::from(*alert);
                write!(f, "the server sent the alert {alert:?} ({})", u8::from(alert))
            }
            Why::Forgotten => f.write_str(
                "the server does not know the connection any more (stateless reset; RFC 9000, 10.3)",
            ),
            Why::NoCommonVersion => f.write_str("the server does not speak version 1 of QUIC"),
            Why::NoHttp3 => f.write_str("the server did not agree to HTTP/3 in the handshake"),
            Why::Tls(error) => write!(f, "{}", ablaze_wire::printable::printable(&error.to_string())),
            Why::Http3(kind) => write!(f, "{kind}"),
            Why::Quic(code) => write!(f, "the server broke the rules of QUIC: {code}"),
        }?;
        match self.said.is_empty() {
            true => Ok(()),
            false => write!(f, ": {}", ablaze_wire::printable::printable(&self.said)),
        }
    }
}

fn code(code: TransportErrorCode) -> TransportCode {
    TransportCode(code.into())
}

fn said(reason: &[u8]) -> String {
    String::from_utf8_lossy(reason).chars().take(SAID_CHARACTERS).collect()
}
