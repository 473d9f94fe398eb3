//! The bytes of ab's request: HTTP/1.0, and the order and spelling of header lines as ab has
//! them. Compared with ab's own, byte for byte, in tests/all/ab/request.rs.

use std::io::Read;
use std::path::Path;

use ablaze_model::spec::secrets::secret_field;
use ablaze_model::spec::{Line, Secrets};
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::credentials::basic;

use super::error::AbError;

/// The field for credentials of a proxy.
pub const PROXY_AUTHORIZATION: &str = "Proxy-Authorization";

/// What a command line says about the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSpec {
    /// The method chosen; GET if none was.
    pub method: Option<Method>,
    /// The body, from `-p` or `-u`.
    pub body: Option<Vec<u8>>,
    /// `-T`
    pub content_type: Vec<u8>,
    /// `-C`, one after the other.
    pub cookies: Vec<Vec<u8>>,
    /// `-H`, verbatim.
    pub headers: Vec<Vec<u8>>,
    /// Whether `{seq}` and `{rand:N}` are placeholders; to ab they are text.
    pub expand: bool,
    /// Lines of `-A` and `-P`.
    credentials: Vec<String>,
}

/// A method and how it was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// `-i`
    Head,
    /// `-p`
    Post,
    /// `-u`
    Put,
    /// `-m`
    Custom(Vec<u8>),
}

/// Where the request goes, as its lines say it.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// Host and port for the `Host` line.
    pub host: &'a [u8],
    /// Whether the connection shall be kept.
    pub keep_alive: bool,
}

impl Default for RequestSpec {
    fn default() -> Self {
        Self {
            method: None,
            body: None,
            content_type: b"text/plain".to_vec(),
            cookies: Vec::new(),
            headers: Vec::new(),
            expand: false,
            credentials: Vec::new(),
        }
    }
}

impl Method {
    /// The word on the request line.
    pub fn name(&self) -> &[u8] {
        match self {
            Self::Head => b"HEAD",
            Self::Post => b"POST",
            Self::Put => b"PUT",
            Self::Custom(name) => name,
        }
    }
}

impl RequestSpec {
    /// The value of a Host header given with `-H`, which is the name for TLS too.
    pub fn host(&self) -> Option<String> {
        let value = |line: &Vec<u8>| {
            let (name, value) = line.split_at_checked(5)?;
            let value = String::from_utf8_lossy(value).trim().to_owned();
            (name.eq_ignore_ascii_case(b"Host:") && !value.is_empty()).then_some(value)
        };
        self.headers.iter().rev().find_map(value)
    }

    /// Chooses a method; an option chose none before.
    ///
    /// # Errors
    /// When one did.
    pub fn choose(&mut self, method: Method) -> Result<(), AbError> {
        if self.method.is_some() {
            let name = String::from_utf8_lossy(method.name()).into_owned();
            return Err(AbError::text(format!("Cannot mix {name} with other methods"))
                .with_fix("only one of -i, -p and -u can be used; put -m after them"));
        }
        self.method = Some(method);
        Ok(())
    }

    /// Chooses a method that sends this file, read now.
    ///
    /// # Errors
    /// When another was chosen before, or the file cannot be read.
    pub fn send_file(&mut self, method: Method, file: &Path) -> Result<(), AbError> {
        self.choose(method)?;
        let mut opened = std::fs::File::open(file).map_err(|error| {
            let file = file.display();
            let text = super::error::system_text(&error);
            AbError::line(format!("ab: Could not open POST data file ({file}): {text}")).with_fix(
                format!(
                    "cannot read the body from `{file}`: check its name and \
                    permissions"
                ),
            )
        })?;
        let mut bytes = Vec::new();
        opened.read_to_end(&mut bytes).map_err(|error| {
            let text = super::error::system_text(&error);
            AbError::line(format!("ab: Could not read POST data file: {text}")).with_fix(format!(
                "cannot read the body from `{}`: use another file",
                file.display()
            ))
        })?;
        self.body = Some(bytes);
        Ok(())
    }

    /// Adds a line of Basic credentials.
    pub fn add_credentials(&mut self, field: &str, name_and_password: &[u8]) {
        self.credentials.push(format!("{field}: {}", basic(name_and_password)));
    }

