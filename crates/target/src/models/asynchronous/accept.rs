//! The task of a worker that takes connections in.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::connection::converse;
use super::{Here, Watched};
use crate::accepting::{
    ACCEPT_PAUSE_NS, Accepted, HandOver, Intake, accept_one, accepts_per_event, welcome,
};
use crate::handler::Handler;

/// Where connections come from, watched by tokio.
pub enum Arriving {
    /// A listener.
    Listener(AsyncFd<OwnedFd>),
    /// Another thread accepts.
    Handed(AsyncFd<Watched<Arc<HandOver>>>),
}

impl Arriving {
    /// To be called in the context of the runtime.
    ///
    /// # Errors
    /// When it cannot be watched.
    pub fn new(intake: Intake) -> io::Result<Self> {
        Ok(match intake {
            Intake::Listener { socket, .. } => {
                // SAFETY: the AsyncFd owns the listener, which keeps its descriptor.
                let listener =
                    unsafe { AsyncFd::register_with_interest(socket, Interest::READABLE)? };
                Self::Listener(listener)
            }
            Intake::Handed(queue) => {
                // SAFETY: a queue keeps its descriptor, and the AsyncFd keeps the queue.
                let queue =
                    unsafe { AsyncFd::register_with_interest(Watched(queue), Interest::READABLE)? };
                Self::Handed(queue)
            }
        })
    }
}

impl AsRawFd for Watched<Arc<HandOver>> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.descriptor().as_raw_fd()
    }
}

/// Takes connections in, until it is aborted.
pub async fn accept<H: Handler>(arriving: Arriving, here: Arc<Here<H>>) {
    // Waiting fails only when the runtime ends.
    let _ = match arriving {
        Arriving::Listener(listener) => accept_from(listener, here).await,
        Arriving::Handed(queue) => take_from(queue, here).await,
    };
}

async fn accept_from<H: Handler>(listener: AsyncFd<OwnedFd>, here: Arc<Here<H>>) -> io::Result<()> {
    let at_once = accepts_per_event(here.options.accept_batch);
    loop {
        // Before the calls: what comes behind the last of them is told again.
        listener.readable().await?.clear_ready();
        'there: loop {
            for _ in 0..at_once {
                match accept_one(listener.get_ref(), &here.counters) {
                    Accepted::Connection(socket) => begin(socket, &here),
                    Accepted::Nothing => break 'there,
                    Accepted::NoRoom => sleep(Duration::from_nanos(ACCEPT_PAUSE_NS)).await,
                    Accepted::Lost => {}
                }
            }
            // Edge-triggered, it is not told of those that are left: the others have their turn
            // anyway.
            yield_now().await;
        }
    }
}

async fn take_from<H: Handler>(
    queue: AsyncFd<Watched<Arc<HandOver>>>,
    here: Arc<Here<H>>,
) -> io::Result<()> {
    let mut taken = std::collections::VecDeque::new();
    loop {
        queue.readable().await?.clear_ready();
        queue.get_ref().0.take_into(&mut taken);
        for socket in taken.drain(..) {
            begin(socket, &here);
        }
    }
}

/// A connection gets a task of its own.
fn begin<H: Handler>(socket: OwnedFd, here: &Arc<Here<H>>) {
    here.counters.connections.one();
    welcome(socket.as_fd(), here.options.per_accept);
    tokio::spawn(converse(socket, here.clone()));
}
