//! Tests of D29 in Runs.

use super::*;
use crate::DiagnosisId::D02;
use crate::live::{judge, sample};
use ablaze_model::FailureKind;

fn stuck(connections: u64) -> Run {
    let mut run = sample::run();
    run.record.unfinished = 100;
    run.record.stopped = Stopped {
        timed_out: 0,
        unfinished: connections,
        partway: 0,
        endless: 0,
        begun: connections,
        begun_without_length: 0,
        longest: Some(StoppedResponse {
            silent_ns: 6_000_000_000,
            body_bytes: 2_500_000,
            missing_bytes: Some(7_500_000),
        }),
    };
    let last = &mut sample::monitor(&mut run).server_connections.as_mut().unwrap().last;
    last.silent = Some(connections);
    run
}

#[test]
fn responses_that_never_go_on_are_found() {
    assert_eq!(on_run(&sample::run()), None);
    let finding = on_run(&stuck(3)).unwrap();
    assert_eq!(finding.severity, Severity::Suspect);
    let evidence = finding.evidence;
    assert!(evidence.contains("6.00 s, after 2,500,000 of 10,000,000 B"), "{evidence}");
    assert!(evidence.contains("on 3 connections, 0 of them"), "{evidence}");
    assert_eq!(on_run(&stuck(50)).unwrap().severity, Severity::Invalid);
    let mut unseen = stuck(3);
    unseen.monitor = None;
    assert!(on_run(&unseen).unwrap().evidence.contains("could not be observed"));
}

/// Responses that pause for 1.5 s in their bodies, and then come whole.
#[test]
fn what_pauses_as_others_did_has_not_stopped() {
    let mut run = stuck(7);
    run.record.stopped.longest.as_mut().unwrap().silent_ns = 1_400_000_000;
    assert!(on_run(&run).is_some());
    run.record.answered.total.record(1_500_000_000);
    assert_eq!(on_run(&run), None);
    // Whatever timed out did not come.
    run.record.stopped.timed_out = 7;
    run.record.stopped.partway = 7;
    assert!(on_run(&run).is_some());
}

#[test]
fn a_body_that_only_the_close_would_end_was_written_whole() {
    let mut run = stuck(3);
    run.record.first_head = b"HTTP/1.1 200 OK\r\nServer: own\r\n\r\n".to_vec();
    run.record.stopped.begun_without_length = run.record.stopped.begun;
    let longest = run.record.stopped.longest.as_mut().unwrap();
    (longest.body_bytes, longest.missing_bytes) = (14, None);
    let cause = on_run(&run).unwrap().cause;
    assert!(
        cause.contains("has neither that nor `Transfer-Encoding") && !cause.contains("too large"),
        "{cause}"
    );
    run.record.first_head = b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n".to_vec();
    run.record.stopped.begun_without_length = 0;
    run.record.stopped.longest.as_mut().unwrap().missing_bytes = Some(6);
    assert!(on_run(&run).unwrap().cause.contains("did not write the rest"));
}

/// The first was a 204, which needs no length; these are chunked.
#[test]
fn the_head_of_another_response_does_not_say_how_these_end() {
    let mut run = stuck(3);
    run.record.stopped.begun_without_length = 3;
    let longest = run.record.stopped.longest.as_mut().unwrap();
    (longest.body_bytes, longest.missing_bytes) = (5, None);
    for first in [
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
    ] {
        run.record.first_head = first.as_bytes().to_vec();
        let found = on_run(&run).unwrap();
        assert!(found.cause.contains("either they are chunked"), "{first}: {found:?}");
        assert!(!found.cause.contains("neither"), "{first}: {found:?}");
    }
    // One of these has a length, whatever the first has.
    run.record.first_head = b"HTTP/1.1 200 OK\r\nServer: own\r\n\r\n".to_vec();
    run.record.stopped.begun_without_length = 2;
    assert!(!on_run(&run).unwrap().cause.contains("None of these"));
}

/// Streams have an end of their own, and no send buffer of a socket.
#[test]
fn over_http3_the_end_of_the_stream_is_what_is_missing() {
    let mut run = stuck(3);
    run.plan.http3 = Some(ablaze_model::plan::Http3::with_streams(10));
    run.record.first_head = b"HTTP/3 200\r\nserver: own\r\n\r\n".to_vec();
    let longest = run.record.stopped.longest.as_mut().unwrap();
    (longest.body_bytes, longest.missing_bytes) = (14, None);
    let found = on_run(&run).unwrap();
    let said = format!("{} {}", found.evidence, found.cause);
    for foreign in ["chunked", "socket", "send queues", "closing the connection", "  "] {
        assert!(!said.contains(foreign), "{foreign:?} is in {said}");
    }
    run.record.stopped.longest.as_mut().unwrap().missing_bytes = Some(0);
    let found = on_run(&run).unwrap();
    assert!(found.evidence.contains("after 14 of 14 B"), "{found:?}");
    assert!(found.cause.contains("did not end its stream"), "{found:?}");
}

