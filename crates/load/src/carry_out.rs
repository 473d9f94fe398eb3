//! Runs a Plan: a [`Watcher`] hears how far it is, the monitor looks at the machine beside it. Nothing here prints,
//! listens for signals or ends the process: whoever has the [`Control`] ends a run early.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ablaze_engine::walk::{MakeWalk, run_walking};
use ablaze_engine::{Control, Progress};
use ablaze_model::finding::{DiagnosisId, Limit};
use ablaze_model::run::Machine;
use ablaze_model::saved::shown;
use ablaze_model::spec::{LoadSpec, Monitoring};
use ablaze_model::{Plan, Run};
use ablaze_monitor::{Asking, Destination, Monitor};
use ablaze_report::shown_command::without_secrets;
use ablaze_sys::clock;

use crate::Error;
use crate::server_words::first_words;

/// How often a watcher is told, in normal operation.
const TICK: Duration = Duration::from_millis(100);

/// A run that is under way, as its watcher finds it.
pub struct UnderWay<'a> {
    /// How far it is.
    pub progress: &'a Progress,
    /// What can be done about it.
    pub control: &'a Control,
    /// How busy both sides are; `None` for a run that nobody monitors.
    pub monitor: Option<&'a mut Asking>,
    /// Each machine of a fleet; empty for a run of this one.
    pub workers: &'a [WorkerProgress],
}

/// How far one machine of a fleet is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkerProgress {
    /// What it is called. A foreign string.
    pub name: String,
    /// How far it is.
    pub state: WorkerState,
    /// What it has told of.
    pub progress: Progress,
    /// How busy its threads were in its last second, on average, from 0 to 1; `None` where that is not known.
    pub busy: Option<f64>,
    /// What limits it by its last second, where that can be told.
    pub limit: Option<Limit>,
    /// What it found in its own share so far, and holds still: number and evidence.
    pub found: Vec<(DiagnosisId, String)>,
}

/// The stages of a machine of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkerState {
    /// It opens connections, prepares users, warms up.
    #[default]
    Preparing,
    /// It waits for the common start.
    Ready,
    /// Its clock runs.
    Measuring,
    /// It has ended.
    Ended,
    /// It was lost.
    Lost,
}

/// Hears how far a run is, on a thread of its own.
pub trait Watcher: Send {
    /// Called about ten times a second while the run lasts, and once when it is over, with everything
    /// ([`Stage::Over`](ablaze_model::progress::Stage::Over)).
    fn tick(&mut self, progress: &Progress);

    /// The same for one that does more than hear of it.
    fn look(&mut self, run: &mut UnderWay<'_>) {
        self.tick(run.progress);
    }

    /// Called once, when the run has ended and before its report: the place to tidy up.
    fn finish(&mut self) {}

    /// Whether it wants to be called at all; there is no thread for one that does not.
    fn listens(&self) -> bool {
        true
    }
}

/// A watcher that says nothing.
pub struct Silent;

impl Watcher for Silent {
    fn tick(&mut self, _progress: &Progress) {}

    fn listens(&self) -> bool {
        false
    }
}

/// Runs the Plan, and gives the Run with the measured window by the monotonic clock, ns. `asked` is what the
/// Plan was made of, and stays with the Run.
///
/// # Errors
/// When the run could not take place.
pub fn carry_out(
    plan: Plan,
    asked: &LoadSpec,
    control: &Control,
    watcher: &mut dyn Watcher,
) -> Result<(Run, (u64, u64)), Error> {
    carry_out_walking(plan, asked, control, watcher, None)
}

