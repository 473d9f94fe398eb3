//! Versions of HTTP and orders of rows, as every command takes them.

use ablaze_feed::Order;
use ablaze_model::spec::HttpVersion;

/// Which row of a feed a request takes.
///
/// # Errors
/// When it is none of these words.
pub fn feed_order(text: &str) -> Result<Order, String> {
    match text {
        "sequential" => Ok(Order::Sequential),
        "random" => Ok(Order::Random),
        "unique" => Ok(Order::Unique),
        _ => Err("expected sequential, random or unique".to_owned()),
    }
}

/// `1.0`, `1.1`, `2` or `3`; `1` is `1.1`, and `2.0` and `3.0` are `2` and `3`.
///
/// # Errors
/// When it is none of these.
pub fn http_version(text: &str) -> Result<HttpVersion, String> {
    match text {
        "1.0" => Ok(HttpVersion::Http10),
        "1.1" | "1" => Ok(HttpVersion::Http11),
        "2" | "2.0" => Ok(HttpVersion::Http2),
        "3" | "3.0" => Ok(HttpVersion::Http3),
        _ => Err("expected 1.0, 1.1, 2 or 3".to_owned()),
    }
}
