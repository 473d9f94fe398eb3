//! What depends on time, for every model: delays, read timeouts, the drain at the stop, and the
//! limit of requests per connection. Lower bounds are promises; upper bounds only have to tell
//! "at once" from "stuck", because the machine may be busy.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use ablaze_target::accepting::AcceptMode;
use ablaze_target::{Counts, Model, Options, Running};

use crate::client::{Client, HELLO, get};
use crate::models::{accept_modes, all_at_once, for_each_model, options, start};

/// For one model: far more than any of these tests waits.
const LIMIT: Duration = Duration::from_secs(60);
/// A stop lets responses finish for a second; the rest is the machine's.
const STOP_LIMIT: Duration = Duration::from_secs(4);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Options of a server with one worker, so that whoever blocks it blocks all.
fn alone(model: Model) -> Options {
    options(model, accept_modes(model)[0], 1)
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < end, "not within 10 s: {what}");
        thread::sleep(ms(1));
    }
}

#[test]
fn a_delayed_response_holds_up_no_other_connection() {
    for_each_model(LIMIT, |model| {
        let server = start(alone(model));
        let mut slow = Client::connect(server.address());
        let began = Instant::now();
        slow.send(get("/delay/600"));
        until("the slow request is served", || server.served().requests == 1);
        let mut quick = Client::connect(server.address());
        for _ in 0..20 {
            assert_eq!(quick.ask(get("/hello")).body, HELLO);
        }
        let others_took = began.elapsed();
        assert_eq!(slow.response().status, 200);
        assert!(began.elapsed() >= ms(600), "the delay was cut to {:?}", began.elapsed());
        assert!(others_took < ms(600), "others had to wait: {others_took:?}");
    });
}

#[test]
fn many_delays_run_side_by_side() {
    for_each_model(LIMIT, |model| {
        let delay = ms(150);
        let server = start(alone(model));
        let began = Instant::now();
        let mut clients: Vec<_> = (0..50).map(|_| Client::connect(server.address())).collect();
        clients.iter_mut().for_each(|client| client.send(get("/delay/150")));
        for client in &mut clients {
            assert_eq!(client.response().body, HELLO);
        }
        let took = began.elapsed();
        // One after the other they would take 7.5 s.
        assert!(took >= delay && took < 20 * delay, "{took:?}");
    });
}

#[test]
fn what_is_pipelined_behind_a_delayed_response_stays_behind_it() {
    for_each_model(LIMIT, |model| {
        let server = start(alone(model));
        let mut client = Client::connect(server.address());
        let began = Instant::now();
        let posted = "POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nfirst";
        client.send([posted, &get("/delay/120"), &get("/nothing"), &get("/delay/30")].concat());
        client.send(posted.replace("first", "final"));
        assert_eq!(client.response().body, b"first");
        assert_eq!(client.response().body, HELLO);
        assert!(began.elapsed() >= ms(120));
        assert_eq!(client.response().status, 404);
        assert_eq!(client.response().body, HELLO);
        assert!(began.elapsed() >= ms(150));
        assert_eq!(client.response().body, b"final");
        assert_eq!(server.served().requests, 5);
    });
}

#[test]
fn a_delayed_response_reaches_a_client_that_has_closed_its_side() {
    for_each_model(LIMIT, |model| {
        let server = start(alone(model));
        let mut client = Client::connect(server.address());
        client.send([get("/delay/80"), get("/hello")].concat());
        client.finish();
        assert_eq!(client.response().status, 200);
        assert_eq!(client.response().status, 200);
        assert_eq!(client.rest(), b"");
    });
}

#[test]
fn a_client_that_leaves_during_a_delay_harms_no_one() {
    for_each_model(LIMIT, |model| {
        let server = start(alone(model));
        for number in 0..20 {
            let mut client = Client::connect(server.address());
            client.send(get("/delay/50"));
            if number % 2 == 0 {
                client.reset();
            }
        }
        thread::sleep(ms(150));
        assert_eq!(Client::connect(server.address()).ask(get("/hello")).body, HELLO);
        assert_eq!(stop(server).connections, 21);
    });
}

#[test]
fn idle_connections_end_at_the_read_timeout_and_no_earlier() {
    for_each_model(LIMIT, |model| {
        let timeout = ms(300);
        let server = start(Options { read_timeout: Some(timeout), ..alone(model) });
        let beginnings = ["", "GET /hel", "POST /echo HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"];
        let mut idle: Vec<_> = beginnings
            .iter()
            .map(|beginning| {
                let mut client = Client::connect(server.address());
                let began = Instant::now();
                client.send(beginning);
                (beginning, client, began)
            })
            .collect();
        let mut served = Client::connect(server.address());
        // It does something now and then, for longer than the timeout in all.
        for _ in 0..6 {
            assert_eq!(served.ask(get("/hello")).body, HELLO);
            thread::sleep(timeout / 4);
        }
        let since_last = Instant::now();
        assert_eq!(served.ask(get("/hello")).body, HELLO);
        for (beginning, client, began) in &mut idle {
            client.until_closed();
            let took = began.elapsed();
            assert!(took >= timeout, "{beginning:?} was closed after {took:?}");
            assert!(took < 15 * timeout, "{beginning:?} was closed after {took:?} only");
        }
        served.until_closed();
        assert!(since_last.elapsed() >= timeout, "closed after {:?}", since_last.elapsed());
    });
}

