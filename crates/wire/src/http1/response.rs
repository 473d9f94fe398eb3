//! The head of a response: where it ends, and what it says about the body behind it.
//!
//! [`scan`] reads each byte once however the head arrives, and refuses what cannot become the
//! head of a response as soon as that is visible: in the status line at the first wrong byte, in
//! a field line at its end. Contradictions between fields are refused at the end of the head.
//!
//! What is tolerated beyond the grammar of RFC 9112, because servers do it and it cannot be
//! misunderstood:
//! - up to [`EMPTY_LINES_MAX`](super::EMPTY_LINES_MAX) empty lines before the status line (2.2 asks it of servers);
//! - a bare LF as the end of a line (2.2);
//! - a status line without reason phrase, and without the space before it (4);
//! - a field value that goes on in the next line (obs-fold, 5.2): the line break counts as white
//!   space;
//! - repeated equal values of Content-Length, as a list too (6.3);
//! - field names of other visible bytes than a token has; controls other than CR, LF and NUL in
//!   values (RFC 9110, 5.5).
//!
//! What is refused: other versions than 1.0 and 1.1, a bare CR, a NUL, white space before a
//! colon or before the first field, lines without a colon, different or unreadable values of
//! Content-Length, Content-Length together with Transfer-Encoding (6.3 permits to read on, but
//! then nobody knows what was measured), and `chunked` applied twice.
//!
//! Transfer-Encoding in an HTTP/1.0 response is faulty framing (6.1): it is read as it says, and
//! the connection is not used again.

use crate::http1::fields::{Facts, Walk, first_line_start, line_end, walk, word};

/// What a complete head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Length of the head in bytes, its empty line and those before it included.
    pub len: usize,
    /// Status code, 100 to 999.
    pub status: u16,
    /// Minor version: 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub minor_version: u8,
    /// How the end of the body is found.
    pub framing: Framing,
    /// Whether the server will keep the connection (RFC 9112, 9.3), judged by the head alone.
    pub keep_alive: bool,
    /// Why it will not.
    pub ending: Ending,
}

/// What in the head of a response ends its connection (RFC 9112, 9.3 and 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// Nothing.
    #[default]
    None,
    /// It has `Connection: close`.
    Close,
    /// The same, and nothing else tells where the body ends.
    CloseWithoutLength,
    /// It is HTTP/1.0 without `Connection: keep-alive`.
    NoKeepAlive,
    /// The same, and it has no length that HTTP/1.0 knows.
    NoKeepAliveWithoutLength,
    /// Nothing else tells where the body ends.
    NoLength,
    /// It is HTTP/1.0 and has a transfer coding, which HTTP/1.0 does not define.
    OldCoding,
}

/// How the end of a body is found (RFC 9112, 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body: 1xx, 204, 304, or the response to HEAD.
    None,
    /// This many bytes.
    Length(u64),
    /// Chunked transfer coding.
    Chunked,
    /// Everything until the server closes.
    UntilClose,
}

/// Result of looking for a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// The head is not complete; look again with more bytes, from `resume`.
    Incomplete {
        /// Offset before which no head can end: pass it to the next scan.
        resume: usize,
    },
    /// The head is complete.
    Complete(Head),
}

/// Why bytes are not the head of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Not HTTP/1, or contradicting itself.
    #[error("{0}")]
    Malformed(&'static str),
    /// No end within the permitted length.
    #[error("the head is longer than allowed")]
    TooLarge,
}

impl From<&'static str> for HeadError {
    fn from(fault: &'static str) -> Self {
        Self::Malformed(fault)
    }
}

