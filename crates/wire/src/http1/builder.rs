//! Builds a [`Template`] from a method, a target, header lines and a body.
//!
//! By default everything is checked, because a request that is no request measures the server's
//! error path. [`RequestBuilder::verbatim`] sends what is given, for front ends whose users rely
//! on exactly that.
//!
//! `{seq}`, `{seq:N}` and `{rand:N}` in the target, in header values and in the body become
//! fields of fixed width, and the names of [`RequestBuilder::cells`] in braces fields of varying width. All other
//! braces stay as they are.

mod placeholders;

use std::sync::Arc;

use placeholders::{Field, Text, placeholder};

use crate::http1::fields::is_token_byte;
use crate::http1::request::{PatchValue, Template};

/// Digits of `{seq}` without a width.
pub const SEQUENCE_DIGITS: u32 = 10;
/// Most digits of a placeholder.
pub const DIGITS_MAX: u32 = 64;

/// Collects the parts of a request.
#[derive(Debug, Clone)]
pub struct RequestBuilder {
    method: Vec<u8>,
    target: Vec<u8>,
    minor_version: u8,
    headers: Vec<Header>,
    body: Vec<BodyPart>,
    checked: bool,
    placeholders: bool,
    cells: Vec<String>,
}

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyPart {
    /// Text that may have placeholders.
    Text(Arc<[u8]>),
    /// Bytes that are sent as they are: those of a file.
    Constant(Arc<[u8]>),
}

impl BodyPart {
    fn len(&self) -> usize {
        match self {
            Self::Text(bytes) | Self::Constant(bytes) => bytes.len(),
        }
    }
}

#[derive(Debug, Clone)]
enum Header {
    /// A line without its end, and the length of its name if it has a colon.
    Line { line: Vec<u8>, name_bytes: Option<usize> },
    /// A field of this name with the length of the body.
    BodyLength(Vec<u8>),
}

/// Why parts make no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The method is not a token.
    #[error("method `{}`: not a token, such as GET or M-SEARCH, without spaces", .0.escape_debug())]
    Method(String),
    /// The target has a byte that would end it or that HTTP does not know there.
    #[error("path `{}`: {what} at byte {at} must be percent-encoded", .target.escape_debug())]
    Target {
        /// The target as given.
        target: String,
        /// What the byte is.
        what: &'static str,
        /// Offset of the byte, from 0.
        at: usize,
    },
    /// The target is empty.
    #[error("the path is empty: the shortest is /")]
    TargetEmpty,
    /// A header line has no colon.
    #[error("header `{}` has no colon: write 'Name: value'", name_in(.0).escape_debug())]
    HeaderWithoutColon(String),
    /// The name of a header is not a token.
    #[error(
        "header name `{}`: only letters, digits and !#$%&'*+-.^_`|~, no space before the colon",
        .0.escape_debug()
    )]
    HeaderName(String),
    /// The value of a header has a byte that would end it.
    #[error("header {name}: its value contains {what}; a value is one line of text")]
    HeaderValue {
        /// Name of the header.
        name: String,
        /// What the value contains.
        what: &'static str,
    },
    /// There is a body, and nothing tells the server its length.
    #[error("a body of {0} bytes needs a Content-Length header")]
    BodyWithoutLength(usize),
    /// Content-Length says something else than the body.
    #[error(
        "Content-Length says {said}, but the body has {body_bytes} bytes: leave the header out"
    )]
    WrongLength {
        /// The header's value.
        said: String,
        /// Length of the body, placeholders at their width.
        body_bytes: usize,
    },
    /// Content-Length is given, and the body has another length in every request.
    #[error("Content-Length says {0}, but the body's length varies: leave the header out")]
    VaryingLength(String),
    /// A placeholder's width is out of range.
    #[error("{{{0}}}: the number of digits must be 1 to {max}", max = DIGITS_MAX)]
    Placeholder(String),
    /// The request does not fit 32-bit offsets.
    #[error("the request has {0} bytes; it must have fewer than 4294967295")]
    TooLong(usize),
}

