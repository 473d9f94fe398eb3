//! Responses as bytes. The head of a fixed response is built once, in the three forms that differ in
//! what they say about the connection; only its date is written into each copy.

use crate::http1::date::{DATE_BYTES, Date};
use crate::http1::output::Output;
use crate::http1::reason::reason;
use crate::http1::rendering::Rendering;
use crate::options::{Options, server_field};

/// What a response says about the connection (RFC 9112, 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// As the version of the protocol has it by itself: HTTP/1.1 keeps it open.
    Implied,
    /// It stays open, and an HTTP/1.0 client must be told.
    Announced,
    /// It will be closed.
    Close,
}

impl Persistence {
    const ALL: [Self; 3] = [Self::Implied, Self::Announced, Self::Close];

    fn field(self) -> &'static [u8] {
        match self {
            Self::Implied => b"",
            Self::Announced => b"Connection: keep-alive\r\n",
            Self::Close => b"Connection: close\r\n",
        }
    }
}

/// Bodies up to this length are kept behind each form of the head, so that head and body are one
/// piece; longer ones are written from the filler block.
const INLINE_BODY_BYTES_MAX: u64 = 8 * 1024;

/// A response that is the same for every request.
#[derive(Debug, Clone)]
pub struct FixedResponse {
    forms: [Form; 3],
    /// Offset of the date's text, the same in all forms.
    date_at: usize,
    /// Length of the body that is written from the filler block.
    filler_bytes: u64,
}

#[derive(Debug, Clone)]
struct Form {
    /// Head, and the body if it is short.
    bytes: Vec<u8>,
    head_bytes: usize,
}

/// Body of a fixed response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedBody<'a> {
    /// The bytes themselves.
    Bytes(&'a [u8]),
    /// This many bytes of [`crate::http1::filler`].
    Filler(u64),
}

impl FixedResponse {
    /// Builds a response. A status that permits no body (1xx, 204, 304) gets none, and no
    /// Content-Length either. An empty `server_name` leaves the Server field out.
    pub fn new(status: u16, server_name: &str, content_type: &str, body: FixedBody<'_>) -> Self {
        Self::padded(status, &server_field(server_name), 0, content_type, body)
    }

    /// Builds a response with the Server field and the length of heads that the options ask for.
    pub fn under(options: &Options, status: u16, content_type: &str, body: FixedBody<'_>) -> Self {
        let head_bytes = options.head_bytes.unwrap_or(0);
        Self::padded(status, &options.server_fields(), head_bytes, content_type, body)
    }

    fn padded(
        status: u16,
        server_fields: &[u8],
        head_bytes: usize,
        content_type: &str,
        body: FixedBody<'_>,
    ) -> Self {
        let body_bytes = match body {
            FixedBody::Bytes(bytes) => bytes.len() as u64,
            FixedBody::Filler(bytes) => bytes,
        };
        let has_body = status_permits_body(status);
        let mut date_at = 0;
        let forms = Persistence::ALL.map(|persistence| {
            let mut bytes = Vec::new();
            let head = HeadText {
                status,
                server_fields,
                content_type: content_type.as_bytes(),
                framing: Framing::Length(body_bytes),
                fields: b"",
                persistence,
                head_bytes,
            };
            date_at = head.write(&mut bytes);
            let head_bytes = bytes.len();
            match body {
                _ if !has_body => {}
                FixedBody::Bytes(body) => bytes.extend_from_slice(body),
                FixedBody::Filler(len) if len <= INLINE_BODY_BYTES_MAX => {
                    bytes.extend_from_slice(&crate::http1::filler::BLOCK[..len as usize]);
                }
                FixedBody::Filler(_) => {}
            }
            Form { bytes, head_bytes }
        });
        let filler_bytes = match body {
            FixedBody::Filler(len) if has_body && len > INLINE_BODY_BYTES_MAX => len,
            _ => 0,
        };
        Self { forms, date_at, filler_bytes }
    }

    /// Length of its head, as it is in HTTP/1.
    pub(crate) fn head_bytes(&self) -> usize {
        self.forms[0].head_bytes
    }

    /// Its head, as it is in HTTP/1.
    pub(crate) fn head_text(&self, date: &Date) -> Vec<u8> {
        let form = &self.forms[Persistence::Implied as usize];
        let mut text = form.bytes[..form.head_bytes].to_vec();
        text[self.date_at..self.date_at + DATE_BYTES].copy_from_slice(date.text());
        text
    }

