//! D02 on Runs.

use ablaze_model::spec::FrontEnd;

use super::*;
use crate::Verdict;
use crate::live::{judge, sample};

#[test]
fn one_in_a_hundred_is_noticed_and_half_is_no_rate() {
    let mut run = sample::run();
    assert_eq!(on_run(&run), None);
    let with = |run: &mut Run, resets| {
        run.record.failures[FailureKind::Reset as usize] = resets;
        on_run(run).map(|finding| finding.severity)
    };
    // 20,000 responses.
    assert_eq!(with(&mut run, 200), None);
    assert_eq!(with(&mut run, 300), Some(Severity::Suspect));
    assert_eq!(with(&mut run, 20_000), Some(Severity::Invalid));
}

#[test]
fn a_target_that_never_answers_is_told_from_one_that_refuses() {
    let mut run = sample::run();
    sample::nobody_answers(&mut run);
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("100 were still waiting"), "{}", finding.evidence);
    run.record.failures[FailureKind::Refused as usize] = 10;
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.contains("10 of 10 requests (100 %)"), "{}", finding.evidence);
    assert!(finding.cause.starts_with("Nothing listens"));
}

#[test]
fn each_kind_of_failure_has_a_cause_of_its_own() {
    let cause = |kind: FailureKind, responses: u64| {
        let mut run = sample::run();
        if responses == 0 {
            sample::nobody_answers(&mut run);
        }
        run.record.failures[kind as usize] = 1474;
        on_run(&run).unwrap().cause
    };
    for responses in [0, 20_000] {
        for kind in kinds_of_the_server().filter(|kind| *kind != FailureKind::Refused) {
            let cause = cause(kind, responses);
            assert!(!cause.contains("othing listens"), "{kind:?}: {cause}");
        }
    }
    assert!(cause(FailureKind::Refused, 0).contains("Nothing listens"));
    assert!(cause(FailureKind::ShortBody, 0).contains("in the middle of a response"));
    assert!(cause(FailureKind::Timeout, 0).contains("does not respond in time"));
    // Two kinds, two causes; nothing is said of a few beside many.
    let mut run = sample::run();
    sample::nobody_answers(&mut run);
    run.record.failures[FailureKind::Reset as usize] = 600;
    run.record.failures[FailureKind::ShortBody as usize] = 400;
    run.record.failures[FailureKind::Malformed as usize] = 2;
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("resets") && finding.cause.contains("in the middle"));
    assert!(!finding.cause.contains("HTTP/1"), "{}", finding.cause);
    assert!(
        finding.evidence.ends_with("600 reset, 400 with a short body and 2 malformed."),
        "{}",
        finding.evidence
    );
}

