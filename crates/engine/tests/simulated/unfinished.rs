//! What is in flight when the time is over is neither answered nor failed.

use ablaze_net::sim::{Answer, Silent};

use crate::support::{HELLO, MS, S, Script, check_sums, pipelined, plan_for, run};

#[test]
fn a_hung_server_ends_with_the_duration() {
    for depth in [1, 4] {
        let plan = pipelined(plan_for(2 * S + 7, 3), depth);
        run(&plan, &Silent(Answer::AcceptAfter(MS)), |run| {
            check_sums(run);
            assert_eq!(run.elapsed_ns, 2 * S + 7);
            assert_eq!(run.record.finished(), 0);
            assert_eq!(run.record.unfinished, 3 * u64::from(depth));
            assert_eq!(run.record.unfinished_oldest_ns, 2 * S + 7);
            assert_eq!(run.ended, ablaze_engine::run::Ended::Complete);
        });
    }
}

#[test]
fn its_age_counts_from_its_own_beginning() {
    // Answers every 30 ms; at 100 ms the fourth has been under way for 10 ms.
    run(&plan_for(100 * MS, 2), &Script::always(HELLO, 30 * MS), |run| {
        check_sums(run);
        assert_eq!((run.record.answers, run.record.unfinished), (6, 2));
        assert_eq!(run.record.unfinished_oldest_ns, 10 * MS);
    });
}

#[test]
fn bytes_of_unfinished_bodies_are_bytes_of_bodies() {
    let peer = Script::new(&[HELLO], |moment| moment.send_part(MS, 0, HELLO.len() - 2));
    run(&plan_for(100 * MS, 2), &peer, |run| {
        assert_eq!(run.record.unfinished, 2);
        assert_eq!(run.record.received_bytes, 2 * (HELLO.len() as u64 - 2));
        assert_eq!(run.record.body_bytes, 2 * 3);
    });
}
