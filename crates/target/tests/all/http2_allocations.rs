//! A server's HTTP/2 connection that has warmed up allocates nothing for requests whose responses are
//! there before they are asked for, whether the same heads come again or others.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use ablaze_target::Options;
use ablaze_target::http1::date::Date;
use ablaze_target::http1::output::Output;
use ablaze_target::protocol::{Next, Protocol};
use ablaze_target::registry::Registry;
use ablaze_target::routes::Routes;
use ablaze_target::service::Service;
use ablaze_testing::allocations::of_this_thread;
use ablaze_wire::http2::frame::{PREFACE, flag, write_block, write_settings, write_window_update};
use ablaze_wire::http2::hpack::encoder::{Indexing, Name, literal};

const TURNS: u32 = 2_000;
const STREAMS: u32 = 10;
/// What `/hello` responses.
const BODY_BYTES: u32 = 14;

/// Allocations of the second half of the requests, of which ten come at once, in such pieces.
fn allocations(blocks: &[Vec<u8>], piece_bytes: usize) -> u64 {
    let options = Options { http2: true, ..Options::default() };
    let registry = Arc::new(Registry::default());
    let service = Service::new(Routes::new(&options), &options, None, registry);
    let (date, mut protocol) = (Date::now(), Protocol::new(&service));
    let mut out = Output::default();
    let mut arrives = Vec::with_capacity(1 << 16);
    arrives.extend_from_slice(PREFACE);
    write_settings(&mut arrives, &[]);
    let (mut before, mut ended) = (0, 0);
    for turn in 0..TURNS {
        if turn == TURNS / 2 {
            before = of_this_thread();
            assert!(before > 0, "what warms up is counted");
        }
        write_window_update(&mut arrives, 0, STREAMS * BODY_BYTES);
        for number in 0..STREAMS {
            let request = turn * STREAMS + number;
            let block = &blocks[request as usize % blocks.len()];
            write_block(&mut arrives, 2 * request + 1, true, block);
        }
        for piece in arrives.chunks(piece_bytes) {
            let next = protocol.receive(piece, &service, &date, &mut out);
            assert_eq!(next, Next::Read);
            let written = out.as_text().unwrap();
            ended += ends(written);
            let bytes = written.len();
            out.wrote(bytes);
        }
        arrives.clear();
    }
    assert_eq!(ended, TURNS * STREAMS);
    of_this_thread() - before
}

/// How many bodies are complete in what was written.
fn ends(written: &[u8]) -> u32 {
    let mut head = [0; 9];
    head[2] = BODY_BYTES as u8;
    head[4] = flag::END_STREAM;
    // Every head of such a frame, whatever its stream.
    written.windows(head.len()).filter(|nine| nine[..5] == head[..5]).count() as u32
}

/// GET by http, the path as it stands, and a field that is put into the table.
fn block(agent: Option<u32>) -> Vec<u8> {
    let mut block = vec![0x82, 0x86];
    literal(&mut block, Indexing::Without, Name::Index(4), b"/hello");
    if let Some(number) = agent {
        let agent = format!("agent {number}");
        literal(&mut block, Indexing::Keep, Name::Index(58), agent.as_bytes());
    }
    block
}

#[test]
fn nothing_is_allocated_per_request() {
    let others: Vec<_> = (0..7).map(|number| block(Some(number))).collect();
    for piece_bytes in [usize::MAX, 13] {
        assert_eq!(allocations(&[block(None)], piece_bytes), 0, "the same head");
        assert_eq!(allocations(&others, piece_bytes), 0, "heads that change");
    }
}
