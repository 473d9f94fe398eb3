//! Conditions and faults over real sockets, in depth under the edge-triggered model: what a client of the
//! operating system's sees of them. The protocol's own tests know every byte; here it is about
//! resets, closes and time. Times are asserted from below only, because machines are noisy.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ablaze_target::conditions::{Fault, FaultShare, ResponseKind, WriteMode};
use ablaze_target::handler::{Handler, Reply, Request, Response};
use ablaze_target::{Model, Options, Running, Server};
use ablaze_testing::Bounded;
use ablaze_testing::client::{Client, get};
use ablaze_testing::skip::installed;

const MS: Duration = Duration::from_millis(1);

fn options() -> Options {
    Options { address: "127.0.0.1:0".parse().unwrap(), threads: 1, ..Options::default() }
}

fn start(options: Options) -> Running {
    Server::start(options).unwrap()
}

/// All that comes back, and how it ended.
fn outcome(server: &Running, request: &str) -> (Vec<u8>, Option<ErrorKind>) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).err().map(|error| error.kind());
    (bytes, error)
}

fn faulty(fault: Fault) -> Running {
    start(Options { faults: vec![FaultShare { fault, share: 1.0 }], ..options() })
}

#[test]
fn resets_are_resets_and_closes_are_closes() {
    let right = outcome(&start(options()), "GET / HTTP/1.0\r\n\r\n").0.len();
    let reset = Some(ErrorKind::ConnectionReset);
    for (fault, bytes, error) in [
        (Fault::ResetBefore, 0, reset),
        (Fault::ResetDuring, right / 2, reset),
        (Fault::ResetAfter, right, reset),
        (Fault::CloseUnanswered, 0, None),
        (Fault::ShortBody, right - 7, None),
        (Fault::Trickle, right, None),
    ] {
        let server = faulty(fault);
        for _ in 0..3 {
            let (heard, ended) = outcome(&server, "GET / HTTP/1.0\r\n\r\n");
            assert_eq!(ended, error, "{fault:?}");
            // A reset may overtake bytes that were not read yet.
            assert!(heard.len() == bytes || (ended.is_some() && heard.len() < bytes), "{fault:?}");
        }
        let served = server.stop().unwrap();
        assert_eq!((served.requests, served.connections), (3, 3), "{fault:?}");
    }
    let (heard, ended) = outcome(&faulty(Fault::Garbage), "GET / HTTP/1.0\r\n\r\n");
    assert!(!heard.starts_with(b"HTTP/") && !heard.is_empty() && ended.is_none());
}

/// Models that serve what they are asked for, with a listener each.
fn models() -> impl Iterator<Item = Options> {
    let full = Model::ALL.iter().filter(|model| !model.is_exempt());
    full.map(|model| Options { model: *model, ..options() })
        .filter(|options| options.validate().is_ok())
}

#[test]
fn every_model_does_what_the_protocol_says_behind_a_response() {
    let reset = Some(ErrorKind::ConnectionReset);
    for options in models() {
        let model = options.model;
        let server = |faults: &[Fault]| {
            let share = |fault: &Fault| FaultShare { fault: *fault, share: 1.0 };
            start(Options { faults: faults.iter().map(share).collect(), ..options.clone() })
        };
        let ask = |faults: &[Fault]| outcome(&server(faults), "GET / HTTP/1.0\r\n\r\n");
        let (right, ended) = ask(&[]);
        assert_eq!(ended, None, "{model}");
        assert_eq!(ask(&[Fault::ResetBefore]), (Vec::new(), reset), "{model}");
        assert_eq!(ask(&[Fault::ResetDuring]).1, reset, "{model}");
        assert_eq!(ask(&[Fault::ResetAfter]).1, reset, "{model}");
        assert_eq!(ask(&[Fault::CloseUnanswered]), (Vec::new(), None), "{model}");
        let (short, ended) = ask(&[Fault::ShortBody]);
        assert_eq!((short.len(), ended), (right.len() - 7, None), "{model}");
        let (trickled, ended) = ask(&[Fault::Trickle]);
        assert_eq!((trickled.len(), ended), (right.len(), None), "{model}");
        let lines = outcome(&server(&[]), "GET /stream?lines=3&every=5ms HTTP/1.0\r\n\r\n").0;
        assert!(lines.ends_with(b"\r\n\r\nline 1 of 3\nline 2 of 3\nline 3 of 3\n"), "{model}");
        let stream = "GET /stream?lines=3&every=5ms HTTP/1.1\r\nHost: t\r\n\r\n";
        for fault in [Fault::ResetBefore, Fault::ResetDuring, Fault::ResetAfter] {
            let server = server(&[fault]);
            let (heard, ended) = outcome(&server, stream);
            assert_eq!(ended, reset, "{model} {fault:?}");
            // A reset may overtake bytes that were not read yet, and none of them is another's.
            assert!(heard.is_empty() || fault != Fault::ResetBefore, "{model}");
            assert!(heard.is_empty() || heard.starts_with(b"HTTP/1.1 200 "), "{model} {fault:?}");
            let whole = heard.ends_with(b"0\r\n\r\n");
            assert!(!whole || fault == Fault::ResetAfter, "{model} {fault:?}");
            // The worker goes on with the others.
            assert_eq!(outcome(&server, stream).1, reset, "{model} {fault:?}");
            assert_eq!(server.stop().unwrap().requests, 2, "{model} {fault:?}");
        }
    }
}

