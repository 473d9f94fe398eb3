//! Runs a Plan in this process; Ctrl-C ends the run and keeps its report. All front ends come through here; the run
//! itself and the monitor beside it are `ablaze-load`'s.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ablaze_engine::Control;
use ablaze_engine::walk::MakeWalk;
use ablaze_model::spec::{LoadSpec, Words};
use ablaze_model::{Plan, Run};
use ablaze_report::shown_command::without_secrets;

pub use ablaze_load::carry_out::{Silent, UnderWay, Watcher, destination};

use crate::CommandError;
use crate::error::INTERRUPTED;

/// Runs the Plan. The first Ctrl-C (or SIGTERM, as timeout(1) sends) ends it early ([`Run::ended`] says so), the second
/// ends the process at once. `asked` is what the Plan was made of, and stays with the Run.
///
/// # Errors
/// When the run could not take place.
pub fn carry_out(
    plan: Plan,
    asked: &LoadSpec,
    watcher: &mut dyn Watcher,
) -> Result<Run, CommandError> {
    timed(plan, asked, watcher).map(|(run, _)| run)
}

/// As [`carry_out`]; before that, `prepare` is given the handle on the run.
///
/// # Errors
/// When the run could not take place.
pub fn prepared(
    plan: Plan,
    asked: &LoadSpec,
    watcher: &mut dyn Watcher,
    prepare: impl FnOnce(&Control),
) -> Result<Run, CommandError> {
    let control = listened_for()?;
    prepare(&control);
    let (run, _) = ablaze_load::carry_out::carry_out(plan, asked, &control, watcher)?;
    Ok(run)
}

/// As [`carry_out`], with walks that say what is sent, through a handle on the run that they know.
///
/// # Errors
/// When the run could not take place.
pub fn walking(
    plan: Plan,
    asked: &LoadSpec,
    watcher: &mut dyn Watcher,
    control: &Arc<Control>,
    walk: &MakeWalk<'_>,
) -> Result<Run, CommandError> {
    listen_for(control)?;
    let (run, _) =
        ablaze_load::carry_out::carry_out_walking(plan, asked, control, watcher, Some(walk))?;
    Ok(run)
}

/// As [`carry_out`]; with the measured window by the monotonic clock, ns.
///
/// # Errors
/// When the run could not take place.
pub fn timed(
    plan: Plan,
    asked: &LoadSpec,
    watcher: &mut dyn Watcher,
) -> Result<(Run, (u64, u64)), CommandError> {
    let control = listened_for()?;
    Ok(ablaze_load::carry_out::carry_out(plan, asked, &control, watcher)?)
}

/// The handle on a run to come, which Ctrl-C ends.
fn listened_for() -> Result<Arc<Control>, CommandError> {
    let control = Arc::new(Control::new());
    listen_for(&control)?;
    Ok(control)
}

/// Has Ctrl-C end the run of this handle.
///
/// # Errors
/// When the system does not let it listen.
pub fn listen_for(control: &Arc<Control>) -> Result<(), CommandError> {
    stop_at_interrupt(control)?;
    if let Some(worker) = worker_to_panic() {
        control.have_panic(worker);
    }
    Ok(())
}

/// The worker that is to panic in the middle of the run: ABLAZE_PANIC_WORKER=NUMBER, from 0. For the test
/// that a report outlives that. It has to be this very program: how panics end is decided when it is
/// built. Whoever sets the variable ends nothing but the load of the process they start.
fn worker_to_panic() -> Option<u32> {
    std::env::var("ABLAZE_PANIC_WORKER").ok()?.parse().ok()
}

/// The words of this process's command line, without secrets.
pub fn own_command_line() -> Words {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    Words(without_secrets(words.collect()))
}

/// The run that Ctrl-C ends: signals belong to the process, and an experiment has many runs.
static UNDER_WAY: Mutex<Option<Arc<Control>>> = Mutex::new(None);
/// Whether Ctrl-C is listened for already.
static LISTENING: Mutex<bool> = Mutex::new(false);
/// What the second Ctrl-C ends beside the targets of experiments.
static ENDED_TOO: Mutex<Vec<fn()>> = Mutex::new(Vec::new());
/// Whether there was a Ctrl-C.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Whether the person at the terminal has asked to stop; no run begins after that.
pub fn interrupted() -> bool {
    STOPPED.load(Ordering::Acquire)
}

/// Does what the first Ctrl-C does: ends the run under way, and keeps the next from beginning.
pub fn interrupt() {
    STOPPED.store(true, Ordering::Release);
    if let Some(control) = &*UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) {
        control.stop();
    }
}

/// Has the second Ctrl-C call this before it ends the process: for what stands above this module.
pub fn end_at_second_interrupt(end: fn()) {
    ENDED_TOO.lock().unwrap_or_else(PoisonError::into_inner).push(end);
}

fn stop_at_interrupt(control: &Arc<Control>) -> Result<(), CommandError> {
    let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    *under_way = Some(Arc::clone(control));
    drop(under_way);
    if interrupted() {
        control.stop();
    }
    listen_for_interrupts()
}

/// From now on the first Ctrl-C ends the run under way, or keeps the next from beginning; the second
/// ends this process, with all targets that experiments have started and what [`end_at_second_interrupt`] was told of.
///
/// # Errors
/// When the system does not let it listen.
pub fn listen_for_interrupts() -> Result<(), CommandError> {
    let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::replace(&mut *listening, true) {
        return Ok(());
    }
    ablaze_sys::signals::on_interrupt(|times| {
        if times > 1 {
            ablaze_lab::target::kill_all();
            for end in &*ENDED_TOO.lock().unwrap_or_else(PoisonError::into_inner) {
                end();
            }
            ablaze_sys::terminal::leave_screen();
            std::process::exit(i32::from(INTERRUPTED));
        }
        interrupt();
    })
    .map_err(|error| CommandError::machine(format!("cannot catch Ctrl-C: {error}")))
}
