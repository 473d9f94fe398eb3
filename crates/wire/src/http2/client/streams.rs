//! The streams of a connection, in a ring indexed by their number.
//!
//! A client numbers its streams 1, 3, 5 …, so half the number, taken modulo the size of the
//! ring, is the place. When the place of the next number is still held by a stream that outlived
//! a whole turn of the ring, that number is passed over: skipping numbers is permitted
//! (RFC 9113, 5.1.1). A stream that is over keeps its place until another needs it, so that late
//! frames can be told from impossible ones.

use crate::http2::frame::STREAM_MAX;

/// One stream.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    /// Its number, 0 for none yet.
    pub id: u32,
    /// The owner's name for it.
    pub tag: u32,
    /// Where it is in its life.
    pub state: State,
    /// The response has no content, whatever its head says: it is to HEAD, or its status says so.
    pub without_content: bool,
    /// Its upload, [`NO_UPLOAD`] if everything was sent.
    pub upload: u32,
    /// Content that must still come, [`LENGTH_UNKNOWN`] if the head did not say.
    pub content_left: u64,
    /// Content received since the last update of its window.
    pub window_used: u32,
    /// What may be sent on it, counted from the peer's initial window.
    pub send_credit: i64,
}

/// See [`Stream::upload`].
pub const NO_UPLOAD: u32 = u32::MAX;
/// See [`Stream::content_left`].
pub const LENGTH_UNKNOWN: u64 = u64::MAX;

/// Where a stream is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No final head yet.
    Waiting,
    /// The final head came.
    Answering,
    /// Over: the peer ended or reset it.
    Over,
    /// Over: we reset it, and the peer may not know yet.
    Dropped,
}

impl Stream {
    /// Whether it is not over.
    #[inline(always)]
    pub fn is_live(&self) -> bool {
        matches!(self.state, State::Waiting | State::Answering)
    }
}

/// What a stream's number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// A live stream, at this place.
    Live(usize),
    /// A stream the peer ended or reset.
    Over,
    /// A stream we reset, or one so old that nobody knows.
    Dropped,
    /// A number no stream of ours has had.
    Idle,
}

/// The ring.
#[derive(Debug, Clone)]
pub struct Streams {
    ring: Box<[Stream]>,
    live: u32,
    next_id: u32,
}

impl Streams {
    /// For this many live streams at once; the first gets the odd number `first_id`.
    pub fn new(live_max: u32, first_id: u32) -> Self {
        let none = Stream {
            id: 0,
            tag: 0,
            state: State::Over,
            without_content: false,
            upload: NO_UPLOAD,
            content_left: LENGTH_UNKNOWN,
            window_used: 0,
            send_credit: 0,
        };
        // Twice as many places as streams, so that a free place is near.
        let places = (live_max.max(1) as usize * 2).next_power_of_two();
        Self { ring: vec![none; places].into(), live: 0, next_id: first_id }
    }

    /// Number of live streams.
    #[inline(always)]
    pub fn live_count(&self) -> u32 {
        self.live
    }

    /// Live streams, in no order.
    pub fn live(&self) -> impl Iterator<Item = &Stream> + '_ {
        self.ring.iter().filter(|stream| stream.is_live())
    }

    /// Whether all numbers have been given away (RFC 9113, 5.1.1).
    pub fn used_up(&self) -> bool {
        self.next_id > STREAM_MAX
    }

    /// Opens a stream; its place. None when there are no numbers left.
    ///
    /// # Panics
    /// Never, as long as no more than half of the places are live.
    #[inline]
    pub fn open(&mut self, tag: u32, without_content: bool) -> Option<usize> {
        loop {
            if self.used_up() {
                return None;
            }
            let id = self.next_id;
            self.next_id += 2;
            let place = self.place(id);
            let stream = &mut self.ring[place];
            if stream.is_live() {
                continue;
            }
            *stream = Stream {
                id,
                tag,
                state: State::Waiting,
                without_content,
                upload: NO_UPLOAD,
                content_left: LENGTH_UNKNOWN,
                window_used: 0,
                send_credit: 0,
            };
            self.live += 1;
            return Some(place);
        }
    }

    /// Ends a live stream.
    #[inline]
    pub fn close(&mut self, place: usize, state: State) {
        debug_assert!(self.ring[place].is_live() && matches!(state, State::Over | State::Dropped));
        self.ring[place].state = state;
        self.live -= 1;
    }

    /// What a number stands for.
    #[inline(always)]
    pub fn look_up(&self, id: u32) -> Lookup {
        let place = self.place(id);
        let stream = &self.ring[place];
        if stream.id == id && id != 0 {
            return match stream.state {
                State::Waiting | State::Answering => Lookup::Live(place),
                State::Over => Lookup::Over,
                State::Dropped => Lookup::Dropped,
            };
        }
        if id.is_multiple_of(2) || id >= self.next_id { Lookup::Idle } else { Lookup::Dropped }
    }

    /// The stream at a place.
    #[inline(always)]
    pub fn at(&mut self, place: usize) -> &mut Stream {
        &mut self.ring[place]
    }

    /// Number of places.
    pub fn places(&self) -> usize {
        self.ring.len()
    }

    #[inline(always)]
    fn place(&self, id: u32) -> usize {
        // The ring's length is a power of two.
        (id >> 1) as usize & (self.ring.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_and_old_ones_are_forgotten() {
        let mut streams = Streams::new(2, 1);
        let first = streams.open(10, false).unwrap();
        let second = streams.open(11, false).unwrap();
        assert_eq!((streams.at(first).id, streams.at(second).id), (1, 3));
        assert_eq!(streams.look_up(1), Lookup::Live(first));
        assert_eq!(streams.look_up(5), Lookup::Idle);
        assert_eq!((streams.look_up(0), streams.look_up(2)), (Lookup::Idle, Lookup::Idle));
        streams.close(second, State::Over);
        assert_eq!(streams.look_up(3), Lookup::Over);
        // The first outlives turns of the ring: its place is passed over.
        for id in [5, 7, 11, 13, 15, 19] {
            let place = streams.open(12, false).unwrap();
            assert_eq!(streams.at(place).id, id);
            streams.close(place, State::Dropped);
        }
        assert_eq!(streams.look_up(1), Lookup::Live(first));
        assert_eq!(streams.look_up(9), Lookup::Dropped, "passed over");
        assert_eq!(streams.look_up(19), Lookup::Dropped);
        assert_eq!(streams.live_count(), 1);
        assert_eq!(streams.live().map(|stream| stream.tag).collect::<Vec<_>>(), [10]);
    }

    #[test]
    fn numbers_run_out() {
        let mut streams = Streams::new(1, STREAM_MAX - 2);
        for id in [STREAM_MAX - 2, STREAM_MAX] {
            let place = streams.open(0, false).unwrap();
            assert_eq!(streams.at(place).id, id);
            streams.close(place, State::Over);
        }
        assert!(streams.used_up());
        assert_eq!(streams.open(0, false), None);
        assert_eq!(streams.look_up(STREAM_MAX), Lookup::Over);
    }
}
