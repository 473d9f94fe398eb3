//! Figures of a Run that several rules need: how busy each side was, who else had the processors,
//! what was asked for.

use ablaze_model::Run;
use std::collections::BTreeSet;

use ablaze_model::monitor::{Monitored, Process, Processors, Target, Thread};
use ablaze_model::plan::Load;

use super::at_rest::restless_with_helpers;
pub(crate) use super::rooms::{Room, rooms};
pub(crate) use super::stopped::{StoppedServer, server_stopped};
use super::whose::observed_elsewhere;
use ablaze_model::run;

/// A thread that uses this share of a core is at its limit.
pub(crate) const FULL: f64 = 0.95;

/// How busy one side was, in shares of a core.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Busy {
    /// The busiest thread.
    pub busiest: f64,
    /// The thread that wanted a core most: its running and its waiting for one together.
    pub wanting: f64,
    /// The thread that waited for a core longest, whichever that is, and all threads together, in cores.
    pub waited: f64,
    pub waited_together: f64,
    /// All threads together, in cores.
    pub cores: f64,
    /// Of these, what went into looking again and again whether something had come.
    pub polling: f64,
    /// Threads that did at least a hundredth of the busiest one's work.
    pub threads: usize,
    /// The others.
    pub idle: usize,
    /// Threads that used about a whole core each.
    pub full: usize,
}

/// The client's workers over the measured window, active waiting not counted.
pub(crate) fn client(run: &Run) -> Option<Busy> {
    let workers = || run.workers.iter().filter(|worker| worker.window_ns > 0);
    let share = |busy_ns: u64, of_ns: u64| busy_ns as f64 / of_ns as f64;
    let busiest = run.workers_busy().into_iter().reduce(f64::max)?;
    // A worker that waits actively wants a processor for that, too.
    let (busy_ns, spun_ns) = workers().fold((0, 0), |(busy_ns, spun_ns), worker| {
        (busy_ns + worker.busy_ns, spun_ns + worker.spun_ns)
    });
    let working = share(busy_ns, (busy_ns + spun_ns).max(1));
    let whole = with_interrupts(run);
    let waits: Vec<f64> = monitor(run)
        .and_then(|monitor| monitor.client.as_ref())
        .into_iter()
        .flat_map(|client| {
            let own = client.threads.iter().filter(|thread| thread.name.starts_with("worker-"));
            own.map(|thread| share(thread.waited_ns, client.watched_ns.max(1)))
        })
        .map(|waited| whole(waited * working))
        .collect();
    let waited = waits.iter().copied().fold(0.0, f64::max);
    Some(Busy {
        busiest,
        // Both were read at times of their own.
        wanting: (busiest + waited).min(1.0),
        waited,
        waited_together: waits.iter().sum(),
        cores: workers()
            .map(|worker| share(worker.user_ns + worker.system_ns, worker.window_ns))
            .sum(),
        polling: workers().map(|worker| share(worker.spun_ns, worker.window_ns)).sum(),
        threads: run.workers.len(),
        idle: 0,
        full: run.workers_busy().into_iter().filter(|share| *share >= FULL).count(),
    })
}

