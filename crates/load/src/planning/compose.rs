//! What of a spec does not depend on the machine: requests as bytes, TLS, the way through a proxy.
//! Secrets and files come in here.

use std::sync::Arc;

use ablaze_model::plan::checks::PlannedChecks;
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::journey::PlannedJourney;
use ablaze_model::plan::proxy::{Credentials, Proxy, Way};
use ablaze_model::plan::tls::Tls;
use ablaze_model::plan::{Http2, Http3, Requests};
use ablaze_model::spec::{
    Blob, Bodies as BodiesSpec, Body, Head, HttpVersion, Line, LoadSpec, ProxySpec, Secrets,
    UrlSpec,
};
use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::request::Template;

use super::checks;
use super::cookies::Cookies;
use super::data::Columns;
use super::form::Form;
use super::hosts::{self, Other};
use super::http3;
use super::journey;
use super::requests::{Bodies, Forwarded, Host, OwnRequest, RequestsAsked, limited, order};
use super::sources;
use super::tls;
use super::urls::{self, UrlList};
use crate::Error;

/// Stands for a target that is not known yet.
const STAND_IN: &str = ":1/";

/// The same where HTTP/3 is spoken, which is for `https` alone.
const SECURE_STAND_IN: &str = "https://127.0.0.1:1/";

/// The parts of a Plan that do not depend on the machine.
#[derive(Debug, Clone)]
pub struct Composed {
    /// Where the load goes.
    pub url: UrlSpec,
    /// What is sent.
    pub requests: Requests,
    /// The journey whose steps they are.
    pub journey: Option<PlannedJourney>,
    /// What every response is checked for.
    pub checks: Option<Arc<PlannedChecks>>,
    /// TLS on every connection.
    pub tls: Option<Tls>,
    /// HTTP/2 on every connection.
    pub http2: Option<Http2>,
    /// HTTP/3, if it is spoken.
    pub http3: Option<Http3>,
    /// The proxy that is connected to instead.
    pub proxy: Option<Proxy>,
    /// Where a journey or a list goes beside the URL.
    pub others: Vec<Other>,
}

/// Makes them.
///
/// # Errors
/// When there is no URL, a secret or the bytes of a file were not handed over, or something in the
/// requests or in TLS cannot be used. The line names it.
pub fn compose(spec: &LoadSpec, secrets: &Secrets) -> Result<Composed, Error> {
    let Some(url) = &spec.destination.url else {
        return Err(Error::usage("missing URL, for example `ablaze :8080/`"));
    };
    http3::check(spec, url)?;
    let proxy = spec.destination.proxy.as_ref().map(|proxy| of_proxy(proxy, spec, url, secrets));
    let proxy = proxy.transpose()?;
    let (requests, journey, others) = match &spec.requests.journey {
        None => {
            let (requests, others) = requests(spec, url, proxy.as_ref(), secrets)?;
            (requests, None, others)
        }
        Some(asked) => {
            let (requests, journey, others) =
                journey::compose(asked, spec, url, proxy.as_ref(), secrets)?;
            (requests, Some(journey), others)
        }
    };
    http3::check_others(spec, &others)?;
    let asked = http3::tls_of(spec);
    let tls = match url.https {
        true => Some(tls::resolve(&asked, &url.host, protocol(spec), secrets)?),
        false => None,
    };
    let others = hosts::secured(spec, &asked, others, protocol(spec), secrets)?;
    let http2 = spec.is_http2().then_some(Http2 { streams: spec.in_flight });
    let http3 = spec.is_http3().then(|| spec.quic.with_streams(spec.in_flight));
    let checks = checks::compose(spec, secrets)?;
    Ok(Composed { url: url.clone(), requests, journey, checks, tls, http2, http3, proxy, others })
}

/// What is sent by a load that need not be aimed at a target yet.
///
/// # Errors
/// When it cannot.
pub fn unaimed(spec: &LoadSpec, secrets: &Secrets) -> Result<Composed, Error> {
    let mut aimed = spec.clone();
    if aimed.destination.url.is_none() {
        let own = match &spec.requests.journey {
            Some(asked) => {
                let asked_of = &spec.requests;
                journey::url(asked, &asked_of.users, asked_of.data.as_ref(), secrets)?
            }
            // A list that names its host: another one in its place would be none of it.
            None => spec
                .requests
                .urls
                .as_ref()
                .and_then(|feed| urls::url_list(feed, None).ok())
                .map(|list| list.url),
        };
        let stand_in = if spec.is_http3() { SECURE_STAND_IN } else { STAND_IN };
        let url = own.map_or_else(|| sources::url(stand_in), Ok)?;
        aimed.destination.url = Some(UrlSpec::from(&url));
    }
    compose(&aimed, secrets)
}

/// How requests for this URL get through a proxy: what it could not read goes through a tunnel.
pub fn way(proxy: &ProxySpec, spec: &LoadSpec, url: &UrlSpec) -> Way {
    let tunnels = url.https || spec.is_http2();
    proxy.way.unwrap_or(if tunnels { Way::Tunnel } else { Way::Forward })
}

