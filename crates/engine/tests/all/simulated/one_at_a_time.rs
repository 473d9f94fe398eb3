//! A server that announces its close, leaves the connection open, and serves nobody else until the client has closed it.

use std::sync::{Arc, Mutex};

use ablaze_model::Run;
use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_net::CloseHow;
use ablaze_net::sim::{ConnectReply, FarEnd, SimPeer};

use crate::simulated::support::{HELLO_CLOSE, MS, Script, US, check_sums, closing_each, plan, run};
use crate::walks::journeys::walk_among;
use crate::walks::origins::to_two;

/// How long a response takes once its connection is served.
const SERVICE_NS: u64 = 100 * US;

/// As many connections are served at once as there are `threads`.
#[derive(Clone)]
struct FewAtATime {
    threads: usize,
    /// Connections in the order of their requests: the first ones are served.
    queue: Arc<Mutex<Vec<u64>>>,
    number: u64,
    head: Vec<u8>,
    /// The first response takes so much longer.
    first_ns: u64,
    /// It closes its connections.
    closes: bool,
}

impl FewAtATime {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            queue: Arc::default(),
            number: 0,
            head: Vec::new(),
            first_ns: 0,
            closes: false,
        }
    }
}

impl SimPeer for FewAtATime {
    fn bytes(&self) -> &[u8] {
        HELLO_CLOSE
    }

    fn connect(&mut self, _: &mut FarEnd<'_>, number: u64) -> ConnectReply {
        if number == 0 {
            self.queue.lock().unwrap().clear();
        }
        self.number = number;
        ConnectReply::AcceptAfter(0)
    }

    fn received(&mut self, far: &mut FarEnd<'_>, bytes: &[u8]) {
        self.head.extend_from_slice(bytes);
        if self.head.ends_with(b"\r\n\r\n") {
            self.queue.lock().unwrap().push(self.number);
            self.woken(far, 0);
        }
    }

    /// Looks again and again for a free thread, as one that waits in the accept queue is found.
    fn woken(&mut self, far: &mut FarEnd<'_>, _: u32) {
        if self.queue.lock().unwrap().iter().take(self.threads).any(|number| *number == self.number)
        {
            let extra_ns = if self.number == 0 { self.first_ns } else { 0 };
            far.send_after(SERVICE_NS + extra_ns, 0, HELLO_CLOSE.len() as u32);
            if self.closes {
                far.close_after(SERVICE_NS + extra_ns);
            }
        } else {
            far.wake_after(10 * US, 0);
        }
    }

    fn closed(&mut self, _: CloseHow) {
        self.queue.lock().unwrap().retain(|number| *number != self.number);
    }
}

#[test]
fn the_next_request_does_not_wait_for_a_client_that_waits_for_the_server() {
    for threads in [1, 4] {
        for connections in [1, 5] {
            for plan in [plan(200, connections), closing_each(plan(200, connections))] {
                run(&plan, &FewAtATime::new(threads), |run| {
                    check_sums(run);
                    assert_eq!((run.record.responses, run.record.failures_total()), (200, 0));
                    // Each thread left one open; from the third silence on the client closes at once.
                    assert!((3..=3 * threads as u64).contains(&run.record.closed_early));
                    let longest_ns = run.record.answered.total.max_ns().unwrap();
                    // Whoever is last waits for three silences.
                    assert!(longest_ns < 10 * MS, "{threads} {connections}: {longest_ns}");
                    assert!(run.elapsed_ns < 200 * SERVICE_NS + 10 * MS, "{}", run.elapsed_ns);
                });
            }
        }
    }
}

/// Where arrivals are far apart nothing is in flight when the connection is left.
#[test]
fn arrivals_far_apart_do_not_wait_either() {
    for connections in [1, 4] {
        let mut plan = closing_each(plan(100, connections));
        plan.load = Load::Open {
            rate: RateProfile::constant(200.0),
            arrivals: Arrivals::Constant,
            connections,
            bounded: true,
        };
        run(&plan, &FewAtATime::new(1), |run| {
            check_sums(run);
            assert_eq!((run.record.responses, run.record.closed_early), (100, 3));
            let longest_ns = run.record.answered.total.max_ns().unwrap();
            assert!(longest_ns < 10 * MS, "{connections}: {longest_ns}");
        });
    }
}

