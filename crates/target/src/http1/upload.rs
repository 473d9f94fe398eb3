//! A request whose body did not arrive together with its head: what is kept of it until the body
//! is complete.

use ablaze_wire::http1::chunked::Chunked;
use ablaze_wire::http1::request_head::{RequestFraming, RequestHead};

use crate::service::Refused;

/// A request under way.
#[derive(Debug)]
pub struct Upload {
    /// What the head says.
    pub head: RequestHead,
    /// The head's bytes.
    pub head_bytes: Vec<u8>,
    /// The body so far, if it is wanted.
    pub body: Vec<u8>,
    left: Left,
    /// Longest body that is kept; none if it is dropped.
    keep_bytes_max: Option<u64>,
}

#[derive(Debug)]
enum Left {
    Bytes(u64),
    Chunks(Chunked),
}

/// What is set aside at once for a body of an announced length: an announcement costs the client
/// nothing and must not cost the server its memory.
const RESERVED_BYTES_MAX: u64 = 1 << 20;

impl Upload {
    /// Begins with a complete head. With `keep_bytes_max`, the body is kept.
    pub fn new(head: RequestHead, head_bytes: &[u8], keep_bytes_max: Option<u64>) -> Self {
        let left = match head.framing {
            RequestFraming::None => Left::Bytes(0),
            RequestFraming::Length(bytes) => Left::Bytes(bytes),
            RequestFraming::Chunked => Left::Chunks(Chunked::new()),
        };
        let reserved = match (&left, keep_bytes_max) {
            (Left::Bytes(bytes), Some(_)) => (*bytes).min(RESERVED_BYTES_MAX),
            _ => 0,
        };
        let body = Vec::with_capacity(reserved as usize);
        Self { head, head_bytes: head_bytes.to_vec(), body, left, keep_bytes_max }
    }

    /// Takes in the next bytes and returns how many belong to the body, and whether it is
    /// complete.
    ///
    /// # Errors
    /// When the chunked coding is broken or the body gets longer than allowed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(usize, bool), Refused> {
        match (&mut self.left, self.keep_bytes_max) {
            (Left::Bytes(left), keep) => {
                let here = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= here as u64;
                if keep.is_some() {
                    self.body.extend_from_slice(&bytes[..here]);
                }
                Ok((here, *left == 0))
            }
            (Left::Chunks(chunks), None) => {
                let step = chunks.feed(bytes).map_err(|_| Refused::Malformed)?;
                Ok((step.consumed, step.done))
            }
            (Left::Chunks(chunks), Some(keep_bytes_max)) => {
                keep_chunks(chunks, bytes, &mut self.body, keep_bytes_max)
            }
        }
    }
}

/// Takes the data of chunks in one piece each and the coding around them byte by byte.
fn keep_chunks(
    chunks: &mut Chunked,
    bytes: &[u8],
    body: &mut Vec<u8>,
    keep_bytes_max: u64,
) -> Result<(usize, bool), Refused> {
    let mut at = 0;
    while at < bytes.len() {
        let data = chunks.remaining_in_chunk();
        if data > 0 {
            let here = usize::try_from(data).unwrap_or(usize::MAX).min(bytes.len() - at);
            if (body.len() + here) as u64 > keep_bytes_max {
                return Err(Refused::BodyTooLong);
            }
            body.extend_from_slice(&bytes[at..at + here]);
            chunks.skip(here as u64);
            at += here;
        } else {
            let step = chunks.feed(&bytes[at..=at]).map_err(|_| Refused::Malformed)?;
            at += step.consumed;
            if step.done {
                return Ok((at, true));
            }
        }
    }
    Ok((at, false))
}