fn of_proxy(
    proxy: &ProxySpec,
    spec: &LoadSpec,
    url: &UrlSpec,
    secrets: &Secrets,
) -> Result<Proxy, Error> {
    let field = proxy.credentials.as_ref().map(|of| secrets.text(of)).transpose()?;
    let credentials = field.map(|field| Credentials { field: field.to_owned() });
    Ok(Proxy {
        host: proxy.host.clone(),
        port: proxy.port,
        way: way(proxy, spec, url),
        credentials,
    })
}

/// The application protocol that is offered under TLS.
fn protocol(spec: &LoadSpec) -> Option<&'static str> {
    match spec.http.unwrap_or(HttpVersion::Http11) {
        HttpVersion::Http10 => None,
        HttpVersion::Http2 => Some("h2"),
        HttpVersion::Http3 => Some("h3"),
        _ => Some("http/1.1"),
    }
}

fn minor_version(spec: &LoadSpec) -> u8 {
    spec.http.map_or(1, |version| version.minor())
}

fn requests(
    spec: &LoadSpec,
    url: &UrlSpec,
    proxy: Option<&Proxy>,
    secrets: &Secrets,
) -> Result<(Requests, Vec<UrlSpec>), Error> {
    let asked = &spec.requests;
    let list = match &asked.urls {
        Some(feed) => Some(urls::url_list(feed, Some(&url.to_url()))?),
        None => None,
    };
    let paths = list.as_ref().map(UrlList::paths);
    let bodies = bodies(&asked.bodies)?;
    let columns = asked.data.as_ref().map(Columns::of).transpose()?;
    let others = list.as_ref().map(UrlList::other_hosts).unwrap_or_default();
    let forwards = proxy.is_some_and(|proxy| proxy.way == Way::Forward);
    let scheme = if url.https { "https" } else { "http" };
    let front = forwards.then(|| format!("{scheme}://{}", url.host_field()));
    let composed = match &asked.head {
        Head::Verbatim { .. } if !others.is_empty() => {
            return Err(Error::usage(format!(
                "the URLs of --urls go to several hosts, also to {}, and every request here names the same: use `ablaze load`",
                others[0].host_field()
            )));
        }
        Head::Verbatim { target, lines, placeholders } => {
            let front = front.unwrap_or_default();
            let targets = match paths {
                Some(paths) => paths
                    .into_iter()
                    .map(|(path, weight)| (format!("{front}{path}").into_bytes(), weight))
                    .collect(),
                None => vec![(target.0.clone(), 1)],
            };
            let cells = columns.as_ref().map_or(&[][..], |columns| &columns.names);
            let verbatim = Verbatim { lines, placeholders: *placeholders, cells, secrets };
            verbatim.requests(spec, &targets, &bodies)
        }
        Head::Composed { lines, content_type, user, user_agent } => {
            let credentials = || proxy.and_then(|proxy| proxy.credentials.as_ref());
            let mut composed = RequestsAsked::new(url.host_field(), url.path.clone());
            composed.paths = paths.unwrap_or(composed.paths);
            composed.method = asked.method.as_ref().map(|method| text(&method.0));
            let line = |line: &Line| match line {
                Line::Text(line) => Ok(text(&line.0)),
                Line::Secret(of) => secrets.text(of).map(str::to_owned),
                Line::BodyLength(name) => Ok(format!("{name}:")),
            };
            composed.headers = lines.iter().map(line).collect::<Result<_, _>>()?;
            composed.bodies = bodies;
            composed.own = own_requests(list.as_ref(), &asked.url_files)?;
            composed.hosts = [url].into_iter().chain(&others).map(Host::of).collect();
            composed.host_of_paths = list.as_ref().map(UrlList::host_of_paths).unwrap_or_default();
            if let Some(cookies) = &asked.cookies {
                composed.cookies = Cookies::of(cookies, secrets)?;
            }
            composed.content_type.clone_from(content_type);
            composed.user =
                user.as_ref().map(|of| secrets.text(of).map(str::to_owned)).transpose()?;
            composed.user_agent = user_agent.clone().unwrap_or(composed.user_agent);
            composed.minor_version = minor_version(spec);
            composed.forwarded = front.map(|front| Forwarded {
                front,
                authorization: credentials().map(|credentials| credentials.field.clone()),
            });
            composed.keep_alive = spec.connections.keep_alive;
            composed.seed = asked.seed;
            if let Some(columns) = &columns {
                composed.cells.clone_from(&columns.names);
            }
            composed.build()
        }
    };
    let origins = match others.is_empty() {
        true => Vec::new(),
        false => list.as_ref().map(UrlList::host_of_paths).unwrap_or_default(),
    };
    let groups = list.map_or_else(Groups::default, groups);
    let mut requests = Requests { groups, origins, ..composed? };
    if let Some(columns) = columns {
        requests.data = Some(columns.read(&mut requests.templates)?);
    }
    Ok((requests, others))
}

