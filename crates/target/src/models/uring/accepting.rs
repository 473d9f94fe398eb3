//! How connections come to a worker on the ring.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use ablaze_net::uring::ring::RingCompletion;

use super::operations::{self as op, File};
use super::worker::{INTAKE, RingWorker};
use crate::accepting::{ACCEPT_PAUSE_NS, Intake, welcome};
use crate::conditions::{AcceptBatch, PerAccept};
use crate::handler::Handler;
use crate::options::Options;

/// Most places in the ring's own table; the kernel permits as many as descriptors.
const DIRECT_MAX: u64 = 1 << 18;

impl<H: Handler> RingWorker<H> {
    /// How many connections may live in the ring's table; 0 if they need descriptors.
    pub(super) fn direct_descriptors(intake: &Intake, options: &Options) -> u32 {
        let needs_descriptors =
            matches!(intake, Intake::Handed(_)) || options.per_accept != PerAccept::Nothing;
        if needs_descriptors {
            return 0;
        }
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        limit.unwrap_or(DIRECT_MAX).min(DIRECT_MAX) as u32
    }

    /// Waits for connections.
    pub(super) fn watch_intake(&mut self) {
        let entry = match &self.intake {
            None => return,
            Some(Intake::Handed(queue)) => op::watch(queue.descriptor().as_raw_fd(), op::HANDED),
            Some(intake @ Intake::Listener { socket, .. }) => {
                let many = self.options.accept_batch == AcceptBatch::Drain;
                let direct = Self::direct_descriptors(intake, &self.options) > 0;
                op::accept(socket.as_raw_fd(), many, direct)
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

    /// A connection was accepted, or none could be.
    #[inline]
    pub(super) fn accepted(&mut self, done: RingCompletion) {
        self.counters.accepts.one();
        if done.result >= 0 {
            self.begin_accepted(done.result);
        } else if matches!(-done.result, libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
        {
            // The connection stays where it is: without a pause, this would be a busy loop.
            if !done.more_to_come() {
                self.add_timer(ACCEPT_PAUSE_NS, INTAKE);
            }
            return;
        }
        // Otherwise the client went away, or its network failed (accept(2), "Error handling").
        if !done.more_to_come() {
            self.watch_intake();
        }
    }

    #[inline]
    fn begin_accepted(&mut self, number: i32) {
        if self.options.per_accept == PerAccept::Nothing {
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
