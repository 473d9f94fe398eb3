//! What one refused call says of the next.

use std::net::SocketAddr;

use super::*;
use crate::health::Health;
use crate::options::Options;
use crate::registry::Registry;
use crate::routes::Routes;
use crate::tls::{Identity, TlsOptions};

const SEGMENT_BYTES: usize = 1_200;

/// A worker with a list of two datagrams and a shorter one to send.
fn worker(address: &str) -> UdpWorker<Routes> {
    let options = Options::default();
    let socket = UdpSocket::bind(address.parse().unwrap(), false, &options.sockets).unwrap();
    let tls = TlsOptions::new(Identity::self_made(&[]).unwrap()).configuration_of_http3().unwrap();
    let settings = Settings::new(tls, 10, 1_000, options.read_timeout, false).unwrap();
    let routes = Routes::new(&options);
    let service = Arc::new(Service::new(routes, &options, None, Arc::new(Registry::default())));
    let mut worker = UdpWorker::new(UdpParts {
        number: 0,
        cpu: None,
        socket,
        settings,
        service,
        part: Arc::new(Counters::default()).part(),
        stop: Arc::new(Stop::new(&Health::default()).unwrap()),
        loss: 0.0,
        seed: 1,
    });
    worker.out = vec![7; 2 * SEGMENT_BYTES + 100];
    worker
}

/// Has it sent to there; how many calls that took, and how many datagrams the kernel took.
fn send(worker: &mut UdpWorker<Routes>, to: SocketAddr) -> (u64, u64) {
    let before = worker.counters.read();
    let transmit = Transmit { to, from: None, segment_bytes: SEGMENT_BYTES, ecn: 0 };
    assert_eq!(worker.send(&transmit, 0), None);
    let after = worker.counters.read();
    (after.writes - before.writes, after.datagrams_written - before.datagrams_written)
}

#[test]
fn a_client_that_cannot_be_reached_does_not_end_lists_for_the_others() {
    // The kernel refuses port 0 (EINVAL), as it does lists that it cannot cut; and from loopback there is no way to a
    // documentation address.
    let cases =
        [("127.0.0.1:0", "127.0.0.1:0"), ("127.0.0.1:0", "192.0.2.1:4000"), ("[::1]:0", "[::1]:0")];
    for (bound, unreachable) in cases {
        let mut worker = worker(bound);
        if !worker.socket.segments {
            return ablaze_testing::skip::skip("this kernel has no UDP_SEGMENT");
        }
        let (_, sent) = send(&mut worker, unreachable.parse().unwrap());
        assert_eq!((sent, worker.socket.segments), (0, true), "{bound} to {unreachable}");
        let receiver = std::net::UdpSocket::bind(bound).unwrap();
        let counts = send(&mut worker, receiver.local_addr().unwrap());
        assert_eq!(counts, (1, 3), "{bound} to {unreachable}");
    }
}

#[test]
fn where_the_kernel_does_not_cut_each_datagram_is_a_call_from_then_on() {
    let mut worker = worker("127.0.0.1:0");
    if !worker.socket.segments {
        return ablaze_testing::skip::skip("this kernel has no UDP_SEGMENT");
    }
    worker.socket.refuse_lists();
    let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    let to = receiver.local_addr().unwrap();
    assert_eq!(send(&mut worker, to), (4, 3));
    assert!(!worker.socket.segments);
    assert_eq!(send(&mut worker, to), (3, 3));
    let mut buffer = [0; 2_000];
    let sizes: Vec<usize> = (0..6).map(|_| receiver.recv(&mut buffer).unwrap()).collect();
    assert_eq!(sizes, [1_200, 1_200, 100, 1_200, 1_200, 100]);
}
