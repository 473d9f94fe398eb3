//! What users do once before the clock starts: behind connecting, before the warm-up. Nothing of it is measured.

use std::io;

use ablaze_net::{Io, Slot};

use super::course::TURN_NS;
use super::{Assignment, Gate, Worker};
use crate::connection::Stage;
use crate::control::Control;
use crate::protocol::Protocol;
use crate::shares::share;
use crate::transport::Line;
use crate::walk::Walk;
use ablaze_model::run::WorkerEffort;

impl<P: Protocol> Worker<P> {
    /// Lets all users do what they have to do before the clock starts, and waits for those of the other workers. Returns
    /// the time at which the clock starts for all.
    pub(super) fn prepare<L: Line<Self>>(
        &mut self,
        line: &mut L,
        effort: &mut WorkerEffort,
        control: &Control,
        gate: &mut impl Gate,
        now: u64,
    ) -> io::Result<u64> {
        // Every worker has users, and the same is asked of all of them: all come to the gate, or none.
        if !P::Sink::WALKS || !self.protocol.is_preparing() {
            return Ok(now);
        }
        let mut now = now;
        self.begin_preparing(&mut line.io(), now);
        while self.protocol.is_preparing() && !control.stopped() && !self.unreachable {
            now = self.turn(line, effort, now + TURN_NS, 0)?;
        }
        now = gate.all_prepared(&mut || line.io().now());
        while line.io().now() < now {
            self.turn(line, effort, now, 0)?;
        }
        // Users that are through wait to be asked again: that is when the load begins.
        self.pauses.clear();
        P::prepared(self);
        Ok(now)
    }

    /// How many connections of a closed loop are opened before the clock starts: those of the users that are there then.
    pub(super) fn users_at_start(&self, assignment: &Assignment) -> u32 {
        let users = self.plan.journey.as_ref().map(|journey| &journey.users);
        match users.and_then(|users| users.ramp) {
            None => assignment.connections,
            Some(ramp) => {
                let from = ramp.from.div_ceil(self.plan.users_per_connection());
                share(from, assignment.workers.max(1), assignment.worker)
                    .min(assignment.connections)
            }
        }
    }

    /// Every user is asked, those of an open loop too, whose connections are opened for it.
    fn begin_preparing<I: Io>(&mut self, io: &mut I, now: u64) {
        self.now_ns = now;
        for slot in 0..self.connections.len() as Slot {
            let connection = &self.connections[slot as usize];
            match connection.stage {
                _ if connection.is_spare => {}
                Stage::Open => P::start(self, io, slot),
                Stage::Free => P::open_next(self, io, slot),
                _ => {}
            }
        }
        let at = io.now();
        P::flush(self, io, at);
        self.stamp(at);
    }
}
