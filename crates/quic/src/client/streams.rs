//! The streams of requests that are not over, found by their number.
//!
//! QUIC gives the numbers 0, 4, 8 …, so a quarter of the number, taken modulo the size of a ring, is the place. A stream that
//! outlives a whole turn of the ring makes room and goes on among the few elders.

use ablaze_wire::http3::response::Response;
use bytes::Bytes;

/// One stream.
#[derive(Debug, Default)]
pub struct Stream {
    /// Its number.
    pub id: u64,
    /// The owner's name for it.
    pub tag: u32,
    /// It is not over.
    pub is_live: bool,
    /// What came of its response.
    pub response: Response,
    /// What of the request could not be handed over yet.
    pub upload: Option<Upload>,
}

/// The rest of a request that waits for the server's windows.
#[derive(Debug)]
pub struct Upload {
    /// Head and body, as far as they are left.
    pub pieces: [Bytes; 2],
    /// It is the connection's window that is used up, not the stream's.
    pub by_connection: bool,
}

/// All streams of a connection.
#[derive(Debug)]
pub struct Streams {
    ring: Box<[Stream]>,
    elders: Vec<Stream>,
    live: u32,
}

impl Streams {
    /// For about this many live streams at once.
    pub fn new(live_max: u32) -> Self {
        // Twice as many places as streams, so that few outlive a turn.
        let places = (live_max.max(1) as usize * 2).next_power_of_two();
        Self {
            ring: std::iter::repeat_with(Stream::default).take(places).collect(),
            elders: Vec::new(),
            live: 0,
        }
    }

    /// Number of live streams.
    #[inline]
    pub fn live_count(&self) -> u32 {
        self.live
    }

    /// Live streams, in no order.
    pub fn live(&self) -> impl Iterator<Item = &Stream> + '_ {
        self.ring.iter().filter(|stream| stream.is_live).chain(&self.elders)
    }

    /// A stream begins.
    #[inline]
    pub fn open(&mut self, id: u64, tag: u32, response_has_no_body: bool) -> &mut Stream {
        let place = self.place(id);
        if self.ring[place].is_live {
            self.elders.push(std::mem::take(&mut self.ring[place]));
        }
        self.live += 1;
        let stream = &mut self.ring[place];
        stream.id = id;
        stream.tag = tag;
        stream.is_live = true;
        stream.upload = None;
        stream.response.restart(response_has_no_body);
        stream
    }

    /// The live stream of this number.
    #[inline]
    pub fn find(&mut self, id: u64) -> Option<&mut Stream> {
        let place = self.place(id);
        if self.ring[place].id == id && self.ring[place].is_live {
            return Some(&mut self.ring[place]);
        }
        self.elders.iter_mut().find(|stream| stream.id == id)
    }

    /// A live stream is over; its tag, and whether its request had not been handed over whole.
    #[inline]
    pub fn close(&mut self, id: u64) -> Option<Closed> {
        let place = self.place(id);
        let stream = &mut self.ring[place];
        if stream.id == id && stream.is_live {
            stream.is_live = false;
            self.live -= 1;
            let was_uploading = stream.upload.take().is_some();
            return Some(Closed { tag: stream.tag, was_uploading });
        }
        let at = self.elders.iter().position(|stream| stream.id == id)?;
        let stream = self.elders.swap_remove(at);
        self.live -= 1;
        Some(Closed { tag: stream.tag, was_uploading: stream.upload.is_some() })
    }

    #[inline]
    fn place(&self, id: u64) -> usize {
        // The ring's length is a power of two.
        (id >> 2) as usize & (self.ring.len() - 1)
    }
}

/// What a stream was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// The owner's name for it.
    pub tag: u32,
    /// Its request had not been handed over whole.
    pub was_uploading: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_outlives_the_others_is_still_found() {
        let mut streams = Streams::new(2);
        streams.open(0, 7, false);
        for number in 1..1_000 {
            streams.open(number * 4, number as u32, false);
            assert_eq!(streams.find(0).map(|stream| stream.tag), Some(7));
            assert_eq!(streams.find(number * 4).map(|stream| stream.tag), Some(number as u32));
            assert_eq!(streams.live_count(), 2);
            assert_eq!(streams.live().count(), 2);
            let closed = streams.close(number * 4);
            assert_eq!(closed, Some(Closed { tag: number as u32, was_uploading: false }));
            assert!(streams.find(number * 4).is_none());
        }
        assert_eq!(streams.close(0), Some(Closed { tag: 7, was_uploading: false }));
        assert_eq!((streams.close(0), streams.live_count()), (None, 0));
    }
}
