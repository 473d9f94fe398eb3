//! Servers that break HTTP/3, end to end: QUIC is as it should be, the bytes on its streams are not. The built command has to end
//! soon, with the failure's own kind, one line that names it, and memory that does not grow. Over both I/O backends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod endings;
mod frames;
mod hold;
