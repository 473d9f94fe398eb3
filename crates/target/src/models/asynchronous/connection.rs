//! One connection as a task: reads, responses and writes in straight lines, with an `await` where a
//! call would block.

use std::future::poll_fn;
use std::mem;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use tokio::time::{Instant, timeout_at};

use super::Here;
use super::buffers::{Place, at_buffers};
use super::socket::Socket;
use crate::accepting::reset_on_close;
use crate::conditions::PerAccept;
use crate::conversation::{Buffers, Over, has_input};
use crate::event_loop::LINGER_NS;
use crate::event_loop::read_timeouts::SYLAR_TIMEOUT;
use crate::handler::Handler;
use crate::protocol::{Next, Protocol};
use crate::sending::{Sent, send_all};

/// Reads of one connection before the others have their turn.
const READS_PER_TURN: u32 = 16;

/// Serves a connection until it is over.
pub async fn converse<H: Handler>(socket: OwnedFd, here: Arc<Here<H>>) {
    let read_timeout = match here.options.per_accept {
        PerAccept::Nothing => here.options.read_timeout,
        PerAccept::Sylar => Some(here.options.read_timeout.unwrap_or(SYLAR_TIMEOUT)),
    };
    let mut connection = Connection {
        socket: Socket::Fresh(socket),
        here,
        place: Place::new(),
        read_timeout,
        left_waker: false,
        may_read: true,
        half_closed: false,
        reads_this_turn: 0,
    };
    // How it ended makes no difference: the socket is closed.
    let _ = connection.respond().await;
}

/// A connection's socket and what its task knows of it.
struct Connection<H> {
    socket: Socket,
    here: Arc<Here<H>>,
    place: Place,
    read_timeout: Option<Duration>,
    /// The stop can wake the task.
    left_waker: bool,
    /// There may be something to read: the last read filled its buffer, or there was none.
    may_read: bool,
    /// The client has closed its sending side: reading goes on to the end.
    half_closed: bool,
    reads_this_turn: u32,
}

/// How long a read may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitLimit {
    /// For the next request: as long as an idle connection is kept, or until the server stops.
    Idle,
    /// For the rest of a request: as long as an idle connection is kept.
    UnderWay,
    /// Until this time, or until the server stops.
    Until(Instant),
}

impl<H: Handler> Connection<H> {
    async fn respond(&mut self) -> Result<(), Over> {
        let mut protocol = Protocol::new(&self.here.service);
        let mut next = Next::Read;
        let mut due = None;
        let mut proceeds = 0;
        loop {
            match next {
                Next::Read if protocol.is_idle() => {
                    let read = self.read(WaitLimit::Idle).await;
                    if read.is_err() && self.here.is_stopping() {
                        return self.say_goodbye(&mut protocol).await;
                    }
                    read?;
                }
                Next::Read => self.read(WaitLimit::UnderWay).await?,
                Next::ReadFor(_) => {
                    if let Some(due) = due.take()
                        && !self.read_until(due).await?
                    {
                        next = Next::Proceed;
                    }
                }
                Next::Proceed => {
                    proceeds += 1;
                    if proceeds == READS_PER_TURN {
                        // A client that reads fast enough lets a long response go on for ever.
                        proceeds = 0;
                        tokio::task::yield_now().await;
                    }
                }
                Next::Wait(_) => {
                    if let Some(due) = due.take() {
                        self.here.counters.timers.one();
                        if let Ok(broken) = timeout_at(due, self.socket.broken()).await {
                            // Nobody is left to respond to, or nothing can be heard of it.
                            broken.map_err(|_| Over)?;
                            return Err(Over);
                        }
                        // What came meanwhile nobody has seen.
                        self.may_read |= self.socket.fd().is_some_and(has_input);
                    }
                }
                Next::Close { unread } => return self.close(unread).await,
                Next::Reset => {
                    if let Some(socket) = self.socket.fd() {
                        reset_on_close(socket);
                    }
                    return Ok(());
                }
            }
            if self.here.is_stopping() {
                protocol.finish();
            }
            let sent = at_buffers(|buffers| {
                let Buffers { input, out, date, counters } = buffers;
                date.update();
                next = match next {
                    Next::Read | Next::ReadFor(_) => {
                        protocol.receive(input, &self.here.service, date, out)
                    }
                    _ => protocol.proceed(&self.here.service, date, out),
                };
                // Before the response leaves: who has it finds it counted.
                protocol.count_into(counters);
                let Some(socket) = self.socket.fd() else { return Err(Errno::BADF) };
                buffers.send(socket)
            });
            // A response that waits does so from now on, not from when the client reads.
            if let Next::Wait(delay_ns) | Next::ReadFor(delay_ns) = next {
                due = Some(Instant::now() + Duration::from_nanos(delay_ns));
            }
            match sent {
                Ok(Sent::All) => {}
                Ok(Sent::Part) => self.write_rest(false).await?,
                Err(Errno::AGAIN) => self.write_rest(true).await?,
                Err(_) => {
                    // What it still had to say is said to no one.
                    at_buffers(|buffers| buffers.out.clear());
                    return Err(Over);
                }
            }
        }
    }

