//! What went through a slot's datagram socket and its QUIC connection within the measured window.
//!
//! Sockets and connections count from their own beginning; what is counted here are differences to what they had when it
//! was last looked at.

use ablaze_model::record::{DatagramTraffic, QuicFacts, Spread};
use ablaze_net::{DatagramCounts, Traffic};
use ablaze_quic::client::Counts;

/// What was counted of a slot already.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counted {
    socket: DatagramCounts,
    connection: Counts,
    /// Datagrams that came before its handshake was complete.
    received_before: u64,
    /// Its round trips and windows are in the facts.
    spread: bool,
}

impl Counted {
    /// What the socket had counted when it was last looked at.
    pub fn socket(&self) -> DatagramCounts {
        self.socket
    }

    /// Adds what came since the last look to the facts. `is_over`: nothing follows on this connection, or in this run. Returns
    /// whether this was the last look at a connection that stood.
    pub fn add(
        &mut self,
        socket: DatagramCounts,
        connection: Option<Counts>,
        is_over: bool,
        facts: &mut QuicFacts,
    ) -> bool {
        let before = std::mem::replace(&mut self.socket, socket);
        facts.sent.add(since(before.sent, socket.sent));
        facts.received.add(since(before.received, socket.received));
        facts.dropped_here += socket.dropped.saturating_sub(before.dropped);
        facts.given_up += socket.given_up.saturating_sub(before.given_up);
        facts.no_segmentation = facts.no_segmentation.or(socket.no_segmentation);
        facts.no_coalescing = facts.no_coalescing.or(socket.no_coalescing);
        let Some(counts) = connection else {
            self.received_before +=
                socket.received.datagrams.saturating_sub(before.received.datagrams);
            if is_over {
                let came = std::mem::take(&mut self.received_before);
                facts.all_handshakes.incomplete_received += came;
            }
            return false;
        };
        self.received_before = 0;
        let before = std::mem::replace(&mut self.connection, counts);
        facts.packets_sent += counts.packets_sent.saturating_sub(before.packets_sent);
        facts.packets_lost += counts.packets_lost.saturating_sub(before.packets_lost);
        facts.bytes_lost += counts.bytes_lost.saturating_sub(before.bytes_lost);
        facts.congestion_events +=
            counts.congestion_events.saturating_sub(before.congestion_events);
        let is_last = is_over && !std::mem::replace(&mut self.spread, true);
        if is_last {
            let all = |mine: &mut Option<Spread>, value: u64| {
                *mine = Spread::of_both(*mine, Some(Spread::of(value)));
            };
            all(&mut facts.rtt_ns, counts.rtt_ns);
            all(&mut facts.window_bytes, counts.window_bytes);
            all(&mut facts.datagram_bytes, counts.datagram_bytes);
        }
        is_last
    }
}

fn since(before: Traffic, now: Traffic) -> DatagramTraffic {
    DatagramTraffic {
        calls: now.calls.saturating_sub(before.calls),
        datagrams: now.datagrams.saturating_sub(before.datagrams),
        bytes: now.bytes.saturating_sub(before.bytes),
    }
}
