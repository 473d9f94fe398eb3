//! A model made of nothing: it hands the protocol bytes in the pieces a test wants, does what
//! `Next` says, and notes what happened. Waits are noted, not waited for.

use std::io::IoSlice;
use std::sync::{Arc, OnceLock};

use ablaze_target::Options;
use ablaze_target::counters::Counters;
use ablaze_target::handler::Handler;
use ablaze_target::http1::date::Date;
use ablaze_target::http1::output::Output;
use ablaze_target::protocol::{Next, Protocol};
use ablaze_target::registry::Registry;
use ablaze_target::routes::Routes;
use ablaze_target::service::Service;

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Open,
    Closed { unread: bool },
    Reset,
}

/// What a client got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    pub bytes: Vec<u8>,
    /// Lengths of the writes.
    pub writes: Vec<usize>,
    /// Where in the bytes the server waited, and for how long.
    pub waits: Vec<(usize, u64)>,
    pub end: End,
    pub requests: u64,
}

/// A server under test; its draws go on from connection to connection.
pub struct Bench<H> {
    pub service: Service<H>,
    date: &'static Date,
    /// Most bytes per write.
    pub write_bytes: usize,
}

impl Bench<Routes> {
    pub fn new(options: &Options) -> Self {
        assert_eq!(options.validate(), Ok(()));
        Self::with(Routes::new(options), options)
    }
}

impl<H: Handler> Bench<H> {
    pub fn with(handler: H, options: &Options) -> Self {
        let service = Service::new(handler, options, None, Arc::new(Registry::default()));
        Self { service, date: date(), write_bytes: usize::MAX }
    }

    /// One connection on which `input` comes in pieces of these lengths, the last one over and
    /// over.
    pub fn converse(&self, input: &[u8], pieces: &[usize]) -> Heard {
        let mut connection = Connection::new(self);
        let mut rest = input;
        let mut lengths = pieces.iter().chain(pieces.last().into_iter().cycle());
        while !rest.is_empty() && connection.heard.end == End::Open {
            let length = (*lengths.next().unwrap()).clamp(1, rest.len());
            let (piece, behind) = rest.split_at(length);
            connection.receive(piece);
            rest = behind;
        }
        connection.heard
    }

    /// All input at once.
    pub fn ask(&self, input: impl AsRef<[u8]>) -> Heard {
        self.converse(input.as_ref(), &[usize::MAX])
    }

    /// The body and head of the response to a GET.
    pub fn get(&self, path: &str) -> (String, Vec<u8>) {
        let heard = self.ask(format!("GET {path} HTTP/1.1\r\nHost: t\r\n\r\n"));
        head_and_body(&heard.bytes)
    }
}

/// One connection.
pub struct Connection<'a, H> {
    bench: &'a Bench<H>,
    protocol: Protocol,
    pub heard: Heard,
}

impl<'a, H: Handler> Connection<'a, H> {
    pub fn new(bench: &'a Bench<H>) -> Self {
        let heard = Heard {
            bytes: Vec::new(),
            writes: Vec::new(),
            waits: Vec::new(),
            end: End::Open,
            requests: 0,
        };
        Self { bench, protocol: Protocol::new(&bench.service), heard }
    }

    /// Hands over what one read gave, and goes on until the protocol wants to read.
    pub fn receive(&mut self, bytes: &[u8]) {
        let Bench { service, date, .. } = self.bench;
        let mut out = Output::default();
        let mut next = self.protocol.receive(bytes, service, date, &mut out);
        for _ in 0..1_000_000 {
            let counters = Counters::default();
            self.protocol.count_into(&counters);
            self.heard.requests += counters.read().requests;
            self.write(&mut out);
            match next {
                Next::Read | Next::ReadFor(_) => return,
                Next::Proceed => {}
                Next::Wait(wait_ns) => self.heard.waits.push((self.heard.bytes.len(), wait_ns)),
                Next::Close { unread } => return self.heard.end = End::Closed { unread },
                Next::Reset => return self.heard.end = End::Reset,
            }
            next = self.protocol.proceed(service, date, &mut out);
        }
        panic!("the protocol never wants to read again");
    }

    fn write(&mut self, out: &mut Output) {
        while !out.is_empty() {
            let mut slices = [IoSlice::new(&[]); 4];
            let used = out.slices(&mut slices);
            let mut offered: Vec<u8> = Vec::new();
            for slice in &slices[..used] {
                offered.extend_from_slice(slice);
            }
            if let Some(text) = out.as_text() {
                assert_eq!(text, offered);
            }
            offered.truncate(self.bench.write_bytes);
            assert!(!offered.is_empty(), "{} bytes are left and none are offered", out.left());
            out.wrote(offered.len());
            self.heard.writes.push(offered.len());
            self.heard.bytes.extend(offered);
        }
    }
}

/// The same for all servers, so that their responses can be compared.
fn date() -> &'static Date {
    static DATE: OnceLock<Date> = OnceLock::new();
    DATE.get_or_init(Date::now)
}

/// Splits behind the first head.
pub fn head_and_body(bytes: &[u8]) -> (String, Vec<u8>) {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("no head") + 4;
    (String::from_utf8(bytes[..end].to_vec()).unwrap(), bytes[end..].to_vec())
}

/// Value of a field in a head.
pub fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (field, value) = line.split_once(':')?;
        field.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// Takes a chunked body apart, by RFC 9112, 7.1, into chunks; asserts that nothing follows.
pub fn chunks(mut coded: &[u8]) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    loop {
        let line = coded.windows(2).position(|two| two == b"\r\n").expect("no size line");
        let size = std::str::from_utf8(&coded[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        coded = &coded[line + 2..];
        let (data, rest) = coded.split_at(size);
        coded = rest.strip_prefix(b"\r\n").expect("no line end behind a chunk");
        if size == 0 {
            assert_eq!(coded, b"");
            return chunks;
        }
        chunks.push(data.to_vec());
    }
}
