//! URLs as people type them at a load tester, and as ab and gurl read them.
//!
//! [`Url::parse`] is the native reading: `:8080/x` is this machine, a bare host gets `http://`
//! and `/`, the fragment is dropped, and what a request line cannot carry is percent-encoded.
//! Braces stay, because `{seq}` and `{rand:N}` are placeholders in the path.

use std::fmt;
use std::net::Ipv6Addr;

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Plain or TLS.
    pub scheme: Scheme,
    /// Name or address, IPv6 without brackets.
    pub host: String,
    /// Port, the scheme's own if none was given.
    pub port: u16,
    /// The request target: path and query, beginning with `/`.
    pub path_and_query: String,
    /// `user:password` before the host, percent-decoded.
    pub userinfo: Option<String>,
}

/// Plain or TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
}

/// Why a text is no URL that can be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Nothing was given.
    #[error("the URL is empty: write for example http://127.0.0.1:8080/")]
    Empty,
    /// Another scheme than http and https.
    #[error("unsupported scheme {0}://: use http:// or https://")]
    Scheme(String),
    /// `http:/host` or `http:host`.
    #[error("`{}`: the scheme needs two slashes, as in http://127.0.0.1:8080/", .0.escape_debug())]
    SchemeSlashes(String),
    /// `http//host`.
    #[error("`{}`: the scheme needs a colon and two slashes, as in http://127.0.0.1:8080/", .0.escape_debug())]
    SchemeColon(String),
    /// A number alone, which would be an address (`8080` is 0.0.31.144).
    #[error(
        "`{port}` alone is the address {address}: for the port on this machine write :{port}",
        port = .0,
        address = std::net::Ipv4Addr::from(u32::from(*.0))
    )]
    BarePort(u16),
    /// There is no host.
    #[error("`{}` has no host: write http://HOST/, or :8080/ for this machine", .0.escape_debug())]
    HostMissing(String),
    /// The host has a byte that no name has.
    #[error("host `{}`: {what}", .host.escape_debug())]
    Host {
        /// The host as given.
        host: String,
        /// What is wrong, and how to fix it.
        what: &'static str,
    },
    /// The port is no number.
    #[error("port `{}` is not a number: a port is 1 to 65535", .0.escape_debug())]
    PortNotANumber(String),
    /// The port is out of range.
    #[error("port {0} is out of range: a port is 1 to 65535")]
    PortRange(String),
    /// A control character in the path.
    #[error("the path of `{}` contains a control character: percent-encode it", .0.escape_debug())]
    Control(String),
    /// The part before `@` is not readable text when percent-decoded.
    #[error("user and password before the @ are not UTF-8 when decoded")]
    Userinfo,
}

/// What ab says to a URL it cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid URL")]
pub struct InvalidLikeAb;

/// Whether the first word of a command line is a URL rather than the name of a command.
pub fn is_url_like(word: &str) -> bool {
    word == "localhost" || word.contains(['.', ':', '/'])
}