    /// Takes the credentials for a proxy away, because it is asked before any request; the last
    /// ones, where there are several.
    pub fn take_proxy_credentials(&mut self) -> Option<String> {
        let is_the_proxys = |line: &String| line.starts_with(PROXY_AUTHORIZATION);
        let last = self.credentials.iter().rev().find(|line| is_the_proxys(line)).cloned();
        self.credentials.retain(|line| !is_the_proxys(line));
        last.map(|line| line[PROXY_AUTHORIZATION.len()..].trim_start_matches(": ").to_owned())
    }

    /// Looks for what ab would send although no server can understand it: a method that is none,
    /// and header lines without a name. An empty line would end the head in its middle.
    ///
    /// # Errors
    /// With the native line.
    pub fn check(&mut self) -> Result<(), AbError> {
        self.headers.retain(|line| !line.is_empty());
        let mut checked = RequestBuilder::new(self.method_name(), "/");
        for line in &self.headers {
            match line.iter().position(|b| *b == b':') {
                None | Some(0) => checked = checked.header_line(line.as_slice()),
                Some(_) => {}
            }
        }
        checked.build().map(drop).map_err(|error| AbError::native_usage(error.to_string()))
    }

    /// The word on the request line.
    pub fn method_name(&self) -> &[u8] {
        self.method.as_ref().map_or(b"GET", Method::name)
    }

    /// Every line of the head, in ab's order; what carries credentials is kept among the secrets.
    pub fn lines(
        &self,
        destination: Destination<'_>,
        has_body: bool,
        secrets: &mut Secrets,
    ) -> Vec<Line> {
        let field = |name: &str, value: &[u8]| [name.as_bytes(), b": ", value].concat();
        let mut lines = Vec::new();
        let mut secret = |line: Vec<u8>, name: &str| match String::from_utf8(line) {
            Ok(line) => Line::Secret(secrets.keep_text(&format!("header {name}"), line)),
            // No field of HTTP's authentication has such bytes (RFC 7235, 2.1).
            Err(error) => Line::Text(error.into_bytes().into()),
        };
        if destination.keep_alive {
            lines.push(Line::Text(field("Connection", b"Keep-Alive").into()));
        }
        if !self.cookies.is_empty() {
            lines.push(secret(field("Cookie", &self.cookies.join(&b"; "[..])), "Cookie"));
        }
        for line in &self.credentials {
            let name = secret_field(line.as_bytes()).unwrap_or_else(|| "Authorization".to_owned());
            lines.push(secret(line.clone().into_bytes(), &name));
        }
        if has_body {
            lines.push(Line::BodyLength("Content-length".to_owned()));
            lines.push(Line::Text(field("Content-type", &self.content_type).into()));
        }
        for line in &self.headers {
            lines.push(match secret_field(line) {
                Some(name) => secret(line.clone(), &name),
                None => Line::Text(line.clone().into()),
            });
        }
        let own: [(&str, &[u8]); 3] =
            [("Host", destination.host), ("User-Agent", b"ApacheBench/2.3"), ("Accept", b"*/*")];
        for (name, value) in own {
            if !self.overrides(name) {
                lines.push(Line::Text(field(name, value).into()));
            }
        }
        lines
    }

