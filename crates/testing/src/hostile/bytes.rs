//! What is sent: responses right and wrong, as bytes.

use ablaze_wire::http1::request_head::RequestHead;

use super::Chunks;

/// Body of responses of no particular length.
pub const BODY: &[u8] = b"hello, world!\n";

/// The field that tells a client whether its connection is kept. HTTP/1.1 keeps it without a
/// word, HTTP/1.0 does not (RFC 9112, section 9.3).
pub fn connection(request: &RequestHead, keep: bool) -> &'static str {
    match (keep, request.minor_version) {
        (false, _) => "Connection: close\r\n",
        (true, 0) => "Connection: keep-alive\r\n",
        (true, _) => "",
    }
}

/// A correct response with a length, and these further fields.
pub fn response(status: u16, fields: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = head(status, body.len(), fields);
    bytes.extend_from_slice(body);
    bytes
}

/// The head of a response with a length, and these further fields.
pub fn head(status: u16, length: usize, fields: &str) -> Vec<u8> {
    let reason = reason(status);
    format!(
        "HTTP/1.1 {status} {reason}\r\nServer: hostile\r\nContent-Type: text/plain\r\n\
         Content-Length: {length}\r\n{fields}\r\n"
    )
    .into_bytes()
}

/// The reason phrases of the responses above.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        404 => "Not Found",
        503 => "Service Unavailable",
        _ => "",
    }
}

/// A head of exactly these lines, and this body behind it.
pub fn lines(lines: &[&str], body: &[u8]) -> Vec<u8> {
    let mut bytes = lines.join("\r\n").into_bytes();
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// A body of this length.
pub fn body(bytes: usize) -> Vec<u8> {
    // Lines of 64 bytes that begin with their number: what is missing, doubled or out of place shows.
    let letters: String = ('a'..='z').cycle().take(58).collect();
    let line = |at: usize| format!("{at:04} {letters}\n").into_bytes();
    (0..bytes.div_ceil(64)).flat_map(line).take(bytes).collect()
}

/// A chunked response, with these further fields.
pub fn chunked(body: &[u8], chunks: Chunks, fields: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{fields}\r\n");
    let mut bytes = head.into_bytes();
    let chunk = |size: String, data: &[u8]| [size.as_bytes(), b"\r\n", data, b"\r\n"].concat();
    match chunks {
        Chunks::Whole if body.is_empty() => {}
        Chunks::Whole => bytes.extend(chunk(format!("{:x}", body.len()), body)),
        Chunks::ByteByByte => {
            body.iter().for_each(|byte| bytes.extend(chunk("1".into(), &[*byte])));
        }
        Chunks::ExtensionsAndTrailers => {
            let part = body.len().div_ceil(3).max(1);
            for data in body.chunks(part) {
                let size = format!("00{:X};name=\"a;b\";flag", data.len());
                bytes.extend(chunk(size, data));
            }
        }
        Chunks::Broken => {
            bytes.extend(chunk("five".into(), body));
            return bytes;
        }
        Chunks::Unfinished => {
            bytes.extend(chunk(format!("{:x}", body.len()), body));
            return bytes;
        }
    }
    bytes.extend_from_slice(b"0\r\n");
    if chunks == Chunks::ExtensionsAndTrailers {
        bytes.extend_from_slice(b"X-Checksum: 1234\r\nX-Other: trailer\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}
