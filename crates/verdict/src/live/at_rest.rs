//! What the server did when the load was over and its connections still stood. A server that does not rest then says nothing of
//! its load by its CPU time.

use ablaze_model::Run;
use ablaze_model::monitor::{AtRest, Process};

use super::figures::{is_helper, target};

/// Who runs, or is ready to, for this share of the time does not rest.
const BUSY: f64 = 0.5;

/// A server gets this multiple of its slowest responses' time to become idle.
const TIMES: u64 = 10;

/// What does not rest of the server, all of its processes together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Restless {
    /// The share of the time for which its busiest thread ran, or was ready to.
    pub busiest: f64,
    /// The same of all of them: what they use of cores, or would.
    pub cores: f64,
    /// Threads of which that was more than half; at least as many as all of it would fill.
    pub threads: usize,
}

/// What does not rest of the processes that serve; `None` where they do, or were not looked at.
pub(crate) fn restless(run: &Run) -> Option<Restless> {
    let target = target(run)?;
    together(run, &|process| !is_helper(target, process))
}

/// The same of all processes of the server, with those that it started for something else.
pub(crate) fn restless_with_helpers(run: &Run) -> Option<Restless> {
    together(run, &|_| true)
}

fn together(run: &Run, counts: &dyn Fn(&Process) -> bool) -> Option<Restless> {
    let all = looked_at(run).filter(|(process, _)| counts(process));
    let all: Vec<AtRest> = all.map(|(_, at_rest)| at_rest).filter(is_busy).collect();
    let cores: f64 = all.iter().map(cores).sum();
    let threads = all.iter().map(|at_rest| at_rest.busy_threads as usize).sum::<usize>();
    let busiest = all.iter().map(|at_rest| at_rest.busiest_share).reduce(f64::max)?;
    Some(Restless { busiest, cores, threads: threads.max(cores.round() as usize) })
}

/// The process of the server that was busiest without a load, where all had been answered by then.
pub(crate) fn busiest(run: &Run) -> Option<(&Process, AtRest)> {
    looked_at(run).max_by(|one, other| cores(&one.1).total_cmp(&cores(&other.1)))
}

/// Whether it was busy: one of its threads, or several that a task goes to and fro between.
pub(crate) fn is_busy(at_rest: &AtRest) -> bool {
    cores(at_rest) > BUSY
}

/// What all its threads used together. Of saved runs the busiest alone may be known.
pub(crate) fn cores(at_rest: &AtRest) -> f64 {
    at_rest.cores.max(at_rest.busiest_share)
}

fn looked_at(run: &Run) -> impl Iterator<Item = (&Process, AtRest)> {
    let processes = target(run).into_iter().flat_map(|target| &target.processes);
    let looked = processes.filter_map(|process| Some((process, process.without_load()?)));
    looked.filter(|(_, at_rest)| could_finish(run, *at_rest))
}

/// Whether the last requests were surely answered before the look: there were none left, or those in
/// flight at the end take no longer than the others, and even ten times that would have been enough.
/// Nobody reads long responses to their end any more, and the server tries to get rid of them.
fn could_finish(run: &Run, at_rest: AtRest) -> bool {
    if run.record.unfinished == 0 && run.record.failures_total() == 0 {
        return true;
    }
    let slowest = run.record.answered.total.quantile_ns(0.99);
    slowest.is_some_and(|slowest_ns| slowest_ns.saturating_mul(TIMES) < at_rest.settled_ns)
}
