//! Workers that panic: what they and the others had recorded is kept, the fault is named, and nobody waits
//! for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use ablaze_engine::{Control, run_simulated, run_simulated_at_once};
use ablaze_model::run::Ended;
use ablaze_model::{Plan, Run};
use ablaze_net::sim::ConnectReply;

use crate::simulated::support::{HELLO, MS, S, Script, plan_for, with_workers};

/// Over both kinds of driver; fails if a run does not come to an end.
fn runs(plan: &Plan, peer: impl Fn() -> Script, control: impl Fn() -> Control) -> [Run; 2] {
    let (sender, ended) = mpsc::channel();
    let (first, second, plan) = (peer(), peer(), plan.clone());
    let (control, other) = (control(), control());
    std::thread::spawn(move || {
        let batched = run_simulated(plan.clone(), &[first], &control);
        let at_once = run_simulated_at_once(plan, &[second], &other);
        sender.send([batched, at_once]).unwrap();
    });
    let runs = ended.recv_timeout(Duration::from_secs(60)).expect("somebody waits for a worker");
    runs.map(Result::unwrap)
}

#[test]
fn what_a_worker_recorded_before_it_panicked_is_kept() {
    let peer = || {
        let seen = AtomicU64::new(0);
        Script::new(&[HELLO], move |moment| {
            assert!(seen.fetch_add(1, Ordering::Relaxed) < 500, "the far end of request 500");
            moment.send(MS, 0);
        })
    };
    for run in runs(&plan_for(3_600 * S, 10), peer, Control::new) {
        assert_eq!(run.ended, Ended::Failed);
        let [fault] = &run.record.faults[..] else { panic!("{:?}", run.record.faults) };
        assert_eq!((fault.worker, fault.message.as_str()), (0, "the far end of request 500"));
        assert!(fault.panicked_at.as_ref().unwrap().contains("faults.rs:"), "{fault:?}");
        assert_eq!(fault.after_ns, Some(run.elapsed_ns));
        // Ten at a time, each after a millisecond; the round in which it panicked may be handled in part.
        let (responses, unfinished) = (run.record.responses, run.record.unfinished);
        assert!((490..=500).contains(&responses), "{responses}");
        assert!((1..=10).contains(&unfinished), "{unfinished}");
        assert!((49 * MS..=50 * MS).contains(&run.elapsed_ns), "{}", run.elapsed_ns);
        assert_eq!(run.record.answered.total.count(), responses);
        assert_eq!(run.record.statuses.values().sum::<u64>(), responses);
    }
}

#[test]
fn the_others_are_stopped_and_keep_what_they_recorded() {
    let control = || {
        let control = Control::new();
        control.have_panic(1);
        control
    };
    let peer = || Script::always(HELLO, MS);
    for run in runs(&with_workers(plan_for(3_600 * S, 6), 3), peer, control) {
        assert_eq!(run.ended, Ended::Failed);
        let workers: Vec<u32> = run.record.faults.iter().map(|fault| fault.worker).collect();
        assert_eq!(workers, [1]);
        assert_eq!(run.workers.len(), 3);
        // The first slice of the one that panicked: two connections for 100 ms.
        assert!(run.record.responses >= 200, "{}", run.record.responses);
        assert_eq!(run.record.answered.total.count(), run.record.responses);
    }
}

#[test]
fn nobody_waits_at_the_start_for_a_worker_that_panicked_while_connecting() {
    let peer = || {
        let opened = AtomicU64::new(0);
        Script::always(HELLO, MS).connecting(move |_, _| {
            assert!(opened.fetch_add(1, Ordering::Relaxed) != 3, "the fourth connection");
            ConnectReply::AcceptAfter(0)
        })
    };
    for run in runs(&with_workers(plan_for(3_600 * S, 8), 2), peer, Control::new) {
        assert_eq!(run.ended, Ended::Failed);
        let [fault] = &run.record.faults[..] else { panic!("{:?}", run.record.faults) };
        assert_eq!((fault.message.as_str(), fault.after_ns), ("the fourth connection", None));
    }
}

#[test]
fn what_a_warm_up_counted_is_not_measured_by_a_panic() {
    let peer = || {
        let seen = AtomicU64::new(0);
        Script::new(&[HELLO], move |moment| {
            assert!(seen.fetch_add(1, Ordering::Relaxed) < 50, "warming up");
            moment.send(MS, 0);
        })
    };
    let mut plan = plan_for(S, 10);
    plan.limits.warmup_ns = S;
    for run in runs(&plan, peer, Control::new) {
        assert_eq!((run.ended, run.record.responses, run.elapsed_ns), (Ended::Failed, 0, 0));
        assert_eq!(run.record.faults[0].after_ns, None);
    }
}
