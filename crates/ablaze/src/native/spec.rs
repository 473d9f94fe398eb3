//! From native options to a spec: the options are applied to one that holds some front end's defaults.

use ablaze_load::planning::{journey, sources, tls as planned_tls, urls};
use ablaze_model::plan::Arrivals;
use ablaze_model::spec::secrets::secret_field;
use ablaze_model::spec::{
    Bodies, Bytes, DataSpec, Family, Feed, Head, Line, LoadSpec, RequestsSpec, Secret, Secrets,
    Shape, TlsSpec, TrustSpec, UrlSpec,
};

use super::options::{
    ConnectionOptions, LoadOptions, MachineOptions, Options, RequestOptions, TlsOptions,
};
use super::streams;
use crate::{CommandError, values};

/// Everything a native command line asks for.
///
/// # Errors
/// When a URL, a header or a file cannot be used.
pub fn spec(
    url: Option<&str>,
    options: &Options,
    secrets: &mut Secrets,
) -> Result<LoadSpec, CommandError> {
    url.map_or(Ok(()), check_placeholders)?;
    let url = url.map(sources::url).transpose()?;
    let mut spec = template_without_tls(options, secrets)?;
    let list = match &spec.requests.urls {
        Some(feed) => Some(urls::url_list(feed, url.as_ref())?),
        None => None,
    };
    let of_journey = match &spec.requests.journey {
        Some(own) => {
            let asked = &spec.requests;
            journey::url(own, &asked.users, asked.data.as_ref(), secrets)?
        }
        None => None,
    };
    let has_others = list.as_ref().is_some_and(|list| !list.others.is_empty());
    let Some(url) = list.map(|list| list.url).or(url).or(of_journey) else {
        if let Some(own) = &spec.requests.journey {
            let file = &own.file.name;
            let text =
                format!("the steps of `{file}` are paths alone: give the URL of the server, too");
            return Err(CommandError::usage(text));
        }
        return Err(CommandError::usage("missing URL, for example `ablaze :8080/`"));
    };
    if let (Head::Composed { user: user @ None, .. }, Some(typed)) =
        (&mut spec.requests.head, &url.userinfo)
    {
        *user = Some(secrets.keep_text("user", typed.clone()));
    }
    spec.destination.url = Some(UrlSpec::from(&url));
    // TLS options have no effect on http, and their files need not exist; steps of a journey and lines
    // of a list may go to https all the same.
    let is_https = spec.destination.url.as_ref().is_some_and(|url| url.https);
    if is_https || has_others || spec.requests.journey.is_some() {
        spec.tls = tls(&options.tls, secrets)?;
    }
    Ok(spec)
}

/// The same for whatever URL: a load that is applied to several targets.
///
/// # Errors
/// When a header or a file cannot be used.
pub fn template(options: &Options, secrets: &mut Secrets) -> Result<LoadSpec, CommandError> {
    let spec = template_without_tls(options, secrets)?;
    Ok(LoadSpec { tls: tls(&options.tls, secrets)?, ..spec })
}

fn template_without_tls(
    options: &Options,
    secrets: &mut Secrets,
) -> Result<LoadSpec, CommandError> {
    let mut spec = LoadSpec::default();
    apply_requests(&options.request, &mut spec.requests, secrets)?;
    apply(options, &mut spec, secrets)?;
    options.request.users.apply(&options.load, &mut spec)?;
    Ok(spec)
}

/// Applies every option but those of the request and of TLS.
///
/// # Errors
/// When two exclude each other, or a local address is not this host's.
pub fn apply(
    options: &Options,
    spec: &mut LoadSpec,
    secrets: &mut Secrets,
) -> Result<(), CommandError> {
    spec.http = options.request.http.or(spec.http);
    apply_load(&options.load, spec)?;
    streams::apply(options, spec)?;
    apply_connections(&options.connection, spec)?;
    if let Some(proxy) = &options.connection.way.proxy {
        spec.destination.proxy = Some(proxy.spec(secrets));
    }
    apply_workers(&options.machine, spec);
    options.checks.apply(spec);
    if let Some(expect) = &options.report.expect {
        spec.expect.clone_from(&expect.0);
        spec.expect_asked = true;
    }
    Ok(())
}

