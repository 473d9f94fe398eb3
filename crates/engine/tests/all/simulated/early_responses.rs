//! Responses to requests that are still being sent.

use ablaze_net::sim::{ConnectReply, FarEnd, SimPeer};
use ablaze_wire::http1::builder::RequestBuilder;

use crate::simulated::support::{HELLO, HELLO_CLOSE, MS, S, check_sums, plan, run};

const UPLOAD: usize = 200_000;

/// Reads 10 kB each millisecond; responses when the first bytes of a request come, 20 ms before
/// the last.
#[derive(Clone)]
struct Hasty {
    response: &'static [u8],
    expected: usize,
    came: usize,
    reads: bool,
}

impl SimPeer for Hasty {
    fn bytes(&self) -> &[u8] {
        self.response
    }

    fn connect(&mut self, far: &mut FarEnd<'_>, _: u64) -> ConnectReply {
        far.set_window(10_000);
        if self.reads {
            far.read_slowly(10_000, MS);
        } else {
            far.read_slowly(10_000, 3_600 * S);
        }
        ConnectReply::AcceptAfter(MS)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        let begun = self.came.div_ceil(self.expected);
        self.came += bytes.len();
        for _ in begun..self.came.div_ceil(self.expected) {
            far.send_after(MS, 0, self.response.len() as u32);
        }
    }
}

fn upload_plan(requests: u64) -> (ablaze_model::Plan, usize) {
    let body = vec![b'x'; UPLOAD];
    let request = RequestBuilder::new("POST", "/")
        .header("Host", "there")
        .header("Content-Length", "200000")
        .body(body)
        .build()
        .unwrap();
    let mut plan = plan(requests, 2);
    let expected = request.bytes.len();
    plan.requests.templates = vec![request];
    plan.requests.has_body = true;
    (plan, expected)
}

#[test]
fn the_next_request_waits_until_the_last_has_left() {
    let (plan, expected) = upload_plan(10);
    let peer = Hasty { response: HELLO, expected, came: 0, reads: true };
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.failures_total()), (10, 0));
        assert_eq!(run.record.connections_opened, 2);
        // Each is answered 1 ms behind the first read, but takes 20 ms to leave.
        assert!(run.record.answered.total.max_ns() <= Some(3 * MS));
        assert!(run.elapsed_ns > 4 * 19 * MS, "{}", run.elapsed_ns);
    });
}

#[test]
fn with_an_announced_close_the_rest_is_not_sent() {
    let (plan, expected) = upload_plan(10);
    let peer = Hasty { response: HELLO_CLOSE, expected, came: 0, reads: true };
    run(&plan, &peer, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.connections_opened), (10, 10));
        assert!(run.elapsed_ns < 100 * MS, "{}", run.elapsed_ns);
    });
}
