//! From ab's options to what planning asks for. The checks ab makes between options are here, in
//! its order and with its messages.

use ablaze_model::plan::proxy::{Credentials, Proxy, Way};
use ablaze_model::plan::{ClockStarts, Load, Requests};
use ablaze_wire::url::Url;

use super::native;
use super::options::Options;
use super::refusal::Refused;
use super::request::{self, Destination};
use super::tls;
use super::verbose;
use crate::load;
use crate::planning::addresses::resolve;
use crate::planning::{Asked, Family, OptionNames, TargetAsked, order, sources};

/// Most connections ab takes.
const CONCURRENCY_MAX: i64 = 200_000;

/// What these options ask for, native ones laid over ab's.
///
/// # Errors
/// When the URL is none, numbers do not fit together or a file cannot be read.
pub fn asked(options: &Options, native: &load::Options) -> Result<Asked, Refused> {
    let text = String::from_utf8_lossy(&options.url);
    let url = Url::parse_like_ab(&text).map_err(|_| invalid_url(&text))?;
    let mut tls = tls::tls(&options.tls, &native.tls, &url, options.request.host().as_deref())?;
    if let Some(tls) = &mut tls {
        tls.list_messages = verbose::lists_messages(options.verbosity);
    }
    let concurrency = concurrency(options, native)?;
    let keep_alive = options.keep_alive
        && !native.connection.no_keepalive
        && native.connection.requests_per_connection != Some(1);
    let mut request = options.request.clone();
    let proxy = proxy(options, native, &url, &mut request)?;
    let requests =
        requests(request, native, &url, targets(options, native, &url, &proxy)?, keep_alive)?;
    let mut asked = Asked::new(TargetAsked { proxy, ..target(&text, &url) }, requests);
    asked.tls = tls;
    asked.load = Load::Closed { connections: concurrency, pipeline: 1 };
    limits(options, &mut asked)?;
    let connections = &mut asked.connections;
    connections.keep_alive = keep_alive;
    connections.clock_starts = ClockStarts::BeforeConnecting;
    connections.socket_buffer_bytes = options.window_bytes;
    if let Some(name) = &options.bind {
        let address = local_address(name)?;
        connections.local_addresses = vec![address];
        asked.target.family = if address.is_ipv4() { Family::V4 } else { Family::V6 };
    }
    asked.keep_every_request = options.gnuplot.is_some();
    asked.names = OptionNames::AB;
    load::lay_over(native, &mut asked).map_err(|refusal| Refused::native_usage(refusal.line))?;
    if let Load::Open { connections, bounded, .. } = &mut asked.load
        && options.concurrency > 1
    {
        // ab's -c without --connections: at most so many, as a native -c says.
        (*connections, *bounded) = (concurrency, true);
    }
    // Laid over, a native end replaces both of ab's; here only the one of its kind.
    asked.limits.requests = requests_limit(options, native);
    asked.limits.duration_ns = native.load.duration.or(time_limit_ns(options));
    Ok(asked)
}

/// What is wrong with a URL that ab does not take. Most that the native command line takes lack
/// only their path.
fn invalid_url(text: &str) -> Refused {
    let remedy = match Url::parse(text) {
        Ok(url) if url.userinfo.is_some() => {
            format!("ab takes no user in a URL: write -A NAME:PASSWORD {url}")
        }
        Ok(url) => format!("`{text}` is no URL to ab: write {url}"),
        Err(error) => error.to_string(),
    };
    Refused::usage("invalid URL", remedy)
}

/// The name that is looked up, for messages.
pub fn host_to_resolve(asked: &Asked) -> &str {
    asked.target.proxy.as_ref().map_or(&asked.target.host, |proxy| &proxy.host)
}

/// ab's single request, unless a native duration ends the run.
fn requests_limit(options: &Options, native: &load::Options) -> Option<u64> {
    let default = native.load.duration.is_none().then_some(1);
    native.load.requests.or(options.requests).or(default)
}

fn concurrency(options: &Options, native: &load::Options) -> Result<u32, Refused> {
    if let Some(connections) = native.load.connections {
        return Ok(connections);
    }
    let requests = requests_limit(options, native).unwrap_or(u64::MAX);
    if requests == 0 {
        return Err(Refused::native_usage("0 requests measure nothing: give --requests 1 or more"));
    }
    match options.concurrency {
        0 => Err(Refused::usage(
            "Cannot use concurrency level 0",
            "0 connections send nothing: give -c 1 or more",
        )),
        level @ 1..=CONCURRENCY_MAX if level as u64 > requests => Err(Refused::usage(
            "Cannot use concurrency level greater than total number of requests",
            format!(
                "-c {level} needs at least as many requests, and -n is {requests}: give -n {level} \
                 or more, or a lower -c"
            ),
        )),
        level @ 1..=CONCURRENCY_MAX => Ok(level as u32),
        level => Err(Refused::usage(
            format!("Invalid Concurrency [Range 0..{CONCURRENCY_MAX}]"),
            format!("-c {level}: give -c 1 to {CONCURRENCY_MAX}"),
        )),
    }
}

