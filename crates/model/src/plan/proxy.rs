//! What a Plan says about a proxy between this host and the target.

use std::fmt;

use ablaze_wire::http1::credentials::basic;
use serde::{Deserialize, Serialize};

/// A proxy that every connection goes through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    /// Host name or address literal, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// How requests get through it.
    pub way: Way,
    /// The credentials sent to it.
    #[serde(skip)]
    pub credentials: Option<Credentials>,
}

/// How requests get through a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// It is asked for a tunnel to the target (CONNECT, RFC 9110, 9.3.6), once per connection.
    Tunnel,
    /// It is sent the requests, with the whole URL on their first line (RFC 9112, 3.2.2).
    Forward,
}

/// User and password for a proxy. Show nothing of themselves, and are not saved.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Value of the field Proxy-Authorization.
    pub field: String,
}

impl Credentials {
    /// Of `user:password` (RFC 7617).
    pub fn basic(user_and_password: &str) -> Self {
        Self { field: basic(user_and_password.as_bytes()) }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Credentials({} bytes)", self.field.len())
    }
}

impl Proxy {
    /// `host:port`, an IPv6 address in brackets.
    pub fn authority(&self) -> String {
        authority(&self.host, self.port)
    }
}

/// `host:port`, an IPv6 address in brackets: what CONNECT asks for (RFC 9110, 7.2).
pub fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
