//! Where to listen, as people write it.

use std::net::{SocketAddr, ToSocketAddrs};

use super::names;
use crate::CommandError;

/// Reads where to listen.
///
/// # Errors
/// When it is not an address, or a name that cannot be resolved.
pub fn address(text: &str) -> Result<SocketAddr, CommandError> {
    let plain = text.strip_prefix("http://").unwrap_or(text);
    let plain = plain.strip_suffix('/').unwrap_or(plain);
    let refuse = |why: &str| {
        Err(CommandError::usage(format!(
            "cannot listen on `{text}`: {why}; expected HOST:PORT, :PORT or [::1]:PORT"
        )))
    };
    if let Ok(address) = plain.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(ip) = plain.trim_start_matches('[').trim_end_matches(']').parse() {
        return Ok(SocketAddr::new(ip, 8080));
    }
    // As `serve:uring` is written where a server is a target.
    if names::model(plain).is_ok() {
        return Err(CommandError::usage(format!(
            "cannot listen on `{text}`, the name of a model: use --model {plain}"
        )));
    }
    let (host, port) = match plain.rsplit_once(':') {
        Some((host, port)) => (host, port),
        None if plain.bytes().all(|byte| byte.is_ascii_digit()) => ("", plain),
        None => (plain, "8080"),
    };
    let Ok(port) = port.parse::<u16>() else {
        return refuse("the port is not a number from 0 to 65535");
    };
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    match (host, port).to_socket_addrs() {
        Ok(mut addresses) => match addresses.next() {
            Some(address) => Ok(address),
            None => refuse("the host has no address"),
        },
        Err(_) => refuse("unknown host"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_an_address() {
        let known = [
            (":12345", "127.0.0.1:12345"),
            ("12345", "127.0.0.1:12345"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("127.0.0.1", "127.0.0.1:8080"),
            ("[::1]:9", "[::1]:9"),
            ("[::1]", "[::1]:8080"),
            ("::1", "[::1]:8080"),
            ("http://127.0.0.1:81/", "127.0.0.1:81"),
        ];
        for (text, expected) in known {
            assert_eq!(address(text).unwrap(), expected.parse().unwrap(), "{text}");
        }
        for text in [":70000", "127.0.0.1:x", "", ":", "no such host:80"] {
            assert_eq!(address(text).unwrap_err().status, 2, "{text}");
        }
        let error = address("uring").unwrap_err();
        assert!(error.to_string().ends_with("use --model uring"), "{error}");
    }
}
