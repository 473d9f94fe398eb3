//! Carries a Plan out: starts the workers, lets them be watched and stopped, merges what they
//! recorded into a Run.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ablaze_net::driver::Setup;
use ablaze_net::epoll::EpollDriver;
use ablaze_net::sim::{SimDriver, SimPeer};
use ablaze_net::uring::UringDriver;
use ablaze_net::waker::Waker;
use ablaze_net::{Address, Driver, Endpoint, SocketOptions};
use ablaze_sys::clock;

use crate::fault::{self, caught, unless_it_panics};
use crate::gate::{Moments, ThreadGate};
use crate::outbox::Layout;
use crate::recorder::Snapshot;
use crate::schedule::Numbers;
use crate::transport::plain::Plain;
use crate::transport::proxy::{Tunnelled, Tunnels};
use crate::transport::tls::{Shared, Tls, TlsLine};
use crate::worker::{Assignment, WorkerRecord, work};
use ablaze_model::plan::{IoChoice, Plan, PlanError};
use ablaze_model::record::Record;
use ablaze_model::run::{Backend, Ended, Machine, Run, WorkerEffort};

/// The handle on a run that is under way, for the thread that watches it: stop it, or ask how
/// far it is. Made before the run, shared by reference or `Arc`.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    /// Number of the worker that is to panic, from 1; 0 for none.
    panics: AtomicU32,
    snapshots: Mutex<Vec<Arc<Snapshot>>>,
    wakers: Mutex<Vec<Waker>>,
    at_rest: Mutex<Option<AtRest>>,
}

/// What is done when the load is over.
struct AtRest(Box<dyn FnOnce() + Send>);

impl fmt::Debug for AtRest {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("AtRest")
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// Whether the clock has started (connections stand, warm-up is over).
    pub measuring: bool,
    /// Time since the clock started.
    pub elapsed_ns: u64,
    /// Answers so far.
    pub answers: u64,
    /// Failures so far.
    pub failures: u64,
    /// Answers per second over the last slices.
    pub recent_rate_per_s: f64,
    /// 99th percentile over the last slice, ns; 0 when unknown.
    pub recent_p99_ns: u64,
}

impl Control {
    /// A handle for a run to come.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to end now. What was measured is kept. May be called from any thread, at any
    /// time, more than once.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        for waker in self.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            waker.wake();
        }
    }

    /// Has [`Control::stop`] end this worker's waits.
    fn watch(&self, waker: Waker) {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }

    /// Has this done once the load is over in all workers and before they close their connections:
    /// the server has nothing to do then, and everyone is still there. The run waits for it; one
    /// that is stopped does without. What it recorded has ended before.
    pub fn when_at_rest(&self, look: impl FnOnce() + Send + 'static) {
        *self.at_rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(AtRest(Box::new(look)));
    }

    /// Whether something is to be done when the load is over.
    pub(crate) fn waits_at_rest(&self) -> bool {
        !self.stopped() && self.at_rest.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The load is over. Others wait for this look, and it is none of the worker's business: a panic in
    /// it ends nothing else.
    pub(crate) fn at_rest(&self) {
        let look = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(AtRest(look)) = look.filter(|_| !self.stopped()) {
            unless_it_panics(look);
        }
    }

    /// Has this worker (from 0) panic when its first slice has ended. What then becomes of the report can
    /// only be tested on the program as it is released, since how panics end is a choice of the build.
    #[doc(hidden)]
    pub fn have_panic(&self, worker: u32) {
        self.panics.store(worker.saturating_add(1), Ordering::Relaxed);
    }

    /// Panics if this worker is to; called between slices, not in the loop's every turn.
    pub(crate) fn rehearse_panic(&self, worker: u32) {
        assert!(self.panics.load(Ordering::Relaxed) != worker + 1, "a panic that was asked for");
    }

    /// Whether the run was asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How far the run is: as of the workers' last slices.
    pub fn progress(&self) -> Progress {
        let mut progress = Progress::default();
        let mut started_ns = u64::MAX;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for snapshot in self.snapshots.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let start_ns = load(&snapshot.window_start_ns);
            if start_ns == 0 {
                continue;
            }
            started_ns = started_ns.min(start_ns);
            progress.answers += load(&snapshot.answers);
            progress.failures += load(&snapshot.failures);
            let slice_s = load(&snapshot.slice_ns) as f64 / 1e9;
            if slice_s > 0.0 {
                progress.recent_rate_per_s += load(&snapshot.slice_answers) as f64 / slice_s;
            }
            progress.recent_p99_ns = progress.recent_p99_ns.max(load(&snapshot.slice_p99_ns));
        }
        progress.measuring = started_ns != u64::MAX;
        if progress.measuring {
            progress.elapsed_ns = clock::monotonic_ns().saturating_sub(started_ns);
        }
        progress
    }
}

