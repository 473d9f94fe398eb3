//! A step as the bytes of an HTTP/1 request, for whoever sends it. Writes behind buffers that grow once and stay;
//! what a variable holds can neither end the request line nor a field.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::checks::Failure;
use crate::coding::ACCEPTED;
use crate::jar::Jar;
use crate::journey::{FormPart, Step, StepBody};
use crate::percent;
use crate::redirect::Redirect;
use crate::request_body::{Boundary, Content};
use crate::site::{Forwarded, Site};
use crate::template::Template;
use crate::variables::{Moment, Variables};

/// The contents of files that requests send, by the names that the journey has for them.
pub type Files = HashMap<Vec<u8>, Arc<[u8]>>;

/// What is at hand while a request is written.
#[derive(Debug)]
pub struct Sending<'a, M> {
    /// Where it may go; a URL that is a path alone goes to the first.
    pub sites: &'a [Site],
    /// The files that it may send.
    pub files: &'a Files,
    /// The user's cookies.
    pub jar: &'a Jar,
    /// The user's variables.
    pub variables: &'a Variables,
    /// Time and randomness.
    pub moment: &'a mut M,
    /// The redirects that were followed.
    pub redirect: &'a Redirect,
    /// Gets the URL.
    pub url: &'a mut Vec<u8>,
    /// Gets which of the sites it goes to.
    pub origin: &'a mut u32,
    /// Memory.
    pub drafts: &'a mut Drafts,
}

/// Memory that is used again for every request.
#[derive(Debug, Clone, Default)]
pub struct Drafts {
    pub(crate) body: Vec<u8>,
    field: Vec<u8>,
}

impl Step {
    /// Writes the request, head and body, behind `out`; its URL, as the file has it, replaces what is in `sending.url`.
    ///
    /// # Errors
    /// What cannot be sent: a variable that is not set, a URL of another site, a line end in a field. `out` is then
    /// not to be used.
    pub fn write_request<M: Moment>(
        &self,
        sending: &mut Sending<'_, M>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        sending.url.clear();
        if sending.redirect.count() > 0 {
            sending.url.extend_from_slice(&sending.redirect.url);
        } else {
            let url = self.write_url(sending.variables, sending.moment, sending.url);
            url.map_err(|error| self.unrendered(&error))?;
        }
        let Some((origin, target)) = Site::find(sending.sites, sending.url) else {
            let message = format!("the URL {}", Site::unknown(sending.url));
            return Err(Failure { line: self.line, message });
        };
        *sending.origin = origin as u32;
        let site = &sending.sites[origin];
        let method = if sending.redirect.is_get { "GET" } else { &self.method };
        out.extend(method.as_bytes());
        out.push(b' ');
        if site.forwarded.is_some() {
            out.extend(site.scheme().as_bytes());
            out.extend(site.authority.as_bytes());
        }
        write_target(target, out);
        out.extend(match (site.has_streams, site.minor_version) {
            (true, _) => &b" HTTP/2\r\n"[..],
            (false, 0) => b" HTTP/1.0\r\n",
            (false, _) => b" HTTP/1.1\r\n",
        });
        let boundary = self.boundary(sending);
        self.write_own_fields(site, sending, out)?;
        for (name, value) in &self.headers {
            self.write_header(name, value, boundary.as_ref(), sending, out)?;
        }
        self.write_cookies(site, sending, out)?;
        let files = sending.files;
        let content = match sending.redirect.is_get {
            true => Content::None,
            false => self.draft_body(sending, files, boundary.as_ref())?,
        };
        self.write_content_fields(sending, &content, boundary.as_ref(), out);
        match content {
            Content::None => {}
            Content::Drafted => out.extend_from_slice(&sending.drafts.body),
            Content::File(bytes) => out.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// The files that it sends: names, if they are constant.
    pub fn files(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let body = match &self.body {
            StepBody::File(name) => Some(name),
            _ => None,
        };
        let parts = match &self.body {
            StepBody::Multipart(parts) => parts.as_slice(),
            _ => &[],
        };
        let of_parts = parts.iter().filter_map(|part| match part {
            FormPart::File(_, name, _) => Some(name),
            FormPart::Field(..) => None,
        });
        body.into_iter().chain(of_parts).map(Template::as_constant)
    }

    /// Whether the file gives this header field under a constant name.
    pub fn has_header(&self, name: &[u8]) -> bool {
        let is_own =
            |own: &Template| own.as_constant().is_some_and(|own| own.eq_ignore_ascii_case(name));
        self.headers.iter().any(|(own, _)| is_own(own))
    }

    pub(crate) fn unrendered(&self, error: &crate::RenderError) -> Failure {
        Failure { line: error.line, message: error.explain(&self.names) }
    }

    fn write_own_fields<M: Moment>(
        &self,
        site: &Site,
        sending: &mut Sending<'_, M>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let mut own = |name: &str, value: &str| {
            if !self.has_header(name.as_bytes()) {
                for piece in [name, ": ", value, "\r\n"] {
                    out.extend(piece.as_bytes());
                }
            }
        };
        own("Host", &site.authority);
        own("User-Agent", &site.user_agent);
        own("Accept", "*/*");
        if let Some(Forwarded { authorization: Some(value) }) = &site.forwarded {
            own("Proxy-Authorization", value);
        }
        if self.options.compressed == Some(true) {
            own("Accept-Encoding", ACCEPTED);
        }
        match (site.minor_version, site.keep_alive) {
            // Connections of HTTP/2 have no such field.
            _ if site.has_streams => {}
            (0, true) => own("Connection", "keep-alive"),
            (1.., false) => own("Connection", "close"),
            _ => {}
        }
        let is_elsewhere = sending.redirect.is_elsewhere;
        let is_sent = !is_elsewhere && !self.has_header(b"Authorization");
        let Some(user) = self.basic_auth.as_ref().filter(|_| is_sent) else {
            return Ok(());
        };
        let field = &mut sending.drafts.field;
        field.clear();
        let rendered = user.render(sending.variables, sending.moment, field);
        rendered.map_err(|error| self.unrendered(&error))?;
        out.extend(b"Authorization: Basic ");
        let start = out.len();
        out.resize(start + field.len().div_ceil(3) * 4, 0);
        let written = STANDARD.encode_slice(&*field, &mut out[start..]).unwrap_or(0);
        out.truncate(start + written);
        out.extend(b"\r\n");
        Ok(())
    }

    fn write_header<M: Moment>(
        &self,
        name: &Template,
        value: &Template,
        boundary: Option<&Boundary>,
        sending: &mut Sending<'_, M>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let start = out.len();
        let rendered = name.render(sending.variables, sending.moment, out);
        rendered.map_err(|error| self.unrendered(&error))?;
        let own_name = &out[start..];
        let is_left_out = own_name.eq_ignore_ascii_case(b"content-length")
            || sending.redirect.is_elsewhere && own_name.eq_ignore_ascii_case(b"authorization");
        if is_left_out {
            // The length is that of the body, and credentials are for the step's own host.
            out.truncate(start);
            return Ok(());
        }
        let is_token =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        if own_name.is_empty() || !own_name.iter().all(is_token) {
            let message = format!("{} is no name of a header field", shown(own_name));
            return Err(Failure { line: self.line, message });
        }
        out.extend(b": ");
        let behind = out.len();
        let rendered = value.render(sending.variables, sending.moment, out);
        rendered.map_err(|error| self.unrendered(&error))?;
        if memchr::memchr3(b'\r', b'\n', 0, &out[behind..]).is_some() {
            let message = format!(
                "the value of the header field {} has a line end or a zero byte in it",
                shown(&out[start..behind - 2])
            );
            return Err(Failure { line: self.line, message });
        }
        if let Some(boundary) = boundary
            && out[start..behind - 2].eq_ignore_ascii_case(b"content-type")
        {
            write_boundary_parameter(boundary, out);
        }
        out.extend(b"\r\n");
        Ok(())
    }

    fn write_cookies<M: Moment>(
        &self,
        site: &Site,
        sending: &mut Sending<'_, M>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        if sending.jar.is_empty() && self.cookies.is_empty() {
            return Ok(());
        }
        let start = out.len();
        out.extend(b"Cookie: ");
        let now_s = sending.moment.unix_us() / 1_000_000;
        let origin = site.origin(sending.url);
        let from_jar = sending.jar.write(&origin, now_s, out);
        if !self.cookies.is_empty() {
            if from_jar {
                out.extend(b"; ");
            }
            let behind = out.len();
            let rendered = self.cookies.render(sending.variables, sending.moment, out);
            rendered.map_err(|error| self.unrendered(&error))?;
            if memchr::memchr3(b'\r', b'\n', 0, &out[behind..]).is_some() {
                let message = "a cookie has a line end or a zero byte in it".to_owned();
                return Err(Failure { line: self.line, message });
            }
        } else if !from_jar {
            out.truncate(start);
            return Ok(());
        }
        out.extend(b"\r\n");
        Ok(())
    }

