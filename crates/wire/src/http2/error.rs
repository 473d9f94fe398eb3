//! What can go wrong, by name: for a whole connection ([`ErrorKind`]), for one stream
//! ([`StreamFault`]), and the codes of RFC 9113, section 7, that are sent for it.

use super::field::FieldFault;
use super::hpack::HpackFault;

/// An error code as RST_STREAM and GOAWAY carry it (RFC 9113, 7). Unknown ones are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// Not an error: a graceful end.
    pub const NO_ERROR: Self = Self(0x0);
    /// The protocol was violated, and no other code says how.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// The sender had an internal fault.
    pub const INTERNAL_ERROR: Self = Self(0x2);
    /// More was sent than the window permits.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// SETTINGS were not acknowledged in time.
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    /// A frame came for a stream that is closed.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame's length is wrong.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The stream was not processed at all: the request can be sent again.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is not needed any more.
    pub const CANCEL: Self = Self(0x8);
    /// Header compression cannot go on.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The connection made for CONNECT failed.
    pub const CONNECT_ERROR: Self = Self(0xa);
    /// The peer behaves in a way that may exhaust resources.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    /// The transport is not secure enough.
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    /// HTTP/1.1 has to be used.
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);

    /// Its name in RFC 9113, if it has one.
    pub fn name(self) -> Option<&'static str> {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        NAMES.get(self.0 as usize).copied()
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

/// Why a connection cannot go on. Display says it of "the peer"; sections are RFC 9113's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The first bytes are an HTTP/1 response.
    #[error("the peer responded in HTTP/1: it does not speak HTTP/2")]
    AnsweredHttp1,
    /// The first bytes are a TLS record.
    #[error("the peer speaks TLS: use https")]
    AnsweredTls,
    /// A client's first bytes are not the preface (3.4).
    #[error("the client did not begin with the HTTP/2 preface (RFC 9113, 3.4)")]
    NoPreface,
    /// The first frame is not SETTINGS (3.4).
    #[error("the first frame is not SETTINGS (RFC 9113, 3.4)")]
    NoSettings,
    /// A frame is longer than our SETTINGS_MAX_FRAME_SIZE (4.2).
    #[error("a frame is longer than permitted (RFC 9113, 4.2)")]
    FrameTooLong,
    /// A frame of fixed length has another one, or is too short for what its flags say (4.2).
    #[error("a frame has a length its type does not permit (RFC 9113, 4.2)")]
    FrameLength,
    /// A frame that belongs to a stream has none, or one of the connection has a stream (6).
    #[error("a frame is on a stream where its type does not belong (RFC 9113, 6)")]
    WrongStream,
    /// A frame came for a stream nobody opened (5.1).
    #[error("a frame came for a stream that was never opened (RFC 9113, 5.1)")]
    IdleStream,
    /// A frame came for a stream that had ended (5.1).
    #[error("a frame came for a stream that had ended (RFC 9113, 5.1)")]
    ClosedStream,
    /// A client's new stream has a lower number than an older one, or an even one (5.1.1).
    #[error("a new stream has a number that is not a higher odd one (RFC 9113, 5.1.1)")]
    StreamNumber,
    /// Padding takes up the whole frame or more (6.1).
    #[error("the padding of a frame is longer than the frame (RFC 9113, 6.1)")]
    Padding,
    /// Another frame came within a header block (6.2, 6.10).
    #[error("a header block was interrupted by another frame (RFC 9113, 6.10)")]
    BlockInterrupted,
    /// CONTINUATION without a header block to continue (6.10).
    #[error("a CONTINUATION frame came without a header block to continue (RFC 9113, 6.10)")]
    NoBlockToContinue,
    /// PUSH_PROMISE although push is disabled (8.4).
    #[error("the peer sent a push although push is disabled (RFC 9113, 8.4)")]
    Push,
    /// A setting has a value it must not have (6.5.2).
    #[error("a setting has an invalid value (RFC 9113, 6.5.2)")]
    SettingValue,
    /// SETTINGS_INITIAL_WINDOW_SIZE is above 2^31-1 (6.5.2).
    #[error("the initial window is set above 2^31-1 (RFC 9113, 6.5.2)")]
    SettingWindow,
    /// A change of SETTINGS_INITIAL_WINDOW_SIZE takes a stream's window above 2^31-1 (6.9.2).
    #[error("a change of the initial window takes a window above 2^31-1 (RFC 9113, 6.9.2)")]
    SettingWindowOverflow,
    /// The connection's window was enlarged by 0 (6.9).
    #[error("the connection's window was enlarged by 0 (RFC 9113, 6.9)")]
    WindowIncrement,
    /// The connection's window was enlarged above 2^31-1 (6.9.1).
    #[error("the connection's window was enlarged above 2^31-1 (RFC 9113, 6.9.1)")]
    WindowOverflow,
    /// More arrived than the connection's window permits (6.9.1).
    #[error("the peer sent more than the connection's window permits (RFC 9113, 6.9.1)")]
    WindowExceeded,
    /// GOAWAY names a higher stream than the one before it (6.8).
    #[error("a second GOAWAY names a higher stream than the first (RFC 9113, 6.8)")]
    GoawayRaised,
    /// A header block cannot be decoded (4.3).
    #[error("{0}")]
    Hpack(HpackFault),
    /// A header block is longer than we take (10.5.1).
    #[error("a header block is longer than the limit (RFC 9113, 10.5.1)")]
    BlockTooLong,
    /// Very many CONTINUATION frames for one header block (10.5).
    #[error("a flood of CONTINUATION frames (RFC 9113, 10.5)")]
    ContinuationFlood,
    /// Very many SETTINGS without a request answered (10.5).
    #[error("a flood of SETTINGS frames (RFC 9113, 10.5)")]
    SettingsFlood,
    /// Very many PINGs without a request answered (10.5).
    #[error("a flood of PING frames (RFC 9113, 10.5)")]
    PingFlood,
    /// Very many DATA frames without data (10.5).
    #[error("a flood of empty DATA frames (RFC 9113, 10.5)")]
    EmptyDataFlood,
    /// Very many RST_STREAM frames: for streams that are closed, or from a client for requests
    /// it just made (10.5).
    #[error("a flood of RST_STREAM frames (RFC 9113, 10.5)")]
    ResetFlood,
    /// Very many WINDOW_UPDATE frames in a row (10.5).
    #[error("a flood of WINDOW_UPDATE frames (RFC 9113, 10.5)")]
    WindowUpdateFlood,
    /// Very many interim responses (1xx) without a final one.
    #[error("a flood of interim responses (1xx)")]
    InterimFlood,
    /// Very many frames that mean nothing: PRIORITY, unknown types, late ones (10.5).
    #[error("a flood of frames without effect (RFC 9113, 10.5)")]
    IdleFrameFlood,
}

