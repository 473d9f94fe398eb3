//! From ab's options to a spec. The checks ab makes between options are here, in its order and with its
//! messages.

use ablaze_load::planning::{OptionNames, addresses, compose, order, sources};
use ablaze_model::plan::ClockStarts;
use ablaze_model::plan::proxy::Way;
use ablaze_model::spec::{
    Bodies, Bytes, Family, Feed, Head, HttpVersion, LoadSpec, ProxySpec, RequestsSpec, Secrets,
    Shape, UrlSpec,
};
use ablaze_wire::url::Url;

use super::error::Refused;
use super::native::{apply_request, unusable};
use super::options::Options;
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
) -> Result<LoadSpec, Refused> {
    let text = String::from_utf8_lossy(&options.url);
    let url = Url::parse_like_ab(&text).map_err(|_| invalid_url(&text))?;
    let host = options.request.host();
    let mut spec = LoadSpec {
        tls: tls::spec(&options.tls, &native.tls, &url, host.as_deref(), secrets)?,
        http: Some(HttpVersion::Http10),
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
    native::apply(native, &mut spec, secrets).map_err(|error| Refused::native_usage(error.line))?;
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
    compose(&spec, secrets).map_err(|error| Refused::text(error.to_string()))?;
    Ok(spec)
}

/// What is wrong with a URL that ab does not take. Most that the native command line takes lack
/// only their path.
fn invalid_url(text: &str) -> Refused {
    let remedy = match Url::parse(text) {
        Ok(url) if url.userinfo.is_some() => {
            format!("ab accepts no user in a URL: use -A NAME:PASSWORD {url}")
        }
        Ok(url) => format!("`{text}` is not a URL for ab: use {url}"),
        Err(error) => error.to_string(),
    };
    Refused::usage("invalid URL", remedy)
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

fn concurrency(options: &Options, native: &native::Options) -> Result<u32, Refused> {
    if let Some(connections) = native.load.connections {
        return Ok(connections);
    }
    let requests = requests_limit(options, native).unwrap_or(u64::MAX);
    if requests == 0 {
        return Err(Refused::native_usage("0 requests measure nothing: use --requests 1 or more"));
    }
    match options.concurrency {
        0 => Err(Refused::usage(
            "Cannot use concurrency level 0",
            "0 connections send nothing: use -c 1 or more",
        )),
        level @ 1..=CONCURRENCY_MAX if level as u64 > requests => Err(Refused::usage(
            "Cannot use concurrency level greater than total number of requests",
            format!(
                "-c {level} needs at least as many requests, but -n is {requests}: use -n {level} \
                 or more, or a lower -c"
            ),
        )),
        level @ 1..=CONCURRENCY_MAX => Ok(level as u32),
        level => Err(Refused::usage(
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
) -> Result<Option<ProxySpec>, Refused> {
    let Some(asked) = &native.connection.proxy else { return proxy_of_ab(options) };
    if options.proxy.is_some() {
        return Err(Refused::native_usage("-X and --proxy cannot be used together: use only one"));
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

fn proxy_of_ab(options: &Options) -> Result<Option<ProxySpec>, Refused> {
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
            Err(Refused::system_call("apr_socket_recv", libc::ECONNREFUSED)
                .with_remedy(format!("-X has no port from 1 to 65535, for example -X {host}:3128")))
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
) -> Result<RequestsSpec, Refused> {
    let url = spec.destination.url.as_ref().map(UrlSpec::to_url);
    let urls = match &native.request.urls {
        Some(path) => Some(Feed::of(sources::file(path, "--urls").map_err(unusable)?)),
        None => None,
    };
    let list = urls.as_ref().map(|feed| sources::url_list(feed, url.as_ref()));
    let list = list.transpose().map_err(unusable)?;
    let bodies = apply_request(native, &mut request)?;
    request.check()?;
    if let Some(list) = list {
        if list.paths.len() > 1 && matches!(bodies, Bodies::InTurn(_)) {
            return Err(Refused::native_usage(
                "--urls and --body-lines cannot be used together: use only one",
            ));
        }
        let weights: Vec<u64> = list.paths.iter().map(|(_, weight)| *weight).collect();
        order::spread(&weights).map_err(unusable)?;
    }
    let host = url.as_ref().map_or_else(String::new, Url::host_header);
    let destination = Destination { host: host.as_bytes(), keep_alive };
    let lines = request.lines(destination, bodies != Bodies::None, secrets);
    Ok(RequestsSpec {
        method: Some(Bytes(request.method_name().to_vec())),
        head: Head::Verbatim { target: target(options, spec), lines, placeholders: request.expand },
        urls,
        bodies,
        seed: native.request.seed.unwrap_or(1),
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

fn limits(options: &Options, spec: &mut LoadSpec) -> Result<(), Refused> {
    let limits = &mut spec.limits;
    limits.timeout_ns = match options.timeout_s {
        ..0 => 0,
        0 => {
            return Err(Refused::timed_out().with_remedy(
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
        // Expired before it begins.
        ..=0 => 1,
        _ => nanoseconds(seconds),
    })
}

fn nanoseconds(seconds: i64) -> u64 {
    seconds.unsigned_abs().saturating_mul(1_000_000_000)
}

fn local_address(name: &str) -> Result<std::net::IpAddr, Refused> {
    // Any port will do: only the address is wanted.
    let found = addresses::of_host(name, 1, Family::Any, false, &OptionNames::AB);
    let addresses = found.map_err(|error| Refused::of_planning(error.into(), name))?;
    addresses
        .first()
        .map(|address| address.ip())
        .ok_or_else(|| Refused::text(format!("-B {name} has no address")))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use ablaze_model::plan::tls::Trust;

    use super::super::native::{Native, read};
    use super::*;
    use crate::front_ends::ab::options;
    use ablaze_load::planning::Composed;

    fn asked_for(words: &str) -> Result<LoadSpec, Refused> {
        both(words).map(|(spec, _)| spec)
    }

    fn composed(words: &str) -> Composed {
        both(words).unwrap().1
    }

    fn both(words: &str) -> Result<(LoadSpec, Composed), Refused> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        match Options::parse(&words).unwrap() {
            options::Parsed::Run(options) => match read(&options.native)? {
                Native::Options(native) => {
                    let mut secrets = Secrets::default();
                    let spec = spec(&options, &native, &mut secrets)?;
                    let composed = compose(&spec, &secrets).unwrap();
                    Ok((spec, composed))
                }
                Native::Help => panic!("help: {words:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn sent(words: &str) -> String {
        String::from_utf8(composed(words).requests.templates[0].bytes.clone()).unwrap()
    }

    #[test]
    fn numbers_that_do_not_fit_together_are_refused_as_ab_refuses_them() {
        let table = [
            ("-c 5 http://h/", "concurrency level greater than total number", 22),
            ("-n 5 -c 6 http://h/", "concurrency level greater than total number", 22),
            ("-c -1 http://h/", "Invalid Concurrency [Range 0..200000]", 22),
            ("-n 300000 -c 200001 http://h/", "Invalid Concurrency [Range 0..200000]", 22),
            ("-c 0 http://h/", "-c 1 or more", 22),
            ("http://h", "invalid URL", 22),
            ("http://h:0/", "invalid URL", 22),
            ("-f TLS1.1 https://h/", "use -f TLS1.2, TLS1.3 or ALL", 1),
            ("-Z RC4 http://h/", "error setting ciphersuite list [RC4]", 1),
            ("-E /dev/null http://h/", "unable to get certificate from '/dev/null'", 1),
            (
                "-X p:1 --proxy p:1 https://h/",
                "-X and --proxy cannot be used together: use only \
                one",
                22,
            ),
            ("--proxy https://p:1 http://h/", "TLS goes through it: use http://p:1", 22),
            ("--proxy p http://h/", "missing port, for example http://p:3128", 22),
            ("-s 0 http://h/", "(70007)", 119),
            ("-X proxy http://h/", "for example -X proxy:3128", 111),
            ("-X proxy:99999 http://h/", "Connection refused (111)", 111),
        ];
        for (words, message, status) in table {
            let refused = asked_for(words).expect_err(words);
            assert!(refused.to_string().contains(message), "{words}: {refused}");
            assert_eq!(refused.status, status, "{words}");
        }
    }

    #[test]
    fn limits_and_connections_mean_what_ab_s_options_mean() {
        let asked = asked_for("-k -n 100 -c 10 -s 5 -b 4096 http://h:81/x").unwrap();
        assert_eq!(asked.shape, Shape::Closed { connections: Some(10) });
        assert_eq!(asked.limits.requests, Some(100));
        assert_eq!((asked.limits.timeout_ns, asked.limits.duration_ns), (5_000_000_000, None));
        assert_eq!(asked.connections.socket_buffer_bytes, Some(4096));
        assert_eq!(asked.connections.clock_starts, ClockStarts::BeforeConnecting);
        assert!(asked.connections.keep_alive && !asked.keep_every_request);
        assert!(!asked_for("http://h/").unwrap().connections.keep_alive);
        assert!(asked_for("-g f http://h/").unwrap().keep_every_request);
        let timed = asked_for("-t 3 -s -1 http://h/").unwrap().limits;
        assert_eq!(timed.requests, Some(50_000));
        assert_eq!((timed.duration_ns, timed.timeout_ns), (Some(3_000_000_000), 0));
    }

    #[test]
    fn tls_is_unverified_and_its_name_is_the_host_s_as_with_ab() {
        let tls = |words| composed(words).tls.unwrap();
        let plain = tls("https://h:8443/x");
        assert_eq!((&plain.server_name[..], plain.send_server_name), ("h", true));
        assert_eq!(plain.trust, Trust::Anyone);
        assert!(plain.protocols.is_empty() && !plain.resume);
        assert_eq!(tls("-H Host:other:1 https://h/").server_name, "other");
        assert!(!tls("-I https://h/").send_server_name);
        assert!(tls("-Z AES128 https://h/").suites.len() == 5);
        assert_eq!(composed("https://h/").url.port, 443);
        assert!(sent("https://h/a").starts_with("GET /a HTTP/1.0\r\nHost: h\r\n"));
        assert!(composed("-I http://h/").tls.is_none());
    }

    #[test]
    fn sockets_and_threads_are_ablaze_s() {
        let asked = asked_for("-n 9 http://h/").unwrap();
        assert!(asked.connections.no_delay);
        assert_eq!(asked.workers.threads, None);
        assert_eq!(asked_for("--threads 1 http://h/").unwrap().workers.threads, Some(1));
    }

    #[test]
    fn a_local_address_restricts_the_family() {
        let asked = asked_for("-B 127.0.0.1 http://h/").unwrap();
        assert_eq!(
            asked.connections.local_addresses,
            ["127.0.0.1".parse::<std::net::IpAddr>().unwrap()]
        );
        assert_eq!(asked.destination.family, Family::V4);
        assert_eq!(asked_for("-B ::1 http://h/").unwrap().destination.family, Family::V6);
    }

    #[test]
    fn a_proxy_is_connected_to_and_asked_for_the_url_as_typed() {
        let asked = asked_for("-X proxy:3128 http://h:81/x").unwrap();
        assert_eq!(host_to_resolve(&asked), "proxy");
        let url = asked.destination.url.unwrap();
        assert_eq!((&url.host[..], url.port), ("h", 81));
        let sent = sent("-X proxy:3128 http://h:81/x#y");
        assert!(sent.starts_with("GET http://h:81/x#y HTTP/1.0\r\nHost: h:81\r\n"), "{sent}");
    }

    #[test]
    fn with_https_too_the_proxy_of_ab_is_sent_the_request() {
        let words = "-P u:p -X proxy:3128 https://h:8443/x";
        let asked = composed(words);
        let proxy = asked.proxy.unwrap();
        assert_eq!((proxy.authority().as_str(), proxy.way), ("proxy:3128", Way::Forward));
        assert_eq!(asked.tls.unwrap().server_name, "h");
        let expected = "GET https://h:8443/x HTTP/1.0\r\nProxy-Authorization: Basic dTpw\r\n";
        assert!(sent(words).starts_with(expected));
    }

    #[test]
    fn the_native_proxy_makes_tunnels_for_https_and_knows_who_asks() {
        for words in
            ["--proxy u:p@proxy:3128 https://h/x", "-P u:p --proxy http://proxy:3128 https://h/x"]
        {
            let proxy = composed(words).proxy.unwrap();
            assert_eq!(proxy.way, Way::Tunnel);
            assert_eq!(proxy.credentials.unwrap().field, "Basic dTpw");
            assert!(sent(words).starts_with("GET /x HTTP/1.0\r\nHost: h\r\n"), "{words}");
        }
        let words = "--proxy u:p@proxy:3128 h:81/x";
        assert_eq!(composed(words).proxy.unwrap().way, Way::Forward);
        let expected = "GET http://h:81/x HTTP/1.0\r\nProxy-Authorization: Basic dTpw\r\n";
        assert!(sent(words).starts_with(expected), "{}", sent(words));
    }

    #[test]
    fn paths_are_sent_untouched_and_hosts_as_ab_writes_them() {
        assert!(sent("http://h/a?b#c").starts_with("GET /a?b#c HTTP/1.0\r\nHost: h\r\n"));
        assert!(sent("h:8080/").starts_with("GET / HTTP/1.0\r\nHost: h:8080\r\n"));
        assert!(sent("http://[::1]:80/").contains("\r\nHost: [::1]\r\n"));
        assert!(sent("http://h:443/").contains("\r\nHost: h:443\r\n"));
        assert!(sent("-i h/").starts_with("HEAD / "));
    }

    #[test]
    fn native_options_are_laid_over_ab_s() {
        let limits = |words| {
            let limits = asked_for(words).unwrap().limits;
            (limits.requests, limits.duration_ns, limits.timeout_ns / 1_000_000)
        };
        let second = Some(1_000_000_000);
        assert_eq!(limits("--duration 1s http://h/"), (None, second, 30_000));
        assert_eq!(limits("-n 9 --duration 1s http://h/"), (Some(9), second, 30_000));
        assert_eq!(limits("-t 1 --requests 9 http://h/"), (Some(9), second, 30_000));
        assert_eq!(limits("-s 3 --timeout 5ms http://h/"), (Some(1), None, 5));
        let asked = asked_for("-c 7 --duration 1s --cpus 0 --warmup=1s h/").unwrap();
        assert_eq!(asked.shape, Shape::Closed { connections: Some(7) });
        assert_eq!((&asked.workers.cpus[..], asked.limits.warmup_ns), (&[0][..], 1_000_000_000));
        // On a schedule, ab's -c is the most connections, as the native one is.
        let bound = |words| match asked_for(words).unwrap().shape {
            Shape::Open { connections, .. } => connections,
            Shape::Closed { .. } => panic!("{words} asks for an open loop"),
        };
        assert_eq!(bound("-n 20 -c 7 --rate 9 h/"), Some(7));
        assert_eq!(bound("-n 20 -c 7 --connections 3 --rate 9 h/"), Some(3));
        assert_eq!(bound("-n 20 --rate 9 h/"), None);
        assert!(asked_for("-k h/").unwrap().connections.keep_alive);
        assert!(!asked_for("-k --no-keepalive h/").unwrap().connections.keep_alive);
    }

    #[test]
    fn native_options_of_the_request_keep_ab_s_lines() {
        let text = sent("--body a=1 --header X-A:1 --user u:p h/");
        let expected = "POST / HTTP/1.0\r\nAuthorization: Basic dTpw\r\nContent-length: 3\r\n\
            Content-type: text/plain\r\nX-A:1\r\nHost: h\r\nUser-Agent: ApacheBench/2.3\r\n\
            Accept: */*\r\n\r\na=1";
        assert_eq!(text, expected);
        assert!(sent("--http 1.1 --method PUT h/").starts_with("PUT / HTTP/1.1\r\n"));
    }
}
