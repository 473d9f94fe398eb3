//! Runs made by hand, for the tests of the exporters.

#[path = "sample_http3.rs"]
mod http3;
#[path = "sample_monitor.rs"]
mod monitor;
#[path = "sample_profiling.rs"]
pub mod profiling;

use std::collections::BTreeMap;

use ablaze_model::plan::Load;
use ablaze_model::plan::tls::{Tls, TlsVersion};
use ablaze_model::record::{
    Agreed, CheckRecord, Checks, Codes, FirstFailure, FirstMessage, GroupRecord, Handshakes,
    Http2Facts, Message, Sample, Samples, ServerSettings, Slice, Stopped, StoppedResponse,
    TlsFacts, WindowWaits,
};
use ablaze_model::run::{Backend, Ended, Run, WorkerEffort};
use ablaze_model::{Assessed, FailureKind, by_hand};
use ablaze_stats::Latency;

pub use http3::over_http3;

/// A run as it is handed on, judged by the rules.
pub fn assessed(run: &Run) -> Assessed {
    ablaze_verdict::live::assessed(run.clone())
}

/// Ten seconds of 100 connections against a server that needs half a millisecond for each response, so
/// that 100 together wait about 50 ms: 20,000 responses, all 200, 14 bytes.
pub fn ordinary() -> Run {
    let mut run = empty();
    let record = &mut run.record;
    for number in 0..20_000u64 {
        // 29.5 to 69.5 ms, and one in a thousand ten times as long: 99.9 in flight (Little's law).
        let wait_ns = 29_500_000 + number * 7919 % 20_000 * 2_000;
        let wait_ns = if number % 1000 == 0 { wait_ns * 10 } else { wait_ns };
        record.answered.wait.record(wait_ns);
        record.answered.receive.record(2_000 + number % 100);
        record.answered.total.record(wait_ns + 2_000 + number % 100);
        record.answered.processing.record(wait_ns + 2_000 + number % 100);
        record.event_age.record(1_000 + number % 977 * 10);
    }
    for number in 0..100u64 {
        record.setup_connect.record(40_000 + number * 500);
    }
    record.responses = 20_000;
    record.statuses = BTreeMap::from([(200, 20_000)]);
    record.body_lengths = BTreeMap::from([(14, 20_000)]);
    record.first_body_bytes = Some(14);
    record.first_response_at_ns = 77_000_000;
    record.first_head = b"HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\n\r\n".to_vec();
    record.reused = 20_000;
    record.connections_opened = 100;
    record.received_bytes = 3_120_000;
    record.body_bytes = 280_000;
    record.sent_bytes = 1_600_000;
    record.in_flight_ns = record.answered.total.sum_ns() + 5_000_000;
    record.slices.slices = (0..100)
        .map(|number| Slice {
            responses: 195 + number / 10,
            failures: 0,
            p50_ns: 50_000_000,
            p99_ns: 69_000_000,
            max_ns: 700_000_000,
        })
        .collect();
    run.workers = vec![WorkerEffort {
        user_ns: 4_000_000,
        system_ns: 68_000_000,
        spun_ns: 0,
        busy_ns: 75_000_000,
        window_ns: 10_000_000_000,
        system_calls: 21_000,
        turns: 20_500,
        events: 20_000,
        involuntary_switches: 3,
    }];
    run.monitor = Some(monitor::monitor());
    run
}

