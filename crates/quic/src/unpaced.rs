//! Congestion control without pacing: what the window permits is sent at once, as one batch.
//!
//! quinn-proto 0.11 paces every connection (`connection/pacing.rs`): a bucket of 10 to 256 datagrams that fills with 1.25
//! windows in a round trip. It has no switch; the one way around is a window above `u32::MAX` bytes, for which
//! `Pacer::delay` asks for no wait. So while there is room in the real window, `Unpaced` answers with that room far above
//! `u32::MAX`, and the caller of `poll_transmit` asks for no more datagrams than fit it ([`datagrams_permitted`]). Without room
//! it answers with the window as it is, against which quinn-proto checks what is in flight. The window that a report shows is
//! that of `metrics()`, which is always the real one.
//!
//! What is in flight is counted here: every datagram sent, and set right with each acknowledgement, when quinn-proto tells its
//! own count (`on_end_acks`). In between it can be too high, by datagrams that are not counted because they
//! only acknowledge, or that were lost; then quinn-proto's own check, and its pacer, decide until the next acknowledgement.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig};

/// Room in the window is told above this: no pacer looks at larger windows than 2^32 - 1 bytes.
const OPEN: u64 = 1 << 40;

/// Makes Cubic (RFC 9438), which quinn-proto uses by default, without pacing.
#[derive(Debug, Clone, Copy)]
pub struct UnpacedCubic;

impl ControllerFactory for UnpacedCubic {
    fn build(self: Arc<Self>, now: Instant, datagram_bytes: u16) -> Box<dyn Controller> {
        let inner = Arc::new(CubicConfig::default()).build(now, datagram_bytes);
        Box::new(Unpaced { inner, in_flight_bytes: 0, datagram_bytes: datagram_bytes.into() })
    }
}

/// How many datagrams of this size a connection may send at once: `None` where the pacer sees to it.
pub fn datagrams_permitted(controller: &dyn Controller, datagram_bytes: u16) -> Option<usize> {
    let room_bytes = controller.window().checked_sub(OPEN)?;
    Some((room_bytes / u64::from(datagram_bytes.max(1))).max(1) as usize)
}

struct Unpaced {
    inner: Box<dyn Controller>,
    in_flight_bytes: u64,
    datagram_bytes: u64,
}

impl Controller for Unpaced {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.in_flight_bytes += bytes;
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.in_flight_bytes = in_flight;
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(lost_bytes);
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.datagram_bytes = new_mtu.into();
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        let window_bytes = self.inner.window();
        let room_bytes = window_bytes.saturating_sub(self.in_flight_bytes);
        // Of what is checked against the window, one datagram is complete and one is about to be.
        if room_bytes > 2 * self.datagram_bytes { OPEN + room_bytes } else { window_bytes }
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let inner = self.inner.clone_box();
        Box::new(Self { inner, ..*self })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
