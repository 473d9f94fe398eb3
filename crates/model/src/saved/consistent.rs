//! Whether the figures of a saved run agree with each other. Those of a run that was measured do, whatever happened in
//! it; a file in which they do not was changed, and nothing that could be said of it is true.

use super::distribution::differ;
use super::document::{Document, Ended};
use super::read::{LoadError, kind};
use crate::plan::Load;

/// Slices may lack this share of the responses: in files of early versions some came behind the last.
const BEHIND_THE_LAST: f64 = 0.01;

/// The kernel's account of CPU time may be so far from the clock, ns: ticks, and what it takes to read both.
const BEHIND_THE_CLOCK_NS: u128 = 200_000_000;

/// Holds the counts of a file against each other, and its length against its slices.
///
/// # Errors
/// The first contradiction, with both figures.
pub(super) fn check(document: &Document) -> Result<(), LoadError> {
    counts(document)?;
    reasons(document)?;
    first_failure(document)?;
    repeated(document)?;
    workers(document)?;
    slices(document)?;
    rate(document)
}

fn counts(document: &Document) -> Result<(), LoadError> {
    let Document { responses, succeeded, unexpected, .. } = document;
    if succeeded.checked_add(*unexpected) != Some(*responses) {
        return Err(LoadError::Damaged(format!(
            "succeeded ({succeeded}) and unexpected ({unexpected}) do not add up to responses ({responses})"
        )));
    }
    let with_status = sum(document.statuses.values());
    if with_status != u128::from(*responses) {
        return Err(LoadError::Damaged(format!(
            "statuses add up to {with_status}, and responses is {responses}"
        )));
    }
    Ok(())
}

/// No more have a reason than there are.
fn reasons(document: &Document) -> Result<(), LoadError> {
    let malformed = document.failed.by_kind.get("malformed").copied().unwrap_or(0);
    let of = [
        ("not_kept", &document.not_kept, "responses", document.responses),
        ("failed.malformed_by", &document.failed.malformed_by, "malformed", malformed),
    ];
    for (name, reasons, all, count) in of {
        let together = sum(reasons.values());
        if together > u128::from(count) {
            return Err(LoadError::Damaged(format!(
                "{name} adds up to {together}, and {all} is {count}"
            )));
        }
    }
    Ok(())
}

/// The first failure is one of those that are counted.
fn first_failure(document: &Document) -> Result<(), LoadError> {
    let Some(first) = &document.failed.first else { return Ok(()) };
    let mut by_kind = document.failed.by_kind.iter();
    match by_kind.any(|(key, count)| kind(key) == kind(&first.kind) && *count > 0) {
        true => Ok(()),
        false => Err(LoadError::Damaged(format!(
            "failed.first.kind is {}, and failed.by_kind has none of that kind",
            first.kind
        ))),
    }
}

/// A request is sent again once, and more often only where the connection it waited on was lost, with all that was in flight there.
fn repeated(document: &Document) -> Result<(), LoadError> {
    let Document { repeated, .. } = document;
    let by_reason = [
        ("repeated_after_failure", document.repeated_after_failure),
        ("repeated_after_announced", document.repeated_after_announced),
        ("repeated_after_reset", document.repeated_after_reset),
        ("repeated_after_surplus", document.repeated_after_surplus),
    ];
    let together = sum(by_reason.iter().map(|(_, count)| count));
    if together > u128::from(*repeated) {
        let names: Vec<&str> =
            by_reason.iter().filter(|(_, count)| *count > 0).map(|(name, _)| *name).collect();
        let (names, verb) = (names.join(" and "), if names.len() == 1 { "is" } else { "are" });
        return Err(LoadError::Damaged(format!(
            "{names} {verb} {together}, and repeated is {repeated}"
        )));
    }
    let Load::Closed { connections, pipeline } = document.load.restore() else { return Ok(()) };
    let lost = u128::from(document.connections_opened) + u128::from(connections);
    let requests =
        sum([document.responses, document.failed.total, document.unfinished.count].iter());
    if u128::from(*repeated) > requests + lost * u128::from(pipeline.max(1)) {
        return Err(LoadError::Damaged(format!(
            "repeated is {repeated}, and there were {requests} requests on {} connections",
            document.connections_opened
        )));
    }
    Ok(())
}

/// A worker is one thread, which uses one CPU at a time.
fn workers(document: &Document) -> Result<(), LoadError> {
    for worker in &document.workers {
        let cpu_ns = u128::from(worker.user_ns) + u128::from(worker.system_ns);
        let length_ns = u128::from(worker.window_ns.max(document.elapsed_ns));
        if cpu_ns > length_ns + length_ns / 10 + BEHIND_THE_CLOCK_NS {
            return Err(LoadError::Damaged(format!(
                "workers: user_ns and system_ns are {cpu_ns} together, and the worker, one thread, ran for {length_ns} ns"
            )));
        }
    }
    Ok(())
}