/// Applies the options of the request to requests that are composed.
fn apply_requests(
    options: &RequestOptions,
    requests: &mut RequestsSpec,
    secrets: &mut Secrets,
) -> Result<(), CommandError> {
    let method = options.method.as_ref().map(|method| Bytes::from(method.as_str()));
    requests.method = method.or(requests.method.take());
    if let Some(body) = &options.body {
        requests.bodies = Bodies::Same(values::body(body)?);
    }
    if let Some(bodies) = options.bodies.bodies()? {
        requests.bodies = bodies;
    }
    if let Some(path) = &options.body_lines {
        requests.bodies = Bodies::InTurn(Feed::of(sources::file(path, "--body-lines")?));
    }
    if let Some(path) = &options.urls {
        let feed = Feed::of(sources::file(path, "--urls")?);
        requests.url_files = urls::files(&feed)?;
        requests.urls = Some(feed);
    }
    requests.cookies = options.bodies.cookies(secrets)?.or(requests.cookies.take());
    requests.data = data(options)?.or(requests.data.take());
    let typed = options.bodies.typed();
    for text in options.body.iter().chain(&options.headers).map(String::as_str).chain(typed) {
        check_placeholders(text)?;
    }
    if let (Some(_), Some(option)) = (options.journey_files.first(), options.bodies.given()) {
        let text = "cannot be used together: the file says what is sent";
        return Err(CommandError::usage(format!("--journey and {option} {text}")));
    }
    let for_journeys = options.journey.given().or(options.users.given());
    requests.journey = match (options.journey_files.first(), for_journeys) {
        (Some(file), _) => {
            requests.users = options.users.spec(&options.journey_files)?;
            let first = options.journey.spec(&file.path, secrets)?;
            for other in requests.users.journeys_mut() {
                (other.location, other.max_redirects) = (first.location, first.max_redirects);
                other.location_trusted = first.location_trusted;
            }
            Some(first)
        }
        (None, Some(option)) => {
            return Err(CommandError::usage(format!("{option} needs --journey FILE.hurl")));
        }
        (None, None) => requests.journey.take(),
    };
    requests.seed = options.seed.unwrap_or(requests.seed);
    let Head::Composed { lines, content_type, user, .. } = &mut requests.head else {
        return Ok(());
    };
    lines.extend(options.headers.iter().map(|typed| line(typed, secrets)));
    options.bodies.accept_encodings(lines);
    *content_type = options.content_type.clone().or(content_type.take());
    if options.user.as_ref().is_some_and(|typed| !typed.contains(':')) {
        return Err(CommandError::usage(
            "-u has no colon: use NAME:PASSWORD, or NAME: without a password",
        ));
    }
    let typed = options.user.as_ref().map(|typed| secrets.keep_text("user", typed.clone()));
    *user = typed.or(user.take());
    Ok(())
}

/// The feed whose rows are the data of the requests.
///
/// # Errors
/// When its file cannot be read.
pub fn data(options: &RequestOptions) -> Result<Option<DataSpec>, CommandError> {
    let Some(path) = &options.feed else {
        if options.feed_order.is_some() {
            let text = "--feed-order needs --feed, such as --feed users.csv";
            return Err(CommandError::usage(text));
        }
        return Ok(None);
    };
    let feed = Feed::of(sources::file(path, "--feed")?);
    Ok(Some(DataSpec { feed, order: options.feed_order.unwrap_or_default() }))
}

/// Braces are sent as they are, but nobody means those.
fn check_placeholders(text: &str) -> Result<(), CommandError> {
    let digits = |rest: &str| rest.find('}').is_some_and(|end| rest[..end].parse::<u64>().is_ok());
    match text.split("{rand:").skip(1).find(|rest| !digits(rest)) {
        Some(_) => Err(CommandError::usage(
            "`{rand:` needs a number of digits, such as {rand:8}".to_owned(),
        )),
        None => Ok(()),
    }
}

/// A line of a head; what carries credentials is kept among the secrets.
fn line(typed: &str, secrets: &mut Secrets) -> Line {
    match secret_field(typed.as_bytes()) {
        Some(name) => Line::Secret(secrets.keep_text(&format!("header {name}"), typed)),
        None => Line::Text(typed.into()),
    }
}

/// What is asked of TLS.
///
/// # Errors
/// When a file cannot be read, or a name is unknown.
pub fn tls(options: &TlsOptions, secrets: &mut Secrets) -> Result<TlsSpec, CommandError> {
    let identity = planned_tls::identity(options.cert.as_deref(), options.key.as_deref())?;
    let name = options.sni.clone();
    Ok(TlsSpec {
        trust: match (&options.cacert, options.insecure) {
            (_, true) => TrustSpec::Anyone,
            (Some(path), false) => TrustSpec::Issuers(planned_tls::file(path, "--cacert")?),
            (None, false) => TrustSpec::System,
        },
        identity: identity.map(|own| secrets.keep("client certificate", Secret::Identity(own))),
        send_server_name: name.as_deref() != Some("none"),
        server_name: name.filter(|name| name != "none"),
        oldest: options.tls_min,
        newest: options.tls_max,
        suites: options.tls_ciphers.as_deref().map_or(Ok(Vec::new()), planned_tls::suites)?,
        groups: options.tls_groups.as_deref().map_or(Ok(Vec::new()), planned_tls::groups)?,
        resume: options.tls_resume,
        ..TlsSpec::default()
    })
}