/// What the entries of a list say themselves; nothing where none does.
fn own_requests(
    list: Option<&UrlList>,
    files: &[(String, Blob)],
) -> Result<Vec<Option<OwnRequest>>, Error> {
    let Some(list) = list.filter(|list| list.has_methods()) else { return Ok(Vec::new()) };
    let own = |own: &urls::Own| {
        let (at, method, headers) = (own.at.clone(), own.method.clone(), own.headers.clone());
        Ok(OwnRequest { at, method, headers, body: own.body_bytes(files)? })
    };
    list.entries.iter().map(|entry| entry.own.as_ref().map(own).transpose()).collect()
}

/// The lines of a list of URLs, each of which is a template, as groups.
fn groups(list: UrlList) -> Groups {
    let names: Vec<String> = list.entries.into_iter().map(|entry| entry.name).collect();
    Groups::of(&names)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn bodies(asked: &BodiesSpec) -> Result<Bodies, Error> {
    Ok(match asked {
        BodiesSpec::None => Bodies::None,
        BodiesSpec::Same(Body::Given(bytes)) => Bodies::Same(bytes.0[..].into()),
        BodiesSpec::Same(Body::File(file)) => Bodies::Same(file.shared()?),
        BodiesSpec::InTurn(feed) => Bodies::InTurn(sources::body_lines(feed)?),
        BodiesSpec::Form(fields) => Bodies::Form(Form::of(fields)?),
    })
}

/// Requests to which nothing is added.
struct Verbatim<'a> {
    lines: &'a [Line],
    placeholders: bool,
    cells: &'a [String],
    secrets: &'a Secrets,
}

impl Verbatim<'_> {
    fn requests(
        &self,
        spec: &LoadSpec,
        targets: &[(Vec<u8>, u64)],
        bodies: &Bodies,
    ) -> Result<Requests, Error> {
        let has_body = *bodies != Bodies::None;
        let usual = if has_body { "POST" } else { "GET" };
        let method = spec.requests.method.as_ref().map_or(usual.as_bytes(), |method| &method.0);
        let mut templates = Vec::new();
        for (target, _) in targets {
            for body in bodies.each() {
                let request = RequestBuilder::new(method, target.as_slice())
                    .minor_version(minor_version(spec));
                templates.push(self.template(request, bodies, body)?);
            }
        }
        limited(&templates)?;
        Ok(Requests {
            order: order(targets.iter().map(|(_, weight)| *weight), bodies)?,
            templates,
            origins: Vec::new(),
            method: text(method),
            minor_version: minor_version(spec),
            has_body,
            seed: spec.requests.seed,
            groups: Groups::default(),
            data: None,
        })
    }

    fn template(
        &self,
        request: RequestBuilder,
        bodies: &Bodies,
        body: &[u8],
    ) -> Result<Template, Error> {
        let mut request = request.verbatim().placeholders(self.placeholders).cells(self.cells);
        for line in self.lines {
            request = match line {
                Line::Text(line) => request.header_line(line.0.as_slice()),
                Line::BodyLength(name) => request.body_length_header(name.as_str()),
                Line::Secret(of) => request.header_line(self.secrets.text(of)?),
            };
        }
        bodies.put(body, request).build().map_err(|error| Error::usage(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::spec::BlobError;

    use super::*;

    fn spec(secrets: &mut Secrets) -> LoadSpec {
        let mut spec = LoadSpec::default();
        let (url, _) = UrlSpec::parse("http://h:1/x").unwrap();
        spec.destination.url = Some(url);
        let user = Some(secrets.keep_text("user", "me:s3cret"));
        spec.requests.head =
            Head::Composed { lines: Vec::new(), content_type: None, user, user_agent: None };
        spec
    }

    #[test]
    fn a_spec_that_was_read_back_needs_its_secrets_and_files_again() {
        let mut secrets = Secrets::default();
        let mut spec = spec(&mut secrets);
        let refused = compose(&spec, &Secrets::default()).unwrap_err();
        assert!(refused.to_string().contains("the secret `user`"), "{refused}");
        assert!(compose(&spec, &secrets).is_ok());
        spec.requests.bodies = BodiesSpec::Same(Body::File(Blob::new("b.json", b"{}".to_vec())));
        assert!(compose(&spec, &secrets).unwrap().requests.has_body);
        let saved = serde_json::to_string(&spec).unwrap();
        let read: LoadSpec = serde_json::from_str(&saved).unwrap();
        let refused = compose(&read, &secrets).unwrap_err().to_string();
        assert_eq!(refused, BlobError::Missing("b.json".into()).to_string());
    }

    #[test]
    fn the_version_of_http_is_offered_under_tls() {
        let mut spec = LoadSpec::default();
        assert_eq!(protocol(&spec), Some("http/1.1"));
        spec.http = Some(HttpVersion::Http10);
        assert_eq!(protocol(&spec), None);
        spec.http = Some(HttpVersion::Http2);
        assert_eq!(protocol(&spec), Some("h2"));
        spec.http = Some(HttpVersion::Http3);
        assert_eq!(protocol(&spec), Some("h3"));
    }
}
