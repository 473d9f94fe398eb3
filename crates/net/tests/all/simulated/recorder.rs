//! A handler that writes down what happened and when, and reacts as the case tells it to.

use ablaze_net::sim::START_NS;
use ablaze_net::{CloseReason, Datagrams, Handler, Io, Slot};

/// What happened, and how long after the start.
pub type Log = Vec<(u64, Slot, What)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Opened,
    Received(Vec<u8>),
    Datagrams { bytes: Vec<u8>, segment_bytes: usize, ecn: u8 },
    Discarded(u64),
    Sent,
    Closed(CloseReason),
    BatchEnd(u32),
}

/// Writes down everything and reacts by a function of the case.
pub struct Recorder<F> {
    pub log: Log,
    react: F,
}

impl<F> Recorder<F> {
    pub fn new(react: F) -> Self {
        Self { log: Vec::new(), react }
    }

    pub fn received(&self, slot: Slot) -> Vec<u8> {
        let mut all = Vec::new();
        for (_, of, what) in &self.log {
            if let (true, What::Received(bytes)) = (*of == slot, what) {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    /// When things of this kind happened.
    pub fn times(&self, is_wanted: impl Fn(&What) -> bool) -> Vec<u64> {
        self.log.iter().filter(|(_, _, what)| is_wanted(what)).map(|(at, _, _)| *at).collect()
    }

    pub fn closed(&self, slot: Slot) -> Option<(u64, CloseReason)> {
        self.log.iter().find_map(|(at, of, what)| match what {
            What::Closed(reason) if *of == slot => Some((*at, *reason)),
            _ => None,
        })
    }
}

macro_rules! note {
    ($self:ident, $io:ident, $slot:expr, $what:expr, $at:expr) => {{
        let what = $what;
        $self.log.push(($at - START_NS, $slot, what.clone()));
        ($self.react)($io, $slot, &what);
    }};
}

impl<I: Io, F: FnMut(&mut I, Slot, &What)> Handler<I> for Recorder<F> {
    fn opened(&mut self, io: &mut I, slot: Slot, at: u64) {
        note!(self, io, slot, What::Opened, at);
    }

    fn received(&mut self, io: &mut I, slot: Slot, bytes: &mut [u8], at: u64, _: bool) {
        note!(self, io, slot, What::Received(bytes.to_vec()), at);
    }

    fn datagrams(&mut self, io: &mut I, slot: Slot, datagrams: Datagrams<'_>, at: u64) {
        let Datagrams { bytes, segment_bytes, ecn } = datagrams;
        note!(self, io, slot, What::Datagrams { bytes: bytes.to_vec(), segment_bytes, ecn }, at);
    }

    fn discarded(&mut self, io: &mut I, slot: Slot, bytes: u64, at: u64) {
        note!(self, io, slot, What::Discarded(bytes), at);
    }

    fn sent(&mut self, io: &mut I, slot: Slot, at: u64) {
        note!(self, io, slot, What::Sent, at);
    }

    fn closed(&mut self, io: &mut I, slot: Slot, why: CloseReason, at: u64) {
        note!(self, io, slot, What::Closed(why), at);
    }

    fn batch_end(&mut self, io: &mut I, events: u32, _: u64, at: u64) {
        note!(self, io, Slot::MAX, What::BatchEnd(events), at);
    }
}
