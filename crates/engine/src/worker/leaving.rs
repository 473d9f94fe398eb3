//! Connections that the server is to close: left to it beside the load, and taken back where it serves nobody meanwhile.
//!
//! Whoever closes first keeps the memory of the connection (TIME_WAIT), and where the server announced
//! that it closes, that is the server. A server that leaves the connection open costs no request anything, unless it serves one
//! connection at a time: then the next request waits for the client's FIN, and the client's patience would be measured as
//! the server's latency.

use ablaze_net::{CloseHow, Io, Slot};

use super::Worker;
use crate::connection::Stage;
use crate::protocol::Protocol;
use crate::walk::Walk;
use ablaze_model::plan::Close;

/// How long a server is waited for that was to close (`Close::Await`); no request waits for it.
const AWAIT_CLOSE_NS: u64 = 1_000_000_000;

/// Without a byte of the server for this long and so many times as long as the slowest response so far, the server may be
/// waiting for the client's FIN.
const SILENCE_NS: u64 = 1_000_000;
const SILENCE_RESPONSES: u64 = 4;

/// A machine that is busy lets a response come late, and by chance just when the client has closed a connection. A silence as
/// short as such delays has to end that way so many times in a row; a longer one is no chance.
const OF_A_BUSY_MACHINE_NS: u64 = 50_000_000;
const TIMES_IN_A_ROW: u64 = 3;

/// Silence for all the time that the server is given shows the same where it is so many times as long as the slowest response.
const WHOLE_WAIT: f64 = 1.5;

/// What a worker has learned of a server that was to close connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Nothing yet.
    Unknown,
    /// It closes them.
    Closes,
    /// It left some open, and nothing came from it for `silence_ns`, until the client closed them, the last at `at_ns`. Either it
    /// waited for that, or it stood still meanwhile: what comes next shows which. It did `times` before this one.
    Suspected { at_ns: u64, silence_ns: u64, closed: u64, times: u64 },
    /// So many times the next response came as soon as the client had closed them, `closed` in all. What waited took that much
    /// longer, which makes no later silence longer than this one.
    Likely { silence_ns: u64, closed: u64, times: u64 },
    /// It waits for the client to close.
    Blocks,
}

impl<P: Protocol> Worker<P> {
    /// The server closes next, as one side announced. It is waited for beside the load: another slot takes the
    /// place. Where there is none, or requests behind the last response have to go out again, the
    /// connection is closed from here; so it is where the server serves nobody while it waits for that.
    pub(crate) fn leave_to_server<I: Io>(&mut self, io: &mut I, slot: Slot) {
        let connection = &self.connections[slot as usize];
        let (origin, in_flight) = (connection.origin, connection.in_flight);
        let habit = &mut self.habits[usize::from(origin)];
        if let Habit::Suspected { at_ns, silence_ns, closed, times } = *habit {
            let times = times + 1;
            *habit = match self.now_ns.saturating_sub(at_ns) <= silence_ns {
                true if times < TIMES_IN_A_ROW && silence_ns < OF_A_BUSY_MACHINE_NS => {
                    Habit::Likely { silence_ns, closed, times }
                }
                true => {
                    self.recorder.record().closed_early += closed;
                    Habit::Blocks
                }
                false => Habit::Unknown,
            };
        }
        let may_wait = in_flight == 0 && *habit != Habit::Blocks;
        let Some(next) = may_wait.then(|| self.spares.pop()).flatten() else {
            return self.end_connection(io, slot, CloseHow::Fin);
        };
        self.connections[slot as usize].is_spare = true;
        self.connections[next as usize].is_spare = false;
        if P::Sink::WALKS {
            self.hand_user_over(slot, next);
        }
        self.end_connection(io, slot, CloseHow::AwaitPeer);
        self.go_on(io, next, self.now_ns);
    }

    /// How to close after a response that announced it, or whose request did.
    pub(crate) fn announced_close(&self) -> CloseHow {
        match self.plan.connections.close {
            Close::Await => CloseHow::AwaitPeer,
            Close::Fin => CloseHow::Fin,
            Close::Reset => CloseHow::Reset,
        }
    }