impl ErrorKind {
    /// The code GOAWAY carries for it.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::AnsweredHttp1
            | Self::AnsweredTls
            | Self::NoPreface
            | Self::NoSettings
            | Self::WrongStream
            | Self::IdleStream
            | Self::StreamNumber
            | Self::Padding
            | Self::BlockInterrupted
            | Self::NoBlockToContinue
            | Self::Push
            | Self::SettingValue
            | Self::WindowIncrement
            | Self::GoawayRaised => ErrorCode::PROTOCOL_ERROR,
            Self::FrameTooLong | Self::FrameLength => ErrorCode::FRAME_SIZE_ERROR,
            Self::ClosedStream => ErrorCode::STREAM_CLOSED,
            Self::SettingWindow
            | Self::SettingWindowOverflow
            | Self::WindowOverflow
            | Self::WindowExceeded => ErrorCode::FLOW_CONTROL_ERROR,
            Self::Hpack(_) => ErrorCode::COMPRESSION_ERROR,
            Self::BlockTooLong
            | Self::ContinuationFlood
            | Self::SettingsFlood
            | Self::PingFlood
            | Self::EmptyDataFlood
            | Self::ResetFlood
            | Self::WindowUpdateFlood
            | Self::InterimFlood
            | Self::IdleFrameFlood => ErrorCode::ENHANCE_YOUR_CALM,
        }
    }
}

impl From<HpackFault> for ErrorKind {
    fn from(fault: HpackFault) -> Self {
        Self::Hpack(fault)
    }
}

/// Why one stream was reset by us; the connection goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum StreamFault {
    /// A field of the head or the trailers must not be there, or not so (8.2, 8.3).
    #[error("{0}")]
    Field(#[from] FieldFault),
    /// The head has no :status, or a request no :method, :scheme or :path (8.3).
    #[error("a pseudo-header field is missing (RFC 9113, 8.3)")]
    PseudoMissing,
    /// A field block before the final head, with END_STREAM (8.1).
    #[error("the response ended with an interim head (1xx) (RFC 9113, 8.1)")]
    InterimEnd,
    /// 101 does not exist in HTTP/2 (8.6).
    #[error("status 101 does not exist in HTTP/2 (RFC 9113, 8.6)")]
    SwitchingProtocols,
    /// DATA before the head (8.1).
    #[error("DATA came before the head (RFC 9113, 8.1)")]
    DataBeforeHead,
    /// DATA where the response has no content: to HEAD, with 204 or 304 (8.1.1).
    #[error("content came with a response that cannot have any (RFC 9113, 8.1.1)")]
    DataForbidden,
    /// A second field block without END_STREAM (8.1).
    #[error("trailers came without ending the stream (RFC 9113, 8.1)")]
    TrailersWithoutEnd,
    /// The content is not as long as Content-Length says (8.1.1).
    #[error("the content is not as long as content-length says (RFC 9113, 8.1.1)")]
    ContentLength,
    /// The fields are larger than we take (10.5.1).
    #[error("the header fields are larger than the limit (RFC 9113, 10.5.1)")]
    FieldsTooLarge,
    /// The stream's window was enlarged by 0 (6.9).
    #[error("the stream's window was enlarged by 0 (RFC 9113, 6.9)")]
    WindowIncrement,
    /// The stream's window was enlarged above 2^31-1 (6.9.1).
    #[error("the stream's window was enlarged above 2^31-1 (RFC 9113, 6.9.1)")]
    WindowOverflow,
    /// More arrived than the stream's window permits (6.9.1).
    #[error("the peer sent more than the stream's window permits (RFC 9113, 6.9.1)")]
    WindowExceeded,
    /// PRIORITY of a wrong length (6.3).
    #[error("a PRIORITY frame has a wrong length (RFC 9113, 6.3)")]
    PriorityLength,
}

impl StreamFault {
    /// The code RST_STREAM carries for it.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::WindowOverflow | Self::WindowExceeded => ErrorCode::FLOW_CONTROL_ERROR,
            Self::PriorityLength => ErrorCode::FRAME_SIZE_ERROR,
            Self::FieldsTooLarge => ErrorCode::ENHANCE_YOUR_CALM,
            _ => ErrorCode::PROTOCOL_ERROR,
        }
    }
}
