//! A peer that speaks HTTP/2: it reads frames as far as it must (RFC 9113, 4.1) and responds as an input says. Its
//! frames are made by hand, so that the codec that is tested is not its own judge.

use super::choices::Choices;
use super::worker::Acts;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

/// `:status: 200`, entry 8 of the static table (RFC 7541, appendix A), and `:status: 404`, entry 13.
const OK: &[u8] = &[0x88];
const NOT_FOUND: &[u8] = &[0x8d];
/// `:status: 100`, a literal of the name of entry 8 (6.2.2).
const CONTINUE: &[u8] = b"\x08\x03100";
/// `grpc-status: 0` or so: a trailer.
const TRAILER: &[u8] = b"\x00\x01t\x010";

/// One connection's peer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Http2 {
    kept: Vec<u8>,
    greeted: bool,
    last_stream: u32,
}

/// A frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

impl Http2 {
    /// Responds to each request that is complete with these bytes.
    pub(crate) fn received(&mut self, acts: &mut Acts<'_, '_>, bytes: &[u8]) {
        self.kept.extend(bytes);
        if !self.greeted {
            if self.kept.len() < PREFACE.len() {
                return;
            }
            self.kept.drain(..PREFACE.len());
            self.greeted = true;
            let settings = settings(acts.choices);
            acts.respond(&[settings, frame(SETTINGS, ACK, 0, &[])].concat());
        }
        let kept = std::mem::take(&mut self.kept);
        let mut rest = &kept[..];
        while let Some((head, behind)) = rest.split_at_checked(9) {
            let bytes = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let Some((_, behind)) = behind.split_at_checked(bytes as usize) else { break };
            rest = behind;
            let (kind, flags) = (head[3], head[4]);
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            self.frame(acts, kind, flags, stream, bytes);
        }
        self.kept = rest.to_vec();
    }

    fn frame(&mut self, acts: &mut Acts<'_, '_>, kind: u8, flags: u8, stream: u32, bytes: u32) {
        if kind == DATA && bytes > 0 {
            let increment = bytes.to_be_bytes();
            let one = frame(WINDOW_UPDATE, 0, stream, &increment);
            acts.respond(&[one, frame(WINDOW_UPDATE, 0, 0, &increment)].concat());
        }
        if matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0 {
            self.last_stream = stream;
            let response = self.response(acts.choices, stream);
            acts.respond(&response);
        }
    }

    /// What it says when nobody asked.
    pub(crate) fn unasked(&mut self, acts: &mut Acts<'_, '_>) -> Vec<u8> {
        self.response(acts.choices, self.last_stream)
    }

    /// A response, the usual one first, or what else may come on a stream or beside it.
    fn response(&self, choices: &mut Choices, stream: u32) -> Vec<u8> {
        let head = |flags, block| frame(HEADERS, flags, stream, block);
        let body = || frame(DATA, END_STREAM, stream, b"hello");
        match choices.byte() % 20 {
            0..4 => [head(END_HEADERS, OK), body()].concat(),
            4 => head(END_HEADERS | END_STREAM, NOT_FOUND),
            5 => [head(END_HEADERS, CONTINUE), head(END_HEADERS, OK), body()].concat(),
            6 => [
                head(END_HEADERS, OK),
                frame(DATA, 0, stream, b"hello"),
                head(END_HEADERS | END_STREAM, TRAILER),
            ]
            .concat(),
            7 => {
                let (first, second) = OK.split_at(choices.up_to(OK.len()));
                let more = frame(CONTINUATION, END_HEADERS, stream, second);
                [head(0, first), more, body()].concat()
            }
            8 => {
                let padded = [&[3], &b"hello"[..], &[0; 3]].concat();
                let body = frame(DATA, PADDED | END_STREAM, stream, &padded);
                [head(END_HEADERS, OK), body].concat()
            }
            9 => {
                let (empty, large) = (frame(DATA, 0, stream, &[]), [b'l'; 16_384]);
                let large = frame(DATA, 0, stream, &large);
                [head(END_HEADERS, OK), empty, large.clone(), large, body()].concat()
            }
            10 => frame(RST_STREAM, 0, stream, &code(choices)),
            11 => {
                let last = self.last_stream.wrapping_sub(u32::from(choices.byte()) % 8 * 2);
                let goaway = [last.to_be_bytes(), code(choices)].concat();
                let goaway = frame(GOAWAY, 0, 0, &goaway);
                [goaway, head(END_HEADERS, OK), body()].concat()
            }
            12 => [settings(choices), head(END_HEADERS, OK), body()].concat(),
            13 => [frame(PING, 0, 0, &[7; 8]), head(END_HEADERS, OK), body()].concat(),
            14 => {
                let increment = [choices.byte(), 0, 0, choices.byte()];
                let on = *choices.one_of(&[0, stream]);
                [frame(WINDOW_UPDATE, 0, on, &increment), head(END_HEADERS, OK), body()].concat()
            }
            15 => frame(PUSH_PROMISE, END_HEADERS, stream, &[0, 0, 0, 2, 0x82]),
            16 => [head(END_HEADERS, OK), frame(RST_STREAM, 0, stream, &code(choices))].concat(),
            17 => {
                let block = choices.bytes(40);
                [head(END_HEADERS, &block), body()].concat()
            }
            18 => {
                let other = stream.wrapping_add(u32::from(choices.byte())).wrapping_sub(8);
                [frame(HEADERS, END_HEADERS, other, OK), frame(DATA, END_STREAM, other, b"hello")]
                    .concat()
            }
            _ => {
                let (kind, flags) = (choices.byte() % 12, choices.byte());
                let on = *choices.one_of(&[stream, 0]);
                let payload = choices.bytes(40);
                frame(kind, flags, on, &payload)
            }
        }
    }
}

/// An error code.
fn code(choices: &mut Choices) -> [u8; 4] {
    u32::from(choices.byte() % 16).to_be_bytes()
}

/// SETTINGS, none as a rule.
fn settings(choices: &mut Choices) -> Vec<u8> {
    let mut payload = Vec::new();
    for _ in 0..choices.byte() % 4 {
        payload.extend([0, choices.byte() % 10]);
        let value = *choices.one_of(&[0, 1, 2, 100, 16_384, 65_535, 0x7fff_ffff, u32::MAX]);
        payload.extend(value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}
