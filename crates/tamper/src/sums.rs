//! What holds of every Run, whatever its server did: its figures agree with each other.

use ablaze_model::FailureKind;
use ablaze_model::record::{GroupRecord, GroupTimes, Phases};
use ablaze_model::run::Ended;
use ablaze_model::{Record, Run};

const S: u64 = 1_000_000_000;

/// Holds the figures of a run against each other.
///
/// # Panics
/// When two of them disagree, a worker failed, or a failure has no name.
pub fn check(run: &Run) {
    let record = &run.record;
    assert_eq!(record.faults, [], "a worker failed");
    assert_eq!(record.failures_of(FailureKind::Other), 0, "unnamed failures");
    let failures = record.failures_total();
    assert_eq!(record.statuses.values().sum::<u64>(), record.responses, "statuses");
    let lengths = record.body_lengths.values().sum::<u64>() + record.body_lengths_other;
    assert_eq!(lengths, record.responses, "body lengths");
    for (phase, latency) in [
        ("total", &record.answered.total),
        ("processing", &record.answered.processing),
        ("wait", &record.answered.wait),
        ("receive", &record.answered.receive),
    ] {
        assert_eq!(latency.count(), record.responses, "count of {phase}");
        assert!(latency.max_ns() <= Some(3_600 * S), "{phase}: a time was forgotten");
    }
    assert!(record.answered.connect.count() <= record.responses, "connects");
    assert_eq!(record.failed.total.count(), failures, "failed totals");
    let slices = &record.slices.slices;
    assert_eq!(slices.iter().map(|slice| slice.responses).sum::<u64>(), record.responses, "slices");
    let in_slices = slices.iter().map(|slice| slice.failures).sum::<u64>();
    assert_eq!(in_slices, failures, "slices' failures");
    check_groups(record, run.ended == Ended::Unreachable);
    assert!(record.body_bytes <= record.received_bytes, "bodies are larger than all received");
    assert!(record.unexpected <= record.responses && record.reused <= record.responses);
    assert_eq!(record.first_failure.is_some(), failures > 0, "a first failure if there is any");
}

/// The groups of a run add up to the whole, but for the failure of a run without any connection.
fn check_groups(record: &Record, unreachable: bool) {
    let Some((first, others)) = record.groups.split_first() else { return };
    if unreachable {
        return;
    }
    let sum = |of: fn(&GroupRecord) -> u64| record.groups.iter().map(of).sum::<u64>();
    assert_eq!(sum(|group| group.responses), record.responses, "groups' responses");
    assert_eq!(sum(|group| group.unexpected), record.unexpected, "groups' unexpected responses");
    assert_eq!(sum(|group| group.unfinished), record.unfinished, "groups' unfinished requests");
    assert_eq!(sum(|group| group.body_bytes), record.body_bytes, "groups' bodies");
    for kind in FailureKind::ALL {
        let groups = record.groups.iter().map(|group| group.failures[kind as usize]).sum::<u64>();
        assert_eq!(groups, record.failures_of(kind), "groups' failures: {kind:?}");
    }
    let mut statuses = first.statuses.clone();
    for (status, count) in others.iter().flat_map(|group| &group.statuses) {
        *statuses.entry(*status).or_default() += count;
    }
    assert_eq!(statuses, record.statuses, "groups' statuses");
    assert_eq!(record.ungrouped(), 0);
    check_times(&record.groups, |group| &group.answered, &record.answered);
    check_times(&record.groups, |group| &group.failed, &record.failed);
}

/// The times of groups are those of the whole: their number, sums and extremes are exact.
fn check_times(groups: &[GroupRecord], of: fn(&GroupRecord) -> &GroupTimes, whole: &Phases) {
    let mut sum = Phases::new();
    for times in groups.iter().map(of) {
        sum.wait.merge(&times.wait);
        sum.total.merge(&times.total);
        if let Some(response) = &times.response {
            sum.intended.get_or_insert_default().response.merge(response);
        }
    }
    macro_rules! same {
        ($one:expr, $other:expr) => {
            let (one, other) = (&$one, &$other);
            assert_eq!((one.count(), one.sum_ns()), (other.count(), other.sum_ns()));
            assert_eq!(one.sum_of_squares(), other.sum_of_squares());
            assert_eq!((one.min_ns(), one.max_ns()), (other.min_ns(), other.max_ns()));
        };
    }
    same!(sum.wait, whole.wait);
    same!(sum.total, whole.total);
    assert_eq!(sum.intended.is_some(), whole.intended.is_some());
    if let (Some(sum), Some(whole)) = (sum.intended, &whole.intended) {
        same!(sum.response, whole.response);
    }
}
