//! `close_notify` over real sockets: what a server sees of a connection that is closed by the client,
//! with each driver and however the response before was received.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use ablaze_engine::{Control, run};
use ablaze_model::FailureKind;
use ablaze_model::plan::IoChoice;
use rustls::{AlertDescription, ServerConfig, ServerConnection, Stream};

use crate::tls::plans::plan;
use ablaze_tamper::authority::Authority;
use ablaze_tamper::tls_peer::{BOTH, config, with_tls};

const REQUESTS_EACH: u64 = 2;

/// How each of this many connections ended: whether `close_notify` came before the FIN.
fn serve(
    listener: TcpListener,
    config: Arc<ServerConfig>,
    body_bytes: usize,
    connections: usize,
) -> Vec<Result<usize, ErrorKind>> {
    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {body_bytes}\r\n\r\n").into_bytes();
    let response = [response, vec![b'x'; body_bytes]].concat();
    let mut ends = Vec::new();
    for _ in 0..connections {
        let (mut socket, _) = listener.accept().unwrap();
        let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = Stream::new(&mut session, &mut socket);
        let mut asked = Vec::new();
        let mut buffer = [0; 4096];
        ends.push(loop {
            match stream.read(&mut buffer) {
                Ok(0) => break Ok(0),
                Ok(bytes) => asked.extend_from_slice(&buffer[..bytes]),
                Err(error) => break Err(error.kind()),
            }
            while let Some(at) = asked.windows(4).position(|four| four == b"\r\n\r\n") {
                asked.drain(..at + 4);
                stream.write_all(&response).unwrap();
            }
        });
    }
    ends
}

#[test]
fn the_server_hears_it_before_the_end_whatever_was_received_before() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for io in [IoChoice::Uring, IoChoice::Epoll] {
        for (name, version) in BOTH {
            // Small responses come through a receive that goes on; after a large one, one ends with it.
            for body_bytes in [5, 200_000] {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap();
                let config = Arc::new(config(&[version], &issued));
                // The third connection ends with the run.
                let server = thread::spawn(move || serve(listener, config, body_bytes, 3));
                let mut plan = with_tls(plan(3 * REQUESTS_EACH, 1), authority.trusted("there"));
                plan.target.addresses = vec![address];
                plan.target.port = address.port();
                plan.connections.requests_per_connection = Some(REQUESTS_EACH);
                plan.workers.io = io;
                let Ok(ran) = run(plan, &Control::new()) else {
                    // No io_uring here: its server waits for nobody.
                    assert_eq!(io, IoChoice::Uring);
                    break;
                };
                assert_eq!((ran.record.responses, ran.record.failures_total()), (6, 0));
                let ends = server.join().unwrap();
                assert_eq!(ends[..2], [Ok(0), Ok(0)], "TLS {name}, {io:?}, {body_bytes} bytes");
            }
        }
    }
}

/// RFC 8446, 6.2: whoever finds that a record is none says so, and does not end as if all were well.
#[test]
fn a_server_that_breaks_the_rules_behind_the_handshake_is_told_which() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for io in [IoChoice::Uring, IoChoice::Epoll] {
        for (name, version) in BOTH {
            for (record, alert) in [
                // Not sealed with the key; longer than any; of no type.
                ([&[23, 3, 3, 0, 64][..], &[0; 64]].concat(), AlertDescription::BadRecordMac),
                (vec![23, 3, 3, 0xff, 0xff], AlertDescription::RecordOverflow),
                (vec![99, 3, 3, 0, 1, 0], AlertDescription::UnexpectedMessage),
            ] {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap();
                let config = Arc::new(config(&[version], &issued));
                let server = thread::spawn(move || {
                    let (mut socket, _) = listener.accept().unwrap();
                    let mut session = ServerConnection::new(config).unwrap();
                    let mut stream = Stream::new(&mut session, &mut socket);
                    let asked = stream.read(&mut [0; 4096]).unwrap();
                    assert!(asked > 0);
                    stream.sock.write_all(&record).unwrap();
                    let error = stream.read(&mut [0; 4096]).unwrap_err();
                    error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>()).cloned()
                });
                let mut plan = with_tls(plan(1, 1), authority.trusted("there"));
                plan.target.addresses = vec![address];
                plan.target.port = address.port();
                plan.workers.io = io;
                let Ok(ran) = run(plan, &Control::new()) else {
                    assert_eq!(io, IoChoice::Uring);
                    return;
                };
                assert_eq!(ran.record.failures_total(), 1, "TLS {name}, {io:?}, {alert:?}");
                let heard = server.join().unwrap();
                let told = Some(rustls::Error::AlertReceived(alert));
                assert_eq!(heard, told, "TLS {name}, {io:?}");
            }
        }
    }
}

/// A server that reads one request, responds or not, says that nothing more comes, and leaves the FIN to the client.
fn served_once_each(
    listener: TcpListener,
    config: Arc<ServerConfig>,
    responds: bool,
    connections: usize,
) {
    for _ in 0..connections {
        let (mut socket, _) = listener.accept().unwrap();
        let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = Stream::new(&mut session, &mut socket);
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        if responds {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
        }
        stream.conn.send_close_notify();
        let _ = stream.flush();
        while stream.sock.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {}
    }
}

/// The end that the server announces within TLS is the server's, though the client's FIN comes first.
#[test]
fn what_the_server_ends_was_not_closed_by_the_client() {
    let authority = Authority::new();
    let issued = authority.issue("there", |_| {});
    for io in [IoChoice::Uring, IoChoice::Epoll] {
        for ((name, version), responds) in BOTH.into_iter().flat_map(|v| [(v, false), (v, true)]) {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let config = Arc::new(config(&[version], &issued));
            let mut plan = with_tls(plan(3, 1), authority.trusted("there"));
            plan.target.addresses = vec![address];
            plan.target.port = address.port();
            plan.workers.io = io;
            // The requests behind a response are sent again, each on the next connection.
            let server = thread::spawn(move || served_once_each(listener, config, responds, 3));
            let Ok(ran) = run(plan, &Control::new()) else {
                assert_eq!(io, IoChoice::Uring);
                return;
            };
            let record = &ran.record;
            let what = format!("TLS {name}, {io:?}, responds: {responds}");
            match responds {
                true => {
                    assert_eq!((record.responses, record.failures_total()), (3, 0), "{what}");
                    // The end came behind a request that was on its way, or before the next one.
                    let ended = record.repeated + record.ended_idle.unused.count;
                    assert!((2..=3).contains(&ended), "{what}: {ended}");
                    assert_eq!(record.repeated_after_announced, 0, "{what}");
                }
                false => {
                    let closed = record.failures_of(FailureKind::ClosedWithoutResponse);
                    assert_eq!((record.responses, closed), (0, 3), "{what}");
                    assert_eq!(record.circumstances.closed_here, 0, "{what}");
                }
            }
            server.join().unwrap();
        }
    }
}
