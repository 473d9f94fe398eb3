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
    #[error("a field name has an invalid byte (RFC 9113, 8.2.1)")]
    Name,
    /// NUL, CR or LF.
    #[error("a field value has a NUL or a line break (RFC 9113, 8.2.1)")]
    Value,
    /// White space around it.
    #[error("a field value begins or ends with white space (RFC 9113, 8.2.1)")]
    ValueSpace,
    /// `connection` and its like.
    #[error("a connection-specific field of HTTP/1 (RFC 9113, 8.2.2)")]
    ConnectionSpecific,
    /// A pseudo-header field nobody knows.
    #[error("an unknown pseudo-header field (RFC 9113, 8.3)")]
    UnknownPseudo,
    /// One of the other direction, or in trailers.
    #[error("a pseudo-header field that is not allowed there (RFC 9113, 8.3)")]
    MisplacedPseudo,
    /// One twice.
    #[error("a duplicate pseudo-header field (RFC 9113, 8.3)")]
    RepeatedPseudo,
    /// One behind a regular field.
    #[error("a pseudo-header field follows a regular field (RFC 9113, 8.3)")]
    LatePseudo,
    /// `:status` is not a number of three digits.
    #[error("the status is not a number of three digits (RFC 9113, 8.3.2)")]
    Status,
    /// `content-length` is no number, or two different ones.
    #[error("content-length is not a number, or repeated with another value (RFC 9110, 8.6)")]
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

    #[inline]
    fn of_named(index: usize, name: &[u8], value: &[u8]) -> Self {
        match index {
            // Neither pseudo-header fields, nor content-length, nor transfer-encoding.
            15..=27 | 29..=56 | 58.. => value_fault(value).map_or(Self::Plain, Self::Wrong),
            _ => Self::of(name, value),
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
    let (eights, rest) = value.as_chunks::<8>();
    let wrong = eights.iter().fold(0, |wrong, &eight| wrong | forbidden(u64::from_le_bytes(eight)));
    let wrong = wrong != 0 || rest.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'));
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if wrong {
        Some(FieldFault::Value)
    } else if is_space(value.first()) || is_space(value.last()) {
        Some(FieldFault::ValueSpace)
    } else {
        None
    }
}

/// Not 0 if one of eight bytes is NUL, CR or LF: a byte less one borrows from its highest bit only
/// if it was 0 (or a lower one was, which is enough).
#[inline(always)]
fn forbidden(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes & HIGH_BITS;
    zero(eight) | zero(eight ^ (ONES * u64::from(b'\r'))) | zero(eight ^ (ONES * u64::from(b'\n')))
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
    fn literals_with_names_of_the_static_table_mean_the_same() {
        for (position, (name, _)) in STATIC_TABLE.iter().enumerate() {
            for value in ["", "7", "200", "GET", "/", "x y", " x", "x\n", "trailers"] {
                let named = FieldMeaning::of_named(position + 1, name.as_bytes(), value.as_bytes());
                assert_eq!(named, of(name, value), "{name}: {value:?}");
            }
        }
    }

    #[test]
    fn forbidden_bytes_are_found_wherever_they_are() {
        for len in 1..40 {
            for at in 0..len {
                for byte in 0..=255u8 {
                    let mut value = vec![b'x'; len];
                    value[at] = byte;
                    let expected = matches!(byte, 0 | b'\r' | b'\n').then_some(FieldFault::Value);
                    let at_edge = at == 0 || at + 1 == len;
                    if !(at_edge && matches!(byte, b' ' | b'\t')) {
                        assert_eq!(value_fault(&value), expected, "{byte} at {at} of {len}");
                    }
                }
            }
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
