//! Requests that are another each time: the text that HTTP/1 has for them, as the frames of HTTP/2 (RFC 9113, 8.3.1).
//!
//! Their fields are literals without indexing, so that the peer's table stays as it is for every other request.

use super::GUESSABLE_COOKIE_BYTES;
use crate::http2::frame::{PAYLOAD_BYTES_MIN, flag, kind, write_head};
use crate::http2::hpack::encoder::{self, Indexing, Name};
use crate::http2::hpack::static_table::{Found, STATIC_TABLE, find};

/// The first entry of the static table that is no pseudo-header field, as a position.
const FIRST_REGULAR: usize = 14;

/// A name of up to this many bytes needs no memory of its own on its way.
const SHORT_NAME_BYTES: usize = 64;

/// One request, as `METHOD path HTTP/…`, lines of fields, an empty line and the body; each line ends with CR and LF.
///
/// What belongs to connections of HTTP/1 is left out of its fields, `transfer-encoding` too: the body is not in chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestText<'t> {
    method: &'t [u8],
    path: &'t [u8],
    /// The lines of its fields.
    fields: &'t [u8],
    /// Its body.
    pub body: &'t [u8],
}

impl<'t> RequestText<'t> {
    /// Of these bytes.
    pub fn new(bytes: &'t [u8]) -> Self {
        let end = memchr::memmem::find(bytes, b"\r\n\r\n").unwrap_or(bytes.len());
        let (head, body) = (&bytes[..end], bytes.get(end + 4..).unwrap_or_default());
        let (first, fields) = match memchr::memmem::find(head, b"\r\n") {
            Some(end) => (&head[..end], &head[end + 2..]),
            None => (head, &[][..]),
        };
        let (method, rest) = split_at(first, b' ').unwrap_or((first, b""));
        let path = memchr::memrchr(b' ', rest).map_or(rest, |end| &rest[..end]);
        Self { method, path, fields, body }
    }

    /// The text of a request of HTTP/1 as one of HTTP/2 is shown: `GET / HTTP/2`.
    pub fn shown(bytes: &[u8]) -> Vec<u8> {
        let line = memchr::memmem::find(bytes, b"\r\n").unwrap_or(bytes.len());
        let (line, rest) = bytes.split_at(line);
        let line = match line.strip_suffix(b" HTTP/1.1") {
            Some(asked) => [asked, b" HTTP/2"].concat(),
            None => line.to_vec(),
        };
        [&line, rest].concat()
    }

    /// Whether the response has no body whatever its head says.
    pub fn response_has_no_body(&self) -> bool {
        self.method == b"HEAD"
    }

    /// Its method and its path.
    pub(crate) fn first_line(&self) -> (&'t [u8], &'t [u8]) {
        (self.method, self.path)
    }

    /// Names and values of its fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'t [u8], &'t [u8])> {
        let lines = self.fields.split(|byte| *byte == b'\n');
        lines.filter_map(|line| {
            let (name, value) = split_at(line, b':')?;
            Some((name, value.trim_ascii()))
        })
    }

    /// Appends its header block.
    pub(crate) fn write_block(&self, scheme: &str, out: &mut Vec<u8>) {
        let (mut authority, mut connection) = (None, &b""[..]);
        for (name, value) in self.fields() {
            if name.eq_ignore_ascii_case(b"host") {
                authority = Some(value);
            } else if name.eq_ignore_ascii_case(b"connection") {
                connection = value;
            }
        }
        pseudo(b":method", self.method, out);
        pseudo(b":scheme", scheme.as_bytes(), out);
        if let Some(authority) = authority {
            pseudo(b":authority", authority, out);
        }
        pseudo(b":path", self.path, out);
        for (name, value) in self.fields() {
            if !is_of_connection(name, value, connection) {
                write_field(name, value, out);
            }
        }
    }
}

