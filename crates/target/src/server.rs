//! A server as a whole: starts the workers, says where it listens, stops them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};

use crate::counters::{Counters, Served};
use crate::event_loop::{Signal, Worker};
use crate::handler::Handler;
use crate::listener::{ListenError, listen_on};
use crate::options::{Options, OptionsError};
use crate::routes::Routes;
use crate::service::Service;

/// Starts servers.
#[derive(Debug)]
pub struct Server;

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An option is out of its range.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// No thread or descriptor for a worker.
    #[error("no thread or descriptor for another worker: {0}; use fewer --threads")]
    Worker(#[from] io::Error),
}

/// A worker ended before it was told to.
#[derive(Debug, thiserror::Error)]
#[error("a worker of the server ended: {0}")]
pub struct WorkerError(String);

impl Server {
    /// Starts the built-in server: [`Routes`].
    ///
    /// # Errors
    /// When an option is out of range, the address cannot be listened on, or a thread is refused.
    pub fn start(options: Options) -> Result<Running, StartError> {
        let routes = Routes::new(&options);
        Self::start_with(options, routes)
    }

    /// Starts a server around a handler. It listens when this returns.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with<H: Handler>(options: Options, handler: H) -> Result<Running, StartError> {
        options.validate()?;
        let threads = options.threads_resolved();
        let (listeners, address) = listen_on(options.address, threads, options.backlog)?;
        let service = Arc::new(Service::new(handler, &options));
        // Filled as the workers start: if one does not, dropping this stops the others.
        let mut running = Running { address, workers: Vec::new() };
        for (number, listener) in listeners.into_iter().enumerate() {
            let counters = Arc::new(Counters::default());
            let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
                .map_err(io::Error::from)?;
            let signal = Arc::new(Signal { waker, stop: AtomicBool::new(false) });
            let worker = Worker::new(listener, service.clone(), counters.clone(), signal.clone())
                .map_err(io::Error::from)?;
            let thread = thread::Builder::new()
                .name(format!("serve-{number}"))
                .spawn(move || worker.run())?;
            running.workers.push(RunningWorker { thread, counters, signal });
        }
        Ok(running)
    }
}

/// A server that runs. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    workers: Vec<RunningWorker>,
}

#[derive(Debug)]
struct RunningWorker {
    thread: JoinHandle<rustix::io::Result<()>>,
    counters: Arc<Counters>,
    signal: Arc<Signal>,
}

impl Running {
    /// Where it listens, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of workers.
    pub fn threads(&self) -> usize {
        self.workers.len()
    }

    /// What it has served so far.
    pub fn served(&self) -> Served {
        let read = self.workers.iter().map(|worker| worker.counters.read());
        read.fold(Served::default(), |sum, worker| sum + worker)
    }

    /// Stops it: nothing is accepted any more, answers under way have up to a second. Returns,
    /// when all threads have ended, what was served.
    ///
    /// # Errors
    /// When a worker had ended by itself: connections it should have served were lost.
    pub fn stop(mut self) -> Result<Served, WorkerError> {
        let counters: Vec<_> = self.workers.iter().map(|worker| worker.counters.clone()).collect();
        self.end()?;
        Ok(counters.iter().fold(Served::default(), |sum, counters| sum + counters.read()))
    }

    fn end(&mut self) -> Result<(), WorkerError> {
        for worker in &self.workers {
            worker.signal.stop.store(true, Ordering::Release);
            // An eventfd takes one more unless it holds 2^64 - 2 already.
            let _ = rustix::io::write(&worker.signal.waker, &1u64.to_ne_bytes());
        }
        let mut result = Ok(());
        for worker in self.workers.drain(..) {
            match worker.thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(errno)) => result = Err(WorkerError(errno.to_string())),
                Err(_) => result = Err(WorkerError("it panicked; its message is above".into())),
            }
        }
        result
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Who wants to know calls `stop`.
        let _ = self.end();
    }
}
