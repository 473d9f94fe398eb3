//! Delays, faults, limits, lost datagrams and ends, as they show in HTTP/3.

use std::time::{Duration, Instant};

use ablaze_target::conditions::{Delay, Fault, FaultShare};
use ablaze_target::options::Http3Options;
use ablaze_target::{Options, Server};
use ablaze_wire::http3::frame::kind;

use super::client::{Client, frame, get_fields, head};
use super::{models, options};

const NO_ERROR: u64 = 0x100;
const INTERNAL_ERROR: u64 = 0x102;
const REQUEST_REJECTED: u64 = 0x10b;

#[test]
fn a_delay_delays_its_own_stream_alone() {
    let delay = Delay::Constant(Duration::from_millis(100));
    let options = Options { delay, ..options() };
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    let began = Instant::now();
    let streams: Vec<u64> =
        (0..50).map(|_| client.open(&head(&get_fields("/hello")), true)).collect();
    for stream in streams {
        assert_eq!(client.response(stream).unwrap().statuses, ["200"]);
    }
    let took = began.elapsed();
    // Fifty one after the other would take five seconds.
    assert!(took >= Duration::from_millis(100) && took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn faults_of_streams_leave_the_connection() {
    let body_of = |fault: Fault| {
        let faults = vec![FaultShare { fault, share: 1.0 }];
        let options = Options { faults, ..options() };
        let server = Server::start(options.clone()).unwrap();
        let mut client = Client::connect(server.address(), &options);
        let first = client.get("/hello").map(|response| response.body.len());
        assert_eq!(client.get("/hello").map(|response| response.body.len()), first, "{fault:?}");
        assert_eq!(server.stop().unwrap().faults, 2, "{fault:?}");
        first
    };
    assert_eq!(body_of(Fault::ResetBefore), Err(INTERNAL_ERROR));
    assert_eq!(body_of(Fault::ResetDuring), Err(INTERNAL_ERROR));
    assert_eq!(body_of(Fault::ShortBody), Ok(7));
    assert_eq!(body_of(Fault::WrongLength), Ok(14 + 27));
    assert_eq!(body_of(Fault::Trickle), Ok(14));
}

#[test]
fn faults_of_connections_end_them() {
    for (fault, code) in [(Fault::CloseUnanswered, NO_ERROR), (Fault::ResetAfter, INTERNAL_ERROR)] {
        let faults = vec![FaultShare { fault, share: 1.0 }];
        let options = Options { faults, ..options() };
        let server = Server::start(options.clone()).unwrap();
        let mut client = Client::connect(server.address(), &options);
        let stream = client.open(&head(&get_fields("/hello")), true);
        if fault == Fault::ResetAfter {
            assert_eq!(client.response(stream).unwrap().body.len(), 14);
        }
        assert_eq!(client.closed(), code, "{fault:?}");
    }
}

/// RFC 9114, 5.2: the client is told which requests were taken, and the others can be sent again.
#[test]
fn the_last_request_is_announced_and_later_ones_are_rejected() {
    let options = Options { max_requests: Some(3), ..options() };
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    let streams: Vec<u64> =
        (0..5).map(|_| client.open(&head(&get_fields("/hello")), true)).collect();
    let ends: Vec<_> = streams.iter().map(|stream| client.end(*stream)).collect();
    for (end, place) in ends.into_iter().zip(0..) {
        match place {
            0..3 => assert!(matches!(end, Ok(Ok(_))), "{place}: {end:?}"),
            // The connection may be over before all are.
            _ => assert!(
                !matches!(end, Ok(Ok(_)))
                    && end.unwrap_or(Err(REQUEST_REJECTED)) == Err(REQUEST_REJECTED)
            ),
        }
    }
    let control = client.control();
    assert!(control.ends_with(&frame(kind::GOAWAY, &[12])), "{control:?}");
    assert_eq!(client.closed(), NO_ERROR);
    assert_eq!(server.stop().unwrap().requests, 3);
}

#[test]
fn stopping_lets_responses_under_way_finish() {
    for model in models() {
        let delay = Delay::Constant(Duration::from_millis(200));
        let options = Options { model, delay, ..options() };
        let server = Server::start(options.clone()).unwrap();
        let mut idle = Client::connect(server.address(), &options);
        let mut client = Client::connect(server.address(), &options);
        let stream = client.open(&head(&get_fields("/hello")), true);
        client.pass(Duration::from_millis(50));
        let stopping = std::thread::spawn(move || server.stop().unwrap());
        assert_eq!(client.response(stream).unwrap().body.len(), 14, "{model}");
        assert_eq!((client.closed(), idle.closed()), (NO_ERROR, NO_ERROR), "{model}");
        assert_eq!(stopping.join().unwrap().requests, 1, "{model}");
    }
}

/// RFC 9000, 8.1.2. Two workers share the key, whichever the answer comes to.
#[test]
fn clients_can_be_made_to_show_their_address() {
    let http3 = Some(Http3Options { retry: true, ..Http3Options::default() });
    let options = Options { http3, threads: 2, ..options() };
    let server = Server::start(options.clone()).unwrap();
    for _ in 0..5 {
        let mut client = Client::connect(server.address(), &options);
        assert_eq!(client.get("/hello").unwrap().statuses, ["200"]);
        client.close();
    }
    let served = server.stop().unwrap();
    assert_eq!((served.quic_handshakes, served.requests), (5, 5));
    // One more where a datagram was sent twice.
    assert!(served.quic_retries >= 5, "{served:?}");
}

#[test]
fn lost_datagrams_lose_no_request() {
    let http3 = Some(Http3Options { loss: 0.1, ..Http3Options::default() });
    let options = Options { http3, ..options() };
    let server = Server::start(options.clone()).unwrap();
    let mut client = Client::connect(server.address(), &options);
    let mut fields = get_fields("/echo");
    fields[0].1 = "POST";
    let body: Vec<u8> = (0..200_000u32).map(|at| (at * 7) as u8).collect();
    for _ in 0..3 {
        let post = [head(&fields), frame(kind::DATA, &body)].concat();
        assert!(client.ask(&post).unwrap().body == body);
    }
    let served = server.stop().unwrap();
    assert_eq!(served.requests, 3);
    assert!(served.datagrams_dropped > 0 && served.datagrams_dropped < served.datagrams_read / 2);
}
