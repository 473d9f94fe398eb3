//! What a run knows of HTTP/3 and of the QUIC that carries it besides its exchanges: what the server permitted and refused,
//! datagrams and the calls they took, packets that were lost. Counted in the measured window; settings whenever they came.

use super::WindowWaits;
use crate::failure::FailureKind;

/// What is known of a run's HTTP/3.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Http3Facts {
    /// Connections on which the server sent GOAWAY (RFC 9114, 5.2).
    pub goaways: u64,
    /// Connections that the server closed, by the name of the code it gave (RFC 9000, 20; RFC 9114, 8.1).
    pub closes: NamedCounts,
    /// What the server said when it first closed a connection with an error.
    pub first_close: Option<String>,
    /// Streams that the server reset, by the name of the code.
    pub resets: NamedCounts,
    /// Requests that failed because the server did not process their repetition either.
    pub refused_again: u64,
    /// The fewest streams at once that a server permitted in the handshake, where that is fewer than were asked for.
    pub streams_permitted: Option<u64>,
    /// Of connections that began with fewer: the fewest that one was permitted in the end (RFC 9000, 19.11), at most as many
    /// as were asked for. `None` where none has been looked at.
    pub streams_at_last: Option<u64>,
    /// The longest time from a handshake until the server raised that limit for the last time, ns; 0 where it did not.
    pub streams_raised_ns: u64,
    /// How bodies of requests waited for the server's windows.
    pub waits: WindowWaits,
    /// What the server did wrong first, or why it reset a stream first, in words.
    pub first_failure: Option<(FailureKind, String)>,
    /// The QUIC below it.
    pub quic: QuicFacts,
}

/// What is known of a run's QUIC connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuicFacts {
    /// Handshakes that were completed.
    pub handshakes: u64,
    /// Of these, how many the server had repeated with a token first (Retry; RFC 9000, 8.1.2).
    pub retries: u64,
    /// All handshakes of the run, also those before the measured window.
    pub all_handshakes: QuicHandshakes,
    /// What was sent.
    pub sent: DatagramTraffic,
    /// What was received.
    pub received: DatagramTraffic,
    /// Datagrams that the kernel dropped on the client because its sockets' receive buffers were full.
    pub dropped_here: u64,
    /// Datagrams that the client gave up because its kernel took none for too long.
    pub given_up: u64,
    /// Packets of QUIC that were sent; one datagram can carry several.
    pub packets_sent: u64,
    /// Of these, how many were declared lost (RFC 9002, 6). What they carried was sent again.
    pub packets_lost: u64,
    /// Bytes of packets that were declared lost.
    pub bytes_lost: u64,
    /// Times that loss, or marks of the network, made a congestion window smaller.
    pub congestion_events: u64,
    /// For so long no datagram had come on any connection when the window closed, ns; `None` where none ever came.
    pub silent_ns: Option<u64>,
    /// Smoothed round-trip time of the connections as they ended (RFC 9002, 5.3), ns.
    pub rtt_ns: Option<Spread>,
    /// Congestion windows of the connections as they ended, bytes.
    pub window_bytes: Option<Spread>,
    /// Size of the datagrams of the connections as they ended, bytes.
    pub datagram_bytes: Option<Spread>,
    /// Why several datagrams could not be sent with one call (`UDP_SEGMENT`): the errno.
    pub no_segmentation: Option<i32>,
    /// Why several datagrams could not be received with one call (`UDP_GRO`): the errno.
    pub no_coalescing: Option<i32>,
}

