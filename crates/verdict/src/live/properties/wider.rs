//! The same over wider ranges, with what a Run has of time: stalls, pauses of the machine, others on its processors, a rate that
//! changes, stuck responses, late sending. Each finding needs its evidence in the Run, and its words no figure that cannot be.

use ablaze_model::FailureKind;
use ablaze_model::Run;
use ablaze_model::monitor::{Gap, Heartbeat};
use ablaze_model::plan::Load;
use ablaze_model::record::{Intended, Slice, Stopped, StoppedResponse};
use ablaze_stats::Latency;
use proptest::prelude::*;

use super::{contradiction, found};
use crate::DiagnosisId::*;
use crate::finding::{Finding, Severity};
use crate::live::{Judged, figures, judge, sample};

/// What of a Run varies.
#[derive(Debug, Clone)]
struct Facts {
    slices: usize,
    connections: u32,
    open_loop: Option<f64>,
    keep_alive: bool,
    /// Shares of a core of server, client and everything else, and what the server's thread waited for.
    busy: (f64, f64, f64, f64),
    steal: f64,
    /// Number and length of late beats in ms, and the share of them that the thread waited for a processor.
    gaps: (u64, u64, f64),
    /// Responses in a slice at the beginning and later, and where that changes.
    rates: (u64, u64, usize),
    /// Slices without a response: the first and how many.
    stall: (usize, usize),
    /// Responses that took so many ms.
    slow: (u64, u64),
    failures: u64,
    reopened: u64,
    stuck: (u64, u64, u64),
    /// Requests that left so many ms late.
    late: (u64, u64),
    never_sent: u64,
    on_this_host: bool,
}

fn facts() -> impl Strategy<Value = Facts> {
    let share = || prop_oneof![Just(0.0), 0.0..1.0f64, Just(0.97)];
    let rarely = |most: u64| prop_oneof![2 => Just(0), 1 => 1..most];
    (
        (1..300usize, prop::sample::select(vec![1u32, 2, 4, 10, 100, 1_000]), any::<bool>()),
        (prop::option::weighted(0.4, 20.0..20_000.0f64), any::<bool>()),
        ((share(), share(), 0.0..2.0f64, share()), prop_oneof![3 => Just(0.0), 1 => 0.0..0.5f64]),
        (rarely(20), 20..900u64, prop::sample::select(vec![0.0, 0.3, 1.0])),
        (
            (1..5_000u64, 1..5_000u64, 0..300usize),
            (0..300usize, rarely(12)),
            (rarely(500), 50..3_000u64),
        ),
        (rarely(20_000), rarely(20_000), (rarely(60), rarely(60), 1..100_000u64)),
        ((rarely(5_000), 1..2_000u64), rarely(5_000)),
    )
        .prop_map(|(one, two, three, gaps, five, six, seven)| Facts {
            slices: one.0,
            connections: one.1,
            on_this_host: one.2,
            open_loop: two.0,
            keep_alive: two.1,
            busy: three.0,
            steal: three.1,
            gaps,
            rates: five.0,
            stall: (five.1.0, five.1.1 as usize),
            slow: five.2,
            failures: six.0,
            reopened: six.1,
            stuck: six.2,
            late: seven.0,
            never_sent: seven.1,
        })
}

fn run(facts: &Facts) -> Run {
    let (server, client, others, waited) = facts.busy;
    let mut run = sample::with_shares(server, client);
    run.plan.load = Load::Closed { connections: facts.connections, pipeline: 1 };
    run.plan.connections.keep_alive = facts.keep_alive;
    if let Some(per_s) = facts.open_loop {
        sample::open_loop(&mut run, per_s);
        if let Load::Open { connections, .. } = &mut run.plan.load {
            *connections = facts.connections;
        }
    }
    run.elapsed_ns = facts.slices as u64 * 100_000_000;
    seen(&mut run, facts);
    sample::threads(&mut run)[0].waited_ns = (waited * (1.0 - server) * 1e10) as u64;
    let times = sample::processors(&mut run);
    let others_ns = ((others * 1e10) as u64).min(times.idle_ns);
    times.user_ns += others_ns;
    times.idle_ns -= others_ns;
    times.steal_ns = (facts.steal * times.idle_ns as f64) as u64;
    times.idle_ns -= times.steal_ns;
    recorded(&mut run, facts);
    if !facts.on_this_host {
        let monitor = sample::monitor(&mut run);
        monitor.server_connections = None;
        (monitor.target.on_this_host, monitor.target.listener) = (false, None);
        monitor.target.processes.clear();
    }
    run
}