fn target(text: &str, url: &Url) -> TargetAsked {
    TargetAsked {
        url: text.to_owned(),
        host: url.host.clone(),
        port: url.port,
        path: url.path_and_query.clone(),
        family: Family::Any,
        connect_to: Vec::new(),
        unix_socket: None,
        proxy: None,
    }
}

/// The proxy of `-X`, which is sent the requests whatever the URL, or of `--proxy`, which makes
/// tunnels for https. Credentials are asked for by who reads them.
fn proxy(
    options: &Options,
    native: &load::Options,
    url: &Url,
    request: &mut request::Asked,
) -> Result<Option<Proxy>, Refused> {
    let Some(asked) = &native.connection.proxy else { return proxy_of_ab(options) };
    if options.proxy.is_some() {
        return Err(Refused::native_usage("-X and --proxy exclude each other: leave one away"));
    }
    let mut proxy = load::proxy(url, native);
    match &mut proxy {
        Some(Proxy { way: Way::Tunnel, credentials, .. }) => {
            let typed = request.take_proxy_credentials().map(|field| Credentials { field });
            *credentials = credentials.take().or(typed);
        }
        _ => {
            if let Some(user) = &asked.user {
                request.add_credentials(request::PROXY_AUTHORIZATION, user.as_bytes());
            }
        }
    }
    Ok(proxy)
}

fn proxy_of_ab(options: &Options) -> Result<Option<Proxy>, Refused> {
    let Some((host, port)) = &options.proxy else { return Ok(None) };
    match u16::try_from(*port) {
        Ok(port) if port > 0 => {
            Ok(Some(Proxy { host: host.clone(), port, way: Way::Forward, credentials: None }))
        }
        // ab takes port 0 and is refused by it.
        _ => {
            let host = if host.is_empty() { "HOST" } else { host };
            Err(Refused::system_call("apr_socket_recv", libc::ECONNREFUSED).with_remedy(format!(
                "-X has no port from 1 to 65535: write for example -X {host}:3128"
            )))
        }
    }
}

fn requests(
    mut request: request::Asked,
    native: &load::Options,
    url: &Url,
    targets: Vec<(Vec<u8>, u64)>,
    keep_alive: bool,
) -> Result<Requests, Refused> {
    let bodies = native::lay_over_request(native, &mut request)?;
    request.check()?;
    if bodies.len() > 1 && targets.len() > 1 {
        return Err(Refused::native_usage(
            "--urls and --body-lines exclude each other: leave one of them away",
        ));
    }
    let order = if bodies.len() > 1 {
        (0..bodies.len() as u32).collect()
    } else {
        let weights: Vec<u64> = targets.iter().map(|(_, weight)| *weight).collect();
        order::spread(&weights).map_err(Refused::native_usage)?
    };
    let host = url.host_header();
    let mut templates = Vec::with_capacity(targets.len().max(bodies.len()));
    for (target, _) in &targets {
        let destination = Destination { target, host: host.as_bytes(), keep_alive };
        for body in &bodies {
            templates.push(request.template(destination, body.as_deref())?);
        }
    }
    Ok(Requests {
        templates,
        order,
        method: String::from_utf8_lossy(request.method_name()).into_owned(),
        minor_version: request.minor_version,
        has_body: bodies.iter().any(Option::is_some),
        seed: native.request.seed.unwrap_or(1),
    })
}

/// What stands on the request line, and how often among the others.
fn targets(
    options: &Options,
    native: &load::Options,
    url: &Url,
    proxy: &Option<Proxy>,
) -> Result<Vec<(Vec<u8>, u64)>, Refused> {
    let forwards = proxy.as_ref().is_some_and(|proxy| proxy.way == Way::Forward);
    let front = format!("{}://{}", url.scheme.name(), url.host_header());
    let front = if forwards { front } else { String::new() };
    let Some(file) = &native.request.urls else {
        let target = match &options.proxy {
            Some(_) => options.url.clone(),
            None => [front.as_bytes(), path(&options.url)].concat(),
        };
        return Ok(vec![(target, 1)]);
    };
    let list = sources::url_list(file, Some(url))
        .map_err(|refusal| Refused::native_usage(refusal.line))?;
    Ok(list
        .paths
        .into_iter()
        .map(|(path, weight)| (format!("{front}{path}").into_bytes(), weight))
        .collect())
}

/// The path of a URL that was read already, in its own bytes.
fn path(url: &[u8]) -> &[u8] {
    let schemes = [&b"http://"[..], b"https://"];
    let rest = schemes.iter().find_map(|scheme| url.strip_prefix(*scheme)).unwrap_or(url);
    let slash = rest.iter().position(|b| *b == b'/').unwrap_or(0);
    &rest[slash..]
}

