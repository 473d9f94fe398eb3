//! A server that answers with what it was asked.

use std::collections::BTreeMap;

use ablaze_wire::http2::error::{ErrorCode, ErrorKind};
use ablaze_wire::http2::frame::{FrameHead, PREFACE, flag, kind};
use ablaze_wire::http2::server::{AnswerBlock, Connection, Options, RequestHead, Sink};

use crate::peer::{frame, frames, settings};

/// A server that answers every request with its method, path, fields and body.
pub struct Mirror {
    pub connection: Connection,
    pub out: Vec<u8>,
    pub asked: Asked,
    /// What is left to be sent, by stream.
    left: BTreeMap<u32, Vec<u8>>,
}

/// What was told, by stream: the text so far, and whether it is complete.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub open: BTreeMap<u32, (Vec<u8>, bool)>,
    pub resets: Vec<(u32, ErrorCode)>,
}

impl Sink for Asked {
    fn request(&mut self, stream: u32, head: &RequestHead) {
        let text = [
            &head.method[..],
            b" ",
            &head.scheme,
            b"://",
            &head.authority,
            &head.path,
            b"\r\n",
            &head.fields,
        ];
        assert!(self.open.insert(stream, (text.concat(), false)).is_none());
    }

    fn data(&mut self, stream: u32, content: &[u8]) {
        let (text, complete) = self.open.get_mut(&stream).unwrap();
        assert!(!*complete && !content.is_empty());
        text.extend_from_slice(content);
    }

    fn ended(&mut self, stream: u32) {
        let (_, complete) = self.open.get_mut(&stream).unwrap();
        assert!(!std::mem::replace(complete, true));
    }

    fn reset(&mut self, stream: u32, code: ErrorCode) {
        self.open.remove(&stream);
        self.resets.push((stream, code));
    }
}

impl Mirror {
    pub fn new(options: Options) -> Self {
        let mut out = Vec::new();
        let connection = Connection::new(options, &mut out);
        Self { connection, out, asked: Asked::default(), left: BTreeMap::new() }
    }

    /// With preface and settings received, and nothing waiting to be written.
    pub fn ready() -> Self {
        let mut server = Self::new(Options::default());
        server.receive(&[&PREFACE[..], &settings(&[])].concat()).unwrap();
        server.receive(&frame(kind::SETTINGS, flag::ACK, 0, &[])).unwrap();
        server.out.clear();
        server
    }

    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        self.connection.receive(bytes, &mut self.out, &mut self.asked)
    }

    /// Answers what is complete, as far as windows permit.
    pub fn answer(&mut self) {
        let complete: Vec<u32> =
            self.asked.open.iter().filter(|(_, (_, all))| *all).map(|(id, _)| *id).collect();
        for stream in complete {
            let (text, _) = self.asked.open.remove(&stream).unwrap();
            let length = text.len().to_string();
            let block = AnswerBlock::new(200).field("server", "m").field("content-length", length);
            assert!(self.connection.answer(stream, &block, false, &mut self.out));
            self.left.insert(stream, text);
        }
        self.left.retain(|&stream, text| {
            let sent = self.connection.send(stream, text, true, &mut self.out);
            text.drain(..sent);
            !text.is_empty()
        });
    }

    pub fn written(&mut self) -> Vec<(FrameHead, Vec<u8>)> {
        frames(&std::mem::take(&mut self.out))
    }
}
