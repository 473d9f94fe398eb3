//! How full a batch a turn waits for.

use super::{BATCH_CAP, Worker};
use crate::protocol::Protocol;

/// Gathering may take this part of the recent median latency: 5 %.
const MEDIAN_PART: u64 = 20;
/// The longest that arrivals are gathered for, however long the median, where waiting does not fill the batch.
const GATHER_NS_MAX: u64 = 25_000;
/// The same while waiting does fill it: see [`Fills`].
const GATHER_FILLING_NS_MAX: u64 = 350_000;
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
    pub(crate) fn fuller_batch(&mut self, spin_ns: u64, sends_at_once: bool) -> (u32, u64) {
        // A driver that sends at once would only sleep more often for it.
        if spin_ns > 0 || self.open_loop.is_some() || sends_at_once {
            return (1, 0);
        }
        let gathering = P::gathering(self);
        let most_ns = match gathering.arrivals {
            Arrivals::Small if self.fills.tries_long() => GATHER_FILLING_NS_MAX,
            arrivals => arrivals.gather_ns_max(),
        };
        match gather_ns(self.recorder.median_ns(), most_ns) {
            0 => (1, 0),
            gather_ns => (gathering.at_least(), gather_ns),
        }
    }
}

/// Whether waiting longer for small responses fills the batch.
///
/// Where client and server are both busy, it does, and every turn saved is worth its wake-up (100 and 1,000
/// connections, nginx: 8 to 9 % less CPU time per request with 350 µs than with 25 µs, p99 no longer). Where the
/// server itself waits, it does not, and only keeps responses and the next requests back (1 ms of delay, 100
/// connections: the mean an eighth longer, p99 a third, no CPU time saved). So it goes by how the waiting ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fills {
    /// Long waits that filled the batch less those that did not, bounded.
    score: u8,
    /// Turns until the next attempt, where the score is used up.
    turns_left: u8,
}

impl Default for Fills {
    fn default() -> Self {
        Self { score: 1, turns_left: 0 }
    }
}

impl Fills {
    const SCORE_MAX: u8 = 8;
    /// Between two attempts while waiting does not pay: they keep responses back in 1 turn of 128.
    const TURNS_BETWEEN_ATTEMPTS: u8 = 127;

    /// Whether the turn that begins now may wait long.
    fn tries_long(self) -> bool {
        self.score > 0
    }

    /// A turn that waited `gather_ns` at most for `at_least` events had `events`.
    pub fn waited(&mut self, at_least: u32, gather_ns: u64, events: u32) {
        if self.score == 0 {
            self.turns_left -= 1;
            self.score = u8::from(self.turns_left == 0);
        } else if gather_ns > GATHER_NS_MAX {
            self.score = if events >= at_least {
                Self::SCORE_MAX.min(self.score + 1)
            } else {
                self.score - 1
            };
            self.turns_left = Self::TURNS_BETWEEN_ATTEMPTS;
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

    /// The longest that they are gathered for, ns.
    fn gather_ns_max(self) -> u64 {
        match self {
            Self::Small => GATHER_NS_MAX,
            Self::Bulky => GATHER_BULKY_NS_MAX,
            Self::Streams => GATHER_STREAMS_NS_MAX,
        }
    }
}

/// For how long arrivals are gathered; 0 where it is not worth it.
fn gather_ns(median_ns: u64, most_ns: u64) -> u64 {
    let gather_ns = (median_ns / MEDIAN_PART).min(most_ns);
    if gather_ns >= GATHER_NS_MIN { gather_ns } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathering_takes_at_most_5_percent_of_the_median_and_is_bounded() {
        for most_ns in [25_000, 300_000, 350_000, 500_000] {
            for median_ns in [0, 1, 399_999, 400_000, 1_000_000, 10_000_000, u64::MAX] {
                let gather_ns = gather_ns(median_ns, most_ns);
                assert!(gather_ns <= median_ns / 20, "{most_ns} {median_ns}: {gather_ns}");
                assert!(gather_ns <= most_ns, "{most_ns} {median_ns}: {gather_ns}");
            }
            assert_eq!(gather_ns(399_999, most_ns), 0, "{most_ns}: not worth a timer");
        }
        assert_eq!(gather_ns(8_000_000, Arrivals::Streams.gather_ns_max()), 400_000);
        assert_eq!(gather_ns(8_000_000, Arrivals::Small.gather_ns_max()), 25_000);
    }

    #[test]
    fn long_waits_go_on_while_most_of_them_fill_the_batch() {
        let mut fills = Fills::default();
        for turn in 0..1000 {
            assert!(fills.tries_long(), "turn {turn}");
            // Two of three fill it.
            fills.waited(25, 65_000, if turn % 3 == 1 { 7 } else { 29 });
        }
    }

    #[test]
    fn where_waiting_does_not_fill_the_batch_it_is_long_in_1_turn_of_128() {
        let mut fills = Fills::default();
        let turns = 128_000;
        let long = (0..turns).filter(|_| {
            let long = fills.tries_long();
            fills.waited(25, if long { 65_000 } else { 25_000 }, 3);
            long
        });
        assert_eq!(long.count(), turns / 128);
    }

    #[test]
    fn what_begins_to_fill_is_found_out_and_what_ceases_to_costs_few_turns() {
        let mut fills = Fills::default();
        for _ in 0..10 {
            fills.waited(25, 65_000, 3);
        }
        assert!(!fills.tries_long());
        let until_found = (0..).take_while(|_| {
            fills.waited(25, if fills.tries_long() { 65_000 } else { 25_000 }, 30);
            !fills.tries_long()
        });
        assert!(until_found.count() <= 128);
        for _ in 0..100 {
            fills.waited(25, 65_000, 30);
        }
        let until_given_up = (0..).take_while(|_| {
            fills.waited(25, 65_000, 3);
            fills.tries_long()
        });
        assert!(until_given_up.count() <= usize::from(Fills::SCORE_MAX));
    }

    #[test]
    fn turns_that_did_not_wait_say_nothing() {
        let mut fills = Fills::default();
        for _ in 0..1000 {
            fills.waited(1, 0, 0);
            assert!(fills.tries_long());
        }
    }
}