/// Why a run could not take place.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The Plan cannot be carried out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The machine refused something the run cannot do without.
    #[error("{what}: {source}")]
    System {
        /// What was tried, and what to do.
        what: String,
        /// The operating system's answer.
        source: io::Error,
    },
}

/// Carries the Plan out and returns when it is done, stopped or hopeless.
///
/// # Errors
/// When the run could not take place. Failures of single exchanges are part of the Run.
pub fn run(plan: Plan, control: &Control) -> Result<Run, LaunchError> {
    plan.check()?;
    let backend = choose_backend(plan.workers.io)?;
    if backend.name == EPOLL {
        carry_out(plan, control, backend, |setup| {
            let driver = EpollDriver::new(setup)?;
            control.watch(driver.waker());
            Ok(driver)
        })
    } else {
        carry_out(plan, control, backend, |setup| {
            let driver = UringDriver::new(setup)?;
            control.watch(driver.waker());
            Ok(driver)
        })
    }
}

/// Carries the Plan out against scripted far ends, one per address of the target, in simulated
/// time: no socket, no sleep. For tests, and for counting the engine's own instructions.
///
/// # Errors
/// As [`run`].
pub fn run_simulated<P: SimPeer + Sync>(
    plan: Plan,
    peers: &[P],
    control: &Control,
) -> Result<Run, LaunchError> {
    simulate::<P, false>(plan, peers, control)
}

/// As [`run_simulated`], over a driver whose sends leave during the call, as epoll's do, instead
/// of at the end of the batch, as io_uring's do.
///
/// # Errors
/// As [`run`].
pub fn run_simulated_at_once<P: SimPeer + Sync>(
    plan: Plan,
    peers: &[P],
    control: &Control,
) -> Result<Run, LaunchError> {
    simulate::<P, true>(plan, peers, control)
}

fn simulate<P: SimPeer + Sync, const SENDS_AT_ONCE: bool>(
    plan: Plan,
    peers: &[P],
    control: &Control,
) -> Result<Run, LaunchError> {
    plan.check()?;
    let backend = Backend { name: "simulated", fallback_reason: None };
    carry_out(plan, control, backend, |setup| {
        Ok(SimDriver::<P, SENDS_AT_ONCE>::new(&setup, peers.to_vec()))
    })
}

