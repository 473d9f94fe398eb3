//! The kinds of error an exchange can end with. Never lumped: each has its own cause and remedy.

use serde::{Deserialize, Serialize};

/// Why an exchange got no valid answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The connection was refused (ECONNREFUSED).
    Refused,
    /// The connection was reset (ECONNRESET, EPIPE).
    Reset,
    /// No complete answer within the timeout.
    Timeout,
    /// The server closed without sending a byte of an answer.
    ClosedWithoutAnswer,
    /// The server closed in the middle of the answer.
    ShortBody,
    /// The answer is not HTTP/1, or contradicts itself.
    Malformed,
    /// The head of the answer is longer than allowed.
    TooLarge,
    /// The connection could not be made for another reason (no route, network unreachable, …).
    Unreachable,
    /// This machine had no port or address left (EADDRNOTAVAIL, EADDRINUSE).
    LocalPorts,
    /// This process or machine had no descriptor left (EMFILE, ENFILE), or no memory for one.
    LocalDescriptors,
    /// Any other error of a system call.
    Other,
}

impl FailureKind {
    /// All kinds, in the order reports list them.
    pub const ALL: [Self; 11] = [
        Self::Refused,
        Self::Reset,
        Self::Timeout,
        Self::ClosedWithoutAnswer,
        Self::ShortBody,
        Self::Malformed,
        Self::TooLarge,
        Self::Unreachable,
        Self::LocalPorts,
        Self::LocalDescriptors,
        Self::Other,
    ];

    /// How reports call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::ClosedWithoutAnswer => "closed without an answer",
            Self::ShortBody => "short body",
            Self::Malformed => "malformed",
            Self::TooLarge => "head too large",
            Self::Unreachable => "unreachable",
            Self::LocalPorts => "no local port",
            Self::LocalDescriptors => "no descriptor",
            Self::Other => "other",
        }
    }

    /// Its name in machine-readable reports.
    pub fn key(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::ClosedWithoutAnswer => "closed-without-answer",
            Self::ShortBody => "short-body",
            Self::Malformed => "malformed",
            Self::TooLarge => "too-large",
            Self::Unreachable => "unreachable",
            Self::LocalPorts => "local-ports",
            Self::LocalDescriptors => "local-descriptors",
            Self::Other => "other",
        }
    }

    /// The kind that an errno of connecting or transferring belongs to.
    pub fn from_errno(errno: i32) -> Self {
        match errno {
            libc::ECONNREFUSED => Self::Refused,
            libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED => Self::Reset,
            libc::ETIMEDOUT => Self::Timeout,
            libc::EADDRNOTAVAIL | libc::EADDRINUSE => Self::LocalPorts,
            libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS => Self::LocalDescriptors,
            libc::ENETUNREACH
            | libc::EHOSTUNREACH
            | libc::EACCES
            | libc::EPERM
            | libc::ENETDOWN
            | libc::EHOSTDOWN
            | libc::ENOENT => Self::Unreachable,
            _ => Self::Other,
        }
    }
}
