//! Open loop: arrivals that are due are handed to connections that are free.
//!
//! An arrival that finds none waits where it is, on the schedule: it is taken when a connection
//! is free again, with the time at which it was due. Nothing is queued, nothing dropped.

use ablaze_net::{Io, Slot};

use super::{Assignment, Worker};
use crate::arrivals::{Due, Profile};
use crate::connection::{Exchange, Stage};
use crate::control::Control;
use crate::protocol::Protocol;
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::{Load, Plan};
use ablaze_model::rate_change::RateChange;

/// Connections opened before the responses that came meanwhile are looked at. After a pause many
/// arrivals are due at once. A connection for each would take longer than the arrivals that come due
/// in that time, which would want connections too, and never end; those whose responses are there
/// can be used again.
const OPENED_AT_A_TIME: u32 = 32;
/// An arrival that is older than this was held up by this worker, or by the machine under it, and not by
/// the server: on time it would have found one of the connections that there are. So whoever is behind
/// catches up with these, and opens one more now and then for the case that the server became slow
/// meanwhile. Without that, a pause of 20 ms at 40,000/s opens 800 connections, which take the processor
/// from the arrivals that come due in that time, and those open more.
const BEHIND_NS: u64 = 1_000_000;
/// Between two connections that a worker opens while it is behind: four in the time that makes it so.
const NOW_AND_THEN_NS: u64 = BEHIND_NS / 4;

/// A worker's arrivals, and the connections that could take one.
#[derive(Debug)]
pub(crate) struct OpenLoop {
    due: Due,
    /// How many changes of the rate the arrivals follow.
    changes_seen: usize,
    /// Slots that stand and have nothing to do, the one used last on top. A slot is in the list at
    /// most once; it may have been closed since, and is passed over then when its turn comes: looking for it
    /// in the list when it closes would take a time that grows with the square of the connections.
    idle: Vec<Slot>,
    /// Slots without a socket. As above: one may have been opened since.
    vacant: Vec<Slot>,
    /// When a connection was opened last.
    opened_ns: u64,
    /// Before this time no connection is opened, as this worker is behind.
    not_before_ns: u64,
}

impl OpenLoop {
    /// For one worker; none in closed loop.
    pub(crate) fn new(assignment: &Assignment) -> Option<Self> {
        let slots = assignment.slots() as usize;
        Some(Self {
            due: due(assignment, assignment.plan.limits.requests, 0)?,
            changes_seen: 0,
            idle: Vec::with_capacity(slots),
            vacant: Vec::with_capacity(slots),
            opened_ns: 0,
            not_before_ns: 0,
        })
    }

    /// Arrivals for warming up: as many as it takes, drawn apart from those that are measured.
    pub(crate) fn for_warmup(&mut self, assignment: &Assignment) {
        if let Some(due) = due(assignment, None, WARMUP) {
            self.due = due;
        }
    }

    /// The arrivals that are measured.
    pub(crate) fn for_window(&mut self, assignment: &Assignment) {
        if let Some(due) = due(assignment, assignment.plan.limits.requests, 0) {
            self.due = due;
        }
    }

    /// Whether no connection could take an arrival, as far as is known, nor one be opened for it.
    #[inline]
    pub(crate) fn has_nobody(&self) -> bool {
        self.idle.is_empty() && self.vacant.is_empty()
    }

    /// The clock of the arrivals starts.
    pub(crate) fn start(&mut self, at_ns: u64, end_ns: u64) {
        self.due.start(at_ns, end_ns);
    }
}

/// What the seed is changed by for the warm-up.
const WARMUP: u64 = 0x5eed;

fn due(assignment: &Assignment, limit: Option<u64>, change_of_seed: u64) -> Option<Due> {
    let plan: &Plan = &assignment.plan;
    let Load::Open { rate, arrivals, .. } = plan.load else { return None };
    let profile = Profile::new(&rate, plan.limits.duration_ns.unwrap_or(0), &[]);
    let share = (assignment.worker, assignment.workers);
    let seed = plan.seed_of_all.unwrap_or(plan.requests.seed) ^ change_of_seed;
    let due = Due::new(profile, arrivals, share, limit, seed);
    let Some(part) = plan.part else { return Some(due) };
    // Of n machines, the k-th arrival of one is the (k n + its number)-th of all; its own rate is an n-th of all.
    let due = due.on_machine(part.index, part.of);
    Some(match plan.requests_of_all.filter(|_| limit.is_some()) {
        Some(requests) => due.ending_with(requests as f64 / f64::from(part.of.max(1))),
        None => due,
    })
}

impl<P: Protocol> Worker<P> {
    /// When an arrival has to be handed out next; `u64::MAX` in closed loop, and as long as no
    /// connection could take it.
    #[inline]
    pub(crate) fn next_arrival_ns(&self) -> u64 {
        match &self.open_loop {
            Some(open) if !open.idle.is_empty() => open.due.next_ns(),
            Some(open) if !open.vacant.is_empty() => open.due.next_ns().max(open.not_before_ns),
            _ => u64::MAX,
        }
    }

