//! From methods, header fields and bodies as typed to [`Requests`]: the fields that every request
//! needs are added, those given replace them, lists of paths or bodies become templates.

mod bodies;
mod own;

use ablaze_model::plan::Requests;
use ablaze_model::plan::groups::Groups;
use ablaze_model::spec::UrlSpec;
use ablaze_model::spec::requests::usual_content_type;
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::credentials;
use ablaze_wire::http1::request::Template;

use crate::Error;
use crate::planning::cookies::Cookies;
use crate::planning::order;

pub use bodies::Bodies;
pub use own::OwnRequest;

/// What shall be sent.
#[derive(Debug, Clone)]
pub struct RequestsAsked {
    /// Where they go; the first, unless `host_of_paths` says another.
    pub hosts: Vec<Host>,
    /// Which of the hosts each of the paths is on; empty where all are on the first.
    pub host_of_paths: Vec<u32>,
    /// Paths with their queries, and how often each comes among the others.
    pub paths: Vec<(String, u64)>,
    /// Method; `None` is GET, or POST when there is a body.
    pub method: Option<String>,
    /// Header lines as typed. One replaces the field of the same name that would be sent by
    /// itself; `Name:` without a value leaves that field out.
    pub headers: Vec<String>,
    /// Body of every request, or bodies to be sent in turn.
    pub bodies: Bodies,
    /// Content-Type of the bodies; `None` guesses.
    pub content_type: Option<String>,
    /// Basic credentials, `name:password`.
    pub user: Option<String>,
    /// Value of the User-Agent field.
    pub user_agent: String,
    /// HTTP minor version.
    pub minor_version: u8,
    /// A proxy that the requests themselves are sent to.
    pub forwarded: Option<Forwarded>,
    /// Ask the server to keep the connection.
    pub keep_alive: bool,
    /// Seed of `{rand:N}`.
    pub seed: u64,
    /// What stands in braces for cells of a feed.
    pub cells: Vec<String>,
    /// Whether `{seq}` and `{rand:N}` are placeholders.
    pub placeholders: bool,
    /// Cookies.
    pub cookies: Cookies,
    /// What each of the paths says itself; empty where none does.
    pub own: Vec<Option<OwnRequest>>,
}

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Value of the Host field, unless a header replaces it.
    pub authority: String,
    /// Whether they go over TLS: some cookies do not without.
    pub is_tls: bool,
}

impl Host {
    /// That of a URL.
    pub fn of(url: &UrlSpec) -> Self {
        Self { authority: url.host_field(), is_tls: url.https }
    }
}

/// What a proxy needs to forward requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forwarded {
    /// What stands before each path: scheme and authority (RFC 9112, 3.2.2).
    pub front: String,
    /// Value of the field Proxy-Authorization.
    pub authorization: Option<String>,
}

/// Whether requests of this size together can be sent: offsets have 32 bits.
///
/// # Errors
/// When they cannot.
pub fn limited(templates: &[Template]) -> Result<(), Error> {
    let bytes: usize = templates.iter().map(|template| template.bytes.len()).sum();
    match u32::try_from(bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::usage(format!(
            "the requests have {bytes} bytes in all, more than 4 GiB: use fewer or shorter ones"
        ))),
    }
}

/// The order in which requests are sent: bodies in turn, or paths by their weights.
///
/// # Errors
/// When all weights are 0.
pub fn order(weights: impl Iterator<Item = u64>, bodies: &Bodies) -> Result<Vec<u32>, Error> {
    match bodies {
        Bodies::InTurn(bodies) if bodies.len() > 1 => Ok((0..bodies.len() as u32).collect()),
        _ => order::spread(&weights.collect::<Vec<_>>()).map_err(Error::usage),
    }
}

