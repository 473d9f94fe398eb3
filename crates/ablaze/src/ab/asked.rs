//! From ab's options to what planning asks for. The checks ab makes between options are here, in
//! its order and with its messages.

use ablaze_engine::plan::{ClockStarts, Load, Requests};
use ablaze_wire::url::{Scheme, Url};

use super::options::Options;
use super::refusal::Refused;
use super::request::Destination;
use crate::planning::addresses::resolve;
use crate::planning::{Asked, ConnectTo, Family, TargetAsked};

/// Most connections ab takes.
const CONCURRENCY_MAX: i64 = 200_000;

/// What these options ask for.
///
/// # Errors
/// When the URL is none or numbers do not fit together.
pub fn asked(options: &Options) -> Result<Asked, Refused> {
    let text = String::from_utf8_lossy(&options.url);
    let url = Url::parse_like_ab(&text).map_err(|_| Refused::usage("invalid URL"))?;
    if url.scheme == Scheme::Https {
        return Err(Refused::text("https:// is not in this version: write http://"));
    }
    let concurrency = concurrency(options)?;
    let mut asked = Asked::new(target(options, &text, &url)?, requests(options, &url)?);
    asked.load = Load::Closed { connections: concurrency, pipeline: 1 };
    limits(options, &mut asked)?;
    let connections = &mut asked.connections;
    connections.keep_alive = options.keep_alive;
    connections.clock_starts = ClockStarts::BeforeConnecting;
    connections.socket_buffer_bytes = options.window_bytes;
    if let Some(name) = &options.bind {
        let address = local_address(name)?;
        connections.local_addresses = vec![address];
        asked.target.family = if address.is_ipv4() { Family::V4 } else { Family::V6 };
    }
    asked.keep_every_request = options.gnuplot.is_some();
    Ok(asked)
}

/// The name that is looked up, for messages.
pub fn host_to_resolve(asked: &Asked) -> &str {
    let proxy = asked.target.connect_to.first().and_then(|to| to.host.as_deref());
    proxy.unwrap_or(&asked.target.host)
}

fn concurrency(options: &Options) -> Result<u32, Refused> {
    match options.concurrency {
        0 => Err(Refused::usage("Cannot use concurrency level 0: give -c 1 or more")),
        level @ 1..=CONCURRENCY_MAX if level as u64 > options.requests => Err(Refused::usage(
            "Cannot use concurrency level greater than total number of requests",
        )),
        level @ 1..=CONCURRENCY_MAX => Ok(level as u32),
        _ => Err(Refused::usage(format!("Invalid Concurrency [Range 0..{CONCURRENCY_MAX}]"))),
    }
}

fn target(options: &Options, text: &str, url: &Url) -> Result<TargetAsked, Refused> {
    Ok(TargetAsked {
        url: text.to_owned(),
        host: url.host.clone(),
        port: url.port,
        path: url.path_and_query.clone(),
        family: Family::Any,
        connect_to: proxy(options)?.into_iter().collect(),
        unix_socket: None,
    })
}

fn proxy(options: &Options) -> Result<Option<ConnectTo>, Refused> {
    let Some((host, port)) = &options.proxy else { return Ok(None) };
    match u16::try_from(*port) {
        Ok(port) if port > 0 => Ok(Some(ConnectTo {
            host: Some(host.clone()),
            port: Some(port),
            ..ConnectTo::default()
        })),
        // ab takes port 0 and is refused by it.
        _ => Err(Refused::system_call("apr_socket_recv", libc::ECONNREFUSED).with_remedy(format!(
            "-X {host} has no port from 1 to 65535: write for example -X {host}:3128"
        ))),
    }
}

fn requests(options: &Options, url: &Url) -> Result<Requests, Refused> {
    let host = url.host_header();
    let target = if options.proxy.is_some() { &options.url[..] } else { path(&options.url) };
    let destination = Destination { target, host: host.as_bytes() };
    let template = options.request.template(options.keep_alive, destination)?;
    Ok(Requests {
        templates: vec![template],
        order: Vec::new(),
        method: String::from_utf8_lossy(options.request.method_name()).into_owned(),
        minor_version: 0,
        has_body: options.request.body.is_some(),
        seed: 0,
    })
}

/// The path of a URL that was read already, in its own bytes.
fn path(url: &[u8]) -> &[u8] {
    let rest = url.strip_prefix(b"http://").unwrap_or(url);
    let slash = rest.iter().position(|b| *b == b'/').unwrap_or(0);
    &rest[slash..]
}

fn limits(options: &Options, asked: &mut Asked) -> Result<(), Refused> {
    let limits = &mut asked.limits;
    limits.requests = Some(options.requests);
    limits.duration_ns = options.time_limit_s.map(|seconds| match seconds {
        // Expired before it begins.
        ..=0 => 1,
        _ => nanoseconds(seconds),
    });
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

    use super::*;
    use crate::ab::options;

    fn asked_for(words: &str) -> Result<Asked, Refused> {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        match Options::parse(&words, &|_| false).unwrap() {
            options::Asked::Run(options) => asked(&options),
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
            ("https://h/", "not in this version", 1),
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
    fn paths_are_sent_untouched_and_hosts_as_ab_writes_them() {
        assert!(sent("http://h/a?b#c").starts_with("GET /a?b#c HTTP/1.0\r\nHost: h\r\n"));
        assert!(sent("h:8080/").starts_with("GET / HTTP/1.0\r\nHost: h:8080\r\n"));
        assert!(sent("http://[::1]:80/").contains("\r\nHost: [::1]\r\n"));
        assert!(sent("http://h:443/").contains("\r\nHost: h:443\r\n"));
        assert!(sent("-i h/").starts_with("HEAD / "));
    }
}