    /// Hands out the arrivals that are due, as far as there are connections for them.
    #[inline]
    pub(crate) fn hand_out<I: Io>(&mut self, io: &mut I, now: u64) {
        if self.next_arrival_ns() <= now && !self.in_setup && !self.unreachable {
            self.hand_out_due(io, now);
        }
    }

    fn hand_out_due<I: Io>(&mut self, io: &mut I, now: u64) {
        self.now_ns = now;
        let mut left = self.may_open(now);
        while self.next_arrival_ns() <= now {
            let Some(open) = &mut self.open_loop else { return };
            if let Some(slot) = open.idle.pop() {
                self.connections[slot as usize].listed_idle = false;
                P::take_due(self, io, slot);
            } else if left == 0 {
                return;
            } else if let Some(slot) = open.vacant.pop() {
                let connection = &mut self.connections[slot as usize];
                connection.listed_vacant = false;
                if connection.stage == Stage::Free && !connection.is_spare {
                    open.opened_ns = now;
                    P::open_next(self, io, slot);
                    left -= 1;
                }
            }
        }
    }

    /// How many connections may be opened for the arrivals that are due.
    fn may_open(&mut self, now: u64) -> u32 {
        let Some(open) = &mut self.open_loop else { return 0 };
        if now.saturating_sub(open.due.next_ns()) <= BEHIND_NS {
            open.not_before_ns = 0;
            return OPENED_AT_A_TIME;
        }
        open.not_before_ns = open.opened_ns + NOW_AND_THEN_NS;
        u32::from(now >= open.not_before_ns)
    }

    /// The next request of an open loop, if one is due: its number, and when it was due. Those
    /// whose time is over before they could be sent fail here.
    pub(crate) fn take_arrival(&mut self) -> Option<(u64, u64)> {
        let now = self.now_ns;
        let timeout_ns = self.plan.limits.timeout_ns;
        loop {
            let (number, intended_ns) = self.open_loop.as_mut()?.due.take(now)?;
            if timeout_ns == 0 {
                return Some((number, intended_ns));
            }
            let deadline_ns = intended_ns.saturating_add(timeout_ns);
            if now < deadline_ns {
                // Nearer than one timeout from now, if it comes late.
                self.next_check_ns = self.next_check_ns.min(deadline_ns);
                return Some((number, intended_ns));
            }
            let exchange = Exchange { started_ns: now, ..self.not_sent(number, intended_ns) };
            self.recorder.failed(&exchange, now, FailureKind::Timeout, 0, false);
        }
    }

    /// Has the arrivals follow the rate as it was changed since; whether it was.
    #[inline]
    pub(crate) fn follow_rate(&mut self, control: &Control) -> bool {
        match &self.open_loop {
            Some(open) if open.changes_seen != control.rate_changes_count() => {
                self.change_rate(&control.rate_changes());
                true
            }
            _ => false,
        }
    }

    #[cold]
    fn change_rate(&mut self, changes: &[RateChange]) {
        let Load::Open { rate, .. } = self.plan.load else { return };
        let duration_ns = self.plan.limits.duration_ns.unwrap_or(0);
        if let Some(open) = &mut self.open_loop {
            open.changes_seen = changes.len();
            open.due.change(Profile::new(&rate, duration_ns, changes));
        }
    }

    /// Whether the arrivals are over before the time is, and the time of the last one is, too.
    pub(crate) fn no_more_arrivals(&self) -> bool {
        let over = |open: &OpenLoop| open.due.is_over() && self.now_ns >= open.due.over_ns();
        self.open_loop.as_ref().is_some_and(over)
    }

    /// When the time of the last of a limited number of arrivals is over; 0 for never.
    pub(crate) fn arrivals_over_ns(&self) -> u64 {
        self.open_loop.as_ref().map_or(0, |open| open.due.over_ns())
    }

    /// An open connection has nothing to do.
    pub(crate) fn note_idle(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.is_idle_from(self.now_ns);
        let Some(open) = &mut self.open_loop else { return };
        if !std::mem::replace(&mut connection.listed_idle, true) {
            open.idle.push(slot);
        }
    }

    /// A slot has no socket and nothing to send.
    pub(crate) fn note_vacant(&mut self, slot: Slot) {
        let Some(open) = &mut self.open_loop else { return };
        let connection = &mut self.connections[slot as usize];
        if !std::mem::replace(&mut connection.listed_vacant, true) {
            open.vacant.push(slot);
        }
    }

    /// Arrivals that were due before the run ended and found no connection.
    pub(crate) fn note_never_sent(&mut self, at: u64) {
        while let Some(open) = &mut self.open_loop
            && let Some((number, intended_ns)) = open.due.take(at.saturating_sub(1))
        {
            let exchange = self.not_sent(number, intended_ns);
            self.recorder.unfinished(&exchange, at);
        }
    }

    /// The exchange of an arrival that was due and never sent.
    fn not_sent(&self, number: u64, intended_ns: u64) -> Exchange {
        let template = self.outbox.template_of(number);
        Exchange { number, intended_ns, template, ..Exchange::default() }
    }
}
