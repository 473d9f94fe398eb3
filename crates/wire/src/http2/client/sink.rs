//! What a connection tells its owner.

use crate::http2::error::{ErrorCode, StreamFault};
use crate::http2::settings::PeerSettings;

/// Takes what arrives. Streams are named by the tag their request was given.
///
/// A request that was sent gets at most one `head`, then content, then trailers, and exactly one
/// `ended`, which is its last; unless the owner reset it, or the connection fails as a whole.
pub trait Sink {
    /// The final head of a response.
    fn head(&mut self, tag: u32, head: ResponseHead);

    /// Content of the response, as it comes.
    fn data(&mut self, tag: u32, content: &[u8]);

    /// The stream is over: its tag will not be named again.
    fn ended(&mut self, tag: u32, end: End);

    /// The response of a stream that ends now is complete, and the rest of its request's body is not sent.
    fn request_cut(&mut self, _tag: u32) {}

    /// An interim head (1xx).
    fn interim(&mut self, _tag: u32, _status: u16) {}

    /// Trailers came; they end the response.
    fn trailers(&mut self, _tag: u32) {}

    /// Whether the fields of this response shall be shown. It costs decoding heads that would be
    /// recognised as a whole.
    fn wants_fields(&self, _tag: u32) -> bool {
        false
    }

    /// A field of a head or of trailers, pseudo-header fields included, before the head itself.
    fn field(&mut self, _tag: u32, _name: &[u8], _value: &[u8]) {}

    /// The peer's settings changed, or came for the first time.
    fn settings(&mut self, _settings: &PeerSettings) {}

    /// The peer will take no more requests on this connection. Streams above `last_stream` end
    /// as [`End::Unprocessed`]; the others go on.
    fn goaway(&mut self, _last_stream: u32, _code: ErrorCode, _debug: &[u8]) {}

    /// The peer answered our PING.
    fn pong(&mut self, _payload: [u8; 8]) {}
}

/// What the final head of a response says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseHead {
    /// Status code, 200 to 999.
    pub status: u16,
    /// Content-Length.
    pub content_length: Option<u64>,
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a complete response.
    Complete,
    /// The peer did nothing with the request: refused with REFUSED_STREAM, or above GOAWAY's last
    /// stream. It can be sent again (RFC 9113, 8.7).
    Unprocessed,
    /// The peer reset it.
    Reset(ErrorCode),
    /// The peer did something wrong with it, and we reset it.
    Fault(StreamFault),
}