/// Looks for the head of a response at the beginning of `bytes`. `resume` is 0, or what the last
/// scan of a prefix of the same bytes returned. `response_has_no_body`: the request was HEAD.
///
/// A complete head depends on its own bytes only, not on those behind it.
///
/// # Errors
/// When the bytes cannot become the head of a response, or it is longer than `max_head_bytes`.
pub fn scan(
    bytes: &[u8],
    resume: usize,
    response_has_no_body: bool,
    max_head_bytes: usize,
) -> Result<Scan, HeadError> {
    // Nothing beyond the limit is looked at, so that it makes no difference how much has arrived.
    let visible = &bytes[..bytes.len().min(max_head_bytes)];
    let head = if resume == 0 {
        scan_whole(visible, response_has_no_body)?
    } else {
        scan_more(visible, resume.min(visible.len()), response_has_no_body)?
    };
    match head {
        Some(head) => Ok(Scan::Complete(head)),
        None if bytes.len() >= max_head_bytes => Err(HeadError::TooLarge),
        None => Ok(Scan::Incomplete { resume: bytes.len() }),
    }
}

/// The value of the first header field of this name (ASCII case-insensitive) in a complete
/// head, without surrounding white space. A folded value comes with its line breaks.
pub fn field<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut rest = head;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let line = &rest[..end];
        let matches = line.get(name.len()) == Some(&b':')
            && line[..name.len()].eq_ignore_ascii_case(name.as_bytes());
        if matches {
            let mut value_end = end;
            while let Some(b' ' | b'\t') = rest.get(value_end + 1) {
                value_end += 1 + memchr::memchr(b'\n', &rest[value_end + 1..])?;
            }
            return Some(rest[name.len() + 1..value_end].trim_ascii());
        }
        rest = &rest[end + 1..];
    }
    None
}

/// Reads the head from its beginning.
fn scan_whole(bytes: &[u8], response_has_no_body: bool) -> Result<Option<Head>, HeadError> {
    let start = first_line_start(bytes)?;
    let Some((minor_version, status)) = status_line(bytes, start) else {
        return match status_line_fault(&bytes[start..]) {
            Some(fault) => Err(fault.into()),
            None => Ok(None),
        };
    };
    let Some(fields) = line_end(&bytes[start + 12..])? else { return Ok(None) };
    if let [b' ' | b'\t', folded @ ..] = fields {
        return match line_end(folded)? {
            Some(_) => Err(HeadError::Malformed("white space before the first field")),
            None => Ok(None),
        };
    }
    let mut facts = Facts::default();
    match walk::<false>(bytes, bytes.len() - fields.len(), &mut facts)? {
        Walk::Incomplete => Ok(None),
        Walk::End(len) => {
            facts.judge()?;
            Ok(Some(conclude(len, status, minor_version, response_has_no_body, &facts)))
        }
    }
}

/// Goes on with a head of which everything before `resume` was looked at: judges the lines that
/// are new, and reads the whole head when it has become complete.
fn scan_more(
    bytes: &[u8],
    resume: usize,
    response_has_no_body: bool,
) -> Result<Option<Head>, HeadError> {
    let start = first_line_start(bytes)?;
    if memchr::memchr(b'\n', &bytes[resume..]).is_none() {
        return match status_line_fault(&bytes[start..]) {
            Some(fault) => Err(fault.into()),
            None => Ok(None),
        };
    }
    let line_start = memchr::memrchr(b'\n', &bytes[..resume]).map_or(0, |lf| lf + 1);
    // The status line, and the first field line (which must not begin with white space), are
    // judged from the beginning.
    let in_first_lines =
        line_start <= start || memchr::memrchr(b'\n', &bytes[start..line_start - 1]).is_none();
    if !in_first_lines
        && let Walk::Incomplete = walk::<false>(bytes, line_start, &mut Facts::default())?
    {
        return Ok(None);
    }
    scan_whole(bytes, response_has_no_body)
}

