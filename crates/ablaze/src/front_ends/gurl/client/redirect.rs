//! Redirects as Go's net/http follows them: which responses are, what is asked next and of whom, and what the next server
//! must not be told.

use ablaze_wire::http1::response::field;
use ablaze_wire::url::{Scheme, Url};

use super::incoming::Head;
use crate::front_ends::gurl::request::Request;

/// A response that says where to go on.
#[derive(Debug, PartialEq, Eq)]
pub struct Redirect {
    status: u16,
    location: String,
}

/// Fields that are for the server they were given for.
const SENSITIVE: [&str; 5] =
    ["authorization", "cookie", "cookie2", "www-authenticate", "proxy-authorization"];

impl Redirect {
    /// What a response says; `None` if it is a last one. One without Location is.
    pub fn of(head: &Head<'_>) -> Option<Self> {
        if !matches!(head.status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let location = field(head.bytes, "Location").filter(|location| !location.is_empty())?;
        Some(Self { status: head.status, location: String::from_utf8_lossy(location).into_owned() })
    }

    /// The next request.
    ///
    /// # Errors
    /// When the location is no URL.
    pub fn follow(self, before: &Request) -> Result<Request, String> {
        let mut url = joined(&before.url, &self.location).map_err(|why| {
            format!("it redirects to `{}`, which cannot be followed: {why}", self.location)
        })?;
        let mut next = before.clone();
        if matches!(self.status, 301..=303) {
            next.body = None;
            let method = before.method.as_deref();
            let usual = if before.body.is_some() { "POST" } else { "GET" };
            next.method = match method.unwrap_or(usual) {
                kept @ ("GET" | "HEAD") => Some(kept.to_owned()),
                _ => Some("GET".to_owned()),
            };
            next.content_type = None;
            next.headers.retain(|line| !name_of(line).starts_with("content-"));
        } else if before.method.is_none() && before.body.is_some() {
            next.method = Some("POST".to_owned());
        }
        let same_place = url.scheme == before.url.scheme
            && url.host.eq_ignore_ascii_case(&before.url.host)
            && url.port == before.url.port;
        if same_place {
            url.userinfo = url.userinfo.or_else(|| before.url.userinfo.clone());
        } else {
            next.headers.retain(|line| {
                let name = name_of(line);
                name != "host" && !SENSITIVE.contains(&name.as_str())
            });
        }
        let is_downgrade = before.url.scheme == Scheme::Https && url.scheme == Scheme::Http;
        next.referer = (!is_downgrade).then(|| before.url.to_string());
        next.url = url;
        Ok(next)
    }
}

fn name_of(line: &str) -> String {
    line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A reference by its base (RFC 3986, 5.2).
fn joined(base: &Url, reference: &str) -> Result<Url, String> {
    let has_scheme = reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    });
    let origin = format!("{}://{}", base.scheme.name(), base.host_header());
    let (path, query) = match base.path_and_query.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (base.path_and_query.as_str(), None),
    };
    let text = match reference.as_bytes() {
        _ if has_scheme && !reference.contains("://") => {
            return Err("it is neither http:// nor https://".to_owned());
        }
        _ if has_scheme => reference.to_owned(),
        [b'/', b'/', ..] => format!("{}:{reference}", base.scheme.name()),
        [b'/', ..] => format!("{origin}{}", without_dots(reference)),
        [b'?', ..] => format!("{origin}{path}{reference}"),
        [] | [b'#', ..] => {
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            format!("{origin}{path}{query}")
        }
        _ => {
            let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
            format!("{origin}{}", without_dots(&format!("{folder}{reference}")))
        }
    };
    Url::parse(&text).map_err(|error| error.to_string())
}

/// A path without `.` and `..` (RFC 3986, 5.2.4); what stands behind it stays.
fn without_dots(reference: &str) -> String {
    let end = reference.find(['?', '#']).unwrap_or(reference.len());
    let (path, behind) = reference.split_at(end);
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        match *segment {
            "." | ".." => {
                if *segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}{behind}", kept.join("/"))
}

#[cfg(test)]
#[path = "redirect_tests.rs"]
mod tests;
