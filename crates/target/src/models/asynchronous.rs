//! async/await on tokio: a runtime per worker, of one thread, and a task per connection. Per small
//! request on an open connection: its share of one epoll_wait, one read, one write, and what the
//! runtime needs to find and run the task.
//!
//! tokio waits by itself and does not say how often: `waits`, `events` and the `epoll_` counters
//! of a worker stay at 0.

mod accept;
mod buffers;
mod connection;
mod socket;

use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use accept::Arriving;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, Runtime};

use super::{IoModel, Run, Worker};
use crate::accepting::AcceptMode;
use crate::counters::Counters;
use crate::event_loop::DRAIN_NS;
use crate::handler::Handler;
use crate::options::Options;
use crate::server::Stop;
use crate::service::Service;

/// The model.
#[derive(Debug)]
pub struct Async;

impl IoModel for Async {
    const NAME: &'static str = "async";
    const ABOUT: &'static str = "async/await on tokio: a task per connection";
    const WAITS_ITSELF: bool = false;
    const SPEAKS_HTTP3: bool = true;
    type Shared = ();

    fn refuses(accept: AcceptMode) -> Option<&'static str> {
        (accept == AcceptMode::Exclusive).then_some(
            "tokio registers with epoll by itself, without EPOLLEXCLUSIVE; use shared or reuseport",
        )
    }

    fn share(_options: &Options) -> io::Result<()> {
        Ok(())
    }

    fn set_up<H: Handler>(worker: Worker<H>, _shared: Arc<()>) -> io::Result<Run> {
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            // Tasks run between two looks for events: all that one look made ready.
            .event_interval(worker.options.max_events.try_into().unwrap_or(u32::MAX))
            .max_io_events_per_tick(worker.options.max_events)
            .build()?;
        let Worker { intake, service, options, counters, stop, .. } = worker;
        buffers::put_up(counters.clone());
        let here = Arc::new(Here { service, options, counters, stopping: AtomicBool::new(false) });
        let (stopped, arriving) = {
            let _registers_with = runtime.enter();
            // SAFETY: a stop keeps its descriptor, and the AsyncFd keeps the stop.
            let stopped =
                unsafe { AsyncFd::register_with_interest(Watched(stop), Interest::READABLE)? };
            (stopped, Arriving::new(intake)?)
        };
        Ok(Box::new(move || {
            serve(&runtime, here, &stopped, arriving);
            // The tasks that are left end with it.
            drop(runtime);
            buffers::take_down();
            Ok(())
        }))
    }
}

/// What the tasks of one worker share.
struct Here<H> {
    service: Arc<Service<H>>,
    options: Arc<Options>,
    counters: Arc<Counters>,
    /// No connection is kept behind its present response.
    stopping: AtomicBool,
}

impl<H> Here<H> {
    #[inline]
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// Something with a descriptor that tokio watches.
#[derive(Debug)]
struct Watched<T>(T);

impl AsRawFd for Watched<Arc<Stop>> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

/// Serves until told to stop, then lets responses under way finish.
fn serve<H: Handler>(
    runtime: &Runtime,
    here: Arc<Here<H>>,
    stopped: &AsyncFd<Watched<Arc<Stop>>>,
    arriving: Arriving,
) {
    runtime.block_on(async {
        let accepting = tokio::spawn(accept::accept(arriving, here.clone()));
        while !stopped.get_ref().0.is_set() {
            // It fails when the runtime ends, which is here.
            let Ok(mut told) = stopped.readable().await else { break };
            told.clear_ready();
        }
        here.stopping.store(true, Ordering::Relaxed);
        accepting.abort();
        // Its listener is closed when it is gone.
        let _ = accepting.await;
        buffers::wake_all();
        let drained = std::future::poll_fn(buffers::poll_empty);
        let _ = tokio::time::timeout(std::time::Duration::from_nanos(DRAIN_NS), drained).await;
    });
}
