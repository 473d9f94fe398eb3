//! The table of a sweep: a row per load, a group of columns per target.

use ablaze_model::experiment::{Experiment, JudgedTogether, Results, SKIPPED, Target};

use super::{failures, worth};
use crate::experiment::curve::{Curve, Pick, Point};
use crate::number::{counted, percent, rate, time};
use crate::table::Table;

/// The whole report of a sweep.
pub fn sweep(
    experiment: &Experiment,
    results: &Results,
    judged: &JudgedTogether,
    pick: Pick,
) -> String {
    let mut lines = worth(experiment, results, judged);
    lines.push(what(experiment, results));
    if results.interrupted {
        lines.push(super::partial(experiment, results));
    }
    lines.extend(failures(experiment, results));
    let names = experiment.targets.iter().enumerate();
    let skipped = |(at, target): (usize, &Target)| {
        Some(format!("  {} {}", target.name, results.skipped(at)?))
    };
    lines.extend(names.filter_map(skipped));
    let curves = Curve::all(experiment, results, pick);
    lines.push(String::new());
    lines.extend(table(experiment, &curves).lines());
    let repeats = experiment.repeats;
    let drawn = match pick {
        Pick::Median if repeats == 1 => "one run each: the spread between runs is unknown".into(),
        Pick::Median => format!("median of {repeats} runs, ± the distance to the farthest"),
        Pick::Best => format!("best of {repeats} runs, ± the distance to the farthest"),
    };
    lines.push(format!("  rate: {drawn}; p99 and CPU: median of the runs"));
    lines.push(String::new());
    lines.join("\n")
}

/// How large the experiment is, and who had which processors.
pub(crate) fn what(experiment: &Experiment, results: &Results) -> String {
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
        counted(experiment.loads.len() as u64, "load"),
        counted(u64::from(experiment.repeats), "run"),
        super::in_turns(experiment),
        experiment.placement.in_words()
    )
}

fn table(experiment: &Experiment, curves: &[Curve]) -> Table {
    let mut table = Table::new(&[0]);
    let mut names = vec![String::new()];
    let mut heads = vec!["load".to_owned()];
    for curve in curves {
        names.extend([curve.name.clone(), String::new(), String::new(), String::new()]);
        heads.extend(["rate /s", "±", "p99", "CPU/req"].map(String::from));
    }
    table.row(names, "");
    table.row(heads, "");
    for (at, load) in experiment.loads.iter().enumerate() {
        let mut cells = vec![load.label.clone()];
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
