//! Redirects that a step follows: where to, and what of its request goes along, as curl and Hurl have it.

use crate::checks::Failure;
use crate::dot_segments;
use crate::journey::{Journey, Step};
use crate::percent;
use crate::response::Headers;
use crate::site::Site;

/// How many redirects of a step are followed if nothing else is said.
const REDIRECTS_MAX: u64 = 50;

/// The redirects of one step that a user has followed.
#[derive(Debug, Clone, Default)]
pub struct Redirect {
    /// Where the last leads.
    pub(crate) url: Vec<u8>,
    /// How many there were.
    count: u64,
    /// The request has become a GET without a body.
    pub(crate) is_get: bool,
    /// It has gone to another scheme, host or port than the step.
    pub(crate) is_elsewhere: bool,
}

/// A response that may be a redirect.
#[derive(Debug, Clone, Copy)]
pub struct Redirecting<'a> {
    /// Its status.
    pub status: u16,
    /// Its header fields.
    pub headers: Headers<'a>,
    /// The URL that was asked for.
    pub url: &'a [u8],
    /// Which of the sites that is.
    pub origin: u32,
}

impl Redirect {
    /// The step begins anew.
    pub fn clear(&mut self) {
        self.url.clear();
        (self.count, self.is_get, self.is_elsewhere) = (0, false, false);
    }

    /// How many were followed.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether what is sent next is a GET whatever the step's method is.
    pub fn is_get(&self) -> bool {
        self.is_get
    }

    /// Looks where a response leads. `false` if it leads nowhere: it is that of the step then.
    ///
    /// # Errors
    /// One redirect too many, or to where nobody can follow.
    pub fn follow(
        &mut self,
        step: &Step,
        response: &Redirecting<'_>,
        sites: &[Site],
    ) -> Result<bool, Failure> {
        let Some(most) = step.redirects_max() else { return Ok(false) };
        if !(300..400).contains(&response.status) {
            return Ok(false);
        }
        let Some(location) = response.headers.values(b"location").next() else {
            return Ok(false);
        };
        let failed = |message| Failure { line: step.line, message };
        if most.is_some_and(|most| self.count >= most) {
            let limit = most.unwrap_or(0);
            return Err(failed(format!(
                "too many redirects: the limit is {limit} (fix: max-redirs)"
            )));
        }
        let site = &sites[response.origin as usize];
        let next = joined(site, response.url, location);
        let Some((origin, _)) = Site::find(sites, &next) else {
            return Err(failed(format!("the redirect {}", Site::unknown(&next))));
        };
        self.count += 1;
        // The body stays behind where the method changes, and only there, as Hurl has it.
        self.is_get |= matches!(response.status, 301..=303) && step.method != "GET";
        self.is_elsewhere |= !step.trusts_redirects() && origin as u32 != response.origin;
        self.url = next;
        Ok(true)
    }
}

impl Step {
    /// How many redirects are followed, inside: `None` is all; `None` if they are not.
    pub fn redirects_max(&self) -> Option<Option<u64>> {
        let options = &self.options;
        let most = || options.max_redirects.unwrap_or(Some(REDIRECTS_MAX));
        (options.location == Some(true)).then(most)
    }

    /// Whether the credentials of the step go wherever redirects lead.
    fn trusts_redirects(&self) -> bool {
        self.options.location_trusted == Some(true)
    }
}

impl Journey {
    /// Has every step follow redirects that does not say otherwise, `trusted` with its credentials wherever they lead, and at
    /// most so many unless it says how many.
    pub fn follow_redirects(&mut self, location: bool, trusted: bool, most: Option<u64>) {
        for step in &mut self.steps {
            if trusted {
                step.options.location_trusted.get_or_insert(true);
            }
            if location || trusted {
                step.options.location.get_or_insert(true);
            }
            if most.is_some() {
                step.options.max_redirects.get_or_insert(most);
            }
        }
    }
}

/// Where a reference leads (RFC 3986, 5.2), as a URL with its scheme. What cannot stand in a URL is encoded.
fn joined(site: &Site, base: &[u8], location: &[u8]) -> Vec<u8> {
    let location = location.trim_ascii();
    let base = memchr::memchr(b'#', base).map_or(base, |end| &base[..end]);
    let target = site.target(base).unwrap_or_default();
    let origin = match base.strip_suffix(target) {
        Some(origin) if !origin.is_empty() => origin.to_vec(),
        _ => site.url().into_bytes(),
    };
    let path_end = memchr::memchr(b'?', target).unwrap_or(target.len());
    let (path, _) = target.split_at(path_end);
    let mut url = Vec::new();
    let (origin, rest): (&[u8], Vec<u8>) = match location {
        _ if has_scheme(location) => split(location),
        [b'/', b'/', ..] => {
            let scheme = memchr::memmem::find(&origin, b"//").unwrap_or(0);
            let whole = [&origin[..scheme], location].concat();
            let (start, rest) = split(&whole);
            url.extend_from_slice(start);
            (&[], rest)
        }
        [] => (&origin, target.to_vec()),
        [b'/', ..] => (&origin, location.to_vec()),
        [b'#', ..] => (&origin, [target, location].concat()),
        [b'?', ..] => (&origin, [path, location].concat()),
        _ => {
            let folder = memchr::memrchr(b'/', path).map_or(&b"/"[..], |last| &path[..=last]);
            (&origin, [folder, location].concat())
        }
    };
    url.extend_from_slice(origin);
    write_clean(&rest, &mut url);
    url
}

/// A URL's scheme and authority, and what follows.
fn split(url: &[u8]) -> (&[u8], Vec<u8>) {
    let behind = memchr::memmem::find(url, b"//").map_or(0, |at| at + 2);
    let end = memchr::memchr3(b'/', b'?', b'#', &url[behind..]).map_or(url.len(), |at| behind + at);
    (&url[..end], url[end..].to_vec())
}

/// RFC 3986, 3.1.
fn has_scheme(reference: &[u8]) -> bool {
    let end = memchr::memchr(b':', reference).unwrap_or(0);
    let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    reference.first().is_some_and(u8::is_ascii_alphabetic)
        && end > 0
        && reference[..end].iter().all(is_of_scheme)
}

/// Path, query and fragment without the segments `.` and `..`, as a request line can have them.
fn write_clean(target: &[u8], url: &mut Vec<u8>) {
    let mut clean = if target.first() == Some(&b'/') { Vec::new() } else { vec![b'/'] };
    clean.extend_from_slice(target);
    dot_segments::remove(&mut clean, 0);
    percent::encode_unsendable(&clean, url);
}
