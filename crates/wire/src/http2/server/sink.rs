//! What a server's connection tells its owner.

use super::heads::RequestHead;
use crate::http2::error::ErrorCode;

/// Takes requests as they arrive. Each begins with `request`; content follows, and `ended` when
/// it is complete. `reset` means that nobody waits for its answer any more, whenever it comes.
pub trait Sink {
    /// The head of a request.
    fn request(&mut self, stream: u32, head: &RequestHead);

    /// Content of the request, as it comes.
    fn data(&mut self, stream: u32, content: &[u8]);

    /// The request is complete.
    fn ended(&mut self, stream: u32);

    /// The stream is gone: the client reset it, or did something wrong and we did.
    fn reset(&mut self, stream: u32, code: ErrorCode);

    /// The window of a stream was enlarged; of all streams if it is 0. Content that could not be
    /// sent can be gone on with.
    fn writable(&mut self, _stream: u32) {}
}