/// Minor version and status of a status line, when all of it up to the status is there and right.
#[inline(always)]
fn status_line(bytes: &[u8], start: usize) -> Option<(u8, u16)> {
    const VERSION_1_0: u64 = u64::from_le_bytes(*b"HTTP/1.0");
    const VERSION_1_1: u64 = u64::from_le_bytes(*b"HTTP/1.1");
    let minor_version = match word(bytes, start)? {
        VERSION_1_1 => 1,
        VERSION_1_0 => 0,
        _ => return None,
    };
    let [b' ', hundreds, tens, units, b' ' | b'\r' | b'\n'] =
        *bytes.get(start + 8..)?.first_chunk::<5>()?
    else {
        return None;
    };
    let digit = |byte: u8| u16::from(byte.wrapping_sub(b'0'));
    let (hundreds, tens, units) = (digit(hundreds), digit(tens), digit(units));
    if hundreds.wrapping_sub(1) > 8 || tens > 9 || units > 9 {
        return None;
    }
    Some((minor_version, hundreds * 100 + tens * 10 + units))
}

/// What is wrong with the beginning of a response, if anything can be seen yet. Says what it
/// looks like instead, where that is known.
#[cold]
fn status_line_fault(line: &[u8]) -> Option<&'static str> {
    let wrong = |at: usize| match at {
        0..5 => match line {
            [0x15 | 0x16, 3, ..] => "the response is TLS, not HTTP: the server wants https",
            [0, 0, ..] => "the response looks like HTTP/2, not HTTP/1",
            [b'G', b'E', b'T', b' ', ..] | [b'P', b'O', b'S', b'T', ..] => {
                "the server echoed the request instead of sending a response"
            }
            _ => "the response does not begin with HTTP/",
        },
        5..8 => match line.get(5..) {
            Some([b'2', ..]) => "the response is HTTP/2, not HTTP/1",
            Some([b'3', ..]) => "the response is HTTP/3, not HTTP/1",
            Some([b'0', ..]) => "the response is HTTP/0.9, not HTTP/1",
            _ => "the response's version is neither HTTP/1.0 nor HTTP/1.1",
        },
        _ => "the status is not a number from 100 to 999",
    };
    let right = |at: usize, byte: u8| match at {
        0..5 => byte == b"HTTP/"[at],
        5 => byte == b'1',
        6 => byte == b'.',
        7 => byte == b'0' || byte == b'1',
        8 => byte == b' ',
        9 => matches!(byte, b'1'..=b'9'),
        10 | 11 => byte.is_ascii_digit(),
        _ => matches!(byte, b' ' | b'\r' | b'\n'),
    };
    line.iter().take(13).enumerate().find(|&(at, &byte)| !right(at, byte)).map(|(at, _)| wrong(at))
}

/// Framing and persistence (RFC 9112, 6.3 and 9.3).
#[inline(always)]
fn conclude(
    len: usize,
    status: u16,
    minor_version: u8,
    response_has_no_body: bool,
    facts: &Facts,
) -> Head {
    let framing = if response_has_no_body || status < 200 || status == 204 || status == 304 {
        Framing::None
    } else if facts.transfer_encoding {
        if facts.chunked_last { Framing::Chunked } else { Framing::UntilClose }
    } else {
        facts.content_length.map_or(Framing::UntilClose, Framing::Length)
    };
    let persistent = !facts.close
        && if minor_version == 0 { facts.keep_alive && !facts.transfer_encoding } else { true };
    let keep_alive = persistent && framing != Framing::UntilClose;
    let ending = if keep_alive { Ending::None } else { why_it_ends(minor_version, framing, facts) };
    Head { len, status, minor_version, framing, keep_alive, ending }
}

/// What of a head that ends its connection does.
fn why_it_ends(minor_version: u8, framing: Framing, facts: &Facts) -> Ending {
    let endless = framing == Framing::UntilClose;
    let is_old = minor_version == 0;
    if facts.close {
        return if endless { Ending::CloseWithoutLength } else { Ending::Close };
    }
    if is_old && !facts.keep_alive {
        // A coding is none for HTTP/1.0.
        let without_length = endless || framing == Framing::Chunked;
        return match without_length {
            true => Ending::NoKeepAliveWithoutLength,
            false => Ending::NoKeepAlive,
        };
    }
    if is_old && facts.transfer_encoding { Ending::OldCoding } else { Ending::NoLength }
}
