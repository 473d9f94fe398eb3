//! D57 on runs.

use ablaze_model::record::GroupRecord;

use super::*;
use crate::live::sample;

/// Its 100 slices with these times, in the order of the run; a closed loop gets through as many as that permits.
fn with_times(ns: impl Fn(usize) -> u64) -> Run {
    let mut run = sample::run();
    for (at, slice) in run.record.slices.slices.iter_mut().enumerate() {
        (slice.p50_ns, slice.responses) = (ns(at), 100_000_000 / ns(at));
    }
    run
}

#[test]
fn a_server_that_becomes_slower_is_suspect() {
    // From 1 ms to 5 ms.
    let finding = check(&with_times(|at| 1_000_000 + 40_404 * at as u64)).unwrap();
    assert_eq!(finding.severity, Severity::Suspect);
    let said = "the median per 100 ms was typically 1.65 ms in its first third and 4.35 ms in its last, at 639/s and 227/s";
    assert!(finding.evidence.contains(said), "{finding:?}");
}

#[test]
fn an_open_loop_whose_requests_pile_up_is_suspect() {
    // 330/s of 2,000/s.
    let mut run = with_times(|at| 16_700_000 * (at as u64 + 1));
    sample::open_loop(&mut run, 2_000.0);
    run.record.slices.slices.iter_mut().for_each(|slice| slice.responses = 33);
    (run.record.responses, run.record.unfinished) = (3_300, 16_700);
    let found = check(&run).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    let said = "In the last third of the run 2,000/s were due and 330/s came back";
    assert!(found.evidence.starts_with(said), "{found:?}");
    assert!(
        found.evidence.ends_with("16,700 requests had no response when the run ended."),
        "{found:?}"
    );
    assert!(found.fix.contains("--rate"), "{found:?}");
}

/// Each response takes longer than the one before, and all that is due comes back.
#[test]
fn an_open_loop_that_is_carried_later_and_later_is_suspect() {
    let carried = |ns: &dyn Fn(usize) -> u64| {
        let mut run = with_times(ns);
        sample::open_loop(&mut run, 2_000.0);
        run.record.slices.slices.iter_mut().for_each(|slice| slice.responses = 200);
        check(&run)
    };
    let found = carried(&|at| 1_000_000 + 200_000 * at as u64).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    let said = "at the same requested rate: the median per 100 ms was typically 4.20 ms in its first third and 17.6 ms";
    assert!(found.evidence.contains(said), "{found:?}");
    assert!(found.cause.contains("does not show") && found.fix.contains("--rate"), "{found:?}");
    assert_eq!(carried(&|at| 1_000_000 + 8_000 * at as u64), None);
}

/// What waits for a connection is told with what it waits for (D30); where responses themselves took longer, it is not why.
#[test]
fn late_sending_explains_times_that_grew_by_waiting_alone() {
    let is_by_late_sending = |service_ns: u64| {
        let mut run = with_times(|at| 1_000_000 + 200_000 * at as u64);
        sample::open_loop(&mut run, 2_000.0);
        run.record.slices.slices.iter_mut().for_each(|slice| slice.responses = 200);
        run.record.answered.total.clear();
        (0..2_000).for_each(|_| run.record.answered.total.record(service_ns));
        let found = check(&run).unwrap();
        !found.not_explained_by.contains(&D30)
    };
    assert!(is_by_late_sending(1_000_000));
    assert!(!is_by_late_sending(12_000_000));
}

#[test]
fn one_that_is_slower_from_a_moment_on_is_suspect() {
    let from = |slice: usize| {
        move |at: usize| {
            if at >= slice { 4_000_000 } else { 1_000_000 + at as u64 % 3 * 50_000 }
        }
    };
    let found = check(&with_times(from(76))).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    let said = "slower from 7.60 s on, until the run ended at 10.0 s: the median per 100 ms was typically 1.05 ms before and \
                4.00 ms from then on";
    assert!(found.evidence.contains(said), "{found:?}");
    // A disturbance of the last second, and one that was over before the end.
    assert_eq!(check(&with_times(from(90))), None);
    let over = |at: usize| if (60..80).contains(&at) { 4_000_000 } else { 1_000_000 };
    assert_eq!(check(&with_times(over)), None);
}

#[test]
fn noise_single_stalls_and_a_little_more_are_not_told() {
    assert_eq!(check(&sample::run()), None);
    // Ten times as slow now and then, in the last third more often.
    let stalls = |at: usize| {
        if at.is_multiple_of(9) || at > 80 && at.is_multiple_of(2) { 10_000_000 } else { 1_000_000 }
    };
    assert_eq!(check(&with_times(stalls)), None);
    assert_eq!(check(&with_times(|at| 1_000_000 + 8_000 * at as u64)), None);
    // Faster and faster.
    assert_eq!(check(&with_times(|at| 5_000_000 - 40_000 * at as u64)), None);
    // Alternating, with half of the last as fast as the first.
    let mixed = |at: usize| if at > 66 && at.is_multiple_of(2) { 9_000_000 } else { 1_000_000 };
    assert_eq!(check(&with_times(mixed)), None);
}

#[test]
fn a_third_of_few_slices_or_responses_says_nothing() {
    let mut run = with_times(|at| 1_000_000 + 40_000 * at as u64);
    run.record.slices.slices.truncate(20);
    run.elapsed_ns = 2_000_000_000;
    assert!(thirds(&run).is_none());
    let slow = with_times(|at| if at > 66 { 12_000_000 } else { 1_000_000 });
    assert!(thirds(&slow).is_none());
}

#[test]
fn where_the_load_grows_by_itself_nothing_is_said() {
    let slower = || with_times(|at| 1_000_000 + 40_000 * at as u64);
    assert!(thirds(&slower()).is_some());
    let mut run = slower();
    sample::open_loop(&mut run, 2_000.0);
    assert!(thirds(&run).is_some());
    if let Load::Open { rate, .. } = &mut run.plan.load {
        rate.to_per_s = 4_000.0;
    }
    assert!(thirds(&run).is_none());
    let mut run = slower();
    run.plan.connections.ramp_ns = 1_000_000;
    assert!(thirds(&run).is_none());
    let mut run = slower();
    run.record.groups = vec![GroupRecord::new("a", false), GroupRecord::new("b", false)];
    assert!(thirds(&run).is_none());
}
