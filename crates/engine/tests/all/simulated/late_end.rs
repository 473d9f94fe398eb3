//! Open loop: a worker that has no processor when the run ends. Arrivals that were due until then count, sent or not.

use ablaze_model::Plan;
use ablaze_model::plan::{Arrivals, Load, RateProfile};

use crate::simulated::support::{
    HELLO, MS, S, Script, check_sums, clock_before, closing_each, plan_for, run, with_timeout,
    with_workers,
};

/// 400 arrivals in 2 s.
fn asked(connections: u32) -> Plan {
    let mut plan = plan_for(2 * S, connections);
    plan.load = Load::Open {
        rate: RateProfile::constant(200.0),
        arrivals: Arrivals::Constant,
        connections,
        bounded: true,
    };
    plan
}

/// Answers after `delay_ns`; what comes later than `from_ns` finds the client without a processor for `held_ns`.
fn holding(response: &[u8], delay_ns: u64, from_ns: u64, held_ns: u64) -> Script {
    Script::new(&[response], move |moment| {
        if moment.far.now() >= ablaze_net::sim::START_NS + from_ns {
            moment.far.hold_client(held_ns);
        }
        moment.send(delay_ns, 0);
    })
}

#[test]
fn no_arrival_is_lost_at_the_end() {
    for (name, plan) in [
        ("kept", asked(10)),
        ("the clock first", clock_before(asked(10))),
        ("one connection", asked(1)),
        ("two workers", with_workers(asked(10), 2)),
        ("short timeout", with_timeout(asked(10), 30 * MS)),
        ("closing each", closing_each(asked(10))),
    ] {
        for from_ms in [1_500, 1_995] {
            for (held_ms, delay_ns) in [(3, MS), (20, MS), (900, 30 * MS)] {
                let peer = holding(HELLO, delay_ns, from_ms * MS, held_ms * MS);
                run(&plan, &peer, |run| {
                    check_sums(run);
                    let record = &run.record;
                    let all = record.finished() + record.unfinished;
                    assert_eq!(all, 400, "{name}, held for {held_ms} ms from {from_ms} ms on");
                    assert_eq!(run.elapsed_ns, 2 * S, "{name}");
                });
            }
        }
    }
}

/// The window is over before anything has waited as long as the timeout: what a worker finds overdue when it gets its
/// processor back was not late while it was measured.
#[test]
fn what_becomes_overdue_behind_the_window_is_no_failure() {
    for workers in [1, 2] {
        let plan = with_workers(with_timeout(asked(10), 100 * MS), workers);
        // The request of 1.950 s is the last that leaves before the end; those from 1.955 to 1.995 s are taken behind it.
        run(&plan, &holding(HELLO, 20 * MS, 1_950 * MS, 900 * MS), |run| {
            check_sums(run);
            let record = &run.record;
            assert_eq!(record.failures_total(), 0);
            assert_eq!(record.responses + record.unfinished, 400);
            if workers == 1 {
                assert_eq!(record.never_sent, 9);
            }
        });
    }
}
