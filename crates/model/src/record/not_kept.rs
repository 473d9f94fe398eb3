//! Why connections were not kept behind responses.

use ablaze_wire::http1::response::Ending;

use super::tally::Reason;

/// What ended a connection behind a response: its head, or what came behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotKeptBy {
    /// The head has `Connection: close`.
    Close,
    /// The same, and nothing else tells where the body ends.
    CloseWithoutLength,
    /// The head is HTTP/1.0 without `Connection: keep-alive`.
    NoKeepAlive,
    /// The same, and it has no length that HTTP/1.0 knows.
    NoKeepAliveWithoutLength,
    /// Nothing else tells where the body ends.
    NoLength,
    /// The head is HTTP/1.0 and has a transfer coding.
    OldCoding,
    /// More bytes came than the head announced.
    Surplus,
    /// More bytes came behind the last chunk.
    SurplusChunked,
    /// Another response came behind it.
    SurplusResponse,
}

impl NotKeptBy {
    /// What a head says.
    pub fn of_head(ending: Ending) -> Option<Self> {
        Some(match ending {
            Ending::None => return None,
            Ending::Close => Self::Close,
            Ending::CloseWithoutLength => Self::CloseWithoutLength,
            Ending::NoKeepAlive => Self::NoKeepAlive,
            Ending::NoKeepAliveWithoutLength => Self::NoKeepAliveWithoutLength,
            Ending::NoLength => Self::NoLength,
            Ending::OldCoding => Self::OldCoding,
        })
    }
}

impl Reason for NotKeptBy {
    const ALL: &'static [Self] = &[
        Self::Close,
        Self::CloseWithoutLength,
        Self::NoKeepAlive,
        Self::NoKeepAliveWithoutLength,
        Self::NoLength,
        Self::OldCoding,
        Self::Surplus,
        Self::SurplusChunked,
        Self::SurplusResponse,
    ];

    fn index(self) -> usize {
        self as usize
    }

    fn key(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::CloseWithoutLength => "close-without-length",
            Self::NoKeepAlive => "no-keep-alive",
            Self::NoKeepAliveWithoutLength => "no-keep-alive-without-length",
            Self::NoLength => "no-length",
            Self::OldCoding => "old-coding",
            Self::Surplus => "surplus",
            Self::SurplusChunked => "surplus-chunked",
            Self::SurplusResponse => "surplus-response",
        }
    }
}
