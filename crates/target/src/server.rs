//! A server as a whole: starts the workers, says where it listens, stops them.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::accepting::{AcceptMode, HandOver, Intake, accept_for_others};
use crate::counters::{Counters, Counts};
use crate::handler::Handler;
use crate::health::{Health, State};
use crate::http3;
use crate::http3::worker::UdpWorker;
use crate::listener::{ListenError, listen_on};
use crate::models::{IoModel, Worker};
use crate::options::{Options, OptionsError};
use crate::registry::{Entry, Registry};
use crate::routes::Routes;
use crate::service::Service;

#[doc(hidden)]
pub use crate::stop::Stop;

/// Starts servers.
#[derive(Debug)]
pub struct Server;

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// An option is out of its range.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// HTTP/3 cannot have the port.
    #[error(
        "cannot use UDP port {port} of {ip} for HTTP/3: {error}; choose another port, or find the program that has it with \
         `ss -lunp 'sport = :{port}'`",
        ip = .address.ip(), port = .address.port()
    )]
    Udp {
        /// The address.
        address: SocketAddr,
        /// What the kernel said.
        error: io::Error,
    },
    /// No thread or descriptor for a worker.
    #[error("cannot start another worker: {0}; use fewer --threads")]
    Worker(#[from] io::Error),
}

/// A worker ended before it was told to.
#[derive(Debug, thiserror::Error)]
#[error("a server worker failed: {0}")]
pub struct WorkerError(String);

impl Server {
    /// Starts the built-in server: [`Routes`].
    ///
    /// # Errors
    /// When an option is out of range, the address cannot be listened on, or a thread is refused.
    pub fn start(options: Options) -> Result<Running, StartError> {
        // Routes hold whole responses: what is too long is not to be made first.
        options.validate()?;
        let (listeners, options) = listen(options)?;
        let routes = Routes::new(&options);
        let registry = Registry::default();
        if let Some(counts) = routes.counts() {
            registry.set_routes(counts.clone());
        }
        Self::start_checked(listeners, options, routes, registry)
    }

    /// Starts a server around a handler. It listens when this returns.
    ///
    /// # Errors
    /// As [`Self::start`]; and when options are set that are about the responses of the built-in server: `status`,
    /// `body_bytes`, `routes`, `echo_everywhere` and `app`.
    pub fn start_with<H: Handler>(options: Options, handler: H) -> Result<Running, StartError> {
        options.validate()?;
        options.validate_for_own_handler()?;
        let (listeners, options) = listen(options)?;
        Self::start_checked(listeners, options, handler, Registry::default())
    }

    fn start_checked<H: Handler>(
        (listeners, address): Listening,
        options: Options,
        handler: H,
        registry: Registry,
    ) -> Result<Running, StartError> {
        let threads = options.threads_resolved();
        let registry = Arc::new(registry);
        let tls = options.tls.as_ref().map(|tls| tls.configuration(options.http2)).transpose();
        let tls = tls.map_err(|why| StartError::Options(OptionsError(why)))?;
        let service = Arc::new(Service::new(handler, &options, tls, registry.clone()));
        let health = Health::default();
        let shared_options = Arc::new(options.clone());
        let (intakes, acceptor) = intakes(listeners, &options, threads)?;
        let mut workers = Vec::new();
        for (number, intake) in intakes.into_iter().enumerate() {
            workers.push(Worker {
                number,
                intake,
                service: service.clone(),
                options: shared_options.clone(),
                counters: Arc::new(Counters::default()),
                stop: Arc::new(Stop::new(&health)?),
            });
        }
        let mut entries: Vec<_> = workers
            .iter()
            .map(|worker| Entry {
                name: worker_name(worker.number),
                counters: worker.counters.clone(),
            })
            .collect();
        let acceptor_counters = Arc::new(Counters::default());
        if acceptor.is_some() {
            let counters = acceptor_counters.clone();
            entries.push(Entry { name: ACCEPTOR.to_owned(), counters });
        }
        registry.set(entries);
        let count = workers.len();
        let by_udp = http3::start::prepare(&options, address, &workers, &health)?;
        let threads = options.model.start(workers, &options)?;
        // From here on, whatever fails: dropping this stops what runs.
        let mut running = Running { address, registry, workers: count, threads, health };
        for (worker, stop) in by_udp {
            running.threads.push(Thread::start(worker, stop)?);
        }
        if let Some(acceptor) = acceptor {
            running
                .threads
                .insert(0, acceptor.start(acceptor_counters, &options, &running.health)?);
        }
        Ok(running)
    }
}

