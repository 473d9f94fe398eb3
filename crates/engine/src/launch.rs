//! Carries a Plan out: starts the workers, and merges what they recorded into a Run.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use ablaze_net::Driver;
use ablaze_net::driver::Setup;
use ablaze_net::epoll::EpollDriver;
use ablaze_net::sim::{AnyPeer, SimDriver, SimPeer};
use ablaze_net::uring::UringDriver;
use ablaze_sys::clock;

use crate::checking::Watches;
use crate::control::Control;
use crate::endpoints::endpoints;
use crate::fault::{self, caught};
use crate::following::tellers;
use crate::gate::{Moments, ThreadGate};
use crate::journey::JourneyWalks;
use crate::listed::Lists;
use crate::merging::merge;
use crate::outbox::Layout;
use crate::protocol::Protocol;
use crate::protocol::http1::Http1;
use crate::protocol::http2::Http2;
use crate::protocol::http3::{Http3, Origins};
use crate::protocol::streams::Streams;
use crate::recorder::Snapshot;
use crate::schedule::Numbers;
use crate::shares::{share, spares};
use crate::sink::{NoSink, SinkOf};
use crate::transport::plain::Plain;
use crate::transport::proxy::{Tunnelled, Tunnels};
use crate::transport::tls::{Offers, Tls, TlsLine};
use crate::walk::{Unwatched, Walk, run_walking};
use crate::worker::{Assignment, WorkerRecord, work};
use ablaze_model::plan::{IoChoice, Plan, PlanError};
use ablaze_model::run::{Backend, Run};

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
        /// The operating system's response.
        source: io::Error,
    },
}

/// Carries the Plan out and returns when it is done, stopped or unreachable.
///
/// # Errors
/// When the run could not take place. Failures of single exchanges are part of the Run.
pub fn run(plan: Plan, control: &Control) -> Result<Run, LaunchError> {
    if let Some(walks) = JourneyWalks::of(&plan) {
        return run_walking(plan, control, &|of| Box::new(walks.walk(of)));
    }
    if let Some(lists) = Lists::of(&plan) {
        return run_walking(plan, control, &|of| Box::new(lists.list(of)));
    }
    if let Some(watches) = Watches::of(&plan) {
        return run_walking(plan, control, &|of| Box::new(watches.watch(of)));
    }
    let varies = plan.streams().is_some() && plan.requests.vary_in_length();
    if varies || Tunnels::are_asked_for(&plan) {
        return run_walking(plan, control, &|_| Box::new(Unwatched));
    }
    Ok(run_with_sinks(plan, control, |_| NoSink)?.0)
}

/// As [`run`], with each worker's bodies told to a sink of its own, which `make` makes on the worker's
/// thread before its first connection. The sinks are given back in the order of the workers.
///
/// # Errors
/// As [`run`].
pub fn run_with_sinks<S: Walk + Send>(
    plan: Plan,
    control: &Control,
    make: impl Fn(SinkOf) -> S + Sync,
) -> Result<(Run, Vec<S>), LaunchError> {
    plan.check()?;
    let backend = choose_backend(plan.workers.io)?;
    if backend.name == EPOLL {
        carry_out(plan, control, backend, make, |setup| {
            let driver = EpollDriver::new(setup)?;
            control.watch(driver.waker());
            Ok(driver)
        })
    } else {
        carry_out(plan, control, backend, make, |setup| {
            let driver = UringDriver::new(setup)?;
            control.watch(driver.waker());
            Ok(driver)
        })
    }
}

/// Carries the Plan out against scripted peers, one per address of the target, in simulated
/// time: no socket, no sleep. For tests, and for counting the engine's own instructions.
///
/// # Errors
/// As [`run`].
pub fn run_simulated<P: SimPeer + Send + Sync>(
    plan: Plan,
    peers: &[P],
    control: &Control,
) -> Result<Run, LaunchError> {
    run_simulated_against_any(plan, &|| any(peers), control, false)
}

/// As [`run_simulated`], over a driver whose sends leave during the call, as epoll's do, instead
/// of at the end of the batch, as io_uring's do.
///
/// # Errors
/// As [`run`].
pub fn run_simulated_at_once<P: SimPeer + Send + Sync>(
    plan: Plan,
    peers: &[P],
    control: &Control,
) -> Result<Run, LaunchError> {
    run_simulated_against_any(plan, &|| any(peers), control, true)
}

fn any<P: SimPeer + Send + Sync>(peers: &[P]) -> Vec<AnyPeer<'_>> {
    peers.iter().map(|peer| AnyPeer::new(peer.clone())).collect()
}

