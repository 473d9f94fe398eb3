//! Interim responses (100, 103) come before the response and are none themselves.

use ablaze_net::sim::{Misbehave, Pieces};

use crate::simulated::http2::over_http2;
use crate::simulated::http2_peer::{Http2Script, frame};
use crate::simulated::support::{
    HELLO, MS, S, Script, check_sums, plan, plan_for, run, with_timeout,
};

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

/// One of three connections, or streams, gets nothing else: it has no part of a final response.
#[test]
fn who_got_nothing_else_waits_at_the_end() {
    let interim = b"HTTP/1.1 103 Early Hints\r\n\r\n";
    let cut = [&interim[..], &interim[..20]].concat();
    for first in [interim.to_vec(), cut] {
        let peer = Script::new(&[&first, HELLO], |moment| {
            moment.send(MS, usize::from(moment.connection > 0));
        });
        run(&plan_for(3 * S, 3), &peer, waits_at_the_end);
    }
    // Entry 8 of the static table without its value (RFC 7541, appendix A).
    let further = [frame(1, 0x4, 1, b"\x08\x03103"), frame(8, 0, 0, &100_000_u32.to_be_bytes())];
    let peer = Http2Script::with(&[], &further, |asked| match asked.request {
        0 => asked.send_further(MS, 0),
        _ => asked.response(10 * MS),
    });
    run(&over_http2(plan_for(3 * S, 1), 3), &peer, waits_at_the_end);
    // What times out, or is reset, is known by it as well.
    run(&over_http2(with_timeout(plan(1, 1), S), 1), &peer, |run| {
        check_sums(run);
        let record = &run.record;
        assert_eq!((record.failures_total(), record.circumstances.interim_only), (1, 1));
        assert_eq!(record.stopped.partway, 0);
    });
}

fn waits_at_the_end(run: &ablaze_model::Run) {
    check_sums(run);
    let record = &run.record;
    assert!(record.responses > 100);
    assert_eq!((record.silent.count, record.silent.interim), (1, 1));
    assert_eq!(record.circumstances.interim_unfinished, 1);
    assert_eq!((record.stopped.begun, record.stopped.unfinished), (0, 0));
}