/// The processes that listen at the target's address, all together; `None` when they are not to be
/// seen, or were not for long enough.
pub(crate) fn server(run: &Run) -> Option<Busy> {
    let target = target(run)?;
    if target.children_ended > 0 {
        // What these used is known to nobody, and would be called the others'.
        return None;
    }
    let seen = || target.processes.iter().filter(|process| process.is_believed());
    // One that began later, or ended earlier, did nothing in the rest of the time.
    let longest_ns = seen().map(|process| process.watched_ns).max()?.max(1);
    let share = |ns: u64| ns as f64 / longest_ns as f64;
    let serving = || seen().filter(|process| !is_helper(target, process));
    let threads = || serving().flat_map(|process| process.threads.iter());
    let busiest = threads().map(|thread| share(thread.cpu_ns)).reduce(f64::max)?;
    let wanted = |thread: &Thread| thread.cpu_ns + thread.waited_ns;
    let cores: f64 = seen().map(|process| share(process.cpu_ns())).sum();
    let whole = with_interrupts(run);
    let polling = restless_with_helpers(run).map(|restless| restless.cores);
    let wanting = match polling {
        // The thread that waited may be one that works without a request, too.
        Some(_) => busiest,
        None => threads().map(|thread| share(wanted(thread))).fold(0.0, f64::max),
    };
    let waits = threads().filter(|_| polling.is_none());
    let waits: Vec<f64> = waits.map(|thread| whole(share(thread.waited_ns))).collect();
    Some(Busy {
        busiest: whole(busiest),
        wanting: whole(wanting),
        waited: waits.iter().copied().fold(0.0, f64::max),
        waited_together: waits.iter().sum(),
        cores,
        // What is ready to run need not get a CPU.
        polling: polling.unwrap_or(0.0).min(cores),
        threads: threads().filter(|thread| share(thread.cpu_ns) >= busiest / 100.0).count(),
        idle: threads().filter(|thread| share(thread.cpu_ns) < busiest / 100.0).count(),
        full: threads().filter(|thread| whole(share(thread.cpu_ns)) >= FULL).count(),
    })
}

/// Another program that the server started, and that does not serve itself.
pub(crate) struct Helper<'a> {
    pub name: &'a str,
    /// The shares of the time for which the thread of it that wanted a core most ran, and waited for one.
    pub ran: f64,
    pub waited: f64,
    /// All of its threads together, in cores.
    pub cores: f64,
}

/// Of these the one with the thread that wanted a core most.
pub(crate) fn busiest_helper(run: &Run) -> Option<Helper<'_>> {
    let target = target(run)?;
    let helpers = target.processes.iter().filter(|process| process.is_believed());
    let helpers = helpers.filter(|process| is_helper(target, process));
    let seen = helpers.filter_map(|process| {
        let share = |ns: u64| ns as f64 / process.watched_ns.max(1) as f64;
        let thread =
            process.threads.iter().max_by_key(|thread| thread.cpu_ns + thread.waited_ns)?;
        let (ran, waited) = (share(thread.cpu_ns), share(thread.waited_ns));
        Some(Helper { name: &process.name, ran, waited, cores: share(process.cpu_ns()) })
    });
    seen.max_by(|one, other| (one.ran + one.waited).total_cmp(&(other.ran + other.waited)))
}

/// What all of these used together, in cores.
pub(crate) fn cores_of_helpers(run: &Run) -> f64 {
    let Some(target) = target(run) else { return 0.0 };
    let helpers = target.processes.iter().filter(|process| is_helper(target, process));
    let believed = helpers.filter(|process| process.is_believed());
    believed.map(|process| process.cpu_ns() as f64 / process.watched_ns.max(1) as f64).sum()
}

/// Whether it is another program than those that listen there, which one of them started: no request need wait for it.
pub(crate) fn is_helper(target: &Target, process: &Process) -> bool {
    let mut serving = target.processes.iter().filter(|one| one.serving.is_some()).peekable();
    let serves = serving.peek().is_none() || process.serving.is_some();
    !serves && serving.all(|one| one.name != process.name)
}

/// The same with the interrupts that a thread's own packets caused.
fn with_interrupts(run: &Run) -> impl Fn(f64) -> f64 {
    let times = monitor(run).and_then(|monitor| monitor.kernel.processors);
    move |share| run::with_interrupts(share, times)
}

/// The share of a busy processor's time that threads have in theirs.
pub(super) fn of_threads(times: Option<Processors>) -> f64 {
    times.map_or(1.0, |times| times.of_threads())
}

/// The CPUs that client and server may use, where both together may not use all of the machine's; and how much of them they
/// used, in cores with the interrupts of their packets.
pub(crate) fn own_processors(run: &Run) -> Option<(Vec<u32>, f64)> {
    let (of_client, of_server) = processors_allowed(run)?;
    let all: Vec<u32> = of_client.union(&of_server).copied().collect();
    let unknown = of_client.is_empty() || of_server.is_empty();
    if unknown || all.len() as f64 >= processors(run)? {
        return None;
    }
    let cores = client(run)?.cores + server(run)?.cores;
    Some((all, cores / of_threads(monitor(run)?.kernel.processors)))
}

