//! A Plan's requests as the bytes of their streams (RFC 9114, 4.1). They refer to the static table only, so a request is the same
//! bytes on every connection, but for the places that differ from request to request: a [`Template`], as HTTP/1 has it.

use super::frame::{kind, write_head};
use super::qpack::encoder::{begin, indexed, literal, plain_literal};
use super::qpack::static_table::find;
use crate::http1::request::{Patch, Template};
use crate::http2::hpack::encoder::Name;
use crate::http2::hpack::static_table::Found;
use crate::http2::request::{Request, RequestText, is_of_connection, must_stay_secret};

/// The HEADERS frame of a request, and a DATA frame if it has a body.
pub fn template(request: &Request) -> Template {
    into_template(request.clone())
}

/// The same in the memory of the request's body, which may be a large file.
pub fn into_template(mut request: Request) -> Template {
    let (section, mut patches) = section(&request);
    let mut front = Vec::with_capacity(section.len() + 16);
    write_head(&mut front, kind::HEADERS, section.len() as u64);
    moved(&mut patches, front.len());
    front.extend_from_slice(&section);
    let head_bytes = front.len();
    if !request.body.is_empty() {
        write_head(&mut front, kind::DATA, request.body.len() as u64);
        moved(&mut request.body_patches, front.len());
        patches.append(&mut request.body_patches);
    }
    let mut bytes = request.body;
    bytes.reserve_exact(front.len());
    bytes.splice(0..0, front);
    Template { bytes, head_bytes, patches, response_has_no_body: request.response_has_no_body }
}

/// What each field costs beside its name and its value (RFC 9114, 4.2.2).
const FIELD_BYTES: usize = 32;

/// The size of a request's field section, as SETTINGS_MAX_FIELD_SECTION_SIZE counts it: uncompressed (RFC 9114, 4.2.2).
pub fn section_bytes(request: &Request) -> u64 {
    let of = |name: &[u8], value: &[u8]| (name.len() + value.len() + FIELD_BYTES) as u64;
    request.fields.iter().map(|field| of(&field.name, &field.value)).sum()
}

/// Appends the frames of a request that is written anew each time, over `http` or `https`. Returns the size of its field
/// section, as [`section_bytes`] counts it.
pub fn write_text(text: &RequestText<'_>, scheme: &str, out: &mut Vec<u8>) -> u64 {
    let (section, section_bytes) = text_section(text, scheme);
    write_head(out, kind::HEADERS, section.len() as u64);
    out.extend_from_slice(&section);
    if !text.body.is_empty() {
        write_head(out, kind::DATA, text.body.len() as u64);
        out.extend_from_slice(text.body);
    }
    section_bytes
}

/// Its fields as HTTP/3 has them (RFC 9114, 4.2 and 4.3.1): the pseudo-header fields first, names in lower case. With their
/// size.
fn text_section(text: &RequestText<'_>, scheme: &str) -> (Vec<u8>, u64) {
    let (mut authority, mut connection) = (None, &b""[..]);
    for (name, value) in text.fields() {
        if name.eq_ignore_ascii_case(b"host") {
            authority = Some(value);
        } else if name.eq_ignore_ascii_case(b"connection") {
            connection = value;
        }
    }
    let (method, path) = text.first_line();
    let mut section = Vec::with_capacity(256);
    let mut section_bytes = 0;
    begin(&mut section);
    let mut write = |secret: bool, name: &[u8], value: &[u8]| {
        section_bytes += (name.len() + value.len() + FIELD_BYTES) as u64;
        field(&mut section, secret, name, value);
    };
    write(false, b":method", method);
    write(false, b":scheme", scheme.as_bytes());
    if let Some(authority) = authority {
        write(false, b":authority", authority);
    }
    write(false, b":path", path);
    for (name, value) in text.fields() {
        if !is_of_connection(name, value, connection) {
            let lower = name.to_ascii_lowercase();
            write(must_stay_secret(name, value), &lower, value);
        }
    }
    (section, section_bytes)
}

fn field(section: &mut Vec<u8>, secret: bool, name: &[u8], value: &[u8]) {
    match find(name, value) {
        Found::Field(index) if !secret => indexed(section, index),
        Found::Field(index) | Found::Name(index) => {
            plain_literal(section, secret, Name::Index(index), value);
        }
        Found::Nothing => {
            plain_literal(section, secret, Name::Literal(name), value);
        }
    }
}

/// The field section of a request, and what changes in it.
fn section(request: &Request) -> (Vec<u8>, Vec<Patch>) {
    let mut section = Vec::new();
    let mut patches = Vec::new();
    begin(&mut section);
    for field in &request.fields {
        let found = find(&field.name, &field.value);
        let name = match found {
            Found::Field(index) if field.patches.is_empty() && !field.never_indexed => {
                indexed(&mut section, index);
                continue;
            }
            Found::Field(index) | Found::Name(index) => Name::Index(index),
            Found::Nothing => Name::Literal(&field.name),
        };
        if field.patches.is_empty() {
            literal(&mut section, field.never_indexed, name, &field.value);
            continue;
        }
        let at = plain_literal(&mut section, field.never_indexed, name, &field.value);
        let mut own = field.patches.clone();
        moved(&mut own, at);
        patches.append(&mut own);
    }
    (section, patches)
}

