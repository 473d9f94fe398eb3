//! Addresses to listen on.

use std::net::{Ipv4Addr, SocketAddr};

/// `9464`, `:9464` or `0.0.0.0:9464`; without a host only this machine can come. `port` is the example of an error.
///
/// # Errors
/// When it is none of these.
pub fn listening(text: &str, port: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.trim_start_matches(':').parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let text = text.replacen("localhost:", "127.0.0.1:", 1);
    text.parse()
        .map_err(|_| format!("use a port such as {port}, or an address such as 0.0.0.0:{port}"))
}
