//! Watching for events before sleeping: where it pays, and what it costs where it does not.

use ablaze_model::Run;
use ablaze_model::plan::Spin;

use crate::simulated::support::{HELLO, MS, Script, US, plan, run};

/// One connection on a machine with a processor to spare, and responses after so long, by their number.
fn watched_ns(requests: u64, response_ns: fn(u64) -> u64, check: impl Fn(&Run, u64)) {
    let mut plan = plan(requests, 1);
    plan.workers.spin = Spin::Auto;
    plan.workers.cpus_to_spare = true;
    let peer = Script::new(&[HELLO], move |moment| {
        let response_ns = response_ns(moment.request);
        moment.send(response_ns, 0);
    });
    run(&plan, &peer, |run| check(run, run.workers.iter().map(|worker| worker.spun_ns).sum()));
}

#[test]
fn fast_responses_are_watched_for_all_the_time() {
    watched_ns(5_000, |_| 30 * US, |run, spun_ns| assert_eq!(spun_ns, run.elapsed_ns));
}

#[test]
fn slow_responses_cost_one_percent_of_watching() {
    for response_ns in [|_| 101 * US, |_| 130 * US, |_| MS, |_| 50 * MS] {
        watched_ns(2_000, response_ns, |run, spun_ns| {
            // Three times at the beginning, then once in ten milliseconds.
            let most_ns = 3 * 100 * US + run.elapsed_ns / 100 + 100 * US;
            assert!(spun_ns <= most_ns, "{spun_ns} of {}", run.elapsed_ns);
        });
    }
}

/// The rate must not depend on what came before.
#[test]
fn watching_begins_again_when_responses_become_fast() {
    watched_ns(
        21_000,
        |request| if request < 1_000 { 2 * MS } else { 30 * US },
        |run, spun_ns| {
            let fast_ns = 20_000 * 30 * US;
            assert!(spun_ns >= fast_ns - 15 * MS, "{spun_ns} of {fast_ns}");
            assert!(spun_ns <= fast_ns + run.elapsed_ns / 50, "{spun_ns} of {fast_ns}");
        },
    );
}

/// One in two in time is not enough to watch for the others in vain.
#[test]
fn half_of_the_responses_in_time_do_not_pay() {
    watched_ns(
        4_000,
        |request| if request.is_multiple_of(2) { 30 * US } else { 3 * MS },
        |run, spun_ns| assert!(spun_ns < run.elapsed_ns / 25, "{spun_ns} of {}", run.elapsed_ns),
    );
}
