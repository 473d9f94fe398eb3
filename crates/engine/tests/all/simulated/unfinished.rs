//! What is in flight when the time is over is neither answered nor failed.

use ablaze_net::sim::{ConnectReply, Silent};

use crate::simulated::support::{
    HELLO, MS, Moment, S, Script, check_sums, pipelined, plan_for, run,
};

#[test]
fn a_hung_server_ends_with_the_duration() {
    for depth in [1, 4] {
        let plan = pipelined(plan_for(2 * S + 7, 3), depth);
        run(&plan, &Silent(ConnectReply::AcceptAfter(MS)), |run| {
            check_sums(run);
            assert_eq!(run.elapsed_ns, 2 * S + 7);
            assert_eq!(run.record.finished(), 0);
            assert_eq!(run.record.unfinished, 3 * u64::from(depth));
            assert_eq!(run.record.unfinished_oldest_ns, 2 * S + 7);
            assert_eq!(run.ended, ablaze_model::run::Ended::Complete);
        });
    }
}

#[test]
fn its_age_counts_from_its_own_beginning() {
    // Responses every 30 ms; at 100 ms the fourth has been under way for 10 ms.
    run(&plan_for(100 * MS, 2), &Script::always(HELLO, 30 * MS), |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.unfinished), (6, 2));
        assert_eq!(run.record.unfinished_oldest_ns, 10 * MS);
    });
}

#[test]
fn responses_that_stopped_are_told_from_those_that_go_on() {
    // Connection 0 gets no further than half of its body, the others are answered.
    let half = |moment: &mut Moment<'_, '_>| match moment.connection {
        0 => moment.send_part(MS, 0, HELLO.len() - 2),
        _ => moment.send(MS, 0),
    };
    run(&plan_for(2 * S, 3), &Script::new(&[HELLO], half), |run| {
        let stopped = run.record.stopped;
        assert_eq!((stopped.timed_out, stopped.unfinished), (0, 1));
        assert_eq!((stopped.begun, stopped.begun_without_length), (1, 0));
        let longest = stopped.longest.unwrap();
        assert_eq!(longest.silent_ns, 2 * S - MS);
        assert_eq!((longest.body_bytes, longest.missing_bytes), (3, Some(2)));
    });
    // Within the head too; of a body without a length nobody knows what is missing.
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n";
    for (response, body_bytes) in [(&HELLO[..17], 0), (&chunked[..], 2)] {
        run(&plan_for(2 * S, 1), &Script::always(response, MS), |run| {
            let longest = run.record.stopped.longest.unwrap();
            assert_eq!((longest.body_bytes, longest.missing_bytes), (body_bytes, None));
        });
    }
    // Whoever never began, or went on until a moment ago, did not stop in the middle.
    let slowly = Script::new(&[&HELLO[..40], &HELLO[40..41]], |moment| {
        moment.send(MS, 0);
        moment.send(1500 * MS, 1);
    });
    run(&plan_for(2 * S, 2), &slowly, |run| {
        assert_eq!((run.record.unfinished, run.record.stopped.total()), (2, 0));
    });
    run(&plan_for(2 * S, 2), &Silent(ConnectReply::AcceptAfter(MS)), |run| {
        assert_eq!((run.record.unfinished, run.record.stopped.total()), (2, 0));
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
