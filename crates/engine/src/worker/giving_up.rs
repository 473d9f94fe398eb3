//! When the run gives up on the server: nothing came of any attempt to connect, or nothing has for too long.

use ablaze_net::Slot;

use super::Worker;
use crate::connection::Stage;
use crate::protocol::Protocol;
use ablaze_model::failure::FailureKind;

impl<P: Protocol> Worker<P> {
    /// Before the clock, and where the next address of a name is tried, an attempt fails for no request: it is counted by
    /// itself.
    pub(super) fn note_failed_for_no_request(&mut self, kind: FailureKind) {
        self.recorder.record().setup_failures[kind as usize] += 1;
    }

    /// Of a name with several addresses it is kept which of them did what: `None` where a connection stood.
    pub(super) fn note_address(&mut self, slot: Slot, failure: Option<FailureKind>) {
        let connection = &self.connections[slot as usize];
        if self.addresses < 2 || connection.origin > 0 {
            return;
        }
        let Some(address) = self.recorder.record().by_address.get_mut(connection.address) else {
            return;
        };
        match failure {
            None => address.stood += 1,
            Some(kind) => address.failures[kind as usize] += 1,
        }
    }

    /// Whether enough connections came to nothing to give the run up, and others, which were begun before that was so, still may
    /// come to something: what is going to carry a response can take longer (a handshake, a full accept queue, the response
    /// itself) than what is refused.
    pub(super) fn awaits_earlier_connections(
        &mut self,
        failed: Slot,
        at: u64,
        (kind, errno): (FailureKind, i32),
    ) -> bool {
        let enough_ns = self.enough_failed.get_or_insert((at, kind, errno)).0;
        // Nothing else may fail until that is over.
        self.next_check_ns = self.next_check_ns.min(enough_ns + EARLIER_CONNECTIONS_NS);
        let (before, behind) = self.connections.split_at(failed as usize);
        // They fail about in the order in which they began: one behind this is found at once, also among ten thousand.
        at.saturating_sub(enough_ns) < EARLIER_CONNECTIONS_NS
            && behind.iter().skip(1).chain(before).any(|connection| {
                matches!(connection.stage, Stage::Opening | Stage::Open)
                    && connection.origin == 0
                    && (1..=enough_ns).contains(&connection.opening_ns)
            })
    }

    /// Gives the run up when nothing came of the connections that were waited for.
    #[cold]
    pub(super) fn give_up_on_earlier_connections(&mut self, now: u64) {
        let Some((enough_ns, kind, errno)) = self.enough_failed else { return };
        let limit = self.plan.limits.unreachable_after.max(1);
        let nothing_stood = self.recorder.record().connections_opened == 0;
        let turned_away = self.has_no_response() && self.turned_away >= limit;
        if !nothing_stood && !turned_away {
            return;
        }
        let until_ns = enough_ns.saturating_add(EARLIER_CONNECTIONS_NS);
        if until_ns > now {
            self.next_check_ns = self.next_check_ns.min(until_ns);
            return;
        }
        if turned_away {
            self.untried_addresses = 0;
        }
        self.give_up_on_server(now, kind, errno);
    }

    /// Whether nothing but failed attempts to connect came for so long that a run by number, which nothing else ends, would go
    /// on for as long as its requests fail: a server that ended would keep it for minutes. Not where failures are to be
    /// tolerated.
    pub(super) fn is_away_for_good(&mut self, at: u64) -> bool {
        let limits = &self.plan.limits;
        let by_number = limits.requests.is_some() && limits.duration_ns.is_none();
        if !by_number || limits.unreachable_after == u32::MAX || self.plan.load.is_open() {
            return false;
        }
        let record = self.recorder.record();
        let so_far = (record.connections_opened, record.responses);
        if self.fails_since.0 != so_far {
            self.fails_since = (so_far, at);
        }
        at.saturating_sub(self.fails_since.1) >= AWAY_NS
    }

    /// The address a slot was connecting to took no connection: unless one stood already, the
    /// next address may be better. Whether none stood.
    pub(crate) fn address_failed(&mut self, slot: Slot) -> bool {
        if let Some(nothing_stood) = self.elsewhere_failed(slot) {
            return nothing_stood;
        }
        let connection = &mut self.connections[slot as usize];
        connection.failed_attempts += 1;
        let nothing_stood = self.recorder.record().connections_opened == 0;
        if nothing_stood {
            self.refused_in_a_row = self.refused_in_a_row.saturating_add(1);
            // The first to fail moves all on; the others were under way to the same address.
            if connection.address == self.address {
                self.address = (self.address + 1) % self.addresses;
                self.untried_addresses = self.untried_addresses.saturating_sub(1);
            }
        }
        nothing_stood
    }

    /// Gives the run up if every address has failed. The failure is counted here, once, where it
    /// belongs to no exchange of the window.
    pub(crate) fn give_up_on_server(&mut self, at: u64, kind: FailureKind, errno: i32) {
        if self.unreachable || self.untried_addresses > 0 {
            return;
        }
        self.unreachable = true;
        if self.in_setup || !self.recorder.window_is_open() {
            self.recorder.count_failure(at, kind, errno, true);
        }
    }
}

/// Connections that were begun earlier are waited for no longer than this: behind a firewall that drops what it does not
/// refuse, they would end when their time is over.
const EARLIER_CONNECTIONS_NS: u64 = 5_000_000_000;

/// A server that takes no connection for so long is not about to start again.
const AWAY_NS: u64 = 30_000_000_000;
