//! What ab's options ask for, and what is refused with ab's words and statuses.

use std::ffi::OsString;

use ablaze_model::plan::tls::Trust;

use super::super::native::{Native, read};
use super::*;
use crate::front_ends::ab::options;
use ablaze_load::planning::Composed;

fn asked_for(words: &str) -> Result<LoadSpec, AbError> {
    both(words).map(|(spec, _)| spec)
}

fn composed(words: &str) -> Composed {
    both(words).unwrap().1
}

fn both(words: &str) -> Result<(LoadSpec, Composed), AbError> {
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