#[test]
fn every_model_can_speak_no_http() {
    for options in models() {
        let model = options.model;
        let echo = Options { response: ResponseKind::Echo, keep_alive: false, ..options.clone() };
        assert_eq!(outcome(&start(echo), "\0abc"), (b"\0abc".to_vec(), None), "{model}");
        let silent = Options { response: ResponseKind::None, keep_alive: false, ..options };
        let server = start(silent);
        assert_eq!(outcome(&server, "\0abc"), (Vec::new(), None), "{model}");
        assert_eq!(server.stop().unwrap().requests, 1, "{model}");
    }
}

#[test]
fn every_model_writes_head_and_body_in_two_calls_if_asked_to() {
    for options in models() {
        let model = options.model;
        let writes = |write| {
            let server = start(Options { write, ..options.clone() });
            let mut client = Client::connect(server.address());
            for _ in 0..10 {
                assert_eq!(client.ask(get("/hello")).body, b"hello, world!\n", "{model}");
            }
            drop(client);
            server.stop().unwrap().writes
        };
        assert_eq!((writes(WriteMode::Whole), writes(WriteMode::Split)), (10, 20), "{model}");
    }
}

#[test]
fn a_long_response_arrives_before_the_reset_behind_it() {
    let server = faulty(Fault::ResetAfter);
    let (heard, ended) = outcome(&server, &get("/bytes/8MiB"));
    assert!(heard.len() > 8 << 20, "{}", heard.len());
    assert_eq!(ended, Some(ErrorKind::ConnectionReset));
}

#[test]
fn the_response_before_a_fault_arrives() {
    let faults = vec![FaultShare { fault: Fault::CloseUnanswered, share: 0.05 }];
    let server = start(Options { faults, seed: 2, ..options() });
    let (heard, ended) = outcome(&server, &get("/hello").repeat(500));
    let responses = String::from_utf8(heard).unwrap().matches("HTTP/1.1 200").count() as u64;
    assert_eq!(ended, None);
    assert!(responses > 0);
    assert_eq!(server.stop().unwrap().requests, responses + 1);
}

#[test]
fn what_trickles_and_what_streams_takes_its_time() {
    let began = Instant::now();
    let server = faulty(Fault::Trickle);
    let mut client = Client::connect(server.address());
    assert_eq!(client.ask(get("/bytes/5000")).body.len(), 5000);
    assert!(began.elapsed() >= 400 * MS, "{:?}", began.elapsed());
    let server = start(options());
    let began = Instant::now();
    let (heard, _) = outcome(&server, "GET /stream?lines=4&every=30ms HTTP/1.0\r\n\r\n");
    assert!(String::from_utf8(heard).unwrap().ends_with("line 3 of 4\nline 4 of 4\n"));
    assert!(began.elapsed() >= 90 * MS, "{:?}", began.elapsed());
}

#[test]
fn curl_understands_chunks_and_streams() {
    if installed("curl").is_none() {
        return;
    }
    let server = start(Options { write: WriteMode::Split, head_bytes: Some(400), ..options() });
    for (path, bytes) in [("chunked/3MB?chunk=100KB", 3_000_000), ("stream?every=1ms", 9 * 13 + 14)]
    {
        let url = format!("http://{}/{path}", server.address());
        let run = std::process::Command::new("curl").args(["-sS", "--fail", &url]).bounded_output();
        let run = run.unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(run.stdout.len(), bytes, "{path}");
    }
}

#[test]
fn so_many_are_in_service_at_a_time_over_all_workers() {
    for (in_service, rounds) in [(1, 6), (3, 2)] {
        let server = start(Options {
            threads: 2,
            in_service: Some(in_service),
            delay: (20 * MS).into(),
            ..options()
        });
        let began = Instant::now();
        let mut clients: Vec<_> = (0..6).map(|_| Client::connect(server.address())).collect();
        clients.iter_mut().for_each(|client| client.send(get("/")));
        clients.iter_mut().for_each(|client| assert_eq!(client.response().status, 200));
        assert!(began.elapsed() >= rounds * 20 * MS, "{:?}", began.elapsed());
    }
}

