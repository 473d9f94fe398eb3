//! Requests as HTTP/2 has them: fields and a body, with the places that differ from request to
//! request.
//!
//! [`Request::from_template`] translates what the HTTP/1 builder made, so a Plan's requests are
//! the same under both protocols (RFC 9113, 8.3.1). [`RequestSet`] makes the bytes to send.
//! [`RequestText`] is one that is written anew each time.

mod set;
mod text;
mod translate;

pub use set::RequestSet;
pub(super) use set::{BodyBytes, EncoderState};
pub use text::RequestText;
pub(super) use text::write_frames;
pub(crate) use text::{is_of_connection, must_stay_secret};

use crate::http1::request::Patch;

/// Cookies shorter than this are never indexed: few guesses would find them (RFC 7541, 7.1.3).
const GUESSABLE_COOKIE_BYTES: usize = 20;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub(crate) fields: Vec<RequestField>,
    pub(crate) body: Vec<u8>,
    pub(crate) body_patches: Vec<Patch>,
    pub(crate) response_has_no_body: bool,
}

/// A field, and what changes in its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestField {
    pub(crate) name: Vec<u8>,
    pub(crate) value: Vec<u8>,
    /// Offsets within the value.
    pub(crate) patches: Vec<Patch>,
    pub(crate) never_indexed: bool,
}

/// Why a request cannot be sent over HTTP/2, nor over HTTP/3.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The template is no HTTP/1 request.
    #[error("the request cannot be sent over HTTP/2 or HTTP/3: {0}")]
    Malformed(&'static str),
    /// CONNECT has no place here.
    #[error("CONNECT cannot be sent over HTTP/2 or HTTP/3 here: use --http 1.1")]
    Connect,
    /// Something changes from request to request where nothing can.
    #[error("{{seq}} and {{rand:N}} can stand in the path, in header values and in the body only")]
    PlaceholderMisplaced,
    /// The body is in chunks.
    #[error("transfer-encoding does not exist in HTTP/2 and HTTP/3: leave the header out")]
    TransferEncoding,
}

impl Request {
    /// A request without further fields and without body. `scheme` is `http` or `https`.
    pub fn new(method: &str, scheme: &str, authority: &str, path: &str) -> Self {
        let mut request = Self {
            fields: Vec::new(),
            body: Vec::new(),
            body_patches: Vec::new(),
            response_has_no_body: method == "HEAD",
        };
        for (name, value) in
            [(":method", method), (":scheme", scheme), (":authority", authority), (":path", path)]
        {
            request.push(name.as_bytes(), value.as_bytes(), Vec::new());
        }
        request
    }

    /// Appends a field; its name has to be in lower case (RFC 9113, 8.2.1).
    pub fn field(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        self.push(name.as_ref(), value.as_ref(), Vec::new());
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    fn push(&mut self, name: &[u8], value: &[u8], patches: Vec<Patch>) {
        self.fields.push(RequestField::new(name, value, patches));
    }
}

impl RequestField {
    fn new(name: &[u8], value: &[u8], patches: Vec<Patch>) -> Self {
        let never_indexed = match name {
            b"authorization" | b"proxy-authorization" => true,
            b"cookie" => value.len() < GUESSABLE_COOKIE_BYTES,
            _ => false,
        };
        Self { name: name.to_vec(), value: value.to_vec(), patches, never_indexed }
    }
}
