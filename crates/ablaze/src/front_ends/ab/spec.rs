//! From ab's options to a spec. The checks ab makes between options are here, in its order and with its
//! messages.

use ablaze_load::planning::addresses::{self, Role};
use ablaze_load::planning::{OptionNames, compose, order, sources, urls};
use ablaze_model::plan::ClockStarts;
use ablaze_model::plan::proxy::Way;
use ablaze_model::spec::{
    Bodies, Bytes, Family, Feed, FrontEnd, Head, HttpVersion, LoadSpec, ProxySpec, RequestsSpec,
    Secrets, Shape, UrlSpec,
};
use ablaze_wire::url::Url;

use super::error::AbError;
use super::native::{apply_request, unusable};
use super::options::Options;
use super::outcome::EXPIRED_NS;
use super::request::{self, Destination};
use super::tls;
use super::verbose;
use crate::native;

/// Most connections ab takes.
const CONCURRENCY_MAX: i64 = 200_000;

/// What these options ask for, native ones applied to ab's.
///
/// # Errors
/// When the URL is none, numbers do not fit together or a file cannot be read.
pub fn spec(
    options: &Options,
    native: &native::Options,
    secrets: &mut Secrets,
) -> Result<LoadSpec, AbError> {
    let text = String::from_utf8_lossy(&options.url);
    let url = Url::parse_like_ab(&text).map_err(|_| invalid_url(&text))?;
    let host = options.request.host();
    let mut spec = LoadSpec {
        tls: tls::spec(&options.tls, &native.tls, &url, host.as_deref(), secrets)?,
        http: Some(HttpVersion::Http10),
        front_end: FrontEnd::Ab,
        ..LoadSpec::default()
    };
    spec.tls.list_messages = verbose::lists_messages(options.verbosity);
    let concurrency = concurrency(options, native)?;
    let keep_alive = options.keep_alive
        && !native.connection.no_keepalive
        && native.connection.requests_per_connection != Some(1);
    spec.destination.url = Some(UrlSpec { shown: text.into_owned(), ..UrlSpec::from(&url) });
    let mut request = options.request.clone();
    let proxy = proxy(options, native, &spec, &mut request, secrets)?;
    spec.destination.proxy.clone_from(&proxy);
    spec.requests = requests(request, native, &spec, options, keep_alive, secrets)?;
    spec.shape = Shape::Closed { connections: Some(concurrency) };
    limits(options, &mut spec)?;
    let connections = &mut spec.connections;
    connections.keep_alive = keep_alive;
    connections.clock_starts = ClockStarts::BeforeConnecting;
    connections.socket_buffer_bytes = options.window_bytes;
    if let Some(name) = &options.bind {
        let address = local_address(name)?;
        connections.local_addresses = vec![address];
        spec.destination.family = if address.is_ipv4() { Family::V4 } else { Family::V6 };
    }
    spec.keep_every_request = options.gnuplot.is_some();
    native::apply(native, &mut spec, secrets).map_err(|error| AbError::native_usage(error.line))?;
    // Its credentials came with ab's own request.
    spec.destination.proxy = proxy;
    if let Shape::Open { connections, .. } = &mut spec.shape
        && options.concurrency > 1
    {
        // ab's -c without --connections: a maximum, like a native -c.
        *connections = Some(concurrency);
    }
    // Applied, a native end replaces both of ab's; here only the one of its kind.
    spec.limits.requests = requests_limit(options, native);
    spec.limits.duration_ns = native.load.duration.or(time_limit_ns(options));
    // What cannot be sent is said before anything is printed.
    compose(&spec, secrets).map_err(|error| AbError::text(error.to_string()))?;
    Ok(spec)
}

/// What is wrong with a URL that ab does not take. Most that the native command line takes lack
/// only their path.
fn invalid_url(text: &str) -> AbError {
    let fix = match Url::parse(text) {
        Ok(url) if url.userinfo.is_some() => {
            format!("ab accepts no user in a URL: use -A NAME:PASSWORD {url}")
        }
        Ok(url) => format!("`{text}` is not a URL for ab: use {url}"),
        Err(error) => error.to_string(),
    };
    AbError::usage("invalid URL", fix)
}

