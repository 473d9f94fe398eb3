//! The field lines of a head, walked once from the first to the empty line behind the last; what
//! they say about framing and persistence is gathered on the way. Shared by responses
//! (`response`) and requests (`request_head`).
//!
//! A line is judged when its LF has arrived, and contradictions between fields when the head is
//! complete. So a head that arrives in pieces is judged as one that arrives at once.

use crate::http1::EMPTY_LINES_MAX;

const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
/// Sets bit 5 of every byte: ASCII upper case becomes lower case. In the names compared here no
/// byte but a control could be mistaken for another (CR for `-`), and controls are refused.
const LOWER_CASE: u64 = 0x2020_2020_2020_2020;

/// What the fields of a head say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    /// Value of Content-Length.
    pub content_length: Option<u64>,
    /// Transfer-Encoding is there.
    pub transfer_encoding: bool,
    /// The last transfer coding is `chunked`.
    pub chunked_last: bool,
    /// `Connection: close`.
    pub close: bool,
    /// `Connection: keep-alive`.
    pub keep_alive: bool,
    /// `Expect: 100-continue` (looked for in requests only).
    pub expect_continue: bool,
    /// The first contradiction; it counts once the head is complete.
    fault: Option<&'static str>,
}

/// Where a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    /// The bytes ended before the head did.
    Incomplete,
    /// The head ends before this offset.
    End(usize),
}

/// Walks the field lines from `at`, the beginning of a line, and gathers what they say.
/// `REQUEST`: look for Expect too.
#[inline]
pub(super) fn walk<const REQUEST: bool>(
    bytes: &[u8],
    at: usize,
    facts: &mut Facts,
) -> Result<Walk, &'static str> {
    let mut line = &bytes[at..];
    loop {
        let (name, colon_and_value) = line.split_at(name_end(line));
        let next = match colon_and_value {
            [b':', value @ ..] if !name.is_empty() => line_end(value)?,
            _ => match line_without_colon(line, colon_and_value)? {
                Other::Line(next) => next,
                Other::Empty(behind) => return Ok(Walk::End(bytes.len() - behind.len())),
            },
        };
        let Some(mut next) = next else { return Ok(Walk::Incomplete) };
        if may_matter(name.len())
            && let Some(field) = field_of::<REQUEST>(line, name.len())
        {
            // Its value may go on in the next line.
            while let [b' ' | b'\t', folded @ ..] = next {
                let Some(behind) = line_end(folded)? else { return Ok(Walk::Incomplete) };
                next = behind;
            }
            if next.is_empty() {
                return Ok(Walk::Incomplete);
            }
            facts.note(field, &colon_and_value[1..colon_and_value.len() - next.len()]);
        }
        line = next;
    }
}

/// A line that is no field.
enum Other<'a> {
    /// A continuation, and what follows it, if its end has arrived.
    Line(Option<&'a [u8]>),
    /// The empty line, and what follows it.
    Empty(&'a [u8]),
}

/// Judges a line that does not begin with a name and a colon; `stop` begins where the name does
/// not go on.
#[inline(never)]
fn line_without_colon<'a>(line: &'a [u8], stop: &[u8]) -> Result<Other<'a>, &'static str> {
    let fault = match line {
        [b'\r', b'\n', behind @ ..] | [b'\n', behind @ ..] => return Ok(Other::Empty(behind)),
        [] | [b'\r'] => return Ok(Other::Line(None)),
        // A continuation line (obs-fold). If it belongs to a field that matters, it was taken in
        // with the field; here it only has to be well-formed.
        [b' ' | b'\t', folded @ ..] => return Ok(Other::Line(line_end(folded)?)),
        [b'\r', ..] => "a bare CR in the head",
        _ => match stop {
            [b':', ..] => "a field name is missing",
            [b' ' | b'\t', ..] if has_colon(line) => "white space in a field name",
            _ => "a field line without a colon",
        },
    };
    refuse_line(line, fault).map(Other::Line)
}

/// Whether a colon stands in the line, as far as it has come.
fn has_colon(line: &[u8]) -> bool {
    line.iter().take_while(|byte| **byte != b'\n').any(|byte| *byte == b':')
}

/// The fields that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Connection,
    ContentLength,
    Expect,
    TransferEncoding,
}