/// How many CPUs the server's processes may use, where these are not all of the machine's; and how much of them it used, in
/// cores with the interrupts of its packets.
pub(crate) fn processors_of_server(run: &Run) -> Option<(usize, f64)> {
    let (_, of_server) = processors_allowed(run)?;
    let is_part = !of_server.is_empty() && (of_server.len() as f64) < processors(run)?;
    let used = server(run)?.cores / of_threads(monitor(run)?.kernel.processors);
    is_part.then_some((of_server.len(), used))
}

/// The same, where they have some in common.
pub(crate) fn common_processors(run: &Run) -> Option<(Vec<u32>, f64)> {
    let (of_client, of_server) = processors_allowed(run)?;
    (!of_client.is_disjoint(&of_server)).then(|| own_processors(run))?
}

/// The CPUs that the client may use, and those that the processes of the server may that worked.
pub(super) fn processors_allowed(run: &Run) -> Option<(BTreeSet<u32>, BTreeSet<u32>)> {
    let monitor = monitor(run)?;
    let of_client: BTreeSet<u32> = monitor.client.as_ref()?.cpus_allowed.iter().copied().collect();
    let served = target(run)?.processes.iter().filter(|process| process.cpu_ns() > 0);
    let of_server: BTreeSet<u32> =
        served.flat_map(|process| &process.cpus_allowed).copied().collect();
    Some((of_client, of_server))
}

/// Whether all processes of the server ended before the run did.
pub(crate) fn server_ended(run: &Run) -> bool {
    let processes = target(run).map(|target| target.processes.as_slice()).unwrap_or_default();
    !processes.is_empty() && processes.iter().all(|process| process.ended)
}

/// Who served, if that was on this host and is who was observed.
pub(crate) fn target(run: &Run) -> Option<&Target> {
    let target = monitor(run).map(|monitor| &monitor.target);
    target.filter(|target| target.on_this_host && observed_elsewhere(run).is_none())
}

pub(crate) fn monitor(run: &Run) -> Option<&Monitored> {
    run.monitor.as_ref()
}

/// Processors of the machine.
pub(crate) fn processors(run: &Run) -> Option<f64> {
    let online = monitor(run).and_then(|monitor| monitor.environment.cpus_online);
    online.or(run.machine.cpus_allowed).map(f64::from)
}

/// How the time of the machine's processors was spent, in cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Machine {
    /// Processors.
    pub processors: f64,
    /// Those that were busy, interrupts included.
    pub busy: f64,
    /// Processes that are neither the client nor the target.
    pub others: f64,
    /// What a hypervisor gave to others.
    pub stolen: f64,
}

/// `None` when the kernel's figures or those of the target are missing.
pub(crate) fn machine(run: &Run) -> Option<Machine> {
    let monitor = monitor(run)?;
    let times = monitor.kernel.processors?;
    let processors = processors(run)?;
    if times.total_ns() == 0 {
        return None;
    }
    let cores = |ns: u64| ns as f64 / times.total_ns() as f64 * processors;
    // Interrupts are on account of no process, or of whichever they interrupted: then a part of ours as large as of all.
    let processes = cores(times.user_ns + times.system_ns);
    let without = match times.threads_include_interrupts {
        Some(true) => 1.0 - times.interrupts_ns as f64 / times.busy_ns().max(1) as f64,
        _ => 1.0,
    };
    let server = if monitor.target.on_this_host { server(run)?.cores } else { 0.0 };
    let ours = client(run).map_or(0.0, |client| client.cores) + server;
    Some(Machine {
        processors,
        busy: cores(times.busy_ns()),
        others: (processes - ours * without).max(0.0),
        stolen: cores(times.steal_ns),
    })
}

/// Length of the window in seconds.
pub(crate) fn elapsed_s(run: &Run) -> f64 {
    run.elapsed_ns as f64 / 1e9
}

