//! What holds of every Run, whatever its server did: its figures agree with each other.

use ablaze_model::FailureKind;
use ablaze_model::Run;

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
    assert!(record.body_bytes <= record.received_bytes, "bodies are larger than all received");
    assert!(record.unexpected <= record.responses && record.reused <= record.responses);
    assert_eq!(record.first_failure.is_some(), failures > 0, "a first failure if there is any");
}
