//! An open loop whose rate is changed while the run goes on: from that moment on the arrivals follow the new rate, and all
//! workers together take exactly as many as it gives.

use ablaze_engine::{Control, run_simulated};
use ablaze_model::Run;
use ablaze_model::plan::{Arrivals, Load, Plan, RateProfile};
use ablaze_model::rate_change::RateChange;

use crate::simulated::support::{
    HELLO, Log, MS, S, Script, Seen, US, check_sums, plan_for, with_workers,
};

fn open(duration_ns: u64, per_s: f64, arrivals: Arrivals) -> Plan {
    let mut plan = plan_for(duration_ns, 60);
    let rate = RateProfile::constant(per_s);
    plan.load = Load::Open { rate, arrivals, connections: 60, bounded: true };
    plan
}

/// Runs it with these changes: from when on, and how many times the rate.
fn run(plan: Plan, peer: Script, changes: &[(u64, f64)]) -> Run {
    let control = Control::new();
    for &(at_ns, times_asked) in changes {
        assert!(control.change_rate(RateChange { at_ns, times_asked }));
    }
    let run = run_simulated(plan, &[peer], &control).unwrap();
    check_sums(&run);
    run
}

/// Twice the rate, a pause, half the rate.
const CHANGES: [(u64, f64); 3] = [(S, 2.0), (2 * S, 0.0), (3 * S, 0.5)];

#[test]
fn arrivals_follow_the_rate_from_the_moment_of_its_change() {
    let log = Log::default();
    let peer = Script::always(HELLO, 100 * US).logged(&log);
    run(open(4 * S, 1_000.0, Arrivals::Constant), peer, &CHANGES);
    let mut times: Vec<u64> = log
        .take()
        .into_iter()
        .filter_map(|seen| if let Seen::Request(_, at, _) = seen { Some(at) } else { None })
        .collect();
    times.sort_unstable();
    let first = times[0];
    let in_second = |second: u64| {
        let range = first + second * S..first + (second + 1) * S;
        times.iter().filter(|at| range.contains(at)).count()
    };
    assert_eq!([0, 1, 2, 3].map(in_second), [1000, 2000, 0, 500]);
    // Evenly, to the nanosecond, on both sides of a change.
    let gaps = |from: usize, to: usize| times[from..to].windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps(0, 1001).all(|gap| gap == MS));
    assert!(gaps(1000, 3000).all(|gap| gap == 500 * US));
    assert!(gaps(3000, 3500).all(|gap| gap == 2 * MS));
}

#[test]
fn all_workers_together_take_what_the_rates_give() {
    for workers in [1, 2, 3, 7] {
        let plan = with_workers(open(4 * S, 1_000.0, Arrivals::Constant), workers);
        let run = run(plan, Script::always(HELLO, 100 * US), &CHANGES);
        assert_eq!(run.record.finished() + run.record.unfinished, 3_500, "{workers} workers");
        assert_eq!(run.record.answered.intended.as_ref().unwrap().lag.max_ns(), Some(0));
        assert_eq!(run.requested_per_s(), Some(875.0));
        assert_eq!(run.rate_changes.len(), 3);
    }
}

#[test]
fn arrivals_at_random_follow_it_too() {
    let plan = with_workers(open(40 * S, 1_000.0, Arrivals::Poisson), 2);
    let run = run(plan, Script::always(HELLO, 100 * US), &[(10 * S, 2.0), (20 * S, 0.0)]);
    // Mean 30,000, standard deviation 173.
    let arrived = (run.record.finished() + run.record.unfinished) as f64;
    assert!((arrived - 30_000.0).abs() < 4.0 * 173.2, "{arrived}");
}

#[test]
fn a_limited_number_takes_longer_by_the_pause() {
    let mut plan = with_workers(open(S, 100.0, Arrivals::Constant), 2);
    (plan.limits.duration_ns, plan.limits.requests) = (None, Some(100));
    let run = run(plan, Script::always(HELLO, MS), &[(S / 2, 0.0), (3 * S / 2, 1.0)]);
    assert_eq!((run.record.responses, run.elapsed_ns), (100, 2 * S));
}

#[test]
fn a_change_behind_the_end_is_none_and_one_before_the_last_is_refused() {
    let plan = open(S, 100.0, Arrivals::Constant);
    let run = run(plan, Script::always(HELLO, MS), &[(5 * S, 3.0)]);
    assert_eq!((run.record.responses, run.rate_changes.len()), (100, 0));
    let control = Control::new();
    let change = |at_ns, times_asked| control.change_rate(RateChange { at_ns, times_asked });
    assert!(change(S, 2.0));
    assert!(!change(S, 3.0) && !change(S / 2, 3.0) && !change(2 * S, f64::NAN));
    assert_eq!(control.rate_changes().len(), 1);
}
