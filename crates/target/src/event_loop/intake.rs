//! How an event loop gets its connections: from a listener of its own or one it shares, or from
//! the accepting thread.

use std::os::fd::{AsFd, OwnedFd};

use super::connection::Connection;
use super::readiness::Readiness;
use super::{EventLoop, INTAKE, Then};
use crate::accepting::{ACCEPT_PAUSE_NS, Accepted, Intake, accept_one, accepts_per_event, welcome};
use crate::handler::Handler;
use crate::protocol::Protocol;

impl<H: Handler, R: Readiness> EventLoop<H, R> {
    /// Waits for connections; also again, after a pause.
    pub(super) fn watch_intake(&mut self) -> rustix::io::Result<()> {
        self.is_watching = true;
        match &self.intake {
            None => Ok(()),
            Some(Intake::Listener { socket, exclusive, .. }) => {
                self.readiness.watch(socket.as_fd(), INTAKE, *exclusive)
            }
            Some(Intake::Handed(queue)) => self.readiness.watch(queue.descriptor(), INTAKE, false),
        }
    }

    /// Waits for connections no more.
    fn unwatch_intake(&mut self) -> rustix::io::Result<()> {
        if !std::mem::take(&mut self.is_watching) {
            return Ok(());
        }
        match &self.intake {
            None => Ok(()),
            Some(Intake::Listener { socket, .. }) => self.readiness.unwatch(socket.as_fd(), INTAKE),
            Some(Intake::Handed(queue)) => self.readiness.unwatch(queue.descriptor(), INTAKE),
        }
    }

    /// No connections will come any more.
    pub(super) fn give_up_intake(&mut self) -> rustix::io::Result<()> {
        // A listener that others share stays open, and in this worker's epoll, until it is taken
        // out.
        self.unwatch_intake()?;
        self.intake = None;
        Ok(())
    }

    /// Takes the connections that are there.
    pub(super) fn take_in(&mut self) -> rustix::io::Result<()> {
        let before = self.arrivals.len();
        let mut no_room = false;
        match &self.intake {
            None => {}
            Some(Intake::Handed(queue)) => queue.take_into(&mut self.arrivals),
            Some(Intake::Listener { socket: listener, .. }) => {
                for _ in 0..accepts_per_event(self.options.accept_batch) {
                    match accept_one(listener, &self.scratch.counters) {
                        Accepted::Connection(socket) => self.arrivals.push_back(socket),
                        Accepted::Nothing => break,
                        Accepted::NoRoom => {
                            no_room = true;
                            break;
                        }
                        Accepted::Lost => {}
                    }
                }
            }
        }
        if no_room {
            self.unwatch_intake()?;
            self.add_timer(ACCEPT_PAUSE_NS, INTAKE);
        }
        let more = self.arrivals.len() - before;
        self.useful |= no_room || more > 0;
        self.scratch.counters.connections.add(more as u64);
        Ok(())
    }

    /// Gives each new connection a turn. As late as possible: by then, more requests have arrived.
    pub(super) fn welcome_arrivals(&mut self) {
        while let Some(socket) = self.arrivals.pop_front() {
            welcome(&socket, self.options.per_accept);
            self.first_turn(socket);
        }
    }

    /// A new connection is taken in if it lives longer than its first turn.
    fn first_turn(&mut self, socket: OwnedFd) {
        let mut connection = Connection::new(socket, Protocol::new(&self.service));
        if self.draining {
            connection.finish();
        }
        let key = self.slots.insert(connection);
        let then = self.act(key);
        if then == Then::IsGone {
            return;
        }
        let Some(connection) = self.slots.get_mut(key) else { return };
        if self.readiness.register(connection.socket().as_fd(), key).is_err() {
            // No memory, or the limit of watches per user: it cannot be served.
            self.close(key);
        } else if then == Then::Waits {
            self.settle(key);
        }
    }
}