/// The same with what can go wrong: 404s, errors of two kinds, unfinished and repeated requests,
/// connections opened under way, two workers, epoll for want of io_uring.
pub fn troubled() -> Run {
    let mut run = ordinary();
    let record = &mut run.record;
    record.statuses = BTreeMap::from([(200, 19_900), (404, 90), (503, 10)]);
    record.unexpected = 100;
    record.body_lengths = BTreeMap::from([(14, 19_900), (162, 100)]);
    record.failures[FailureKind::Reset as usize] = 12;
    record.failures[FailureKind::Timeout as usize] = 3;
    for number in 0..15u64 {
        record.failed.total.record(if number < 12 { 1_000_000 } else { 30_000_000_000 });
    }
    record.first_failure = Some(FirstFailure {
        at_ns: 78_200_000,
        kind: FailureKind::Reset,
        errno: 104,
        connecting: false,
    });
    record.answered.connect.record_many(88_000, 12);
    record.connections_opened = 112;
    record.repeated = 4;
    record.unfinished = 100;
    record.unfinished_oldest_ns = 812_000;
    record.first_malformed = b"SSH-2.0-OpenSSH_9.6\r\n\xff".to_vec();
    record.stopped = Stopped {
        timed_out: 2,
        unfinished: 0,
        partway: 2,
        endless: 0,
        begun: 0,
        begun_without_length: 0,
        longest: Some(StoppedResponse {
            silent_ns: 29_000_000_000,
            body_bytes: 1,
            missing_bytes: Some(13),
        }),
    };
    record.slices.slices[40].failures = 15;
    run.plan.load = Load::Closed { connections: 100, pipeline: 4 };
    run.plan.workers.count = 2;
    run.plan.workers.count_reason = "as asked".into();
    run.workers[0].spun_ns = 20_000_000;
    run.workers.push(WorkerEffort { busy_ns: 6_000_000_000, ..run.workers[0] });
    run.backend = Backend {
        name: "epoll",
        fallback_reason: Some("io_uring_setup: Operation not permitted".into()),
    };
    if let Some(heartbeat) = run.monitor.as_mut().and_then(|monitor| monitor.heartbeat.as_mut()) {
        heartbeat.gaps = 1;
        heartbeat.longest = vec![monitor::gap()];
    }
    run.ended = Ended::Interrupted;
    run.profiling = Some(profiling::profiling());
    run
}

/// As [`ordinary`], over TLS.
pub fn encrypted() -> Run {
    let mut run = ordinary();
    run.plan.target.url = "https://there:8443/".into();
    run.plan.tls = Some(Tls { protocols: vec!["http/1.1".into()], ..Tls::new("there") });
    let times = |ns: u64| {
        let mut latency = Latency::new(3);
        (0..100).for_each(|number| latency.record(ns + number * 1_000));
        latency
    };
    run.record.setup_tls = Some(Box::new(times(1_000_000)));
    let handshakes = Handshakes { handshake: times(900_000), connected: times(950_000) };
    run.record.answered.tls = Some(Box::new(handshakes));
    let agreed = |suite, times| {
        let protocol = Some("http/1.1".into());
        (Agreed { version: TlsVersion::V1_3, suite, group: Some(29), protocol }, times)
    };
    run.record.tls = Some(Box::new(TlsFacts {
        connected: 101,
        handshakes_full: 100,
        handshakes_retried: 3,
        handshakes_resumed: 0,
        agreed: vec![agreed(0x1302, 99), agreed(0x1399, 1)],
        certificate: vec![0x30, 0, 0xff],
        first_failure: Some((FailureKind::TlsRefused, "the server sent an alert".into())),
        first_alert: None,
        spoken: Vec::new(),
    }));
    run
}

/// Ten connections of 20 streams over HTTP/2, to a server that permits 10 and objects to the load.
pub fn over_http2() -> Run {
    let mut run = ordinary();
    run.plan.load = Load::Closed { connections: 10, pipeline: 20 };
    run.plan.http2 = Some(ablaze_model::plan::Http2 { streams: 20 });
    run.record.http2 = Some(Box::new(Http2Facts {
        goaways: 3,
        goaway_codes: Codes(vec![(0, 2), (11, 1)]),
        first_goaway: Some("ENHANCE_YOUR_CALM: too many".into()),
        last_goaway_said: Some("too many".into()),
        resets: Codes(vec![(7, 4), (0x63, 1)]),
        refused_again: 2,
        settings: Some(ServerSettings {
            streams_max: Some(10),
            stream_window_bytes: 65_535,
            payload_bytes_max: 16_384,
            header_list_bytes: Some(16_384),
        }),
        streams_permitted: Some(10),
        waits: WindowWaits {
            stream_times: 7,
            stream_ns: 5_000_000,
            connection_times: 1,
            connection_ns: 1_000_000,
            longest_ns: 2_000_000,
        },
        first_failure: Some((FailureKind::GoAway, "the server ended the connection".into())),
    }));
    run
}

