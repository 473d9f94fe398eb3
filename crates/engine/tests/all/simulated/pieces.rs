//! However a response is cut into pieces, the record is the same.

use ablaze_model::Run;
use ablaze_net::sim::{Misbehave, Pieces};

use crate::simulated::support::{HELLO, MS, Script, check_sums, pipelined, plan, run};

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
    5;name=value\r\nhello\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";

/// Everything that does not depend on when pieces came.
fn essence(run: &Run) -> impl PartialEq + std::fmt::Debug + use<> {
    let record = &run.record;
    (
        (record.responses, record.failures, record.statuses.clone(), record.body_lengths.clone()),
        (record.first_head.clone(), record.first_body_bytes, record.reused),
        (record.received_bytes, record.body_bytes, record.sent_bytes, record.repeated),
        (record.connections_opened, record.answered.wait.sum_ns()),
    )
}

fn same_however_cut(response: &[u8], body_bytes: u64) {
    for depth in [1, 3] {
        let plan = pipelined(plan(6, 2), depth);
        let whole = run(&plan, &Script::always(response, MS), |run| {
            check_sums(run);
            assert_eq!(run.record.responses, 6);
            assert_eq!(run.record.body_bytes, 6 * body_bytes);
        });
        let pieces = (1..response.len() as u32).map(Pieces::SplitAt);
        for pieces in pieces.chain([Pieces::Of(1), Pieces::Of(2), Pieces::Of(7)]) {
            run(&plan, &Script::always(response, MS).cut(pieces, 0), |run| {
                check_sums(run);
                assert_eq!(essence(run), essence(&whole), "{pieces:?}");
            });
        }
    }
}

#[test]
fn with_a_length() {
    same_however_cut(HELLO, 5);
}

#[test]
fn chunked() {
    same_however_cut(CHUNKED, 15);
}

#[test]
fn large_bodies_in_pieces_of_any_size() {
    for chunked in [false, true] {
        let size = 300_000;
        let mut response = if chunked {
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\n")
        } else {
            format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n")
        }
        .into_bytes();
        response.resize(response.len() + size, b'x');
        if chunked {
            response.extend(b"\r\n0\r\n\r\n");
        }
        for depth in [1, 4] {
            for bytes in [1_000, 4_096, 16_385, 65_537, 299_999, 400_000] {
                let plan = pipelined(plan(12, 2), depth);
                let peer = Script::always(&response, MS).cut(Pieces::Of(bytes), 10);
                run(&plan, &peer, |run| {
                    check_sums(run);
                    assert_eq!((run.record.responses, run.record.failures_total()), (12, 0));
                    assert_eq!(run.record.body_bytes, 12 * size as u64);
                    assert_eq!(run.record.received_bytes, 12 * response.len() as u64);
                });
            }
        }
    }
}
