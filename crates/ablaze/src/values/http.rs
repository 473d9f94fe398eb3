//! Versions of HTTP, as every command takes them.

use ablaze_model::spec::HttpVersion;

/// `1.0`, `1.1` or `2`; `1` and `2.0` are the same.
///
/// # Errors
/// When it is none of these.
pub fn http_version(text: &str) -> Result<HttpVersion, String> {
    match text {
        "1.0" => Ok(HttpVersion::Http10),
        "1.1" | "1" => Ok(HttpVersion::Http11),
        "2" | "2.0" => Ok(HttpVersion::Http2),
        "3" => Err("HTTP/3 is not supported, use 1.0, 1.1 or 2".to_owned()),
        _ => Err("expected 1.0, 1.1 or 2".to_owned()),
    }
}
