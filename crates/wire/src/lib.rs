//! Sans-I/O protocol codecs: bytes in, events out. No I/O, no clock, no `unsafe`.
#![forbid(unsafe_code)]

pub mod alt_svc;
pub mod http1;
pub mod http2;
pub mod http3;
pub mod multipart;
pub mod printable;
pub mod url;
