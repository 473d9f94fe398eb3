//! Against somebody else's HTTP/3: hyperium's `h3` over quinn, through sockets of the machine.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use ablaze_quic::client::{Connection, Connector, End, Options, RequestSet, Why};
use ablaze_quic::datagrams::Received;
use ablaze_wire::http1::patch::Digits;
use ablaze_wire::http2::request::Request;
use bytes::{Buf, Bytes};
use quinn::crypto::rustls::QuicServerConfig;

use super::server::{IDENTITY, content};
use super::world::{Log, tls};

/// No test waits longer.
const MOST: Duration = Duration::from_secs(20);

/// A server that answers each request with what it got, behind an interim head and before trailers. It ends with its one
/// connection.
fn server() -> (SocketAddr, std::thread::JoinHandle<u32>) {
    let (tell, told) = channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let endpoint =
                quinn::Endpoint::server(config(), "127.0.0.1:0".parse().unwrap()).unwrap();
            tell.send(endpoint.local_addr().unwrap()).unwrap();
            tokio::time::timeout(MOST, serve(&endpoint)).await.unwrap()
        })
    });
    (told.recv_timeout(MOST).unwrap(), thread)
}

fn config() -> quinn::ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![IDENTITY.certificate.clone()], IDENTITY.key.clone_key())
        .unwrap();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()))
}

/// Requests that were answered when the client closed the connection without an error.
async fn serve(endpoint: &quinn::Endpoint) -> u32 {
    let connection = endpoint.accept().await.unwrap().await.unwrap();
    let mut h3 = h3::server::Connection::<_, Bytes>::new(h3_quinn::Connection::new(connection))
        .await
        .unwrap();
    let mut answered = 0;
    loop {
        match h3.accept().await {
            Ok(Some(resolver)) => {
                let (request, mut stream) = resolver.resolve_request().await.unwrap();
                assert_eq!(request.uri().authority().unwrap().as_str(), "server.test");
                let mut got = Vec::new();
                while let Some(mut part) = stream.recv_data().await.unwrap() {
                    got.extend_from_slice(&part.copy_to_bytes(part.remaining()));
                }
                let interim = http::Response::builder().status(103).body(()).unwrap();
                stream.send_response(interim).await.unwrap();
                let head = http::Response::builder().header("x-method", request.method().as_str());
                stream.send_response(head.body(()).unwrap()).await.unwrap();
                stream.send_data(got.into()).await.unwrap();
                let mut trailers = http::HeaderMap::new();
                trailers.insert("x-trailer", "1".parse().unwrap());
                stream.send_trailers(trailers).await.unwrap();
                stream.finish().await.unwrap();
                answered += 1;
            }
            Ok(None) => return answered,
            Err(error) => {
                assert!(error.is_h3_no_error(), "{error}");
                return answered;
            }
        }
    }
}

/// A client with a socket.
struct Client {
    connection: Connection,
    socket: UdpSocket,
    log: Log,
    began: Instant,
}

impl Client {
    fn new(remote: SocketAddr) -> Self {
        let connector = Connector::new(&tls(), Options::with_streams(16)).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(remote).unwrap();
        let connection = Connection::new(&connector, remote, "server.test", 0).unwrap();
        Self { connection, socket, log: Log::default(), began: Instant::now() }
    }

    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    fn send(&mut self) {
        let mut out = Vec::new();
        while let Some(transmit) = self.connection.transmit(self.now_ns(), &mut out) {
            for datagram in out.chunks(transmit.segment_bytes) {
                self.socket.send(datagram).unwrap();
            }
        }
    }

    fn run(&mut self, mut until: impl FnMut(&mut Self) -> bool) {
        let mut bytes = vec![0; 65_536];
        while !until(self) {
            assert!(self.began.elapsed() < MOST, "{:?}", self.connection.ended());
            self.send();
            let wait_ns = self.connection.deadline_ns().unwrap_or(u64::MAX);
            let wait_ns = wait_ns.saturating_sub(self.now_ns()).clamp(100_000, 20_000_000);
            self.socket.set_read_timeout(Some(Duration::from_nanos(wait_ns))).unwrap();
            let now_ns = |client: &Self| client.now_ns();
            if let Ok(received) = self.socket.recv(&mut bytes) {
                let bytes = &mut bytes[..received];
                let received = Received { bytes, segment_bytes: received, ecn: 0 };
                let now_ns = now_ns(self);
                self.connection.receive(received, now_ns, &mut self.log);
            }
            let now_ns = now_ns(self);
            if self.connection.deadline_ns().is_some_and(|at| at <= now_ns) {
                self.connection.expired(now_ns, &mut self.log);
            }
        }
    }
}

#[test]
fn everything_that_h3_answers_is_understood_and_the_other_way_round() {
    let (remote, thread) = server();
    let mut client = Client::new(remote);
    client.run(|client| client.connection.stands() || client.connection.ended().is_some());
    assert_eq!(client.connection.ended(), None);
    let sizes = [0, 1, 1_000, 100_000, 1 << 20];
    let requests: Vec<Request> = sizes
        .iter()
        .map(|&bytes| Request::new("POST", "https", "server.test", "/").body(content(bytes)))
        .collect();
    let set = RequestSet::new(&requests);
    let (mut digits, mut next) = (Digits::new(1, 1), 0);
    client.run(|client| {
        while next < 60 && client.connection.free_streams() > 0 {
            let request = next as usize % sizes.len();
            client.connection.request(&set, request, 0, &mut digits, next).unwrap();
            next += 1;
        }
        client.log.ended() == 60
    });
    for (tag, exchange) in &client.log.exchanges {
        assert_eq!(
            (&exchange.ended[..], &exchange.interim[..]),
            (&[End::Complete][..], &[103][..])
        );
        assert_eq!((exchange.head.unwrap().status, exchange.trailers), (200, 1));
        assert!(exchange.content == content(sizes[*tag as usize % sizes.len()]), "{tag}");
    }
    assert!(client.connection.peer_settings().is_some());
    let now_ns = client.now_ns();
    client.connection.close(now_ns);
    client.send();
    assert_eq!(client.connection.ended().unwrap().why, Why::Closed);
    assert_eq!(thread.join().unwrap(), 60);
}
