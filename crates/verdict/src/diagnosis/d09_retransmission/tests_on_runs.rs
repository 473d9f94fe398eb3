//! D09 on Runs.

use super::*;
use crate::live::sample;
use ablaze_model::monitor::Gap;

fn late_by(ms: u64, responses: u64) -> Run {
    let mut run = sample::run();
    run.record.answered.total.record_many(500_000 + ms * 1_000_000, responses);
    run.record.responses += responses;
    run
}

fn sent_again(run: &mut Run, segments: u64) {
    let side = sample::monitor(run).connections.as_mut().unwrap();
    side.last.retransmissions = segments;
    sample::counter(run, "TcpRetransSegs", segments);
}

/// An overload before this run left connections that had sent again.
#[test]
fn connections_of_an_earlier_load_are_not_those_of_this_run() {
    let mut run = late_by(204, 300);
    sent_again(&mut run, 1_162);
    sample::counter(&mut run, "TcpRetransSegs", 804);
    let said = super::sent_again(&run).unwrap();
    assert_eq!((said.own, said.segments), (0, None));
    assert!(said.sentence().contains("not known"), "{}", said.sentence());
    assert_eq!(on_run(&run), None);
    // The server's alone has others.
    sent_again(&mut run, 400);
    sample::monitor(&mut run).server_connections.as_mut().unwrap().last.retransmissions = 500;
    let said = super::sent_again(&run).unwrap();
    assert_eq!((said.own, said.side), (400, CLIENT_BESIDE_OTHERS));
}

#[test]
fn a_timer_that_moves_the_99_percent_time_is_suspect() {
    let severity = |ms, responses, segments| {
        let mut run = late_by(ms, responses);
        sent_again(&mut run, segments);
        on_run(&run).map(|finding| finding.severity)
    };
    // Of 20,000 others.
    assert_eq!(severity(204, 300, 300), Some(Severity::Suspect));
    assert_eq!(severity(604, 300, 300), Some(Severity::Suspect));
    assert_eq!(severity(204, 3, 3), Some(Severity::Note));
    assert_eq!(severity(204, 300, 0), None, "nothing was sent again");
    assert_eq!(severity(204, 300, 39), None, "the others were late for another reason");
    assert_eq!(severity(150, 300, 3), None, "as late as no timer makes it");
    let finding = {
        let mut run = late_by(204, 3);
        sent_again(&mut run, 4);
        on_run(&run).unwrap()
    };
    assert!(finding.evidence.contains("3 of 20,003 responses"), "{}", finding.evidence);
    assert!(finding.evidence.contains("0.2, 0.6, 1.4 or 3.0 s"), "{}", finding.evidence);
    assert!(finding.evidence.contains("4 segments"), "{}", finding.evidence);
}

#[test]
fn only_a_pause_as_long_as_the_timer_explains_it() {
    let ruled_out = |pause_ms: u64| {
        let mut run = late_by(204, 300);
        sent_again(&mut run, 300);
        let gap = Gap { at_clock_ns: 5, length_ns: pause_ms * 1_000_000, waited_ns: Some(0) };
        sample::monitor(&mut run).heartbeat.as_mut().unwrap().longest = vec![gap];
        on_run(&run).unwrap().not_explained_by
    };
    // A server that stands still sends nothing again either.
    assert_eq!(ruled_out(50), [D23, D07]);
    assert_eq!(ruled_out(190), []);
}

#[test]
fn others_may_have_sent_again_what_the_namespace_counts() {
    let mut run = late_by(204, 300);
    sample::counter(&mut run, "TcpRetransSegs", 1000);
    assert_eq!(on_run(&run), None, "the run's own connections sent nothing again");
    // Where each request has its connection, nothing else can be seen.
    run.plan.connections.keep_alive = false;
    let found = on_run(&run).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(found.cause.contains("of these requests is not known"), "{found:?}");
    assert!(!found.cause.contains("not from the server"), "{found:?}");
    // First packets of connections are D08's.
    sample::counter(&mut run, "TcpExtTCPSynRetrans", 1000);
    assert_eq!(on_run(&run), None);
}

#[test]
fn slow_responses_hide_the_timer_and_many_losses_are_a_note() {
    let mut run = sample::run();
    run.record.answered.total.clear();
    run.record.answered.total.record_many(30_000_000, 20_000);
    run.record.answered.total.record_many(231_000_000, 300);
    sent_again(&mut run, 3);
    assert_eq!(on_run(&run), None);
    assert_eq!(seen(&run), None);
    // Two sides sent 20,000 segments each: 0.1 % are 40.
    sent_again(&mut run, 39);
    assert_eq!(on_run(&run), None);
    sent_again(&mut run, 40);
    assert_eq!(on_run(&run).unwrap().severity, Severity::Note);
    // Probes for acknowledgements that were late.
    sample::counter(&mut run, "TcpExtTCPLossProbes", 1);
    assert_eq!(on_run(&run), None);
    run.monitor = None;
    assert_eq!(on_run(&run), None);
}

/// The last look was a fifth of a second after the first, and saw 22 of 487.
#[test]
fn what_an_early_look_did_not_see_is_not_called_nothing() {
    let mut run = late_by(204, 256);
    sent_again(&mut run, 22);
    sample::counter(&mut run, "TcpRetransSegs", 487);
    assert_eq!(on_run(&run), None);
    let monitor = sample::monitor(&mut run);
    for side in [&mut monitor.connections, &mut monitor.server_connections] {
        side.as_mut().unwrap().last.sent_segments = Some(1_106);
    }
    let found = on_run(&run).unwrap();
    assert!(found.evidence.contains("at least 22 segments on this run's connections"), "{found:?}");
    assert!(found.cause.contains("is not known"), "{found:?}");
}
