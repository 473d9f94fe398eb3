//! Between the last preparation and the clock: the warm-up; and where the clock starts together with those of other machines
//! ([`Control::hold`]), the wait for that moment, in which the warm-up goes on.

use std::io;
use std::sync::Arc;

use super::course::TURN_NS;
use super::watching::WatchRule;
use super::{Assignment, Gate, Worker};
use crate::control::Control;
use crate::protocol::Protocol;
use crate::schedule::{Numbers, Schedule};
use crate::transport::Line;
use ablaze_model::run::WorkerEffort;

impl<P: Protocol> Worker<P> {
    /// Warms up, and waits for the start if that is told. Returns the time at which the clock starts.
    #[allow(clippy::too_many_arguments, reason = "the parts of a worker's course")]
    pub(super) fn warm_up<L: Line<Self>>(
        &mut self,
        line: &mut L,
        effort: &mut WorkerEffort,
        assignment: &Assignment,
        control: &Control,
        gate: &mut impl Gate,
        watch: &mut WatchRule,
        mut now: u64,
    ) -> io::Result<u64> {
        let warmup_ns = self.plan.limits.warmup_ns;
        if warmup_ns > 0 && !control.stopped() && !self.unreachable {
            // Warming up takes numbers of its own, without end.
            self.schedule = Schedule::new(Arc::new(Numbers::new(None, 1)));
            if let Some(open) = &mut self.open_loop {
                open.for_warmup(assignment);
            }
            let warm_ns = now.saturating_add(warmup_ns);
            let until_ns = if control.is_held() { u64::MAX } else { warm_ns };
            self.start_all(&mut line.io(), now, until_ns);
            while now < warm_ns && !control.stopped() && !self.unreachable {
                let until = warm_ns.min(now + TURN_NS);
                now = self.watching_turn(line, effort, until, watch)?;
            }
            if control.is_held() {
                gate.ready();
                while !self.start_has_come(control, now) {
                    let until = control.start_ns().min(now + HELD_TURN_NS);
                    now = self.watching_turn(line, effort, until, watch)?;
                }
            }
            self.schedule = Schedule::new(Arc::clone(&self.numbers));
            if let Some(open) = &mut self.open_loop {
                open.for_window(assignment);
            }
        } else if control.is_held() {
            // What a server says of itself must not begin the load: over HTTP/2 its SETTINGS come now.
            self.closed_for_new = true;
            gate.ready();
            while !self.start_has_come(control, now) {
                now = self.turn(line, effort, control.start_ns().min(now + HELD_TURN_NS), 0)?;
            }
            self.closed_for_new = false;
            self.draining_since_ns = None;
        }
        Ok(now)
    }

    /// Whether the moment has come that was told, or none will.
    fn start_has_come(&self, control: &Control, now: u64) -> bool {
        now >= control.start_ns() || control.stopped() || self.unreachable
    }
}

/// How long a worker waits at a time to be told when to start, ns.
const HELD_TURN_NS: u64 = 10_000_000;