/// Not generic over the peers: the engine is compiled for a simulation here, twice, and not again for every
/// kind of peer in every test program.
fn run_simulated_against_any<'p>(
    plan: Plan,
    peers: &(dyn Fn() -> Vec<AnyPeer<'p>> + Sync),
    control: &Control,
    sends_at_once: bool,
) -> Result<Run, LaunchError> {
    plan.check()?;
    let backend = Backend { name: "simulated", fallback_reason: None };
    let no_sink = |_: SinkOf| NoSink;
    let (run, _) = if sends_at_once {
        carry_out(plan, control, backend, no_sink, |setup| {
            Ok(SimDriver::<AnyPeer<'_>, true>::new(&setup, peers()))
        })?
    } else {
        carry_out(plan, control, backend, no_sink, |setup| {
            Ok(SimDriver::<AnyPeer<'_>, false>::new(&setup, peers()))
        })?
    };
    Ok(run)
}

/// As [`run_simulated`], or [`run_simulated_at_once`] with `SENDS_AT_ONCE`, with sinks as in
/// [`run_with_sinks`].
///
/// # Errors
/// As [`run`].
pub fn run_simulated_with_sinks<P, S, const SENDS_AT_ONCE: bool>(
    plan: Plan,
    peers: &[P],
    control: &Control,
    make: impl Fn(SinkOf) -> S + Sync,
) -> Result<(Run, Vec<S>), LaunchError>
where
    P: SimPeer + Sync,
    S: Walk + Send,
{
    plan.check()?;
    let backend = Backend { name: "simulated", fallback_reason: None };
    carry_out(plan, control, backend, make, |setup| {
        Ok(SimDriver::<P, SENDS_AT_ONCE>::new(&setup, peers.to_vec()))
    })
}

fn carry_out<D: Driver, S: Walk + Send>(
    plan: Plan,
    control: &Control,
    backend: Backend,
    make_sink: impl Fn(SinkOf) -> S + Sync,
    make_driver: impl Fn(Setup) -> io::Result<D> + Sync,
) -> Result<(Run, Vec<S>), LaunchError> {
    fault::listen();
    let tls = Offers::of(&plan)?;
    let http2 = plan.http2_requests()?.map(Arc::new);
    let http3 = Origins::requests(&plan)?;
    let origins = Origins::of(&plan)?;
    if !S::WALKS && plan.streams().is_some() && plan.requests.vary_in_length() {
        let text = "requests with columns of a feed are written by a walk over HTTP/2 and HTTP/3";
        return Err(PlanError::Invalid(text.to_owned()).into());
    }
    if !makes_tunnels::<D, S>() && Tunnels::are_asked_for(&plan) {
        let text = "tunnels through a proxy are made for a walk";
        return Err(PlanError::Invalid(text.to_owned()).into());
    }
    let plan = Arc::new(plan);
    let count = plan.workers.count.min(plan.load.connections());
    let numbers = Arc::new(Numbers::new(plan.limits.requests, count));
    let layout = match plan.streams() {
        None => Layout::new(&plan.requests, plan.load.pipeline()),
        Some(_) => Layout::none(),
    };
    let endpoints = endpoints(&plan);
    let spares = spares(&plan);
    let snapshots: Vec<_> = (0..count).map(|_| Arc::new(Snapshot::default())).collect();
    let (mut tellers, readers) = tellers(&plan, control, count);
    control.show(snapshots.clone(), readers);

    let begun_ns = clock::monotonic_ns();
    let begun_unix_ns = clock::unix_ns();
    let moments = Moments::new(count);
    let results: Vec<io::Result<(WorkerRecord, S)>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|worker| {
                let assignment = Assignment {
                    worker,
                    workers: count,
                    connections: share(plan.load.connections(), count, worker),
                    spares: share(spares, count, worker),
                    plan: Arc::clone(&plan),
                    layout: layout.clone(),
                    http2: http2.clone(),
                    http3: http3.clone(),
                    numbers: Arc::clone(&numbers),
                    snapshot: Arc::clone(&snapshots[worker as usize]),
                    teller: RefCell::new(tellers.next()),
                    cpus_to_spare: plan.workers.cpus_to_spare,
                    heads: control.heads(),
                };
                let setup = assignment.driver_setup(endpoints.clone());
                let (moments, make_driver, tls) = (&moments, &make_driver, tls.as_ref());
                let origins = origins.clone();
                let make_sink = &make_sink;
                std::thread::Builder::new().name(format!("worker-{worker}")).spawn_scoped(
                    scope,
                    move || {
                        let result = caught(|| {
                            let make = (|| make_driver(setup), make_sink);
                            run_worker(assignment, control, moments, (tls, origins), make)
                        });
                        let failed = |(done, _): &(WorkerRecord, S)| !done.record.faults.is_empty();
                        if result.as_ref().map_or(true, failed) {
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
    let records = results
        .into_iter()
        .collect::<io::Result<Vec<_>>>()
        .map_err(|source| LaunchError::System { what: "a worker failed".to_owned(), source })?;
    let (records, sinks): (Vec<_>, Vec<_>) = records.into_iter().unzip();
    let mut run = merge(records, plan, backend, &endpoints, begun_ns, begun_unix_ns);
    run.rate_changes = control.rate_changes();
    // The run ended before the others came to hold.
    run.rate_changes.retain(|change| change.at_ns < run.elapsed_ns);
    Ok((run, sinks))
}

fn run_worker<D: Driver, S: Walk>(
    assignment: Assignment,
    control: &Control,
    moments: &Moments,
    (tls, origins): (Option<&Offers>, Option<Origins>),
    (make_driver, make_sink): (impl FnOnce() -> io::Result<D>, impl FnOnce(SinkOf) -> S),
) -> io::Result<(WorkerRecord, S)> {
    let mut gate = ThreadGate::new(moments, control);
    if let Some(cpu) = cpu_of(&assignment.plan.workers.cpus, assignment.worker) {
        ablaze_sys::pin_thread(cpu)?;
    }
    if assignment.plan.load.is_open() {
        // Where it is refused, requests leave up to 50 µs late, and the lag shows it.
        ablaze_sys::timer_slack::wake_on_time();
    }
    let driver = make_driver()?;
    let sink = make_sink(SinkOf {
        worker: assignment.worker,
        places: assignment.places(),
        users: assignment.users(),
    });
    let tls = tls.map(|offers| {
        let constant_bytes = Arc::clone(&assignment.layout.constant_bytes);
        Tls::new(offers, assignment.slots(), constant_bytes)
    });
    let tunnels = Tunnels::of(&assignment.plan, assignment.slots());
    let lines = Lines { tls, tunnels };
    let (mut record, sink) = match (assignment.http2.clone(), assignment.http3.clone().zip(origins))
    {
        (_, Some((requests, origins))) => {
            let http3 = Http3::new(&assignment, requests, origins);
            let protocol = Streams::new(&assignment, http3, sink);
            work(Plain(driver), protocol, assignment, control, &mut gate)
        }
        (Some(requests), None) => {
            let http2 = Http2::new(&assignment, requests);
            let protocol = Streams::new(&assignment, http2, sink);
            lines.work(driver, protocol, assignment, control, &mut gate)
        }
        (None, None) => {
            let protocol = Http1::new(&assignment, sink);
            lines.work(driver, protocol, assignment, control, &mut gate)
        }
    };
    let used = gate.used();
    let effort = &mut record.effort;
    effort.user_ns = used.user_ns;
    effort.system_ns = used.system_ns;
    let used_ns = effort.user_ns + effort.system_ns;
    // In a simulation the thread waited in no time of this machine.
    if !D::IS_SIMULATED {
        effort.spun_ns = gate.on_cpu(effort.spun_ns, used_ns);
    }
    effort.busy_ns = used_ns.saturating_sub(effort.spun_ns);
    effort.involuntary_switches = used.involuntary_switches;
    Ok((record, sink))
}

/// What lies between a worker and its driver.
struct Lines {
    tls: Option<Tls>,
    tunnels: Option<Tunnels>,
}

impl Lines {
    /// Has a worker that speaks `protocol` do its share over the driver, through these.
    fn work<D: Driver, P: Protocol>(
        self,
        driver: D,
        protocol: P,
        assignment: Assignment,
        control: &Control,
        gate: &mut ThreadGate<'_>,
    ) -> (WorkerRecord, P::Sink) {
        if const { makes_tunnels::<D, P::Sink>() }
            && let Some(tunnels) = self.tunnels
        {
            let tunnelled = Tunnelled::new(driver, tunnels);
            return match self.tls {
                None => work(tunnelled, protocol, assignment, control, gate),
                Some(tls) => {
                    work(TlsLine::new(tunnelled, tls), protocol, assignment, control, gate)
                }
            };
        }
        match self.tls {
            None => work(Plain(driver), protocol, assignment, control, gate),
            Some(tls) => work(TlsLine::new(driver, tls), protocol, assignment, control, gate),
        }
    }
}

/// Whether tunnels can lie between this driver and a worker with this sink. The engine is a fifth smaller without them where
/// nothing walks, and what is compiled for walks does for them ([`Unwatched`]); in simulations only without a sink.
const fn makes_tunnels<D: Driver, S: Walk>() -> bool {
    if D::IS_SIMULATED { !S::LISTENS } else { S::WALKS }
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
            what: "io_uring was requested but is unavailable; leave out --io to use epoll"
                .to_owned(),
            source,
        }),
    }
}

fn cpu_of(cpus: &[u32], worker: u32) -> Option<u32> {
    (!cpus.is_empty()).then(|| cpus[worker as usize % cpus.len()])
}
