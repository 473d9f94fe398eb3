//! A connection's socket under tokio: registered with its epoll when a call first has to wait, so
//! that a connection whose request is there and that is closed behind the response never is.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The socket.
#[derive(Debug)]
pub enum Socket {
    /// tokio does not know it yet.
    Fresh(OwnedFd),
    /// Registered for both directions, edge-triggered.
    Watched(AsyncFd<OwnedFd>),
    /// It could not be registered.
    Lost,
}

impl Socket {
    /// Registers it, if it is not.
    ///
    /// # Errors
    /// Those of epoll_ctl(2). Without it, the connection would never be heard of again.
    fn watch(&mut self) -> io::Result<&AsyncFd<OwnedFd>> {
        if let Self::Fresh(_) = self {
            let Self::Fresh(fd) = std::mem::replace(self, Self::Lost) else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            // SAFETY: the AsyncFd owns the socket, which keeps its descriptor.
            let watched = unsafe {
                AsyncFd::register_with_interest(fd, Interest::READABLE | Interest::WRITABLE)?
            };
            *self = Self::Watched(watched);
        }
        match self {
            Self::Watched(watched) => Ok(watched),
            Self::Fresh(_) | Self::Lost => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Waits until there may be something to read; whether the client has closed its side.
    ///
    /// # Errors
    /// As [`Self::watch`].
    #[inline]
    pub fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut told = ready!(self.watch()?.poll_read_ready(context))?;
        // Before the read: what comes behind it is told again.
        told.clear_ready();
        Poll::Ready(Ok(told.ready().is_read_closed()))
    }

    /// Waits until there may be room to write.
    ///
    /// # Errors
    /// As [`Self::watch`].
    pub async fn writable(&mut self) -> io::Result<()> {
        let watched = self.watch()?;
        poll_fn(|context| watched.poll_write_ready(context)).await?.clear_ready();
        Ok(())
    }

    /// Waits until the connection was reset, or is closed on both sides.
    ///
    /// # Errors
    /// As [`Self::watch`].
    pub async fn broken(&mut self) -> io::Result<()> {
        let watched = self.watch()?;
        loop {
            let mut told = poll_fn(|context| watched.poll_write_ready(context)).await?;
            if told.ready().is_write_closed() {
                return Ok(());
            }
            told.clear_ready();
        }
    }

    /// The descriptor; none if it is lost.
    #[inline]
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Fresh(fd) => Some(fd.as_fd()),
            Self::Watched(watched) => Some(watched.get_ref().as_fd()),
            Self::Lost => None,
        }
    }
}
