//! A descriptor that a fiber waits for, and how it is told of events: registered once,
//! edge-triggered, or added before each wait and deleted behind it.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::epoll::EventFlags;

use super::switch::Switch;
use super::wait::{Awaited, Woken};
use super::worker::Here;
use crate::conditions::Arm;
use crate::conversation::Over;

/// A descriptor.
#[derive(Debug)]
pub struct Source<D> {
    descriptor: D,
    arm: Arm,
    /// What it is registered for, if it is registered once.
    lasting: EventFlags,
    registered: bool,
}

impl<D: AsFd> Source<D> {
    /// A connection.
    pub fn connection(descriptor: D, arm: Arm) -> Self {
        let lasting = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Self { descriptor, arm, lasting, registered: false }
    }

    /// A descriptor from which connections come: it is told of with these flags.
    pub fn of_connections(descriptor: D, arm: Arm, flags: EventFlags) -> Self {
        Self { descriptor, arm, lasting: EventFlags::IN | flags, registered: false }
    }

    /// The descriptor.
    pub fn descriptor(&self) -> &D {
        &self.descriptor
    }

    /// Waits for the descriptor. Behind it, the descriptor may or may not be ready.
    ///
    /// # Errors
    /// When the fiber has to end, or the kernel cannot watch the descriptor.
    #[inline]
    pub fn wait<S: Switch>(
        &mut self,
        here: &mut Here<'_, S>,
        awaited: Awaited,
        until_ns: u64,
    ) -> Result<Woken, Over> {
        if !self.registered {
            let flags = match (self.arm, awaited) {
                (Arm::Persistent, _) => self.lasting,
                // RDHUP stands for bytes that will not come: it ends a read.
                (Arm::PerWait, Awaited::Readable { .. }) => self.lasting - EventFlags::OUT,
                // That it broke is told of in any case.
                (Arm::PerWait, Awaited::Time) => EventFlags::ET,
                (Arm::PerWait, _) => EventFlags::OUT | EventFlags::ET,
            };
            here.watch(self.descriptor.as_fd(), flags).map_err(|_| Over)?;
            self.registered = true;
        }
        let woken = here.suspend(awaited, until_ns);
        if self.arm == Arm::PerWait {
            self.unwatch(here);
        }
        match woken.says(Woken::ENDED) {
            true => Err(Over),
            false => Ok(woken),
        }
    }

    /// Asks for its events no more, until the next wait.
    pub fn unwatch<S: Switch>(&mut self, here: &Here<'_, S>) {
        if std::mem::take(&mut self.registered) {
            here.unwatch(self.descriptor.as_fd());
        }
    }
}

impl<D: AsFd> AsFd for Source<D> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