/// Appends the frames of a header block.
pub(crate) fn write_frames(block: &[u8], stream: u32, end_stream: bool, out: &mut Vec<u8>) {
    let mut kind_of_frame = kind::HEADERS;
    let mut flags = if end_stream { flag::END_STREAM } else { 0 };
    let mut rest = block;
    loop {
        let (payload, behind) = rest.split_at(rest.len().min(PAYLOAD_BYTES_MIN as usize));
        if behind.is_empty() {
            flags |= flag::END_HEADERS;
        }
        write_head(out, kind_of_frame, flags, stream, payload.len() as u32);
        out.extend_from_slice(payload);
        if behind.is_empty() {
            return;
        }
        (kind_of_frame, flags, rest) = (kind::CONTINUATION, 0, behind);
    }
}

fn split_at(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let found = memchr::memchr(at, bytes)?;
    Some((&bytes[..found], &bytes[found + 1..]))
}

/// Whether a field is no part of the request but of HTTP/1's connection (RFC 9113, 8.2.2), or is said otherwise.
pub(crate) fn is_of_connection(name: &[u8], value: &[u8], connection: &[u8]) -> bool {
    const OWN: [&[u8]; 7] = [
        b"host",
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"upgrade",
        b"http2-settings",
        b"transfer-encoding",
    ];
    let is = |own: &[u8]| name.eq_ignore_ascii_case(own);
    let mut named = connection.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    OWN.into_iter().any(is) || is(b"te") && value != b"trailers" || named.any(is)
}

/// A pseudo-header field.
fn pseudo(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    match find(name, value) {
        Found::Field(index) => encoder::indexed(out, index),
        Found::Name(index) => {
            encoder::plain_literal(out, Indexing::Without, Name::Index(index), value);
        }
        Found::Nothing => {
            encoder::plain_literal(out, Indexing::Without, Name::Literal(name), value);
        }
    }
}

/// A field, whose name becomes lower case (RFC 9113, 8.2.1).
fn write_field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let regular = &STATIC_TABLE[FIRST_REGULAR..];
    let known = regular.iter().position(|(own, _)| name.eq_ignore_ascii_case(own.as_bytes()));
    let indexing = if must_stay_secret(name, value) { Indexing::Never } else { Indexing::Without };
    match known {
        Some(position) => {
            let index = Name::Index(FIRST_REGULAR + position + 1);
            encoder::plain_literal(out, indexing, index, value);
        }
        None => {
            let mut short = [0; SHORT_NAME_BYTES];
            let mut long = Vec::new();
            let lower = match short.get_mut(..name.len()) {
                Some(short) => short,
                None => {
                    long.resize(name.len(), 0);
                    &mut long[..]
                }
            };
            lower.copy_from_slice(name);
            lower.make_ascii_lowercase();
            encoder::plain_literal(out, indexing, Name::Literal(lower), value);
        }
    }
}