    /// Reads once, at least a byte, to the buffers's input.
    async fn read(&mut self, timeout: WaitLimit) -> Result<(), Over> {
        loop {
            if self.reads_this_turn == READS_PER_TURN {
                self.reads_this_turn = 0;
                tokio::task::yield_now().await;
            }
            if !self.may_read {
                self.wait_to_read(timeout).await?;
            } else if timeout != WaitLimit::UnderWay && self.here.is_stopping() {
                return Err(Over);
            }
            self.reads_this_turn += 1;
            let Some(socket) = self.socket.fd() else { return Err(Over) };
            let read = at_buffers(|buffers| {
                buffers.receive(socket).map(|bytes| (bytes, buffers.is_full()))
            });
            match read {
                Ok((0, _)) => return Err(Over),
                Ok((_, is_full)) => {
                    // A read that does not fill the buffer has emptied the socket (epoll(7),
                    // "Questions and answers", 9), so that a small request costs one read.
                    self.may_read = is_full || self.half_closed;
                    return Ok(());
                }
                Err(Errno::AGAIN) => self.may_read = false,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Over),
            }
        }
    }

    /// Reads once, if something comes before this time; whether it did.
    async fn read_until(&mut self, due: Instant) -> Result<bool, Over> {
        loop {
            if !self.may_read {
                self.reads_this_turn = 0;
                self.here.counters.timers.one();
                match timeout_at(due, self.readable(false)).await {
                    Ok(readable) => readable?,
                    Err(_) => return Ok(false),
                }
            }
            let Some(socket) = self.socket.fd() else { return Err(Over) };
            let read = at_buffers(|buffers| {
                buffers.receive(socket).map(|bytes| (bytes, buffers.is_full()))
            });
            match read {
                Ok((0, _)) => return Err(Over),
                Ok((_, is_full)) => {
                    self.may_read = is_full || self.half_closed;
                    return Ok(true);
                }
                Err(Errno::AGAIN) => self.may_read = false,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Over),
            }
        }
    }

    /// Says what is said on a connection that is closed though nothing is wrong with it, and lets
    /// the client close first: what that had on its way would turn a close into a reset, which
    /// destroys the words.
    async fn say_goodbye(&mut self, protocol: &mut Protocol) -> Result<(), Over> {
        let Some(socket) = self.socket.fd() else { return Err(Over) };
        let said = at_buffers(|buffers| {
            protocol.say_goodbye(&mut buffers.out);
            let is_something = !buffers.out.is_empty();
            let _ = buffers.send(socket);
            buffers.out.clear();
            is_something
        });
        if said {
            shutdown(socket, Shutdown::Write).map_err(|_| Over)?;
            let until = Instant::now() + Duration::from_nanos(LINGER_NS);
            while self.read_until(until).await? {}
        }
        Err(Over)
    }

    /// Waits until there may be something to read.
    async fn wait_to_read(&mut self, timeout: WaitLimit) -> Result<(), Over> {
        self.reads_this_turn = 0;
        let until = match (timeout, self.read_timeout) {
            (WaitLimit::Until(until), _) => Some(until),
            (_, Some(timeout)) => Some(Instant::now() + timeout),
            (_, None) => None,
        };
        let ends_with_stop = timeout != WaitLimit::UnderWay;
        match until {
            None => self.readable(ends_with_stop).await,
            Some(until) => {
                self.here.counters.timers.one();
                timeout_at(until, self.readable(ends_with_stop)).await.unwrap_or(Err(Over))
            }
        }
    }

    #[inline]
    async fn readable(&mut self, ends_with_stop: bool) -> Result<(), Over> {
        poll_fn(|context| {
            if ends_with_stop && self.here.is_stopping() {
                return Poll::Ready(Err(Over));
            }
            if !self.left_waker {
                self.left_waker = true;
                self.place.leave_waker(context);
            }
            match self.socket.poll_readable(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Err(_)) => Poll::Ready(Err(Over)),
                Poll::Ready(Ok(half_closed)) => {
                    self.half_closed |= half_closed;
                    self.may_read = true;
                    Poll::Ready(Ok(()))
                }
            }
        })
        .await
    }

    /// Takes what the socket did not from the buffers and writes it as the client reads.
    #[cold]
    async fn write_rest(&mut self, mut is_full: bool) -> Result<(), Over> {
        let mut rest = at_buffers(|buffers| mem::take(&mut buffers.out));
        loop {
            if is_full {
                self.socket.writable().await.map_err(|_| Over)?;
                self.here.counters.out_events.one();
            } else {
                tokio::task::yield_now().await;
            }
            let Some(socket) = self.socket.fd() else { return Err(Over) };
            match send_all(socket, &mut rest, &self.here.counters) {
                Ok(Sent::All) => return Ok(()),
                Ok(Sent::Part) => is_full = false,
                Err(Errno::AGAIN) => is_full = true,
                Err(_) => return Err(Over),
            }
        }
    }

    /// Everything is written; see [`Next::Close`] for why not to close at once.
    async fn close(&mut self, unread: bool) -> Result<(), Over> {
        if !unread && !self.may_read {
            return Ok(());
        }
        let Some(socket) = self.socket.fd() else { return Err(Over) };
        shutdown(socket, Shutdown::Write).map_err(|_| Over)?;
        let until = Instant::now() + Duration::from_nanos(LINGER_NS);
        while Instant::now() < until {
            self.read(WaitLimit::Until(until)).await?;
        }
        Ok(())
    }
}
