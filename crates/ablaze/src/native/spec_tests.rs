//! Every native option, and what it asks for.

use std::net::IpAddr;

use ablaze_load::planning::{Composed, compose};
use ablaze_model::plan::proxy::Way;
use ablaze_model::plan::{Close, Http2, Http3, IoChoice, RateProfile, Spin};
use clap::Parser;

use super::super::options::CommandLine;
use super::*;

fn from(words: &str) -> (LoadSpec, Composed) {
    let words = ["ablaze load"].into_iter().chain(words.split(' '));
    let line = CommandLine::try_parse_from(words).unwrap();
    let mut secrets = Secrets::default();
    let spec = spec(line.url.as_deref(), &line.options, &mut secrets).unwrap();
    let composed = compose(&spec, &secrets).unwrap();
    (spec, composed)
}

/// A command line, and what must hold of what it asks for and of what is sent.
type Row = (&'static str, fn(&LoadSpec, &Composed) -> bool);

#[test]
fn every_option_reaches_the_spec() {
    let table: &[Row] = &[
        ("-r 10/ms --arrivals poisson -c 7 :1", |a, _| {
            let rate = RateProfile::constant(10_000.0);
            let arrivals = Arrivals::Poisson;
            a.shape == Shape::Open { rate, arrivals, connections: Some(7) }
        }),
        ("--rate 100..500 --steps 5 -d 9 :1", |a, _| {
            let rate = RateProfile { from_per_s: 100.0, to_per_s: 500.0, steps: 5 };
            let arrivals = Arrivals::Constant;
            a.shape == Shape::Open { rate, arrivals, connections: None }
        }),
        (":1", |a, _| (a.closed_connections(), a.in_flight) == (50, 1)),
        ("-c 2k :1", |a, _| a.closed_connections() == 2000),
        ("-n 7 :1", |a, _| a.closed_connections() == 7),
        ("-n 7 -c 9 :1", |a, _| a.closed_connections() == 9),
        ("--pipeline 8 :1", |a, _| (a.closed_connections(), a.in_flight) == (50, 8)),
        (":1", |a, _| a.limits.requests.is_none() && a.limits.duration_ns == Some(10_000_000_000)),
        ("-n 1M :1", |a, _| a.limits.requests == Some(1_000_000) && a.limits.duration_ns.is_none()),
        ("-n 9 -d 2 :1", |a, _| {
            a.limits.requests == Some(9) && a.limits.duration_ns == Some(2_000_000_000)
        }),
        ("--warmup 1s :1", |a, _| a.limits.warmup_ns == 1_000_000_000),
        ("--timeout 5ms :1", |a, _| a.limits.timeout_ns == 5_000_000),
        (":1", |a, _| a.limits.timeout_ns == 30_000_000_000),
        ("--ramp 1s -c 100 :1", |a, _| a.connections.ramp_ns == 1_000_000_000),
        ("--max-head 1KiB :1", |a, _| a.limits.max_head_bytes == 1024),
        ("--no-keepalive :1", |a, _| !a.connections.keep_alive),
        ("--requests-per-connection 1 :1", |a, _| !a.connections.keep_alive),
        ("--no-keepalive --requests-per-connection 1 :1", |a, _| !a.connections.keep_alive),
        ("--requests-per-connection 9 :1", |a, _| {
            a.connections.keep_alive && a.connections.requests_per_connection == Some(9)
        }),
        ("--close reset :1", |a, _| a.connections.close == Close::Reset),
        (":1", |a, _| a.connections.close == Close::Await && a.connections.repeat),
        ("--no-repeat :1", |a, _| !a.connections.repeat),
        ("-4 :1", |a, _| a.destination.family == Family::V4),
        ("--ipv6 :1", |a, _| a.destination.family == Family::V6),
        ("--connect-to [::1]:2 h:1", |a, _| a.destination.connect_to[0].port == Some(2)),
        ("--unix-socket /s :1", |a, _| a.destination.unix_socket == Some("/s".into())),
        ("--local-address 127.0.0.2,127.0.0.4/31 :1", |a, _| {
            a.connections.local_addresses
                == ["127.0.0.2", "127.0.0.4", "127.0.0.5"].map(|ip| ip.parse::<IpAddr>().unwrap())
        }),
        ("--proxy me:secret@p:3128 http://h:1/x?y", |_, c| {
            let bytes = &c.requests.templates[0].bytes;
            let proxy = c.proxy.as_ref().unwrap();
            (proxy.authority().as_str(), proxy.way) == ("p:3128", Way::Forward)
                && bytes.starts_with(b"GET http://h:1/x?y HTTP/1.1\r\nHost: h:1\r\n")
                && bytes.windows(33).any(|w| w == b"\r\nProxy-Authorization: Basic bWU6")
        }),
        ("--proxy http://me:secret@p:3128 https://h/x", |_, c| {
            let bytes = &c.requests.templates[0].bytes;
            let proxy = c.proxy.as_ref().unwrap();
            proxy.way == Way::Tunnel
                && bytes.starts_with(b"GET /x HTTP/1.1\r\nHost: h\r\n")
                && !bytes.windows(5).any(|w| w == b"Proxy")
                && proxy.credentials.is_some()
        }),
        ("--proxy p:3128 --http 2 http://h:1/x", |_, c| {
            c.proxy.as_ref().unwrap().way == Way::Tunnel
                && c.requests.templates[0].bytes.starts_with(b"GET /x ")
        }),
        ("--local-ports 5000-5999 :1", |a, _| a.connections.local_ports == Some(5000..=5999)),
        ("-t 3 --cpus 0,2-3 :1", |a, _| {
            a.workers.threads == Some(3) && a.workers.cpus == [0, 2, 3]
        }),
        ("--io epoll --spin 20us :1", |a, _| {
            a.workers.io == IoChoice::Epoll && a.workers.spin == Spin::For(20_000)
        }),
        ("--spin off :1", |a, _| a.workers.spin == Spin::Off),
        (":1", |a, _| a.expect == [200..=399]),
        ("--expect 404,5xx :1", |a, _| a.expect == [404..=404, 500..=599]),
        ("--assert status==200 --assert size<1KB :1", |a, c| {
            let each = c.checks.as_ref().unwrap().each.iter().map(|check| check.text());
            a.checks == ["status==200", "size<1KB"] && each.eq(&a.checks)
        }),
        ("-X PUT :1", |_, c| c.requests.method == "PUT"),
        ("-m HEAD :1", |_, c| c.requests.templates[0].response_has_no_body),
        ("-b x --seed 7 :1", |_, c| c.requests.has_body && c.requests.seed == 7),
        ("--http 1.0 :1", |_, c| c.requests.minor_version == 0 && c.http2.is_none()),
        ("--http 2 -c 3 :1", |a, c| {
            c.http2 == Some(Http2 { streams: 1 }) && a.closed_connections() == 3
        }),
        ("--http 2 --streams 9 :1", |a, c| {
            c.http2 == Some(Http2 { streams: 9 }) && a.closed_connections() == 50
        }),
        ("--http 2 --streams 9 -r 10 :1", |a, c| {
            c.http2 == Some(Http2 { streams: 9 }) && a.shape.is_open()
        }),
        ("-k --http 2 https://h:1", |_, c| c.tls.as_ref().unwrap().protocols == ["h2"]),
        ("-k --http 3 --streams 9 https://h:1", |a, c| {
            c.http3 == Some(Http3::with_streams(9))
                && c.http2.is_none()
                && c.tls.as_ref().unwrap().protocols == ["h3"]
                && a.closed_connections() == 50
        }),
        ("-k --http 3 --no-keepalive https://h:1", |a, c| {
            c.http3 == Some(Http3::with_streams(1)) && !a.connections.keep_alive
        }),
        (
            "-k --http 3 --quic-idle-timeout 5s --quic-stream-window 1MiB --quic-window 2MiB \
             --quic-datagram 1350 --quic-pacing --qpack-table 4KiB https://h:1",
            |_, c| {
                c.http3
                    == Some(Http3 {
                        streams: 1,
                        idle_timeout_ns: 5_000_000_000,
                        stream_window_bytes: 1 << 20,
                        connection_window_bytes: 2 << 20,
                        datagram_bytes: Some(1350),
                        paces: true,
                        qpack_table_bytes: 4096,
                    })
            },
        ),
        ("-k https://h:1", |_, c| c.tls.as_ref().unwrap().protocols == ["http/1.1"]),
        (":8080/x?y", |_, c| {
            (c.url.host.as_str(), c.url.port) == ("127.0.0.1", 8080)
                && c.url.path == "/x?y"
                && c.url.shown == "http://127.0.0.1:8080/x?y"
        }),
        ("name:pass@h:1", |_, c| {
            c.requests.templates[0].bytes.windows(13).any(|w| w == b"Authorization")
                && !c.url.shown.contains("pass")
        }),
    ];
    for (words, holds) in table {
        let (spec, composed) = from(words);
        assert!(holds(&spec, &composed), "{words}: {spec:#?}");
    }
}

#[test]
fn a_connection_per_request_takes_no_other_number_of_requests() {
    for (words, parts) in [
        (
            "--no-keepalive --requests-per-connection 4 :1",
            &["--no-keepalive and --requests-per-connection 4", "use only one"][..],
        ),
        ("--no-keepalive --requests-per-connection 0 :1", &["0 requests per connection"]),
    ] {
        let words = ["ablaze load"].into_iter().chain(words.split(' '));
        let line = CommandLine::try_parse_from(words).unwrap();
        let refused = spec(line.url.as_deref(), &line.options, &mut Secrets::default());
        let error = refused.unwrap_err();
        assert_eq!(error.status, crate::error::USAGE);
        assert!(parts.iter().all(|part| error.line.contains(part)), "{}", error.line);
    }
}