/// The first word: what follows may be a credential, and messages are logged.
fn name_in(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

impl RequestBuilder {
    /// An HTTP/1.1 request without headers and body.
    pub fn new(method: impl Into<Vec<u8>>, target: impl Into<Vec<u8>>) -> Self {
        Self {
            method: method.into(),
            target: target.into(),
            minor_version: 1,
            headers: Vec::new(),
            body: Vec::new(),
            checked: true,
            placeholders: true,
            cells: Vec::new(),
        }
    }

    /// 0 for HTTP/1.0, anything else for HTTP/1.1.
    pub fn minor_version(mut self, minor_version: u8) -> Self {
        self.minor_version = minor_version;
        self
    }

    /// Appends `name: value`.
    pub fn header(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        let name = name.as_ref();
        let line = [name, b": ", value.as_ref()].concat();
        self.headers.push(Header::Line { line, name_bytes: Some(name.len()) });
        self
    }

    /// Appends a line as typed, `Name: value`, without its line end.
    pub fn header_line(mut self, line: impl Into<Vec<u8>>) -> Self {
        let line = line.into();
        let name_bytes = memchr::memchr(b':', &line);
        self.headers.push(Header::Line { line, name_bytes });
        self
    }

    /// Appends a field of this name (`Content-Length`, in the writing wanted) with the length
    /// of the body, its placeholders at their width.
    pub fn body_length_header(mut self, name: impl Into<Vec<u8>>) -> Self {
        self.headers.push(Header::BodyLength(name.into()));
        self
    }

    /// Sets the body.
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        self.body_parts(vec![BodyPart::Text(body.into().into())])
    }

    /// Sets the body, part behind part.
    pub fn body_parts(mut self, parts: Vec<BodyPart>) -> Self {
        self.body = parts;
        self
    }

    /// Sends everything as given: no check, no placeholder.
    pub fn verbatim(mut self) -> Self {
        self.checked = false;
        self.placeholders = false;
        self
    }

    /// Whether `{seq}` and `{rand:N}` are placeholders. They are, unless the request is verbatim.
    pub fn placeholders(mut self, placeholders: bool) -> Self {
        self.placeholders = placeholders;
        self
    }

    /// What stands in braces for a cell of a feed's row: number `n` of these is its column `n`.
    pub fn cells(mut self, names: &[String]) -> Self {
        self.cells = names.to_vec();
        self
    }

    /// The request.
    ///
    /// # Errors
    /// When the parts make no valid request (unless verbatim), a placeholder's width is out of
    /// range, or the request is too long for 32-bit offsets.
    pub fn build(&self) -> Result<Template, RequestError> {
        let mut body = Text::with_room(self.body.iter().map(BodyPart::len).sum());
        for part in &self.body {
            match part {
                BodyPart::Text(text) => self.append(&mut body, text)?,
                BodyPart::Constant(bytes) => body.bytes.extend_from_slice(bytes),
            }
        }
        let body_bytes = body.bytes.len();
        let body_varies = body.patches.iter().any(|field| field.width == 0);
        if self.checked {
            self.check(body_bytes, body_varies)?;
        }

        let mut text = Text::default();
        text.bytes.extend_from_slice(&self.method);
        text.bytes.push(b' ');
        self.append(&mut text, &self.target)?;
        text.bytes.extend_from_slice(match self.minor_version {
            0 => b" HTTP/1.0\r\n",
            _ => b" HTTP/1.1\r\n",
        });
        for header in &self.headers {
            match header {
                Header::Line { line, .. } => self.append(&mut text, line)?,
                Header::BodyLength(name) => {
                    text.bytes.extend_from_slice(name);
                    text.bytes.extend_from_slice(b": ");
                    if body_varies {
                        let offset = text.bytes.len();
                        text.patches.push(Field {
                            offset,
                            width: 0,
                            value: PatchValue::BodyLength,
                        });
                    } else {
                        text.bytes.extend_from_slice(body_bytes.to_string().as_bytes());
                    }
                }
            }
            text.bytes.extend_from_slice(b"\r\n");
        }
        text.bytes.extend_from_slice(b"\r\n");
        let head_bytes = text.bytes.len();
        body.put_in_front(text);
        let text = body;
        if text.bytes.len() >= u32::MAX as usize {
            return Err(RequestError::TooLong(text.bytes.len()));
        }
        Ok(Template {
            bytes: text.bytes,
            head_bytes,
            patches: text.patches.into_iter().map(Field::into_patch).collect(),
            response_has_no_body: self.method == b"HEAD",
        })
    }

    fn append(&self, text: &mut Text, part: &[u8]) -> Result<(), RequestError> {
        if self.placeholders || !self.cells.is_empty() {
            text.append_expanded(part, self)
        } else {
            text.bytes.extend_from_slice(part);
            Ok(())
        }
    }

    /// The field that begins with the brace at the beginning of `text`: its length there, what it stands for, and its
    /// width.
    fn field(&self, text: &[u8]) -> Result<Option<(usize, PatchValue, u32)>, RequestError> {
        let named = |name: &String| {
            text[1..].strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'}'))
        };
        if let Some(column) = self.cells.iter().position(named) {
            let value = PatchValue::Cell(column as u32);
            return Ok(Some((self.cells[column].len() + 2, value, 0)));
        }
        if self.placeholders { placeholder(text) } else { Ok(None) }
    }

    fn check(&self, body_bytes: usize, body_varies: bool) -> Result<(), RequestError> {
        if self.method.is_empty() || !self.method.iter().copied().all(is_token_byte) {
            return Err(RequestError::Method(lossy(&self.method)));
        }
        check_target(&self.target)?;
        let mut length_known = body_bytes == 0 && !body_varies;
        for header in &self.headers {
            let Header::Line { line, name_bytes } = header else {
                length_known = true;
                continue;
            };
            let Some(name_bytes) = *name_bytes else {
                return Err(RequestError::HeaderWithoutColon(lossy(line)));
            };
            let (name, value) = (&line[..name_bytes], &line[name_bytes + 1..]);
            check_header(name, value)?;
            length_known |= name.eq_ignore_ascii_case(b"transfer-encoding");
            if name.eq_ignore_ascii_case(b"content-length") {
                let said = lossy(value.trim_ascii());
                if body_varies {
                    return Err(RequestError::VaryingLength(said));
                }
                if said != body_bytes.to_string() {
                    return Err(RequestError::WrongLength { said, body_bytes });
                }
                length_known = true;
            }
        }
        if length_known { Ok(()) } else { Err(RequestError::BodyWithoutLength(body_bytes)) }
    }
}

fn check_target(target: &[u8]) -> Result<(), RequestError> {
    if target.is_empty() {
        return Err(RequestError::TargetEmpty);
    }
    let wrong = target.iter().enumerate().find_map(|(at, &byte)| match byte {
        b' ' => Some((at, "a space")),
        0..=0x1f | 0x7f => Some((at, "a control character")),
        0x80.. => Some((at, "a byte outside ASCII")),
        _ => None,
    });
    match wrong {
        Some((at, what)) => Err(RequestError::Target { target: lossy(target), what, at }),
        None => Ok(()),
    }
}

fn check_header(name: &[u8], value: &[u8]) -> Result<(), RequestError> {
    if name.is_empty() || !name.iter().copied().all(is_token_byte) {
        return Err(RequestError::HeaderName(lossy(name)));
    }
    let wrong = value.iter().find_map(|byte| match byte {
        b'\r' | b'\n' => Some("a line break"),
        0 => Some("a NUL byte"),
        _ => None,
    });
    match wrong {
        Some(what) => Err(RequestError::HeaderValue { name: lossy(name), what }),
        None => Ok(()),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
