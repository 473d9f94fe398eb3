//! HTTP/1.0 and 1.1: requests built once, answers recognised as they arrive (RFC 9110, 9112).

pub mod chunked;
pub mod request;
pub mod response;
