//! HTTP/3's codecs: the examples of RFC 9204, streams that come in any pieces, and streams that nobody may send.

mod qpack;
mod responses;
mod server_streams;
