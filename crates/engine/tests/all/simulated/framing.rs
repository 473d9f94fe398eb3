//! How the end of a response is found: none, length, chunked, or the server's close.

use crate::simulated::support::{
    MS, Script, check_sums, clock_before, closing_each, get, pipelined, plan, run,
};

#[test]
fn responses_without_body() {
    for response in [
        &b"HTTP/1.1 204 No Content\r\n\r\n"[..],
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ] {
        for depth in [1, 3] {
            run(&pipelined(plan(30, 2), depth), &Script::always(response, MS), |run| {
                check_sums(run);
                assert_eq!((run.record.responses, run.record.body_bytes), (30, 0));
                assert_eq!(run.record.connections_opened, 2);
            });
        }
    }
}

#[test]
fn head_requests_beside_get_requests() {
    // The same head means a body for GET and none for HEAD.
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    let peer = Script::new(&[head, crate::simulated::support::HELLO], |moment| {
        moment.send(MS, usize::from(moment.head.starts_with(b"GET")));
    });
    let mut plan = pipelined(plan(40, 2), 3);
    let mut head_request = get("/");
    head_request.bytes.splice(..3, *b"HEAD");
    head_request.head_bytes += 1;
    head_request.response_has_no_body = true;
    plan.requests.templates.push(head_request);
    plan.requests.order = vec![0, 1];
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.body_bytes), (40, 100));
        assert_eq!((run.record.body_lengths[&0], run.record.body_lengths[&5]), (20, 20));
    });
}

#[test]
fn until_the_server_closes() {
    let response = b"HTTP/1.0 200 OK\r\n\r\nhello, and good bye";
    let peer = Script::new(&[response], |moment| {
        moment.send(MS, 0);
        moment.far.fin_after(3 * MS);
    });
    for plan in [plan(20, 2), closing_each(plan(20, 2)), clock_before(plan(20, 2))] {
        run(&plan, &peer, |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.body_bytes), (20, 19 * 20));
            assert_eq!(run.record.reused, 0);
            assert_eq!(run.record.connections_opened, 20);
            assert_eq!(run.record.answered.wait.max_ns(), Some(MS));
            assert_eq!(run.record.answered.receive.max_ns(), Some(2 * MS));
        });
    }
}