#[test]
fn few_of_many_are_not_the_load() {
    // 60 timeouts of a second in ten seconds of 100 connections: 6 % of their time.
    let mut run = stuck(0);
    run.plan.limits.timeout_ns = 1_000_000_000;
    run.record.in_flight_ns = 1000 * 1_000_000_000;
    run.record.stopped.timed_out = 60;
    assert_eq!(on_run(&run).unwrap().severity, Severity::Suspect);
    // 60 of 1,000 streams.
    let mut run = stuck(60);
    run.plan.load = Load::Closed { connections: 100, pipeline: 10 };
    assert_eq!(on_run(&run).unwrap().severity, Severity::Suspect);
    sample::open_loop(&mut run, 2_000.0);
    assert_eq!(on_run(&run).unwrap().severity, Severity::Suspect, "60 of 20,060 requests");
}

#[test]
fn queues_of_connections_that_were_not_seen_are_not_called_empty() {
    let mut run = stuck(3);
    sample::monitor(&mut run).server_connections.as_mut().unwrap().last.silent = Some(0);
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("were not seen") && !evidence.contains(" 0 of"), "{evidence}");
}

#[test]
fn an_event_is_lost_only_where_a_buffer_can_be_full() {
    // It may be: a handler that is blocked, or a length that is too large, looks the same.
    let cause = on_run(&stuck(3)).unwrap().cause;
    assert!(cause.contains("or it lost an event") && !cause.contains("usually"), "{cause}");
    assert!(cause.contains("handler is blocked") && cause.contains("too large"), "{cause}");
    let mut run = stuck(3);
    run.record.stopped.longest.as_mut().unwrap().body_bytes = 5;
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("did not write the rest"), "{finding:?}");
    assert!(finding.cause.contains("Content-Length is too large"), "{finding:?}");
    // Chunks that come more seldom than the time limit permits.
    let mut slow = stuck(0);
    slow.record.stopped = Stopped { timed_out: 6, partway: 6, ..run.record.stopped };
    slow.record.stopped.longest.as_mut().unwrap().missing_bytes = None;
    sample::monitor(&mut slow).server_connections.as_mut().unwrap().last.silent = Some(6);
    let cause = on_run(&slow).unwrap().cause;
    assert!(cause.contains("takes longer") && !cause.contains("Content-Length"), "{cause}");
    assert!(!finding.fix.contains("epoll"), "{finding:?}");
    run.record.stopped = Stopped { timed_out: 6, partway: 100, endless: 100, ..run.record.stopped };
    let finding = on_run(&run).unwrap();
    assert!(
        finding
            .evidence
            .starts_with("103 responses stopped partway for a second or longer: 100 had"),
        "{finding:?}"
    );
    assert!(finding.cause.contains("neither `Content-Length`"), "{finding:?}");
}

#[test]
fn what_the_server_has_written_and_what_is_slow_anyway_is_not_stuck() {
    let mut run = stuck(3);
    let last = &mut sample::monitor(&mut run).server_connections.as_mut().unwrap().last;
    last.silent_with_send_queue = Some(3);
    assert_eq!(on_run(&run), None);
    assert!(seen(&run).unwrap().contains("3 of them with bytes left"));
    // The 99 % time is 700 ms: six seconds are less than ten times that.
    let mut run = stuck(3);
    run.record.answered.total.record_many(700_000_000, 1000);
    assert_eq!(on_run(&run), None);
    let mut run = stuck(3);
    run.record.first_head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n".to_vec();
    assert_eq!(on_run(&run), None);
}

#[test]
fn their_timeouts_are_not_counted_twice() {
    let mut run = stuck(0);
    run.record.stopped.timed_out = 100;
    run.record.responses = 100;
    run.record.failures[FailureKind::Timeout as usize] = 100;
    let found = |run: &Run, id| judge(run).findings.iter().any(|finding| finding.id == id);
    assert!(found(&run, D29) && !found(&run, D02));
    // Others got nothing at all.
    run.record.failures[FailureKind::Timeout as usize] = 150;
    assert!(found(&run, D29) && found(&run, D02));
    // Nothing was ever answered, and everything stopped half way.
    sample::nobody_answers(&mut run);
    run.record.failures = [0; ablaze_model::failure::FailureKind::ALL.len()];
    run.record.stopped.timed_out = 0;
    run.record.stopped.unfinished = 100;
    assert!(found(&run, D29) && !found(&run, D02));
    run.record.stopped.unfinished = 99;
    assert!(found(&run, D29) && found(&run, D02));
}

/// A download that goes on until its time is over has not stopped.
#[test]
fn responses_that_were_under_way_when_their_time_was_over_did_not_stop() {
    let mut run = stuck(0);
    run.record.failures[FailureKind::Timeout as usize] = 151;
    run.record.stopped = Stopped { timed_out: 1, partway: 151, ..run.record.stopped };
    let finding = on_run(&run).unwrap();
    assert!(
        finding.evidence.starts_with("1 response stopped partway for a second or longer: 1 had"),
        "{finding:?}"
    );
    // Where most had been silent, the few that had not are of the same fault.
    run.record.stopped.timed_out = 100;
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.starts_with("151 responses stopped partway"), "{finding:?}");
}

#[test]
fn where_no_queue_was_seen_the_network_is_not_excluded() {
    let mut run = stuck(3);
    assert!(on_run(&run).unwrap().cause.contains("lost an event"));
    run.monitor = None;
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("or the network"), "{finding:?}");
    assert!(!finding.cause.contains("lost an event"), "{finding:?}");
}
