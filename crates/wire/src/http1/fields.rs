//! The field lines of a head, walked once from the first to the empty line behind the last; what
//! they say about framing and persistence is gathered on the way. Shared by answers
//! (`response`) and requests (`request_head`).
//!
//! A line is judged when its LF has arrived, and contradictions between fields when the head is
//! complete. So a head that arrives in pieces is judged as one that arrives at once.

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
    mut at: usize,
    facts: &mut Facts,
) -> Result<Walk, &'static str> {
    loop {
        let Some(&first) = bytes.get(at) else { return Ok(Walk::Incomplete) };
        if first <= b' ' {
            match first {
                b'\r' => match bytes.get(at + 1) {
                    Some(b'\n') => return Ok(Walk::End(at + 2)),
                    Some(_) => return fault(bytes, at, "a bare CR in the head"),
                    None => return Ok(Walk::Incomplete),
                },
                b'\n' => return Ok(Walk::End(at + 1)),
                // A continuation line (obs-fold). Of fields that matter it was taken in with
                // the field; here it only has to be well-formed.
                b' ' | b'\t' => match line_end(bytes, at + 1)? {
                    Some(next) => at = next,
                    None => return Ok(Walk::Incomplete),
                },
                _ => return fault(bytes, at, "a field name is missing"),
            }
            continue;
        }
        let start = at;
        let colon = name_end(bytes, at);
        match bytes.get(colon) {
            Some(b':') if colon > start => {}
            Some(b':') => return fault(bytes, start, "a field name is missing"),
            Some(b' ' | b'\t') => return fault(bytes, start, "white space in a field name"),
            Some(_) => return fault(bytes, start, "a field line without a colon"),
            None => return Ok(Walk::Incomplete),
        }
        let Some(next) = line_end(bytes, colon + 1)? else { return Ok(Walk::Incomplete) };
        at = next;
        let field = match word(bytes, start) {
            Some(beginning) => field_of::<REQUEST>(bytes, start, colon, beginning),
            None => continue,
        };
        if let Some(field) = field {
            // Its value may go on in the next line.
            loop {
                match bytes.get(at) {
                    Some(b' ' | b'\t') => match line_end(bytes, at + 1)? {
                        Some(next) => at = next,
                        None => return Ok(Walk::Incomplete),
                    },
                    Some(_) => break,
                    None => return Ok(Walk::Incomplete),
                }
            }
            facts.note(field, &bytes[colon + 1..at]);
        }
    }
}

/// The fields that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Connection,
    ContentLength,
    Expect,
    TransferEncoding,
}

/// Which field that matters begins at `start`, if one does. `beginning`: the eight bytes there.
#[inline(always)]
fn field_of<const REQUEST: bool>(
    bytes: &[u8],
    start: usize,
    colon: usize,
    beginning: u64,
) -> Option<Field> {
    const CONTENT: u64 = u64::from_le_bytes(*b"content-");
    const LENGTH: u64 = u64::from_le_bytes(*b"t-length");
    const CONNECTI: u64 = u64::from_le_bytes(*b"connecti");
    const NNECTION: u64 = u64::from_le_bytes(*b"nnection");
    const TRANSFER: u64 = u64::from_le_bytes(*b"transfer");
    const ENCODING: u64 = u64::from_le_bytes(*b"encoding");
    const EXPECT: u64 = u64::from_le_bytes(*b"expect:\0");
    const SEVEN_BYTES: u64 = 0x00ff_ffff_ffff_ffff;

    // The last eight bytes of the name, in lower case.
    let ending = || word(bytes, colon - 8).map(|w| w | LOWER_CASE);
    match beginning | LOWER_CASE {
        CONTENT if colon - start == 14 && ending() == Some(LENGTH) => Some(Field::ContentLength),
        CONNECTI if colon - start == 10 && ending() == Some(NNECTION) => Some(Field::Connection),
        TRANSFER
            if colon - start == 17
                && ending() == Some(ENCODING)
                && bytes.get(start + 8) == Some(&b'-') =>
        {
            Some(Field::TransferEncoding)
        }
        lower if REQUEST && lower & SEVEN_BYTES == EXPECT && colon - start == 6 => {
            Some(Field::Expect)
        }
        _ => None,
    }
}

impl Facts {
    /// The first contradiction among the fields, once the head is complete.
    pub(super) fn judge(&self) -> Result<(), &'static str> {
        match self.fault {
            Some(fault) => Err(fault),
            None if self.transfer_encoding && self.content_length.is_some() => {
                Err("both Content-Length and Transfer-Encoding are there")
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
                for option in elements(value) {
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
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

    /// RFC 9112, 6.3, point 5: a list of equal values counts as one.
    fn note_content_length(&mut self, value: &[u8]) -> Result<(), &'static str> {
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
            .ok_or("Content-Length is larger than 64 bits hold")?;
    }
    Ok(number)
}

/// The offset behind the LF of the line that goes on at `at`; none when it has not arrived.
#[inline(always)]
pub(super) fn line_end(bytes: &[u8], mut at: usize) -> Result<Option<usize>, &'static str> {
    loop {
        at = next_control(bytes, at);
        match bytes.get(at) {
            Some(b'\r') => match bytes.get(at + 1) {
                Some(b'\n') => return Ok(Some(at + 2)),
                Some(_) => return refuse_line(bytes, at, "a bare CR in the head"),
                None => return Ok(None),
            },
            Some(b'\n') => return Ok(Some(at + 1)),
            Some(0) => return refuse_line(bytes, at, "a NUL byte in the head"),
            // Horizontal tabs belong in values, other controls are let through.
            Some(_) => at += 1,
            None => return Ok(None),
        }
    }
}

/// The line with a fault at `at` is refused, once its end has arrived.
#[cold]
fn refuse_line(
    bytes: &[u8],
    at: usize,
    fault: &'static str,
) -> Result<Option<usize>, &'static str> {
    if memchr::memchr(b'\n', &bytes[at..]).is_some() { Err(fault) } else { Ok(None) }
}

#[cold]
fn fault(bytes: &[u8], at: usize, fault: &'static str) -> Result<Walk, &'static str> {
    refuse_line(bytes, at, fault).map(|_| Walk::Incomplete)
}

/// Offset of the first byte below 0x20 from `at` on, or the length.
///
/// Eight bytes at a time: subtracting 0x20 from every byte borrows into the high bit of those
/// that are smaller. A borrow can spoil only bytes above the first that is smaller, so the
/// lowest bit found is right.
#[inline(always)]
fn next_control(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = word(bytes, at) {
        let smaller = word.wrapping_sub(EVERY_BYTE * 0x20) & !word & HIGH_BITS;
        if smaller != 0 {
            return at + (smaller.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < bytes.len() && bytes[at] >= 0x20 {
        at += 1;
    }
    at
}

/// Offset of the first colon or byte up to 0x20 from `at` on, or the length.
#[inline(always)]
fn name_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = word(bytes, at) {
        let colons = word ^ (EVERY_BYTE * b':' as u64);
        let smaller = word.wrapping_sub(EVERY_BYTE * 0x21) & !word;
        let found = (smaller | (colons.wrapping_sub(EVERY_BYTE) & !colons)) & HIGH_BITS;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < bytes.len() && bytes[at] > b' ' && bytes[at] != b':' {
        at += 1;
    }
    at
}

/// Eight bytes from `at`, the first in the lowest place.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}
