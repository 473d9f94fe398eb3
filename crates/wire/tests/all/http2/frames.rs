//! Frames and header blocks by hand, and the plainest request.

use ablaze_wire::http2::frame::{FrameHead, flag, kind};
use ablaze_wire::http2::request::Request;

pub fn get() -> Request {
    Request::new("GET", "http", "localhost", "/")
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let head = FrameHead { payload_bytes: payload.len() as u32, kind, flags, stream };
    [&head.bytes()[..], payload].concat()
}

pub fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> = settings
        .iter()
        .flat_map(|(number, value)| [&number.to_be_bytes()[..], &value.to_be_bytes()].concat())
        .collect();
    frame(kind::SETTINGS, 0, 0, &payload)
}

/// HEADERS with a whole block.
pub fn headers(stream: u32, end: bool, block: &[u8]) -> Vec<u8> {
    let flags = flag::END_HEADERS | if end { flag::END_STREAM } else { 0 };
    frame(kind::HEADERS, flags, stream, block)
}

pub fn data(stream: u32, end: bool, content: &[u8]) -> Vec<u8> {
    frame(kind::DATA, if end { flag::END_STREAM } else { 0 }, stream, content)
}

pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

/// Literals without indexing, names and values as they are.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            assert!(text.len() < 127);
            block.push(text.len() as u8);
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}
