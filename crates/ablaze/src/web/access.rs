//! Who may look and act: whoever has the token, from a page of this very address. A name that somebody points at this
//! machine (DNS rebinding) and pages of other sites are refused.

use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};

use crate::http_server::Request;

/// What a request must have.
#[derive(Debug)]
pub struct Access {
    token: String,
    bound: SocketAddr,
}

impl Access {
    /// To what listens here, with a new token of 128 random bits.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn new(bound: SocketAddr) -> std::io::Result<Self> {
        let bytes = ablaze_sys::entropy::random::<16>()?;
        Ok(Self { token: bytes.iter().map(|byte| format!("{byte:02x}")).collect(), bound })
    }

    /// The address of the page, with the token.
    pub fn url(&self) -> String {
        // Nobody can go to "all addresses": this machine's own is one of them.
        let host = match (self.bound.ip(), self.bound.port()) {
            (ip, port) if !ip.is_unspecified() => SocketAddr::new(ip, port),
            (IpAddr::V4(_), port) => (std::net::Ipv4Addr::LOCALHOST, port).into(),
            (IpAddr::V6(_), port) => (std::net::Ipv6Addr::LOCALHOST, port).into(),
        };
        format!("http://{host}/?token={}", self.token)
    }

    /// Whether other machines can come here.
    pub fn is_open(&self) -> bool {
        !self.bound.ip().is_loopback()
    }

    /// Why a request is refused, if it is.
    pub fn refusal(&self, request: &Request) -> Option<&'static str> {
        let host = request.field("host").unwrap_or_default();
        if !self.is_own(&host) {
            return Some("the Host of the request is not the address of this page\n");
        }
        // Browsers say where a request comes from, unless a person followed a link or typed the address.
        if request.field("origin").is_some_and(|origin| origin != format!("http://{host}")) {
            return Some("the request comes from another site\n");
        }
        let token = request.parameter("token").unwrap_or_default();
        let is_known = is_same(token.as_bytes(), self.token.as_bytes());
        (!is_known).then_some("the address of the page has a token, which is missing or wrong\n")
    }

    /// Whether this names the address that is listened on. For all addresses of this machine that is any number, which no
    /// name server can point elsewhere.
    fn is_own(&self, host: &str) -> bool {
        if let Ok(address) = host.parse::<SocketAddr>() {
            return address == self.bound || self.bound.ip().is_unspecified();
        }
        if self.bound.ip().is_unspecified() && host.parse::<IpAddr>().is_ok() {
            return true;
        }
        let is_local = self.bound.ip().is_loopback() || self.bound.ip().is_unspecified();
        is_local && host.eq_ignore_ascii_case(&format!("localhost:{}", self.bound.port()))
    }
}

/// Compares in a time that only the lengths tell.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(access: &Access, token: &str, fields: &str) -> Option<&'static str> {
        let head = format!("GET /?token={token} HTTP/1.1\r\n{fields}\r\n\r\n");
        access.refusal(&Request::read(head.as_bytes()).unwrap())
    }

    #[test]
    fn the_token_is_needed_and_is_a_new_one_each_time() {
        let access = Access::new("127.0.0.1:8089".parse().unwrap()).unwrap();
        let (own, host) = (access.token.clone(), "Host: 127.0.0.1:8089");
        assert_eq!((own.len(), refusal(&access, &own, host)), (32, None));
        for wrong in ["", "0", &own[1..], &format!("{own}0"), &"0".repeat(32)] {
            assert!(refusal(&access, wrong, host).is_some(), "{wrong}");
        }
        assert_ne!(Access::new(access.bound).unwrap().token, own);
    }

    #[test]
    fn only_the_own_address_and_localhost_are_hosts() {
        let refused = |bound: &str, fields: &str| {
            let access = Access::new(bound.parse().unwrap()).unwrap();
            refusal(&access, &access.token, fields).is_some()
        };
        let loopback = "127.0.0.1:8089";
        for own in ["127.0.0.1:8089", "localhost:8089", "LOCALHOST:8089"] {
            assert!(!refused(loopback, &format!("Host: {own}")), "{own}");
        }
        for foreign in
            ["evil.example:8089", "127.0.0.1", "127.0.0.1:80", "localhost", "10.0.0.1:8089", ""]
        {
            assert!(refused(loopback, &format!("Host: {foreign}")), "{foreign}");
        }
        assert!(refused(loopback, "Accept: */*"), "no Host");
        assert!(!refused("0.0.0.0:8089", "Host: 192.168.1.5:8089"));
        assert!(!refused("[::]:8089", "Host: [fe80::1]:8089"));
        assert!(refused("0.0.0.0:8089", "Host: evil.example:8089"));
        assert!(refused("192.168.1.5:8089", "Host: localhost:8089"));
        let from = |origin: &str| format!("Host: localhost:8089\r\nOrigin: {origin}");
        assert!(!refused(loopback, &from("http://localhost:8089")));
        for foreign in ["http://evil.example", "https://localhost:8089", "null", "http://localhost"]
        {
            assert!(refused(loopback, &from(foreign)), "{foreign}");
        }
    }

    #[test]
    fn the_address_of_the_page_is_one_that_can_be_gone_to() {
        let url = |bound: &str| Access::new(bound.parse().unwrap()).unwrap().url();
        assert!(url("0.0.0.0:80").starts_with("http://127.0.0.1:80/?token="));
        assert!(url("[::1]:80").starts_with("http://[::1]:80/?token="));
    }
}