/// As [`carry_out`]; with `walk`, each worker's walk says what is sent.
///
/// # Errors
/// When the run could not take place.
pub fn carry_out_walking(
    plan: Plan,
    asked: &LoadSpec,
    control: &Control,
    watcher: &mut dyn Watcher,
    walk: Option<&MakeWalk<'_>>,
) -> Result<(Run, (u64, u64)), Error> {
    if walk.is_some() && plan.checks.is_some() {
        let text = "--assert and a script cannot be used together: check responses in the script's `response`";
        return Err(Error::usage(text));
    }
    // Whoever only looks on takes nothing from the run by a panic.
    let monitoring = asked.monitoring();
    let monitored = monitoring != Monitoring::Off;
    let monitor = monitored.then(|| unless_it_panics(|| Monitor::begin(&destination(&plan))));
    let monitor = monitor.flatten();
    if let Some(monitor) = &monitor {
        control.when_at_rest(monitor.look_at_rest());
    }
    let begun_ns = clock::monotonic_ns();
    let asking = monitor.as_ref().filter(|_| watcher.listens()).map(Monitor::asking);
    let mut run = watched(control, watcher, asking, || match walk {
        None => ablaze_engine::run(plan, control),
        Some(walk) => run_walking(plan, control, walk),
    })?;
    // Connections are opened before the measured window.
    let start_ns = begun_ns + run.setup_ns;
    let window_ns = (start_ns, start_ns + run.elapsed_ns);
    run.monitor = monitor.and_then(|monitor| unless_it_panics(|| shown(monitor.end(window_ns))));
    run.command_line.clone_from(&asked.words.0);
    run.asked = Some(Box::new(asked.kept()));
    if let Some(client) = run.monitor.as_mut().and_then(|monitor| monitor.client.as_mut()) {
        client.command_line = without_secrets(std::mem::take(&mut client.command_line));
    }
    if let (Monitoring::On, Some(monitor)) = (monitoring, &mut run.monitor) {
        for process in &mut monitor.target.processes {
            process.command_line = first_words(std::mem::take(&mut process.command_line));
        }
    }
    run.machine = machine();
    Ok((run, window_ns))
}

/// Does the work while the watcher hears how far it is.
fn watched<T>(
    control: &Control,
    watcher: &mut dyn Watcher,
    mut asking: Option<Asking>,
    work: impl FnOnce() -> T,
) -> T {
    if !watcher.listens() {
        return work();
    }
    control.follow();
    let done = Done::default();
    std::thread::scope(|scope| {
        let watch = || {
            unless_it_panics(|| {
                let mut progress = Progress::default();
                while !done.within(TICK) {
                    control.progress(&mut progress);
                    let (told, monitor) = (&progress, asking.as_mut());
                    watcher.look(&mut UnderWay { progress: told, control, monitor, workers: &[] });
                    progress.told();
                }
                control.progress_at_end(&mut progress);
                let (progress, monitor) = (&progress, None);
                watcher.look(&mut UnderWay { progress, control, monitor, workers: &[] });
                watcher.finish();
            });
        };
        // Without a thread for it there is no progress to be seen.
        let _ = std::thread::Builder::new().name("progress".to_owned()).spawn_scoped(scope, watch);
        // Dropped at the end of the work, and if it should panic: the watcher then ends too.
        let _end = done.at_end();
        work()
    })
}

/// What the work gives, or `None` if it panics, which the panic itself has told.
fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    // Nothing that it was about to change is looked at then.
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Where the connections of this Plan go.
pub fn destination(plan: &Plan) -> Destination {
    match &plan.target.unix_socket {
        Some(path) => Destination::Unix(path.clone()),
        None => Destination::Tcp(plan.target.addresses.clone()),
    }
}

/// What reports say about this machine.
fn machine() -> Machine {
    Machine {
        kernel: ablaze_sys::machine::kernel_release(),
        cpu_model: ablaze_sys::machine::cpu_model(),
        cpus_allowed: ablaze_sys::allowed_cpus().map(|cpus| cpus.len() as u32),
        memory_bytes: ablaze_sys::machine::memory_bytes(),
    }
}

/// A flag that can be waited for.
#[derive(Default)]
struct Done {
    flag: Mutex<bool>,
    changed: Condvar,
}

impl Done {
    /// Waits so long, or until it is done; whether it is.
    fn within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut done = self.flag.lock().unwrap_or_else(PoisonError::into_inner);
        while !*done {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            done = self.changed.wait_timeout(done, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *done
    }

    fn at_end(&self) -> AtEnd<'_> {
        AtEnd(self)
    }
}

/// Sets its flag when dropped.
struct AtEnd<'a>(&'a Done);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        *self.0.flag.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A watcher that cannot do its work.
    struct Panics;

    impl Watcher for Panics {
        fn tick(&mut self, _progress: &Progress) {
            panic!("in the first tick");
        }
    }

    #[test]
    fn a_watcher_that_panics_takes_nothing_from_the_run() {
        let work = || {
            std::thread::sleep(3 * TICK);
            7
        };
        assert_eq!(watched(&Control::new(), &mut Panics, None, work), 7);
    }

    #[test]
    fn a_wait_ends_when_it_is_done_and_not_before_its_time() {
        let done = Done::default();
        assert!(!done.within(Duration::from_millis(1)));
        std::thread::scope(|scope| {
            scope.spawn(|| drop(done.at_end()));
            assert!(done.within(Duration::from_secs(60)));
        });
    }
}