impl Scheme {
    /// `http` or `https`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port that need not be written.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Url {
    /// Reads a URL as people type it.
    ///
    /// # Errors
    /// When there is no host, the scheme is neither http nor https, the port is not 1 to 65535,
    /// or host or path have bytes they cannot have.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err(UrlError::Empty);
        }
        let (scheme, rest) = split_scheme(text)?;
        let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(authority_end);
        let (userinfo, host_and_port) = match authority.rsplit_once('@') {
            Some((userinfo, host_and_port)) => (Some(percent_decoded(userinfo)?), host_and_port),
            None => (None, authority),
        };
        let (host, port) = split_port(host_and_port)?;
        let host = match (host, scheme) {
            // Only without a scheme: `http://:8080/` is more likely a variable that was empty.
            ("", None) if port.is_some() && userinfo.is_none() => "127.0.0.1",
            ("", _) => return Err(UrlError::HostMissing(text.to_owned())),
            ("http" | "https", None) if port.is_some_and(|p| p.parse::<u16>().is_err()) => {
                return Err(UrlError::SchemeSlashes(text.to_owned()));
            }
            ("http" | "https", None) if port.is_none() && path.starts_with("//") => {
                return Err(UrlError::SchemeColon(text.to_owned()));
            }
            (host, None) if port.is_none() && host.bytes().all(|b| b.is_ascii_digit()) => {
                match host.parse() {
                    Ok(port) => return Err(UrlError::BarePort(port)),
                    Err(_) => host,
                }
            }
            (host, _) => checked_host(host)?,
        };
        let scheme = scheme.unwrap_or(Scheme::Http);
        let port = match port {
            None | Some("") => scheme.default_port(),
            Some(port) => port_number(port)?,
        };
        Ok(Self {
            scheme,
            host: host.to_owned(),
            port,
            path_and_query: path_and_query(text, path)?,
            userinfo,
        })
    }

    /// A URL as it was typed, without user and password: for reports, which are passed around.
    pub fn text_without_userinfo(text: &str) -> String {
        let rest = split_scheme(text).map_or(text, |(_, rest)| rest);
        let before = &text[..text.len() - rest.len()];
        let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(authority_end);
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        format!("{before}{host}{path}")
    }

    /// Reads a URL as ab does: `http://` or `https://` in lower case or nothing, a host, an
    /// optional port, and a `/` that must be there; everything from it on is sent untouched,
    /// fragment and spaces included. What is not a port of digits belongs to the name.
    ///
    /// # Errors
    /// Where ab responses `invalid URL`: no `/`, no host, a port of digits outside 1 to 65535,
    /// brackets around something else than an IPv6 address without a scope.
    pub fn parse_like_ab(text: &str) -> Result<Self, InvalidLikeAb> {
        let (scheme, rest) = if let Some(rest) = text.strip_prefix("http://") {
            (Scheme::Http, rest)
        } else if let Some(rest) = text.strip_prefix("https://") {
            (Scheme::Https, rest)
        } else {
            (Scheme::Http, text)
        };
        let (authority, path) = rest.split_at(rest.find('/').ok_or(InvalidLikeAb)?);
        let name_bytes = authority.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (name, digits) = authority.split_at(name_bytes);
        let (host, port) = match name.strip_suffix(':') {
            Some(host) if !digits.is_empty() => {
                (host, port_number(digits).map_err(|_| InvalidLikeAb)?)
            }
            // Digits alone would be a port without a host.
            _ if name.is_empty() => return Err(InvalidLikeAb),
            _ => (authority, scheme.default_port()),
        };
        let host = match host.strip_prefix('[') {
            Some(rest) => {
                let address = rest.strip_suffix(']').ok_or(InvalidLikeAb)?;
                address.parse::<Ipv6Addr>().map_err(|_| InvalidLikeAb)?;
                address
            }
            None if host.is_empty() => return Err(InvalidLikeAb),
            None => host,
        };
        Ok(Self {
            scheme,
            host: host.to_owned(),
            port,
            path_and_query: path.to_owned(),
            userinfo: None,
        })
    }

    /// Reads a URL as gurl does: as [`Url::parse`], and `/x` is port 80 of this machine.
    ///
    /// # Errors
    /// As [`Url::parse`].
    pub fn parse_like_gurl(text: &str) -> Result<Self, UrlError> {
        if text.starts_with('/') {
            Self::parse(&format!("http://127.0.0.1:80{text}"))
        } else {
            Self::parse(text)
        }
    }

    /// The value of the Host field: brackets around IPv6, and the port unless it is the
    /// scheme's own (RFC 9110, 7.2).
    pub fn host_header(&self) -> String {
        let host = &self.host;
        let bracketed = if host.contains(':') && host.parse::<Ipv6Addr>().is_ok() {
            format!("[{host}]")
        } else {
            host.clone()
        };
        if self.port == self.scheme.default_port() {
            bracketed
        } else {
            format!("{bracketed}:{}", self.port)
        }
    }
}

