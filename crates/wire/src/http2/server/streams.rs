//! The streams clients opened, in a ring indexed by their number.
//!
//! Unlike a client, a server cannot choose the numbers. A stream whose place is held by another
//! that is still live goes to the next place that is free; how far that is at most is remembered,
//! and is nothing as long as streams end in about the order they began.

use crate::http2::frame::STREAM_MAX;

/// One stream.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    /// Its number, 0 for none yet.
    pub id: u32,
    /// Where it is in its life.
    pub state: State,
    /// The request is complete.
    pub request_complete: bool,
    /// The final head of the answer was sent.
    pub answering: bool,
    /// Content of the request that must still come, [`LENGTH_UNKNOWN`] if the head did not say.
    pub content_left: u64,
    /// Content received since the last update of its window.
    pub window_used: u32,
    /// What may be sent on it, counted from the peer's initial window.
    pub send_credit: i64,
}

/// See [`Stream::content_left`].
pub const LENGTH_UNKNOWN: u64 = u64::MAX;

/// Where a stream is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not over.
    Live,
    /// Over: both sides ended it, or the client reset it.
    Over,
    /// Over: we reset it, and the client may not know yet.
    Dropped,
}

/// What a number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// A live stream, at this place.
    Live(usize),
    /// A stream that ended, or one so old that nobody knows.
    Over,
    /// A stream we reset.
    Dropped,
    /// A number that was not used yet.
    Idle,
}

/// The ring.
#[derive(Debug, Clone)]
pub struct Streams {
    ring: Box<[Stream]>,
    live: u32,
    /// The highest number a client used.
    highest: u32,
    /// How far from its own place a stream is at most.
    farthest: usize,
}

impl Streams {
    /// For so many live streams at once.
    pub fn new(live_max: u32) -> Self {
        let none = Stream {
            id: 0,
            state: State::Over,
            request_complete: true,
            answering: false,
            content_left: LENGTH_UNKNOWN,
            window_used: 0,
            send_credit: 0,
        };
        let places = (live_max.max(1) as usize * 2).next_power_of_two();
        Self { ring: vec![none; places].into(), live: 0, highest: 0, farthest: 0 }
    }

    /// Number of live streams.
    #[inline(always)]
    pub fn live_count(&self) -> u32 {
        self.live
    }

    /// Live streams, in no order.
    pub fn live(&self) -> impl Iterator<Item = &Stream> + '_ {
        self.ring.iter().filter(|stream| stream.state == State::Live)
    }

    /// The highest number a client used.
    pub fn highest(&self) -> u32 {
        self.highest
    }

    /// Notes that a client used a number, which is higher than all before.
    pub fn use_number(&mut self, id: u32) {
        debug_assert!(id > self.highest && id <= STREAM_MAX);
        self.highest = id;
    }

    /// Adds a stream whose number was noted; its place. Fewer than half of the places may be live.
    pub fn open(&mut self, id: u32) -> usize {
        let own = self.own_place(id);
        let mask = self.ring.len() - 1;
        let mut distance = 0;
        while self.ring[(own + distance) & mask].state == State::Live {
            distance += 1;
        }
        self.farthest = if self.live == 0 { distance } else { self.farthest.max(distance) };
        let place = (own + distance) & mask;
        self.ring[place] = Stream {
            id,
            state: State::Live,
            request_complete: false,
            answering: false,
            content_left: LENGTH_UNKNOWN,
            window_used: 0,
            send_credit: 0,
        };
        self.live += 1;
        place
    }

    /// Ends a live stream.
    pub fn close(&mut self, place: usize, state: State) {
        debug_assert!(self.ring[place].state == State::Live && state != State::Live);
        self.ring[place].state = state;
        self.live -= 1;
    }

    /// What a number stands for.
    #[inline(always)]
    pub fn look_up(&self, id: u32) -> Lookup {
        if id.is_multiple_of(2) || id > self.highest {
            return Lookup::Idle;
        }
        let own = self.own_place(id);
        for distance in 0..=self.farthest {
            let place = (own + distance) & (self.ring.len() - 1);
            let stream = &self.ring[place];
            if stream.id == id {
                return match stream.state {
                    State::Live => Lookup::Live(place),
                    State::Over => Lookup::Over,
                    State::Dropped => Lookup::Dropped,
                };
            }
        }
        Lookup::Over
    }

    /// The stream at a place.
    #[inline(always)]
    pub fn at(&mut self, place: usize) -> &mut Stream {
        &mut self.ring[place]
    }

    #[inline(always)]
    fn own_place(&self, id: u32) -> usize {
        // The ring's length is a power of two.
        (id >> 1) as usize & (self.ring.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_lived_stream_is_in_nobodys_way() {
        let mut streams = Streams::new(2);
        streams.use_number(1);
        let first = streams.open(1);
        for id in (3..2_001).step_by(2) {
            streams.use_number(id);
            let place = streams.open(id);
            assert_eq!(streams.look_up(id), Lookup::Live(place));
            assert_eq!(streams.look_up(1), Lookup::Live(first));
            streams.close(place, if id % 3 == 0 { State::Dropped } else { State::Over });
        }
        assert_eq!(streams.look_up(1_999), Lookup::Over);
        assert_eq!(streams.look_up(1_995), Lookup::Dropped);
        assert_eq!(streams.look_up(3), Lookup::Over, "forgotten");
        assert_eq!((streams.look_up(2_001), streams.look_up(2)), (Lookup::Idle, Lookup::Idle));
        assert_eq!(streams.live().map(|stream| stream.id).collect::<Vec<_>>(), [1]);
    }
}
