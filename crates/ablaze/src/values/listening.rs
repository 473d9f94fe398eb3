//! Addresses to listen on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// `9464`, `:9464` or `0.0.0.0:9464`; without a host only this machine can come. `port` is the example of an error.
///
/// # Errors
/// When it is none of these.
pub fn listening(text: &str, port: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    if let Ok(host) = bare.parse::<IpAddr>() {
        let example = match host {
            IpAddr::V4(host) => format!("{host}:{port}"),
            IpAddr::V6(host) => format!("[{host}]:{port}"),
        };
        return Err(format!("this has no port: write for example {example}"));
    }
    let text = text.replacen("localhost:", "127.0.0.1:", 1);
    text.parse()
        .map_err(|_| format!("use a port such as {port}, or an address such as 0.0.0.0:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_one_of_ipv6_brackets() {
        for (text, read) in [
            ("9464", "127.0.0.1:9464"),
            (":0", "127.0.0.1:0"),
            ("localhost:1", "127.0.0.1:1"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("[::1]:8", "[::1]:8"),
        ] {
            assert_eq!(listening(text, "9464").unwrap().to_string(), read);
        }
        for (text, part) in [
            ("::1", "no port: write for example [::1]:9464"),
            ("[::1]", "no port: write for example [::1]:9464"),
            ("::", "no port: write for example [::]:9464"),
            ("10.0.0.1", "no port: write for example 10.0.0.1:9464"),
            ("x", "use a port such as 9464"),
            ("65536", "use a port such as 9464"),
            ("", "use a port such as 9464"),
        ] {
            let error = listening(text, "9464").unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