#[test]
fn a_read_timeout_does_not_cut_a_delayed_response() {
    for_each_model(LIMIT, |model| {
        let options = Options { read_timeout: Some(ms(100)), ..alone(model) };
        let server = start(options);
        let mut client = Client::connect(server.address());
        assert_eq!(client.ask(get("/delay/400")).body, HELLO);
        assert_eq!(client.ask(get("/hello")).body, HELLO);
    });
}

#[test]
fn the_last_request_of_a_connection_is_answered_and_closes_it() {
    for_each_model(LIMIT, |model| {
        let server = start(Options { max_requests: Some(3), ..alone(model) });
        for pipelined in [false, true] {
            let mut client = Client::connect(server.address());
            for number in 1..=3 {
                match (pipelined, number) {
                    (false, _) => client.send(get("/hello")),
                    (true, 1) => client.send(get("/hello").repeat(5)),
                    _ => {}
                }
                let response = client.response();
                assert_eq!(response.body, HELLO);
                let closes = (number == 3).then_some("close");
                assert_eq!(response.field("Connection"), closes, "response {number}");
            }
            assert_eq!(client.rest(), b"", "pipelined: {pipelined}");
        }
        assert_eq!(stop(server).requests, 6);
    });
}

/// A server for the stop: two workers, under one accept mode.
fn stopped_alike(run: impl Fn(Running) + Send + Sync + Copy + 'static) {
    let mut jobs = Vec::new();
    for model in crate::models::judged() {
        for accept in accept_modes(model) {
            jobs.push((format!("{model} {accept}"), (model, accept)));
        }
    }
    all_at_once(LIMIT, jobs, move |(model, accept): (Model, AcceptMode)| {
        run(start(options(model, accept, 2)));
    });
}

#[test]
fn a_stop_finishes_what_is_under_way_and_closes_what_is_idle() {
    stopped_alike(|server| {
        let address = server.address();
        // Connections go to the workers in turn or by chance: several of each kind reach both.
        let mut idle: Vec<_> = (0..4).map(|_| Client::connect(address)).collect();
        for client in &mut idle {
            assert_eq!(client.ask(get("/hello")).body, HELLO);
        }
        let silent: Vec<_> = (0..4).map(|_| Client::connect(address)).collect();
        until("all are accepted", || server.served().connections == 8);
        let mut busy: Vec<_> = (0..4).map(|_| Client::connect(address)).collect();
        busy.iter_mut().for_each(|client| client.send(get("/delay/300")));
        until("all are under way", || server.served().requests == 8);
        let stopping = thread::spawn(move || stop(server));
        for client in &mut idle {
            assert_eq!(client.rest(), b"");
        }
        for mut client in silent {
            assert_eq!(client.rest(), b"");
        }
        for client in &mut busy {
            assert_eq!(client.response().body, HELLO);
            assert_eq!(client.rest(), b"");
        }
        let served = stopping.join().unwrap();
        assert_eq!((served.requests, served.connections), (8, 12));
        assert!(TcpStream::connect(address).is_err(), "it still listens");
    });
}

#[test]
fn a_stop_waits_for_no_one_who_does_not_read() {
    stopped_alike(|server| {
        let mut deaf: Vec<_> = (0..4).map(|_| Client::connect_narrow(server.address())).collect();
        deaf.iter_mut().for_each(|client| client.send(get("/bytes/8388608").repeat(8)));
        // And one whose request is not complete, nor ever will be.
        let mut half = Client::connect(server.address());
        half.send("POST /echo HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf");
        until("all are accepted", || server.served().connections == 5);
        thread::sleep(ms(50));
        stop(server);
    });
}

#[test]
fn a_stop_under_load_returns_within_its_bound() {
    stopped_alike(|server| {
        let address = server.address();
        let clients: Vec<_> = (0..4).map(|_| thread::spawn(move || load(address))).collect();
        until("some are served", || server.served().requests > 100);
        let served = stop(server);
        let answered: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();
        // Whatever was answered was counted.
        assert!(served.requests >= answered, "{} counted, {answered} answered", served.requests);
    });
}

/// Asks until the server is gone; how often it answered.
fn load(address: SocketAddr) -> u64 {
    let mut answered = 0;
    while let Ok(stream) = TcpStream::connect(address) {
        stream.set_read_timeout(Some(ms(5000))).unwrap();
        let mut reader = std::io::BufReader::new(&stream);
        while (&stream).write_all(get("/hello").as_bytes()).is_ok() && read_hello(&mut reader) {
            answered += 1;
        }
    }
    answered
}

/// Whether a response of `/hello` could be read whole.
fn read_hello(reader: &mut impl std::io::BufRead) -> bool {
    let mut line = Vec::new();
    // The body ends with the only line that is this one.
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) if line == HELLO => return true,
            Ok(_) => {}
        }
    }
}

/// Stops it, within the bound.
fn stop(server: Running) -> Counts {
    let began = Instant::now();
    let served = server.stop().unwrap();
    assert!(began.elapsed() < STOP_LIMIT, "stopping took {:?}", began.elapsed());
    served
}
