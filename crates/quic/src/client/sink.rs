//! What a connection tells its owner.

use ablaze_wire::http3::error::{ErrorCode, StreamFault};
use ablaze_wire::http3::settings::PeerSettings;

pub use ablaze_wire::http2::client::ResponseHead;

/// Takes what arrives. Streams are named by the tag their request was given.
///
/// A request that was sent gets at most one `head`, then content, then trailers, and exactly one
/// `ended`, which is its last; unless the owner reset it, or the connection ends as a whole.
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

    /// The server's settings came: once.
    fn settings(&mut self, _settings: &PeerSettings) {}

    /// The server will take no more requests on this connection. `first_stream` and later ones end
    /// as [`End::Unprocessed`]; the others go on.
    fn goaway(&mut self, _first_stream: u64) {}
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a complete response.
    Complete,
    /// The server did nothing with the request: refused with H3_REQUEST_REJECTED, or not below the number of
    /// GOAWAY. It can be sent again (RFC 9114, 4.1.1 and 5.2).
    Unprocessed,
    /// The server reset it.
    Reset(ErrorCode),
    /// The server did something wrong with it, and we reset it.
    Fault(StreamFault),
}
