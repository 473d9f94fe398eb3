//! How connections come to a worker on the ring.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use ablaze_net::uring::ring::RingCompletion;

use super::operations::{self as op, File};
use super::queue::COMPLETIONS;
use super::worker::{INTAKE, RingWorker};
use crate::accepting::{ACCEPT_PAUSE_NS, Intake, welcome};
use crate::conditions::{AcceptBatch, PerAccept};
use crate::handler::Handler;
use crate::options::Options;

/// Most places in the ring's own table; the kernel permits as many as descriptors.
const DIRECT_MAX: u64 = 1 << 18;
/// Places of the table that stay free: some closes are done a round later than they are known.
const RESERVE_MAX: usize = 256;

/// How connections are accepted at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepting {
    /// Not at all.
    Nothing,
    /// One, by a request of its own.
    One,
    /// All that come.
    Many,
    /// The same, but the request was asked to stop.
    Stopping,
    /// Not before a pause is over.
    Pausing,
}

/// The ring's own table of sockets.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Places; 0 if connections need descriptors of the process.
    pub places: u32,
}

impl Table {
    /// For connections that come this way.
    pub fn new(intake: &Intake, options: &Options) -> Self {
        let needs_descriptors =
            matches!(intake, Intake::Handed(_)) || options.per_accept != PerAccept::Nothing;
        if needs_descriptors {
            return Self { places: 0 };
        }
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        Self { places: limit.unwrap_or(DIRECT_MAX).min(DIRECT_MAX) as u32 }
    }

    /// How to accept when this many connections are open. The kernel accepts first and looks for a place
    /// then (io_accept in io_uring/net.c): a connection that finds none is lost. A request that
    /// accepts all that come gives at most as many as there is room for completions.
    fn manner(self, connections: usize, batch: AcceptBatch) -> Accepting {
        let many = match batch {
            AcceptBatch::One => Accepting::One,
            AcceptBatch::Drain => Accepting::Many,
        };
        if self.places == 0 {
            return many;
        }
        let places = self.places as usize;
        let usable = places - RESERVE_MAX.min(places / 4);
        if connections + COMPLETIONS as usize <= usable {
            many
        } else if connections < usable {
            Accepting::One
        } else {
            Accepting::Nothing
        }
    }
}

impl<H: Handler> RingWorker<H> {
    /// Waits for connections, if it does not and there is room for one.
    pub(super) fn watch_intake(&mut self) {
        let entry = match &self.intake {
            None => return,
            Some(Intake::Handed(queue)) => op::watch(queue.descriptor().as_raw_fd(), op::HANDED),
            Some(Intake::Listener { socket, .. }) => {
                if self.accepting != Accepting::Nothing {
                    return;
                }
                self.accepting = self.table.manner(self.slots.len(), self.options.accept_batch);
                let many = match self.accepting {
                    Accepting::One => false,
                    Accepting::Many => true,
                    _ => return,
                };
                op::accept(socket.as_raw_fd(), many, self.table.places > 0)
            }
        };
        // SAFETY: it points at nothing.
        unsafe { self.queue.push(&entry) };
    }

    /// Waits for connections no more. Those that had come before are served.
    pub(super) fn unwatch_intake(&mut self) {
        let operation = match self.intake.take() {
            None => return,
            Some(Intake::Handed(_)) => op::HANDED,
            Some(Intake::Listener { .. }) => op::ACCEPT,
        };
        // SAFETY: it points at nothing.
        unsafe { self.queue.push(&op::cancel(operation, 0)) };
    }

    /// The pause is over.
    pub(super) fn accept_again(&mut self) {
        self.accepting = Accepting::Nothing;
        self.watch_intake();
    }

    /// A connection was accepted, or none could be.
    #[inline]
    pub(super) fn accepted(&mut self, done: RingCompletion) {
        self.counters.accepts.one();
        if done.result >= 0 {
            self.begin_accepted(done.result);
        }
        if done.more_to_come() {
            let manner = self.table.manner(self.slots.len(), AcceptBatch::Drain);
            if manner != Accepting::Many && self.accepting == Accepting::Many {
                self.accepting = Accepting::Stopping;
                // SAFETY: it points at nothing.
                unsafe { self.queue.push(&op::cancel(op::ACCEPT, 0)) };
            }
            return;
        }
        let no_room =
            matches!(-done.result, libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM);
        if no_room {
            // The connection stays where it is: without a pause, this would be a busy loop.
            self.accepting = Accepting::Pausing;
            self.add_timer(ACCEPT_PAUSE_NS, INTAKE);
        } else {
            // Otherwise the client went away, or its network failed (accept(2), "Error
            // handling").
            self.accept_again();
        }
    }

    #[inline]
    fn begin_accepted(&mut self, number: i32) {
        if self.table.places > 0 {
            return self.begin(File::Direct(number as u32));
        }
        // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
        let socket = unsafe { OwnedFd::from_raw_fd(number) };
        welcome(socket.as_fd(), self.options.per_accept);
        self.begin(File::Owned(socket));
    }

    /// Connections were handed over.
    pub(super) fn handed(&mut self, done: RingCompletion) {
        let Some(Intake::Handed(queue)) = &self.intake else { return };
        for socket in queue.take() {
            // Ours wait in the kernel, see `operations::accept`. This fails for no socket.
            let _ = rustix::io::ioctl_fionbio(&socket, false);
            welcome(socket.as_fd(), self.options.per_accept);
            self.begin(File::Owned(socket));
        }
        if !done.more_to_come() {
            self.watch_intake();
        }
    }
}
