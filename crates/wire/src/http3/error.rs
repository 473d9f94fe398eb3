//! What can go wrong, by name: for a whole connection ([`ErrorKind`]), for one request ([`StreamFault`]), and the codes of
//! RFC 9114, 8.1 and RFC 9204, 6 that are sent for it.

use super::qpack::QpackFault;
use crate::http2::field::FieldFault;

/// An error code as RESET_STREAM, STOP_SENDING and CONNECTION_CLOSE carry it. Unknown ones are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub u64);

impl ErrorCode {
    /// Not an error: a graceful end.
    pub const NO_ERROR: Self = Self(0x100);
    /// The protocol was violated, and no other code says how.
    pub const GENERAL_PROTOCOL_ERROR: Self = Self(0x101);
    /// The sender had an internal fault.
    pub const INTERNAL_ERROR: Self = Self(0x102);
    /// A stream was opened that must not be.
    pub const STREAM_CREATION_ERROR: Self = Self(0x103);
    /// A stream ended that the connection needs.
    pub const CLOSED_CRITICAL_STREAM: Self = Self(0x104);
    /// A frame came where its type must not be.
    pub const FRAME_UNEXPECTED: Self = Self(0x105);
    /// A frame's content or length is wrong.
    pub const FRAME_ERROR: Self = Self(0x106);
    /// The peer behaves in a way that may exhaust resources.
    pub const EXCESSIVE_LOAD: Self = Self(0x107);
    /// A stream or push number is used wrongly.
    pub const ID_ERROR: Self = Self(0x108);
    /// A setting is wrong.
    pub const SETTINGS_ERROR: Self = Self(0x109);
    /// The control stream did not begin with SETTINGS.
    pub const MISSING_SETTINGS: Self = Self(0x10a);
    /// The request was not processed at all: it can be sent again.
    pub const REQUEST_REJECTED: Self = Self(0x10b);
    /// The request, or its response, is not wanted any more.
    pub const REQUEST_CANCELLED: Self = Self(0x10c);
    /// The client's stream ended before its request did.
    pub const REQUEST_INCOMPLETE: Self = Self(0x10d);
    /// A message is malformed.
    pub const MESSAGE_ERROR: Self = Self(0x10e);
    /// The connection made for CONNECT failed.
    pub const CONNECT_ERROR: Self = Self(0x10f);
    /// Another version of HTTP has to be used.
    pub const VERSION_FALLBACK: Self = Self(0x110);
    /// A field section cannot be decoded.
    pub const QPACK_DECOMPRESSION_FAILED: Self = Self(0x200);
    /// The encoder stream is wrong.
    pub const QPACK_ENCODER_STREAM_ERROR: Self = Self(0x201);
    /// The decoder stream is wrong.
    pub const QPACK_DECODER_STREAM_ERROR: Self = Self(0x202);

    /// Its name in the registry, if it has one.
    pub fn name(self) -> Option<&'static str> {
        const NAMES: [&str; 17] = [
            "H3_NO_ERROR",
            "H3_GENERAL_PROTOCOL_ERROR",
            "H3_INTERNAL_ERROR",
            "H3_STREAM_CREATION_ERROR",
            "H3_CLOSED_CRITICAL_STREAM",
            "H3_FRAME_UNEXPECTED",
            "H3_FRAME_ERROR",
            "H3_EXCESSIVE_LOAD",
            "H3_ID_ERROR",
            "H3_SETTINGS_ERROR",
            "H3_MISSING_SETTINGS",
            "H3_REQUEST_REJECTED",
            "H3_REQUEST_CANCELLED",
            "H3_REQUEST_INCOMPLETE",
            "H3_MESSAGE_ERROR",
            "H3_CONNECT_ERROR",
            "H3_VERSION_FALLBACK",
        ];
        const QPACK_NAMES: [&str; 3] = [
            "QPACK_DECOMPRESSION_FAILED",
            "QPACK_ENCODER_STREAM_ERROR",
            "QPACK_DECODER_STREAM_ERROR",
        ];
        let at = |names: &[&'static str], first: u64| {
            names.get(usize::try_from(self.0.checked_sub(first)?).ok()?).copied()
        };
        at(&NAMES, 0x100).or_else(|| at(&QPACK_NAMES, 0x200))
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "error code {:#x}", self.0),
        }
    }
}

