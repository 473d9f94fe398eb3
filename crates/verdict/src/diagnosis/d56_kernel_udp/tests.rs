//! Two runs of one server, over UDP and over TCP, as the monitor saw them.

use ablaze_model::Run;
use ablaze_model::record::DatagramTraffic;

use super::*;
use crate::live::sample;
use crate::several::member;

/// A run of 100,000 responses within its second, with these CPU times per response: of the client in user mode and in the
/// kernel, and of the server.
fn run(version: u32, responses: u64, times_ns: [u64; 4]) -> Run {
    let mut run = if version == 3 { sample::over_http3() } else { sample::run() };
    run.plan.http2 = (version == 2).then_some(ablaze_model::plan::Http2 { streams: 10 });
    run.plan.load = ablaze_model::plan::Load::Closed { connections: 10, pipeline: 10 };
    run.plan.target.url = "https://127.0.0.1:8443/".to_owned();
    run.record.responses = responses;
    run.record.statuses = [(200, responses)].into();
    run.record.body_lengths = [(142, responses)].into();
    if let Some(facts) = &mut run.record.http3 {
        facts.quic.sent = DatagramTraffic { calls: 100, datagrams: 250, bytes: 250_000 };
    }
    let [client_user, client_system, server_user, server_system] = times_ns;
    let first = run.workers.first_mut().expect("the sample has a worker");
    (first.user_ns, first.system_ns) = (client_user * responses, client_system * responses);
    run.workers.truncate(1);
    let monitor = run.monitor.as_mut().expect("the sample was watched");
    let process = monitor.target.processes.first_mut().expect("the sample has a server");
    process.command_line = vec!["nginx".to_owned()];
    (process.user_ns, process.system_ns) = (server_user * responses, server_system * responses);
    process.watched_ns = run.elapsed_ns;
    monitor.target.processes.truncate(1);
    run
}

fn found(udp: &Run, tcp: &Run) -> Option<Finding> {
    let of = |run, name| member(run, &[], name, name, None).expect("it has a length");
    comparison(&Comparison { members: vec![of(tcp, "h2"), of(udp, "h3")] }, None)
}

#[test]
fn what_the_kernel_takes_more_is_said_with_both_sides() {
    let tcp = run(2, 100_000, [500, 1_000, 2_000, 1_500]);
    let udp = run(3, 50_000, [1_500, 3_000, 3_000, 5_500]);
    let found = found(&udp, &tcp).expect("7.5 of 9 µs are the kernel's");
    for part in [
        "13.0 µs",
        "5.00 µs over TCP",
        "75 %",
        "client 3.00 µs, server 5.50 µs",
        "sent 2.50 datagrams",
    ] {
        assert!(found.evidence.contains(part), "{part}: {}", found.evidence);
    }
}

#[test]
fn it_is_not_found_where_something_else_may_be_it() {
    let tcp = run(2, 100_000, [500, 1_000, 2_000, 1_500]);
    let udp = || run(3, 50_000, [1_500, 3_000, 3_000, 5_500]);
    let mut fast = udp();
    fast.record.responses = 95_000;
    assert_eq!(found(&fast, &tcp), None, "it is not slower");
    let in_user_mode = run(3, 50_000, [5_500, 1_500, 5_000, 2_000]);
    assert_eq!(found(&in_user_mode, &tcp), None, "encryption, or whatever else programs do");
    let mut another = udp();
    another.monitor.as_mut().unwrap().target.processes[0].command_line = vec!["caddy".to_owned()];
    assert_eq!(found(&another, &tcp), None, "another server");
    let mut unseen = udp();
    unseen.monitor = None;
    assert_eq!(found(&unseen, &tcp), None, "a server on another host");
    let mut longer = udp();
    longer.record.body_lengths = [(1_420, 50_000)].into();
    assert_eq!(found(&longer, &tcp), None, "other bodies");
}

/// How much of it was in the kernel is not known: over UDP all that can have been is taken off, over TCP nothing.
#[test]
fn busy_polling_is_no_work_and_proves_nothing() {
    let polling = |mut run: Run, each_ns: u64| {
        run.workers[0].spun_ns = each_ns * run.record.responses;
        run
    };
    let tcp = polling(run(2, 100_000, [1_500, 1_000, 2_000, 1_500]), 1_000);
    let udp = run(3, 50_000, [2_500, 3_400, 3_000, 5_500]);
    let evidence = found(&polling(udp, 1_000), &tcp).expect("5.4 of 8.4 µs").evidence;
    for part in ["13.4 µs", "5.00 µs over TCP", "at least 64 %", "client 2.40 µs, server 5.50 µs"]
    {
        assert!(evidence.contains(part), "{part}: {evidence}");
    }
    // Of 12 more, 1 is left if all of the polling was in the kernel.
    let mostly = run(3, 50_000, [9_500, 3_000, 4_000, 2_000]);
    assert_eq!(found(&polling(mostly, 1_500), &tcp), None, "it may have been user mode");
}