/// The whole URL, without user and password: reports are passed around.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme.name(), self.host_header(), self.path_and_query)
    }
}

/// Splits `scheme://` off, if it is there.
fn split_scheme(text: &str) -> Result<(Option<Scheme>, &str), UrlError> {
    let Some((before, rest)) = text.split_once("://") else { return Ok((None, text)) };
    // A `://` in a path or query belongs to that.
    if before.contains(['/', '?', '#', '@']) {
        return Ok((None, text));
    }
    match before.to_ascii_lowercase().as_str() {
        "http" => Ok((Some(Scheme::Http), rest)),
        "https" => Ok((Some(Scheme::Https), rest)),
        _ => Err(UrlError::Scheme(before.to_owned())),
    }
}

/// Splits the text behind the host's colon off, if there is one. IPv6 loses its brackets.
fn split_port(text: &str) -> Result<(&str, Option<&str>), UrlError> {
    let wrong = |what| Err(UrlError::Host { host: text.to_owned(), what });
    if let Some(rest) = text.strip_prefix('[') {
        let Some((address, behind)) = rest.split_once(']') else {
            return wrong("the closing bracket is missing");
        };
        if address.contains('%') {
            return wrong("IPv6 zones are not supported: leave out % and the zone");
        }
        if address.parse::<Ipv6Addr>().is_err() {
            return wrong("brackets are for IPv6 addresses, as in [::1]:8080");
        }
        return match behind.strip_prefix(':') {
            Some(port) => Ok((address, Some(port))),
            None if behind.is_empty() => Ok((address, None)),
            None => wrong("only a colon and a port can follow the bracket"),
        };
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => {
            wrong("more than one colon; an IPv6 address is written in brackets, as in [::1]:8080")
        }
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

fn checked_host(host: &str) -> Result<&str, UrlError> {
    // IPv6 was read already, and has no other bytes than these.
    let known = |b: u8| b.is_ascii_alphanumeric() || b"-._~:!$&'()*+,;=".contains(&b);
    let what = match host.bytes().find(|&b| !known(b)) {
        None => return Ok(host),
        Some(0x80..) => "non-ASCII names must be written in xn-- form",
        Some(_) => "a name may contain letters, digits, hyphens and dots only",
    };
    Err(UrlError::Host { host: host.to_owned(), what })
}

fn port_number(port: &str) -> Result<u16, UrlError> {
    if !port.bytes().all(|b| b.is_ascii_digit()) {
        return Err(UrlError::PortNotANumber(port.to_owned()));
    }
    match port.parse::<u16>() {
        Ok(0) | Err(_) => Err(UrlError::PortRange(port.to_owned())),
        Ok(number) => Ok(number),
    }
}

/// Path and query as a request line can carry them: no fragment, no space, ASCII only.
fn path_and_query(url: &str, path: &str) -> Result<String, UrlError> {
    let sent = path.split('#').next().unwrap_or("");
    let mut target = String::with_capacity(sent.len() + 1);
    if !sent.starts_with('/') {
        target.push('/');
    }
    for byte in sent.bytes() {
        match byte {
            0..0x20 | 0x7f => return Err(UrlError::Control(url.to_owned())),
            b' ' | 0x80.. => target.push_str(&format!("%{byte:02X}")),
            _ => target.push(char::from(byte)),
        }
    }
    Ok(target)
}

/// Decodes `%41`; a percent sign that is not followed by two digits stands for itself.
fn percent_decoded(text: &str) -> Result<String, UrlError> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.first_chunk::<2>().filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok());
        match byte {
            Some(byte) if *first == b'%' => {
                decoded.push(byte);
                rest = &behind[2..];
            }
            _ => {
                decoded.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(decoded).map_err(|_| UrlError::Userinfo)
}
