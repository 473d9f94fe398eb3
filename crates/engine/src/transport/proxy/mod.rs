//! Tunnels through a proxy, without I/O of their own: each connection asks for one (CONNECT, RFC
//! 9110, 9.3.6), and what is above hears that it stands when the proxy has said so. From then on bytes
//! pass untouched.
//!
//! To whoever is above, plain requests or TLS, the proxy's response is a part of connecting: a tunnel
//! that is not made is a connection that could not be. `verbs` are what is done from above, `events`
//! what comes from below, `response` reads what the proxy says.

mod events;
mod response;
mod verbs;

use std::io;

use ablaze_net::{Driver, Io, OutBuffer, Outgoing, Receive, Turn, Wait};

use self::events::Layer;
use self::response::Response;
pub use self::verbs::TunnelIo;
use super::{Above, Facts, Line};
use ablaze_model::plan::Plan;
use ablaze_model::plan::proxy::{Credentials, Proxy, Way, authority};
use ablaze_model::record::ProxyFacts;

/// The tunnels of one worker's connections.
pub struct Tunnels {
    /// What the proxy is sent first on each connection, and the buffer that it lies in.
    request: Vec<u8>,
    buffer: Option<OutBuffer>,
    /// Longest head of the proxy's response.
    max_head_bytes: usize,
    has_credentials: bool,
    tunnels: Box<[Tunnel]>,
    facts: Box<ProxyFacts>,
}

/// One connection's tunnel.
#[derive(Default)]
struct Tunnel {
    stage: Stage,
    response: Response,
    /// What leaves first, once it stands.
    first: Option<Outgoing>,
    /// How it is received then.
    wanted: Option<Receive>,
}

/// Where a tunnel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    /// No connection.
    #[default]
    Free,
    /// The proxy was asked and has not answered.
    Asked,
    /// The tunnel is established.
    Through,
    /// It was closed here: nothing is delivered any more.
    Ended,
}

impl Tunnels {
    /// Whether the Plan asks for tunnels.
    pub fn are_asked_for(plan: &Plan) -> bool {
        asked_for(plan).is_some()
    }

    /// For this many slots; `None` when the Plan asks for no tunnels.
    pub fn of(plan: &Plan, slots: u32) -> Option<Self> {
        let proxy = asked_for(plan)?;
        Some(Self {
            request: request(&plan.target.host, plan.target.port, proxy.credentials.as_ref()),
            buffer: None,
            max_head_bytes: plan.limits.max_head_bytes,
            has_credentials: proxy.credentials.is_some(),
            tunnels: (0..slots).map(|_| Tunnel::default()).collect(),
            facts: Box::default(),
        })
    }
}

/// The proxy whose tunnels connections go through.
fn asked_for(plan: &Plan) -> Option<&Proxy> {
    plan.target.proxy.as_ref().filter(|proxy| proxy.way == Way::Tunnel)
}

/// What a proxy is asked.
fn request(host: &str, port: u16, credentials: Option<&Credentials>) -> Vec<u8> {
    let to = authority(host, port);
    let mut text = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
    text.push_str(concat!("User-Agent: ablaze/", env!("CARGO_PKG_VERSION"), "\r\n"));
    if let Some(Credentials { field }) = credentials {
        text.push_str(&format!("Proxy-Authorization: {field}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// A driver whose connections go through tunnels.
pub struct Tunnelled<D> {
    driver: D,
    tunnels: Tunnels,
}

impl<D: Driver> Tunnelled<D> {
    /// This driver's connections through these tunnels.
    pub fn new(driver: D, tunnels: Tunnels) -> Self {
        Self { driver, tunnels }
    }

    /// As [`Driver::io`].
    pub(super) fn io(&mut self) -> TunnelIo<'_, D::Io> {
        TunnelIo { io: self.driver.io(), tunnels: &mut self.tunnels }
    }

    /// As [`Driver::turn`].
    pub(super) fn turn(&mut self, above: &mut impl Above, wait: Wait) -> io::Result<Turn> {
        self.driver.turn(&mut Layer { above, tunnels: &mut self.tunnels }, wait)
    }

    /// As [`Line::facts`].
    pub(super) fn facts(self) -> Facts {
        Facts { tls: None, proxy: Some(self.tunnels.facts) }
    }
}

impl<D: Driver, A: Above> Line<A> for Tunnelled<D> {
    const SENDS_AT_ONCE: bool = <D::Io as Io>::SENDS_AT_ONCE;

    fn io(&mut self) -> impl Io {
        Tunnelled::io(self)
    }

    fn turn(&mut self, above: &mut A, wait: Wait) -> io::Result<Turn> {
        Tunnelled::turn(self, above, wait)
    }

    fn facts(self) -> Facts {
        Tunnelled::facts(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_asked_as_the_standard_has_it() {
        // RFC 9110, 9.3.6: the authority with its port, always.
        let agent = concat!("User-Agent: ablaze/", env!("CARGO_PKG_VERSION"), "\r\n");
        let text = |host, port, credentials: Option<&Credentials>| {
            String::from_utf8(request(host, port, credentials)).unwrap()
        };
        assert_eq!(
            text("server.example.com", 80, None),
            format!(
                "CONNECT server.example.com:80 HTTP/1.1\r\nHost: server.example.com:80\r\n\
                 {agent}\r\n"
            )
        );
        let credentials = Credentials::basic("Aladdin:open sesame");
        assert_eq!(
            text("::1", 443, Some(&credentials)),
            format!(
                "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n{agent}\
                 Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"
            )
        );
        assert!(!format!("{credentials:?}").contains("QWxh"));
    }
}