/// Whether a name of this length may be that of a field that matters: lengths beyond 63 are
/// taken for what is left of them, and sorted out by [`field_of`].
#[inline(always)]
fn may_matter(name_bytes: usize) -> bool {
    const LENGTHS: u64 = 1 << 6 | 1 << 10 | 1 << 14 | 1 << 17;
    LENGTHS.rotate_right(name_bytes as u32 & 63) & 1 != 0
}

/// Which field that matters the line's name is, if one.
#[inline(always)]
fn field_of<const REQUEST: bool>(line: &[u8], name_bytes: usize) -> Option<Field> {
    const fn letters(text: &[u8; 8]) -> u64 {
        u64::from_le_bytes(*text)
    }
    // The eight bytes from `at`, in lower case.
    let lower = |at: usize| word(line, at).map(|word| word | LOWER_CASE);
    let is = |at: usize, text: &[u8; 8]| lower(at) == Some(letters(text));
    match name_bytes {
        10 if is(0, b"connecti") && is(2, b"nnection") => Some(Field::Connection),
        14 if is(0, b"content-") && is(6, b"t-length") => Some(Field::ContentLength),
        17 if is(0, b"transfer") && is(8, b"-encodin") && is(9, b"encoding") => {
            Some(Field::TransferEncoding)
        }
        6 if REQUEST && line[..6].eq_ignore_ascii_case(b"expect") => Some(Field::Expect),
        _ => None,
    }
}

impl Facts {
    /// The first contradiction among the fields, once the head is complete.
    pub(super) fn judge(&self) -> Result<(), &'static str> {
        match self.fault {
            Some(fault) => Err(fault),
            None if self.transfer_encoding && self.content_length.is_some() => {
                Err("both Content-Length and Transfer-Encoding are present")
            }
            None => Ok(()),
        }
    }

    /// Takes in a field that matters. `value` is everything behind the colon, line ends included.
    fn note(&mut self, field: Field, value: &[u8]) {
        let noted = match field {
            Field::ContentLength => self.note_content_length(value),
            Field::TransferEncoding => self.note_transfer_encoding(value),
            Field::Connection => {
                self.note_connection(value);
                Ok(())
            }
            Field::Expect => {
                self.expect_continue |=
                    elements(value).any(|e| e.eq_ignore_ascii_case(b"100-continue"));
                Ok(())
            }
        };
        if let Err(fault) = noted {
            self.fault = self.fault.or(Some(fault));
        }
    }

    /// RFC 9112, 9.3. The usual writing is recognised at once.
    fn note_connection(&mut self, value: &[u8]) {
        if value == b" keep-alive\r\n" {
            self.keep_alive = true;
            return;
        }
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// RFC 9112, 6.3, point 5: a list of equal values counts as one.
    fn note_content_length(&mut self, value: &[u8]) -> Result<(), &'static str> {
        if let (Some(length), None) = (usual_length(value), self.content_length) {
            self.content_length = Some(length);
            return Ok(());
        }
        for element in elements(value) {
            let length = decimal(element)?;
            if self.content_length.is_some_and(|before| before != length) {
                return Err("conflicting values of Content-Length");
            }
            self.content_length = Some(length);
        }
        Ok(())
    }

    /// RFC 9112, 6.1 and 6.3: only the last coding decides, and `chunked` comes once.
    fn note_transfer_encoding(&mut self, value: &[u8]) -> Result<(), &'static str> {
        self.transfer_encoding = true;
        for coding in elements(value).filter(|coding| !coding.is_empty()) {
            let chunked = coding.eq_ignore_ascii_case(b"chunked");
            if chunked && self.chunked_last {
                return Err("the chunked coding is applied twice");
            }
            self.chunked_last = chunked;
        }
        Ok(())
    }
}

/// The elements of a comma-separated list, without the white space around them.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').map(<[u8]>::trim_ascii)
}

/// A number in decimal digits, nothing else.
fn decimal(digits: &[u8]) -> Result<u64, &'static str> {
    if digits.is_empty() {
        return Err("Content-Length without a number");
    }
    let mut number = 0u64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return Err("Content-Length is not a number");
        }
        number = number
            .checked_mul(10)
            .and_then(|n| n.checked_add(u64::from(digit - b'0')))
            .ok_or("Content-Length does not fit in 64 bits")?;
    }
    Ok(number)
}