/// Sockets that listen, and where.
type Listening = (Vec<OwnedFd>, SocketAddr);

/// Listens before anything else is made: with HTTP/3, responses name the port.
fn listen(mut options: Options) -> Result<(Listening, Options), ListenError> {
    let reuses = options.accept == AcceptMode::ReusePort;
    let own_listeners = if reuses { options.threads_resolved() } else { 1 };
    let (listeners, address) = listen_on(&options, own_listeners)?;
    if options.http3.is_some() {
        options.address = address;
    }
    Ok(((listeners, address), options))
}

const ACCEPTOR: &str = "accept";

fn worker_name(number: usize) -> String {
    format!("serve-{number}")
}

/// Says where each worker gets its connections from.
fn intakes(
    listeners: Vec<OwnedFd>,
    options: &Options,
    threads: usize,
) -> io::Result<(Vec<Intake>, Option<Acceptor>)> {
    let (shared, exclusive) = match options.accept {
        // A single worker accepts by itself; there is no one to hand connections to.
        AcceptMode::Single if threads == 1 => (false, false),
        AcceptMode::Single if options.model.accepts_itself(options) => (true, false),
        AcceptMode::Single => {
            let mut queues = Vec::new();
            for _ in 0..threads {
                queues.push(Arc::new(HandOver::new()?));
            }
            let intakes = queues.iter().cloned().map(Intake::Handed).collect();
            let listener = listeners.into_iter().next();
            return Ok((intakes, listener.map(|listener| Acceptor { listener, queues })));
        }
        AcceptMode::Shared => (true, false),
        AcceptMode::Exclusive => (true, true),
        AcceptMode::ReusePort => (false, false),
    };
    let mut sockets = listeners;
    while let Some(first) = sockets.first()
        && sockets.len() < threads
    {
        sockets.push(first.try_clone()?);
    }
    let intake = |socket| Intake::Listener { socket, shared, exclusive };
    Ok((sockets.into_iter().map(intake).collect(), None))
}

/// The accepting thread before it runs.
struct Acceptor {
    listener: OwnedFd,
    queues: Vec<Arc<HandOver>>,
}

impl Acceptor {
    fn start(
        self,
        counters: Arc<Counters>,
        options: &Options,
        health: &Health,
    ) -> io::Result<Thread> {
        let stop = Arc::new(Stop::new(health)?);
        let told = stop.clone();
        let batch = options.accept_batch;
        let accept = move || {
            let _leaving = Leaving(told.clone());
            counters.begin();
            let ended = accept_for_others(&self.listener, &self.queues, batch, &counters, &told);
            counters.end();
            Ok(ended?)
        };
        let handle = thread::Builder::new().name(ACCEPTOR.to_owned()).spawn(accept)?;
        Ok(Thread { handle, stop })
    }
}

/// A thread that runs.
#[derive(Debug)]
pub(crate) struct Thread {
    handle: JoinHandle<io::Result<()>>,
    stop: Arc<Stop>,
}

impl Thread {
    /// Starts the thread that speaks HTTP/3 beside a worker.
    fn start<H: Handler>(worker: UdpWorker<H>, stop: Arc<Stop>) -> io::Result<Self> {
        let name = format!("quic-{}", worker.number());
        let told = stop.clone();
        let handle = thread::Builder::new().name(name).spawn(move || {
            let _leaving = Leaving(told);
            worker.run()
        })?;
        Ok(Self { handle, stop })
    }
}

