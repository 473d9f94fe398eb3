//! Bodies of requests, cut to what the peer's windows and frame size permit (RFC 9113, 6.9).
//!
//! A body that could not be sent whole waits in a queue; several take turns, a frame each. One
//! whose stream has no window left waits outside until the peer enlarges it.

use std::collections::VecDeque;

use super::Core;
use super::streams::NO_UPLOAD;
use crate::http1::patch::Digits;
use crate::http2::frame::{WINDOW_INITIAL, flag, kind, write_head};
use crate::http2::request::{BodyBytes, RequestSet};

/// Uploads of one connection.
#[derive(Debug)]
pub struct Uploads {
    all: Vec<Upload>,
    free: Vec<u32>,
    /// Those whose stream has a window, in turn.
    queue: VecDeque<u32>,
    /// What the connection's window permits to send.
    pub connection_window: i64,
    /// How often sending stopped because a window was used up.
    pub stalls: u64,
}

/// A body that is being sent.
#[derive(Debug, Default)]
struct Upload {
    /// Place of its stream; what is in use has one.
    place: Option<usize>,
    request: usize,
    sent_bytes: usize,
    /// The body, if it differs from request to request; empty if it is that of the set's request.
    own: Vec<u8>,
    queued: bool,
}

impl Uploads {
    /// None, and the window everyone begins with.
    pub fn new() -> Self {
        Self {
            all: Vec::new(),
            free: Vec::new(),
            queue: VecDeque::new(),
            connection_window: WINDOW_INITIAL.into(),
            stalls: 0,
        }
    }

    /// Bodies that were not sent whole yet.
    pub fn unfinished(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// Those that wait for the window of their stream, and those that wait for the connection's.
    pub fn held(&self) -> (u32, u32) {
        let queued = self.queue.len();
        let by_stream = self.unfinished() - queued;
        let by_connection = if self.connection_window <= 0 { queued } else { 0 };
        (by_stream as u32, by_connection as u32)
    }

    /// Adds one, at the end of the queue.
    fn begin(&mut self, place: usize, request: usize) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(Upload::default());
            self.all.len() as u32 - 1
        });
        let upload = &mut self.all[number as usize];
        upload.place = Some(place);
        upload.request = request;
        upload.sent_bytes = 0;
        upload.own.clear();
        upload.queued = true;
        self.queue.push_back(number);
        number
    }

    /// Forgets one; [`NO_UPLOAD`] is none.
    pub fn end(&mut self, number: u32) {
        if number == NO_UPLOAD {
            return;
        }
        let upload = &mut self.all[number as usize];
        upload.place = None;
        if upload.queued {
            // Rare: a stream ended before its body was sent.
            upload.queued = false;
            self.queue.retain(|&other| other != number);
        }
        self.free.push(number);
    }

    /// The window of its stream was enlarged.
    pub fn go_on(&mut self, number: u32) {
        if number == NO_UPLOAD {
            return;
        }
        let upload = &mut self.all[number as usize];
        if !upload.queued {
            upload.queued = true;
            self.queue.push_back(number);
        }
    }

    /// The windows of all streams may have changed.
    pub fn go_on_with_all(&mut self) {
        for number in 0..self.all.len() {
            if self.all[number].place.is_some() {
                self.go_on(number as u32);
            }
        }
    }
}

impl Core {
    /// Whether a body can be gone on with.
    #[inline(always)]
    pub(super) fn can_upload(&self) -> bool {
        !self.uploads.queue.is_empty() && self.uploads.connection_window > 0
    }

    /// The head of a request was written: its body follows.
    #[inline(always)]
    pub(super) fn begin_upload(
        &mut self,
        place: usize,
        set: &RequestSet,
        request: usize,
        number: u64,
        digits: &mut Digits,
        out: &mut Vec<u8>,
    ) {
        match set.get(request).body() {
            BodyBytes::None => return,
            BodyBytes::Constant(_) => {
                self.streams.at(place).upload = self.uploads.begin(place, request);
            }
            BodyBytes::Patched(body, patcher) => {
                let upload = self.uploads.begin(place, request);
                self.streams.at(place).upload = upload;
                let own = &mut self.uploads.all[upload as usize].own;
                own.extend_from_slice(body);
                patcher.apply(own, number, digits);
            }
        }
        self.upload(set, out);
    }

    /// The head of a request that is not of the set was written: its body follows.
    pub(super) fn begin_own_upload(
        &mut self,
        place: usize,
        set: &RequestSet,
        body: &[u8],
        out: &mut Vec<u8>,
    ) {
        if body.is_empty() {
            return;
        }
        let upload = self.uploads.begin(place, 0);
        self.streams.at(place).upload = upload;
        self.uploads.all[upload as usize].own.extend_from_slice(body);
        self.upload(set, out);
    }

    /// Sends what can be sent.
    pub(super) fn upload(&mut self, set: &RequestSet, out: &mut Vec<u8>) {
        while let Some(&number) = self.uploads.queue.front() {
            let room = self.options.output_bytes.saturating_sub(out.len());
            let budget = self.uploads.connection_window.min(room as i64);
            if budget <= 0 {
                self.uploads.stalls += u64::from(self.uploads.connection_window <= 0);
                break;
            }
            self.uploads.queue.pop_front();
            let upload = &mut self.uploads.all[number as usize];
            upload.queued = false;
            let Some(place) = upload.place else { continue };
            let stream = self.streams.at(place);
            let stream_window = i64::from(self.peer.stream_window_bytes) + stream.send_credit;
            if stream_window <= 0 {
                self.uploads.stalls += 1;
                continue;
            }
            let body = match upload.own.is_empty() {
                false => &upload.own[..],
                true => match set.get(upload.request).body() {
                    BodyBytes::Constant(body) => body,
                    BodyBytes::Patched(..) | BodyBytes::None => &[],
                },
            };
            let rest = &body[upload.sent_bytes..];
            let payload_max = i64::from(self.peer.payload_bytes_max);
            let piece_bytes = budget.min(stream_window).min(payload_max).min(rest.len() as i64);
            let last = piece_bytes == rest.len() as i64;
            let flags = if last { flag::END_STREAM } else { 0 };
            write_head(out, kind::DATA, flags, stream.id, piece_bytes as u32);
            out.extend_from_slice(&rest[..piece_bytes as usize]);
            stream.send_credit -= piece_bytes;
            self.uploads.connection_window -= piece_bytes;
            self.floods.sent_content();
            upload.sent_bytes += piece_bytes as usize;
            if last {
                stream.upload = NO_UPLOAD;
                self.uploads.end(number);
            } else {
                self.uploads.go_on(number);
            }
        }
    }
}