#[test]
fn where_a_response_broke_is_said_only_as_it_was_seen() {
    let mut run = sample::run();
    sample::nobody_answers(&mut run);
    run.record.failures[FailureKind::Reset as usize] = 10;
    assert!(!on_run(&run).unwrap().cause.contains("middle"));
    run.record.failed.wait.record_many(1_000_000, 10);
    run.record.first_head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec();
    assert!(on_run(&run).unwrap().cause.contains("in the middle of a response"));
    // Its end is that of the connection: it may have been whole.
    run.record.first_head = b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n".to_vec();
    let cause = on_run(&run).unwrap().cause;
    assert!(cause.contains("whether it was whole does not show"), "{cause}");
    let malformed = |began: &[u8]| {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        run.record.failures[FailureKind::Malformed as usize] = 10;
        run.record.first_malformed = began.to_vec();
        on_run(&run).unwrap().cause
    };
    let other = malformed(b"SSH-2.0-x");
    assert!(other.starts_with("What the server sends is not HTTP/1."), "{other}");
    let speaks = malformed(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n");
    assert!(speaks.starts_with("The server speaks HTTP/1, but"), "{speaks}");
    assert!(malformed(b"").contains("chunked"));
}

#[test]
fn a_timeout_of_connections_that_never_stood_is_no_silent_server() {
    let mut run = sample::run();
    sample::nobody_answers(&mut run);
    run.record.connections_opened = 0;
    run.record.failures[FailureKind::Timeout as usize] = 10;
    let cause = on_run(&run).unwrap().cause;
    assert!(cause.contains("No connection could be established in time"), "{cause}");
}

#[test]
fn a_server_that_was_away_for_most_of_the_run_leaves_no_valid_rate() {
    let away_from = |slice: usize, failures: u64| {
        let mut run = sample::run();
        for slice in &mut run.record.slices.slices[slice..] {
            *slice = ablaze_model::record::Slice { failures, ..Default::default() };
        }
        run.record.responses = 10_000;
        let slices = run.record.slices.slices.len() - slice;
        run.record.failures[FailureKind::Refused as usize] = failures * slices as u64;
        on_run(&run).unwrap().severity
    };
    // With few failures and with more than one in a hundred.
    assert_eq!((away_from(40, 1), away_from(40, 10)), (Severity::Invalid, Severity::Invalid));
    assert_eq!((away_from(60, 1), away_from(60, 10)), (Severity::Suspect, Severity::Suspect));
}

#[test]
fn a_server_that_goes_away_is_told_though_few_requests_failed() {
    let mut run = sample::run();
    let slices = &mut run.record.slices.slices;
    for slice in &mut slices[50..] {
        *slice = ablaze_model::record::Slice { failures: 1, ..Default::default() };
    }
    run.record.responses = 10_000;
    run.record.failures[FailureKind::Refused as usize] = 50;
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Suspect);
    assert!(
        finding.evidence.starts_with("No response came from 5.00 s on at the latest, until the run ended at 10.0 s: 50 requests failed, 50 refused."),
        "{}",
        finding.evidence
    );
    assert!(finding.cause.contains("any longer"), "{}", finding.cause);
    let mut ended = run.clone();
    sample::monitor(&mut ended).target.processes[0].ended = true;
    let finding = on_run(&ended).unwrap();
    assert!(
        finding.evidence.ends_with("The process that served ended during the run."),
        "{finding:?}"
    );
    // Where half of the requests failed it is no other cause.
    ended.record.failures[FailureKind::Refused as usize] = 10_000;
    let finding = on_run(&ended).unwrap();
    assert!(finding.cause.starts_with("Its connections broke with it"), "{finding:?}");
    let verdict = crate::live::judge(&run);
    let beginning = |finding: &Finding| finding.evidence.contains("The first");
    assert!(!verdict.findings.iter().any(beginning), "{:?}", verdict.findings);
    // All had been sent, and some of the last were not answered: nobody knows what others would have got.
    run.record.drain_ns = Some(5_000_000_000);
    assert_eq!(on_run(&run), None);
    run.record.drain_ns = None;
    // The same where the last of -n requests were in flight, and timed out.
    run.plan.limits.requests = Some(10_050);
    run.record.failures = [0; FailureKind::ALL.len()];
    run.record.failures[FailureKind::Timeout as usize] = 50;
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("No other request was left to send"), "{}", finding.cause);
    run.plan.limits.requests = None;
    run.record.failures[FailureKind::Timeout as usize] = 0;
    // A few failures after the last of few responses prove nothing.
    for (at, slice) in run.record.slices.slices.iter_mut().enumerate() {
        (slice.responses, slice.failures) = (u64::from(at % 10 == 0), u64::from(at > 94));
    }
    run.record.responses = 10;
    run.record.failures[FailureKind::Refused as usize] = 5;
    assert!(!on_run(&run).unwrap().evidence.starts_with("No response came from"));
}

#[test]
fn this_machine_s_own_shortages_are_other_diagnoses() {
    let mut run = sample::run();
    run.record.failures[FailureKind::LocalPorts as usize] = 20_000;
    run.record.failures[FailureKind::LocalDescriptors as usize] = 20_000;
    assert_eq!(on_run(&run), None);
}

#[test]
fn a_run_that_was_stopped_before_it_began_is_not_valid() {
    let mut run = sample::run();
    run.record = ablaze_model::Record::new();
    run.ended = ablaze_model::run::Ended::Interrupted;
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(finding.evidence.contains("no request was sent"), "{finding:?}");
    assert!(finding.fix.contains("stop it later"), "{finding:?}");
    // A warm-up sends many, and none that count.
    run.plan.limits.warmup_ns = 3_000_000_000;
    assert!(on_run(&run).unwrap().evidence.contains("no request was sent in the measured time"));
    run.elapsed_ns = 0;
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.contains("clock had not started") && !evidence.contains("no request was"));
    // Responses came, and count for nothing: the first line does not deny them.
    let limit = crate::limit::of(&run).evidence;
    assert!(
        limit.contains("before the clock started") && !limit.contains("no response"),
        "{limit}"
    );
    run.plan.limits.warmup_ns = 0;
    // Where it waited for handshakes, stopping later is no help.
    (run.elapsed_ns, run.setup_ns) = (0, 4_000_000_000);
    let facts = ablaze_model::record::TlsFacts { connected: 5, ..Default::default() };
    run.record.tls = Some(facts.into());
    let finding = on_run(&run).unwrap();
    assert!(finding.evidence.starts_with("The run was stopped after 4.00 s"), "{finding:?}");
    assert!(finding.evidence.ends_with("5 connections stood, and no TLS handshake was completed."));
    assert!(finding.fix.contains("curl"), "{finding:?}");
}

