//! One load carried out by several machines: what `--fleet` asks for ([`place`]), the processes that reach the workers and
//! the lines to them ([`channel`]), what is done with what they say ([`drive`], [`gather`]), what the coordinator sees of the target
//! itself ([`beside`]), and the one Run that it comes to ([`whole`]). A [`Session`] has them carry out one load after the other. When who says what is `ablaze-fleet`'s state machine.

mod ask;
mod assignments;
mod beside;
mod channel;
mod docker;
mod drive;
mod fetching;
mod gather;
mod k8s;
pub mod kept;
mod leftovers;
mod options;
mod place;
mod placed;
mod seen;
mod session;
mod slurm;
mod ssh;
mod whole;

use ablaze_fleet::{Lost, Settings};
use ablaze_load::Error;
use ablaze_load::planning::{self, OptionNames, Planned};
use ablaze_model::plan::Load;
use ablaze_model::spec::{ConnectTo, Secrets, Shape, WorkersSpec};
use ablaze_model::{LoadSpec, Run};
use ablaze_report::number::counted;

use crate::CommandError;
use crate::carry_out::Watcher;
use crate::report_options::ReportOptions;

pub use options::{FleetOptions, lost};
pub use place::Place;
pub use session::Session;

/// Ends every process that reaches a worker, and gives back what was allocated for them: for a coordinator that ends in the
/// middle of a run.
pub fn end_all() {
    channel::end_all();
    slurm::release_all();
}

/// The Plan that the load would be on this machine: for what is checked, shown and exported here. The workers make Plans
/// of their own; what depends on their machines is left out of this one.
///
/// # Errors
/// When the load cannot be carried out by anyone, or an option has no meaning for a fleet.
pub fn planned(
    place: &Place,
    load: &LoadSpec,
    secrets: &Secrets,
    report: &ReportOptions,
) -> Result<Planned, CommandError> {
    if report.profile.is_some() {
        return Err(CommandError::usage(
            "--profile and --fleet cannot be used together: profile on the machine itself",
        ));
    }
    let workers = place.count()? as u32;
    check(load, workers)?;
    let mut planned = here(load, secrets)?;
    let plan = &mut planned.plan;
    // What is shown of it is the load of all. How many threads they have is theirs to say.
    match (&mut plan.load, &load.shape) {
        (Load::Closed { connections, .. }, _) => *connections = load.closed_connections(),
        (Load::Open { connections, bounded, .. }, Shape::Open { connections: asked, .. }) => {
            *bounded = asked.is_some();
            *connections = asked.unwrap_or(*connections);
        }
        (Load::Open { .. }, Shape::Closed { .. }) => {}
    }
    plan.limits.requests = load.limits.requests;
    plan.workers.count = 0;
    plan.workers.count_reason = counted(workers.into(), "worker");
    Ok(planned)
}

/// Whether each of so many workers would have something to do.
///
/// # Errors
/// When not.
pub fn check(load: &LoadSpec, workers: u32) -> Result<(), CommandError> {
    // The last has least.
    let least = load.shard(workers.saturating_sub(1), workers);
    least.map(drop).map_err(|error| CommandError::usage(format!("--fleet: {error}")))
}

/// The Plan that the load would be on this machine, without what depends on those of the workers.
///
/// # Errors
/// When the load cannot be carried out by anyone.
pub fn here(load: &LoadSpec, secrets: &Secrets) -> Result<Planned, CommandError> {
    let mut here = load.clone();
    here.workers = WorkersSpec::default();
    here.connections.local_addresses.clear();
    here.connections.local_ports = None;
    match &mut here.shape {
        Shape::Closed { connections } | Shape::Open { connections, .. } => *connections = Some(1),
    }
    let planned = match planning::resolve(&here, secrets, &OptionNames::NATIVE) {
        // The workers may know the host.
        Err(Error::UnknownHost(_)) if here.destination.connect_to.is_empty() => {
            let host = Some("127.0.0.1".to_owned());
            here.destination.connect_to = vec![ConnectTo { host, ..ConnectTo::default() }];
            planning::resolve(&here, secrets, &OptionNames::NATIVE)?
        }
        planned => planned?,
    };
    Ok(Planned { notes: Vec::new(), ..planned })
}

/// Whether a worker of the fleet that carried this out was lost.
pub fn gave_up(run: &Run) -> bool {
    run.fleet.iter().flat_map(|fleet| &fleet.workers).any(|worker| worker.lost.is_some())
}

/// How patient the coordinator is with this load.
fn settings(load: &LoadSpec, lost: Lost) -> Settings {
    let usual = Settings::default();
    let before_ready_ns = load.limits.warmup_ns.saturating_add(load.connections.ramp_ns);
    Settings {
        lost,
        ready_within_ns: usual.ready_within_ns.saturating_add(before_ready_ns),
        ..usual
    }
}

/// How long the load takes, ns, where it says so.
fn longest_ns(load: &LoadSpec) -> Option<u64> {
    let before_ns = load.limits.warmup_ns.saturating_add(load.connections.ramp_ns);
    load.limits.duration_ns.map(|duration_ns| duration_ns.saturating_add(before_ns))
}

/// Has the workers carry the load out together; the Run of all.
///
/// # Errors
/// When no worker could be started, or none has handed over anything.
pub fn carry_out(
    load: &LoadSpec,
    secrets: &Secrets,
    asked: &FleetOptions,
    watcher: &mut dyn Watcher,
) -> Result<Run, CommandError> {
    let Some(place) = &asked.fleet else {
        return Err(CommandError::usage("--fleet says where the workers are"));
    };
    let mut session = Session::new(place.clone(), asked.lost.unwrap_or_default());
    session.carry_out(load, secrets, watcher)
}
