//! Tests of D08 on Runs.

use super::*;
use crate::live::sample;

#[test]
fn counters_or_timers_give_it_away() {
    let mut run = sample::run();
    assert_eq!(on_run(&run), None);
    sample::counter(&mut run, "TcpExtListenOverflows", 994);
    assert_eq!(on_run(&run), None, "3 of 511 were seen waiting: another queue was full");
    let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
    listener.longest_queue = Some(511);
    run.plan.target.unix_socket = Some("/run/there".into());
    assert_eq!(on_run(&run), None, "the counter is TCP's");
    run.plan.target.unix_socket = None;
    assert_eq!(on_run(&run), None, "all of its connections opened: others' were dropped");
    run.plan.load = ablaze_model::plan::Load::Closed { connections: 1_000, pipeline: 1 };
    run.record.silent.connecting = 400;
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("was full 994 times"), "{}", finding.evidence);
    assert!(
        finding.evidence.contains("given a backlog of 511, and Linux lets one more"),
        "{}",
        finding.evidence
    );
    assert!(finding.fix.contains("raise net.core.somaxconn"), "{}", finding.fix);
    let settings = &mut sample::monitor(&mut run).environment.settings;
    settings.insert("net.core.somaxconn".to_owned(), "4096".to_owned());
    let fix = on_run(&run).unwrap().fix;
    assert!(fix.contains("net.core.somaxconn permits 4,096"), "{fix}");
    // A late connect shows that the queue was full, though no reading met it.
    run.record.setup_connect.record(1_003_000_000);
    let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
    listener.longest_queue = Some(0);
    assert!(!on_run(&run).unwrap().evidence.contains("seen waiting"));
    run.record.setup_connect.clear();
    sample::counter(&mut run, "TcpExtListenOverflows", 0);
    sample::counter(&mut run, "TcpExtTCPSynRetrans", 1);
    run.record.setup_connect.record(1_003_000_000);
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("1 connection took a second"), "{}", finding.evidence);
    // No accept queue was full, as the counter says.
    assert!(finding.cause.contains("lost on the way"), "{}", finding.cause);
    assert!(!finding.fix.contains("backlog"), "{}", finding.fix);
}

/// Packets are lost on the way, and another listener of the namespace overflows.
#[test]
fn the_queue_of_another_listener_is_not_the_target_s() {
    let mut run = sample::run();
    sample::counter(&mut run, "TcpExtListenOverflows", 54);
    sample::counter(&mut run, "TcpExtTCPSynRetrans", 20);
    run.record.setup_connect.record_many(1_003_000_000, 20);
    let finding = on_run(&run).unwrap();
    assert!(!finding.evidence.contains("was full"), "{finding:?}");
    assert!(finding.cause.contains("on the network or"), "{finding:?}");
    // A load that may have filled it.
    run.plan.load = ablaze_model::plan::Load::Closed { connections: 1_000, pipeline: 1 };
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.starts_with("An accept queue was full 54 times"), "{finding:?}");
}

/// Four were accepted, three wait for ever, and the rest never got that far.
#[test]
fn a_server_that_accepts_no_more_needs_no_longer_queue() {
    let mut run = sample::run();
    sample::counter(&mut run, "TcpExtListenOverflows", 55);
    run.record.silent.count = 96;
    let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
    listener.backlog = Some(2);
    listener.longest_queue = Some(3);
    assert!(on_run(&run).unwrap().fix.contains("--ramp"));
    // `unfinished` may name a longer time: that since a request was due, with its wait for a connection.
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("since it was sent or began to connect"), "{evidence}");
    sample::monitor(&mut run).target.listener.as_mut().unwrap().waiting = Some(3);
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("3 connections still waited in it"), "{}", finding.evidence);
    assert!(!finding.fix.contains("--ramp"), "{}", finding.fix);
    // A connection per request, or ever more of them: those that wait came just now.
    let mut per_request = run.clone();
    per_request.plan.connections.keep_alive = false;
    let fix = on_run(&per_request).unwrap().fix;
    assert!(fix.contains("longer backlog") && !fix.contains("--ramp"), "{fix}");
    sample::open_loop(&mut run, 2_000.0);
    assert!(on_run(&run).unwrap().fix.contains("--ramp"));
}