fn limits(options: &Options, asked: &mut Asked) -> Result<(), Refused> {
    let limits = &mut asked.limits;
    limits.timeout_ns = match options.timeout_s {
        ..0 => 0,
        0 => {
            return Err(Refused::timed_out().with_remedy(
                "-s 0 leaves no time for an answer: give -s 1 or more, or -s -1 for no limit",
            ));
        }
        seconds => nanoseconds(seconds),
    };
    // ab gives up at the first refused connection, with -r never.
    limits.hopeless_after = if options.tolerate_receive_errors { u32::MAX } else { 1 };
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
    let target = TargetAsked {
        url: String::new(),
        host: name.to_owned(),
        port: 1,
        path: String::new(),
        family: Family::Any,
        connect_to: Vec::new(),
        unix_socket: None,
        proxy: None,
    };
    let addresses = resolve(&target).map_err(|refusal| Refused::of_planning(refusal, name))?;
    addresses
        .first()
        .map(|address| address.ip())
        .ok_or_else(|| Refused::text(format!("-B {name} has no address")))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use ablaze_model::plan::tls::Trust;

    use super::native::Native;
    use super::*;
    use crate::ab::options;

    fn asked_for(words: &str) -> Result<Asked, Refused> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        match Options::parse(&words).unwrap() {
            options::Asked::Run(options) => match native::read(&options.native)? {
                Native::Options(native) => asked(&options, &native),
                Native::Help => panic!("help: {words:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn sent(words: &str) -> String {
        let asked = asked_for(words).unwrap();
        String::from_utf8(asked.requests.templates[0].bytes.clone()).unwrap()
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
            ("-f TLS1.1 https://h/", "give -f TLS1.2, TLS1.3 or ALL", 1),
            ("-Z RC4 http://h/", "error setting ciphersuite list [RC4]", 1),
            ("-E /dev/null http://h/", "unable to get certificate from '/dev/null'", 1),
            ("-X p:1 --proxy p:1 https://h/", "-X and --proxy exclude each other", 22),
            ("--proxy https://p:1 http://h/", "TLS goes through it: write http://p:1", 22),
            ("--proxy p http://h/", "write for example http://p:3128", 22),
            ("-s 0 http://h/", "(70007)", 119),
            ("-X proxy http://h/", "write for example -X proxy:3128", 111),
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
        assert_eq!(asked.load, Load::Closed { connections: 10, pipeline: 1 });
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
        let tls = |words| asked_for(words).unwrap().tls.unwrap();
        let plain = tls("https://h:8443/x");
        assert_eq!((&plain.server_name[..], plain.send_server_name), ("h", true));
        assert_eq!(plain.trust, Trust::Anyone);
        assert!(plain.protocols.is_empty() && !plain.resume);
        assert_eq!(tls("-H Host:other:1 https://h/").server_name, "other");
        assert!(!tls("-I https://h/").send_server_name);
        assert!(tls("-Z AES128 https://h/").suites.len() == 5);
        assert_eq!(asked_for("https://h/").unwrap().target.port, 443);
        assert!(sent("https://h/a").starts_with("GET /a HTTP/1.0\r\nHost: h\r\n"));
        assert!(asked_for("-I http://h/").unwrap().tls.is_none());
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
        assert_eq!(asked.target.family, Family::V4);
        assert_eq!(asked_for("-B ::1 http://h/").unwrap().target.family, Family::V6);
    }

    #[test]
    fn a_proxy_is_connected_to_and_asked_for_the_url_as_typed() {
        let asked = asked_for("-X proxy:3128 http://h:81/x").unwrap();
        assert_eq!(host_to_resolve(&asked), "proxy");
        assert_eq!((&asked.target.host[..], asked.target.port), ("h", 81));
        let sent = sent("-X proxy:3128 http://h:81/x#y");
        assert!(sent.starts_with("GET http://h:81/x#y HTTP/1.0\r\nHost: h:81\r\n"), "{sent}");
    }

    #[test]
    fn with_https_too_the_proxy_of_ab_is_sent_the_request() {
        let words = "-P u:p -X proxy:3128 https://h:8443/x";
        let asked = asked_for(words).unwrap();
        let proxy = asked.target.proxy.unwrap();
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
            let asked = asked_for(words).unwrap();
            let proxy = asked.target.proxy.unwrap();
            assert_eq!(proxy.way, Way::Tunnel);
            assert_eq!(proxy.credentials.unwrap().field, "Basic dTpw");
            assert!(sent(words).starts_with("GET /x HTTP/1.0\r\nHost: h\r\n"), "{words}");
        }
        let words = "--proxy u:p@proxy:3128 h:81/x";
        assert_eq!(asked_for(words).unwrap().target.proxy.unwrap().way, Way::Forward);
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
        assert_eq!(asked.load, Load::Closed { connections: 7, pipeline: 1 });
        assert_eq!((&asked.workers.cpus[..], asked.limits.warmup_ns), (&[0][..], 1_000_000_000));
        // On a schedule, ab's -c is the most connections, as the native one is.
        let bound = |words| match asked_for(words).unwrap().load {
            Load::Open { connections, bounded, .. } => bounded.then_some(connections),
            Load::Closed { .. } => panic!("{words} asks for an open loop"),
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
