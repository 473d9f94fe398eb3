//! What is said of a run without a response whose failures are not mostly of the kind that came first.

use ablaze_model::{FailureKind, Run};
use ablaze_report::number::grouped;

/// The kinds with their numbers, where most failures are not as the first was: what it takes to fix the first says nothing
/// of the others.
pub(super) fn of_kinds(first: FailureKind, to: &str, run: &Run) -> Option<String> {
    let all = run.record.failures_total();
    if run.record.failures_of(first) * 2 > all {
        return None;
    }
    let mut kinds: Vec<_> =
        FailureKind::ALL.into_iter().map(|kind| (run.record.failures_of(kind), kind)).collect();
    kinds.retain(|(number, _)| *number > 0);
    kinds.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(number, kind)| format!("{} {}", grouped(*number), kind.of_a_count()))
        .collect();
    let (last, before) = kinds.split_last().filter(|(_, before)| !before.is_empty())?;
    Some(format!(
        "no response from {to}, and not for one reason: of {} requests {} and {last}",
        grouped(all),
        before.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_not_that_of_the_others() {
        use FailureKind::{Http2Violated, ShortBody};
        let mut run = ablaze_model::by_hand::run();
        run.record.failures = [0; FailureKind::ALL.len()];
        run.record.failures[Http2Violated as usize] = 1;
        assert_eq!(of_kinds(Http2Violated, "there", &run), None);
        run.record.failures[ShortBody as usize] = 99;
        let said = of_kinds(Http2Violated, "there", &run).unwrap();
        assert!(said.contains("of 100 requests 99 with a short body and 1 "), "{said}");
        assert_eq!(of_kinds(ShortBody, "there", &run), None);
    }
}
