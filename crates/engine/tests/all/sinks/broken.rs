//! Bodies that do not come whole: the sink sees what came, and that it was not all.

use ablaze_engine::{Control, run_simulated_with_sinks};
use ablaze_model::plan::Plan;
use ablaze_net::sim::Pieces;

use super::checking::{Body, Checking, Ended};
use super::far_ends::{Server, Simulated};
use super::plans::*;

/// Responses every request with a part of a response, and then closes or is silent.
#[derive(Clone)]
pub struct Partly {
    response: &'static [u8],
    closes: bool,
}

impl Partly {
    /// As [`Server::response`], for whatever was asked.
    pub fn response(&mut self, out: &mut Vec<u8>) -> bool {
        out.extend(self.response);
        self.closes
    }
}

/// What the sink saw end, over both kinds of driver.
fn ended(plan: &Plan, server: Partly) -> Vec<Ended> {
    let peers = [Simulated::plain(Server::Partly(server), Pieces::Of(10))];
    let (control, make) = (Control::new(), Checking::new);
    let ways = [
        run_simulated_with_sinks::<Simulated, _, false>(plan.clone(), &peers, &control, make),
        run_simulated_with_sinks::<Simulated, _, true>(plan.clone(), &peers, &control, make),
    ];
    let [batched, at_once] = ways.map(|done| {
        let (run, sinks) = done.unwrap();
        assert_eq!(run.record.responses, 0);
        sinks.into_iter().flat_map(|sink| sink.ended).collect::<Vec<_>>()
    });
    assert_eq!(batched, at_once);
    batched
}

/// Each ended so, with the first bytes of a body.
fn all_are(ended: &[Ended], content: &[u8]) {
    let mut body = Body::new(200);
    body.add(content);
    for one in ended {
        assert_eq!((one.body, one.complete), (body, false));
    }
}

const SHORT: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly so many of them";
const BAD_CHUNK: &[u8] =
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nno size\r\n";

#[test]
fn the_server_closes_early() {
    let ended = ended(&plan(5, 1), Partly { response: SHORT, closes: true });
    assert_eq!(ended.len(), 5);
    all_are(&ended, b"only so many of them");
    let numbers: Vec<u64> = ended.iter().map(|one| one.response.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
}

#[test]
fn a_pipeline_behind_a_broken_body_sees_nothing() {
    let ended =
        ended(&without_repeat(pipelined(plan(3, 1), 3)), Partly { response: SHORT, closes: true });
    assert_eq!(ended.len(), 1);
    all_are(&ended, b"only so many of them");
}

#[test]
fn chunks_that_are_none() {
    let ended = ended(&plan(3, 1), Partly { response: BAD_CHUNK, closes: false });
    assert_eq!(ended.len(), 3);
    all_are(&ended, b"hello");
}

#[test]
fn a_timeout() {
    let plan = with_timeout(plan(3, 1), 20 * MS);
    let ended = ended(&plan, Partly { response: SHORT, closes: false });
    assert_eq!(ended.len(), 3);
    all_are(&ended, b"only so many of them");
}

#[test]
fn the_end_of_the_run() {
    let ended = ended(&plan_for(20 * MS, 4), Partly { response: SHORT, closes: false });
    assert_eq!(ended.len(), 4);
    all_are(&ended, b"only so many of them");
}

#[test]
fn heads_that_are_none_begin_nothing() {
    let response = b"HTTP/1.1 banana\r\n\r\n";
    assert!(ended(&plan(3, 1), Partly { response, closes: false }).is_empty());
}
