//! A step as the bytes of an HTTP/1 request, for whoever sends it. Writes behind buffers that grow once and stay;
//! what a variable holds can neither end the request line nor a field.

use std::collections::HashMap;
use std::sync::Arc;

use ablaze_wire::url::{Scheme, Url};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::checks::Failure;
use crate::jar::{Jar, Origin};
use crate::journey::{FormPart, Step, StepBody, content_type_of};
use crate::percent;
use crate::template::Template;
use crate::variables::{Moment, Variables};

/// Where all steps of a journey go, and what each request says of the client.
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
    /// Whether the connection is to be kept.
    pub keep_alive: bool,
    /// Value of the field Host.
    authority: String,
    /// With the port, also if it is the scheme's own.
    with_port: String,
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
            keep_alive: true,
            authority,
            with_port,
        }
    }

    /// What stands behind the authority of a URL of this site, without the fragment; `None` for one of another site. A
    /// URL that is a path alone belongs to every site.
    pub fn target<'u>(&self, url: &'u [u8]) -> Option<&'u [u8]> {
        let url = memchr::memchr(b'#', url).map_or(url, |end| &url[..end]);
        if url.first() == Some(&b'/') {
            return Some(url);
        }
        let scheme: &[u8] = if self.is_tls { b"https://" } else { b"http://" };
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

/// The contents of files that requests send, by the names that the journey has for them.
pub type Files = HashMap<Vec<u8>, Arc<[u8]>>;

/// What is at hand while a request is written.
#[derive(Debug)]
pub struct Sending<'a, M> {
    /// Where it goes.
    pub site: &'a Site,
    /// The files that it may send.
    pub files: &'a Files,
    /// The user's cookies.
    pub jar: &'a Jar,
    /// The user's variables.
    pub variables: &'a Variables,
    /// Time and randomness.
    pub moment: &'a mut M,
    /// Gets the URL.
    pub url: &'a mut Vec<u8>,
    /// Memory.
    pub drafts: &'a mut Drafts,
}

/// Memory that is used again for every request.
#[derive(Debug, Clone, Default)]
pub struct Drafts {
    body: Vec<u8>,
    field: Vec<u8>,
}

