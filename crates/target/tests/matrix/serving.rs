//! Every cell of the matrix serves the same bytes: small and large responses, HEAD, an upload, and
//! thousands of pipelined requests to a client that reads slowly. Heads are compared between the
//! cells, bodies with what they are by definition, counts with what the client did.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use ablaze_random::SplitMix64;
use ablaze_target::{Counts, filler};

use crate::cells::{self, Cell, Persistence};
use crate::client::{Client, HELLO, Response, get, mask_date};
use crate::models::{message, start, within};

const BODY_BYTES: usize = 8_388_608;
const UPLOAD_BYTES: usize = 20_000_000;
const PIPELINED: u64 = 10_000;
/// A cell takes half a second; on a busy machine, more.
const LIMIT: Duration = Duration::from_secs(60);

/// Heads by step, dates masked.
type Heads = BTreeMap<&'static str, String>;

#[test]
fn a_choice_of_the_matrix_serves_the_same_bytes() {
    judge(cells::pairwise());
}

#[test]
#[ignore = "long: every cell, where the test above takes a choice"]
fn the_whole_matrix_serves_the_same_bytes() {
    judge(cells::all());
}

/// Judges the cells, two at a time, and reports all that failed.
fn judge(cells: Vec<Cell>) {
    let cells = Arc::new(Mutex::new(cells.into_iter()));
    let failed = Arc::new(Mutex::new(Vec::new()));
    let heads: Arc<Mutex<BTreeMap<Persistence, Heads>>> = Arc::default();
    let next = || {
        let cells = cells.clone();
        move || cells.lock().unwrap().next()
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            let (next, failed, heads) = (next(), failed.clone(), heads.clone());
            scope.spawn(move || {
                while let Some(cell) = next() {
                    let name = cell.to_string();
                    let result = std::panic::catch_unwind(|| {
                        let said = within(&cell.to_string(), LIMIT, move || serve(&cell));
                        let mut heads = heads.lock().unwrap_or_else(|poison| poison.into_inner());
                        let first = heads.entry(cell.persistence).or_insert_with(|| said.clone());
                        assert_eq!(*first, said, "heads are not those of the first cell");
                    });
                    if let Err(panic) = result {
                        let why = message(&*panic);
                        failed.lock().unwrap().push(format!("{name}: {why}"));
                    }
                }
            });
        }
    });
    let failed = failed.lock().unwrap();
    assert!(failed.is_empty(), "{} cells failed\n{}", failed.len(), failed.join("\n"));
}

/// Goes through all steps with one server; the heads of its responses.
fn serve(cell: &Cell) -> Heads {
    let server = start(cell.options());
    let mut session = Session::new(server.address(), cell.persistence);
    session.step("hello", &get("/hello"), |response| {
        assert_eq!((response.status, &response.body[..]), (200, HELLO));
    });
    session.step("large", &get("/bytes/8388608"), |response| {
        assert_eq!(response.status, 200);
        assert!(response.body == filler_bytes(BODY_BYTES), "wrong bytes in the large body");
    });
    session.step("missing", &get("/nothing/here"), |response| assert_eq!(response.status, 404));
    session.chunked("chunked", "/chunked/100000", |body| {
        assert!(body == filler_bytes(100_000), "wrong bytes in the chunked body");
    });
    session.chunked("stream", "/stream?lines=5&every=3ms", |body| {
        assert_eq!(body.iter().filter(|&&byte| byte == b'\n').count(), 5);
    });
    session.head("head of hello", "/hello", HELLO.len());
    session.head("head of large", "/bytes/8388608", BODY_BYTES);
    session.upload();
    session.finish();
    session.pipeline();
    session.compare(server.stop().unwrap());
    session.heads
}

/// What the client does with one server, and what it counts.
struct Session {
    address: SocketAddr,
    persistence: Persistence,
    /// The connection of all steps, if it is kept.
    kept: Option<Client>,
    heads: Heads,
    requests: u64,
    connections: u64,
}

impl Session {
    fn new(address: SocketAddr, persistence: Persistence) -> Self {
        Self { address, persistence, kept: None, heads: Heads::new(), requests: 0, connections: 0 }
    }

    fn connection(&mut self) -> Client {
        self.kept.take().unwrap_or_else(|| {
            self.connections += 1;
            Client::connect(self.address)
        })
    }

