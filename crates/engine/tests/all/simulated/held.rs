//! Runs whose start is told from elsewhere: nothing is measured before, the warm-up goes on until then, and the clock starts
//! at that very moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ablaze_engine::{Control, run_simulated};
use ablaze_model::run::Ended;
use ablaze_model::{Plan, Run};
use ablaze_net::sim::START_NS;

use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::Http2Script;
use crate::simulated::support::{HELLO, Log, MS, S, Script, Seen, check_sums, plan, plan_for};

/// One that starts at this moment, told when all is ready; how often it was told that, and when requests came.
fn held(plan: &Plan, at_ns: u64) -> (Run, u32, Vec<u64>) {
    let (log, told) = (Log::default(), Arc::new(AtomicU32::new(0)));
    let control = Arc::new(Control::new());
    let (handle, count) = (Arc::clone(&control), Arc::clone(&told));
    control.hold(move || {
        count.fetch_add(1, Ordering::Relaxed);
        handle.start_at(START_NS + at_ns);
    });
    let peers = [Script::always(HELLO, MS).logged(&log)];
    let run = run_simulated(plan.clone(), &peers, &control).unwrap();
    let times = log.take().into_iter().filter_map(|seen| match seen {
        Seen::Request(_, at_ns, _) => Some(at_ns - START_NS),
        Seen::Closed(..) => None,
    });
    (run, told.load(Ordering::Relaxed), times.collect())
}

#[test]
fn connections_stand_and_nothing_is_sent_before_the_start() {
    let (run, told, times) = held(&plan_for(S, 3), 5 * S);
    check_sums(&run);
    assert_eq!((told, run.elapsed_ns, run.ended), (1, S, Ended::Complete));
    assert_eq!(times.first(), Some(&(5 * S)));
    // 1 ms for each, over three connections: the last ones end with the window.
    assert_eq!(run.record.responses, 3_000);
    assert_eq!(run.record.connections_opened, 3);
}

/// The server's SETTINGS come while the start is waited for.
#[test]
fn over_http2_nothing_is_sent_before_the_start_either() {
    for plan in [plan(100, 3), plan_for(S, 3)] {
        let control = Arc::new(Control::new());
        let handle = Arc::clone(&control);
        control.hold(move || handle.start_at(START_NS + 5 * S));
        let peers = [Http2Script::always(MS)];
        let run = run_simulated(over_http2(plan, 1), &peers, &control).unwrap();
        check_sums(&run);
        let expected = run.plan.limits.requests.unwrap_or(3_000);
        assert!(
            (expected - 3..=expected).contains(&run.record.responses),
            "{}",
            run.record.responses
        );
        assert_eq!(run.record.connections_opened, 3);
    }
}

#[test]
fn a_warm_up_goes_on_until_the_start_and_is_not_measured() {
    let mut plan = plan_for(S, 2);
    plan.limits.warmup_ns = 100 * MS;
    let (run, told, times) = held(&plan, 5 * S);
    check_sums(&run);
    assert_eq!((told, run.elapsed_ns), (1, S));
    assert!(times[0] < 50 * MS, "it warms up at once: {}", times[0]);
    let last_before = times.iter().filter(|time| **time < 5 * S).max().unwrap();
    assert!(*last_before > 5 * S - 10 * MS, "and until the start: {last_before}");
    let of_window = run.record.responses;
    assert!((1_996..=2_000).contains(&of_window), "{of_window}");
}

#[test]
fn a_moment_that_has_passed_is_now_and_a_stop_ends_the_wait() {
    let (run, told, _) = held(&plan_for(S, 1), 0);
    assert_eq!((told, run.elapsed_ns), (1, S));
    let control = Arc::new(Control::new());
    let handle = Arc::clone(&control);
    control.hold(move || handle.stop());
    let run = run_simulated(plan_for(S, 1), &[Script::always(HELLO, MS)], &control).unwrap();
    assert_eq!((run.record.finished(), run.ended), (0, Ended::Interrupted));
}