/// Puts patches this many bytes further back.
fn moved(patches: &mut [Patch], bytes: usize) {
    // A template has fewer than 2^32 bytes.
    patches.iter_mut().for_each(|patch| patch.offset += bytes as u32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::builder::RequestBuilder;
    use crate::http1::patch::{Digits, Patcher};
    use crate::http3::frame::{FrameReader, Piece};
    use crate::http3::qpack::decoder::Decoder;

    /// The fields and the body that a server reads.
    fn read(mut bytes: &[u8]) -> (Vec<(String, String)>, Vec<u8>) {
        let (mut fields, mut body) = (Vec::new(), Vec::new());
        let (mut reader, mut kind) = (FrameReader::default(), None);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        while let Some(piece) = reader.next(&mut bytes) {
            match piece {
                Piece::Begins { kind: own, .. } => kind = Some(own),
                Piece::Payload { bytes, ends } if kind == Some(kind::HEADERS) => {
                    assert!(ends);
                    let show = |field: crate::http2::hpack::decoder::Field<'_, _>| {
                        fields.push((text(field.name), text(field.value)));
                    };
                    Decoder::new(0).decode(bytes, show).unwrap();
                }
                Piece::Payload { bytes, .. } => body.extend_from_slice(bytes),
            }
        }
        assert!(reader.between_frames());
        (fields, body)
    }

    #[test]
    fn a_patched_request_is_what_http1_would_have_sent() {
        let builder = RequestBuilder::new("POST", "/a?b={seq:10}&c={rand:8}")
            .header("Host", "localhost:8080")
            .header("Accept", "*/*")
            .header("X-Own", "n{seq:3}")
            .header("Authorization", "Basic YTpi")
            .body_length_header("Content-Length")
            .body("<{seq:5}>");
        let plain = builder.build().unwrap();
        let request = Request::from_template(&plain, "https", "fallback:1").unwrap();
        let template = template(&request);
        let patcher = Patcher::new(&template);
        let mut bytes = template.bytes.clone();
        for number in [7, 123_456, 99] {
            patcher.apply(&mut bytes, number, &mut Digits::new(1, 2));
            let mut http1 = plain.bytes.clone();
            Patcher::new(&plain).apply(&mut http1, number, &mut Digits::new(1, 2));
            let http1 = String::from_utf8(http1).unwrap();
            let (fields, body) = read(&bytes);
            let value = |name: &str| {
                let found = fields.iter().find(|(own, _)| own == name);
                found.map(|(_, value)| value.as_str()).unwrap_or_default()
            };
            assert!(http1.starts_with(&format!("POST {} HTTP/1.1\r\n", value(":path"))), "{http1}");
            assert!(http1.contains(&format!("X-Own: {}\r\n", value("x-own"))), "{http1}");
            assert!(http1.ends_with(std::str::from_utf8(&body).unwrap()), "{http1}");
            assert_eq!((value(":method"), value(":scheme")), ("POST", "https"));
            assert_eq!((value(":authority"), value("accept")), ("localhost:8080", "*/*"));
            assert_eq!((value("authorization"), value("content-length")), ("Basic YTpi", "7"));
            assert_eq!(fields.len(), 8);
        }
    }

    #[test]
    fn a_text_has_the_fields_and_the_body_that_a_template_has() {
        let builders = [
            RequestBuilder::new("GET", "/").header("Host", "localhost:8080"),
            RequestBuilder::new("POST", "/form?a=b")
                .header("Host", "h")
                .header("Connection", "close, X-Hop")
                .header("X-Hop", "1")
                .header("X-Own", "é")
                .header("Authorization", "Basic YTpi")
                .header("Cookie", "a=b")
                .header("Accept", "*/*")
                .body_length_header("Content-Length")
                .body("x: y\r\n\r\nz"),
        ];
        for builder in builders {
            let built = builder.build().unwrap();
            let request = Request::from_template(&built, "https", "h").unwrap();
            let mut out = Vec::new();
            let size = write_text(&RequestText::new(&built.bytes), "https", &mut out);
            let (fields, body) = read(&out);
            // RFC 9114, 4.2.2.
            let counted = fields.iter().map(|(name, value)| name.len() + value.len() + 32);
            let counted = counted.sum::<usize>() as u64;
            assert_eq!((size, section_bytes(&request)), (counted, counted));
            assert_eq!((fields, body), read(&template(&request).bytes));
        }
    }

    #[test]
    fn a_secret_of_a_text_is_kept_in_no_table() {
        let text = RequestText::new(b"GET / HTTP/1.1\r\nAuthorization: a\r\nX: y\r\n\r\n");
        let mut secret = Vec::new();
        let (section, _) = text_section(&text, "https");
        let note = |field: crate::http2::hpack::decoder::Field<'_, _>| {
            secret.extend(field.never_indexed.then(|| field.name.to_vec()));
        };
        Decoder::new(0).decode(&section, note).unwrap();
        assert_eq!(secret, [b"authorization"]);
    }

    #[test]
    fn a_request_without_a_body_is_one_frame() {
        let request = Request::new("HEAD", "https", "localhost", "/");
        let template = template(&request);
        assert!(template.response_has_no_body && template.patches.is_empty());
        assert_eq!(template.head_bytes, template.bytes.len());
        // RFC 9204, appendix A: 18 is HEAD, 23 https, 1 the path /.
        assert_eq!(template.bytes[..5], [1, template.bytes.len() as u8 - 2, 0, 0, 0xc0 | 18]);
        assert!(template.bytes.ends_with(&[0xc1]));
    }
}