/// The late beats, as many as fit into the Run.
fn seen(run: &mut Run, facts: &Facts) {
    let (number, length_ms, waited) = facts.gaps;
    let length_ns = length_ms * 1_000_000;
    let gaps = number.min(run.elapsed_ns / length_ns);
    let waited_ns = |ns: u64| Some((ns as f64 * waited) as u64);
    let gap = Gap { at_clock_ns: 1, length_ns, waited_ns: waited_ns(length_ns) };
    sample::monitor(run).heartbeat = Some(Heartbeat {
        beats: 1_000,
        gaps,
        gaps_ns: gaps * length_ns,
        gaps_waited_ns: waited_ns(gaps * length_ns),
        longest: vec![gap; gaps as usize],
    });
}

fn recorded(run: &mut Run, facts: &Facts) {
    let (before, after, change) = facts.rates;
    let (stalled, length) = facts.stall;
    let responses = |at: usize| match at {
        _ if (stalled..stalled + length).contains(&at) => 0,
        _ if at < change => before,
        _ => after,
    };
    let slice = |at: usize| Slice { responses: responses(at), ..Slice::default() };
    run.record.slices.slices = (0..facts.slices).map(slice).collect();
    let all: u64 = run.record.slices.slices.iter().map(|slice| slice.responses).sum();
    let record = &mut run.record;
    record.responses = all;
    record.statuses = [(200, all)].into();
    record.body_lengths = [(14, all)].into();
    record.reused = if facts.keep_alive { all } else { 0 };
    // All times fit into the places: Little's law.
    let room_ns = u64::from(facts.connections) * run.elapsed_ns;
    let slow = facts.slow.0.min(all).min(room_ns / 2 / (facts.slow.1 * 1_000_000));
    let usual_ns = 500_000.min(room_ns / 2 / (all + facts.failures).max(1)).max(1);
    for times in [&mut record.answered.total, &mut record.answered.processing] {
        times.clear();
        times.record_many(usual_ns, all - slow);
        times.record_many(facts.slow.1 * 1_000_000, slow);
    }
    record.failures[FailureKind::Reset as usize] = facts.failures;
    record.failed.total.record_many(usual_ns, facts.failures);
    record.in_flight_ns = record.answered.total.sum_ns() + record.failed.total.sum_ns();
    record.connections_opened = u64::from(facts.connections) + facts.reopened;
    let (timed_out, unfinished, body_bytes) = facts.stuck;
    let longest = StoppedResponse { silent_ns: 2_000_000_000, body_bytes, missing_bytes: Some(5) };
    record.unfinished = unfinished + facts.never_sent;
    record.never_sent = if facts.open_loop.is_some() { facts.never_sent } else { 0 };
    record.stopped = Stopped {
        timed_out,
        unfinished,
        partway: timed_out,
        begun: timed_out + unfinished,
        longest: (timed_out + unfinished > 0).then_some(longest),
        ..record.stopped
    };
    record.failures[FailureKind::Timeout as usize] = timed_out;
    if facts.open_loop.is_some() {
        let late = facts.late.0.min(all);
        let (mut lag, mut response) = (Latency::new(3), record.answered.total.clone());
        lag.record_many(10_000, all - late);
        lag.record_many(facts.late.1 * 1_000_000, late);
        response.record_many(facts.late.1 * 1_000_000, late);
        record.answered.intended = Some(Box::new(Intended { response, lag }));
    }
}