/// Why a connection cannot go on. Sections are RFC 9114's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A frame of this kind must not be on this stream, or not there (7.2).
    #[error("the peer sent a frame where its type must not be (RFC 9114, 7.2)")]
    FrameUnexpected,
    /// A frame has more or fewer bytes than its content (7.1).
    #[error("a frame's length does not fit its content (RFC 9114, 7.1)")]
    FrameLength,
    /// A stream ended within a frame (7.1).
    #[error("a stream ended within a frame (RFC 9114, 7.1)")]
    FrameCut,
    /// The control stream's first frame is not SETTINGS (6.2.1).
    #[error("the control stream does not begin with SETTINGS (RFC 9114, 6.2.1)")]
    NoSettings,
    /// A setting came twice (7.2.4).
    #[error("a setting came twice (RFC 9114, 7.2.4)")]
    SettingRepeated,
    /// A setting of HTTP/2 (7.2.4.1).
    #[error("a setting that only HTTP/2 has (RFC 9114, 7.2.4.1)")]
    SettingOfHttp2,
    /// A setting has a value that it must not have.
    #[error("a setting has an invalid value (RFC 9114, 7.2.4)")]
    SettingValue,
    /// SETTINGS are longer than anyone needs.
    #[error("the SETTINGS frame is longer than 64 KiB")]
    SettingsTooLong,
    /// A second control, encoder or decoder stream (6.2.1; RFC 9204, 4.2).
    #[error("the peer opened a control or QPACK stream twice (RFC 9114, 6.2.1)")]
    StreamRepeated,
    /// A control, encoder or decoder stream ended.
    #[error("the peer ended its control stream or a QPACK stream (RFC 9114, 6.2.1)")]
    CriticalStreamEnded,
    /// A push, which was never permitted (7.2.5).
    #[error("the peer sent a push, which was not permitted (RFC 9114, 7.2.5)")]
    Push,
    /// A client opened a push stream (6.2.2).
    #[error("the client opened a push stream, which only servers open (RFC 9114, 6.2.2)")]
    PushByClient,
    /// MAX_PUSH_ID became less (7.2.7).
    #[error("MAX_PUSH_ID is lower than before (RFC 9114, 7.2.7)")]
    PushId,
    /// GOAWAY with a number that is no client's request stream, or higher than before (5.2).
    #[error("GOAWAY names a stream that it must not name (RFC 9114, 5.2)")]
    Goaway,
    /// A bidirectional stream of the server (6.1).
    #[error("the server opened a stream for requests (RFC 9114, 6.1)")]
    ServerRequest,
    /// A field section cannot be decoded.
    #[error(transparent)]
    Qpack(QpackFault),
    /// The peer's encoder stream is wrong (RFC 9204, 4.3).
    #[error("the QPACK encoder stream is invalid: {0}")]
    EncoderStream(QpackFault),
    /// The peer's decoder stream is wrong (RFC 9204, 4.4).
    #[error("the QPACK decoder stream is invalid (RFC 9204, 4.4)")]
    DecoderStream,
    /// The server has no room for what it must be told on a stream (6.2).
    #[error(
        "the server leaves a control or QPACK stream of the client without room (RFC 9114, 6.2)"
    )]
    StreamWithoutRoom,
}

impl ErrorKind {
    /// The code CONNECTION_CLOSE carries for it.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::FrameUnexpected => ErrorCode::FRAME_UNEXPECTED,
            Self::FrameLength | Self::FrameCut => ErrorCode::FRAME_ERROR,
            Self::NoSettings => ErrorCode::MISSING_SETTINGS,
            Self::SettingRepeated | Self::SettingOfHttp2 | Self::SettingValue => {
                ErrorCode::SETTINGS_ERROR
            }
            Self::SettingsTooLong | Self::StreamWithoutRoom => ErrorCode::EXCESSIVE_LOAD,
            Self::StreamRepeated | Self::ServerRequest | Self::PushByClient => {
                ErrorCode::STREAM_CREATION_ERROR
            }
            Self::CriticalStreamEnded => ErrorCode::CLOSED_CRITICAL_STREAM,
            Self::Push | Self::PushId | Self::Goaway => ErrorCode::ID_ERROR,
            Self::Qpack(_) => ErrorCode::QPACK_DECOMPRESSION_FAILED,
            Self::EncoderStream(_) => ErrorCode::QPACK_ENCODER_STREAM_ERROR,
            Self::DecoderStream => ErrorCode::QPACK_DECODER_STREAM_ERROR,
        }
    }
}