    /// The fields that tell of the body, and the end of the head.
    fn write_content_fields<M>(
        &self,
        sending: &Sending<'_, M>,
        content: &Content<'_>,
        boundary: Option<&Boundary>,
        out: &mut Vec<u8>,
    ) {
        let length_bytes = match content {
            Content::None => None,
            Content::Drafted => Some(sending.drafts.body.len()),
            Content::File(bytes) => Some(bytes.len()),
        };
        let is_get = sending.redirect.is_get;
        let is_told = !is_get && !self.has_header(b"Content-Type");
        if let Some(content_type) = self.content_type.filter(|_| is_told) {
            out.extend(b"Content-Type: ");
            out.extend(content_type.as_bytes());
            if let Some(boundary) = boundary {
                write_boundary_parameter(boundary, out);
            }
            out.extend(b"\r\n");
        }
        // RFC 9110, 8.6: a method that anticipates content says so when there is none, too.
        let anticipates = !is_get && matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        if length_bytes.is_some() || anticipates {
            out.extend(b"Content-Length: ");
            write_decimal(length_bytes.unwrap_or(0), out);
            out.extend(b"\r\n");
        }
        out.extend(b"\r\n");
    }
}

pub(crate) fn shown(bytes: &[u8]) -> String {
    ablaze_wire::printable::printable(&String::from_utf8_lossy(bytes)).to_string()
}

/// Without it nobody could take the form apart, so it stands behind a type that the file gives, too, as curl has it.
fn write_boundary_parameter(boundary: &Boundary, out: &mut Vec<u8>) {
    out.extend(b"; boundary=");
    out.extend(boundary);
}

/// What stands on the request line.
fn write_target(target: &[u8], out: &mut Vec<u8>) {
    if target.first() != Some(&b'/') {
        out.push(b'/');
    }
    percent::encode_unsendable(target, out);
}

fn write_decimal(number: usize, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