/// Two URLs, the second slow and with all the trouble: 15,000 and 4,985 responses, 15 timeouts.
pub fn grouped() -> Run {
    let mut run = ordinary();
    let record = &mut run.record;
    record.responses = 19_985;
    record.statuses = BTreeMap::from([(200, 19_895), (404, 90)]);
    record.unexpected = 90;
    record.failures[FailureKind::Timeout as usize] = 15;
    let mut fast = GroupRecord::new("/item", false);
    fast.responses = 15_000;
    fast.statuses = BTreeMap::from([(200, 15_000)]);
    let mut slow = GroupRecord::new("/search?q=a,b", false);
    (slow.responses, slow.unexpected, slow.unfinished) = (4_985, 90, 100);
    slow.statuses = BTreeMap::from([(200, 4_895), (404, 90)]);
    slow.failures[FailureKind::Timeout as usize] = 15;
    slow.failed.total.record_many(30_000_000_000, 15);
    for (group, ns) in [(&mut fast, 29_500_000), (&mut slow, 90_000_000)] {
        group.body_bytes = 14 * group.responses;
        for number in 0..group.responses {
            group.answered.wait.record(ns + number * 500);
            group.answered.total.record(ns + number * 500 + 2_000);
        }
    }
    record.groups = vec![fast, slow];
    run
}

/// Three checks: one that 200 responses failed, one that all passed, one that looked at none. One sample.
pub fn checked() -> Run {
    let mut run = ordinary();
    let mut checks = Checks::new(["status==200", "json $.id > 0", "header x exists", "size<1MB"]);
    (checks.responses, checks.failed_responses) = (20_000, 200);
    let first = Some(FirstMessage { at_ns: 5, text: "it is 500".to_owned(), feed_line: None });
    checks.each[0] = CheckRecord { passed: 19_800, failed: 200, first, ..checks.each[0].clone() };
    checks.each[1].passed = 20_000;
    checks.each[3].passed = 20_000;
    run.record.checks = Some(Box::new(checks));
    let request = b"GET /x HTTP/1.1\r\nHost: h\r\nAuthorization: Basic abc\r\n\r\n";
    let head = b"HTTP/1.1 500 Internal Server Error\r\nServer: s\r\n\r\n";
    let mut samples = Samples::default();
    samples.failed = 200;
    samples.keep(Sample {
        key: 1,
        at_ns: 1_500_000_000,
        number: 7,
        step: None,
        status: 500,
        total_ns: 2_000_000,
        failed: vec!["status==200: it is 500".to_owned()],
        request: Message::of_request(request, request.len() as u64, &[]),
        response: Message::of(head, b"{\"error\": \"<b>\"}", 100_000, &[]),
    });
    run.record.samples = Some(Box::new(samples));
    run
}

/// Nobody listened: refused three times, no response, nothing to compute anything from.
pub fn refused() -> Run {
    let mut run = empty();
    run.elapsed_ns = 0;
    run.record.failures[FailureKind::Refused as usize] = 3;
    run.record.first_failure =
        Some(FirstFailure { at_ns: 5, kind: FailureKind::Refused, errno: 111, connecting: true });
    run.ended = Ended::Unreachable;
    run.connected_to = String::new();
    run
}

/// A run in which nothing happened for ten seconds.
pub fn empty() -> Run {
    let mut run = by_hand::run();
    run.plan.workers.count_reason = "half of the 2 CPUs allowed, the target is on this host".into();
    run
}