fn apply_load(options: &LoadOptions, spec: &mut LoadSpec) -> Result<(), CommandError> {
    spec.shape = shape(options, spec.shape)?;
    spec.in_flight = options.pipeline.unwrap_or(spec.in_flight);
    // The time by itself ends a run only when nothing else does.
    match (options.requests, options.duration) {
        (None, None) => {}
        (requests, duration) => {
            spec.limits.requests = requests;
            spec.limits.duration_ns = duration;
        }
    }
    spec.limits.warmup_ns = options.warmup.unwrap_or(spec.limits.warmup_ns);
    spec.limits.timeout_ns = options.timeout.unwrap_or(spec.limits.timeout_ns);
    spec.connections.ramp_ns = options.ramp.unwrap_or(spec.connections.ramp_ns);
    Ok(())
}

/// The shape of the load: the options applied to the front end's.
fn shape(options: &LoadOptions, before: Shape) -> Result<Shape, CommandError> {
    let Some(mut rate) = options.rate else {
        let given =
            [("--steps", options.steps.is_some()), ("--arrivals", options.arrivals.is_some())];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            let example = if option == "--steps" { "100/s..5000/s" } else { "1000/s" };
            return Err(CommandError::usage(format!(
                "{option} needs --rate, such as --rate {example}"
            )));
        }
        return Ok(match before {
            // A default gives way to few requests without a word; what was asked for is capped with
            // one.
            Shape::Closed { connections } => {
                Shape::Closed { connections: options.connections.or(connections) }
            }
            open @ Shape::Open { .. } => open,
        });
    };
    if options.pipeline.is_some() {
        return Err(CommandError::usage(
            "--pipeline and --rate cannot be used together: a scheduled request must not wait for \
             another's response",
        ));
    }
    if options.ramp.is_some() {
        return Err(CommandError::usage(
            "--ramp and --rate cannot be used together: connections are opened when requests are \
             due; for a growing rate use --rate 0..1000/s",
        ));
    }
    rate.steps = options.steps.unwrap_or(0);
    if rate.steps > 1 && rate.is_constant() {
        return Err(CommandError::usage("--steps needs two rates, such as --rate 100/s..5000/s"));
    }
    Ok(Shape::Open {
        rate,
        arrivals: options.arrivals.unwrap_or(Arrivals::Constant),
        connections: options.connections,
    })
}

fn apply_connections(options: &ConnectionOptions, spec: &mut LoadSpec) -> Result<(), CommandError> {
    let connections = &mut spec.connections;
    if let (true, Some(requests @ 2..)) = (options.no_keepalive, options.requests_per_connection) {
        return Err(CommandError::usage(format!(
            "--no-keepalive and --requests-per-connection {requests} cannot be used together: the one is a connection \
             for each request, the other for {requests}; use only one"
        )));
    }
    if options.requests_per_connection == Some(0) {
        return Err(CommandError::usage(
            "0 requests per connection send nothing: use 1 or more, or remove the option",
        ));
    }
    if options.no_keepalive || options.requests_per_connection == Some(1) {
        connections.keep_alive = false;
    } else if let Some(requests) = options.requests_per_connection {
        connections.requests_per_connection = Some(requests);
    }
    connections.close = options.close.unwrap_or(connections.close);
    connections.repeat &= !options.no_repeat;
    if let Some(addresses) = &options.local_address {
        connections.local_addresses.clone_from(&addresses.0);
    }
    connections.local_ports = options.local_ports.clone().or(connections.local_ports.take());
    let destination = &mut spec.destination;
    destination.family = match (options.ipv4, options.ipv6) {
        (true, _) => Family::V4,
        (_, true) => Family::V6,
        _ => destination.family,
    };
    destination.connect_to.extend(options.way.connect_to.iter().cloned());
    destination.unix_socket = options.way.unix_socket.clone().or(destination.unix_socket.take());
    if let Some(bytes) = options.max_head {
        spec.limits.max_head_bytes = max_head_bytes(bytes)?;
    }
    Ok(())
}

/// The shortest head of all, `HTTP/1.1 200` and its two line ends, has 16 bytes.
fn max_head_bytes(bytes: u64) -> Result<usize, CommandError> {
    const PERMITTED: std::ops::RangeInclusive<u64> = 16..=(1 << 30);
    if !PERMITTED.contains(&bytes) {
        return Err(CommandError::usage(format!(
            "--max-head {bytes} bytes: use a size from 16 bytes to 1GiB"
        )));
    }
    Ok(bytes as usize)
}

fn apply_workers(options: &MachineOptions, spec: &mut LoadSpec) {
    spec.monitored &= !options.no_monitor;
    spec.server_arguments |= options.server_arguments;
    let workers = &mut spec.workers;
    workers.threads = options.threads.or(workers.threads);
    if let Some(cpus) = &options.cpus {
        workers.cpus.clone_from(&cpus.0);
    }
    workers.io = options.io.unwrap_or(workers.io);
    workers.spin = options.spin.unwrap_or(workers.spin);
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
