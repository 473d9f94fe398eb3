//! What is in no figure of the run's requests: attempts to connect that failed and for which no request did, and how many
//! connections were made before the clock started where that took long.

use ablaze_model::plan::ClockStarts;
use ablaze_model::{FailureKind, Run};

use crate::number::{counted, grouped, time};

/// Making the connections took this long or longer, warm-up and ramp apart: it is worth a line.
const LONG_SETUP_NS: u64 = 2_000_000_000;

/// Of connections that are made before the clock starts: `30.0 s, in which 3 of 10 connections were made; 7 attempts to connect
/// failed: 5 refused, 2 timed out`, or the part of it that there is to say.
pub(crate) fn in_words(run: &Run) -> Option<String> {
    let failed = failed(run).filter(|_| is_all_before_clock(run));
    let said: Vec<String> = long_setup(run).into_iter().chain(failed).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Of connections that are made for a request: `7 attempts to connect failed: 5 refused, 2 timed out (no request
/// failed by it)`.
pub(crate) fn elsewhere_in_words(run: &Run) -> Option<String> {
    let failed = failed(run).filter(|_| !is_all_before_clock(run))?;
    Some(format!("{failed} (no request failed by it)"))
}

/// Whether all attempts that no request waited for were made before the clock started. The hosts of a journey beside the first
/// are connected to when a user comes to them.
fn is_all_before_clock(run: &Run) -> bool {
    let plan = &run.plan;
    plan.connections.clock_starts == ClockStarts::AfterConnecting
        && plan.connections.keep_alive
        && plan.target.others.is_empty()
}

/// Where it took long, and not all connections were made.
fn long_setup(run: &Run) -> Option<String> {
    let connections = run.plan.connections_max();
    let plan = &run.plan;
    let asked_ns =
        plan.limits.warmup_ns.saturating_add(plan.connections.ramp_ns.saturating_mul(connections));
    let waits = plan.connections.clock_starts == ClockStarts::AfterConnecting
        && plan.connections.keep_alive
        && run.fleet.is_none();
    let made = run.record.setup_connect.count();
    let took_ns = run.setup_ns.saturating_sub(asked_ns);
    (waits && took_ns >= LONG_SETUP_NS && made < connections).then(|| {
        format!(
            "{}, in which {} of {} connections were made",
            time(run.setup_ns as f64),
            grouped(made),
            grouped(connections)
        )
    })
}

/// The attempts that failed: the same place tries several times, so they may be more than the connections.
fn failed(run: &Run) -> Option<String> {
    let failures = run.record.setup_failures;
    let kinds = FailureKind::ALL.into_iter().map(|kind| (kind, failures[kind as usize]));
    let kinds: Vec<(FailureKind, u64)> = kinds.filter(|(_, number)| *number > 0).collect();
    let total = kinds.iter().map(|(_, number)| number).sum::<u64>();
    let each: Vec<String> = kinds
        .iter()
        .map(|(kind, number)| format!("{} {}", grouped(*number), kind.of_a_count()))
        .collect();
    (total > 0)
        .then(|| format!("{} to connect failed: {}", counted(total, "attempt"), each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::ordinary;

    #[test]
    fn attempts_that_failed_are_told_by_kind() {
        let mut run = ordinary();
        assert_eq!(in_words(&run), None);
        (run.plan.connections.clock_starts, run.plan.connections.keep_alive) =
            (ClockStarts::AfterConnecting, true);
        run.record.setup_failures[FailureKind::Refused as usize] = 1;
        assert_eq!(elsewhere_in_words(&run), None);
        assert_eq!(in_words(&run).unwrap(), "1 attempt to connect failed: 1 refused");
        run.record.setup_failures[FailureKind::Timeout as usize] = 1_200;
        let said = "1,201 attempts to connect failed: 1 refused, 1,200 timed out";
        assert_eq!(in_words(&run).unwrap(), said);
        run.setup_ns = 30_000_000_000;
        run.record.setup_connect.clear();
        let both = in_words(&run).unwrap();
        assert!(both.starts_with("30.0 s, in which 0 of ") && both.ends_with(said), "{both}");
        // A connection for each request is made behind the clock.
        run.plan.connections.keep_alive = false;
        assert_eq!(in_words(&run), None);
        assert_eq!(elsewhere_in_words(&run).unwrap(), format!("{said} (no request failed by it)"));
    }
}