/// Where a body is.
enum Content<'a> {
    None,
    Drafted,
    File(&'a [u8]),
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
        let url = self.write_url(sending.variables, sending.moment, sending.url);
        url.map_err(|error| self.unrendered(&error))?;
        let Some(target) = sending.site.target(sending.url) else {
            let url = String::from_utf8_lossy(sending.url);
            let message = format!(
                "the URL {} goes elsewhere than to {}: all steps go to one host in this version",
                ablaze_wire::printable::printable(&url),
                sending.site.with_port
            );
            return Err(Failure { line: self.line, message });
        };
        out.extend(self.method.as_bytes());
        out.push(b' ');
        write_target(target, out);
        out.extend(if sending.site.minor_version == 0 {
            b" HTTP/1.0\r\n"
        } else {
            b" HTTP/1.1\r\n"
        });
        let mut boundary = [0; BOUNDARY_BYTES];
        let files = sending.files;
        let content = self.draft_body(sending, files, &mut boundary)?;
        self.write_own_fields(sending, out)?;
        for (name, value) in &self.headers {
            self.write_header(name, value, sending, out)?;
        }
        self.write_cookies(sending, out)?;
        self.write_content_fields(sending, &content, &boundary, out);
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

    fn unrendered(&self, error: &crate::RenderError) -> Failure {
        Failure { line: error.line, message: error.explain(&self.names) }
    }

    fn write_own_fields<M: Moment>(
        &self,
        sending: &mut Sending<'_, M>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let site = sending.site;
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
        match (site.minor_version, site.keep_alive) {
            (0, true) => own("Connection", "keep-alive"),
            (1.., false) => own("Connection", "close"),
            _ => {}
        }
        let Some(user) = self.basic_auth.as_ref().filter(|_| !self.has_header(b"Authorization"))
        else {
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
        sending: &mut Sending<'_, M>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let start = out.len();
        let rendered = name.render(sending.variables, sending.moment, out);
        rendered.map_err(|error| self.unrendered(&error))?;
        let own_name = &out[start..];
        if own_name.eq_ignore_ascii_case(b"content-length") {
            // The length is that of the body.
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
                "the value of the header field {} has a line end in it",
                shown(&out[start..behind - 2])
            );
            return Err(Failure { line: self.line, message });
        }
        out.extend(b"\r\n");
        Ok(())
    }

    fn write_cookies<M: Moment>(
        &self,
        sending: &mut Sending<'_, M>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        if sending.jar.is_empty() && self.cookies.is_empty() {
            return Ok(());
        }
        let start = out.len();
        out.extend(b"Cookie: ");
        let now_s = sending.moment.unix_us() / 1_000_000;
        let origin = sending.site.origin(sending.url);
        let from_jar = sending.jar.write(&origin, now_s, out);
        if !self.cookies.is_empty() {
            if from_jar {
                out.extend(b"; ");
            }
            let behind = out.len();
            let rendered = self.cookies.render(sending.variables, sending.moment, out);
            rendered.map_err(|error| self.unrendered(&error))?;
            if memchr::memchr3(b'\r', b'\n', 0, &out[behind..]).is_some() {
                let message = "a cookie has a line end in it".to_owned();
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
        boundary: &[u8],
        out: &mut Vec<u8>,
    ) {
        let length_bytes = match content {
            Content::None => None,
            Content::Drafted => Some(sending.drafts.body.len()),
            Content::File(bytes) => Some(bytes.len()),
        };
        if let Some(content_type) = self.content_type.filter(|_| !self.has_header(b"Content-Type"))
        {
            out.extend(b"Content-Type: ");
            out.extend(content_type.as_bytes());
            if matches!(self.body, StepBody::Multipart(_)) {
                out.extend(b"; boundary=");
                out.extend(boundary);
            }
            out.extend(b"\r\n");
        }
        // RFC 9110, 8.6: a method that anticipates content says so when there is none, too.
        let anticipates = matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        if length_bytes.is_some() || anticipates {
            out.extend(b"Content-Length: ");
            write_decimal(length_bytes.unwrap_or(0), out);
            out.extend(b"\r\n");
        }
        out.extend(b"\r\n");
    }

    fn draft_body<'f, M: Moment>(
        &self,
        sending: &mut Sending<'_, M>,
        files: &'f Files,
        boundary: &mut [u8; BOUNDARY_BYTES],
    ) -> Result<Content<'f>, Failure> {
        let (variables, moment) = (sending.variables, &mut *sending.moment);
        let body = &mut sending.drafts.body;
        body.clear();
        match &self.body {
            StepBody::None => Ok(Content::None),
            StepBody::Template(template) => {
                let rendered = template.render(variables, moment, body);
                rendered.map_err(|error| self.unrendered(&error))?;
                Ok(Content::Drafted)
            }
            StepBody::File(name) => Ok(Content::File(self.file(name, files)?)),
            StepBody::Multipart(parts) => {
                write_boundary(moment.random(), boundary);
                for part in parts {
                    body.extend(b"--");
                    body.extend_from_slice(boundary);
                    let drafted = self.draft_part(part, variables, moment, files, body);
                    drafted?;
                    body.extend(b"\r\n");
                }
                body.extend(b"--");
                body.extend_from_slice(boundary);
                body.extend(b"--\r\n");
                Ok(Content::Drafted)
            }
        }
    }

    fn draft_part(
        &self,
        part: &FormPart,
        variables: &Variables,
        moment: &mut impl Moment,
        files: &Files,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let mut put = |template: &Template, out: &mut Vec<u8>| {
            template.render(variables, moment, out).map_err(|error| self.unrendered(&error))
        };
        out.extend(b"\r\nContent-Disposition: form-data; name=\"");
        match part {
            FormPart::Field(name, value) => {
                let start = out.len();
                put(name, out)?;
                escape_from(start, out);
                out.extend(b"\"\r\n\r\n");
                put(value, out)
            }
            FormPart::File(name, file, content_type) => {
                let start = out.len();
                put(name, out)?;
                escape_from(start, out);
                out.extend(b"\"; filename=\"");
                let path = file.as_constant().unwrap_or_default();
                let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
                let start = out.len();
                out.extend_from_slice(last);
                escape_from(start, out);
                out.extend(b"\"\r\nContent-Type: ");
                let start = out.len();
                match content_type {
                    Some(given) => put(given, out)?,
                    None => out.extend(
                        content_type_of(std::str::from_utf8(last).unwrap_or_default()).as_bytes(),
                    ),
                }
                if memchr::memchr3(b'\r', b'\n', 0, &out[start..]).is_some() {
                    let message = "the type of a part has a line end in it".to_owned();
                    return Err(Failure { line: self.line, message });
                }
                out.extend(b"\r\n\r\n");
                out.extend_from_slice(self.file(file, files)?);
                Ok(())
            }
        }
    }

    fn file<'f>(&self, name: &Template, files: &'f Files) -> Result<&'f [u8], Failure> {
        let name = name.as_constant().unwrap_or_default();
        files.get(name).map(|bytes| &**bytes).ok_or_else(|| {
            let message = format!("the file {} is not here", shown(name));
            Failure { line: self.line, message }
        })
    }
}

fn shown(bytes: &[u8]) -> String {
    ablaze_wire::printable::printable(&String::from_utf8_lossy(bytes)).to_string()
}

/// What a request line cannot hold is encoded, as browsers do it (WHATWG URL, path percent-encode set).
fn write_target(target: &[u8], out: &mut Vec<u8>) {
    if target.first() != Some(&b'/') {
        out.push(b'/');
    }
    for byte in target {
        match byte {
            0..=b' ' | 0x7f.. | b'"' | b'<' | b'>' | b'`' | b'{' | b'}' => {
                let digits = [byte >> 4, byte & 15].map(|half| percent::DIGITS[usize::from(half)]);
                out.extend([b'%', digits[0], digits[1]]);
            }
            _ => out.push(*byte),
        }
    }
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

const BOUNDARY_BYTES: usize = 24 + 22;

/// Dashes and 22 random characters, as curl has them: they do not occur in any content.
fn write_boundary(random: u128, boundary: &mut [u8; BOUNDARY_BYTES]) {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ab";
    let mut rest = random;
    boundary.fill(b'-');
    for place in &mut boundary[24..] {
        *place = CHARACTERS[(rest & 63) as usize];
        rest >>= 6;
    }
}

/// A name inside quotation marks, as browsers and curl write it.
fn escape_from(start: usize, out: &mut Vec<u8>) {
    if memchr::memchr3(b'"', b'\r', b'\n', &out[start..]).is_none() {
        return;
    }
    let plain = out.split_off(start);
    for byte in plain {
        match byte {
            b'"' => out.extend(b"%22"),
            b'\r' => out.extend(b"%0D"),
            b'\n' => out.extend(b"%0A"),
            _ => out.push(byte),
        }
    }
}
