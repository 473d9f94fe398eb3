//! The accepting thread of `--accept single`: it waits, accepts, and hands connections to the
//! workers in turn.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};

use super::HandOver;
use crate::conditions::AcceptBatch;
use crate::counters::Counters;
use crate::server::Stop;

/// How long accepting pauses when descriptors or memory ran out.
const PAUSE: Duration = Duration::from_millis(50);

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
        loop {
            counters.accepts.one();
            match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(connection) => {
                    if let Some(worker) = turns.next() {
                        worker.push(connection);
                    }
                }
                Err(Errno::AGAIN) => {
                    counters.accept_eagains.one();
                    break;
                }
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    // The listener stays readable: without a pause, this would be a busy loop.
                    std::thread::sleep(PAUSE);
                    break;
                }
                // The client went away, or its network failed (accept(2), "Error handling").
                Err(_) => {}
            }
            if batch == AcceptBatch::One {
                break;
            }
        }
    }
    Ok(())
}
