//! From native options to what is asked for: the options are laid over an [`Asked`] that holds
//! some front end's defaults.

use std::net::UdpSocket;

use ablaze_model::plan::proxy::{Proxy, Way};
use ablaze_model::plan::tls::Tls;
use ablaze_model::plan::{Arrivals, Http2, Load};
use ablaze_report::system_error::reason;
use ablaze_wire::url::{Scheme, Url};

use super::options::{
    ConnectionOptions, HttpVersion, LoadOptions, MachineOptions, Options, RequestOptions,
    TlsOptions,
};
use crate::Refusal;
use crate::planning::requests::{Bodies, Forwarded, RequestsAsked};
use crate::planning::{Asked, Family, TargetAsked, sources};

/// Everything a native command line asks for.
///
/// # Errors
/// When a URL, a header or a file cannot be used.
pub fn asked(url: Option<&str>, options: &Options) -> Result<Asked, Refusal> {
    let url = url.map(sources::url).transpose()?;
    let list = match &options.request.urls {
        Some(path) => Some(sources::url_list(path, url.as_ref())?),
        None => None,
    };
    let (url, paths) = match (url, list) {
        (_, Some(list)) => (list.url, list.paths),
        (Some(url), None) => {
            let path = url.path_and_query.clone();
            (url, vec![(path, 1)])
        }
        (None, None) => {
            return Err(Refusal::usage("no URL is given: write for example `ablaze :8080/`"));
        }
    };
    let mut requests = RequestsAsked::new(url.host_header(), String::new());
    requests.paths = paths;
    requests.user.clone_from(&url.userinfo);
    requests.keep_alive = keeps_alive(options);
    lay_over_requests(&options.request, &mut requests)?;
    let proxy = proxy(&url, options);
    requests.forwarded = proxy.as_ref().and_then(|proxy| forwarded(&url, proxy));
    let mut asked = Asked::new(target(&url), requests.build()?);
    lay_over(options, &mut asked)?;
    asked.tls = tls(&url, &options.tls, offered(&asked))?;
    asked.target.proxy = proxy;
    Ok(asked)
}

/// The proxy that is asked for, and how requests for this URL get through it: what it could not read
/// goes through a tunnel.
pub fn proxy(url: &Url, options: &Options) -> Option<Proxy> {
    let tunnels = url.scheme == Scheme::Https || options.request.http == Some(HttpVersion::Two);
    let way = if tunnels { Way::Tunnel } else { Way::Forward };
    options.connection.proxy.as_ref().map(|proxy| proxy.plan(way))
}

/// What requests for this URL need that a proxy forwards.
fn forwarded(url: &Url, proxy: &Proxy) -> Option<Forwarded> {
    (proxy.way == Way::Forward).then(|| Forwarded {
        front: format!("{}://{}", url.scheme.name(), url.host_header()),
        authorization: proxy.credentials.as_ref().map(|credentials| credentials.field.clone()),
    })
}

/// Lays every option but those of the request over what is asked for.
///
/// # Errors
/// When a local address is not this host's.
pub fn lay_over(options: &Options, asked: &mut Asked) -> Result<(), Refusal> {
    lay_over_load(&options.load, asked)?;
    lay_over_http2(options, asked)?;
    lay_over_connections(&options.connection, asked)?;
    lay_over_workers(&options.machine, asked);
    if let Some(expect) = &options.report.expect {
        asked.expect.clone_from(&expect.0);
    }
    Ok(())
}