/// Whether nobody is to keep a field in a table (RFC 7541, 7.1.3).
pub(crate) fn must_stay_secret(name: &[u8], value: &[u8]) -> bool {
    let is = |own: &[u8]| name.eq_ignore_ascii_case(own);
    is(b"authorization")
        || is(b"proxy-authorization")
        || is(b"cookie") && value.len() < GUESSABLE_COOKIE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::builder::RequestBuilder;
    use crate::http2::blocks::BlockReader;
    use crate::http2::client::heads::ResponseBlock;
    use crate::http2::request::Request;

    /// Names and values that a decoder reads from a block.
    fn decoded(block: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut fields = Vec::new();
        let mut reader = BlockReader::<ResponseBlock>::default();
        reader.read_new(block, |name, value| fields.push((name.to_vec(), value.to_vec()))).unwrap();
        fields
    }

    fn block(text: &RequestText<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        text.write_block("https", &mut out);
        out
    }

    #[test]
    fn a_text_has_the_fields_and_the_body_that_a_template_has() {
        let builders = [
            RequestBuilder::new("GET", "/").header("Host", "localhost:8080"),
            RequestBuilder::new("HEAD", "/a%20b?c=d").header("Accept", "*/*").header("HOST", "h"),
            RequestBuilder::new("POST", "/form")
                .header("Host", "h")
                .header("Connection", "close, X-Hop")
                .header("X-Hop", "1")
                .header("TE", "gzip")
                .header("X-Own", "é")
                .header("X-".to_owned() + &"Long".repeat(30), "y")
                .header("Authorization", "Basic YTpi")
                .header("Cookie", "a=b")
                .header("X-Empty", "")
                .body_length_header("Content-Length")
                .body("x: y\r\n\r\nz"),
            RequestBuilder::new("DELETE", "*").header("TE", "trailers").header("Host", "h"),
        ];
        for builder in builders {
            let template = builder.build().unwrap();
            let text = RequestText::new(&template.bytes);
            let expected = Request::from_template(&template, "https", "h").unwrap();
            let fields: Vec<_> = expected
                .fields
                .iter()
                .map(|field| (field.name.clone(), field.value.clone()))
                .collect();
            assert_eq!(decoded(&block(&text)), fields);
            assert_eq!(text.body, expected.body);
            assert_eq!(text.response_has_no_body(), expected.response_has_no_body);
        }
    }

    #[test]
    fn fields_that_http2_does_not_have_are_left_out() {
        let text = RequestText::new(
            b"POST /p HTTP/2\r\nTransfer-Encoding: chunked\r\nKeep-Alive: 1\r\nX: y\r\n\r\nbody",
        );
        let names: Vec<_> = decoded(&block(&text)).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [&b":method"[..], b":scheme", b":path", b"x"]);
        assert_eq!(text.body, b"body");
    }

    #[test]
    fn no_table_is_changed_and_secrets_are_never_indexed() {
        let text = RequestText::new(
            b"GET / HTTP/1.1\r\nHost: h\r\nX: y\r\nAuthorization: a\r\nCookie: b=c\r\n\r\n",
        );
        let block = block(&text);
        // RFC 7541, 6.2.3: a literal that is never indexed begins with 0001; 23 is authorization, 32 cookie.
        let never = |index: u8| [0x1f, index - 15];
        assert!(memchr::memmem::find(&block, &never(23)).is_some(), "{block:02x?}");
        assert!(memchr::memmem::find(&block, &never(32)).is_some(), "{block:02x?}");
        let mut reader = BlockReader::<ResponseBlock>::default();
        reader.read(&block).unwrap();
        // The newest entry of an empty table cannot be asked for.
        assert!(reader.read(&[0x80 | 62]).is_err());
    }

    #[test]
    fn a_long_block_is_continued() {
        let mut out = Vec::new();
        write_frames(&vec![7; 40_000], 5, true, &mut out);
        let mut frames = Vec::new();
        let mut rest = &out[..];
        while let Some((head, behind)) = rest.split_at_checked(9) {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            frames.push((head[3], head[4], head[8], length));
            rest = &behind[length..];
        }
        // HEADERS with END_STREAM, CONTINUATION, CONTINUATION with END_HEADERS (RFC 9113, 6.2 and 6.10).
        assert_eq!(frames, [(1, 1, 5, 16_384), (9, 0, 5, 16_384), (9, 4, 5, 7_232)]);
    }

    #[test]
    fn what_is_no_request_is_read_somehow() {
        for bytes in
            [&b""[..], b"GET", b"GET /", b"GET / HTTP/1.1\r\n", b"\r\n\r\n", b"\r\n", b":\n:"]
        {
            block(&RequestText::new(bytes));
        }
        assert_eq!(RequestText::new(b"GET /a").path, b"/a");
    }

    #[test]
    fn a_request_is_shown_with_its_version() {
        let shown = RequestText::shown(b"GET /a HTTP/1.1\r\nX: HTTP/1.1\r\n\r\nHTTP/1.1");
        assert_eq!(shown, b"GET /a HTTP/2\r\nX: HTTP/1.1\r\n\r\nHTTP/1.1");
        assert_eq!(RequestText::shown(b"GET /a HTTP/1.1").as_slice(), b"GET /a HTTP/2");
    }
}
