//! Percent-encoding (RFC 3986, 2.1).

/// Hexadecimal digits.
pub(crate) const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Writes everything but unreserved characters as `%41`, as curl does.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    encode_but(bytes, |_| false, out);
}

/// The same, but for what `is_kept` keeps besides.
pub(crate) fn encode_but(bytes: &[u8], is_kept: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    for byte in bytes {
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        if is_unreserved || is_kept(*byte) {
            out.push(*byte);
        } else {
            out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

/// Writes as `%41` what a request line cannot hold, as browsers do it (WHATWG URL, path percent-encode set).
pub(crate) fn encode_unsendable(target: &[u8], out: &mut Vec<u8>) {
    for byte in target {
        match byte {
            0..=b' ' | 0x7f.. | b'"' | b'<' | b'>' | b'`' | b'{' | b'}' => {
                out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            }
            _ => out.push(*byte),
        }
    }
}

/// Replaces `%41` by what it stands for; other `%` stay.
pub(crate) fn decode(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}