/// Lays the options of the request over what shall be sent.
///
/// # Errors
/// When a file cannot be read.
pub fn lay_over_requests(
    options: &RequestOptions,
    requests: &mut RequestsAsked,
) -> Result<(), Refusal> {
    requests.method = options.method.clone().or(requests.method.take());
    requests.headers.extend(options.headers.iter().cloned());
    if let Some(body) = &options.body {
        requests.bodies = Bodies::Same(sources::body(body)?);
    }
    if let Some(path) = &options.body_lines {
        requests.bodies = Bodies::InTurn(sources::body_lines(path)?);
    }
    requests.content_type = options.content_type.clone().or(requests.content_type.take());
    requests.user = options.user.clone().or(requests.user.take());
    requests.seed = options.seed.unwrap_or(requests.seed);
    requests.minor_version = match options.http {
        Some(HttpVersion::One(minor_version)) => minor_version,
        // Made as requests of HTTP/1.1 and translated: the same are sent under both.
        Some(HttpVersion::Two) => 1,
        None => requests.minor_version,
    };
    Ok(())
}

/// The far end that a URL names.
pub fn target(url: &Url) -> TargetAsked {
    TargetAsked {
        url: url.to_string(),
        host: url.host.clone(),
        port: url.port,
        path: url.path_and_query.clone(),
        family: Family::Any,
        connect_to: Vec::new(),
        unix_socket: None,
        proxy: None,
    }
}

/// TLS for a URL that asks for it.
///
/// # Errors
/// When an option of TLS cannot be used.
pub fn tls(
    url: &Url,
    options: &TlsOptions,
    protocol: Option<&str>,
) -> Result<Option<Tls>, Refusal> {
    if url.scheme == Scheme::Http {
        return Ok(None);
    }
    let mut asked = options.asked();
    asked.protocols = protocol.map(str::to_owned).into_iter().collect();
    asked.plan(&url.host).map(Some)
}

/// The application protocol that is offered under TLS.
fn offered(asked: &Asked) -> Option<&'static str> {
    match (asked.http2, asked.requests.minor_version) {
        (Some(_), _) => Some("h2"),
        (None, 0) => None,
        (None, _) => Some("http/1.1"),
    }
}

/// HTTP/2, and how many exchanges a connection of it has in flight.
fn lay_over_http2(options: &Options, asked: &mut Asked) -> Result<(), Refusal> {
    let streams = options.load.streams;
    if options.request.http != Some(HttpVersion::Two) {
        return match streams {
            None => Ok(()),
            Some(streams) => Err(Refusal::usage(format!(
                "--streams are HTTP/2's: write --http 2 --streams {streams}, or --pipeline \
                 {streams} for HTTP/1.1"
            ))),
        };
    }
    if options.load.pipeline.is_some() {
        return Err(Refusal::usage(
            "--pipeline is HTTP/1's: requests in flight on a connection of HTTP/2 are --streams N",
        ));
    }
    let streams = streams.unwrap_or(1);
    if !(1..=Http2::STREAMS_MAX).contains(&streams) {
        return Err(Refusal::usage(format!(
            "--streams {streams}: give a number from 1 to {}",
            Http2::STREAMS_MAX
        )));
    }
    if streams > 1 && !keeps_alive(options) {
        return Err(Refusal::usage(format!(
            "--streams {streams} has no meaning with a connection per request: raise -c instead, or \
             leave --no-keepalive out"
        )));
    }
    asked.http2 = Some(Http2 { streams });
    if let Load::Closed { pipeline, .. } = &mut asked.load {
        *pipeline = streams;
    }
    Ok(())
}

/// Whether requests ask for the connection to be kept.
fn keeps_alive(options: &Options) -> bool {
    !options.connection.no_keepalive && options.connection.requests_per_connection != Some(1)
}

fn lay_over_load(options: &LoadOptions, asked: &mut Asked) -> Result<(), Refusal> {
    asked.load = load(options, asked.load)?;
    // The time by itself ends a run only when nothing else does.
    match (options.requests, options.duration) {
        (None, None) => {}
        (requests, duration) => {
            asked.limits.requests = requests;
            asked.limits.duration_ns = duration;
        }
    }
    asked.limits.warmup_ns = options.warmup.unwrap_or(asked.limits.warmup_ns);
    asked.limits.timeout_ns = options.timeout.unwrap_or(asked.limits.timeout_ns);
    if let Some(ramp) = options.ramp {
        asked.connections.ramp_ns = ramp / u64::from(asked.load.connections().max(1));
    }
    Ok(())
}

