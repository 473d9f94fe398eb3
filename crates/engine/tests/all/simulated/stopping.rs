//! A run that is asked to stop keeps what it measured.

use std::sync::Arc;

use ablaze_engine::{Control, run_simulated};
use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_model::run::Ended;

use crate::simulated::support::{HELLO, MS, S, Script, check_sums, plan, plan_for};

#[test]
fn in_the_middle() {
    let control = Arc::new(Control::new());
    let stopper = Arc::clone(&control);
    // The 500th request presses Ctrl-C.
    let counter = std::sync::atomic::AtomicU64::new(0);
    let peer = Script::new(&[HELLO], move |moment| {
        if counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 500 {
            stopper.stop();
        }
        moment.send(MS, 0);
    });
    let run = run_simulated(plan_for(3_600 * S, 10), &[peer], &control).unwrap();
    check_sums(&run);
    assert_eq!(run.ended, Ended::Interrupted);
    assert_eq!(run.record.responses, 500);
    assert_eq!(run.record.unfinished, 10);
    assert_eq!(run.elapsed_ns, 50 * MS);
}

#[test]
fn before_the_load_began() {
    let control = Control::new();
    control.stop();
    let open = Load::Open {
        rate: RateProfile::constant(1000.0),
        arrivals: Arrivals::Constant,
        connections: 10,
        bounded: true,
    };
    let closed = plan(100, 10).load;
    for (warmup_ns, load) in [(0, &closed), (S, &closed), (0, &open), (S, &open)] {
        let mut plan = plan_for(S, 10);
        plan.limits.warmup_ns = warmup_ns;
        plan.load = *load;
        let run = run_simulated(plan, &[Script::always(HELLO, MS)], &control).unwrap();
        assert_eq!(run.ended, Ended::Interrupted);
        assert_eq!((run.record.finished(), run.record.unfinished), (0, 0));
        assert_eq!(run.record.sent_bytes, 0);
    }
}
