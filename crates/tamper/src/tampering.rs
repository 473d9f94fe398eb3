//! What is done to the records of a peer before they arrive.

use super::choices::Choices;
use super::tap::{self, Record, Seal};

/// No record is taken apart into more pieces.
const PIECES_MAX: usize = 64;
/// What one input adds is bounded: the length of an exchange is that of its records.
const ADDED_MAX: u32 = 200;

/// Types of records (RFC 8446, B.1), and one that TLS does not know any more.
const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;
const HEARTBEAT: u8 = 24;

/// What is put between the records of a peer: the beginnings and the ends of messages, alerts,
/// messages that are not for then, and nothing.
const BETWEEN: [(u8, &[u8]); 24] = [
    (HANDSHAKE, &[24, 0, 0]),
    (HANDSHAKE, &[24, 0, 0, 1, 0]),
    (HANDSHAKE, &[24, 0, 0, 1, 1]),
    (HANDSHAKE, &[1, 0]),
    (HANDSHAKE, &[]),
    (HANDSHAKE, &[24]),
    (HANDSHAKE, &[2, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    (HANDSHAKE, &[0, 0, 0, 0]),
    (HANDSHAKE, &[4, 0, 0, 20, 0, 0]),
    (HANDSHAKE, &[4, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 0, 0]),
    (HANDSHAKE, &[20, 0, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    (HANDSHAKE, &[11, 0, 0xff, 0xff]),
    (HANDSHAKE, &[24, 0, 0, 1, 0, 24, 0, 0]),
    (ALERT, &[1, 0]),
    (ALERT, &[2, 40]),
    (ALERT, &[1, 90]),
    (ALERT, &[1]),
    (ALERT, &[]),
    (CHANGE_CIPHER_SPEC, &[1]),
    (CHANGE_CIPHER_SPEC, &[]),
    (APPLICATION_DATA, &[]),
    (APPLICATION_DATA, b"GET /hello HTTP/1.1\r\nHost: there\r\n\r\n"),
    (HEARTBEAT, &[1, 0, 1, 0]),
    (0, &[0, 0, 0]),
];

/// What arrives in the middle of TLS without being any.
const NO_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";

/// Does to the records of one connection what an input says.
#[derive(Debug, Clone, Default)]
pub struct Tampering {
    choices: Choices,
    /// The beginning of a record, to be joined with the next of its kind.
    joined: Option<Record>,
    /// A record that changes places with the next.
    late: Option<Record>,
    /// The key of the last record that had one.
    seal: Option<Seal>,
    added: u32,
}

impl Tampering {
    /// As these bytes say. Nothing is done once they are over.
    pub fn new(choices: &[u8]) -> Self {
        Self { choices: Choices::new(choices), ..Self::default() }
    }

    /// Whether nothing will be done any more.
    pub fn is_over(&self) -> bool {
        self.choices.are_over() && self.joined.is_none() && self.late.is_none()
    }

    /// What is chosen besides.
    pub fn choices(&mut self) -> &mut Choices {
        &mut self.choices
    }

    /// What arrives of what a connection over [`tap::provider`] wrote.
    pub fn pass(&mut self, written: &[u8]) -> Vec<u8> {
        let mut to = Vec::with_capacity(written.len());
        for mut record in tap::records(written) {
            if let Some(mut before) = self.joined.take() {
                if before.kind == record.kind {
                    before.payload.append(&mut record.payload);
                    record.payload = before.payload;
                } else {
                    to.extend(before.encode());
                }
            }
            self.seal = record.seal.clone().or(self.seal.take());
            let late = self.late.take();
            self.treat(record, &mut to);
            if let Some(late) = late {
                to.extend(late.encode());
            }
        }
        to
    }

    /// Something that no record of the peer's brings with it, sealed with its last key.
    pub fn interject(&mut self) -> Vec<u8> {
        match self.choices.byte() {
            0 => Vec::new(),
            choice => self.between(choice, self.seal.clone()),
        }
    }

    fn treat(&mut self, mut record: Record, to: &mut Vec<u8>) {
        let seal = record.seal.clone();
        let len = record.payload.len();
        let action = self.choices.byte() & 31;
        match action {
            1 | 2 => {
                let at = self.choices.up_to(len);
                let behind = Record { payload: record.payload.split_off(at), ..record.clone() };
                to.extend(record.encode());
                if action == 2 {
                    let choice = self.choices.byte();
                    to.extend(self.between(choice, seal));
                }
                to.extend(behind.encode());
            }
            3 => self.joined = Some(record),
            4 => self.late = Some(record),
            5 => {}
            6 => {
                to.extend(record.encode());
                to.extend(record.encode());
            }
            7 | 8 => {
                let choice = self.choices.byte();
                let between = self.between(choice, seal);
                if action == 7 {
                    to.extend(between);
                    to.extend(record.encode());
                } else {
                    to.extend(record.encode());
                    to.extend(between);
                }
            }
            9 => {
                self.change(&mut record.payload);
                to.extend(record.encode());
            }
            10 => {
                let mut bytes = record.encode();
                self.change(&mut bytes);
                to.extend(bytes);
            }
            11 => {
                to.extend(self.choices.bytes(32));
                to.extend(record.encode());
            }
            12 => {
                record.payload.truncate(self.choices.up_to(len));
                to.extend(record.encode());
            }
            13 => to.extend(Record { seal: None, ..record }.encode()),
            14 => {
                record.kind = *self.choices.one_of(&[22, 23, 21, 20, 24, 0]);
                to.extend(record.encode());
            }
            15 => {
                let bytes = self.choices.up_to(len).max(len.div_ceil(PIECES_MAX)).max(1);
                for piece in record.payload.chunks(bytes) {
                    to.extend(Record { payload: piece.to_vec(), ..record.clone() }.encode());
                }
            }
            16 => {
                record.payload.extend(self.choices.bytes(32));
                to.extend(record.encode());
            }
            17 => {
                // Its end is missing, and what follows takes its place.
                let mut bytes = record.encode();
                bytes.truncate(self.choices.up_to(bytes.len()));
                to.extend(bytes);
            }
            18 => {
                let payload = self.choices.bytes(64);
                let kind = *self.choices.one_of(&[22, 23, 21, 20, 24, 0]);
                to.extend(Record { kind, payload, seal }.encode());
                to.extend(record.encode());
            }
            19 => {
                let more = self.choices.up_to(40);
                for _ in 0..more {
                    to.extend(self.between(4, seal.clone()));
                }
                to.extend(record.encode());
            }
            _ => to.extend(record.encode()),
        }
    }

    /// A record of [`BETWEEN`], or what is none.
    fn between(&mut self, choice: u8, seal: Option<Seal>) -> Vec<u8> {
        self.added += 1;
        if self.added > ADDED_MAX {
            return Vec::new();
        }
        let is_clear = choice >> 7 == 1;
        let seal = seal.filter(|_| !is_clear);
        match BETWEEN.get(usize::from(choice & 31)) {
            Some(&(kind, payload)) => Record { kind, payload: payload.to_vec(), seal }.encode(),
            None => NO_TLS.to_vec(),
        }
    }

    fn change(&mut self, bytes: &mut [u8]) {
        let at = self.choices.up_to(bytes.len().saturating_sub(1));
        let by = self.choices.byte().max(1);
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= by;
        }
    }
}