    /// Its body, unless that is a long one of filler.
    #[inline]
    pub(crate) fn inline_body(&self) -> Option<&[u8]> {
        let form = &self.forms[Persistence::Implied as usize];
        (self.filler_bytes == 0).then(|| &form.bytes[form.head_bytes..])
    }

    /// Adds the response to what will be written; returns the length of its head.
    #[inline]
    pub fn push(&self, how: &Rendering<'_>, out: &mut Output) -> usize {
        let form = &self.forms[how.persistence as usize];
        if how.split {
            self.push_split(form, how, out);
            return form.head_bytes;
        }
        let bytes = if how.head_only { &form.bytes[..form.head_bytes] } else { &form.bytes };
        self.push_dated(bytes, how, out);
        if self.filler_bytes > 0 && !how.head_only {
            out.push_filler(self.filler_bytes);
        }
        form.head_bytes
    }

    #[inline]
    fn push_dated(&self, bytes: &[u8], how: &Rendering<'_>, out: &mut Output) {
        out.push_with(|text| {
            let date_at = text.len() + self.date_at;
            text.extend_from_slice(bytes);
            text[date_at..date_at + DATE_BYTES].copy_from_slice(how.date.text());
        });
    }

    /// The head and the body between cuts.
    #[cold]
    fn push_split(&self, form: &Form, how: &Rendering<'_>, out: &mut Output) {
        let (head, body) = form.bytes.split_at(form.head_bytes);
        out.cut();
        self.push_dated(head, how, out);
        out.cut();
        if !how.head_only {
            out.push_text(body);
            out.push_filler(self.filler_bytes);
            out.cut();
        }
    }
}

/// How the end of a response's body is found (RFC 9112, 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By its length.
    Length(u64),
    /// It comes in chunks.
    Chunked,
    /// It ends with the connection.
    ToClose,
}

/// Everything the head of a response says, but the date.
#[derive(Debug, Clone, Copy)]
pub struct HeadText<'a> {
    /// Status code.
    pub status: u16,
    /// Fields that come first, each with its line end.
    pub server_fields: &'a [u8],
    /// Content-Type.
    pub content_type: &'a [u8],
    /// How the body ends; left out where the status permits no body.
    pub framing: Framing,
    /// Further fields, each with its line end.
    pub fields: &'a [u8],
    /// What is said about the connection.
    pub persistence: Persistence,
    /// A shorter head gets a field more, `X-Padding`, that makes it so long. That field takes
    /// [`PADDING_BYTES_MIN`] itself: where fewer are missing, the head gets that much longer.
    pub head_bytes: usize,
}

/// Length of an empty padding field.
pub const PADDING_BYTES_MIN: usize = b"X-Padding:\r\n".len();