/// A server that is only slow is left its connections: they are the server's to close.
#[test]
fn a_server_that_serves_others_meanwhile_is_waited_for() {
    let check = |run: &Run| {
        check_sums(run);
        assert_eq!((run.record.closed_early, run.record.responses), (0, 40));
    };
    run(&plan(40, 4), &FewAtATime::new(1_000), check);
}

/// A first response that takes long makes the silence long that shows what the server waits for; the time that a server is
/// given to close shows it, too.
#[test]
fn a_slow_first_response_does_not_hide_it() {
    for first_ns in [300 * MS, 600 * MS] {
        for connections in [1, 5] {
            let server = FewAtATime { first_ns, ..FewAtATime::new(1) };
            run(&closing_each(plan(200, connections)), &server, |run| {
                check_sums(run);
                assert_eq!((run.record.responses, run.record.failures_total()), (200, 0));
                assert_eq!(run.record.closed_early, 1);
                assert!(run.elapsed_ns < first_ns + 1_100 * MS, "{}", run.elapsed_ns);
            });
        }
    }
}

/// What one host does says nothing of another.
#[test]
fn a_host_that_closes_does_not_hide_one_that_serves_one_at_a_time() {
    let text = "GET http://there/a\nHTTP 200\n\nGET http://other.there:81/b\nHTTP 200\n";
    let plan = to_two(closing_each(plan(40, 2)), text, 1);
    let servers = [FewAtATime { closes: true, ..FewAtATime::new(1_000) }, FewAtATime::new(1)];
    walk_among(&plan, &servers, |run, journeys| {
        assert_eq!((journeys.whole, run.record.responses), (40, 80));
        assert_eq!((run.record.closed_early, run.record.left_open), (3, 0));
        let longest_ns = run.record.answered.total.max_ns().unwrap();
        assert!(longest_ns < 20 * MS, "{longest_ns}");
        // The one that closes is left its connections.
        assert!(run.record.awaited_close >= 40, "{}", run.record.awaited_close);
    });
}

/// Users that pause do not wait for a server that leaves their connections open.
#[test]
fn pauses_of_users_are_no_silence_of_the_server() {
    let text = "GET http://there/a\n[Options]\ndelay: 5ms\nHTTP 200\n\nGET http://other.there:81/b\nHTTP 200\n";
    let plan = to_two(closing_each(plan(40, 3)), text, 1);
    let servers = [FewAtATime::new(1_000), FewAtATime::new(1_000)];
    walk_among(&plan, &servers, |run, journeys| {
        assert_eq!((journeys.whole, run.record.closed_early), (40, 0));
    });
}

/// A server that stands still before it closes its first connection is not one that waits for the client.
#[test]
fn a_server_that_stood_still_once_is_left_its_connections_again() {
    let server = Script::new(&[HELLO_CLOSE], |moment| {
        // The first close, and the second response, come late.
        let late_ns = if moment.connection < 2 { 50 * MS } else { 100 * US };
        moment.send(if moment.connection == 0 { 100 * US } else { late_ns }, 0);
        moment.far.close_after(late_ns);
    });
    run(&closing_each(plan(100, 1)), &server, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.failures_total()), (100, 0));
        assert!(run.record.closed_early <= 1, "{}", run.record.closed_early);
        assert!(run.record.awaited_close >= 98, "{}", run.record.awaited_close);
    });
}

/// On a busy machine a response can come late, and by chance just when the client has closed the connection before it.
#[test]
fn a_response_that_came_late_once_or_twice_by_chance_shows_no_habit() {
    let server = Script::new(&[HELLO_CLOSE], |moment| {
        // Connections are closed after 20 ms; the responses behind the first and the second of them are 2 ms late.
        let late_ns = if (1..=2).contains(&moment.connection) { 2 * MS } else { 100 * US };
        moment.send(late_ns, 0);
        moment.far.close_after(20 * MS);
    });
    run(&closing_each(plan(200, 1)), &server, |run| {
        check_sums(run);
        assert_eq!((run.record.responses, run.record.failures_total()), (200, 0));
        assert_eq!((run.record.closed_early, run.record.left_open), (0, 0));
        assert!(run.record.awaited_close >= 10, "{}", run.record.awaited_close);
    });
}
