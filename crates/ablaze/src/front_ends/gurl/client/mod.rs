//! The client of `ablaze gurl`: one request at a time, over connections that are kept, redirects followed as Go's net/http
//! follows them. What is a request ([`planning::requests`]), how a response is read (`incoming`, on the codecs of `wire`), whom
//! TLS trusts ([`planning::tls`]) and where a host is ([`planning::addresses`]) are the parts that load; the engine
//! itself drives many connections to the one place of a Plan, where this one goes wherever the next line or a redirect says.

mod connection;
mod incoming;
mod redirect;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ablaze_engine::transport::tls::Shared;
use ablaze_load::planning::addresses::{self, Role};
use ablaze_load::planning::requests::{Bodies, RequestsAsked};
use ablaze_load::planning::{self, OptionNames};
use ablaze_model::spec::{Body, Family, Secrets, TlsSpec, TrustSpec};
use ablaze_wire::http1::request::Template;
use ablaze_wire::url::{Scheme, Url};

use self::connection::Connection;
pub use self::incoming::{Deliver, Head, Piece};
use self::redirect::Redirect;
use super::request::Request;
use crate::CommandError;

/// Requests in a chain of redirects; Go ends there.
const REQUESTS_MAX: u32 = 10;
/// Connections that are kept, the oldest closed first.
const KEPT_MAX: usize = 16;
/// As much of a redirect's body is read for the sake of its connection.
const DISCARDED_BYTES_MAX: usize = 64 * 1024;

/// Whom TLS trusts, made once for each host and shared by all clients of a stage.
#[derive(Default)]
pub struct Trusted {
    insecure: bool,
    by_host: Mutex<HashMap<String, Shared>>,
}

impl Trusted {
    /// `insecure`: any certificate is accepted.
    pub fn new(insecure: bool) -> Self {
        Self { insecure, ..Self::default() }
    }

    fn shared(&self, host: &str) -> Result<Shared, String> {
        let mut by_host = self.by_host.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = by_host.get(host) {
            return Ok(shared.clone());
        }
        let trust = if self.insecure { TrustSpec::Anyone } else { TrustSpec::System };
        let asked = TlsSpec { trust, ..TlsSpec::default() };
        let tls = planning::tls::resolve(&asked, host, Some("http/1.1"), &Secrets::default())
            .map_err(|error| error.to_string())?;
        let shared = Shared::new(&tls).map_err(|error| error.to_string())?;
        by_host.insert(host.to_owned(), shared.clone());
        Ok(shared)
    }
}

/// Sends requests, one at a time.
pub struct Client {
    trusted: Arc<Trusted>,
    timeout: Option<Duration>,
    kept: Vec<(Place, Connection)>,
}

/// Where a connection goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    scheme: Scheme,
    host: String,
    port: u16,
}

impl Place {
    fn of(url: &Url) -> Self {
        Self { scheme: url.scheme, host: url.host.to_ascii_lowercase(), port: url.port }
    }
}

impl Client {
    /// A client whose requests, redirects included, may take so long.
    pub fn new(trusted: Arc<Trusted>, timeout_ns: Option<u64>) -> Self {
        Self { trusted, timeout: timeout_ns.map(Duration::from_nanos), kept: Vec::new() }
    }

    /// Sends a request, follows where it is redirected to, and hands over the last response.
    ///
    /// # Errors
    /// Why there is none, or no whole one, behind the URL that it was about.
    pub fn perform(&mut self, request: &Request, deliver: Deliver<'_>) -> Result<(), String> {
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut request = request.clone();
        for _ in 0..REQUESTS_MAX {
            let of_url = |line: String| format!("{}: {line}", request.url);
            let template = template(&request).map_err(of_url)?;
            let mut redirect = None;
            let mut discarded_bytes = 0;
            let mut hear = |piece: Piece<'_>| match piece {
                Piece::Head(head) => {
                    redirect = Redirect::of(&head);
                    redirect.is_some() || deliver(Piece::Head(head))
                }
                Piece::Body(bytes) if redirect.is_some() => {
                    discarded_bytes += bytes.len();
                    discarded_bytes <= DISCARDED_BYTES_MAX
                }
                body => deliver(body),
            };
            self.exchange(&request, &template, deadline, &mut hear).map_err(of_url)?;
            match redirect {
                None => return Ok(()),
                Some(redirect) => request = redirect.follow(&request).map_err(of_url)?,
            }
        }
        Err(format!("{}: stopped after {REQUESTS_MAX} redirects", request.url))
    }

    /// Over a connection that is kept, or a new one.
    fn exchange(
        &mut self,
        request: &Request,
        template: &Template,
        deadline: Option<Instant>,
        deliver: Deliver<'_>,
    ) -> Result<(), String> {
        let place = Place::of(&request.url);
        while let Some(at) = self.kept.iter().rposition(|(own, _)| *own == place) {
            let (_, mut connection) = self.kept.remove(at);
            if connection.is_stale() {
                continue;
            }
            match connection.exchange(template, deadline, deliver) {
                Ok(stays) => {
                    self.keep(place, connection, stays);
                    return Ok(());
                }
                // The server closed it while the request was under way (RFC 9110, 9.2.2).
                Err(failure) if failure.before_response && is_idempotent(template) => {}
                Err(failure) => return Err(failure.line),
            }
        }
        let url = &request.url;
        let addresses =
            addresses::of_host(&url.host, url.port, Family::Any, Role::Target, &OptionNames::GURL)
                .map_err(|error| error.to_string())?;
        let tls = match url.scheme {
            Scheme::Http => None,
            Scheme::Https => Some(self.trusted.shared(&url.host)?),
        };
        let mut connection = Connection::open(&addresses, tls.as_ref(), deadline)?;
        let stays =
            connection.exchange(template, deadline, deliver).map_err(|failure| failure.line)?;
        self.keep(place, connection, stays);
        Ok(())
    }

    fn keep(&mut self, place: Place, connection: Connection, stays: bool) {
        if !stays {
            return;
        }
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push((place, connection));
    }
}

/// Whether words make a request.
///
/// # Errors
/// Why not.
pub fn check(request: &Request) -> Result<(), CommandError> {
    template(request).map(drop).map_err(CommandError::usage)
}

fn is_idempotent(template: &Template) -> bool {
    let methods = ["GET ", "HEAD ", "OPTIONS ", "TRACE ", "PUT ", "DELETE "];
    methods.iter().any(|method| template.bytes.starts_with(method.as_bytes()))
}

/// The bytes, as `-bench` sends them; braces have no meaning here.
fn template(request: &Request) -> Result<Template, String> {
    let mut asked = RequestsAsked::new(request.url.host_header(), &request.url.path_and_query);
    asked.method.clone_from(&request.method);
    asked.headers.clone_from(&request.headers);
    let refers = |line: &String| line.to_ascii_lowercase().starts_with("referer:");
    if let (Some(url), false) = (&request.referer, request.headers.iter().any(refers)) {
        asked.headers.push(format!("Referer: {url}"));
    }
    asked.user.clone_from(&request.url.userinfo);
    asked.user_agent.clone_from(&request.user_agent);
    asked.content_type.clone_from(&request.content_type);
    asked.placeholders = false;
    asked.bodies = match &request.body {
        None => Bodies::None,
        Some(Body::Given(bytes)) => Bodies::Same(bytes.0[..].into()),
        Some(Body::File(file)) => Bodies::Same(file.shared().map_err(|error| error.to_string())?),
    };
    let mut built = asked.build().map_err(|error| error.to_string())?;
    Ok(built.templates.swap_remove(0))
}
