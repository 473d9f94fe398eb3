//! The threads of a worker's connections: which are running, how they are stopped, and that all of them
//! are joined.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::{Shutdown, shutdown};

/// How long responses under way may take when the server is stopped.
const DRAIN: Duration = Duration::from_secs(1);

/// A connection: what its thread and whoever stops it share.
#[derive(Debug)]
pub struct Member {
    /// The socket; it is closed when both have let go of it.
    pub socket: OwnedFd,
    number: u64,
    /// Its thread waits for something that the end of the server ends.
    idle: AtomicBool,
}

/// All connections of a worker, each with its thread.
#[derive(Debug)]
pub struct Threads {
    stack_bytes: usize,
    stopping: AtomicBool,
    members: Mutex<Members>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Members {
    next_number: u64,
    living: HashMap<u64, Living>,
    /// The thread that left last; the next to leave joins it, so that no more than one that has
    /// ended waits to be joined.
    last: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Living {
    member: Arc<Member>,
    /// Nothing until whoever started it has it.
    thread: Option<JoinHandle<()>>,
}

impl Member {
    /// Its thread waits until the stop, or no more.
    #[inline]
    pub fn set_idle(&self, idle: bool) {
        // With the load in `Threads::is_stopping` behind it, one order for both threads: either
        // this thread sees the stop, or whoever stops sees it idle.
        self.idle.store(idle, Ordering::SeqCst);
    }
}

impl Threads {
    /// No threads yet; each will have a stack of this size.
    pub fn new(stack_bytes: usize) -> Self {
        Self {
            stack_bytes,
            stopping: AtomicBool::new(false),
            members: Mutex::default(),
            left: Condvar::new(),
        }
    }

    /// A new connection, without a thread yet.
    pub fn member(&self, socket: OwnedFd) -> Arc<Member> {
        let mut members = self.members();
        members.next_number += 1;
        Arc::new(Member { socket, number: members.next_number, idle: AtomicBool::new(false) })
    }

    /// Starts a connection's thread.
    ///
    /// # Errors
    /// When there are no threads or no memory left.
    pub fn start(
        self: &Arc<Self>,
        member: &Arc<Member>,
        talk: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let number = member.number;
        self.members().living.insert(number, Living { member: member.clone(), thread: None });
        // Also when `talk` panics, and when it is dropped without having run.
        let leaving = Leaving { threads: self.clone(), number };
        let run = move || {
            let _leaving = leaving;
            talk();
        };
        let thread = thread::Builder::new().stack_size(self.stack_bytes).spawn(run)?;
        let mut members = self.members();
        match members.living.get_mut(&number) {
            Some(living) => living.thread = Some(thread),
            // It has left already.
            None => {
                let before = members.last.replace(thread);
                drop(members);
                join(before);
            }
        }
        Ok(())
    }

    /// Whether the server stops.
    #[inline]
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Ends all: those that wait for a request now, the others behind their present response or
    /// after a while. Returns when all threads have ended. No thread is started any more.
    pub fn end(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        let mut members = self.members();
        for Living { member, .. } in members.living.values() {
            if member.idle.load(Ordering::SeqCst) {
                // Its read ends, and a response that began just now can still be written.
                let _ = shutdown(&member.socket, Shutdown::Read);
            }
        }
        let deadline = Instant::now() + DRAIN;
        while !members.living.is_empty()
            && let Some(time_left) = deadline.checked_duration_since(Instant::now())
        {
            let waited = self.left.wait_timeout(members, time_left);
            members = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        for Living { member, .. } in members.living.values() {
            let _ = shutdown(&member.socket, Shutdown::Both);
        }
        while !members.living.is_empty() {
            members = self.left.wait(members).unwrap_or_else(PoisonError::into_inner);
        }
        let last = members.last.take();
        drop(members);
        join(last);
    }

    fn leave(&self, number: u64) {
        let mut members = self.members();
        let gone = members.living.remove(&number);
        let (member, thread) = gone.map_or((None, None), |gone| (Some(gone.member), gone.thread));
        let before = match thread {
            Some(thread) => members.last.replace(thread),
            None => None,
        };
        drop(members);
        drop(member);
        self.left.notify_all();
        join(before);
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread has left and at most joins another that has: this does not wait long.
fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread {
        // A panic was reported when it happened.
        let _ = thread.join();
    }
}

/// Takes its thread off the list when it is dropped.
struct Leaving {
    threads: Arc<Threads>,
    number: u64,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.threads.leave(self.number);
    }
}
