//! Field sections of responses, of the static table alone: they are the same on every connection, so a response that
//! is always the same is the same bytes until the date changes, and is sent to all clients without a copy.

use ablaze_wire::http2::hpack::encoder::Name;
use ablaze_wire::http2::hpack::static_table::Found;
use ablaze_wire::http3::frame::{kind, write_head};
use ablaze_wire::http3::qpack::encoder::{begin, indexed, literal};
use ablaze_wire::http3::qpack::static_table::find;
use bytes::Bytes;

use crate::http1::date::{DATE_BYTES, Date};
use crate::http1::response::FixedResponse;

/// Fixed responses that are kept.
const KNOWN_MAX: usize = 16;

/// Writes the field sections of a worker's responses.
#[derive(Debug, Default)]
pub struct HeadEncoder {
    known: Vec<Known>,
    next: usize,
    name: Vec<u8>,
    section: Vec<u8>,
}

/// The frames of a fixed response.
#[derive(Debug)]
struct Known {
    /// Where it lies: a response stays there as long as its server runs.
    response: usize,
    head_only: bool,
    date: [u8; DATE_BYTES],
    frames: Bytes,
}

impl HeadEncoder {
    /// All frames of a response that is always the same; nothing if its body is not kept with it.
    pub fn fixed(
        &mut self,
        response: &FixedResponse,
        head_only: bool,
        date: &Date,
    ) -> Option<Bytes> {
        let address = std::ptr::from_ref(response).addr();
        let is_it = |known: &&mut Known| known.response == address && known.head_only == head_only;
        let found = self.known.iter_mut().find(is_it);
        if let Some(known) = &found
            && known.date == *date.text()
        {
            return Some(known.frames.clone());
        }
        let place = found.map(|known| known.response);
        let body = if head_only { &[][..] } else { response.inline_body()? };
        let mut frames = Vec::new();
        self.encode(&response.head_text(date), &mut frames);
        if !body.is_empty() {
            write_head(&mut frames, kind::DATA, body.len() as u64);
            frames.extend_from_slice(body);
        }
        let frames = Bytes::from(frames);
        let known =
            Known { response: address, head_only, date: *date.text(), frames: frames.clone() };
        self.remember(known, place.is_some());
        Some(frames)
    }

    fn remember(&mut self, known: Known, is_known: bool) {
        let same = |own: &Known| own.response == known.response && own.head_only == known.head_only;
        let place = match self.known.iter().position(same) {
            Some(place) if is_known => place,
            _ if self.known.len() < KNOWN_MAX => return self.known.push(known),
            _ => {
                self.next = (self.next + 1) % KNOWN_MAX;
                self.next
            }
        };
        self.known[place] = known;
    }

    /// Appends the HEADERS frame of a response whose head would be this in HTTP/1.
    pub fn encode(&mut self, head: &[u8], frames: &mut Vec<u8>) {
        let mut section = std::mem::take(&mut self.section);
        section.clear();
        begin(&mut section);
        let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.trim_ascii_end());
        let status = lines.next().and_then(|line| line.get(9..12)).unwrap_or(b"500");
        field(b":status", status, &mut section);
        for line in lines {
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            let name = &mut self.name;
            name.clear();
            name.extend(line[..colon].iter().map(u8::to_ascii_lowercase));
            // They mean an HTTP/1 connection (RFC 9114, 4.2), or bring clients here that are here.
            let left_out: [&[u8]; 4] =
                [b"connection", b"keep-alive", b"transfer-encoding", b"alt-svc"];
            if !left_out.contains(&&name[..]) {
                field(name, line[colon + 1..].trim_ascii(), &mut section);
            }
        }
        write_head(frames, kind::HEADERS, section.len() as u64);
        frames.extend_from_slice(&section);
        self.section = section;
    }
}

fn field(name: &[u8], value: &[u8], section: &mut Vec<u8>) {
    match find(name, value) {
        Found::Field(index) => indexed(section, index),
        Found::Name(index) => literal(section, false, Name::Index(index), value),
        Found::Nothing => literal(section, false, Name::Literal(name), value),
    }
}