impl HeadText<'_> {
    /// Appends the head, with room for the date, and returns where the date's text begins.
    pub fn write(&self, bytes: &mut Vec<u8>) -> usize {
        let start = bytes.len();
        let mut digits = Digits::new();
        bytes.extend_from_slice(b"HTTP/1.1 ");
        bytes.extend_from_slice(digits.of(u64::from(self.status)));
        bytes.push(b' ');
        bytes.extend_from_slice(reason(self.status).as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(self.server_fields);
        bytes.extend_from_slice(b"Date: ");
        let date_at = bytes.len();
        bytes.extend_from_slice(&[b' '; DATE_BYTES]);
        if status_permits_body(self.status) {
            bytes.extend_from_slice(b"\r\nContent-Type: ");
            bytes.extend_from_slice(self.content_type);
            match self.framing {
                Framing::Length(body_bytes) => {
                    bytes.extend_from_slice(b"\r\nContent-Length: ");
                    bytes.extend_from_slice(digits.of(body_bytes));
                }
                Framing::Chunked => bytes.extend_from_slice(b"\r\nTransfer-Encoding: chunked"),
                Framing::ToClose => {}
            }
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(self.fields);
        bytes.extend_from_slice(self.persistence.field());
        let missing = self.head_bytes.saturating_sub(bytes.len() - start + 2);
        if missing > 0 {
            push_padding(missing, bytes);
        }
        bytes.extend_from_slice(b"\r\n");
        date_at
    }
}

/// Appends a field of this many bytes, or of the fewest it can have.
fn push_padding(field_bytes: usize, bytes: &mut Vec<u8>) {
    let value_bytes = field_bytes.saturating_sub(PADDING_BYTES_MIN);
    bytes.extend_from_slice(b"X-Padding:");
    if value_bytes > 0 {
        bytes.push(b' ');
        bytes.resize(bytes.len() + value_bytes - 1, b'x');
    }
    bytes.extend_from_slice(b"\r\n");
}

/// Whether a response of this status may have a body (RFC 9110, 6.4.1).
pub fn status_permits_body(status: u16) -> bool {
    !matches!(status, 100..=199 | 204 | 304)
}

/// Decimal digits without an allocation.
struct Digits([u8; 20]);

impl Digits {
    fn new() -> Self {
        Self([0; 20])
    }

    fn of(&mut self, mut value: u64) -> &[u8] {
        let mut at = self.0.len();
        loop {
            at -= 1;
            self.0[at] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                return &self.0[at..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::date::Date;

    fn how(persistence: Persistence, head_only: bool, date: &Date) -> Rendering<'_> {
        let server_fields = b"";
        let (split, chunked, head_bytes) = (false, true, 0);
        Rendering { persistence, head_only, split, chunked, server_fields, head_bytes, date }
    }

    fn text(response: &FixedResponse, persistence: Persistence, head_only: bool) -> String {
        let date = Date::now();
        let mut out = Output::default();
        response.push(&how(persistence, head_only, &date), &mut out);
        let text = String::from_utf8(out.as_text().unwrap().to_vec()).unwrap();
        let stamp = std::str::from_utf8(date.text()).unwrap();
        assert!(text.contains(&format!("\r\nDate: {stamp}\r\n")), "{text}");
        text.replace(stamp, "NOW")
    }

    #[test]
    fn the_three_forms_differ_in_what_they_say_about_the_connection() {
        let response = FixedResponse::new(200, "ablaze", "text/plain", FixedBody::Bytes(b"hello"));
        let common = "HTTP/1.1 200 OK\r\nServer: ablaze\r\nDate: NOW\r\n\
            Content-Type: text/plain\r\nContent-Length: 5\r\n";
        assert_eq!(text(&response, Persistence::Implied, false), format!("{common}\r\nhello"));
        assert_eq!(
            text(&response, Persistence::Announced, false),
            format!("{common}Connection: keep-alive\r\n\r\nhello")
        );
        assert_eq!(
            text(&response, Persistence::Close, true),
            format!("{common}Connection: close\r\n\r\n")
        );
    }

    #[test]
    fn statuses_without_a_body_announce_none() {
        for status in [204, 304] {
            let response = FixedResponse::new(status, "", "text/plain", FixedBody::Filler(20_000));
            let text = text(&response, Persistence::Implied, false);
            assert!(text.ends_with("\r\nDate: NOW\r\n\r\n"), "{text}");
            assert!(!text.contains("Server") && !text.contains("Content-"), "{text}");
        }
    }

    #[test]
    fn a_long_body_is_not_kept_in_the_response() {
        let response = FixedResponse::new(200, "", "text/plain", FixedBody::Filler(1 << 40));
        assert!(response.forms.iter().all(|form| form.bytes.len() == form.head_bytes));
        let mut out = Output::default();
        response.push(&how(Persistence::Implied, false, &Date::now()), &mut out);
        assert_eq!(out.left(), response.forms[0].bytes.len() as u64 + (1 << 40));
    }

    #[test]
    fn heads_are_padded_to_their_length_or_by_the_least_there_is() {
        let head = |head_bytes: usize, persistence| {
            let options = Options { head_bytes: Some(head_bytes), ..Options::default() };
            let response =
                FixedResponse::under(&options, 200, "text/plain", FixedBody::Bytes(b"body"));
            text(&response, persistence, true).replace("NOW", &"D".repeat(DATE_BYTES))
        };
        for persistence in Persistence::ALL {
            let plain = head(0, persistence);
            for head_bytes in plain.len() - 3..=plain.len() {
                assert_eq!(head(head_bytes, persistence), plain);
            }
            for more in 1..=PADDING_BYTES_MIN {
                let padded = head(plain.len() + more, persistence);
                let body = plain.strip_suffix("\r\n").unwrap();
                assert_eq!(padded, format!("{body}X-Padding:\r\n\r\n"));
            }
            for more in [13, 14, 15, 100, 5000] {
                let padded = head(plain.len() + more, persistence);
                assert_eq!(padded.len(), plain.len() + more);
                let field = padded.lines().find(|line| line.starts_with("X-Padding:")).unwrap();
                assert!(field.ends_with('x') || more == 13, "{field}");
            }
        }
    }
}