#[test]
fn whatever_failed_a_run_without_a_response_is_not_valid() {
    for kind in FailureKind::ALL {
        let mut run = sample::run();
        run.record = ablaze_model::Record::new();
        run.record.failures[kind as usize] = 2_000;
        let judged = judge(&run);
        assert_ne!(judged.verdict, Verdict::Valid, "{kind:?}: {:?}", judged.findings);
    }
}

#[test]
fn a_run_in_which_nothing_was_due_is_not_valid() {
    let mut run = sample::run();
    run.record = ablaze_model::Record::new();
    let closed = judge(&run);
    assert_eq!(closed.verdict, Verdict::Invalid, "{:?}", closed.findings);
    assert!(!on_run(&run).unwrap().fix.contains("rate"), "{:?}", on_run(&run));
    (run.elapsed_ns, run.plan.limits.duration_ns) = (500_000_000, Some(500_000_000));
    sample::open_loop(&mut run, 0.01);
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(finding.evidence.contains("At 0.0100/s, 0.00500 requests are due"), "{finding:?}");
    assert!(finding.fix.contains("raise the rate"), "{finding:?}");
}

/// In an open loop a timeout counts from when the request was due: one that waited for a connection all that time says
/// nothing of the server.
#[test]
fn requests_that_waited_here_are_no_silence_of_the_server() {
    let run_late = |lag_ns: u64| {
        let mut run = sample::run();
        run.plan.limits.timeout_ns = 300_000_000;
        run.record.failures[FailureKind::Timeout as usize] = 20_000;
        let mut intended = ablaze_model::record::Intended::default();
        for _ in 0..20_000 {
            intended.lag.record(lag_ns);
            intended.response.record(300_000_000);
        }
        run.record.failed.intended = Some(Box::new(intended));
        run
    };
    let with_lag = |lag_ns: u64| on_run(&run_late(lag_ns)).unwrap();
    let late = with_lag(290_000_000);
    assert!(late.cause.contains("waited here"), "{late:?}");
    assert!(late.fix.contains("--connections") && !late.fix.contains("curl"), "{late:?}");
    let mut held = run_late(290_000_000);
    sample::nobody_answers(&mut held);
    let held = on_run(&held).unwrap();
    assert!(held.cause.contains("did not respond to the requests that were sent"), "{held:?}");
    assert!(!held.fix.contains("--connections"), "{held:?}");
    let in_time = with_lag(50_000);
    assert!(in_time.cause.contains("did not respond to some requests in time"), "{in_time:?}");
}

#[test]
fn what_some_responses_were_is_not_said_of_the_server() {
    let mut run = sample::run();
    run.record.failures[FailureKind::Malformed as usize] = 212;
    run.record.failures[FailureKind::ShortBody as usize] = 200;
    run.record.first_malformed = b"\x00\xffgarbage".to_vec();
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("212 of the responses were not HTTP/1."), "{finding:?}");
    assert!(finding.cause.contains("closed some connections in the middle"), "{finding:?}");
    assert!(finding.cause.ends_with("in no percentile."), "{finding:?}");
    assert!(!finding.fix.contains("once it responds"), "{finding:?}");
    sample::asked(&mut run, &[]);
    run.asked.as_mut().unwrap().front_end = FrontEnd::Ab;
    assert!(on_run(&run).unwrap().cause.contains("are among the percentiles of ab's report"));
}

#[test]
fn responses_that_began_are_told_from_those_that_did_not() {
    let with = |partway| {
        let mut run = sample::run();
        run.record.failures[FailureKind::Timeout as usize] = 400;
        run.record.stopped = Stopped { partway, ..Stopped::default() };
        on_run(&run).unwrap().cause
    };
    assert!(with(0).starts_with("The server did not respond to some requests in time. "));
    assert!(with(14).contains("began 14 responses that"));
}