fn carry_out<D: Driver>(
    plan: Plan,
    control: &Control,
    backend: Backend,
    make_driver: impl Fn(Setup) -> io::Result<D> + Sync,
) -> Result<Run, LaunchError> {
    fault::listen();
    let tls = plan.tls.as_ref().map(Shared::new).transpose()?;
    let http2 = plan.http2_requests()?.map(Arc::new);
    let plan = Arc::new(plan);
    let count = plan.workers.count.min(plan.load.connections());
    let numbers = Arc::new(Numbers::new(plan.limits.requests, count));
    let layout =
        Layout::new(&plan.requests, if http2.is_some() { 1 } else { plan.load.pipeline() });
    let endpoints = endpoints(&plan);
    let snapshots: Vec<_> = (0..count).map(|_| Arc::new(Snapshot::default())).collect();
    *control.snapshots.lock().unwrap_or_else(PoisonError::into_inner) = snapshots.clone();

    let begun_ns = clock::monotonic_ns();
    let begun_unix_ns = clock::unix_ns();
    let moments = Moments::new(count);
    let results: Vec<io::Result<WorkerRecord>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|worker| {
                let assignment = Assignment {
                    worker,
                    workers: count,
                    connections: share(plan.load.connections(), count, worker),
                    plan: Arc::clone(&plan),
                    layout: layout.clone(),
                    http2: http2.clone(),
                    numbers: Arc::clone(&numbers),
                    snapshot: Arc::clone(&snapshots[worker as usize]),
                    cpus_to_spare: plan.workers.cpus_to_spare,
                };
                let setup = assignment.driver_setup(endpoints.clone());
                let (moments, make_driver, tls) = (&moments, &make_driver, tls.as_ref());
                std::thread::Builder::new().name(format!("worker-{worker}")).spawn_scoped(
                    scope,
                    move || {
                        let result = caught(|| {
                            run_worker(assignment, control, moments, tls, || make_driver(setup))
                        });
                        if result.as_ref().map_or(true, |done| !done.record.faults.is_empty()) {
                            // Without this worker it is another load: the others need not go on.
                            control.stop();
                        }
                        result.map_err(io::Error::other)
                    },
                )
            })
            .collect();
        for _ in threads.iter().filter(|thread| thread.is_err()) {
            moments.leave();
            control.stop();
        }
        threads
            .into_iter()
            .map(|thread| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|_| Err(io::Error::other("panicked"))),
                Err(error) => Err(error),
            })
            .collect()
    });
    let records = results.into_iter().collect::<io::Result<Vec<_>>>().map_err(|source| {
        LaunchError::System { what: "a worker could not do its work".to_owned(), source }
    })?;
    Ok(merge(records, plan, backend, &endpoints, begun_ns, begun_unix_ns))
}

fn run_worker<D: Driver>(
    assignment: Assignment,
    control: &Control,
    moments: &Moments,
    tls: Option<&Shared>,
    make_driver: impl FnOnce() -> io::Result<D>,
) -> io::Result<WorkerRecord> {
    let mut gate = ThreadGate::new(moments, control);
    if let Some(cpu) = cpu_of(&assignment.plan.workers.cpus, assignment.worker) {
        ablaze_sys::pin_thread(cpu)?;
    }
    if assignment.plan.load.is_open() {
        // Where it is refused, requests leave up to 50 µs late, and the lag shows it.
        ablaze_sys::timer_slack::wake_on_time();
    }
    let driver = make_driver()?;
    let tls = tls.zip(assignment.plan.tls.as_ref()).map(|(shared, asked)| {
        let constant_bytes = Arc::clone(&assignment.layout.constant_bytes);
        Tls::new(shared, asked, assignment.connections, constant_bytes)
    });
    let tunnels = Tunnels::of(&assignment.plan, assignment.connections);
    let mut record = match (tls, tunnels) {
        (None, None) => work(Plain(driver), assignment, control, &mut gate),
        (Some(tls), None) => work(TlsLine::new(driver, tls), assignment, control, &mut gate),
        (None, Some(tunnels)) => {
            work(Tunnelled::new(driver, tunnels), assignment, control, &mut gate)
        }
        (Some(tls), Some(tunnels)) => {
            let tunnelled = Tunnelled::new(driver, tunnels);
            work(TlsLine::new(tunnelled, tls), assignment, control, &mut gate)
        }
    };
    let used = gate.used();
    let effort = &mut record.effort;
    effort.user_ns = used.user_ns;
    effort.system_ns = used.system_ns;
    effort.busy_ns = (effort.user_ns + effort.system_ns).saturating_sub(effort.spun_ns);
    effort.involuntary_switches = used.involuntary_switches;
    Ok(record)
}

