//! The one Run of a fleet: the Runs of its workers put together, each at its place in time by the coordinator's clock, with
//! what is known of each worker beside it.

use ablaze_fleet::coordinator::{Standing, WorkerOutcome};
use ablaze_lab::shards::Shards;
use ablaze_model::finding::{DiagnosisId, Severity};
use ablaze_model::fleet::{Fleet, FleetWorker, StartSkew, Together, WorkerCourse, WorkerLimit};
use ablaze_model::progress::Interval;
use ablaze_model::record::Slices;
use ablaze_model::run::Ended;
use ablaze_model::saved::shown;
use ablaze_model::{LoadSpec, Run};
use ablaze_report::json;
use ablaze_verdict::live;
use ablaze_wire::printable::printable;

use super::drive::Driven;
use super::fetching::{Asked, Fetched};
use super::kept;
use crate::CommandError;
use crate::error::{INTERRUPTED, note};

/// The time in which all ran is whole slices of it: it is told apart where it is shorter than the run by more than what
/// those at its two ends explain.
const WHOLE_WITHIN_NS: u64 = 2 * Slices::SLICE_NS;

/// What the workers did, as one Run. What they could not hand over waits on their hosts under a name of `kept_as`, where hosts stay.
///
/// # Errors
/// When none of them has handed over anything.
pub fn run_of(
    driven: Driven,
    load: &LoadSpec,
    (by, kept_as): (&str, Option<&str>),
    fetched: &Fetched,
) -> Result<Run, CommandError> {
    let Driven { outcome, start_unix_ns, together } = driven;
    let skew = outcome.skew().map(|skew| StartSkew { ns: skew.ns, bound_ns: skew.bound_ns });
    // Each Run is read, put to the others and gone before the next is read: hundreds of them would not fit.
    let (mut shards, mut refused) = (Shards::of_one_run(), None);
    let (mut ends, mut workers) = (Vec::new(), Vec::new());
    for (index, worker) in outcome.workers.into_iter().enumerate() {
        let started_ns = worker
            .started_ns
            .zip(outcome.start_ns)
            .map(|(at_ns, start_ns)| at_ns as i64 - start_ns as i64);
        let (mut known, run) = known(worker);
        known.started_ns = started_ns;
        let asked = fetched.get(&index);
        known.collected = run.is_some() && asked == Some(&Asked::Fetched);
        if let Some(why) = &known.lost {
            note(&format!("worker {} was lost: {why}", known.name));
            let is_wanted = run.is_none() && started_ns.is_some();
            match (asked, kept_as.filter(|_| is_wanted)) {
                (Some(Asked::Refused(why)), _) => note(&format!("its run is not there: {why}")),
                (_, Some(id)) => note(&format!(
                    "its run may wait on its host for ten minutes: `ablaze fleet collect {}`",
                    kept::name_of(id, index as u32)
                )),
                _ => {}
            }
        }
        if let Some(mut run) = run {
            run.started_unix_ns = start_unix_ns.saturating_add_signed(started_ns.unwrap_or(0));
            ends.push((known.name.clone(), run.ended.clone()));
            if let Err(why) = shards.add(known.name.clone(), run) {
                refused.get_or_insert(why);
            }
        }
        workers.push(known);
    }
    if let Some(why) = refused {
        return Err(CommandError::machine(why));
    }
    let Some(mut whole) = shards.whole() else {
        let error = CommandError::machine("no worker of the fleet has measured anything");
        return Err(match outcome.interrupted {
            true => CommandError { status: INTERRUPTED, ..error },
            false => error,
        });
    };
    let is_whole = ran_to_their_ends(&ends, &workers);
    whole.command_line.clone_from(&load.words.0);
    whole.asked = Some(Box::new(load.kept()));
    whole.plan.workers.count_reason = format!("{} workers", workers.len());
    if outcome.interrupted {
        whole.ended = Ended::Interrupted;
    } else if is_whole {
        whole.ended = Ended::Complete;
    }
    let together = of_all(&together, whole.elapsed_ns);
    whole.fleet =
        Some(Box::new(Fleet { by: by.to_owned(), skew, together, seen_from: Vec::new(), workers }));
    Ok(whole)
}

