//! The fiber that accepts: it takes connections from wherever they come to its worker and makes
//! a fiber for each.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use ablaze_sys::clock::monotonic_ns;
use rustix::event::epoll::EventFlags;

use super::connection::FiberLine;
use super::source::Source;
use super::switch::Switch;
use super::wait::{Awaited, NEVER_NS, Woken};
use super::worker::Here;
use crate::accepting::{ACCEPT_PAUSE_NS, Accepted, Intake, accept_one, accepts_per_event, welcome};
use crate::conditions::{AcceptBatch, Arm, PerAccept};
use crate::conversation::{Over, converse};
use crate::handler::Handler;
use crate::service::Service;

/// What an accepting fiber needs.
pub struct Acceptor<H> {
    /// Where connections come from.
    pub intake: Intake,
    /// What they are served.
    pub service: Arc<Service<H>>,
    /// How many are accepted per event.
    pub batch: AcceptBatch,
    /// What else is done with each.
    pub per_accept: PerAccept,
}

impl<H: Handler> Acceptor<H> {
    /// Accepts until the server stops.
    pub fn run<S: Switch>(self, here: Here<'_, S>) {
        let wait_options = here.worker().wait_options();
        // While this fiber has still to run, other workers wait on the same epoll: only an edge
        // is told to one of them, once.
        let by_edge = wait_options.shared && wait_options.arm == Arm::Persistent;
        let flags = match &self.intake {
            Intake::Listener { exclusive: true, .. } => EventFlags::EXCLUSIVE,
            _ if by_edge => EventFlags::ET,
            _ => EventFlags::empty(),
        };
        Accepting {
            here,
            source: Source::of_connections(Watched(self.intake), wait_options.arm, flags),
            by_edge,
            accepted: VecDeque::new(),
            service: self.service,
            batch: self.batch,
            per_accept: self.per_accept,
        }
        .run();
    }
}

/// An intake as a descriptor to wait for.
struct Watched(Intake);

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Intake::Listener { socket, .. } => socket.as_fd(),
            Intake::Handed(queue) => queue.descriptor(),
        }
    }
}

/// Why accepting stopped for now.
enum Paused {
    /// The next event will tell of what there is.
    UntilEvent,
    /// There may be more, and no event will tell.
    Turn,
    /// Descriptors or memory ran out.
    Exhausted,
}

/// The accepting fiber at work.
struct Accepting<'a, S: Switch, H> {
    here: Here<'a, S>,
    source: Source<Watched>,
    /// What is there is told once, and not again as long as it is there.
    by_edge: bool,
    /// Connections without a fiber yet.
    accepted: VecDeque<OwnedFd>,
    service: Arc<Service<H>>,
    batch: AcceptBatch,
    per_accept: PerAccept,
}

impl<S: Switch, H: Handler> Accepting<'_, S, H> {
    fn run(mut self) {
        let mut paused = Paused::UntilEvent;
        while self.wait(&paused).is_ok() && !self.here.woken().says(Woken::STOPPING) {
            paused = self.accept();
        }
        // Others may hold the same listener: closing ours would not take it out of the epoll.
        self.source.unwatch(&self.here);
    }

    fn wait(&mut self, paused: &Paused) -> Result<(), Over> {
        match paused {
            Paused::UntilEvent => {
                let connection = Awaited::Readable { until_stop: true };
                self.source.wait(&mut self.here, connection, NEVER_NS)?;
            }
            Paused::Turn => {
                self.here.suspend(Awaited::Turn, NEVER_NS);
            }
            Paused::Exhausted => {
                // The listener stays readable: watched on, it would be told of all the time.
                self.source.unwatch(&self.here);
                let until_ns = monotonic_ns() + ACCEPT_PAUSE_NS;
                self.here.suspend(Awaited::Readable { until_stop: true }, until_ns);
            }
        }
        Ok(())
    }

    /// Takes connections and makes fibers for them.
    fn accept(&mut self) -> Paused {
        // Those for which there was no memory.
        if self.serve_accepted().is_err() {
            return Paused::Exhausted;
        }
        if let Watched(Intake::Handed(queue)) = self.source.descriptor() {
            queue.take_into(&mut self.accepted);
            return match self.serve_accepted() {
                Ok(()) => Paused::UntilEvent,
                Err(_) => Paused::Exhausted,
            };
        }
        for count in 0..accepts_per_event(self.batch) {
            let worker = self.here.worker();
            match accept_one(&self.source, worker.counters()) {
                Accepted::Connection(connection) => {
                    self.accepted.push_back(connection);
                    if self.serve_accepted().is_err() {
                        return Paused::Exhausted;
                    }
                }
                Accepted::Nothing => {
                    if count == 0 && worker.last_events() == 1 {
                        worker.counters().empty_wakes.one();
                    }
                    return Paused::UntilEvent;
                }
                Accepted::NoRoom => return Paused::Exhausted,
                Accepted::Lost => {}
            }
        }
        match self.by_edge {
            true => Paused::Turn,
            false => Paused::UntilEvent,
        }
    }

    /// Makes a fiber for each connection that has none.
    fn serve_accepted(&mut self) -> std::io::Result<()> {
        let worker = self.here.worker();
        while !self.accepted.is_empty() {
            let stack = worker.stack()?;
            let Some(connection) = self.accepted.pop_front() else { break };
            welcome(&connection, self.per_accept);
            worker.counters().connections.one();
            let service = self.service.clone();
            worker.spawn(stack, move |here| {
                // Over is over: the socket is closed here.
                let _ = converse(&mut FiberLine::new(here, connection), &service);
            });
        }
        Ok(())
    }
}
