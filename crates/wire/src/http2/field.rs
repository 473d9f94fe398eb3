//! What a header field means to HTTP/2, and which fields must not be there (RFC 9113, 8.2, 8.3).

use super::hpack::Meaning;

/// What is to be known of a field beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldMeaning {
    /// `:status`, 100 to 999.
    Status(u16),
    /// `:method`, `:scheme`, `:authority` or `:path`.
    Request(RequestPart),
    /// `content-length`, all its values being this one.
    ContentLength(u64),
    /// Nothing special.
    Plain,
    /// It makes the message malformed.
    Wrong(FieldFault),
}

/// Pseudo-header fields of a request (RFC 9113, 8.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    /// `:method`
    Method,
    /// `:scheme`
    Scheme,
    /// `:authority`
    Authority,
    /// `:path`
    Path,
}

/// Why a field makes its message malformed (RFC 9113, 8.2 and 8.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum FieldFault {
    /// Upper case, white space, a control or a byte outside ASCII, or nothing at all.
    #[error("a field name has a byte that must not be there (RFC 9113, 8.2.1)")]
    Name,
    /// NUL, CR or LF.
    #[error("a field value has a NUL or a line break (RFC 9113, 8.2.1)")]
    Value,
    /// White space around it.
    #[error("a field value begins or ends with white space (RFC 9113, 8.2.1)")]
    ValueSpace,
    /// `connection` and its like.
    #[error("a field of HTTP/1 connections is there (RFC 9113, 8.2.2)")]
    ConnectionSpecific,
    /// A pseudo-header field nobody knows.
    #[error("an unknown pseudo-header field is there (RFC 9113, 8.3)")]
    UnknownPseudo,
    /// One of the other direction, or in trailers.
    #[error("a pseudo-header field is where it must not be (RFC 9113, 8.3)")]
    MisplacedPseudo,
    /// One twice.
    #[error("a pseudo-header field is there twice (RFC 9113, 8.3)")]
    RepeatedPseudo,
    /// One behind a regular field.
    #[error("a pseudo-header field follows a regular field (RFC 9113, 8.3)")]
    LatePseudo,
    /// `:status` is not a number of three digits.
    #[error("the status is not a number of three digits (RFC 9113, 8.3.2)")]
    Status,
    /// `content-length` is no number, or two different ones.
    #[error("content-length is no number, or more than one (RFC 9110, 8.6)")]
    ContentLength,
    /// `:path` is empty, or neither begins with `/` nor is `*`.
    #[error("the path is empty or does not begin with / (RFC 9113, 8.3.1)")]
    Path,
}

impl Meaning for FieldMeaning {
    #[inline]
    fn of(name: &[u8], value: &[u8]) -> Self {
        if let Some(fault) = value_fault(value) {
            return Self::Wrong(fault);
        }
        match name {
            [b':', ..] => pseudo(name, value),
            b"content-length" => match content_length(value) {
                Some(length) => Self::ContentLength(length),
                None => Self::Wrong(FieldFault::ContentLength),
            },
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding"
            | b"upgrade" => Self::Wrong(FieldFault::ConnectionSpecific),
            b"te" if value != b"trailers" => Self::Wrong(FieldFault::ConnectionSpecific),
            _ if name_is_right(name) => Self::Plain,
            _ => Self::Wrong(FieldFault::Name),
        }
    }

    #[inline(always)]
    fn of_static(index: usize) -> Self {
        const STATUSES: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
        match index {
            1 => Self::Request(RequestPart::Authority),
            2 | 3 => Self::Request(RequestPart::Method),
            4 | 5 => Self::Request(RequestPart::Path),
            6 | 7 => Self::Request(RequestPart::Scheme),
            8..=14 => Self::Status(STATUSES[index - 8]),
            28 => Self::Wrong(FieldFault::ContentLength),
            57 => Self::Wrong(FieldFault::ConnectionSpecific),
            _ => Self::Plain,
        }
    }
}

#[inline]
fn pseudo(name: &[u8], value: &[u8]) -> FieldMeaning {
    match name {
        b":status" => match value {
            [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
                let digit = |byte: &u8| u16::from(byte - b'0');
                FieldMeaning::Status(digit(a) * 100 + digit(b) * 10 + digit(c))
            }
            _ => FieldMeaning::Wrong(FieldFault::Status),
        },
        b":method" => FieldMeaning::Request(RequestPart::Method),
        b":scheme" => FieldMeaning::Request(RequestPart::Scheme),
        b":authority" => FieldMeaning::Request(RequestPart::Authority),
        b":path" if value.first() == Some(&b'/') || value == b"*" => {
            FieldMeaning::Request(RequestPart::Path)
        }
        b":path" => FieldMeaning::Wrong(FieldFault::Path),
        _ => FieldMeaning::Wrong(FieldFault::UnknownPseudo),
    }
}