/// The name that is looked up, for messages.
pub fn host_to_resolve(spec: &LoadSpec) -> &str {
    let destination = &spec.destination;
    let of_url = || destination.url.as_ref().map_or("", |url| &url.host);
    destination.proxy.as_ref().map_or_else(of_url, |proxy| &proxy.host)
}

/// ab's single request, unless a native duration ends the run.
fn requests_limit(options: &Options, native: &native::Options) -> Option<u64> {
    let default = native.load.duration.is_none().then_some(1);
    native.load.requests.or(options.requests).or(default)
}

fn concurrency(options: &Options, native: &native::Options) -> Result<u32, AbError> {
    if let Some(connections) = native.load.connections {
        return Ok(connections);
    }
    let requests = requests_limit(options, native).unwrap_or(u64::MAX);
    if requests == 0 {
        return Err(AbError::native_usage("0 requests measure nothing: use --requests 1 or more"));
    }
    match options.concurrency {
        0 => Err(AbError::usage(
            "Cannot use concurrency level 0",
            "0 connections send nothing: use -c 1 or more",
        )),
        level @ 1..=CONCURRENCY_MAX if level as u64 > requests => Err(AbError::usage(
            "Cannot use concurrency level greater than total number of requests",
            format!(
                "-c {level} needs at least as many requests, but -n is {requests}: use -n {level} \
                 or more, or a lower -c"
            ),
        )),
        level @ 1..=CONCURRENCY_MAX => Ok(level as u32),
        level => Err(AbError::usage(
            format!("Invalid Concurrency [Range 0..{CONCURRENCY_MAX}]"),
            format!("-c {level}: use -c 1 to {CONCURRENCY_MAX}"),
        )),
    }
}

/// The proxy of `-X`, which is sent the requests whatever the URL, or of `--proxy`, which makes
/// tunnels for https. Credentials are asked for by who reads them.
fn proxy(
    options: &Options,
    native: &native::Options,
    spec: &LoadSpec,
    request: &mut request::RequestSpec,
    secrets: &mut Secrets,
) -> Result<Option<ProxySpec>, AbError> {
    let Some(asked) = &native.connection.way.proxy else { return proxy_of_ab(options) };
    if options.proxy.is_some() {
        return Err(AbError::native_usage("-X and --proxy cannot be used together: use only one"));
    }
    let mut proxy = asked.spec(secrets);
    if spec.destination.url.as_ref().is_some_and(|url| url.https) {
        let typed = request.take_proxy_credentials();
        let typed = typed.map(|field| secrets.keep_text("proxy", field));
        proxy.credentials = proxy.credentials.or(typed);
    } else if let Some(user) = &asked.user {
        request.add_credentials(request::PROXY_AUTHORIZATION, user.as_bytes());
    }
    Ok(Some(proxy))
}

fn proxy_of_ab(options: &Options) -> Result<Option<ProxySpec>, AbError> {
    let Some((host, port)) = &options.proxy else { return Ok(None) };
    match u16::try_from(*port) {
        Ok(port) if port > 0 => Ok(Some(ProxySpec {
            host: host.clone(),
            port,
            way: Some(Way::Forward),
            credentials: None,
        })),
        // ab takes port 0 and is refused by it.
        _ => {
            let host = if host.is_empty() { "HOST" } else { host };
            Err(AbError::system_call("apr_socket_recv", libc::ECONNREFUSED)
                .with_fix(format!("-X has no port from 1 to 65535, for example -X {host}:3128")))
        }
    }
}

