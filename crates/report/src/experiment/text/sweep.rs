//! The table of a sweep: a row per load, a group of columns per target.

use std::ops::Range;

use ablaze_model::experiment::{
    Axis, Experiment, JudgedTogether, Load, Place, Results, SKIPPED, Target,
};
use ablaze_model::finding::{DiagnosisId, Severity, Verdict};
use ablaze_model::spec::TargetSpec;

use super::dashes::dashes_of_sweep;
use super::{WIDTH, failures, worth};
use crate::experiment::curve::{Curve, Pick, Point, worst};
use crate::number::{counted, percent, rate, time};
use crate::table::{Table, sentence};

/// The whole report of a sweep.
pub fn sweep(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
    pick: Pick,
) -> String {
    let mut lines = worth(experiment, results, judged);
    lines.push(what(experiment, results));
    lines.extend(super::partial(experiment, results));
    lines.extend(failures(experiment, results));
    let names = experiment.targets.iter().enumerate();
    let skipped = |(at, target): (usize, &Target)| {
        Some(format!("  {} {}", target.name, results.skipped(at)?))
    };
    lines.extend(names.filter_map(skipped));
    let curves = Curve::all(experiment, results, pick);
    for slice in experiment.slices() {
        lines.push(String::new());
        lines.extend(slice.label.iter().map(|label| format!("{label}:")));
        lines.extend(table(experiment, &curves, slice.loads).lines());
    }
    let measured = || curves.iter().flat_map(|curve| curve.points.iter().flatten());
    // As many as there are: some may have failed, or not have been made.
    let runs = || measured().map(|point| point.rates_per_s.len());
    let (fewest, most) = (runs().min().unwrap_or(0), runs().max().unwrap_or(0));
    let of = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let others = "; p99 and CPU: median of the runs";
    let drawn = match pick {
        _ if most == 1 => {
            "rate, p99 and CPU: one run each, so the spread between runs is unknown".into()
        }
        Pick::Median => {
            format!("rate: median of {of} runs, ± the distance to the farthest{others}")
        }
        Pick::Best => format!("rate: best of {of} runs, ± the distance to the farthest{others}"),
    };
    if measured().next().is_some() {
        lines.push(format!("  {drawn}"));
    }
    if measured().any(|point| point.errors > 0) {
        lines.push("  !: some requests of these runs failed".to_owned());
    }
    if let Some(why) = dashes_of_sweep(results, &curves) {
        lines.extend(sentence("  ", &format!("-: {why}"), WIDTH));
    }
    lines.extend(same_under_all(experiment));
    for [verdict, cells] in doubtful(experiment, results) {
        lines.extend(sentence("  ", &format!("{verdict}: {cells}"), WIDTH));
    }
    lines.extend(super::of_groups(experiment, results));
    lines.push(String::new());
    lines.join("\n")
}

/// How large the experiment is, and who had which processors.
pub(super) fn what(experiment: &Experiment, results: &Results) -> String {
    if experiment.is_saved() {
        let runs = counted(experiment.trials().len() as u64, "saved run");
        let targets = counted(experiment.targets.len() as u64, "target");
        return format!("{runs} of {targets}");
    }
    let failed = results.failed().filter(|(_, why)| !why.starts_with(SKIPPED));
    let failed = match failed.count() {
        0 => String::new(),
        failed => format!(" · {failed} of {} runs failed", experiment.trials().len()),
    };
    format!(
        "{} × {} × {}{}{failed} · {}",
        counted(experiment.targets.len() as u64, "target"),
        conditions(experiment),
        counted(u64::from(experiment.repeats), "run"),
        super::in_turns(experiment),
        super::carried_out(
            experiment.fleet.as_ref(),
            &experiment.placement,
            super::starts_all(experiment)
        )
    )
}

/// How many conditions each target meets: `3 loads`, `3 values of threads × 2 values of size`.
fn conditions(experiment: &Experiment) -> String {
    let plain = |axis: &Axis| axis.of == [Place::Load];
    match &experiment.axes[..] {
        [] => counted(experiment.loads.len() as u64, "load"),
        [axis] if plain(axis) => counted(experiment.loads.len() as u64, "load"),
        axes => {
            let values = |axis: &Axis| {
                format!("{} of {}", counted(axis.values.len() as u64, "value"), axis.title())
            };
            axes.iter().map(values).collect::<Vec<_>>().join(" × ")
        }
    }
}

