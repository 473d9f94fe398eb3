//! What holds for every Run, whatever went wrong in it: no two findings contradict each other, and none says
//! what its own evidence excludes.

mod wider;

use std::collections::BTreeMap;

use ablaze_model::plan::Http2;
use ablaze_model::record::{Http2Facts, Silent};
use ablaze_model::{FailureKind, Run};
use proptest::prelude::*;

use super::sample;
use crate::DiagnosisId::*;
use crate::finding::{Finding, Severity};
use crate::limit::Limit;
use crate::live::{Judged, judge};
use crate::{DiagnosisId, Verdict};

/// What of a Run varies.
#[derive(Debug, Clone)]
struct Facts {
    /// Shares of a core of the server's and the client's thread, and processors that others used.
    busy: (f64, f64, f64),
    /// For how much of the time the server's thread waited for a processor.
    waited: f64,
    /// Responses, and failures by kind.
    responses: u64,
    failures: Vec<(usize, u64)>,
    /// How many of the failures had a byte of a response.
    begun: u64,
    /// Status of half of the responses, and whether `--expect` names it.
    status: u16,
    is_expected: bool,
    /// Places in use on average, and how many connections were opened.
    in_flight: f64,
    opened: u64,
    silent: (u64, u64),
    open_loop: Option<f64>,
    http2: Option<u32>,
    /// Over HTTP/3: datagrams that were dropped on the client and on the server, and packets that were lost.
    http3: Option<(u64, u64, u64)>,
    seen: Seen,
    /// Responses of which the end came 41 ms after the beginning, and delayed acknowledgements.
    split: u64,
    delayed: u64,
    overflows: u64,
    reused: bool,
    surplus: u64,
    repeated: (u64, u64),
    elapsed_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Seen {
    Nothing,
    Elsewhere,
    Here,
}

fn facts() -> impl Strategy<Value = Facts> {
    let share = || prop_oneof![Just(0.0), 0.0..1.0f64, Just(0.97)];
    let count = || prop_oneof![3 => Just(0u64), 1 => 1..40u64, 1 => 1_000..40_000u64];
    let kinds = prop::collection::vec((0..FailureKind::ALL.len(), 1..30_000u64), 0..3);
    let seen =
        prop_oneof![1 => Just(Seen::Nothing), 1 => Just(Seen::Elsewhere), 4 => Just(Seen::Here)];
    (
        ((share(), share(), 0.0..2.0f64), share(), prop_oneof![Just(0u64), 1..40_000u64], kinds),
        (count(), prop::sample::select(vec![200u16, 204, 302, 404, 503]), any::<bool>()),
        (0.0..110.0f64, prop_oneof![Just(100u64), 0..200u64, Just(20_000)], (count(), 0..50u64)),
        (prop::option::weighted(0.3, 10.0..50_000.0f64), prop::option::weighted(0.2, 0..200u32)),
        (seen, count(), count(), count(), any::<bool>(), count()),
        (
            (count(), count()),
            prop_oneof![1..500u64, Just(10_000)],
            prop::option::weighted(0.2, (count(), count(), count())),
        ),
    )
        .prop_map(|(one, two, three, four, five, six)| Facts {
            busy: one.0,
            waited: one.1,
            responses: one.2,
            failures: one.3,
            begun: two.0,
            status: two.1,
            is_expected: two.2,
            in_flight: three.0,
            opened: three.1,
            silent: three.2,
            open_loop: four.0,
            http2: four.1,
            seen: five.0,
            split: five.1,
            delayed: five.2,
            overflows: five.3,
            reused: five.4,
            surplus: five.5,
            repeated: six.0,
            elapsed_ms: six.1,
            http3: six.2,
        })
}

fn run(facts: &Facts) -> Run {
    let (server, client, others) = facts.busy;
    let mut run = sample::with_shares(server, client);
    run.elapsed_ns = facts.elapsed_ms * 1_000_000;
    sample::threads(&mut run)[0].waited_ns = (facts.waited * (1.0 - server) * 1e10) as u64;
    let others_ns = (others * 1e10) as u64;
    let times = sample::processors(&mut run);
    times.user_ns += others_ns.min(times.idle_ns);
    times.idle_ns -= others_ns.min(times.idle_ns);
    sample::counter(&mut run, "TcpExtDelayedACKs", facts.delayed);
    sample::counter(&mut run, "TcpExtListenOverflows", facts.overflows);
    match facts.seen {
        Seen::Nothing => run.monitor = None,
        Seen::Elsewhere => {
            let target = &mut sample::monitor(&mut run).target;
            (target.on_this_host, target.listener) = (false, None);
            target.processes.clear();
            sample::monitor(&mut run).server_connections = None;
        }
        Seen::Here => {}
    }
    if let Some(per_s) = facts.open_loop {
        sample::open_loop(&mut run, per_s);
    }
    if let Some(permitted) = facts.http2 {
        let streams = sample::over_http2(100).record.http2;
        run.plan.http2 = Some(Http2 { streams: 100 });
        let facts = streams.map(|facts| Http2Facts {
            streams_permitted: (permitted < 100).then_some(permitted),
            ..*facts
        });
        run.record.http2 = facts.map(Box::new);
    }
    if let Some(figures) = facts.http3 {
        over_http3(&mut run, facts.seen, figures);
    }
    recorded(&mut run, facts);
    run
}

fn over_http3(run: &mut Run, seen: Seen, (dropped_here, dropped_there, lost): (u64, u64, u64)) {
    let other = sample::over_http3();
    (run.plan.http2, run.record.http2) = (None, None);
    (run.plan.http3, run.record.http3) = (other.plan.http3, other.record.http3);
    if let Some(facts) = &mut run.record.http3 {
        (facts.quic.dropped_here, facts.quic.packets_lost) = (dropped_here, lost);
        facts.quic.retries = dropped_here % 3;
    }
    if seen == Seen::Here {
        sample::monitor(run).server_datagrams =
            Some(ablaze_model::monitor::ServerDatagrams { sockets: 1, dropped: dropped_there });
    }
}

fn recorded(run: &mut Run, facts: &Facts) {
    let record = &mut run.record;
    record.responses = facts.responses;
    let others = facts.responses / 2;
    record.statuses = BTreeMap::from([(200, facts.responses - others)]);
    *record.statuses.entry(facts.status).or_default() += others;
    if facts.is_expected {
        run.plan.expect = vec![200..=200, facts.status..=facts.status];
    }
    record.statuses.retain(|_, count| *count > 0);
    let failures: u64 = facts.failures.iter().map(|(_, count)| count).sum();
    record.in_flight_ns = (facts.in_flight * run.elapsed_ns as f64) as u128;
    // Little's law.
    let each_ns = record.in_flight_ns / u128::from(facts.responses + failures).max(1);
    let each_ns = u64::try_from(each_ns).unwrap_or(u64::MAX).max(1);
    for times in [&mut record.answered.total, &mut record.answered.processing] {
        times.clear();
        times.record_many(each_ns, facts.responses);
    }
    record.answered.receive.clear();
    record.answered.receive.record_many(41_000_000, facts.split.min(facts.responses));
    let rest = facts.responses.saturating_sub(facts.split);
    record.answered.receive.record_many(1_000, rest);
    for (kind, count) in &facts.failures {
        record.failures[*kind] += count;
    }
    record.failed.total.record_many(each_ns, failures);
    record.failed.wait.record_many(each_ns, facts.begun.min(failures));
    record.connections_opened = facts.opened;
    let (count, of_warmup) = facts.silent;
    record.silent = Silent {
        count,
        of_warmup: of_warmup.min(count),
        interim: count / 3,
        connecting: of_warmup / 2,
        longest_ns: 5_000_000_000,
    };
    record.unfinished = count - of_warmup.min(count);
    record.reused = if facts.reused { facts.responses } else { 0 };
    record.surplus = facts.surplus;
    let (repeated, after_failure) = facts.repeated;
    record.repeated = repeated;
    record.repeated_after_failure = after_failure.min(repeated);
    let rest = repeated - record.repeated_after_failure;
    (record.repeated_after_reset, record.repeated_after_surplus) = match facts.responses % 4 {
        0 => (rest, 0),
        1 => (rest / 2, rest / 3),
        2 => (0, rest),
        _ => (0, 0),
    };
    record.repeated_after_announced = if facts.responses % 4 == 3 { rest } else { 0 };
    record.slices.slices.clear();
}

/// Findings that only figures of a server on this host can show.
const OF_A_SERVER_HERE: [DiagnosisId; 8] = [D12, D22, D24, D25, D26, D27, D28, D49];

/// Findings about QUIC.
const OF_HTTP3: [DiagnosisId; 5] = [D48, D49, D50, D51, D52];

fn found(judged: &Judged, id: DiagnosisId) -> Option<&Finding> {
    judged.findings.iter().find(|finding| finding.id == id)
}

/// What in these findings cannot all be so.
fn contradiction(run: &Run, judged: &Judged) -> Option<String> {
    let has = |id| found(judged, id).is_some();
    let limit = judged.limited.by;
    for (id, its) in [
        (D11, &[Limit::Client] as &[_]),
        (D12, &[Limit::Server, Limit::Proxy]),
        (D39, &[Limit::RoundTrip, Limit::ResponseTime]),
    ] {
        if has(id) && !its.contains(&limit) {
            return Some(format!("{id} beside `{limit}`"));
        }
    }
    let harmless = |finding: &Finding| finding.evidence.contains("although all connections stayed");
    if has(D01) && found(judged, D40).is_some_and(harmless) {
        return Some("D01 doubts what D40 notes as harmless".to_owned());
    }
    let roots = judged.findings.iter().filter(|finding| finding.explained_by.is_none());
    let worst = roots.map(|finding| finding.severity).max();
    let due = match worst {
        Some(Severity::Invalid) => Verdict::Invalid,
        Some(Severity::Suspect) => Verdict::Suspect,
        Some(Severity::Note) | None => Verdict::Valid,
    };
    if judged.verdict != due {
        return Some(format!("{} beside {worst:?}", judged.verdict));
    }
    for finding in &judged.findings {
        if finding.explained_by.is_some_and(|cause| !has(cause)) {
            return Some(format!("{} is explained by what was not found", finding.id));
        }
        if judged.passed.iter().any(|passed| passed.id == finding.id) {
            return Some(format!("{} was found and passed", finding.id));
        }
    }
    let responses = run.record.responses > 0;
    if !responses && judged.verdict == Verdict::Valid {
        return Some("VALID without a response".to_owned());
    }
    let names_server =
        matches!(limit, Limit::Server | Limit::Proxy | Limit::SharedCpu | Limit::OtherProcesses);
    if names_server && run.monitor.as_ref().is_none_or(|monitor| !monitor.target.on_this_host) {
        return Some(format!("`{limit}` of a server that nobody saw"));
    }
    (limit != Limit::Unknown && !responses).then(|| format!("`{limit}` without a response"))
}

/// What a finding says although the Run excludes it.
fn excluded(run: &Run, finding: &Finding) -> Option<&'static str> {
    let record = &run.record;
    let failed = |kind| record.failures_of(kind) > 0;
    let said = |text: &str| finding.cause.contains(text) || finding.evidence.contains(text);
    let seen_here = run.monitor.as_ref().is_some_and(|monitor| monitor.target.on_this_host);
    if OF_A_SERVER_HERE.contains(&finding.id) && !seen_here {
        return Some("a server that nobody saw");
    }
    if OF_HTTP3.contains(&finding.id) && run.plan.http3.is_none() {
        return Some("HTTP/3 that was not spoken");
    }
    let drops = run.monitor.as_ref().and_then(|monitor| monitor.server_datagrams);
    if finding.id == D51 && said("nor did the server's") && drops.is_none() {
        return Some("sockets that nobody saw");
    }
    if finding.id == D13 && run.monitor.is_none() {
        return Some("processors that nobody watched");
    }
    let kinds = [
        ("Nothing listens", FailureKind::Refused),
        ("TLS connections without `close_notify` behind", FailureKind::TlsTruncated),
        ("closes connections without a response", FailureKind::ClosedWithoutResponse),
        ("GOAWAY) before", FailureKind::GoAway),
        ("is not HTTP/1", FailureKind::Malformed),
        ("does not respond in time", FailureKind::Timeout),
    ];
    if finding.id == D02 {
        if kinds.iter().any(|(text, kind)| said(text) && !failed(*kind)) {
            return Some("a kind of failure that did not happen");
        }
        if said("resets connections") && !failed(FailureKind::Reset) {
            return Some("resets that did not happen");
        }
        if said("resets connections in the middle") && record.failed.wait.count() == 0 {
            return Some("the middle of responses that did not begin");
        }
        if said("Nothing listens") && record.responses > 0 {
            return Some("nobody there, who responded");
        }
    }
    if finding.id == D04 && run.plan.expect.iter().any(|range| range.contains(&404)) {
        let others = record
            .statuses
            .keys()
            .any(|status| !run.plan.expect.iter().any(|range| range.contains(status)));
        if !others {
            return Some("statuses that were all expected by name");
        }
    }
    if finding.id == D10
        && seen_here
        && crate::live::figures::counter(run, "TcpExtDelayedACKs") == Some(0)
    {
        return Some("acknowledgements that were not delayed");
    }
    if finding.id == D08 && said("The accept queue was full 0") {
        return Some("a full queue that was not");
    }
    let of_client = record.repeated_after_failure
        + record.repeated_after_surplus
        + record.repeated_after_announced;
    if finding.id == D18 && said("had closed") && record.repeated <= of_client {
        return Some("closes of the server that were the client's");
    }
    let of_reset = of_client + record.repeated_after_reset;
    if finding.id == D18 && said("the server had closed") && record.repeated <= of_reset {
        return Some("closes that were resets");
    }
    if finding.id == D19 && said("closes it anyway") && record.surplus > 0 {
        return Some("a close of the server that was the client's");
    }
    let all = [&finding.evidence, &finding.cause, &finding.fix].map(String::as_str).join(" ");
    if all.contains("NaN") || all.contains(" inf ") {
        return Some("no number");
    }
    names_a_short_option(&finding.fix).then_some("an option in the letters of one front end")
}

