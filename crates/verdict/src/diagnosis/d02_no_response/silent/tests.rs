//! Places that requests hold to which nothing comes.

use super::*;
use crate::live::sample;

fn with(count: u64, of_warmup: u64, longest_ns: u64) -> Run {
    let mut run = sample::run();
    run.record.silent = Silent { count, of_warmup, longest_ns, ..Silent::default() };
    run
}

#[test]
fn requests_that_hang_are_found_by_their_share_of_the_places() {
    let severity = |count| held(&with(count, 0, 9_000_000_000)).map(|found| found.severity);
    assert_eq!(severity(1), None);
    assert_eq!(severity(2), Some(Severity::Suspect));
    assert_eq!(severity(50), Some(Severity::Invalid));
    let evidence = held(&with(90, 90, 9_000_000_000)).unwrap().evidence;
    assert!(evidence.starts_with("90 requests held 90 % of the 100 places"), "{evidence}");
    assert!(evidence.ends_with("90 of them were sent in the warm-up."), "{evidence}");
}

/// An open loop has no places: its server fell silent for the last seven tenths of the run.
#[test]
fn an_open_loop_whose_server_fell_silent_is_not_valid() {
    let mut run = with(200, 0, 700_000_000);
    sample::open_loop(&mut run, 1_000.0);
    run.record.responses = 300;
    run.record.unfinished = 700;
    run.record.answered.total.clear();
    run.record.answered.total.record_many(3_000_000, 300);
    let found = held(&run).expect("D02");
    assert_eq!(found.severity, Severity::Invalid);
    assert!(found.evidence.starts_with("Of 1,000 requests that were due, 200 (20 %)"), "{found:?}");
    // Those of a stopped process are told as its.
    let process = &mut sample::monitor(&mut run).target.processes[0];
    (process.readings, process.stopped_readings) = (9, 6);
    assert_eq!(held(&run).unwrap().cause, STOPPED.0);
    // One that hangs among others in flight is no such thing.
    run.record.silent.count = 1;
    assert_eq!(held(&run), None);
}

/// All ten connections that it may have hang, and what was due waits for one.
#[test]
fn an_open_loop_whose_connections_all_hang_is_not_valid() {
    let mut run = with(10, 0, 3_000_000_000);
    sample::open_loop(&mut run, 1_000.0);
    let ablaze_model::plan::Load::Open { connections, bounded, .. } = &mut run.plan.load else {
        unreachable!("made an open loop above")
    };
    (*connections, *bounded) = (10, true);
    run.record.responses = 3_000;
    (run.record.unfinished, run.record.never_sent) = (7_000, 6_990);
    let found = held(&run).expect("D02");
    assert_eq!(found.severity, Severity::Invalid);
    assert!(
        found.evidence.starts_with(
            "10 requests held 100 % of the 10 places when the run ended, and 6,990 that were due waited for one: no \
             byte of a response had come for up to 3.00 s"
        ),
        "{found:?}"
    );
    // One that hangs holds up nobody.
    run.record.silent.count = 1;
    assert_eq!(held(&run), None);
}

/// Eleven of twenty connections are never served, and one of the others took more than half as long once.
#[test]
fn one_straggler_hides_no_silence() {
    let mut run = with(11, 0, 9_000_000_000);
    run.record.answered.total.record(6_000_000_000);
    assert!(held(&run).is_some());
    // Of those that took six seconds, so many leave as many.
    run.record.answered.total.record_many(6_000_000_000, 10);
    assert_eq!(held(&run), None);
}

/// A server that serves one connection of ten, with two in its accept queue.
#[test]
fn connections_that_do_not_open_hold_places() {
    let mut run = with(20, 0, 9_000_000_000);
    run.record.silent.connecting = 70;
    let found = held(&run).unwrap();
    assert_eq!(found.severity, Severity::Invalid);
    let said = "20 requests, and 70 connections that had not opened, held 90 % of the 100 places when the run ended: no byte";
    assert!(found.evidence.starts_with(said), "{found:?}");
    // The two that the queue holds are not what most of them wait for.
    let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
    (listener.waiting, listener.backlog) = (Some(2), Some(1));
    let found = held(&run).unwrap();
    assert!(found.cause.starts_with("Most of these places had a connection"), "{found:?}");
    run.record.silent.count = 0;
    let found = held(&run).unwrap();
    let said = "70 connections that had not opened held 70 % of the 100 places when the run ended: they had been opening \
                for up to 9.00 s";
    assert!(found.evidence.starts_with(said), "{found:?}");
    assert!(found.cause.contains("did not open"), "{found:?}");
    // Of an open loop that found others free nothing waited for them.
    sample::open_loop(&mut run, 2_000.0);
    assert_eq!(held(&run), None);
}

/// Timers of connections that were lost hold up a few requests, and not most of them.
#[test]
fn lost_connection_attempts_hide_no_silence_of_most() {
    let lost = |held_by| {
        let mut run = with(held_by, 0, 9_000_000_000);
        run.record.answered.total.record(6_000_000_000);
        sample::counter(&mut run, "TcpExtListenOverflows", 994);
        let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
        listener.longest_queue = Some(511);
        assert!(d08_connection_attempts_lost::on_run(&run).is_some());
        held(&run)
    };
    assert_eq!(lost(11), None);
    assert_eq!(lost(64).unwrap().severity, Severity::Invalid);
}

/// A run that the first timer outlasts says nothing of the others.
#[test]
fn the_first_timer_of_a_short_run_is_no_silence_of_most() {
    let mut run = with(64, 0, 1_200_000_000);
    run.elapsed_ns = 1_200_000_000;
    run.record.answered.total.record(860_000_000);
    sample::counter(&mut run, "TcpExtListenOverflows", 994);
    let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
    listener.longest_queue = Some(511);
    assert!(d08_connection_attempts_lost::on_run(&run).is_some());
    assert_eq!(held(&run), None);
}

/// In four seconds no timer but the first ones runs out, and one straggler took most of them.
#[test]
fn a_straggler_hides_no_silence_of_nearly_the_whole_run() {
    let mut run = with(16, 0, 3_990_000_000);
    run.plan.load = ablaze_model::plan::Load::Closed { connections: 20, pipeline: 1 };
    run.elapsed_ns = 4_000_000_000;
    run.record.answered.total.record(2_680_000_000);
    sample::counter(&mut run, "TcpExtListenOverflows", 994);
    let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
    listener.longest_queue = Some(511);
    assert!(d08_connection_attempts_lost::on_run(&run).is_some());
    assert_eq!(held(&run).unwrap().severity, Severity::Invalid);
}

/// An interim response says that the server is there, and ends no wait.
#[test]
fn interim_responses_alone_hold_places_too() {
    let said = |interim| {
        let mut run = with(4, 0, 9_000_000_000);
        run.record.silent.interim = interim;
        let found = held(&run).unwrap();
        format!("{} {}", found.evidence, found.cause)
    };
    let all = said(4);
    assert!(all.contains("only interim responses (1xx) had come for up to 9.00 s"), "{all}");
    assert!(all.contains("sent interim responses") && !all.contains("no byte"), "{all}");
    let one = said(1);
    assert!(one.contains("or only interim responses (1xx, for 1 of them), for up to"), "{one}");
    assert!(one.contains("had not responded"), "{one}");
}

#[test]
fn slow_responses_are_no_silence() {
    let mut run = with(90, 0, 1_500_000_000);
    run.record.answered.total.record(1_000_000_000);
    assert_eq!(held(&run), None);
}
