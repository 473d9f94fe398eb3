//! The figures of a run are those that the server saw too.

use std::time::{Duration, Instant};

use ablaze_load::{HttpVersion, Load, Run, Stop, Verdict};
use ablaze_target::Options;
use ablaze_target::conditions::Route;
use ablaze_target::tls::{Identity, TlsOptions};
use ablaze_testing::Scratch;

use crate::server;

#[test]
fn what_was_asked_for_is_what_the_server_counted() {
    let (server, url) = server(Options::default());
    let run = Load::url(&url).connections(3).requests(1_000).run().unwrap();
    let served = server.stop().unwrap();
    assert_eq!(served.requests, 1_000);
    assert_eq!((run.responses(), run.errors(), run.unexpected()), (1_000, 0, 0));
    assert_eq!(run.statuses().iter().collect::<Vec<_>>(), [(&200, &1_000)]);
    assert!(run.errors_by_kind().is_empty());
    assert!(!run.was_stopped());
    // Each of them, by what it means.
    let rate_per_s = 1_000.0 / run.elapsed().as_secs_f64();
    assert!((run.requests_per_s() / rate_per_s - 1.0).abs() < 1e-6);
    let percentiles = [
        run.min_ns(),
        run.p50_ns(),
        run.p90_ns(),
        run.p95_ns(),
        run.p99_ns(),
        run.p99_9_ns(),
        run.max_ns(),
    ];
    assert!(percentiles.iter().all(Option::is_some) && percentiles.is_sorted(), "{percentiles:?}");
    assert!(run.max_ns().unwrap() <= run.elapsed().as_nanos() as u64);
    let (low, high) = run.percentile_interval_ns(99.0).unwrap();
    assert!(low <= run.p99_ns().unwrap() && run.p99_ns().unwrap() <= high);
    assert!(run.client_cpu_per_request_ns().is_some());
}

#[test]
fn statuses_outside_of_those_expected_are_no_errors() {
    let gone = Route { path: "/gone".into(), status: 410, body: b"gone\n".into() };
    let (_server, url) = server(Options { routes: vec![gone], ..Options::default() });
    let load = Load::url(format!("{url}/gone")).connections(1).requests(10);
    let run = load.run().unwrap();
    assert_eq!((run.responses(), run.unexpected(), run.errors()), (10, 10, 0));
    assert_eq!(run.statuses()[&410], 10);
    assert_eq!(load.clone().expect(410..=410).run().unwrap().unexpected(), 0);
    // The first call replaces the default, a further one adds.
    let run = Load::url(&url).connections(1).requests(10).expect(410..=410).run().unwrap();
    assert_eq!(run.unexpected(), 10);
    let both = load.expect(410..=410).expect(200..=200);
    assert_eq!(both.spec().expect, [410..=410, 200..=200]);
}

#[test]
fn a_target_that_is_not_there_is_a_run_with_errors() {
    let (server, url) = server(Options::default());
    server.stop().unwrap();
    let run = Load::url(&url).connections(2).requests(20).run().unwrap();
    assert_eq!((run.responses(), run.verdict()), (0, Verdict::Invalid));
    assert!(run.errors() > 0);
    assert_eq!(run.errors_by_kind().into_iter().collect::<Vec<_>>(), [("refused", run.errors())]);
    assert_eq!((run.p99_ns(), run.requests_per_s()), (None, 0.0));
}

#[test]
fn an_open_loop_sends_what_is_due() {
    let (server, url) = server(Options::default());
    let load = Load::url(&url).rate_per_s(200.0).connections(2).requests(50).threads(1);
    let run = load.duration(Duration::from_secs(30)).run().unwrap();
    assert_eq!((run.responses() + run.errors(), server.stop().unwrap().requests), (50, 50));
    assert!(run.p50_ns().is_some());
}

