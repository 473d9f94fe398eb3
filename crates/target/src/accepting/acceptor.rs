//! Accepting: one connection, for whoever has a listener; and the accepting thread of
//! `--accept single`, which waits, accepts, and hands connections to the workers in turn.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use rustix::time::Timespec;

use super::HandOver;
use crate::conditions::AcceptBatch;
use crate::counters::Counters;
use crate::server::Stop;

/// How long accepting pauses when descriptors or memory ran out, ns.
pub const ACCEPT_PAUSE_NS: u64 = 50_000_000;

/// Connections accepted for one event before others have their turn.
const ACCEPTS_PER_EVENT: usize = 64;

/// What a call of accept gave.
#[derive(Debug)]
pub enum Accepted {
    /// A connection, non-blocking.
    Connection(OwnedFd),
    /// None is there, or no longer.
    Nothing,
    /// Descriptors or memory ran out. The listener stays readable: whoever waits for it pauses
    /// for [`ACCEPT_PAUSE_NS`], or is in a busy loop.
    NoRoom,
    /// The client went away, or its network failed (accept(2), "Error handling"); the next may be
    /// there.
    Lost,
}

/// Accepts one connection, and counts.
#[inline]
pub fn accept_one(listener: impl AsFd, counters: &Counters) -> Accepted {
    counters.accepts.one();
    match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
        Ok(connection) => Accepted::Connection(connection),
        Err(Errno::AGAIN) => {
            counters.accept_eagains.one();
            Accepted::Nothing
        }
        Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => Accepted::NoRoom,
        Err(_) => Accepted::Lost,
    }
}

/// Calls of accept for one event.
pub fn accepts_per_event(batch: AcceptBatch) -> usize {
    match batch {
        AcceptBatch::One => 1,
        AcceptBatch::Drain => ACCEPTS_PER_EVENT,
    }
}

/// Accepts until told to stop.
///
/// # Errors
/// When the wait fails, which the kernel does only for lack of memory.
pub(crate) fn accept_for_others(
    listener: &OwnedFd,
    workers: &[Arc<HandOver>],
    batch: AcceptBatch,
    counters: &Counters,
    stop: &Stop,
) -> rustix::io::Result<()> {
    let mut turns = workers.iter().cycle();
    while !stop.is_set() {
        let mut fds = [PollFd::new(listener, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
        counters.waits.one();
        match poll(&mut fds, None) {
            Ok(ready) => counters.events.add(ready as u64),
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
        }
        if fds[0].revents().is_empty() {
            continue;
        }
        for _ in 0..accepts_per_event(batch) {
            match accept_one(listener, counters) {
                Accepted::Connection(connection) => {
                    if let Some(worker) = turns.next()
                        && worker.push(connection)
                    {
                        counters.wakes.one();
                    }
                }
                Accepted::Nothing => break,
                Accepted::NoRoom => {
                    pause(stop, counters)?;
                    break;
                }
                Accepted::Lost => {}
            }
        }
    }
    Ok(())
}

/// Waits until there may be room again, or for the end.
fn pause(stop: &Stop, counters: &Counters) -> rustix::io::Result<()> {
    let timeout = Timespec { tv_sec: 0, tv_nsec: ACCEPT_PAUSE_NS as i64 };
    counters.waits.one();
    match poll(&mut [PollFd::new(stop, PollFlags::IN)], Some(&timeout)) {
        Ok(ready) => counters.events.add(ready as u64),
        Err(Errno::INTR) => {}
        Err(errno) => return Err(errno),
    }
    Ok(())
}
