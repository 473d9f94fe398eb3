//! Runs that go to several hosts, of which one refuses connections while others respond: steps of a journey, or lines of a list,
//! tell them apart. To be refused takes no time, and a journey that fails in a step begins anew: the number of requests that
//! failed says little of how long that host was away.

use ablaze_model::record::GroupRecord;
use ablaze_model::{FailureKind, Run};

use super::causes;
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::live::figures::elapsed_s;
use crate::words::{counted, grouped, listed, time};

/// So many groups are named.
const NAMED: usize = 3;
/// An attempt to connect follows a failed one after at most this time, and a little.
const REST_S: f64 = 1.5;
/// A smaller share of the run makes no figure wrong by more than runs differ.
const LITTLE: f64 = 0.01;

/// What to do where a host refused all connections.
pub(super) const FIX_OF_NEVER: &str = "See with `ss -lnt` on that host whether anything listens at the port of these requests, and \
                                       whether a firewall is in the way; measure again once they get responses.";

/// Groups whose connections were refused, of a run to several hosts that knows the group of each failure.
fn refused(run: &Run) -> Option<Vec<&GroupRecord>> {
    let record = &run.record;
    let of = |group: &GroupRecord| group.failures[FailureKind::Refused as usize];
    let groups: Vec<&GroupRecord> = record.groups.iter().filter(|group| of(group) > 0).collect();
    let known: u64 = groups.iter().map(|group| of(group)).sum();
    let all = record.failures_of(FailureKind::Refused);
    let several = !run.plan.target.others.is_empty();
    (several && known > 0 && known == all).then_some(groups)
}

/// `GET /a, GET /b and 3 more`.
fn named(groups: &[&GroupRecord]) -> String {
    let more = groups.len().saturating_sub(NAMED) as u64;
    let names = groups.iter().take(NAMED).map(|group| format!("`{}`", group.name));
    match more {
        0 => listed(names),
        more => format!("{}, and {} more", names.collect::<Vec<_>>().join(", "), grouped(more)),
    }
}

/// Groups that alone have all failures of this kind, and never had a response, while others had.
fn without_responses(run: &Run, kind: FailureKind) -> Option<Vec<&GroupRecord>> {
    let record = &run.record;
    let of = |group: &GroupRecord| group.failures[kind as usize];
    let groups: Vec<&GroupRecord> = record.groups.iter().filter(|group| of(group) > 0).collect();
    let known: u64 = groups.iter().map(|group| of(group)).sum();
    let never = groups.iter().all(|group| group.responses == 0);
    let all = record.failures_of(kind);
    (never && record.responses > 0 && all > 0 && known == all).then_some(groups)
}

/// Which requests failed so, behind the cause of a kind: a step, or a line, that never got a response beside others that did.
pub(super) fn which(run: &Run, kind: FailureKind, cause: String) -> String {
    // Of those that are refused more is told.
    if kind == FailureKind::Refused {
        return cause;
    }
    let Some(groups) = without_responses(run, kind) else { return cause };
    let whose = match run.plan.target.others.is_empty() {
        true => "of the run",
        false => "of the run, which may be of other hosts,",
    };
    format!(
        "{cause} All of these were requests for {}, none of which got a response; others {whose} did.",
        named(&groups)
    )
}

/// The groups to whose server most of the failures belong, where there are several hosts.
pub(super) fn one_of_several(run: &Run) -> Option<String> {
    let kind = FailureKind::ALL.into_iter().max_by_key(|kind| run.record.failures_of(*kind))?;
    let several = !run.plan.target.others.is_empty();
    let groups = without_responses(run, kind).filter(|_| several)?;
    Some(named(&groups))
}

/// The cause where none of these requests ever got a response, while others did.
pub(super) fn never_listened(run: &Run) -> Option<String> {
    let groups = refused(run)?;
    let never = groups.iter().all(|group| group.responses == 0);
    (never && run.record.responses > 0).then(|| {
        format!(
            "All connections for {} were refused, in the whole run: nothing listens at the host and port of these requests, or a \
             firewall rejects connections. Other hosts of the run responded.",
            named(&groups)
        )
    })
}

/// Requests to one of the hosts were refused for a part of the run, whatever their number.
pub(super) fn away(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let groups = refused(run)?;
    let failed: u64 = groups.iter().map(|group| group.failures_total()).sum();
    let responded = record
        .groups
        .iter()
        .any(|group| group.responses > 0 && group.failures[FailureKind::Refused as usize] == 0);
    let broke = [FailureKind::Refused, FailureKind::Reset, FailureKind::ClosedWithoutResponse];
    let others: u64 = FailureKind::ALL
        .into_iter()
        .filter(|kind| !broke.contains(kind))
        .map(|kind| record.failures_of(kind))
        .sum();
    // Each place was refused, on average.
    let refused = record.failures_of(FailureKind::Refused);
    let of_all = refused >= u64::from(run.plan.load.connections());
    if !responded || others > 0 || failed != record.failures_total() || !of_all {
        return None;
    }
    let (from_s, to_s) = when(run)?;
    let share = (to_s - from_s) / elapsed_s(run);
    if share < LITTLE {
        return None;
    }
    let kinds = FailureKind::ALL.into_iter().map(|kind| (kind, record.failures_of(kind)));
    let kinds: Vec<_> = kinds.filter(|(_, count)| *count > 0).collect();
    let finished = groups.iter().map(|group| group.finished()).sum();
    let evidence = format!(
        "From {} to {} of the run requests for {} failed, {} of {}: {}. Other hosts of the run responded.",
        time(from_s * 1e3),
        time(to_s * 1e3),
        named(&groups),
        grouped(failed),
        counted(finished, "request"),
        causes::by_kind(&kinds)
    );
    let cause = "Connections for these requests were refused in that time: nothing listened at their host and port (the server \
                 ended or closed its listening socket), or something in front of it rejected connections. What is refused is \
                 tried again after a rest, so few requests fail in all that time.";
    let fix = "See in the log of that server what happened then, and measure again: the rate is that of the whole run, this time \
               included.";
    let severity = if share > super::MOST { Severity::Invalid } else { Severity::Suspect };
    if let Some(cause) = never_listened(run) {
        return Some(Finding::new(D02, severity, evidence, cause, FIX_OF_NEVER));
    }
    Some(Finding::new(D02, severity, evidence, cause, fix))
}

