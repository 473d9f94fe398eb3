//! How full a batch a turn waits for.

use super::{BATCH_CAP, Worker};
use crate::protocol::Protocol;

/// Gathering may take this part of the recent median latency: 5 %.
const MEDIAN_PART: u64 = 20;
/// The longest that arrivals are gathered for, however long the median.
const GATHER_NS_MAX: u64 = 25_000;
/// The same for large bodies: they come in pieces, and the fewer, the less each costs (1 MiB over 10
/// connections, discarded on the socket: 63 µs of CPU time with 25 µs, 45 µs with 100 µs; over TLS, where
/// the median is ten times as long, 320 µs with 100 µs, 294 µs with 300 µs).
const GATHER_BULKY_NS_MAX: u64 = 300_000;
/// The same with several streams on a connection, whose responses come as one event (100 streams on each of
/// 10 connections, nginx: 5 responses a turn and 9.7 µs of CPU time each with 25 µs, 60 responses and
/// 2.0 µs with 400 µs).
const GATHER_STREAMS_NS_MAX: u64 = 500_000;
/// The shortest: below, setting the timer costs more than the fuller batch saves (measured with
/// 48 KB bodies over 10 connections, where it cost a quarter of the CPU time per request).
const GATHER_NS_MIN: u64 = 20_000;

impl<P: Protocol> Worker<P> {
    /// How many events the next turn waits for, and how long at most, ns: a closed loop waits for a
    /// share of what is in flight, for at most 5 % of the median, and never long enough to matter to a slow
    /// server's figures. The bound is each turn's: a response that takes many turns, such as 1 MiB over TLS,
    /// is waited for in several. An open loop does not wait: its figures count from the schedule.
    pub(crate) fn fuller_batch(&self, spin_ns: u64, sends_at_once: bool) -> (u32, u64) {
        // A driver that sends at once would only sleep more often for it.
        if spin_ns > 0 || self.open_loop.is_some() || sends_at_once {
            return (1, 0);
        }
        let gathering = P::gathering(self);
        match gathering.arrivals.gather_ns(self.recorder.median_ns()) {
            0 => (1, 0),
            gather_ns => (gathering.at_least(), gather_ns),
        }
    }
}

/// What a turn may wait for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gathering {
    pub arrivals: Arrivals,
    /// In how many events everything in flight would come.
    pub events: u32,
    /// Events under way that say nothing of responses.
    pub beside: u32,
}

impl Gathering {
    fn at_least(self) -> u32 {
        (self.events / self.arrivals.share()).clamp(1, BATCH_CAP / 2) + self.beside
    }
}

/// What arrives, as far as waiting for more of it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arrivals {
    /// One small response at a time.
    Small,
    /// Pieces of large bodies.
    Bulky,
    /// Responses of several streams at once.
    Streams,
}

impl Arrivals {
    /// A batch is full with the n-th part of what is in flight.
    fn share(self) -> u32 {
        match self {
            Self::Small => 4,
            Self::Bulky => 2,
            // Every connection: a server that answers one after the other fills the batch in time,
            // one that answers all at once at once.
            Self::Streams => 1,
        }
    }

    /// For how long they are gathered; 0 where it is not worth it.
    fn gather_ns(self, median_ns: u64) -> u64 {
        let most_ns = match self {
            Self::Small => GATHER_NS_MAX,
            Self::Bulky => GATHER_BULKY_NS_MAX,
            Self::Streams => GATHER_STREAMS_NS_MAX,
        };
        let gather_ns = (median_ns / MEDIAN_PART).min(most_ns);
        if gather_ns >= GATHER_NS_MIN { gather_ns } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathering_takes_at_most_5_percent_of_the_median_and_is_bounded() {
        for arrivals in [Arrivals::Small, Arrivals::Bulky, Arrivals::Streams] {
            for median_ns in [0, 1, 399_999, 400_000, 1_000_000, 10_000_000, u64::MAX] {
                let gather_ns = arrivals.gather_ns(median_ns);
                assert!(gather_ns <= median_ns / 20, "{arrivals:?} {median_ns}: {gather_ns}");
                assert!(gather_ns <= 500_000, "{arrivals:?} {median_ns}: {gather_ns}");
            }
            assert_eq!(arrivals.gather_ns(399_999), 0, "{arrivals:?}: not worth a timer");
        }
        assert_eq!(Arrivals::Streams.gather_ns(8_000_000), 400_000);
        assert_eq!(Arrivals::Small.gather_ns(8_000_000), 25_000);
    }
}