fn slices(document: &Document) -> Result<(), LoadError> {
    let Document { responses, .. } = document;
    // Where a thread failed, its last slice is missing.
    if document.slices.is_empty() || matches!(document.ended, Ended::Failed) {
        return Ok(());
    }
    let in_slices = sum(document.slices.iter().map(|slice| &slice.responses));
    let missing = u128::from(*responses).abs_diff(in_slices) as f64;
    if in_slices > u128::from(*responses) || missing > *responses as f64 * BEHIND_THE_LAST {
        return Err(LoadError::Damaged(format!(
            "the slices have {in_slices} responses, and responses is {responses}"
        )));
    }
    let slice_ns = u128::from(document.slice_ns);
    let covered_ns = document.slices.len() as u128 * slice_ns;
    // The last is as long as was left, and what was merged may begin within one.
    if covered_ns.abs_diff(u128::from(document.elapsed_ns)) > 2 * slice_ns {
        return Err(LoadError::Damaged(format!(
            "elapsed_ns is {}, and {} slices of {slice_ns} ns cover {covered_ns}",
            document.elapsed_ns,
            document.slices.len()
        )));
    }
    Ok(())
}

/// The rate that stands there for readers.
fn rate(document: &Document) -> Result<(), LoadError> {
    let (Some(rate_per_s), 1..) = (document.rate_per_s, document.elapsed_ns) else { return Ok(()) };
    let is_per_s = document.responses as f64 * 1e9 / document.elapsed_ns as f64;
    match differ(rate_per_s, is_per_s) {
        true => Err(LoadError::Damaged(format!(
            "rate_per_s is {rate_per_s}, and responses over elapsed_ns are {is_per_s} per second"
        ))),
        false => Ok(()),
    }
}

fn sum<'a>(counts: impl Iterator<Item = &'a u64>) -> u128 {
    counts.map(|count| u128::from(*count)).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    const SAVED: &str = include_str!("../../tests/saved/format-2.json");

    type Change = fn(&mut Value);

    fn loaded(change: impl Fn(&mut Value)) -> Result<(), String> {
        let mut value: Value = serde_json::from_str(SAVED).unwrap();
        change(&mut value);
        super::super::load(&value.to_string()).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_whose_figures_contradict_each_other_is_damaged() {
        assert_eq!(loaded(|_| {}), Ok(()));
        let changes: [(&str, &str, Change); 12] = [
            ("repeated", "repeated is 5000000, and there were", |value| {
                value["repeated"] = 5_000_000.into();
            }),
            ("reasons", "repeated_after_reset is 7, and repeated is 0", |value| {
                value["repeated"] = 0.into();
                value["repeated_after_reset"] = 7.into();
            }),
            ("cpu", "workers: user_ns and system_ns are", |value| {
                value["workers"][0]["user_ns"] = 100_000_000_000_u64.into();
            }),
            ("first", "failed.first.kind is timeout, and failed.by_kind has none", |value| {
                value["failed"]["total"] = 0.into();
                value["failed"]["by_kind"] = serde_json::json!({});
                value["failed"]["first"] = serde_json::json!({
                    "at_clock_ns": 5, "kind": "timeout", "errno": 0, "connecting": false
                });
            }),
            ("rate", "rate_per_s is 4000, and", |value| value["rate_per_s"] = 4_000.into()),
            ("percentile", "latency_ns.total: p99 is 1, and", |value| {
                value["latency_ns"]["total"]["p99"] = 1.into();
            }),
            ("mean", "latency_ns.wait: mean is 1, and", |value| {
                value["latency_ns"]["wait"]["mean"] = 1.into();
            }),
            ("responses", "do not add up to responses (1020000)", |value| {
                value["responses"] = 1_020_000.into();
            }),
            ("both", "statuses add up to 20000, and responses is 1020000", |value| {
                value["responses"] = 1_020_000.into();
                value["succeeded"] = 1_019_900.into();
            }),
            ("statuses", "statuses add up to 5, and", |value| {
                value["statuses"] = serde_json::json!({"200": 5});
            }),
            ("slices", "the slices have", |value| {
                value["slices"][0]["responses"] = 1_000_000.into();
            }),
            (
                "elapsed",
                "elapsed_ns is 100000000000, and 100 slices of 100000000 ns cover",
                |value| {
                    value["elapsed_ns"] = 100_000_000_000_u64.into();
                },
            ),
        ];
        for (name, words, change) in changes {
            let said = loaded(change).unwrap_err();
            assert!(
                said.starts_with("a saved run, but damaged or changed by hand: "),
                "{name}: {said}"
            );
            assert!(said.contains(words), "{name}: {said}");
        }
    }
}
