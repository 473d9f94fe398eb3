//! Where a journey goes: schemes, hosts and ports, for [`request`](crate::request) and for cookies.

use std::fmt;

use ablaze_wire::url::{Scheme, Url};

use crate::jar::Origin;

/// Where steps of a journey go, and what each request says of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Host, in lower case, without brackets.
    pub host: String,
    /// Whether requests go over TLS.
    pub is_tls: bool,
    /// Value of the field User-Agent.
    pub user_agent: String,
    /// HTTP minor version: 0 or 1.
    pub minor_version: u8,
    /// Whether HTTP/2 or HTTP/3 is spoken; the minor version says nothing then.
    pub has_streams: bool,
    /// Whether the connection is to be kept.
    pub keep_alive: bool,
    /// The proxy that requests are sent to, if one passes them on.
    pub forwarded: Option<Forwarded>,
    /// Value of the field Host.
    pub(crate) authority: String,
    /// With the port, also if it is the scheme's own.
    pub(crate) with_port: String,
}

/// What requests to a proxy that passes them on have beside the others: the whole URL on their first line
/// (RFC 9112, 3.2.2), and credentials. Shows none of these.
#[derive(Clone, PartialEq, Eq)]
pub struct Forwarded {
    /// Value of the field Proxy-Authorization.
    pub authorization: Option<String>,
}

impl fmt::Debug for Forwarded {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.authorization.as_ref().map_or(0, String::len);
        write!(to, "Forwarded(authorization: {bytes} bytes)")
    }
}

impl Site {
    /// The site of a URL, over HTTP/1.1 with connections that are kept.
    pub fn of(url: &Url, user_agent: impl Into<String>) -> Self {
        let authority = url.host_header();
        let port = format!(":{}", url.port);
        let with_port = match authority.ends_with(&port) {
            true => authority.clone(),
            false => format!("{authority}{port}"),
        };
        Self {
            host: url.host.to_ascii_lowercase(),
            is_tls: url.scheme == Scheme::Https,
            user_agent: user_agent.into(),
            minor_version: 1,
            has_streams: false,
            keep_alive: true,
            forwarded: None,
            authority,
            with_port,
        }
    }

    /// As messages show it: `http://example.com:8080`.
    pub fn url(&self) -> String {
        format!("{}{}", self.scheme(), self.authority)
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.is_tls { "https://" } else { "http://" }
    }

    /// Which of several sites a URL goes to, and what stands behind its authority. One that is a path alone goes to the
    /// first.
    pub fn find<'u>(sites: &[Self], url: &'u [u8]) -> Option<(usize, &'u [u8])> {
        let mut targets = sites.iter().map(|site| site.target(url)).enumerate();
        targets.find_map(|(index, target)| Some((index, target?)))
    }

    /// What is wrong with a URL of none of them. Shows where it goes, without a password.
    pub(crate) fn unknown(url: &[u8]) -> String {
        let url = String::from_utf8_lossy(url);
        let (scheme, rest) = url.split_once("://").unwrap_or(("", &url));
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let separator = if scheme.is_empty() { "" } else { "://" };
        let origin = format!("{scheme}{separator}{host}");
        let origin = ablaze_wire::printable::printable(&origin);
        if host.len() < authority.len() {
            return format!(
                "goes to {origin} with a user and a password, which a URL cannot have here (fix: [BasicAuth])"
            );
        }
        format!(
            "goes to {origin}, and connections are opened only to hosts that are known before the run (fix: a step that goes \
             there, if only with skip: true)"
        )
    }

    /// What stands behind the authority of a URL of this site, without the fragment; `None` for one of another site. A
    /// URL that is a path alone belongs to every site.
    pub fn target<'u>(&self, url: &'u [u8]) -> Option<&'u [u8]> {
        let url = memchr::memchr(b'#', url).map_or(url, |end| &url[..end]);
        if url.first() == Some(&b'/') {
            return Some(url);
        }
        let scheme = self.scheme().as_bytes();
        let (own, rest) = url.split_at_checked(scheme.len())?;
        let end = memchr::memchr2(b'/', b'?', rest).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let is_own = authority.eq_ignore_ascii_case(self.authority.as_bytes())
            || authority.eq_ignore_ascii_case(self.with_port.as_bytes());
        (own.eq_ignore_ascii_case(scheme) && is_own).then_some(target)
    }

    /// Where the request of a URL goes, as far as cookies ask.
    pub fn origin<'a>(&'a self, url: &'a [u8]) -> Origin<'a> {
        let target = self.target(url).unwrap_or_default();
        let path = memchr::memchr(b'?', target).map_or(target, |end| &target[..end]);
        let path = std::str::from_utf8(path).unwrap_or("/");
        Origin { host: &self.host, path, is_tls: self.is_tls }
    }
}