/// Whether a sentence names an option by its letter, outside of the command of another program.
fn names_a_short_option(fix: &str) -> bool {
    let quoted = |text: &str| text.split(' ').next().is_some_and(is_a_letter);
    if fix.split('`').skip(1).step_by(2).any(quoted) {
        return true;
    }
    let outside: String = fix.split('`').step_by(2).collect();
    let mut words = outside.split(|c: char| c.is_whitespace() || "(),.;".contains(c));
    words.any(is_a_letter)
}

fn is_a_letter(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    letters.is_some_and(|rest| rest.len() == 1 && rest.chars().all(|c| c.is_ascii_alphabetic()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_two_findings_contradict_and_none_says_what_is_excluded(facts in facts()) {
        let run = run(&facts);
        let judged = judge(&run);
        if let Some(what) = contradiction(&run, &judged) {
            return Err(TestCaseError::fail(format!("{what}: {:#?}", judged.findings)));
        }
        for finding in &judged.findings {
            if let Some(what) = excluded(&run, finding) {
                return Err(TestCaseError::fail(format!("{what}: {finding:#?}")));
            }
        }
    }
}

#[test]
fn letters_of_options_are_found() {
    assert!(names_a_short_option("Give it more threads (-t), or a machine."));
    assert!(names_a_short_option("Run it at a rate (`-r`)."));
    assert!(!names_a_short_option("Use --threads, or `curl -v http://x/`; anti-x."));
}
