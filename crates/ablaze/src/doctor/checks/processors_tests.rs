//! The checks of the processors on made-up facts.

use ablaze_model::monitor::Throttled;
use ablaze_monitor::preflight::{Frequency, IdleState, IdleStates, Lateness};

use super::*;
use crate::doctor::check::State;
use crate::doctor::sample::quiet;

#[test]
fn one_cpu_is_shared_by_all() {
    let facts = &mut quiet();
    assert_eq!(cpus(facts).unwrap().state, State::Ok);
    facts.preflight.environment.cpus_allowed = Some(vec![3]);
    let check = cpus(facts).unwrap();
    assert_eq!((check.state, check.command.as_deref()), (State::Note, Some("taskset -cp 0-7 $$")));
    facts.preflight.environment.cpus_online = Some(1);
    assert_eq!(cpus(facts).unwrap().command, None, "there is no other to use");
    facts.preflight.environment.cpus_allowed = None;
    assert_eq!(cpus(facts).unwrap().state, State::Unknown);
}

#[test]
fn a_quota_below_the_cpus_stops_threads() {
    let facts = &mut quiet();
    for (quota, state) in [
        (None, State::Ok),
        (Some(8.0), State::Ok),
        (Some(2.5), State::Note),
        (Some(0.5), State::Problem),
    ] {
        facts.preflight.environment.cpu_quota = quota;
        assert_eq!(cpu_quota(facts).unwrap().state, state, "{quota:?}");
    }
}

#[test]
fn throttling_now_is_worse_than_before() {
    let facts = &mut quiet();
    assert_eq!(throttling(facts).unwrap().state, State::Ok);
    facts.preflight.throttled = Some(Throttled { periods: 0, of_periods: None, time_ns: 0 });
    assert_eq!(throttling(facts).unwrap().state, State::Ok);
    facts.preflight.throttled =
        Some(Throttled { periods: 7, of_periods: None, time_ns: 90_000_000 });
    let check = throttling(facts).unwrap();
    assert_eq!(check.state, State::Note);
    assert!(check.figure.starts_with("throttled in 7 periods, 90.0 ms in all"), "{check:?}");
    facts.preflight.sample.kernel.throttled =
        Some(Throttled { periods: 1, of_periods: None, time_ns: 1 });
    assert_eq!(throttling(facts).unwrap().state, State::Problem);
}

#[test]
fn powersave_means_two_things() {
    let facts = &mut quiet();
    let mut judged = |governors: &[&str], driver: Option<&str>| {
        facts.preflight.frequency = Frequency {
            governors: governors.iter().map(|name| (*name).to_owned()).collect(),
            driver: driver.map(str::to_owned),
            slowest_khz: Some(800_000),
            fastest_khz: Some(4_200_000),
            turbo: None,
        };
        governor(facts).unwrap()
    };
    assert_eq!(judged(&["performance"], Some("acpi-cpufreq")).state, State::Ok);
    assert_eq!(judged(&["schedutil"], Some("acpi-cpufreq")).state, State::Note);
    assert_eq!(judged(&["powersave"], Some("acpi-cpufreq")).state, State::Problem);
    let check = judged(&["powersave"], Some("intel_pstate"));
    assert_eq!(check.state, State::Note);
    assert_eq!(check.figure, "powersave by intel_pstate, 0.80 GHz now, at most 4.20");
    assert_eq!(judged(&["performance", "powersave"], Some("amd-pstate-epp")).state, State::Note);
    assert_eq!(judged(&[], None).state, State::Unknown);
}

#[test]
fn turbo_is_worth_a_note_with_the_switch_of_the_driver() {
    let facts = &mut quiet();
    assert_eq!(turbo(facts).unwrap().state, State::Ok);
    facts.preflight.frequency.turbo = Some(true);
    facts.preflight.frequency.driver = Some("intel_pstate".to_owned());
    let check = turbo(facts).unwrap();
    assert!(check.state == State::Note && check.command.unwrap().contains("no_turbo"));
    facts.preflight.frequency.turbo = None;
    assert_eq!(turbo(facts).unwrap().state, State::Unknown);
}

#[test]
fn deep_sleep_costs_the_time_to_leave_it() {
    let facts = &mut quiet();
    let states = |exit_us: &[u64]| {
        let state = |exit_us: &u64| IdleState { name: format!("C{exit_us}"), exit_us: *exit_us };
        Some(IdleStates { states: exit_us.iter().map(state).collect() })
    };
    for (idle, state) in [
        (states(&[0, 2]), State::Ok),
        (states(&[0, 2, 133]), State::Note),
        (states(&[]), State::Ok),
        (None, State::Unknown),
    ] {
        facts.preflight.idle_states = idle;
        assert_eq!(idle_states(facts).unwrap().state, state);
    }
}

#[test]
fn late_wake_ups_are_told_by_their_p99() {
    let facts = &mut quiet();
    let late = |p99_ns| Some(Lateness { sleeps: 190, p50_ns: 60_000, p99_ns, max_ns: p99_ns });
    for (lateness, state) in [
        (late(120_000), State::Ok),
        (late(300_000), State::Note),
        (late(4_000_000), State::Problem),
        (None, State::Unknown),
    ] {
        facts.preflight.sample.lateness = lateness;
        assert_eq!(wake_ups(facts).unwrap().state, state, "{lateness:?}");
    }
}