/// What a finding says although the Run has no evidence of it, or evidence against it.
fn unfounded(run: &Run, judged: &Judged, finding: &Finding) -> Option<String> {
    let record = &run.record;
    let said = |text: &str| finding.cause.contains(text) || finding.evidence.contains(text);
    let heartbeat = run.monitor.as_ref()?.heartbeat.as_ref()?;
    let in_flight = figures::in_flight(run)?;
    let places = f64::from(run.plan.load.connections());
    let empty = record.slices.slices.iter().filter(|slice| slice.responses == 0).count();
    let on_this_host = run.monitor.as_ref()?.target.on_this_host;
    let is = |is: bool, what: &str| is.then(|| what.to_owned());
    match finding.id {
        D01 => is(run.plan.load.is_open(), "a number in flight that nobody asked for").or(is(
            said("requests failed, and a place")
                && record.failures_total() * 2 < record.connections_opened - places as u64,
            "failures, where connections were opened again far more often",
        )),
        D07 => is(empty == 0, "a stall, and something finished in each 100 ms")
            .or(is(places == 1.0, "that not one slow request did it, of one in flight"))
            .or(is(
                said("this machine did not")
                    && heartbeat.longest.iter().any(|gap| gap.length_ns > 3_000_000_000),
                "that the machine ran on, and it did not",
            )),
        D13 => is(said("Other processes used 0 of"), "others, and there were none"),
        D23 => {
            is(heartbeat.gaps == 0 && !said("hypervisor"), "a pause, and every beat came in time")
                .or(is(
                    said("Other tasks occupied") && heartbeat.gaps_waited_ns == Some(0),
                    "tasks that nobody waited for",
                ))
                .or(is(
                    said("Nothing on this machine ran")
                        && empty == 0
                        && heartbeat.longest.iter().any(|gap| gap.length_ns >= 200_000_000),
                    "that nothing ran, and responses were handled all the time",
                ))
                .or(is(
                    said("hypervisor gave")
                        && heartbeat.gaps_waited_ns == Some(0)
                        && said("only this process was stopped")
                        && !said("does not show"),
                    "that this process was stopped, and a hypervisor may have taken the CPUs",
                ))
        }
        D29 => is(
            record.stopped.total() + record.stopped.partway == 0,
            "stuck responses, and there were none",
        ),
        D30 => is(!run.plan.load.is_open(), "late sending, and nothing was due").or(is(
            said("waited for") && said("to become free") && in_flight < places * late(run) / 2.0,
            "that connections were waited for, and most were free while requests waited",
        )),
        D12 | D24 | D26 | D27 | D28 => is(!on_this_host, "a server that nobody saw"),
        _ => None,
    }
    .or_else(|| is(explained_by_less(judged, finding), "a grave finding that a note explains away"))
}

/// The share of the requests that left a millisecond late or more.
fn late(run: &Run) -> f64 {
    let Some(intended) = &run.record.answered.intended else { return 0.0 };
    let all = intended.lag.count().max(1);
    1.0 - intended.lag.count_at_most(1_000_000) as f64 / all as f64
}

/// A verdict must not become better by a finding that says less.
fn explained_by_less(judged: &Judged, finding: &Finding) -> bool {
    let cause = finding.explained_by.and_then(|cause| found(judged, cause));
    cause.is_some_and(|cause| {
        cause.severity == Severity::Note && finding.severity == Severity::Invalid
    })
}

/// Figures that cannot be: a share of the run above 100 %, `5 of 3 requests`, `used 2.1 of 2.00 CPUs`.
fn impossible(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| {
        let digits = word.trim_matches(|c: char| "(),.;:".contains(c)).replace(',', "");
        digits.parse::<f64>().ok()
    };
    for (at, word) in words.iter().enumerate() {
        let at_word = |index: usize| words.get(index).copied().unwrap_or_default();
        let share = word.starts_with('%') && at_word(at + 1) == "of";
        if share && at > 0 && number(words[at - 1]).is_some_and(|percent| percent > 100.0) {
            return Some(words[at - 1..(at + 4).min(words.len())].join(" "));
        }
        if *word == "of" && at > 0 {
            let counted = number(words[at - 1]).zip(number(at_word(at + 1)));
            if counted.is_some_and(|(part, whole)| part > whole * 1.005) {
                return Some(words[at - 1..(at + 3).min(words.len())].join(" "));
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_finding_has_its_evidence_in_the_run(facts in facts()) {
        let run = run(&facts);
        let judged = judge(&run);
        if let Some(what) = contradiction(&run, &judged) {
            return Err(TestCaseError::fail(format!("{what}: {:#?}", judged.findings)));
        }
        for finding in &judged.findings {
            if let Some(what) = unfounded(&run, &judged, finding) {
                return Err(TestCaseError::fail(format!("{what}: {finding:#?}")));
            }
            if let Some(what) = impossible(&finding.evidence) {
                return Err(TestCaseError::fail(format!("`{what}`: {finding:#?}")));
            }
        }
        let limited = &judged.limited.evidence;
        prop_assert!(impossible(limited).is_none(), "{limited}");
    }
}

#[test]
fn what_cannot_be_is_seen() {
    assert!(impossible("late: 103 % of the run").is_some());
    assert!(impossible("5 of 3 requests (12 %)").is_some());
    assert!(impossible("the server used 2.10 of 2 CPUs").is_some());
    assert_eq!(
        impossible("3 of 5 requests, 60 % of the run; a spread of 312 % of 7"),
        Some("312 % of 7".into())
    );
    assert_eq!(impossible("1,000 of 20,000 responses (5.0 %)"), None);
}