#[test]
fn http_2_over_tls_with_a_certificate_that_nobody_signed() {
    let identity = Identity::self_made(&["127.0.0.1".parse().unwrap()]).unwrap();
    let authority = identity.authority().unwrap().to_owned();
    let tls = Some(TlsOptions::new(identity));
    let (server, url) = server(Options { tls, http2: true, ..Options::default() });
    let load = Load::url(&url).http(HttpVersion::Http2).in_flight_per_connection(4);
    let load = load.connections(2).requests(100);
    let refused = load.run().unwrap();
    assert_eq!((refused.responses(), refused.verdict()), (0, Verdict::Invalid));
    let run = load.clone().insecure().run().unwrap();
    assert_eq!((run.responses(), run.errors()), (100, 0), "{}", run.text());
    let run = load.clone().trusting(authority).run().unwrap();
    assert_eq!((run.responses(), run.errors()), (100, 0), "{}", run.text());
    assert!(run.text().contains("certificate verified"), "{}", run.text());
    assert_eq!(server.stop().unwrap().requests, 200);
    // A PEM without a certificate is refused before the run.
    let error = load.trusting("nothing").run().unwrap_err().to_string();
    assert!(error.contains("trusting()"), "{error}");
}

#[test]
fn a_run_that_was_stopped_before_it_began_is_not_valid() {
    let (_server, url) = server(Options::default());
    let stop = Stop::new();
    stop.now();
    let run = Load::url(&url).stop(&stop).run().unwrap();
    assert_eq!((run.responses(), run.verdict()), (0, Verdict::Invalid), "{}", run.text());
}

#[test]
fn a_run_that_was_kept_is_read_again() {
    let (_server, url) = server(Options::default());
    let run = Load::url(&url).connections(2).requests(500).run().unwrap();
    let read = Run::from_json(&run.json()).unwrap();
    assert_eq!((read.responses(), read.p50_ns()), (500, run.p50_ns()));
    assert_eq!(read.elapsed(), run.elapsed());
    let error = Run::from_json("{\"a\": 1}").unwrap_err().to_string();
    assert!(!error.is_empty());
}

#[test]
fn connections_are_used_once_where_that_was_asked_for() {
    let (server, url) = server(Options::default());
    let run = Load::url(&url).connections(2).requests(20).keep_alive(false).run().unwrap();
    assert_eq!(run.responses(), 20);
    assert_eq!(run.model().record.connections_opened, 20);
    drop(server);
}

#[test]
fn a_run_can_be_ended_from_another_thread_and_keeps_what_it_had() {
    let (_server, url) = server(Options::default());
    let stop = Stop::new();
    let load = Load::url(&url).connections(1).duration(Duration::from_secs(3_600)).stop(&stop);
    let begun = Instant::now();
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            stop.now();
        });
        load.run().unwrap()
    });
    assert!(run.was_stopped() && begun.elapsed() < Duration::from_secs(600));
    // It is over for those that begin later, too.
    assert!(load.run().unwrap().was_stopped());
}

#[test]
fn reports_are_kept_in_the_format_of_their_name() {
    let (_server, url) = server(Options::default());
    let run = Load::url(&url).connections(1).requests(50).run().unwrap();
    let folder = Scratch::new("reports");
    for name in ["run.json", "run.html", "run.csv", "run.txt", "run.hlog", "run.svg", "run.md"] {
        run.save(folder.path().join(name)).unwrap();
        assert!(!folder.read(name).is_empty(), "{name}");
    }
    assert_eq!(folder.read("run.txt"), run.text());
    let json: serde_json::Value = serde_json::from_str(&folder.read("run.json")).unwrap();
    let p99_ns = &json["latency_ns"]["total"]["p99"];
    // JSON leaves out what 50 responses do not support.
    assert!(p99_ns.is_null() || p99_ns.as_u64() == run.p99_ns(), "{p99_ns}");
    assert!(folder.read("run.html").starts_with("<!DOCTYPE html>"));
    let error = run.save(folder.path().join("run.docx")).unwrap_err().to_string();
    assert!(error.contains("run.docx") && error.contains(".json"), "{error}");
}

/// Signals caught by this process: a bit mask in hexadecimal digits (proc(5)).
fn caught_signals() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("SigCgt:")).unwrap().to_owned()
}

#[test]
fn no_signal_is_caught_for_it() {
    let before = caught_signals();
    let (_server, url) = server(Options::default());
    Load::url(&url).connections(1).requests(10).run().unwrap();
    assert_eq!(caught_signals(), before);
}
