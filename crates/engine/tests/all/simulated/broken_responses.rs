//! Responses that break off or are none: each kind of failure under its own name.

use ablaze_model::FailureKind;
use ablaze_model::record::MalformedBy;

use crate::simulated::support::{HELLO, MS, Script, check_sums, plan, run};

/// All ten requests fail in this way and nothing else happens.
fn all_fail(peer: &Script, kind: FailureKind) {
    run(&plan(10, 2), peer, |run| {
        check_sums(run);
        assert_eq!(run.record.failures_of(kind), 10, "{:?}", run.record.failures);
        assert_eq!(run.record.finished(), 10);
        assert_eq!(run.record.first_failure.unwrap().kind, kind);
    });
}

#[test]
fn closed_within_head_or_body() {
    for len in 1..HELLO.len() {
        let peer = Script::new(&[HELLO], move |moment| {
            moment.send_part(MS, 0, len);
            moment.far.close_after(MS);
        });
        let within_head = len < HELLO.len() - b"hello".len();
        all_fail(&peer, if within_head { FailureKind::ShortHead } else { FailureKind::ShortBody });
    }
}

#[test]
fn reset_within_head_or_body() {
    for len in [1, 17, HELLO.len() - 1] {
        let peer = Script::new(&[HELLO], move |moment| {
            moment.send_part(MS, 0, len);
            moment.far.reset_after(2 * MS);
        });
        all_fail(&peer, FailureKind::Reset);
    }
}

#[test]
fn no_http() {
    for response in [
        &b"SSH-2.0-OpenSSH_9.6\r\n"[..],
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ] {
        all_fail(&Script::always(response, MS), FailureKind::Malformed);
    }
}

#[test]
fn what_came_instead_of_a_response_is_kept_in_part() {
    let kept = |response: &[u8], kept: &[u8]| {
        run(&plan(10, 2), &Script::always(response, MS), |run| {
            assert_eq!(run.record.first_malformed, kept);
        });
    };
    kept(b"SSH-2.0-OpenSSH_9.6\r\n", b"SSH-2.0-OpenSSH_9.6\r\n");
    let long = [b'x'; 2000];
    kept(&long, &long[..256]);
    kept(HELLO, b"");
}

#[test]
fn a_head_without_end() {
    let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
    head.extend(b"X-Filler: 0123456789\r\n".repeat(100_000));
    all_fail(&Script::always(&head, MS), FailureKind::TooLarge);
    // The bytes kept are bounded by the limit, whatever comes.
    run(&plan(10, 2), &Script::always(&head, MS), |run| {
        assert!(run.record.received_bytes < 10 * 64 * 1024, "{}", run.record.received_bytes);
    });
}

#[test]
fn a_server_that_speaks_before_it_is_asked() {
    // It greets as soon as the connection stands, with the clock before connecting, so that the
    // greeting meets requests that are only just leaving.
    let peer = Script::new(&[b"220 mail.example ESMTP\r\n"], |moment| moment.send(0, 0));
    for depth in [1, 4] {
        let plan = crate::simulated::support::pipelined(
            crate::simulated::support::clock_before(plan(10, 2)),
            depth,
        );
        run(&plan, &peer, |run| {
            check_sums(run);
            assert_eq!(run.record.finished(), 10);
            assert_eq!(run.record.responses, 0);
        });
    }
}

/// How the first began says nothing of the others.
#[test]
fn what_each_malformed_response_is_is_counted() {
    let peer = Script::new(
        &[
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            b"220 mail.example ESMTP\r\n",
        ],
        |moment| {
            let which = [0, 1, 1, 1, 2, 3, 3, 1, 1, 1][moment.connection as usize % 10];
            moment.send(MS, which);
        },
    );
    run(&plan(10, 1), &peer, |run| {
        let record = &run.record;
        assert_eq!(record.failures_of(FailureKind::Malformed), 10);
        let counted: Vec<_> = record.malformed.met().collect();
        use MalformedBy::{Chunks, Head, NotHttp1, Request};
        assert_eq!(counted, [(NotHttp1, 2), (Request, 1), (Head, 1), (Chunks, 6)]);
    });
}