fn requests(
    mut request: request::RequestSpec,
    native: &native::Options,
    spec: &LoadSpec,
    options: &Options,
    keep_alive: bool,
    secrets: &mut Secrets,
) -> Result<RequestsSpec, AbError> {
    if !native.request.journey_files.is_empty()
        || native.request.journey.given().or(native.request.users.given()).is_some()
    {
        let text = "journeys are walked by `ablaze load --journey FILE.hurl`, not by `ablaze ab`";
        return Err(AbError::native_usage(text));
    }
    if let Some(option) = native.request.bodies.given() {
        let text = format!("{option} is an option of `ablaze load`, not of `ablaze ab`");
        return Err(AbError::native_usage(text));
    }
    let url = spec.destination.url.as_ref().map(UrlSpec::to_url);
    let feed = match &native.request.urls {
        Some(path) => Some(Feed::of(sources::file(path, "--urls").map_err(unusable)?)),
        None => None,
    };
    let list = feed.as_ref().map(|feed| urls::url_list(feed, url.as_ref()));
    let list = list.transpose().map_err(unusable)?;
    let bodies = apply_request(native, &mut request)?;
    request.check()?;
    if let Some(list) = list {
        if list.has_methods() {
            return Err(AbError::native_usage(
                "lines of --urls with a method are for `ablaze load`: `ablaze ab` sends one kind of request",
            ));
        }
        if list.entries.len() > 1 && matches!(bodies, Bodies::InTurn(_)) {
            return Err(AbError::native_usage(
                "--urls and --body-lines cannot be used together: use only one",
            ));
        }
        let weights: Vec<u64> = list.entries.iter().map(|entry| entry.weight).collect();
        order::spread(&weights).map_err(unusable)?;
    }
    let host = url.as_ref().map_or_else(String::new, Url::host_header);
    let destination = Destination { host: host.as_bytes(), keep_alive };
    let lines = request.lines(destination, bodies != Bodies::None, secrets);
    Ok(RequestsSpec {
        method: Some(Bytes(request.method_name().to_vec())),
        head: Head::Verbatim { target: target(options, spec), lines, placeholders: request.expand },
        urls: feed,
        bodies,
        data: native::data(&native.request).map_err(unusable)?,
        seed: native.request.seed.unwrap_or(1),
        ..RequestsSpec::default()
    })
}

/// What stands on the request line: through a proxy that reads it, the URL.
fn target(options: &Options, spec: &LoadSpec) -> Bytes {
    if options.proxy.is_some() {
        return Bytes(options.url.clone());
    }
    let forwards = spec.destination.proxy.is_some();
    let front = match &spec.destination.url {
        Some(url) if forwards && !url.https => format!("http://{}", url.host_field()),
        _ => String::new(),
    };
    Bytes([front.as_bytes(), path(&options.url)].concat())
}

/// The path of a URL that was read already, in its own bytes.
fn path(url: &[u8]) -> &[u8] {
    let schemes = [&b"http://"[..], b"https://"];
    let rest = schemes.iter().find_map(|scheme| url.strip_prefix(*scheme)).unwrap_or(url);
    let slash = rest.iter().position(|b| *b == b'/').unwrap_or(0);
    &rest[slash..]
}

fn limits(options: &Options, spec: &mut LoadSpec) -> Result<(), AbError> {
    let limits = &mut spec.limits;
    limits.timeout_ns = match options.timeout_s {
        ..0 => 0,
        0 => {
            return Err(AbError::timed_out().with_fix(
                "-s 0 leaves no time for a response: use -s 1 or more, or -s -1 for no limit",
            ));
        }
        seconds => nanoseconds(seconds),
    };
    // ab gives up at the first refused connection, with -r never.
    limits.unreachable_after = if options.tolerate_receive_errors { u32::MAX } else { 1 };
    Ok(())
}

fn time_limit_ns(options: &Options) -> Option<u64> {
    options.time_limit_s.map(|seconds| match seconds {
        ..=0 => EXPIRED_NS,
        _ => nanoseconds(seconds),
    })
}

fn nanoseconds(seconds: i64) -> u64 {
    seconds.unsigned_abs().saturating_mul(1_000_000_000)
}

fn local_address(name: &str) -> Result<std::net::IpAddr, AbError> {
    // Any port will do: only the address is wanted.
    let found = addresses::of_host(name, 1, Family::Any, Role::Local("-B"), &OptionNames::AB);
    let addresses = found.map_err(|error| AbError::of_planning(error.into(), name))?;
    addresses
        .first()
        .map(|address| address.ip())
        .ok_or_else(|| AbError::text(format!("-B {name} has no address")))
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
