//! A user's cookies: RFC 6265, 5, as curl keeps it. Cookies beyond a limit are refused and counted.
//!
//! Two rules are curl's and not the RFC's: `Secure` cookies are taken and sent only over https, or by this machine
//! (`localhost`, 127.0.0.1, ::1); and the names `__Secure-` and `__Host-` demand what they promise. There is no list of
//! public suffixes: a cookie for a domain without a dot is kept for its own host only.

mod netscape;

use std::net::IpAddr;

use crate::cookie::SetCookie;
use crate::date;

/// Most bytes of a cookie's name and value.
const COOKIE_BYTES_MAX: usize = 4096;
/// Most cookies of a user.
const COOKIES_MAX: usize = 300;

/// Where a request goes, as far as cookies ask.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// Its host, in lower case; an IPv6 address without brackets.
    pub host: &'a str,
    /// Its path, without the query.
    pub path: &'a str,
    /// Whether it goes over TLS.
    pub is_tls: bool,
}

impl Origin<'_> {
    fn is_secure(&self) -> bool {
        self.is_tls || matches!(self.host, "localhost" | "127.0.0.1" | "::1")
    }

    /// RFC 6265, 5.1.4.
    fn default_path(&self) -> &str {
        match self.path.rfind('/') {
            Some(last) if last > 0 && self.path.starts_with('/') => &self.path[..last],
            _ => "/",
        }
    }
}

#[derive(Debug, Clone)]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    /// Seconds since 1970; `None` for ever.
    expires: Option<i64>,
    is_host_only: bool,
    is_secure: bool,
    is_http_only: bool,
}

impl Cookie {
    fn is_for(&self, origin: &Origin<'_>, now: i64) -> bool {
        let is_host = match self.is_host_only {
            true => self.domain == origin.host,
            false => domain_matches(origin.host, &self.domain),
        };
        is_host
            && self.expires.is_none_or(|expires| expires > now)
            && (!self.is_secure || origin.is_secure())
            && path_matches(origin.path, &self.path)
    }
}

/// The cookies of one user.
#[derive(Debug, Clone, Default)]
pub struct Jar {
    /// Longer paths first, older ones first among equals: the order in which they are sent.
    cookies: Vec<Cookie>,
    refused: u64,
}

impl Jar {
    /// Without cookies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a `Set-Cookie` field of a response from `origin`; `now` is in seconds since 1970. `false` if it is no
    /// cookie, or the origin may not set it, or it is too large.
    pub fn store(&mut self, field: &[u8], origin: &Origin<'_>, now: i64) -> bool {
        let stored = cookie(field, origin, now).is_some_and(|cookie| self.insert(cookie, now));
        self.refused += u64::from(!stored);
        stored
    }

    fn insert(&mut self, cookie: Cookie, now: i64) -> bool {
        let is_same = |own: &Cookie| {
            own.name == cookie.name && own.domain == cookie.domain && own.path == cookie.path
        };
        let known = self.cookies.iter().position(is_same);
        let is_gone = cookie.expires.is_some_and(|expires| expires <= now);
        match (known, is_gone) {
            (Some(at), true) => drop(self.cookies.remove(at)),
            (None, true) => {}
            // Its place, which is its age, stays.
            (Some(at), false) => self.cookies[at] = cookie,
            (None, false) => {
                if self.cookies.len() >= COOKIES_MAX {
                    self.cookies.retain(|own| own.expires.is_none_or(|expires| expires > now));
                }
                if self.cookies.len() >= COOKIES_MAX {
                    return false;
                }
                let is_before = |own: &Cookie| own.path.len() >= cookie.path.len();
                let at = self.cookies.partition_point(is_before);
                self.cookies.insert(at, cookie);
            }
        }
        true
    }

    /// Sets a cookie for a host without a response: `--cookie`.
    pub fn set(&mut self, name: &str, value: &str, host: &str) {
        let cookie = Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: host.to_ascii_lowercase(),
            path: "/".to_owned(),
            expires: None,
            is_host_only: true,
            is_secure: false,
            is_http_only: false,
        };
        self.insert(cookie, 0);
    }

    /// Writes the value of the `Cookie` field for a request behind `out`: `a=1; b=2`. `false` if there is none to
    /// send.
    pub fn write(&self, origin: &Origin<'_>, now: i64, out: &mut Vec<u8>) -> bool {
        let mut is_any = false;
        for cookie in self.cookies.iter().filter(|cookie| cookie.is_for(origin, now)) {
            if is_any {
                out.extend(b"; ");
            }
            is_any = true;
            out.extend(cookie.name.as_bytes());
            out.push(b'=');
            out.extend(cookie.value.as_bytes());
        }
        is_any
    }

    /// Forgets all cookies, and keeps the memory for the next.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// How many cookies there are, expired ones among them.
    pub fn len(&self) -> usize {
        self.cookies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// How many fields [`Jar::store`] refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

/// A cookie, if the origin may set it.
fn cookie(field: &[u8], origin: &Origin<'_>, now: i64) -> Option<Cookie> {
    let set = SetCookie::parse(field)?;
    let is_clean =
        |text: &str| !text.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 127);
    let is_small = set.name.len() + set.value.len() <= COOKIE_BYTES_MAX;
    if set.name.is_empty() || !is_small || !is_clean(set.name) || !is_clean(set.value) {
        return None;
    }
    let mut cookie = Cookie {
        name: set.name.to_owned(),
        value: set.value.to_owned(),
        domain: origin.host.to_owned(),
        path: origin.default_path().to_owned(),
        expires: None,
        is_host_only: true,
        is_secure: false,
        is_http_only: false,
    };
    let mut max_age = None;
    let mut domain = "";
    // The last of several attributes counts.
    for (name, value) in set.attributes() {
        let value = value.unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "expires" => cookie.expires = date::cookie_date(value).or(cookie.expires),
            "max-age" => max_age = seconds(value).or(max_age),
            "domain" => domain = value.strip_prefix('.').unwrap_or(value),
            "path" if value.starts_with('/') => cookie.path = value.to_owned(),
            "path" => cookie.path = origin.default_path().to_owned(),
            "secure" => cookie.is_secure = true,
            "httponly" => cookie.is_http_only = true,
            _ => {}
        }
    }
    if let Some(age) = max_age {
        cookie.expires = Some(if age <= 0 { i64::MIN } else { now.saturating_add(age) });
    }
    let domain = domain.to_ascii_lowercase();
    if !domain.is_empty() && domain != origin.host {
        if !domain_matches(origin.host, &domain) || !domain.contains('.') {
            return None;
        }
        cookie.domain = domain;
        cookie.is_host_only = false;
    } else if !domain.is_empty() && domain.contains('.') && !is_address(&domain) {
        cookie.is_host_only = false;
    }
    let is_refused = cookie.is_secure && !origin.is_secure()
        || set.name.starts_with("__Secure-") && !cookie.is_secure
        || set.name.starts_with("__Host-")
            && !(cookie.is_secure && cookie.is_host_only && cookie.path == "/");
    (!is_refused).then_some(cookie)
}

/// RFC 6265, 5.2.2: digits, or a sign and digits.
fn seconds(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let saturated = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    is_number.then(|| text.parse().unwrap_or(saturated))
}

fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

/// RFC 6265, 5.1.3.
fn domain_matches(host: &str, domain: &str) -> bool {
    host == domain
        || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')) && !is_address(host)
}

/// RFC 6265, 5.1.4.
fn path_matches(path: &str, of_cookie: &str) -> bool {
    let path = if path.is_empty() { "/" } else { path };
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}