/// The length of a part of the run in seconds, weighed by how much was due in it: where the rate of an open loop changes, or
/// is paused, a second in which little is due is little of the run. In closed loop, and at a constant rate, each counts alike.
pub(crate) fn weighed_s(run: &Run, from_ns: u64, to_ns: u64) -> f64 {
    let length_s = to_ns.saturating_sub(from_ns) as f64 / 1e9;
    let Load::Open { rate, .. } = run.plan.load else { return length_s };
    if rate.is_constant() && run.rate_changes.is_empty() {
        return length_s;
    }
    let duration_ns = run.plan.limits.duration_ns.unwrap_or(0);
    let due = |until_ns| rate.arrivals_until(duration_ns, &run.rate_changes, until_ns);
    let all = due(run.elapsed_ns);
    if all <= 0.0 {
        return 0.0;
    }
    (due(to_ns) - due(from_ns)).max(0.0) / all * elapsed_s(run)
}

/// Requests that a closed loop keeps in flight. `None` where that is no fixed number.
pub(crate) fn asked_in_flight(run: &Run) -> Option<u64> {
    match run.plan.load {
        Load::Closed { .. } if users_pause(run) => None,
        Load::Closed { connections, pipeline } => {
            Some(u64::from(connections) * u64::from(pipeline))
        }
        Load::Open { .. } => None,
    }
}

/// Whether users have nothing in flight for a part of the run, as was asked or because they failed in their setup.
pub(crate) fn users_pause(run: &Run) -> bool {
    let asked = run.plan.journey.as_ref().is_some_and(|journey| journey.users.pause);
    asked || run.record.users_out() > 0
}

/// Whether requests of the warm-up that nothing came to account for the places that were not in use: for half
/// of them or more.
pub(crate) fn held_by_warmup(run: &Run) -> bool {
    let missing = asked_in_flight(run).zip(in_flight(run)).map(|(asked, used)| asked as f64 - used);
    let held = run.record.silent.of_warmup as f64;
    held > 0.0 && missing.is_some_and(|missing| held >= missing / 2.0)
}

/// The mean number in flight.
pub(crate) fn in_flight(run: &Run) -> Option<f64> {
    (run.elapsed_ns > 0).then(|| run.record.in_flight_ns as f64 / run.elapsed_ns as f64)
}

/// The same if places that fell empty at the end of a run of so many requests count as in use: once no request is left to
/// send, each is empty for as long as the longest response takes at most. In a short run that is most of its time.
pub(crate) fn in_flight_at_most(run: &Run) -> Option<f64> {
    let mean = in_flight(run)?;
    let longest_ns =
        run.record.answered.total.max_ns().filter(|_| run.plan.limits.requests.is_some());
    let (Some(asked), Some(longest_ns)) = (asked_in_flight(run), longest_ns) else {
        return Some(mean);
    };
    let emptied = asked.saturating_sub(1) as f64 * longest_ns as f64 / run.elapsed_ns as f64;
    Some((mean + emptied).min(asked as f64).max(mean))
}

/// What a counter of the network namespace rose by.
pub(crate) fn counter(run: &Run, name: &str) -> Option<u64> {
    monitor(run)?.kernel.network.as_ref()?.get(name).copied()
}

/// The same of the namespace that connections come from. A fleet is watched where the target is, if anywhere.
pub(crate) fn client_counter(run: &Run, name: &str) -> Option<u64> {
    counter(run, name).filter(|_| run.fleet.is_none())
}

/// Whether the load goes over TCP: not over QUIC, and not through a Unix socket.
pub(crate) fn is_over_tcp(run: &Run) -> bool {
    run.plan.http3.is_none() && run.plan.target.unix_socket.is_none()
}

/// A share of a core in words: `96 % of a core`.
pub(crate) fn of_a_core(share: f64) -> String {
    format!("{:.0} % of a core", share * 100.0)
}
/// Whether responses that came before their requests had left were why most places were empty: their connections waited for
/// the rest to leave.
pub fn held_by_rest(run: &Run) -> bool {
    let waited_ns = run.record.answered_early.waited_ns as f64;
    let (Some(asked), Some(reached)) = (asked_in_flight(run), in_flight(run)) else {
        return false;
    };
    let empty = asked as f64 - reached;
    waited_ns > 0.0
        && empty * 2.0 > asked as f64
        && waited_ns * 2.0 >= empty * run.elapsed_ns as f64
}
