//! How a value goes into a request.

/// How a value goes into a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// As it is: `{name}`.
    Raw,
    /// Percent-encoded, but for letters, digits and `-._~` (RFC 3986, 2.3): `{name:url}`.
    Url,
    /// As the inside of a JSON string, without the quotes around it (RFC 8259, 7): `{name:json}`.
    Json,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Raw, Self::Url, Self::Json];

    /// What stands behind the name of the column.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Raw => "",
            Self::Url => ":url",
            Self::Json => ":json",
        }
    }

    /// Appends a value.
    pub fn write(self, value: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Raw => out.extend_from_slice(value),
            Self::Url => value.iter().for_each(|byte| write_url(*byte, out)),
            Self::Json => write_json(value, out),
        }
    }
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

fn write_url(byte: u8, out: &mut Vec<u8>) {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        out.push(byte);
    } else {
        let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
        out.extend_from_slice(&[b'%', digits[0], digits[1]]);
    }
}

fn write_json(value: &[u8], out: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..=0x1f => {
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digits[0], digits[1]]);
            }
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(encoding: Encoding, value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encoding.write(value, &mut out);
        out
    }

    #[test]
    fn what_a_url_reserves_is_percent_encoded() {
        // RFC 3986, 2.2 and 2.3.
        assert_eq!(encoded(Encoding::Url, b"a b/c?d&e=f%"), b"a%20b%2Fc%3Fd%26e%3Df%25");
        assert_eq!(encoded(Encoding::Url, "é~".as_bytes()), b"%C3%A9~");
    }

    proptest! {
        #[test]
        fn a_json_string_reads_back(value: String) {
            let inside = encoded(Encoding::Json, value.as_bytes());
            let text = format!("\"{}\"", String::from_utf8(inside).unwrap());
            prop_assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
        }
    }
}
