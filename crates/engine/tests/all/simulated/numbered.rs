//! Requests whose every part names their number, and a reader that checks each byte a server gets of
//! them: a request that continues with another one's bytes is named, with the place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ablaze_wire::http1::builder::RequestBuilder;
use ablaze_wire::http1::request::Template;

/// What a body repeats: ten digits and a comma.
const PERIOD_BYTES: usize = 11;

/// A request of this method with its number in the path, in a field, and all through its body of
/// `times` × 11 bytes.
pub fn numbered(method: &str, times: usize) -> Template {
    RequestBuilder::new(method, "/{seq}")
        .header("Host", "there")
        .header("X-Number", "{seq}")
        .body_length_header("Content-Length")
        .body("{seq},".repeat(times))
        .build()
        .unwrap()
}

/// What servers got, of all connections.
#[derive(Debug, Clone, Default)]
pub struct Got(Arc<Mutex<Requests>>);

#[derive(Debug, Default)]
struct Requests {
    /// How often each number came, whole.
    whole: BTreeMap<u64, u32>,
    wrong: Vec<String>,
}

impl Got {
    /// Panics when a byte was wrong, or a request came whole more than `most` times. How many
    /// requests came whole since the last call.
    pub fn check(&self, most: u32, case: &str) -> usize {
        let requests = std::mem::take(&mut *self.0.lock().unwrap());
        let wrong = &requests.wrong;
        assert!(wrong.is_empty(), "{case}: {} wrong, first: {}", wrong.len(), wrong[0]);
        let often = requests.whole.iter().find(|(_, times)| **times > most);
        assert_eq!(often, None, "{case}: the same request came too often");
        requests.whole.len()
    }

    pub fn whole(&self, number: u64) {
        *self.0.lock().unwrap().whole.entry(number).or_default() += 1;
    }

    pub fn wrong(&self, what: String) {
        self.0.lock().unwrap().wrong.push(what);
    }
}

/// Something that a reader came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// The first byte of a request.
    First,
    /// The end of its head.
    Head,
    /// Its last byte.
    Last,
}

/// Reads the requests of one connection.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    got: Got,
    head: Vec<u8>,
    number: u64,
    body: [u8; PERIOD_BYTES],
    at: usize,
    left: usize,
    broken: bool,
}

impl Reader {
    pub fn new(got: &Got) -> Self {
        Self { got: got.clone(), ..Self::default() }
    }

    /// Reads what came, and says what it came to.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Came> {
        let mut came = Vec::new();
        let mut rest = bytes;
        while let (false, [byte, behind @ ..]) = (self.broken, rest) {
            if self.left > 0 {
                let piece = self.left.min(rest.len());
                self.body(&rest[..piece]);
                rest = &rest[piece..];
            } else {
                rest = behind;
                if self.head.is_empty() {
                    came.push(Came::First);
                }
                self.head.push(*byte);
                if !self.head.ends_with(b"\r\n\r\n") {
                    continue;
                }
                self.take_head();
                came.push(Came::Head);
            }
            if self.left == 0 && !self.broken {
                self.got.whole(self.number);
                came.push(Came::Last);
            }
        }
        came
    }

    fn take_head(&mut self) {
        let text = String::from_utf8_lossy(&std::mem::take(&mut self.head)).into_owned();
        let between = |from: &str, to: &str| {
            let rest = &text[text.find(from)? + from.len()..];
            rest[..rest.find(to)?].parse::<u64>().ok()
        };
        let numbers = (between(" /", " HTTP/1.1\r\n"), between("\r\nX-Number: ", "\r\n"));
        let length = between("\r\nContent-Length: ", "\r\n");
        let begins = text.starts_with("P");
        let (Some(number), Some(length), true) = (numbers.0, length, begins) else {
            return self.fail(format!("no head of ours: {text:?}"));
        };
        if numbers.1 != Some(number) {
            return self.fail(format!("two numbers in one head: {text:?}"));
        }
        self.number = number;
        self.left = length as usize;
        self.at = 0;
        self.body.copy_from_slice(format!("{number:010},").as_bytes());
    }

    /// The next bytes of a body.
    fn body(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let expected = self.body[self.at % PERIOD_BYTES];
            if byte != expected {
                let (number, at) = (self.number, self.at);
                let (byte, expected) = (byte as char, expected as char);
                return self.fail(format!(
                    "byte {at} of the body of request {number} is {byte:?}, not {expected:?}"
                ));
            }
            self.at += 1;
        }
        self.left -= bytes.len();
    }

    fn fail(&mut self, what: String) {
        self.broken = true;
        self.got.wrong(what);
    }
}