/// Nobody calls accept(): each second or so more attempts are made, at whatever rate.
#[test]
fn a_server_that_accepted_nothing_needs_no_longer_queue() {
    let mut run = sample::run();
    sample::counter(&mut run, "TcpExtListenOverflows", 55);
    sample::nobody_answers(&mut run);
    run.plan.connections.keep_alive = false;
    run.record.failures[FailureKind::Timeout as usize] = 30;
    run.record.connections_opened = 2;
    let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
    (listener.backlog, listener.longest_queue, listener.waiting) = (Some(1), Some(2), Some(2));
    let mut open = run.clone();
    sample::open_loop(&mut open, 100.0);
    for mut run in [run, open] {
        // Bytes came: of a response, or of a handshake.
        run.record.received_bytes = 5;
        assert!(on_run(&run).unwrap().fix.contains("longer backlog"), "{:?}", on_run(&run));
        run.record.received_bytes = 0;
        let finding = on_run(&run).unwrap();
        assert!(finding.cause.ends_with("the server accepted none."), "{finding:?}");
        assert_eq!(finding.fix, NOT_THE_BACKLOG);
        // Some were accepted, it may be.
        run.record.connections_opened = 30;
        let finding = on_run(&run).unwrap();
        assert!(finding.cause.contains("or so slowly that none"), "{finding:?}");
        assert_eq!(finding.fix, NOT_THE_BACKLOG);
    }
}

/// The load has 100 connections, the queue 511 places: those of before fill it.
#[test]
fn fewer_connections_than_the_queue_holds_did_not_come_at_once() {
    let mut run = sample::run();
    sample::counter(&mut run, "TcpExtListenOverflows", 55);
    sample::monitor(&mut run).target.listener.as_mut().unwrap().longest_queue = Some(512);
    assert_eq!(on_run(&run), None, "nothing happened to any of them");
    run.record.silent.count = 10;
    assert!(on_run(&run).unwrap().cause.contains("others filled it"));
    run.record.silent.count = 0;
    run.record.failures[FailureKind::Timeout as usize] = 205;
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("accepts so slowly"), "{}", finding.cause);
    assert!(!finding.fix.contains("--ramp"), "{}", finding.fix);
}

#[test]
fn a_late_connect_of_which_nothing_was_lost_is_a_late_client() {
    let mut run = sample::run();
    run.record.setup_connect.record_many(1_750_000_000, 20);
    sample::counter(&mut run, "TcpExtTCPSynRetrans", 0);
    assert_eq!(on_run(&run), None);
    sample::counter(&mut run, "TcpExtTCPSynRetrans", 20);
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("20 connections took a second"), "{finding:?}");
    assert!(finding.evidence.contains("; 20 SYN packets were sent again"), "{finding:?}");
    assert!(finding.cause.starts_with("The SYN packets of these connections were lost"));
    // One of anybody's explains one at most.
    sample::counter(&mut run, "TcpExtTCPSynRetrans", 1);
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("20 connections took a second"), "{finding:?}");
    assert!(finding.evidence.contains("; 1 SYN packet was sent again"), "{finding:?}");
    assert!(finding.cause.contains("at most 1 of these connections were lost"), "{finding:?}");
}

#[test]
fn packets_that_nobody_counted_are_not_said_to_be_lost() {
    let mut run = sample::run();
    run.record.setup_connect.record_many(1_200_000_000, 50);
    let not_counted = |run: &Run| {
        let finding = on_run(run).unwrap();
        assert!(finding.evidence.contains("50 connections took a second"), "{finding:?}");
        assert!(!finding.evidence.contains("SYN"), "{finding:?}");
        assert!(finding.cause.contains("was not counted"), "{finding:?}");
        assert!(finding.fix.contains("if only the first does, look"), "{finding:?}");
    };
    not_counted(&run);
    // What the target's machine sent again says nothing of the fleet's.
    sample::counter(&mut run, "TcpExtTCPSynRetrans", 0);
    run.fleet = Some(Box::new(sample::fleet(2)));
    not_counted(&run);
    (run.fleet, run.monitor) = (None, None);
    not_counted(&run);
    // A proxy that takes so long for its answer to CONNECT.
    run.record.proxy = Some(Box::default());
    assert_eq!(on_run(&run), None);
}