    /// Whether a `-H` line begins with this name and a colon.
    fn overrides(&self, name: &str) -> bool {
        self.headers.iter().any(|line| {
            let (own, rest) = line.split_at(name.len().min(line.len()));
            own.eq_ignore_ascii_case(name.as_bytes()) && rest.starts_with(b":")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use ablaze_model::spec::{Bodies, Body, Bytes, Head, HttpVersion, LoadSpec, UrlSpec};
    use ablaze_wire::http1::request::Template;

    fn template(asked: &RequestSpec, target: &str, keep_alive: bool) -> Template {
        let (mut spec, mut secrets) = (LoadSpec::default(), Secrets::default());
        let destination = Destination { host: b"127.0.0.1:19010", keep_alive };
        let lines = asked.lines(destination, asked.body.is_some(), &mut secrets);
        let (url, _) = UrlSpec::parse("http://127.0.0.1:19010/").unwrap();
        spec.destination.url = Some(url);
        spec.http = Some(HttpVersion::Http10);
        spec.requests.method = Some(Bytes(asked.method_name().to_vec()));
        spec.requests.head =
            Head::Verbatim { target: target.into(), lines, placeholders: asked.expand };
        let body = asked.body.clone().map(|body| Body::Given(Bytes(body)));
        spec.requests.bodies = body.map_or(Bodies::None, Bodies::Same);
        let composed = ablaze_load::planning::compose(&spec, &secrets).unwrap();
        composed.requests.templates.into_iter().next().unwrap()
    }

    fn sent(asked: &RequestSpec, keep_alive: bool) -> String {
        String::from_utf8(template(asked, "/a/b?x=1#f g", keep_alive).bytes).unwrap()
    }

    #[test]
    fn a_plain_request_has_three_lines_of_ab_s_own() {
        let expected = "GET /a/b?x=1#f g HTTP/1.0\r\nHost: 127.0.0.1:19010\r\n\
                        User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n";
        assert_eq!(sent(&RequestSpec::default(), false), expected);
    }

    #[test]
    fn every_line_has_its_place() {
        let mut asked = RequestSpec {
            body: Some(b"a=1&b=2&c=hello".to_vec()),
            content_type: b"t/t".to_vec(),
            method: Some(Method::Post),
            ..RequestSpec::default()
        };
        asked.cookies.push(b"c=1".to_vec());
        asked.add_credentials("Authorization", b"u:p");
        asked.add_credentials("Proxy-Authorization", b"q:r");
        asked.headers.push(b"X-1: 1".to_vec());
        let expected = "POST /a/b?x=1#f g HTTP/1.0\r\nConnection: Keep-Alive\r\nCookie: c=1\r\n\
            Authorization: Basic dTpw\r\nProxy-Authorization: Basic cTpy\r\n\
            Content-length: 15\r\nContent-type: t/t\r\nX-1: 1\r\nHost: 127.0.0.1:19010\r\n\
            User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\na=1&b=2&c=hello";
        assert_eq!(sent(&asked, true), expected);
        let template = template(&asked, "/", true);
        assert_eq!(template.bytes.len() - template.head_bytes, 15);
    }

    #[test]
    fn cookies_are_joined() {
        let cookies = vec![b"a=1".to_vec(), b"b=2".to_vec()];
        let asked = RequestSpec { cookies, ..RequestSpec::default() };
        assert!(sent(&asked, false).contains("\r\nCookie: a=1; b=2\r\n"));
    }

    #[test]
    fn only_three_fields_can_be_overridden() {
        let headers =
            ["host:x", "USER-AGENT: y", "Accept: z", "Cookie: c", "Accept-Encoding: gzip"];
        let asked = RequestSpec {
            headers: headers.iter().map(|header| header.as_bytes().to_vec()).collect(),
            cookies: vec![b"d".to_vec()],
            ..RequestSpec::default()
        };
        let expected = "GET /a/b?x=1#f g HTTP/1.0\r\nCookie: d\r\nhost:x\r\nUSER-AGENT: y\r\n\
                        Accept: z\r\nCookie: c\r\nAccept-Encoding: gzip\r\n\r\n";
        assert_eq!(sent(&asked, false), expected);
    }

    #[test]
    fn an_empty_body_still_has_its_lines_and_head_has_no_response_body() {
        let asked = RequestSpec { body: Some(Vec::new()), ..RequestSpec::default() };
        assert!(sent(&asked, false).contains("Content-length: 0\r\nContent-type: text/plain\r\n"));
        for method in [Method::Head, Method::Custom(b"HEAD".to_vec())] {
            let asked = RequestSpec { method: Some(method), ..RequestSpec::default() };
            assert!(template(&asked, "/", false).response_has_no_body);
        }
        assert!(!template(&RequestSpec::default(), "/", false).response_has_no_body);
    }

    #[test]
    fn braces_are_text_unless_native_options_are_used() {
        let first_line = |expand| {
            let template =
                template(&RequestSpec { expand, ..RequestSpec::default() }, "/{seq:3}", false);
            String::from_utf8(template.bytes[..9].to_vec()).unwrap()
        };
        assert_eq!((&first_line(false)[..], &first_line(true)[..]), ("GET /{seq", "GET /000 "));
    }

    #[test]
    fn requests_of_any_size_are_whole() {
        let headers = vec![[b"X: ", "y".repeat(20_000).as_bytes()].concat()];
        let asked = RequestSpec { headers, ..RequestSpec::default() };
        assert!(sent(&asked, false).ends_with("Accept: */*\r\n\r\n"));
    }
}