/// Which targets an axis of the server's side leaves as they are: their rows are repeats of one thing.
fn same_under_all(experiment: &Experiment) -> Option<String> {
    // A control takes after the others, whatever its own spec is.
    let follows = |at: usize| matches!(experiment.targets[at].source, TargetSpec::Nginx { .. });
    let differs = |at: &usize| {
        let under =
            |load: &Load| load.targets.get(*at).is_some_and(|own| *own != experiment.targets[*at]);
        follows(*at) || experiment.loads.iter().any(under)
    };
    let targets = 0..experiment.targets.len();
    let same: Vec<&str> =
        targets.filter(|at| !differs(at)).map(|at| experiment.targets[at].name.as_str()).collect();
    let some_differ = experiment.loads.iter().any(|load| !load.targets.is_empty());
    let of_targets =
        |axis: &&Axis| axis.of.iter().all(|of| matches!(of, Place::Server | Place::Environment));
    let axis = experiment.axes.iter().find(of_targets).filter(|_| experiment.axes.len() == 1)?;
    (some_differ && !same.is_empty())
        .then(|| format!("  the same under every value of {}: {}", axis.name, same.join(", ")))
}

/// The cells whose runs are not all VALID, by their verdict and the diagnoses that made it.
pub(crate) fn doubtful(experiment: &Experiment, results: &Results) -> Vec<[String; 2]> {
    let mut doubtful: Vec<(String, Vec<String>)> = Vec::new();
    for (load, under) in experiment.loads.iter().enumerate() {
        for (target, of) in experiment.targets.iter().enumerate() {
            let runs = results.of(target, load);
            let verdict = worst(&runs);
            if verdict == Verdict::Valid {
                continue;
            }
            let found = runs.iter().flat_map(|run| &run.findings);
            // Under INVALID stands what makes it that, and not what would have made it SUSPECT.
            let decides =
                if verdict == Verdict::Invalid { Severity::Invalid } else { Severity::Suspect };
            let found = found.filter(|f| f.severity == decides && f.explained_by.is_none());
            let mut ids: Vec<DiagnosisId> = found.map(|finding| finding.id).collect();
            ids.sort_unstable();
            ids.dedup();
            let ids: Vec<String> = ids.iter().map(|id| format!("{id} {}", id.name())).collect();
            let cell = format!("{}, {}", of.name, under.label);
            let why = format!("{verdict} by {}", ids.join(", "));
            match doubtful.iter_mut().find(|(other, _)| *other == why) {
                Some((_, cells)) => cells.push(cell),
                None => doubtful.push((why, vec![cell])),
            }
        }
    }
    doubtful.into_iter().map(|(why, cells)| [why, in_short(&cells)]).collect()
}

/// The cells in whose runs some requests failed; `None` where there are none.
pub(crate) fn with_errors(experiment: &Experiment, results: &Results) -> Option<String> {
    let mut cells = Vec::new();
    for (load, under) in experiment.loads.iter().enumerate() {
        for (target, of) in experiment.targets.iter().enumerate() {
            if results.of(target, load).iter().any(|run| run.errors > 0) {
                cells.push(format!("{}, {}", of.name, under.label));
            }
        }
    }
    (!cells.is_empty()).then(|| format!("Some requests failed: {}.", in_short(&cells)))
}

/// The first of them, and how many more there are.
fn in_short(cells: &[String]) -> String {
    const MOST: usize = 6;
    let first = cells[..cells.len().min(MOST)].join("; ");
    match cells.len().saturating_sub(MOST) {
        0 => first,
        more => format!("{first}; and {more} more"),
    }
}

fn table(experiment: &Experiment, curves: &[Curve], loads: Range<usize>) -> Table {
    let mut table = Table::new(&[0]);
    let mut names = vec![String::new()];
    let mut heads = vec!["load".to_owned()];
    for curve in curves {
        names.extend([curve.name.clone(), String::new(), String::new(), String::new()]);
        heads.extend(["rate /s", "±", "p99", "CPU/req"].map(String::from));
    }
    table.row(names, "");
    table.row(heads, "");
    for at in loads {
        let mut cells = vec![experiment.label_in_slice(at)];
        for curve in curves {
            cells.extend(match &curve.points[at] {
                Some(point) => figures(point),
                None => std::array::from_fn(|_| "-".to_owned()),
            });
        }
        table.row(cells, "");
    }
    table
}

fn figures(point: &Point) -> [String; 4] {
    let (low, high) = point.extent();
    let away = (point.rate_per_s - low).max(high - point.rate_per_s);
    let times = |ns: Option<f64>| ns.map_or("-".to_owned(), time);
    let errors = if point.errors > 0 { "!" } else { "" };
    [
        format!("{}{errors}", rate(point.rate_per_s)),
        if point.rates_per_s.len() > 1 { percent(away, point.rate_per_s) } else { "-".to_owned() },
        times(point.p99_ns),
        times(point.server_cpu_ns),
    ]
}