#[test]
fn what_goes_over_no_tcp_and_a_queue_that_nobody_saw_were_not_full() {
    let mut run = sample::over_http3();
    sample::counter(&mut run, "TcpExtListenOverflows", 12);
    sample::monitor(&mut run).target.listener = None;
    run.record.setup_connect.record(1_200_000_000);
    assert_eq!(on_run(&run), None);
    run.plan.http3 = None;
    run.record.setup_connect.clear();
    assert_eq!(on_run(&run), None, "another queue may have been");
    run.record.setup_connect.record(1_003_000_000);
    assert!(on_run(&run).unwrap().evidence.contains("was full 12 times"));
    run.plan.target.unix_socket = Some("/run/there".into());
    assert_eq!(on_run(&run), None);
}

#[test]
fn requests_to_connections_that_the_server_dropped_are_counted() {
    let mut run = sample::run();
    run.plan.load = ablaze_model::plan::Load::Closed { connections: 1_000, pipeline: 1 };
    run.record.answered.processing.clear();
    run.record.answered.processing.record_many(500_000, 20_000);
    run.record.answered.processing.record_many(204_000_000, 30);
    run.record.answered.processing.record_many(612_000_000, 7);
    let connections = &mut sample::monitor(&mut run).connections;
    connections.as_mut().unwrap().last.with_retransmissions = 37;
    assert_eq!(on_run(&run), None, "no queue was full");
    assert!(seen(&run).unwrap().contains("The longest of 100 connections took"));
    sample::counter(&mut run, "TcpExtListenOverflows", 40);
    // One segment for each of 30, two for each of 7, and ten first packets of connections.
    sample::counter(&mut run, "TcpExtTCPSynRetrans", 10);
    sample::counter(&mut run, "TcpRetransSegs", 54);
    let evidence = on_run(&run).unwrap().evidence;
    assert!(on_run(&run).unwrap().cause.starts_with("More connections arrived"));
    assert!(evidence.contains("37 responses came 0.2, 0.6, 1.4 or 3.0 s later"), "{evidence}");
    assert!(evidence.contains("timers sent the requests again."), "{evidence}");
    // Some of them are of a server that takes 200 ms itself, though connections were late as well.
    run.record.setup_connect.record(1_003_000_000);
    sample::counter(&mut run, "TcpRetransSegs", 53);
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("that takes 44 segments, and 43 were sent again"), "{evidence}");
    // Nor does it tell which those are of requests that still wait on kept connections; of others those that stand are theirs.
    sample::counter(&mut run, "TcpRetransSegs", 200);
    assert!(on_run(&run).unwrap().evidence.contains("timers sent the requests again."));
    run.record.silent.count = 5;
    assert!(on_run(&run).unwrap().evidence.contains("or some of each"));
    run.plan.connections.keep_alive = false;
    let connections = sample::monitor(&mut run).connections.as_mut().unwrap();
    connections.last.retransmissions = 150;
    assert!(on_run(&run).unwrap().evidence.contains("and 40 were sent again for requests that"));
    sample::counter(&mut run, "TcpRetransSegs", 150);
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("for another reason than a timer."), "{evidence}");
    run.plan.connections.keep_alive = true;
    run.record.silent.count = 0;
    sample::counter(&mut run, "TcpRetransSegs", 53);
    // Nothing else says that it was the target's queue.
    run.record.setup_connect.clear();
    assert_eq!(on_run(&run), None);
}

#[test]
fn a_remote_server_is_not_accused_by_local_counters() {
    let mut run = sample::run();
    sample::counter(&mut run, "TcpExtListenOverflows", 994);
    sample::monitor(&mut run).target.on_this_host = false;
    assert_eq!(on_run(&run), None);
    run.monitor = None;
    run.record.setup_connect.record(900_000_000);
    assert_eq!(on_run(&run), None);
}