/// RFC 9113, 8.2.1; the first byte is no colon.
#[inline]
fn name_is_right(name: &[u8]) -> bool {
    !name.is_empty()
        && name.iter().all(|&byte| !matches!(byte, 0..=0x20 | b'A'..=b'Z' | b':' | 0x7f..))
}

#[inline]
fn value_fault(value: &[u8]) -> Option<FieldFault> {
    // No early exit: so the compiler compares many bytes at once.
    let wrong = value.iter().fold(false, |wrong, &byte| wrong | matches!(byte, 0 | b'\r' | b'\n'));
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if wrong {
        Some(FieldFault::Value)
    } else if is_space(value.first()) || is_space(value.last()) {
        Some(FieldFault::ValueSpace)
    } else {
        None
    }
}

/// A list of equal numbers counts as one (RFC 9110, 8.6).
fn content_length(value: &[u8]) -> Option<u64> {
    let mut all = value.split(|&byte| byte == b',').map(|item| number(item.trim_ascii()));
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::super::hpack::static_table::STATIC_TABLE;
    use super::*;

    fn of(name: &str, value: &str) -> FieldMeaning {
        FieldMeaning::of(name.as_bytes(), value.as_bytes())
    }

    #[test]
    fn entries_of_the_static_table_mean_what_their_bytes_mean() {
        for (position, (name, value)) in STATIC_TABLE.iter().enumerate() {
            assert_eq!(FieldMeaning::of_static(position + 1), of(name, value), "{name}: {value}");
        }
    }

    #[test]
    fn statuses_and_lengths() {
        assert_eq!(of(":status", "200"), FieldMeaning::Status(200));
        assert_eq!(of(":status", "999"), FieldMeaning::Status(999));
        for wrong in ["", "20", "2000", "099", "2a0", "-20"] {
            assert_eq!(of(":status", wrong), FieldMeaning::Wrong(FieldFault::Status), "{wrong}");
        }
        assert_eq!(of("content-length", "0"), FieldMeaning::ContentLength(0));
        assert_eq!(of("content-length", "5, 5"), FieldMeaning::ContentLength(5));
        let most = u64::MAX.to_string();
        assert_eq!(of("content-length", &most), FieldMeaning::ContentLength(u64::MAX));
        for wrong in ["", "-1", "+1", "5,6", "5,", "0x5", "18446744073709551616"] {
            let meaning = of("content-length", wrong);
            assert_eq!(meaning, FieldMeaning::Wrong(FieldFault::ContentLength), "{wrong}");
        }
    }

    #[test]
    fn fields_that_must_not_be_there() {
        let table = [
            ("Date", "x", FieldFault::Name),
            ("", "x", FieldFault::Name),
            ("a b", "x", FieldFault::Name),
            ("a:b", "x", FieldFault::Name),
            ("a\u{e9}", "x", FieldFault::Name),
            ("a\u{7f}", "x", FieldFault::Name),
            ("a", "x\ny", FieldFault::Value),
            ("a", "x\ry", FieldFault::Value),
            ("a", "\0", FieldFault::Value),
            ("a", " x", FieldFault::ValueSpace),
            ("a", "x\t", FieldFault::ValueSpace),
            ("connection", "close", FieldFault::ConnectionSpecific),
            ("keep-alive", "1", FieldFault::ConnectionSpecific),
            ("proxy-connection", "1", FieldFault::ConnectionSpecific),
            ("transfer-encoding", "chunked", FieldFault::ConnectionSpecific),
            ("upgrade", "h2c", FieldFault::ConnectionSpecific),
            ("te", "gzip", FieldFault::ConnectionSpecific),
            (":proto", "x", FieldFault::UnknownPseudo),
            (":path", "", FieldFault::Path),
            (":path", "x", FieldFault::Path),
        ];
        for (name, value, fault) in table {
            assert_eq!(of(name, value), FieldMeaning::Wrong(fault), "{name}: {value}");
        }
        assert_eq!(of("te", "trailers"), FieldMeaning::Plain);
        assert_eq!(of("x-a!#$%&'*+-.^_`|~9", "\u{e9} \"x\""), FieldMeaning::Plain);
        assert_eq!(of(":path", "*"), FieldMeaning::Request(RequestPart::Path));
    }
}