/// From when to when requests failed, in seconds, if they did without a longer pause.
fn when(run: &Run) -> Option<(f64, f64)> {
    let slices = &run.record.slices;
    let slice_s = slices.slice_ns as f64 / 1e9;
    let failing: Vec<usize> =
        (0..slices.slices.len()).filter(|at| slices.slices[*at].failures > 0).collect();
    let (first, last) = (*failing.first()?, *failing.last()?);
    let pauses = failing.windows(2).any(|pair| (pair[1] - pair[0]) as f64 * slice_s > REST_S);
    (!pauses).then(|| (first as f64 * slice_s, elapsed_s(run).min((last + 1) as f64 * slice_s)))
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::origins::Origin;

    use super::super::on_run;
    use super::*;
    use crate::live::sample;

    /// Two hosts, of which the second refuses connections from slice to slice.
    fn with(from: usize, to: usize, responses: u64) -> Run {
        let mut run = sample::run();
        let origin = Origin {
            url: "http://127.0.0.1:2".to_owned(),
            host: "127.0.0.1".to_owned(),
            port: 2,
            addresses: Vec::new(),
            tls: None,
        };
        run.plan.target.others = vec![origin];
        let refused = 4 * (to - from) as u64;
        for slice in &mut run.record.slices.slices[from..to] {
            (slice.failures, slice.responses) = (4, 4);
        }
        run.record.failures[FailureKind::Refused as usize] = refused;
        let mut groups = ["GET /a", "GET /b"].map(|name| GroupRecord::new(name, false));
        groups[0].responses = run.record.responses - responses;
        groups[1].responses = responses;
        groups[1].failures[FailureKind::Refused as usize] = refused;
        run.record.groups = groups.into();
        run
    }

    #[test]
    fn a_host_that_never_listened_refused_all_of_the_run() {
        let mut run = with(0, 100, 0);
        run.record.responses = 400;
        let found = on_run(&run).unwrap();
        let said = "All connections for `GET /b` were refused, in the whole run";
        assert!(found.cause.starts_with(said), "{found:?}");
        assert_eq!(found.fix, FIX_OF_NEVER);
        assert!(!found.cause.contains("a part of the run"), "{found:?}");
        // It had responded, or it is one host.
        run.record.groups[1].responses = 1;
        assert!(on_run(&run).unwrap().cause.contains("for a part of the run"));
        run.record.groups[1].responses = 0;
        run.plan.target.others.clear();
        assert!(on_run(&run).unwrap().cause.contains("for a part of the run"));
    }

    /// The other one accepts connections, and resets them.
    #[test]
    fn a_step_that_never_got_a_response_is_named_whatever_it_failed_by() {
        let reset = |responses: u64| {
            let mut run = with(0, 100, responses);
            run.record.responses = 400;
            let resets = run.record.failures[FailureKind::Refused as usize];
            run.record.failures[FailureKind::Refused as usize] = 0;
            run.record.failures[FailureKind::Reset as usize] = resets;
            let group = &mut run.record.groups[1];
            group.failures[FailureKind::Refused as usize] = 0;
            group.failures[FailureKind::Reset as usize] = resets;
            run
        };
        let mut run = reset(0);
        let found = on_run(&run).unwrap();
        let said = "All of these were requests for `GET /b`, none of which got a response; others of the run, which may";
        assert!(found.cause.contains(said), "{found:?}");
        assert!(found.fix.starts_with("See in the log of the server of `GET /b`"), "{found:?}");
        run.plan.target.others.clear();
        let found = on_run(&run).unwrap();
        assert!(found.cause.contains("others of the run did."), "{found:?}");
        assert!(found.fix.starts_with("See in the server's log"), "{found:?}");
        assert!(!on_run(&reset(1)).unwrap().cause.contains("GET /b"));
    }

    /// 160 of 20,160 requests.
    #[test]
    fn one_of_two_hosts_that_dies_is_found_though_few_requests_failed() {
        let found = on_run(&with(60, 100, 5_000)).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let said = "From 6.00 s to 10.0 s of the run requests for `GET /b` failed, 160 of 5,160 requests: 160 refused.";
        assert!(found.evidence.starts_with(said), "{found:?}");
        assert!(
            found.cause.starts_with("Connections for these requests were refused"),
            "{found:?}"
        );
        assert_eq!(on_run(&with(45, 100, 5_000)).unwrap().severity, Severity::Invalid);
        // Fewer than there are places.
        assert_eq!(on_run(&with(80, 100, 5_000)), None);
        // Both were refused now and then, and so is one host.
        let mut run = with(60, 100, 5_000);
        run.record.groups[0].failures[FailureKind::Refused as usize] = 1;
        assert_eq!(on_run(&run), None);
        let mut run = with(60, 100, 5_000);
        run.plan.target.others.clear();
        assert_eq!(on_run(&run), None);
        // Some at the beginning, and some at the end.
        let mut run = with(60, 100, 5_000);
        run.record.slices.slices[10].failures = 1;
        assert_eq!(on_run(&run), None);
    }
}