#[test]
fn work_costs_cpu_time_of_the_workers() {
    // One place for two workers: they take turns.
    let server =
        start(Options { threads: 2, work_ns: 2_000_000, in_service: Some(1), ..options() });
    let mut clients: Vec<_> = (0..4).map(|_| Client::connect(server.address())).collect();
    let began = Instant::now();
    for _ in 0..5 {
        clients.iter_mut().for_each(|client| client.send(get("/")));
        clients.iter_mut().for_each(|client| assert_eq!(client.response().status, 200));
    }
    assert!(began.elapsed() >= 20 * 2 * MS);
    assert!(server.stop().unwrap().cpu_ns >= 20 * 1_990_000);
}

#[test]
fn the_status_page_tells_what_was_served() {
    let server = start(Options { threads: 2, ..options() });
    let mut client = Client::connect(server.address());
    for _ in 0..10 {
        client.ask(get("/hello"));
    }
    let status: serde_json::Value =
        serde_json::from_slice(&client.ask(get("/_/status")).body).unwrap();
    assert_eq!(status["workers"].as_array().unwrap().len(), 2);
    assert_eq!(status["workers"][0]["name"], "serve-0");
    // The page is counted when its response leaves.
    assert_eq!(status["total"]["requests"], 10);
    assert_eq!(status["total"]["connections"], 1);
    let sum: u64 = (0..2)
        .map(|worker| status["workers"][worker]["counters"]["requests"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, 10);
    assert_eq!(server.stop().unwrap().requests, 11);
}

#[test]
fn servers_without_http_echo_or_keep_silent() {
    let server = start(Options { response: ResponseKind::Echo, ..options() });
    let mut client = Client::connect(server.address());
    for text in [&b"anything"[..], b"\0\xff", b"GET / HTTP/1.1\r\n\r\n"] {
        client.send(text);
        assert_eq!(client.take(text.len()), text);
    }
    let closing = Options { response: ResponseKind::Echo, keep_alive: false, ..options() };
    let (heard, ended) = outcome(&start(closing), "GET / HTTP/1.0\r\n\r\n");
    assert_eq!((&*heard, ended), (&b"GET / HTTP/1.0\r\n\r\n"[..], None));
    let silent = Options { response: ResponseKind::None, keep_alive: false, ..options() };
    let server = start(silent);
    assert_eq!(outcome(&server, "GET / HTTP/1.0\r\n\r\n"), (Vec::new(), None));
    assert_eq!(server.stop().unwrap().requests, 1);
}

#[test]
fn connections_end_after_their_last_request() {
    let server = start(Options { max_requests: Some(3), ..options() });
    let mut client = Client::connect(server.address());
    for number in 1..=3 {
        let said = client.ask(get("/")).field("Connection").map(str::to_owned);
        assert_eq!(said.as_deref(), (number == 3).then_some("close"));
    }
    assert_eq!(client.rest(), b"");
}

/// A request that comes while the last response waits is not read any more, and must not turn that
/// response's end into a reset (RFC 9112, 9.6).
#[test]
fn a_delayed_last_response_ends_without_a_reset_on_every_model() {
    for model in Model::ALL.iter().copied().filter(|model| *model != Model::Raw) {
        let delay = ablaze_target::conditions::Delay::Constant(200 * MS);
        let server = start(Options { model, keep_alive: false, delay, ..options() });
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(get("/hello").as_bytes()).unwrap();
        std::thread::sleep(20 * MS);
        stream.write_all(get("/hello").as_bytes()).unwrap();
        let mut heard = Vec::new();
        let ended = stream.read_to_end(&mut heard).err().map(|error| error.kind());
        let responses = String::from_utf8(heard).unwrap().matches("HTTP/1.1 200").count();
        assert_eq!((responses, ended), (1, None), "{model}");
    }
}

/// Panics where it is told to.
struct Panics;

impl Handler for Panics {
    fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
        assert!(request.path != b"/panic", "a panic that was asked for");
        Response::text(200, "well").into()
    }
}

#[test]
fn a_worker_that_panics_is_told_of_while_the_others_serve() {
    for model in [Model::EpollEt, Model::EpollLt] {
        let server =
            Server::start_with(Options { model, threads: 2, ..options() }, Panics).unwrap();
        let health = server.health();
        outcome(&server, "GET /panic HTTP/1.0\r\n\r\n");
        assert!(health.wait_for_failure(), "{model}");
        assert!(server.stop().is_err(), "{model}");
    }
    let server = Server::start_with(options(), Panics).unwrap();
    let health = server.health();
    assert!(outcome(&server, "GET / HTTP/1.0\r\n\r\n").0.ends_with(b"well"));
    server.stop().unwrap();
    assert!(!health.wait_for_failure());
}

#[test]
fn options_that_a_handler_of_ones_own_cannot_honour_are_refused() {
    for (name, options) in [
        ("status", Options { status: 201, ..options() }),
        ("body_bytes", Options { body_bytes: Some(5), ..options() }),
        ("echo_everywhere", Options { echo_everywhere: true, ..options() }),
    ] {
        let refused = Server::start_with(options, Panics).unwrap_err().to_string();
        assert!(refused.contains(&format!("`{name}`")), "{refused}");
    }
}