/// What is known of handshakes, whenever they took place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuicHandshakes {
    /// The version of QUIC that was agreed on.
    pub version: Option<u32>,
    /// The application protocol that was agreed on (ALPN).
    pub protocol: Option<String>,
    /// How long they took, from the first datagram to the server's Finished, ns.
    pub whole_ns: Option<Spread>,
    /// Of those that were repeated with a token: from the first datagram to the Retry, ns. Then the handshake proper began.
    pub retry_ns: Option<Spread>,
    /// Of those in which the server had to stop because it may send only three times what it received (RFC 9000, 8.1): for how
    /// long nothing came, ns.
    pub limited_ns: Option<Spread>,
    /// In the first of these: bytes that the server had received when it stopped, and bytes that it had sent.
    pub limited_at: Option<(u64, u64)>,
    /// Datagrams that came for handshakes that were never completed.
    pub incomplete_received: u64,
}

/// Datagrams in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DatagramTraffic {
    /// System calls, or operations of io_uring, that carried any.
    pub calls: u64,
    /// Datagrams.
    pub datagrams: u64,
    /// Their payload.
    pub bytes: u64,
}

/// What several connections have of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
    /// Of all connections together.
    pub sum: u128,
    /// Connections.
    pub count: u64,
}

/// How often something that has a name came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedCounts(pub Vec<(String, u64)>);

impl Http3Facts {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self {
            goaways,
            closes,
            first_close,
            resets,
            refused_again,
            streams_permitted,
            streams_at_last,
            streams_raised_ns,
            waits,
            first_failure,
            quic,
        } = other;
        self.goaways += goaways;
        self.closes.merge(closes);
        self.first_close = self.first_close.take().or(first_close);
        self.resets.merge(resets);
        self.refused_again += refused_again;
        self.streams_permitted = self.streams_permitted.into_iter().chain(streams_permitted).min();
        self.streams_at_last = self.streams_at_last.into_iter().chain(streams_at_last).min();
        self.streams_raised_ns = self.streams_raised_ns.max(streams_raised_ns);
        self.waits.merge(&waits);
        self.first_failure = self.first_failure.take().or(first_failure);
        self.quic.merge(quic);
    }

    /// A connection that began with fewer streams than were asked for is over: it was permitted so many in the end, the last
    /// of them so long after its handshake.
    pub fn note_last_limit(&mut self, streams: u64, raised_ns: u64) {
        let least = self.streams_at_last.unwrap_or(u64::MAX);
        self.streams_at_last = Some(least.min(streams));
        self.streams_raised_ns = self.streams_raised_ns.max(raised_ns);
    }

    /// The measured window opens: what was counted before does not belong to it.
    pub fn open_window(&mut self) {
        *self = Self {
            streams_permitted: self.streams_permitted,
            streams_at_last: self.streams_at_last,
            streams_raised_ns: self.streams_raised_ns,
            first_failure: self.first_failure.take(),
            quic: QuicFacts {
                all_handshakes: std::mem::take(&mut self.quic.all_handshakes),
                ..QuicFacts::default()
            },
            ..Self::default()
        };
    }
}

impl QuicFacts {
    /// Adds those of other connections.
    pub fn merge(&mut self, other: Self) {
        let Self {
            handshakes,
            retries,
            all_handshakes,
            sent,
            received,
            dropped_here,
            given_up,
            packets_sent,
            packets_lost,
            bytes_lost,
            congestion_events,
            silent_ns,
            rtt_ns,
            window_bytes,
            datagram_bytes,
            no_segmentation,
            no_coalescing,
        } = other;
        self.handshakes += handshakes;
        self.retries += retries;
        self.all_handshakes.merge(all_handshakes);
        self.sent.add(sent);
        self.received.add(received);
        self.dropped_here += dropped_here;
        self.given_up += given_up;
        self.packets_sent += packets_sent;
        self.packets_lost += packets_lost;
        self.bytes_lost += bytes_lost;
        self.congestion_events += congestion_events;
        self.silent_ns = self.silent_ns.into_iter().chain(silent_ns).min();
        self.rtt_ns = Spread::of_both(self.rtt_ns, rtt_ns);
        self.window_bytes = Spread::of_both(self.window_bytes, window_bytes);
        self.datagram_bytes = Spread::of_both(self.datagram_bytes, datagram_bytes);
        self.no_segmentation = self.no_segmentation.or(no_segmentation);
        self.no_coalescing = self.no_coalescing.or(no_coalescing);
    }
}