/// The shape of the load: the options laid over the front end's.
fn load(options: &LoadOptions, before: Load) -> Result<Load, Refusal> {
    let Some(mut rate) = options.rate else {
        return Ok(match before {
            Load::Closed { connections, pipeline } => {
                // A default gives way to few requests without a word; what was asked for is
                // capped with one.
                let requests = options.requests.unwrap_or(u64::MAX).max(1);
                let few = u32::try_from(requests).unwrap_or(u32::MAX);
                Load::Closed {
                    connections: options.connections.unwrap_or(connections.min(few)),
                    pipeline: options.pipeline.unwrap_or(pipeline),
                }
            }
            open @ Load::Open { .. } => open,
        });
    };
    if options.pipeline.is_some() {
        return Err(Refusal::usage(
            "--pipeline and --rate exclude each other: a request of a schedule does not wait \
             behind another's answer",
        ));
    }
    if options.ramp.is_some() {
        return Err(Refusal::usage(
            "--ramp and --rate exclude each other: connections are opened when requests are due; \
             a rate that grows is --rate 0..1000/s",
        ));
    }
    rate.steps = options.steps.unwrap_or(0);
    if rate.steps > 1 && rate.is_constant() {
        return Err(Refusal::usage("--steps needs two rates, such as --rate 100/s..5000/s"));
    }
    Ok(Load::Open {
        rate,
        arrivals: options.arrivals.unwrap_or(Arrivals::Constant),
        // Without a bound planning puts in what this machine permits.
        connections: options.connections.unwrap_or(0),
        bounded: options.connections.is_some(),
    })
}

fn lay_over_connections(options: &ConnectionOptions, asked: &mut Asked) -> Result<(), Refusal> {
    let connections = &mut asked.connections;
    if options.no_keepalive || options.requests_per_connection == Some(1) {
        connections.keep_alive = false;
    } else if let Some(requests) = options.requests_per_connection {
        if requests == 0 {
            return Err(Refusal::usage(
                "0 requests per connection send nothing: give 1 or more, or leave it away",
            ));
        }
        connections.requests_per_connection = Some(requests);
    }
    connections.close = options.close.unwrap_or(connections.close);
    connections.repeat &= !options.no_repeat;
    if let Some(addresses) = &options.local_address {
        for address in &addresses.0 {
            // Whether an address can be bound to is known best by binding to it: routes can make
            // whole networks this host's own without any interface showing them.
            UdpSocket::bind((*address, 0)).map_err(|error| {
                Refusal::usage(format!(
                    "--local-address {address} cannot be used: {}; give addresses of this host",
                    reason(&error)
                ))
            })?;
        }
        connections.local_addresses.clone_from(&addresses.0);
    }
    connections.local_ports = options.local_ports.clone().or(connections.local_ports.take());
    let target = &mut asked.target;
    target.family = match (options.ipv4, options.ipv6) {
        (true, _) => Family::V4,
        (_, true) => Family::V6,
        _ => target.family,
    };
    target.connect_to.extend(options.connect_to.iter().cloned());
    target.unix_socket = options.unix_socket.clone().or(target.unix_socket.take());
    if let Some(bytes) = options.max_head {
        asked.limits.max_head_bytes = max_head_bytes(bytes)?;
    }
    Ok(())
}

/// The shortest head of all, `HTTP/1.1 200` and its two line ends, has 16 bytes.
fn max_head_bytes(bytes: u64) -> Result<usize, Refusal> {
    const PERMITTED: std::ops::RangeInclusive<u64> = 16..=(1 << 30);
    if !PERMITTED.contains(&bytes) {
        return Err(Refusal::usage(format!(
            "--max-head {bytes} bytes: give a size from 16 bytes to 1GiB"
        )));
    }
    Ok(bytes as usize)
}