    /// The connection waits for the server's FIN from now on.
    pub(super) fn await_close(&mut self, slot: Slot) {
        self.recorder.record().awaited_close += 1;
        let until = self.now_ns.saturating_add(AWAIT_CLOSE_NS);
        let connection = &mut self.connections[slot as usize];
        connection.left_until_ns = until;
        let origin = connection.origin;
        // In a closed loop the next request leaves at once; users may pause before it.
        let at_once = self.open_loop.is_none() && !P::Sink::WALKS;
        let is_waiting = self.in_flight > 0 || at_once;
        match self.habits[usize::from(origin)] {
            Habit::Unknown | Habit::Suspected { .. } | Habit::Likely { .. } => {
                self.listen(slot, self.now_ns, is_waiting);
            }
            Habit::Closes | Habit::Blocks => self.look_again(slot, until),
        }
    }

    /// The server has not closed the connection in the time it was given.
    pub(super) fn close_overdue<I: Io>(&mut self, io: &mut I, slot: Slot, now: u64) {
        let is_waiting = self.in_flight > 0;
        let slowest_ns = self.recorder.slowest_ns() as f64;
        let record = self.recorder.record();
        let connection = &mut self.connections[slot as usize];
        let until = connection.left_until_ns;
        let is_silent = is_waiting && connection.silent_since_bytes == Some(record.received_bytes);
        let habit = &mut self.habits[usize::from(connection.origin)];
        let silence_ns = connection.silence_ns;
        // A look that is cut short by the end of the wait was too short to show anything, unless it was nearly all of it.
        let shows = now < until || silence_ns as f64 >= WHOLE_WAIT * slowest_ns;
        if is_silent && shows && *habit != Habit::Closes {
            let suspected =
                |closed, times| Habit::Suspected { at_ns: now, silence_ns, closed, times };
            match *habit {
                Habit::Blocks => record.closed_early += 1,
                Habit::Suspected { closed, times, .. } | Habit::Likely { closed, times, .. } => {
                    *habit = suspected(closed + 1, times);
                }
                Habit::Unknown | Habit::Closes => *habit = suspected(1, 0),
            }
        } else if now >= until {
            record.left_open += 1;
        } else if *habit == Habit::Closes {
            return self.look_again(slot, until);
        } else {
            return self.listen(slot, now, is_waiting);
        }
        connection.deadline_ns = u64::MAX;
        io.close(slot, CloseHow::Fin);
    }

    /// Looks again after a time in which something should have come from the server, if a request waits for it.
    fn listen(&mut self, slot: Slot, now: u64, is_waiting: bool) {
        let slowest_ns = self.recorder.slowest_ns();
        let silence_ns = match self.habits[usize::from(self.connections[slot as usize].origin)] {
            Habit::Likely { silence_ns, .. } => silence_ns,
            _ => slowest_ns.saturating_mul(SILENCE_RESPONSES).saturating_add(SILENCE_NS),
        };
        let received_bytes = self.recorder.record().received_bytes;
        let connection = &mut self.connections[slot as usize];
        connection.silent_since_bytes = is_waiting.then_some(received_bytes);
        let at = now.saturating_add(silence_ns).min(connection.left_until_ns);
        connection.silence_ns = at.saturating_sub(now);
        self.look_again(slot, at);
    }

    fn look_again(&mut self, slot: Slot, at: u64) {
        self.connections[slot as usize].deadline_ns = at;
        self.next_check_ns = self.next_check_ns.min(at);
    }

    /// A socket is gone. Where the server was still waited for it was the server that closed.
    pub(super) fn note_who_closed(&mut self, slot: Slot) {
        let connection = &self.connections[slot as usize];
        let was_left = connection.is_spare && connection.stage == Stage::Closing;
        let habit = &mut self.habits[usize::from(connection.origin)];
        if was_left && connection.deadline_ns != u64::MAX && *habit != Habit::Blocks {
            *habit = Habit::Closes;
        }
    }
}