impl QuicHandshakes {
    /// How many were completed.
    pub fn count(&self) -> u64 {
        self.whole_ns.map_or(0, |all| all.count)
    }

    /// Adds those of other connections.
    pub fn merge(&mut self, other: Self) {
        let Self {
            version,
            protocol,
            whole_ns,
            retry_ns,
            limited_ns,
            limited_at,
            incomplete_received,
        } = other;
        self.version = self.version.or(version);
        self.protocol = self.protocol.take().or(protocol);
        self.whole_ns = Spread::of_both(self.whole_ns, whole_ns);
        self.retry_ns = Spread::of_both(self.retry_ns, retry_ns);
        self.limited_ns = Spread::of_both(self.limited_ns, limited_ns);
        self.limited_at = self.limited_at.or(limited_at);
        self.incomplete_received += incomplete_received;
    }
}

impl DatagramTraffic {
    /// Adds what else was carried.
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.datagrams += other.datagrams;
        self.bytes += other.bytes;
    }

    /// Datagrams per call; `None` without any.
    pub fn per_call(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.datagrams as f64 / self.calls as f64)
    }
}

impl Spread {
    /// What one connection has.
    pub fn of(value: u64) -> Self {
        Self { min: value, max: value, sum: value.into(), count: 1 }
    }

    /// Of the connections of both.
    pub fn of_both(mine: Option<Self>, theirs: Option<Self>) -> Option<Self> {
        match (mine, theirs) {
            (Some(mine), Some(theirs)) => Some(Self {
                min: mine.min.min(theirs.min),
                max: mine.max.max(theirs.max),
                sum: mine.sum + theirs.sum,
                count: mine.count + theirs.count,
            }),
            (mine, theirs) => mine.or(theirs),
        }
    }

    /// The arithmetic mean.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }
}

impl NamedCounts {
    /// So many names are told apart: the standards know a few dozen, but a server may send any number.
    const KEPT: usize = 32;

    /// Stands for the names beyond those.
    pub const OTHERS: &str = "other codes";

    /// So many more of this name.
    pub fn add(&mut self, name: &str, times: u64) {
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known == name) {
            *known += times;
        } else if self.0.len() < Self::KEPT || name == Self::OTHERS {
            self.0.push((name.to_owned(), times));
        } else {
            self.add(Self::OTHERS, times);
        }
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: Self) {
        for (name, times) in other.0 {
            self.add(&name, times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_added_and_spreads_span_all_connections() {
        let quic = |rtt_ns| QuicFacts {
            handshakes: 1,
            rtt_ns: Some(Spread::of(rtt_ns)),
            sent: DatagramTraffic { calls: 2, datagrams: 10, bytes: 12_000 },
            ..QuicFacts::default()
        };
        let of = |rtt_ns, permitted| Http3Facts {
            streams_permitted: permitted,
            quic: quic(rtt_ns),
            ..Http3Facts::default()
        };
        let mut all = of(10, Some(7));
        all.merge(of(30, None));
        all.merge(of(20, Some(3)));
        assert_eq!(all.streams_permitted, Some(3));
        assert_eq!(all.quic.handshakes, 3);
        assert_eq!(all.quic.sent.per_call(), Some(5.0));
        let spread = all.quic.rtt_ns.expect("three connections");
        assert_eq!((spread.min, spread.max, spread.mean()), (10, 30, 20.0));
    }

    #[test]
    fn names_beyond_the_bound_are_counted_together() {
        let mut counts = NamedCounts::default();
        (0..40).for_each(|code| counts.add(&format!("code {code}"), 2));
        assert_eq!(counts.0.len(), NamedCounts::KEPT + 1);
        assert_eq!(counts.0.iter().map(|(_, times)| times).sum::<u64>(), 80);
    }
}