/// Whether all Runs are complete but for those of lost workers, and there is one.
fn ran_to_their_ends(ends: &[(String, Ended)], workers: &[FleetWorker]) -> bool {
    // Two workers may have one name: a lost one says nothing of the other's Run then.
    let is_lost =
        |name: &str| workers.iter().any(|worker| worker.name == name && worker.lost.is_some());
    let mut others = ends.iter().filter(|(name, _)| !is_lost(name)).peekable();
    others.peek().is_some() && others.all(|(_, ended)| *ended == Ended::Complete)
}

/// The figures of the time in which all ran, if that is not all of it.
fn of_all(together: &Interval, elapsed_ns: u64) -> Option<Together> {
    let length_ns = together.to_ns - together.from_ns;
    let is_part = elapsed_ns.saturating_sub(length_ns) > WHOLE_WITHIN_NS;
    (is_part && length_ns > 0).then(|| Together {
        from_ns: together.from_ns,
        to_ns: together.to_ns,
        responses: together.responses,
        failures: together.failures_total(),
        p50_ns: together.quantile_ns(0.5),
        p99_ns: together.quantile_ns(0.99),
    })
}

/// What a worker found while its run lasted, and held at the end of that: number and evidence, which can be shown.
pub fn held(standing: &Standing) -> impl Iterator<Item = (DiagnosisId, String)> {
    let known = |text: &str| DiagnosisId::ALL.iter().copied().find(|id| id.to_string() == text);
    let held = standing.found.iter().filter(|found| found.holds);
    held.filter_map(move |found| Some((known(&found.id)?, printable(&found.evidence).into_owned())))
}

/// What is known of a worker, and the Run that it handed over.
fn known(worker: WorkerOutcome) -> (FleetWorker, Option<Run>) {
    let mut lost = worker.lost;
    let run = worker.run.and_then(|document| match json::load(&document) {
        Ok(saved) => Some(saved.run),
        Err(error) => {
            lost = Some(format!("its run cannot be read: {error}"));
            None
        }
    });
    let drift_ns =
        worker.clock.zip(worker.clock_after).and_then(|(before, after)| before.drifted_ns(&after));
    let known = FleetWorker {
        name: worker.name,
        machine: worker.machine,
        clock_bound_ns: worker.clock.map(|clock| clock.bound_ns),
        drift_ns,
        lost,
        busy_over_time: Some(worker.standing.course.clone()).filter(|it| it.busy.len() > 1),
        ..FleetWorker::default()
    };
    let known = match &run {
        Some(run) => with_run(known, run),
        None => FleetWorker {
            responses: worker.rows.responses,
            failures: worker.rows.failures_total(),
            elapsed_ns: worker.rows.to_ns,
            p50_ns: worker.rows.quantile_ns(0.5),
            p99_ns: worker.rows.quantile_ns(0.99),
            findings: held(&worker.standing).map(|(id, _)| format!("{id} {}", id.name())).collect(),
            ..known
        },
    };
    // Hosts and kernels may call themselves anything.
    (shown(known), run)
}

/// The same with the figures of its Run.
fn with_run(known: FleetWorker, run: &Run) -> FleetWorker {
    let judged = live::judge(run);
    let record = &run.record;
    let times = record.answered.as_users_see();
    let counts = judged
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Note && finding.explained_by.is_none());
    FleetWorker {
        counted: true,
        responses: record.responses,
        failures: record.failures_total(),
        elapsed_ns: run.elapsed_ns,
        p50_ns: times.quantile_ns(0.5),
        p99_ns: times.quantile_ns(0.99),
        busy: run.workers_busy().into_iter().reduce(f64::max),
        limit: Some(WorkerLimit {
            key: judged.limited.by.key().to_owned(),
            text: judged.limited.evidence.clone(),
        }),
        over_time: WorkerCourse::of(&record.slices, run.elapsed_ns),
        findings: counts.map(|finding| format!("{} {}", finding.id, finding.id.name())).collect(),
        ..known
    }
}