fn lay_over_workers(options: &MachineOptions, asked: &mut Asked) {
    let workers = &mut asked.workers;
    workers.threads = options.threads.or(workers.threads);
    if let Some(cpus) = &options.cpus {
        workers.cpus.clone_from(&cpus.0);
    }
    workers.io = options.io.unwrap_or(workers.io);
    workers.spin = options.spin.unwrap_or(workers.spin);
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use ablaze_model::plan::{Close, IoChoice, RateProfile, Spin};
    use clap::Parser;

    use super::super::options::CommandLine;
    use super::*;

    fn from(words: &str) -> Asked {
        let words = ["ablaze load"].into_iter().chain(words.split(' '));
        let line = CommandLine::try_parse_from(words).unwrap();
        asked(line.url.as_deref(), &line.options).unwrap()
    }

    /// A command line, and what must hold of what it asks for.
    type Row = (&'static str, fn(&Asked) -> bool);

    #[test]
    fn every_option_reaches_the_plan() {
        let table: &[Row] = &[
            ("-r 10/ms --arrivals poisson -c 7 :1", |a| {
                let rate = RateProfile::constant(10_000.0);
                let arrivals = Arrivals::Poisson;
                a.load == Load::Open { rate, arrivals, connections: 7, bounded: true }
            }),
            ("--rate 100..500 --steps 5 -d 9 :1", |a| {
                let rate = RateProfile { from_per_s: 100.0, to_per_s: 500.0, steps: 5 };
                let arrivals = Arrivals::Constant;
                a.load == Load::Open { rate, arrivals, connections: 0, bounded: false }
            }),
            (":1", |a| a.load == Load::Closed { connections: 50, pipeline: 1 }),
            ("-c 2k :1", |a| a.load == Load::Closed { connections: 2000, pipeline: 1 }),
            ("-n 7 :1", |a| a.load == Load::Closed { connections: 7, pipeline: 1 }),
            ("-n 7 -c 9 :1", |a| a.load == Load::Closed { connections: 9, pipeline: 1 }),
            ("--pipeline 8 :1", |a| a.load == Load::Closed { connections: 50, pipeline: 8 }),
            (":1", |a| a.limits.requests.is_none() && a.limits.duration_ns == Some(10_000_000_000)),
            ("-n 1M :1", |a| {
                a.limits.requests == Some(1_000_000) && a.limits.duration_ns.is_none()
            }),
            ("-n 9 -d 2 :1", |a| {
                a.limits.requests == Some(9) && a.limits.duration_ns == Some(2_000_000_000)
            }),
            ("--warmup 1s :1", |a| a.limits.warmup_ns == 1_000_000_000),
            ("--timeout 5ms :1", |a| a.limits.timeout_ns == 5_000_000),
            (":1", |a| a.limits.timeout_ns == 30_000_000_000),
            ("--ramp 1s -c 100 :1", |a| a.connections.ramp_ns == 10_000_000),
            ("--max-head 1KiB :1", |a| a.limits.max_head_bytes == 1024),
            ("--no-keepalive :1", |a| !a.connections.keep_alive),
            ("--requests-per-connection 1 :1", |a| !a.connections.keep_alive),
            ("--requests-per-connection 9 :1", |a| {
                a.connections.keep_alive && a.connections.requests_per_connection == Some(9)
            }),
            ("--close reset :1", |a| a.connections.close == Close::Reset),
            (":1", |a| a.connections.close == Close::Await && a.connections.repeat),
            ("--no-repeat :1", |a| !a.connections.repeat),
            ("-4 :1", |a| a.target.family == Family::V4),
            ("--ipv6 :1", |a| a.target.family == Family::V6),
            ("--connect-to [::1]:2 h:1", |a| a.target.connect_to[0].port == Some(2)),
            ("--unix-socket /s :1", |a| a.target.unix_socket == Some("/s".into())),
            ("--local-address 127.0.0.2,127.0.0.4/31 :1", |a| {
                a.connections.local_addresses
                    == ["127.0.0.2", "127.0.0.4", "127.0.0.5"]
                        .map(|ip| ip.parse::<IpAddr>().unwrap())
            }),
            ("--proxy me:secret@p:3128 http://h:1/x?y", |a| {
                let bytes = &a.requests.templates[0].bytes;
                let proxy = a.target.proxy.as_ref().unwrap();
                (proxy.authority().as_str(), proxy.way) == ("p:3128", Way::Forward)
                    && bytes.starts_with(b"GET http://h:1/x?y HTTP/1.1\r\nHost: h:1\r\n")
                    && bytes.windows(33).any(|w| w == b"\r\nProxy-Authorization: Basic bWU6")
            }),
            ("--proxy http://me:secret@p:3128 https://h/x", |a| {
                let bytes = &a.requests.templates[0].bytes;
                let proxy = a.target.proxy.as_ref().unwrap();
                proxy.way == Way::Tunnel
                    && bytes.starts_with(b"GET /x HTTP/1.1\r\nHost: h\r\n")
                    && !bytes.windows(5).any(|w| w == b"Proxy")
                    && proxy.credentials.is_some()
            }),
            ("--proxy p:3128 --http 2 http://h:1/x", |a| {
                a.target.proxy.as_ref().unwrap().way == Way::Tunnel
                    && a.requests.templates[0].bytes.starts_with(b"GET /x ")
            }),
            ("--local-ports 5000-5999 :1", |a| a.connections.local_ports == Some(5000..=5999)),
            ("-t 3 --cpus 0,2-3 :1", |a| {
                a.workers.threads == Some(3) && a.workers.cpus == [0, 2, 3]
            }),
            ("--io epoll --spin 20us :1", |a| {
                a.workers.io == IoChoice::Epoll && a.workers.spin == Spin::For(20_000)
            }),
            ("--spin off :1", |a| a.workers.spin == Spin::Off),
            (":1", |a| a.expect == [200..=399]),
            ("--expect 404,5xx :1", |a| a.expect == [404..=404, 500..=599]),
            ("-X PUT :1", |a| a.requests.method == "PUT"),
            ("-m HEAD :1", |a| a.requests.templates[0].answer_has_no_body),
            ("-b x --seed 7 :1", |a| a.requests.has_body && a.requests.seed == 7),
            ("--http 1.0 :1", |a| a.requests.minor_version == 0 && a.http2.is_none()),
            ("--http 2 -c 3 :1", |a| {
                a.http2 == Some(Http2 { streams: 1 })
                    && a.load == Load::Closed { connections: 3, pipeline: 1 }
            }),
            ("--http 2 --streams 9 :1", |a| {
                a.http2 == Some(Http2 { streams: 9 })
                    && a.load == Load::Closed { connections: 50, pipeline: 9 }
            }),
            ("--http 2 --streams 9 -r 10 :1", |a| {
                a.http2 == Some(Http2 { streams: 9 }) && a.load.is_open()
            }),
            ("-k --http 2 https://h:1", |a| a.tls.as_ref().unwrap().protocols == ["h2"]),
            ("-k https://h:1", |a| a.tls.as_ref().unwrap().protocols == ["http/1.1"]),
            (":8080/x?y", |a| {
                (a.target.host.as_str(), a.target.port) == ("127.0.0.1", 8080)
                    && a.target.path == "/x?y"
                    && a.target.url == "http://127.0.0.1:8080/x?y"
            }),
            ("name:pass@h:1", |a| {
                a.requests.templates[0].bytes.windows(13).any(|w| w == b"Authorization")
                    && !a.target.url.contains("pass")
            }),
        ];
        for (words, holds) in table {
            let asked = from(words);
            assert!(holds(&asked), "{words}: {asked:#?}");
        }
    }
}
