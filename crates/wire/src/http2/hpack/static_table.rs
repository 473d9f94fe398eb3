//! The table every connection begins with (RFC 7541, appendix A).

/// Number of entries; the first has index 1.
pub const ENTRIES: usize = 61;

/// Names and values; index 1 is at position 0.
pub static STATIC_TABLE: [(&str, &str); ENTRIES] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// What the static table has of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// An entry with this name and value.
    Field(usize),
    /// An entry with this name.
    Name(usize),
    /// Nothing.
    Nothing,
}

/// Looks a field up. Slow: for blocks that are built before the run.
pub fn find(name: &[u8], value: &[u8]) -> Found {
    let mut found = Found::Nothing;
    for (position, (entry_name, entry_value)) in STATIC_TABLE.iter().enumerate() {
        if entry_name.as_bytes() == name {
            if entry_value.as_bytes() == value {
                return Found::Field(position + 1);
            }
            if found == Found::Nothing {
                found = Found::Name(position + 1);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_by_field_and_by_name() {
        // Indices as in appendix A.
        assert_eq!(find(b":method", b"GET"), Found::Field(2));
        assert_eq!(find(b":status", b"500"), Found::Field(14));
        assert_eq!(find(b":status", b"201"), Found::Name(8));
        assert_eq!(find(b"accept-encoding", b"gzip, deflate"), Found::Field(16));
        assert_eq!(find(b"content-length", b"14"), Found::Name(28));
        assert_eq!(find(b"user-agent", b"x"), Found::Name(58));
        assert_eq!(find(b"www-authenticate", b""), Found::Field(61));
        assert_eq!(find(b"x-own", b""), Found::Nothing);
    }
}