/// A length as it is usually written: a space, up to 15 digits, CR LF.
#[inline(always)]
fn usual_length(value: &[u8]) -> Option<u64> {
    let digits = value.strip_prefix(b" ")?.strip_suffix(b"\r\n")?;
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let mut length = 0;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        length = length * 10 + u64::from(digit);
    }
    Some(length)
}

/// What follows the line that goes on with `text`; none when its end has not arrived.
#[inline(always)]
pub(super) fn line_end(mut text: &[u8]) -> Result<Option<&[u8]>, &'static str> {
    loop {
        text = &text[next_control(text)..];
        match text {
            [b'\r', b'\n', behind @ ..] | [b'\n', behind @ ..] => return Ok(Some(behind)),
            [] | [b'\r'] => return Ok(None),
            [b'\r', ..] => return refuse_line(text, "a bare CR in the head"),
            [0, ..] => return refuse_line(text, "a NUL byte in the head"),
            // Horizontal tabs belong in values, other controls are let through.
            [_, behind @ ..] => text = behind,
        }
    }
}

/// Offset of a head's first line, behind the empty lines that may precede it.
#[inline(always)]
pub(super) fn first_line_start(bytes: &[u8]) -> Result<usize, &'static str> {
    match bytes.first() {
        Some(b'\r' | b'\n') => skip_empty_lines(bytes),
        _ => Ok(0),
    }
}

#[cold]
fn skip_empty_lines(bytes: &[u8]) -> Result<usize, &'static str> {
    let mut at = 0;
    for _ in 0..=EMPTY_LINES_MAX {
        at = match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\n'), _) => at + 1,
            (Some(b'\r'), Some(b'\n')) => at + 2,
            (Some(b'\r'), Some(_)) => return Err("a bare CR in the head"),
            (Some(b'\r'), None) => return Ok(bytes.len()),
            _ => return Ok(at),
        };
    }
    Err("nothing but empty lines")
}

/// A byte of a token (RFC 9110, 5.6.2).
pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The line that goes on with `text` has a fault; it is refused once its end has arrived.
#[cold]
fn refuse_line<'a>(text: &[u8], fault: &'static str) -> Result<Option<&'a [u8]>, &'static str> {
    if memchr::memchr(b'\n', text).is_some() { Err(fault) } else { Ok(None) }
}

/// Offset of the first byte below 0x20, or the length.
///
/// Eight bytes at a time: subtracting 0x20 from every byte borrows into the high bit of those
/// that are smaller. A borrow can spoil only bytes above the first that is smaller, so the
/// lowest bit found is right.
#[inline(always)]
fn next_control(text: &[u8]) -> usize {
    first_of(
        text,
        |word| word.wrapping_sub(EVERY_BYTE * 0x20) & !word & HIGH_BITS,
        |byte| byte < 0x20,
    )
}

/// Offset of the first byte up to 0x20, or the length.
#[inline(always)]
pub(super) fn next_space(text: &[u8]) -> usize {
    first_of(
        text,
        |word| word.wrapping_sub(EVERY_BYTE * 0x21) & !word & HIGH_BITS,
        |byte| byte <= b' ',
    )
}

/// Offset of the first colon or byte up to 0x20, or the length.
#[inline(always)]
fn name_end(text: &[u8]) -> usize {
    first_of(
        text,
        |word| {
            let colons = word ^ (EVERY_BYTE * b':' as u64);
            let smaller = word.wrapping_sub(EVERY_BYTE * 0x21) & !word;
            (smaller | (colons.wrapping_sub(EVERY_BYTE) & !colons)) & HIGH_BITS
        },
        |byte| byte <= b' ' || byte == b':',
    )
}

/// Offset of the first byte found: `in_word` sets the high bit of bytes found among eight (only
/// the first needs to be right), `is` tells of a single one.
#[inline(always)]
fn first_of(text: &[u8], in_word: impl Fn(u64) -> u64, is: impl Fn(u8) -> bool) -> usize {
    let mut at = 0;
    let eights = text.chunks_exact(8);
    let rest = eights.remainder();
    for eight in eights {
        let found = in_word(eight.try_into().map_or(0, u64::from_le_bytes));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + rest.iter().position(|&byte| is(byte)).unwrap_or(rest.len())
}

/// Eight bytes from `at`, the first in the lowest place.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}