/// A timeout is of what was not done in time, and that is told apart.
#[test]
fn timeouts_are_told_by_what_had_come() {
    let timed_out = || {
        let mut run = sample::run();
        run.record.failures = [0; ablaze_model::failure::FailureKind::ALL.len()];
        run.record.failures[FailureKind::Timeout as usize] = 5;
        run.record.responses = 0;
        run.record.failed.wait = ablaze_stats::Latency::new(3);
        run
    };
    let cause = |run: &Run| on_run(run).unwrap().cause;
    assert!(cause(&timed_out()).contains("does not respond in time"));
    let mut run = timed_out();
    (0..5).for_each(|_| run.record.failed.wait.record(1_000));
    run.record.first_head.clear();
    assert!(cause(&run).contains("no whole head of a final response"), "{}", cause(&run));
    run.record.first_head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n".to_vec();
    assert!(cause(&run).contains("began these responses"), "{}", cause(&run));
    // What the head of the run's first response lacks may be in those of the others.
    run.record.first_head = b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n".to_vec();
    assert!(cause(&run).contains("began these responses"), "{}", cause(&run));
    (run.record.stopped.partway, run.record.stopped.endless) = (5, 5);
    assert!(cause(&run).contains("neither `Content-Length`"), "{}", cause(&run));
    let mut run = timed_out();
    // A kernel makes connections without the server, and six of a hundred are not all.
    run.record.connections_opened = 6;
    assert!(cause(&run).starts_with("Of the 100 connections 6 opened"), "{}", cause(&run));
    run.record.connections_opened = 0;
    assert!(cause(&run).contains("No connection could be established"));
    let facts = ablaze_model::record::TlsFacts { connected: 5, ..Default::default() };
    run.record.tls = Some(facts.into());
    assert!(cause(&run).contains("the TLS handshake was not completed"), "{}", cause(&run));
}

#[test]
fn failures_of_streams_and_of_quic_are_no_responses() {
    use FailureKind::{
        GoAway, Http2Violated, Http3Violated, NoHttp2, NoHttp3, QuicClosed, StreamReset,
    };
    for kind in [StreamReset, GoAway, Http2Violated, NoHttp2, NoHttp3, QuicClosed, Http3Violated] {
        let severity = |failures: u64| {
            let mut run = sample::over_http3();
            run.record.failures[kind as usize] = failures;
            on_run(&run).map(|finding| finding.severity)
        };
        assert_eq!(severity(100), None, "{kind:?}");
        assert_eq!(severity(10_000), Some(Severity::Suspect), "{kind:?}");
        assert_eq!(severity(20_000), Some(Severity::Invalid), "{kind:?}");
    }
}

/// In a closed loop every place was held by a request of the warm-up: a longer run would change nothing.
#[test]
fn a_server_that_goes_silent_in_the_warm_up_is_no_run_without_work() {
    let mut run = sample::run();
    run.record = ablaze_model::Record::new();
    (run.record.silent.count, run.record.silent.of_warmup) = (5, 5);
    run.record.silent.longest_ns = 2_500_000_000;
    let finding = on_run(&run).unwrap();
    let evidence = "No request was sent in the measured time: 5 requests of the warm-up had no response when the run \
                    ended, after up to 2.50 s.";
    assert_eq!(finding.evidence, evidence);
    assert!(!finding.fix.contains("Measure for longer"), "{}", finding.fix);
}

#[test]
fn what_is_said_of_a_part_is_not_said_of_all() {
    let failed = |kind: FailureKind, ended: bool| {
        let mut run = sample::run();
        run.record.failures[kind as usize] = 487;
        sample::monitor(&mut run).target.processes[0].ended = ended;
        on_run(&run).unwrap()
    };
    let chunks = failed(FailureKind::Malformed, false);
    assert!(chunks.cause.starts_with("487 of the responses had bodies"), "{chunks:?}");
    let heads = failed(FailureKind::TooLarge, false);
    assert!(heads.fix.starts_with("Allow longer heads (--max-head)"), "{heads:?}");
    let refused = failed(FailureKind::Refused, true);
    assert!(!refused.cause.contains("something in front"), "{refused:?}");
}