impl RequestsAsked {
    /// A GET of one path with nothing special about it.
    pub fn new(authority: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            hosts: vec![Host { authority: authority.into(), is_tls: false }],
            host_of_paths: Vec::new(),
            paths: vec![(path.into(), 1)],
            method: None,
            headers: Vec::new(),
            bodies: Bodies::None,
            content_type: None,
            user: None,
            user_agent: concat!("ablaze/", env!("CARGO_PKG_VERSION")).into(),
            minor_version: 1,
            forwarded: None,
            keep_alive: true,
            seed: 1,
            cells: Vec::new(),
            placeholders: true,
            cookies: Cookies::default(),
            own: Vec::new(),
        }
    }

    /// Builds the requests.
    ///
    /// # Errors
    /// When a method, path, header or weight is none, or the requests exceed 4 GiB together.
    pub fn build(&self) -> Result<Requests, Error> {
        let has_body = self.bodies != Bodies::None || own::have_bodies(&self.own);
        let method = self.method();
        let templates = self.templates(&method)?;
        let method = own::first_method(&self.own).unwrap_or(method);
        limited(&templates)?;
        let order = order(self.paths.iter().map(|(_, weight)| *weight), &self.bodies)?;
        Ok(Requests {
            templates,
            order,
            origins: Vec::new(),
            method,
            minor_version: self.minor_version,
            has_body,
            seed: self.seed,
            groups: Groups::default(),
            data: None,
        })
    }

    /// The method of all requests that do not say it themselves.
    fn method(&self) -> String {
        match &self.method {
            Some(method) => method.clone(),
            None => if self.bodies == Bodies::None { "GET" } else { "POST" }.to_owned(),
        }
    }

    fn check(&self, method: &str) -> Result<(), Error> {
        if !self.cookies.is_empty() && self.given("Cookie").is_some() {
            let text = "--cookie and -H 'Cookie: …' cannot be used together: use only one";
            return Err(Error::usage(text));
        }
        self.check_form(method)?;
        self.check_coding()
    }

    /// A form is a body whose type says where its fields end.
    fn check_form(&self, method: &str) -> Result<(), Error> {
        if !matches!(self.bodies, Bodies::Form(_)) {
            return Ok(());
        }
        let refuse = |what: &str, why: &str| {
            let text = format!("-F and {what} cannot be used together: {why}");
            Err(Error::usage(text))
        };
        let why = "a form is sent as multipart/form-data with a boundary that is chosen here";
        if let "GET" | "HEAD" = method {
            let fix = format!("a form is a body, which {method} does not send; use POST or PUT");
            return refuse(&format!("--method {method}"), &fix);
        }
        if self.content_type.is_some() {
            return refuse("--content-type", why);
        }
        match self.given("Content-Type") {
            Some(_) => refuse("-H 'Content-Type: …'", why),
            None => Ok(()),
        }
    }

    /// Bodies are sent as they are: one that a header line calls chunked must be that already (RFC 9112, 7.1).
    fn check_coding(&self) -> Result<(), Error> {
        let coded =
            |line: &&String| is_named(line, "Transfer-Encoding") && !value_of(line).is_empty();
        let chunked = |body: &[u8]| body.ends_with(b"0\r\n\r\n");
        match self.headers.iter().find(coded) {
            Some(line) if !self.bodies.each().into_iter().all(chunked) => {
                Err(Error::usage(format!(
                    "header `{line}`: bodies are sent as they are, and this one is not in chunks: leave the \
                 header out, and the length is sent"
                )))
            }
            _ => Ok(()),
        }
    }

    fn templates(&self, method: &str) -> Result<Vec<Template>, Error> {
        self.check(method)?;
        let bodies = self.bodies.each();
        if (self.paths.len() > 1 || !self.own.is_empty()) && bodies.len() > 1 {
            return Err(Error::usage(
                "--urls and --body-lines cannot be used together: use only one",
            ));
        }
        let mut templates = Vec::with_capacity(self.paths.len().max(bodies.len()));
        let base = (!self.own.is_empty()).then(|| own::base(self));
        for (index, (path, _)) in self.paths.iter().enumerate() {
            let own = self.own.get(index).and_then(Option::as_ref);
            let host = &self.hosts[self.host_of_paths.get(index).map_or(0, |host| *host as usize)];
            if let (Some(own), Some(base)) = (own, &base) {
                templates.push(own.template(base, host, path)?);
                continue;
            }
            for body in &bodies {
                let template = self.request(method, host, path, body)?;
                templates.push(template);
            }
        }
        Ok(templates)
    }

    fn request(
        &self,
        method: &str,
        host: &Host,
        path: &str,
        body: &[u8],
    ) -> Result<Template, Error> {
        let front = self.forwarded.as_ref().map_or("", |forwarded| &forwarded.front);
        let target = format!("{front}{path}");
        let mut request = RequestBuilder::new(method, target)
            .minor_version(self.minor_version)
            .cells(&self.cells)
            .placeholders(self.placeholders);
        for field in self.own_fields(method, host, body) {
            match (self.given(field.name), field.value) {
                (Some(given), _) if value_of(given).is_empty() => {}
                (Some(given), _) => request = request.header_line(given),
                (None, Value::Text(text)) => request = request.header(field.name, text),
                (None, Value::BodyLength) => request = request.body_length_header(field.name),
            }
        }
        for line in self.additional(method, host, body)? {
            request = request.header_line(line);
        }
        if let Some(value) = self.cookies.field(&self.name_of(host), host.is_tls, path) {
            request = request.header("Cookie", value);
        }
        self.bodies.put(body, request).build().map_err(|error| Error::usage(error.to_string()))
    }

    /// The fields that are sent by themselves, in the order they are sent.
    fn own_fields(&self, method: &str, host: &Host, body: &[u8]) -> Vec<OwnField> {
        let text = |name, value: &str| OwnField { name, value: Value::Text(value.to_owned()) };
        let mut fields = vec![
            text("Host", &host.authority),
            text("User-Agent", &self.user_agent),
            text("Accept", "*/*"),
        ];
        if let Some(user) = &self.user {
            fields.push(text("Authorization", &credentials::basic(user.as_bytes())));
        }
        if let Some(Forwarded { authorization: Some(value), .. }) = &self.forwarded {
            fields.push(text("Proxy-Authorization", value));
        }
        // What each version does without a word (RFC 9112, 9.3) is not said.
        match (self.minor_version, self.keep_alive) {
            (0, true) => fields.push(text("Connection", "keep-alive")),
            (1.., false) => fields.push(text("Connection", "close")),
            _ => {}
        }
        match &self.bodies {
            Bodies::None => {}
            // Its boundary stands there.
            Bodies::Form(form) => fields.push(text("Content-Type", &form.content_type)),
            Bodies::Same(_) | Bodies::InTurn(_) => {
                let guessed = usual_content_type(body);
                fields.push(text("Content-Type", self.content_type.as_deref().unwrap_or(guessed)));
            }
        }
        // RFC 9110, 8.6: a method that anticipates content says so when there is none, too. With a
        // transfer coding the length must not be there (RFC 9112, 6.2).
        let anticipates = matches!(method, "POST" | "PUT" | "PATCH");
        let coded = self.headers.iter().any(|line| is_named(line, "Transfer-Encoding"));
        if (self.bodies != Bodies::None || anticipates) && !coded {
            fields.push(OwnField { name: "Content-Length", value: Value::BodyLength });
        }
        fields
    }

    /// The header lines that replace no field of ours, as typed.
    fn additional(&self, method: &str, host: &Host, body: &[u8]) -> Result<Vec<&str>, Error> {
        let own = self.own_fields(method, host, body);
        for name in ["Host", "Content-Length"] {
            if self.headers.iter().filter(|line| is_named(line, name)).count() > 1 {
                return Err(Error::usage(format!(
                    "header {name} is given twice, which servers reject: use only one"
                )));
            }
        }
        let mut seen: Vec<&str> = Vec::new();
        let lines = self.headers.iter().filter(|line| {
            let replaced = own.iter().find(|field| is_named(line, field.name));
            match replaced {
                // The first took its place above; a second of the same name is one more.
                Some(field) if !seen.contains(&field.name) => {
                    seen.push(field.name);
                    false
                }
                _ => true,
            }
        });
        Ok(lines.map(String::as_str).collect())
    }

    /// The host that cookies are meant for, without port and brackets: the one that the request names, as with curl.
    fn name_of(&self, host: &Host) -> String {
        let authority = self.given("Host").map_or(&host.authority[..], value_of);
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        };
        host.trim_start_matches('[').trim_end_matches(']').to_owned()
    }

    fn given(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|line| is_named(line, name)).map(String::as_str)
    }
}

struct OwnField {
    name: &'static str,
    value: Value,
}

enum Value {
    Text(String),
    BodyLength,
}

fn is_named(line: &str, name: &str) -> bool {
    line.split_once(':').is_some_and(|(own, _)| own.eq_ignore_ascii_case(name))
}

fn value_of(line: &str) -> &str {
    line.split_once(':').map_or("", |(_, value)| value.trim())
}

#[cfg(test)]
mod tests;
