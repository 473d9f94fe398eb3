//! Interim responses (100, 103) come before the response and are none themselves.

use ablaze_net::sim::{Misbehave, Pieces};

use crate::simulated::support::{HELLO, MS, Script, check_sums, plan, run};

fn with_interim() -> Vec<u8> {
    let mut response = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
    response.extend(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
    response.extend(HELLO);
    response
}

#[test]
fn split_everywhere() {
    let response = with_interim();
    for at in 1..response.len() as u32 {
        let peer = Script::always(&response, MS).cut(Pieces::SplitAt(at), 1_000);
        run(&plan(4, 1), &peer, |run| {
            check_sums(run);
            assert_eq!(
                (run.record.responses, run.record.failures_total()),
                (4, 0),
                "split at {at}"
            );
            assert_eq!(run.record.statuses[&200], 4);
            assert_eq!(run.record.body_bytes, 20);
            assert_eq!(run.record.first_head, &HELLO[..HELLO.len() - 5], "split at {at}");
        });
    }
    run(&plan(4, 1), &Script::always(&response, MS).cut(Pieces::Of(1), 10), |run| {
        assert_eq!(run.record.responses, 4);
    });
}

#[test]
fn a_flood_of_them_costs_no_stack() {
    // 256 KiB are read at once behind a chunked body.
    let mut responses = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    responses.extend(b"9000\r\n");
    responses.resize(responses.len() + 0x9000, b'x');
    responses.extend(b"\r\n0\r\n\r\n");
    responses.extend(b"HTTP/1.1 100\r\n\r\n".repeat(200_000));
    responses.extend(HELLO);
    let peer = Script::new(&[&responses], |moment| {
        if moment.request == 0 {
            moment.send(MS, 0);
        }
    });
    run(&crate::simulated::support::pipelined(plan(2, 1), 2), &peer, |run| {
        assert_eq!(run.record.responses, 2);
    });
}
