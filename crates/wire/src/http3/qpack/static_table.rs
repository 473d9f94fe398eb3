//! The table every connection begins with (RFC 9204, appendix A).

use std::sync::LazyLock;

use crate::http2::field::FieldMeaning;
use crate::http2::hpack::Meaning;
use crate::http2::hpack::static_table::Found;

/// Number of entries; the first has index 0.
pub const ENTRIES: usize = 99;

/// Names and values.
pub static STATIC_TABLE: [(&str, &str); ENTRIES] = [
    (":authority", ""),
    (":path", "/"),
    ("age", "0"),
    ("content-disposition", ""),
    ("content-length", "0"),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("referer", ""),
    ("set-cookie", ""),
    (":method", "CONNECT"),
    (":method", "DELETE"),
    (":method", "GET"),
    (":method", "HEAD"),
    (":method", "OPTIONS"),
    (":method", "POST"),
    (":method", "PUT"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "103"),
    (":status", "200"),
    (":status", "304"),
    (":status", "404"),
    (":status", "503"),
    ("accept", "*/*"),
    ("accept", "application/dns-message"),
    ("accept-encoding", "gzip, deflate, br"),
    ("accept-ranges", "bytes"),
    ("access-control-allow-headers", "cache-control"),
    ("access-control-allow-headers", "content-type"),
    ("access-control-allow-origin", "*"),
    ("cache-control", "max-age=0"),
    ("cache-control", "max-age=2592000"),
    ("cache-control", "max-age=604800"),
    ("cache-control", "no-cache"),
    ("cache-control", "no-store"),
    ("cache-control", "public, max-age=31536000"),
    ("content-encoding", "br"),
    ("content-encoding", "gzip"),
    ("content-type", "application/dns-message"),
    ("content-type", "application/javascript"),
    ("content-type", "application/json"),
    ("content-type", "application/x-www-form-urlencoded"),
    ("content-type", "image/gif"),
    ("content-type", "image/jpeg"),
    ("content-type", "image/png"),
    ("content-type", "text/css"),
    ("content-type", "text/html; charset=utf-8"),
    ("content-type", "text/plain"),
    ("content-type", "text/plain;charset=utf-8"),
    ("range", "bytes=0-"),
    ("strict-transport-security", "max-age=31536000"),
    ("strict-transport-security", "max-age=31536000; includesubdomains"),
    ("strict-transport-security", "max-age=31536000; includesubdomains; preload"),
    ("vary", "accept-encoding"),
    ("vary", "origin"),
    ("x-content-type-options", "nosniff"),
    ("x-xss-protection", "1; mode=block"),
    (":status", "100"),
    (":status", "204"),
    (":status", "206"),
    (":status", "302"),
    (":status", "400"),
    (":status", "403"),
    (":status", "421"),
    (":status", "425"),
    (":status", "500"),
    ("accept-language", ""),
    ("access-control-allow-credentials", "FALSE"),
    ("access-control-allow-credentials", "TRUE"),
    ("access-control-allow-headers", "*"),
    ("access-control-allow-methods", "get"),
    ("access-control-allow-methods", "get, post, options"),
    ("access-control-allow-methods", "options"),
    ("access-control-expose-headers", "content-length"),
    ("access-control-request-headers", "content-type"),
    ("access-control-request-method", "get"),
    ("access-control-request-method", "post"),
    ("alt-svc", "clear"),
    ("authorization", ""),
    ("content-security-policy", "script-src 'none'; object-src 'none'; base-uri 'none'"),
    ("early-data", "1"),
    ("expect-ct", ""),
    ("forwarded", ""),
    ("if-range", ""),
    ("origin", ""),
    ("purpose", "prefetch"),
    ("server", ""),
    ("timing-allow-origin", "*"),
    ("upgrade-insecure-requests", "1"),
    ("user-agent", ""),
    ("x-forwarded-for", ""),
    ("x-frame-options", "deny"),
    ("x-frame-options", "sameorigin"),
];

/// What is to be known of each entry.
pub(super) static MEANINGS: LazyLock<[FieldMeaning; ENTRIES]> = LazyLock::new(|| {
    STATIC_TABLE.map(|(name, value)| FieldMeaning::of(name.as_bytes(), value.as_bytes()))
});

/// Looks a field up. Slow: for field sections that are built before the run.
pub fn find(name: &[u8], value: &[u8]) -> Found {
    let is_name = |entry: &&(&str, &str)| entry.0.as_bytes() == name;
    let entries = || STATIC_TABLE.iter().enumerate();
    let whole = entries().find(|(_, entry)| is_name(entry) && entry.1.as_bytes() == value);
    match whole {
        Some((index, _)) => Found::Field(index),
        None => match entries().find(|(_, entry)| is_name(entry)) {
            Some((index, _)) => Found::Name(index),
            None => Found::Nothing,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_by_field_and_by_name() {
        // Indices as in appendix A.
        assert_eq!(find(b":authority", b""), Found::Field(0));
        assert_eq!(find(b":method", b"GET"), Found::Field(17));
        assert_eq!(find(b":method", b"PATCH"), Found::Name(15));
        assert_eq!(find(b":status", b"200"), Found::Field(25));
        assert_eq!(find(b":status", b"500"), Found::Field(71));
        assert_eq!(find(b":status", b"201"), Found::Name(24));
        assert_eq!(find(b"vary", b"origin"), Found::Field(60));
        assert_eq!(find(b"user-agent", b"x"), Found::Name(95));
        assert_eq!(find(b"x-frame-options", b"sameorigin"), Found::Field(98));
        assert_eq!(find(b"x-own", b""), Found::Nothing);
    }

    #[test]
    fn no_entry_is_wrong_in_itself() {
        for ((name, value), meaning) in STATIC_TABLE.iter().zip(MEANINGS.iter()) {
            assert!(!matches!(meaning, FieldMeaning::Wrong(_)), "{name}: {value}: {meaning:?}");
        }
        assert_eq!(MEANINGS[25], FieldMeaning::Status(200));
        assert_eq!(MEANINGS[4], FieldMeaning::ContentLength(0));
    }
}
