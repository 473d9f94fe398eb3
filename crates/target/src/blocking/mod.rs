//! A thread per connection. A worker is a thread that accepts, or takes over what another has
//! accepted, and starts a thread for each connection; `threads` keeps track of them, and
//! `line` is a connection as its thread has it.

mod line;
mod threads;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{Shutdown, SocketFlags, accept_with, shutdown};
use rustix::time::Timespec;

use crate::accepting::{ACCEPT_PAUSE_NS, HandOver, Intake, welcome};
use crate::conditions::PerAccept;
use crate::conversation::converse;
use crate::counters::{Counters, Part};
use crate::fibers::stack::STACK_BYTES_MIN;
use crate::handler::Handler;
use crate::models::{Run, Worker};
use crate::server::Stop;
use line::ThreadLine;
use threads::Threads;

/// How long sylar's TcpServer waits for a request, unless it is told otherwise.
const SYLAR_READ_TIMEOUT: Duration = Duration::from_secs(120);

/// Sets a worker up.
///
/// # Errors
/// When there is no thread for it.
pub fn set_up<H: Handler>(worker: Worker<H>) -> io::Result<Run> {
    let threads = Arc::new(Threads::new(worker.options.fibers.stack_bytes));
    let alarm = match &worker.intake {
        Intake::Handed(_) => None,
        Intake::Listener { socket, .. } => {
            // Of all descriptors of this listener: every worker wants it so.
            ioctl_fionbio(socket, false)?;
            Some(alarm(socket.try_clone()?, worker.stop.clone(), worker.counters.part())?)
        }
    };
    Ok(Box::new(move || {
        match &worker.intake {
            Intake::Listener { socket, .. } => accept(&worker, socket, &threads),
            Intake::Handed(queue) => take_over(&worker, queue, &threads)?,
        }
        if let Some(alarm) = alarm {
            // It does nothing that panics.
            let _ = alarm.join();
        }
        threads.end();
        Ok(())
    }))
}

/// A thread that waits for the stop in place of one that is blocked in accept, and ends accept:
/// the listener accepts no more, which it says with EINVAL.
fn alarm(listener: OwnedFd, stop: Arc<Stop>, part: Part) -> io::Result<JoinHandle<()>> {
    let alarm = move || {
        part.begin();
        wait_for_stop(&stop, None, part.counters());
        let _ = shutdown(&listener, Shutdown::Both);
    };
    let builder = thread::Builder::new().name("stop".to_owned());
    builder.stack_size(STACK_BYTES_MIN).spawn(alarm)
}

/// Waits until the worker is told to stop, or for a time.
fn wait_for_stop(stop: &Stop, timeout: Option<&Timespec>, counters: &Counters) {
    while !stop.is_set() {
        counters.waits.one();
        match poll(&mut [PollFd::new(stop, PollFlags::IN)], timeout) {
            Ok(ready) => counters.events.add(ready as u64),
            Err(Errno::INTR) if timeout.is_none() => continue,
            Err(_) => {}
        }
        return;
    }
}

/// Descriptors, threads or memory ran out.
fn pause<H>(worker: &Worker<H>) {
    let pause = Timespec { tv_sec: 0, tv_nsec: ACCEPT_PAUSE_NS as i64 };
    wait_for_stop(&worker.stop, Some(&pause), &worker.counters);
}

/// Blocks in accept until the stop.
fn accept<H: Handler>(worker: &Worker<H>, listener: &OwnedFd, threads: &Arc<Threads>) {
    while !worker.stop.is_set() {
        worker.counters.accepts.one();
        match accept_with(listener, SocketFlags::CLOEXEC) {
            Ok(connection) => serve(worker, connection, threads),
            // Shut down: by this worker's stop or by that of another one on the same listener.
            Err(Errno::INVAL) => wait_for_stop(&worker.stop, None, &worker.counters),
            Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => pause(worker),
            // The client went away, or its network failed (accept(2), "Error handling").
            Err(_) => {}
        }
    }
}

/// Takes over what the accepting thread has accepted, until the stop.
fn take_over<H: Handler>(
    worker: &Worker<H>,
    queue: &HandOver,
    threads: &Arc<Threads>,
) -> io::Result<()> {
    while !worker.stop.is_set() {
        let mut fds = [
            PollFd::from_borrowed_fd(queue.descriptor(), PollFlags::IN),
            PollFd::new(&*worker.stop, PollFlags::IN),
        ];
        worker.counters.waits.one();
        match poll(&mut fds, None) {
            Ok(ready) => worker.counters.events.add(ready as u64),
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        for connection in queue.take() {
            // The accepting thread makes them for workers that never block.
            if ioctl_fionbio(&connection, false).is_ok() {
                serve(worker, connection, threads);
            }
        }
    }
    Ok(())
}

/// Starts a thread for a connection; tries again until there is one or the server stops.
fn serve<H: Handler>(worker: &Worker<H>, connection: OwnedFd, threads: &Arc<Threads>) {
    let per_accept = worker.options.per_accept;
    welcome(connection.as_fd(), per_accept);
    worker.counters.connections.one();
    let read_timeout = match per_accept {
        PerAccept::Nothing => worker.options.read_timeout,
        PerAccept::Sylar => Some(worker.options.read_timeout.unwrap_or(SYLAR_READ_TIMEOUT)),
    };
    let member = threads.member(connection);
    while !worker.stop.is_set() {
        let (service, part) = (worker.service.clone(), worker.counters.part());
        let (member_of_thread, threads_of_member) = (member.clone(), threads.clone());
        let talk = move || {
            part.begin();
            let buffers_counters = part.counters().clone();
            let mut line = ThreadLine::new(
                member_of_thread,
                threads_of_member,
                buffers_counters,
                read_timeout,
            );
            // Over is over: the socket is closed behind this.
            let _ = converse(&mut line, &service);
        };
        match threads.start(&member, talk) {
            Ok(()) => return,
            Err(_) => pause(worker),
        }
    }
}