    /// A request as it is to be sent: with a wish to close, if it is the client that closes.
    fn with_wish(&self, request: &str) -> String {
        match self.persistence {
            Persistence::ClientCloses => {
                request.replacen("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
            }
            _ => request.to_owned(),
        }
    }

    /// Behind a response: the connection is kept, or it has ended in order, as it should.
    fn behind(&mut self, name: &'static str, mut client: Client, response: Response) {
        self.requests += 1;
        if self.persistence == Persistence::Kept {
            assert_eq!(response.field("Connection"), None, "{name}");
            self.kept = Some(client);
        } else {
            assert_eq!(response.field("Connection"), Some("close"), "{name}");
            assert_eq!(client.rest(), b"", "{name}: bytes behind the last response");
        }
        self.heads.insert(name, response.head);
    }

    /// One request and its response.
    fn step(&mut self, name: &'static str, request: &str, judge: impl Fn(&Response)) {
        let mut client = self.connection();
        client.send(self.with_wish(request));
        let response = client.response();
        judge(&response);
        self.behind(name, client, response);
    }

    /// A request that is answered in chunks, some of which may have to wait for their time.
    fn chunked(&mut self, name: &'static str, path: &str, judge: impl Fn(&[u8])) {
        let mut client = self.connection();
        client.send(self.with_wish(&get(path)));
        let response = client.chunked_response();
        assert_eq!((response.status, response.field("Content-Length")), (200, None));
        judge(&response.body);
        self.behind(name, client, response);
    }

    /// A HEAD: the length is announced and no byte of the body follows, which the next response on
    /// the connection shows, or its end.
    fn head(&mut self, name: &'static str, path: &str, length: usize) {
        let mut client = self.connection();
        client.send(self.with_wish(&get(path).replacen("GET", "HEAD", 1)));
        let response = client.head();
        assert_eq!(response.status, 200);
        assert_eq!(response.field("Content-Length"), Some(length.to_string().as_str()));
        self.behind(name, client, response);
    }

    fn upload(&mut self) {
        let head = format!(
            "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Type: test/x\r\n\
             Content-Length: {UPLOAD_BYTES}\r\n\r\n"
        );
        let mut client = self.connection();
        client.send(self.with_wish(&head));
        client.send(posted());
        let response = client.response();
        assert_eq!((response.status, response.field("Content-Type")), (200, Some("test/x")));
        assert!(response.body == posted(), "what was posted came back wrong");
        self.behind("upload", client, response);
    }

    /// Ends the kept connection: what follows has one of its own.
    fn finish(&mut self) {
        if let Some(mut kept) = self.kept.take() {
            kept.finish();
            assert_eq!(kept.rest(), b"");
        }
    }

    /// All requests at once, and the responses read slowly through a narrow window. The server must
    /// neither lose nor double one when it gets stuck and goes on; of those behind a response that
    /// closes, it must answer none.
    fn pipeline(&mut self) {
        let mut client = Client::connect_narrow(self.address);
        self.connections += 1;
        let mut requests = get("/hello").repeat(PIPELINED as usize - 1);
        requests += &self.with_wish(&get("/hello"));
        let mut stream = client.stream.try_clone().unwrap();
        // The server that closes first may not take all of it.
        let may_fail = self.persistence == Persistence::ServerCloses;
        let sender = thread::spawn(move || {
            let sent = stream.write_all(requests.as_bytes());
            assert!(sent.is_ok() || may_fail, "sending failed: {sent:?}");
        });
        thread::sleep(Duration::from_millis(30));
        let responses = if may_fail { 1 } else { PIPELINED };
        let first = client.response();
        for number in 1..responses {
            let last = number == responses - 1;
            let response = match last {
                true => client.response(),
                // As the first, byte for byte: read as one piece.
                false => same_as(&first, client.take(first.head.len() + HELLO.len()), number),
            };
            assert!(response.body == HELLO, "response {number} has a wrong body");
            let closes = last && self.persistence == Persistence::ClientCloses;
            assert_eq!(response.field("Connection").is_some(), closes, "response {number}");
            if number % 500 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        self.requests += responses;
        match self.persistence {
            Persistence::Kept => {
                client.finish();
                assert_eq!(client.rest(), b"");
            }
            _ => assert_eq!(client.rest(), b"", "bytes behind the last response"),
        }
        sender.join().unwrap();
        self.heads.insert("pipelined", first.head);
    }

    /// What the server counted is what the client did.
    fn compare(&self, served: Counts) {
        assert_eq!(
            (served.requests, served.connections),
            (self.requests, self.connections),
            "requests and connections by the server, by the client"
        );
    }
}

/// The next response, which has to be the first again.
fn same_as(first: &Response, mut bytes: Vec<u8>, number: u64) -> Response {
    mask_date(&mut bytes);
    let body = bytes.split_off(first.head.len());
    assert!(bytes == first.head.as_bytes(), "response {number} differs from the first");
    Response { status: first.status, head: first.head.clone(), body }
}

/// The body that `/bytes/N` has by definition: a block, repeated.
fn filler_bytes(bytes: usize) -> &'static [u8] {
    static BODY: OnceLock<Vec<u8>> = OnceLock::new();
    &BODY.get_or_init(|| filler::BLOCK.iter().copied().cycle().take(BODY_BYTES).collect())[..bytes]
}

/// What is posted: bytes that are not the same everywhere.
fn posted() -> &'static [u8] {
    static BODY: OnceLock<Vec<u8>> = OnceLock::new();
    BODY.get_or_init(|| SplitMix64::new(7).bytes(UPLOAD_BYTES))
}
