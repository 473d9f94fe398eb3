//! From wrk's options to a spec: its request, its closed loop over some threads, its timeout, and that it accepts any
//! certificate.

use std::collections::BTreeMap;

use ablaze_load::planning::sources;
use ablaze_model::spec::secrets::secret_field;
use ablaze_model::spec::{
    Bodies, Body, Bytes, Head, Line, LoadSpec, RequestsSpec, Secrets, Shape, TrustSpec, UrlSpec,
};
use ablaze_report::shown_command::field_without_secret;
use ablaze_wire::url::{Scheme, Url};

use super::options::{Options, usage};
use crate::error::note;
use crate::{CommandError, native};

/// A request as wrk makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Method.
    pub method: Vec<u8>,
    /// What stands on the request line behind it.
    pub target: Vec<u8>,
    /// Lines of the head, without their ends.
    pub lines: Vec<Vec<u8>>,
    /// The body.
    pub body: Vec<u8>,
}

/// What the options ask for.
///
/// # Errors
/// When the URL is none, or native options exclude each other.
pub fn spec(
    options: &Options,
    url: &Url,
    request: Request,
    secrets: &mut Secrets,
) -> Result<LoadSpec, CommandError> {
    let mut spec = LoadSpec::default();
    spec.destination.url = Some(UrlSpec { shown: options.url.clone(), ..UrlSpec::from(url) });
    spec.requests = requests(request, secrets);
    spec.shape = Shape::Closed { connections: Some(options.connections) };
    spec.workers.threads = Some(options.threads);
    spec.limits.timeout_ns = options.timeout_s * 1_000_000_000;
    native::apply(&options.native, &mut spec, secrets)?;
    if let Shape::Open { connections, .. } = &mut spec.shape {
        *connections = Some(options.connections);
    }
    spec.limits.requests = options.native.load.requests;
    spec.limits.duration_ns = Some(options.duration_s * 1_000_000_000);
    if url.scheme == Scheme::Https {
        spec.tls = native::tls(&options.native.tls, secrets)?;
        if spec.tls.trust == TrustSpec::System {
            spec.tls.trust = TrustSpec::Anyone;
        }
    }
    Ok(spec)
}

/// The URL, which for wrk has a scheme.
///
/// # Errors
/// When it is none.
pub fn url(text: &str) -> Result<Url, CommandError> {
    sources::url(text).map_err(|error| usage(format!("invalid URL: {text}: {error}")))
}

/// The request without a script: `-H` sets a field, the last one of a name counts, and without `: ` it says nothing.
pub fn without_script(options: &Options, url: &Url) -> Request {
    let mut fields: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut order: Vec<Vec<u8>> = vec![b"Host".to_vec()];
    for (name, value) in options.headers.iter().filter_map(|typed| field(typed)) {
        if fields.insert(name.clone(), value).is_none() && name != b"Host" {
            order.push(name);
        }
    }
    fields.entry(b"Host".to_vec()).or_insert_with(|| host(&options.url, url));
    let line = |name: &Vec<u8>| [name, &b": "[..], &fields[name]].concat();
    Request {
        method: b"GET".to_vec(),
        target: target(&options.url, url),
        lines: order.iter().map(line).collect(),
        body: Vec::new(),
    }
}

/// Name and value of a field as wrk reads them; `None` where it reads none.
pub fn field(typed: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let colon = typed.iter().position(|byte| *byte == b':')?;
    let value = typed[colon + 1..].strip_prefix(b" ")?;
    Some((typed[..colon].to_vec(), value.to_vec()))
}

/// Says which values of `-H` wrk would not send.
pub fn note_unread_headers(options: &Options) {
    for typed in options.headers.iter().filter(|typed| field(typed).is_none()) {
        let typed = String::from_utf8_lossy(typed);
        let typed = field_without_secret(&typed);
        note(&format!("-H '{typed}' is not sent, as in wrk: write 'Name: value', with a space"));
    }
}

/// Where the authority of a URL ends and its path begins.
fn behind_authority(typed: &str) -> &str {
    let rest = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    &rest[end..]
}

/// The path with all that stands behind it, in its own bytes; `/` where the URL has none.
pub fn target(typed: &str, url: &Url) -> Vec<u8> {
    match behind_authority(typed) {
        path if path.starts_with('/') => path.as_bytes().to_vec(),
        _ => url.path_and_query.as_bytes().to_vec(),
    }
}

/// The field Host: the port stands in it if it was typed.
fn host(typed: &str, url: &Url) -> Vec<u8> {
    let host = match url.host.contains(':') {
        true => format!("[{}]", url.host),
        false => url.host.clone(),
    };
    match port(typed) {
        Some(port) => format!("{host}:{port}").into_bytes(),
        None => host.into_bytes(),
    }
}

/// The port as typed.
pub fn port(typed: &str) -> Option<&str> {
    let rest = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let authority = &rest[..rest.len() - behind_authority(typed).len()];
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let (_, port) = authority.rsplit_once(':')?;
    (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(port)
}

fn requests(request: Request, secrets: &mut Secrets) -> RequestsSpec {
    let line = |line: Vec<u8>| match secret_field(&line) {
        Some(name) => {
            let text = String::from_utf8_lossy(&line).into_owned();
            Line::Secret(secrets.keep_text(&format!("header {name}"), text))
        }
        None => Line::Text(Bytes(line)),
    };
    RequestsSpec {
        method: Some(Bytes(request.method)),
        head: Head::Verbatim {
            target: Bytes(request.target),
            lines: request.lines.into_iter().map(line).collect(),
            placeholders: false,
        },
        bodies: match request.body.is_empty() {
            true => Bodies::None,
            false => Bodies::Same(Body::Given(Bytes(request.body))),
        },
        ..RequestsSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::options::Parsed;
    use super::*;

    fn request(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let Ok(Parsed::Run(options)) = Options::parse(&words) else { panic!("{words:?}") };
        let url = url(&options.url).unwrap();
        let request = without_script(&options, &url);
        let lines: Vec<String> =
            request.lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        let target = String::from_utf8_lossy(&request.target).into_owned();
        format!("{target} | {}", lines.join(" | "))
    }

    #[test]
    fn the_request_is_wrks() {
        assert_eq!(request(&["http://h"]), "/ | Host: h");
        assert_eq!(request(&["http://h:80/a?b=c#d"]), "/a?b=c#d | Host: h:80");
        assert_eq!(request(&["http://[::1]:8080/"]), "/ | Host: [::1]:8080");
        let words = ["-H", "A: 1", "-H", "Host: other", "-H", "A: 2", "-HB:3", "http://h/"];
        assert_eq!(request(&words), "/ | Host: other | A: 2");
    }
}
