//! HTTP/1.0 and 1.1: requests built once, responses recognised as they arrive (RFC 9110, 9112).
//!
//! Reading order: [`request`] and [`builder`] (what is sent), [`patch`] (what differs from copy
//! to copy), [`response`] (the head of a response), [`chunked`] (a body without announced
//! length), [`request_head`] (the server's view of a request). `fields` is the field walk that
//! both kinds of head share.

pub mod assemble;
pub mod builder;
pub mod chunked;
pub mod credentials;
mod fields;
pub mod patch;
pub mod request;
pub mod request_head;
pub mod response;

/// How many empty lines may come before the first line of a head (RFC 9112, 2.2).
pub const EMPTY_LINES_MAX: usize = 4;