/// Starts a model's workers; all of them are set up when this returns.
pub(crate) fn start_workers<M: IoModel, H: Handler>(
    workers: Vec<Worker<H>>,
    options: &Options,
) -> io::Result<Vec<Thread>> {
    let shared = Arc::new(M::share(options)?);
    // Filled as the workers start: if one does not, dropping this stops the others.
    let mut started = Started(Vec::new());
    for worker in workers {
        let (ready, is_ready) = sync_channel(1);
        let stop = worker.stop.clone();
        let shared = shared.clone();
        let handle = thread::Builder::new()
            .name(worker_name(worker.number))
            .spawn(move || work::<M, H>(worker, shared, &ready))?;
        started.0.push(Thread { handle, stop });
        is_ready.recv().map_err(|_| io::Error::other("a worker panicked during setup"))??;
    }
    Ok(std::mem::take(&mut started.0))
}

/// A worker's thread.
fn work<M: IoModel, H: Handler>(
    worker: Worker<H>,
    shared: Arc<M::Shared>,
    ready: &SyncSender<io::Result<()>>,
) -> io::Result<()> {
    let _leaving = Leaving(worker.stop.clone());
    let cpus = &worker.options.cpus;
    if let Some(&cpu) = cpus.get(worker.number % cpus.len().max(1))
        && let Err(error) = ablaze_sys::pin_thread(cpu)
    {
        let why = format!("CPU {cpu} cannot be used: {error}");
        let _ = ready.send(Err(io::Error::new(error.kind(), why)));
        return Ok(());
    }
    let counters = worker.counters.clone();
    counters.begin();
    let run = match M::set_up(worker, shared) {
        Ok(run) => run,
        Err(error) => {
            // Whoever started this worker waits for it.
            let _ = ready.send(Err(error));
            return Ok(());
        }
    };
    let _ = ready.send(Ok(()));
    let ended = run();
    counters.end();
    ended
}

/// Dropped when a worker's thread ends, also by a panic.
struct Leaving(Arc<Stop>);

impl Drop for Leaving {
    fn drop(&mut self) {
        if !self.0.is_set() {
            self.0.tell_of_failure();
        }
    }
}

/// Threads that are stopped if nobody takes them over.
struct Started(Vec<Thread>);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = end(&mut self.0);
    }
}

/// A server that runs. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    registry: Arc<Registry>,
    workers: usize,
    threads: Vec<Thread>,
    health: Health,
}

impl Running {
    /// Where it listens, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of workers.
    pub fn threads(&self) -> usize {
        self.workers
    }

    /// What it has served and done so far.
    pub fn served(&self) -> Counts {
        self.registry.total()
    }

    /// Tells when one of its workers ends by itself, which [`stop`](Self::stop) says only at the end: without that worker
    /// the others go on, and it is another server.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Its threads with their counters.
    #[doc(hidden)]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Stops it: nothing is accepted any more, responses under way have up to a second. Returns,
    /// when all threads have ended, what was served.
    ///
    /// # Errors
    /// When a worker had ended by itself: connections it should have served were lost.
    pub fn stop(mut self) -> Result<Counts, WorkerError> {
        self.health.tell(State::Stopped);
        end(&mut self.threads)?;
        Ok(self.registry.total())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.health.tell(State::Stopped);
        // Who wants to know calls `stop`.
        let _ = end(&mut self.threads);
    }
}

fn end(threads: &mut Vec<Thread>) -> Result<(), WorkerError> {
    for thread in &*threads {
        thread.stop.set();
    }
    let mut result = Ok(());
    for thread in threads.drain(..) {
        match thread.handle.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => result = Err(WorkerError(error.to_string())),
            Err(_) => result = Err(WorkerError("it panicked; its message is above".into())),
        }
    }
    result
}