const EPOLL: &str = "epoll";
const URING: &str = "io_uring";

/// The backend to use, and why it is not the preferred one.
fn choose_backend(choice: IoChoice) -> Result<Backend, LaunchError> {
    let epoll = |reason| Backend { name: EPOLL, fallback_reason: reason };
    match (choice, UringDriver::probe()) {
        (IoChoice::Epoll, _) => Ok(epoll(None)),
        (_, Ok(())) => Ok(Backend { name: URING, fallback_reason: None }),
        (IoChoice::Auto, Err(error)) => Ok(epoll(Some(error.to_string()))),
        (IoChoice::Uring, Err(source)) => Err(LaunchError::System {
            what: "io_uring was asked for and is not to be had; leave --io out to use epoll"
                .to_owned(),
            source,
        }),
    }
}

fn endpoints(plan: &Plan) -> Vec<Endpoint> {
    let addresses: Vec<Address> = match &plan.target.unix_socket {
        Some(path) => vec![Address::Unix(path.clone())],
        None => plan.target.addresses.iter().copied().map(Address::Tcp).collect(),
    };
    let connections = &plan.connections;
    addresses
        .into_iter()
        .map(|address| Endpoint {
            address,
            local_addresses: connections.local_addresses.clone(),
            local_ports: connections.local_ports.clone(),
            options: SocketOptions {
                no_delay: connections.no_delay,
                send_buffer_bytes: connections.socket_buffer_bytes,
                receive_buffer_bytes: connections.socket_buffer_bytes,
            },
        })
        .collect()
}

/// Worker `worker`'s share of `total` among `count`: the first ones take what is left over.
fn share(total: u32, count: u32, worker: u32) -> u32 {
    total / count + u32::from(worker < total % count)
}

fn cpu_of(cpus: &[u32], worker: u32) -> Option<u32> {
    (!cpus.is_empty()).then(|| cpus[worker as usize % cpus.len()])
}

fn merge(
    records: Vec<WorkerRecord>,
    plan: Arc<Plan>,
    backend: Backend,
    endpoints: &[Endpoint],
    begun_ns: u64,
    begun_unix_ns: u64,
) -> Run {
    let windows = || records.iter().filter_map(|record| record.window_ns);
    let start_ns = windows().map(|(start_ns, _)| start_ns).min().unwrap_or(begun_ns);
    let end_ns = windows().map(|(_, end_ns)| end_ns).max().unwrap_or(start_ns);
    let failed = records.iter().any(|record| !record.record.faults.is_empty());
    let hopeless = records.iter().all(|record| record.ended == Ended::Hopeless);
    let interrupted = records.iter().any(|record| record.ended == Ended::Interrupted);
    let address = records.first().map_or(0, |record| record.address);
    let workers: Vec<WorkerEffort> = records.iter().map(|record| record.effort).collect();
    let draining_since_ns = records.iter().filter_map(|record| record.draining_since_ns).min();
    let mut merged = Record::new();
    for record in records {
        merged.merge(record.record);
    }
    merged.drain_ns = draining_since_ns.map(|since_ns| end_ns.saturating_sub(since_ns));
    Run {
        plan: Arc::unwrap_or_clone(plan),
        command_line: std::env::args().collect(),
        started_unix_ns: begun_unix_ns + start_ns.saturating_sub(begun_ns),
        elapsed_ns: end_ns - start_ns,
        setup_ns: start_ns.saturating_sub(begun_ns),
        ended: match (hopeless, interrupted) {
            _ if failed => Ended::Failed,
            (true, _) => Ended::Hopeless,
            (_, true) => Ended::Interrupted,
            _ => Ended::Complete,
        },
        record: merged,
        workers,
        backend,
        connected_to: endpoints.get(address).map(|e| e.address.to_string()).unwrap_or_default(),
        machine: Machine::default(),
        witness: None,
        profiling: None,
    }
}