/// Why one response is of no use. Sections are RFC 9114's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum StreamFault {
    /// A field makes the message malformed (4.2, 4.3).
    #[error("{}", in_http3(.0))]
    Field(#[from] FieldFault),
    /// A head without `:status` (4.3.2).
    #[error("the response has no status (RFC 9114, 4.3.2)")]
    NoStatus,
    /// 101 does not exist here (4.5).
    #[error("the response has the status 101, which HTTP/3 does not have (RFC 9114, 4.5)")]
    SwitchingProtocols,
    /// The stream ended before the final head (4.1).
    #[error("the stream ended before the head of a final response (RFC 9114, 4.1)")]
    NoFinalHead,
    /// Not as long as content-length says (4.1.2).
    #[error("the content is not as long as content-length says (RFC 9114, 4.1.2)")]
    ContentLength,
    /// Content of a response that has none (RFC 9110, 9.3.2, 15.3.5 and 15.4.5).
    #[error(
        "content came with a response that has none: to HEAD, or with the status 204 or 304 (RFC 9110, 6.4.1)"
    )]
    DataForbidden,
    /// The fields are larger than we take (4.2.2).
    #[error("the header fields are larger than the limit (RFC 9114, 4.2.2)")]
    FieldsTooLarge,
}

/// What is wrong with a field, in the words of HTTP/2, which has the same rules in other sections.
fn in_http3(fault: &FieldFault) -> String {
    use FieldFault::*;
    let section = match fault {
        Name | ConnectionSpecific => "RFC 9114, 4.2",
        Value => "RFC 9114, 10.3",
        ValueSpace => "RFC 9110, 5.5",
        UnknownPseudo | MisplacedPseudo | RepeatedPseudo | LatePseudo => "RFC 9114, 4.3",
        Status => "RFC 9114, 4.3.2",
        ContentLength => "RFC 9110, 8.6",
        Path => "RFC 9114, 4.3.1",
    };
    let words = fault.to_string();
    let words = words.rsplit_once(" (").map_or(&words[..], |(words, _)| words);
    format!("{words} ({section})")
}

impl StreamFault {
    /// The code STOP_SENDING carries for it.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::FieldsTooLarge => ErrorCode::EXCESSIVE_LOAD,
            _ => ErrorCode::MESSAGE_ERROR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_the_registry() {
        assert_eq!(ErrorCode::REQUEST_REJECTED.to_string(), "H3_REQUEST_REJECTED");
        assert_eq!(ErrorCode::VERSION_FALLBACK.to_string(), "H3_VERSION_FALLBACK");
        let encoder = ErrorCode::QPACK_ENCODER_STREAM_ERROR;
        assert_eq!(encoder.to_string(), "QPACK_ENCODER_STREAM_ERROR");
        for unknown in [0, 0xff, 0x111, 0x1ff, 0x203, u64::MAX] {
            assert_eq!(ErrorCode(unknown).name(), None, "{unknown:#x}");
        }
        assert_eq!(ErrorCode(0x21).to_string(), "error code 0x21");
    }

    #[test]
    fn what_is_wrong_with_a_field_is_said_with_the_section_of_http_3() {
        let said = |fault| StreamFault::Field(fault).to_string();
        assert_eq!(
            said(FieldFault::ConnectionSpecific),
            "a connection-specific field of HTTP/1 (RFC 9114, 4.2)"
        );
        assert_eq!(
            said(FieldFault::Status),
            "the status is not a number of three digits (RFC 9114, 4.3.2)"
        );
        assert!(!said(FieldFault::MisplacedPseudo).contains("9113"));
    }
}
