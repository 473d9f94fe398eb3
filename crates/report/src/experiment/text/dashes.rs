//! What a `-` in the table of a comparison or a sweep means.

use ablaze_model::experiment::{Experiment, Figures, Results};
use ablaze_model::finding::{DiagnosisId, Severity};
use ablaze_stats::order;

use crate::experiment::comparison::Comparison;
use crate::experiment::curve::Curve;
use crate::number::grouped;

/// Why figures are missing of targets that were measured: a sentence for each column.
pub(crate) fn dashes(
    experiment: &Experiment,
    results: &Results,
    comparison: &Comparison,
) -> Option<String> {
    let measured =
        || comparison.rows.iter().enumerate().filter_map(|(at, p)| Some((at, p.as_ref()?)));
    let runs = |at: usize| results.of(at, 0);
    let lacking = |is_missing: &dyn Fn(&Figures) -> bool, targets: Vec<usize>| -> Vec<&Figures> {
        let all = targets.into_iter().filter(|at| *at < experiment.targets.len()).flat_map(runs);
        all.filter(|run| is_missing(run)).collect()
    };
    let of_p50 = measured().filter(|(_, point)| point.p50_ns.is_none()).map(|(at, _)| at).collect();
    let of_p99 = measured().filter(|(_, point)| point.p99_ns.is_none()).map(|(at, _)| at).collect();
    let of_cpu = measured().filter(|(_, point)| point.server_cpu_ns.is_none());
    let of_cpu = of_cpu.map(|(at, _)| at).collect();
    let said = [
        too_few("p50", 0.5, &lacking(&|run| run.p50_ns.is_none(), of_p50)),
        too_few("p99", 0.99, &lacking(&|run| run.p99_ns.is_none(), of_p99)),
        no_cpu_time(&lacking(&|run| run.server_cpu_ns.is_none(), of_cpu)),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| format!("in half of the runs or more: {}", said.join("; ")))
}

/// Why figures are missing in cells of a sweep that were measured: half of their runs or more have none.
pub(crate) fn dashes_of_sweep(results: &Results, curves: &[Curve]) -> Option<String> {
    let (mut of_p99, mut of_cpu) = (Vec::new(), Vec::new());
    for (target, curve) in curves.iter().enumerate() {
        for (load, point) in curve.points.iter().enumerate() {
            let Some(point) = point else { continue };
            let runs = || results.of(target, load).into_iter();
            if point.p99_ns.is_none() {
                of_p99.extend(runs().filter(|run| run.p99_ns.is_none()));
            }
            if point.server_cpu_ns.is_none() {
                of_cpu.extend(runs().filter(|run| run.server_cpu_ns.is_none()));
            }
        }
    }
    let said = [too_few("p99", 0.99, &of_p99), no_cpu_time(&of_cpu)];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Of a percentile, where all of these runs lack it.
fn too_few(name: &str, q: f64, runs: &[&Figures]) -> Option<String> {
    let needed = order::count_needed(q, order::CONFIDENCE);
    if runs.is_empty() {
        return None;
    }
    Some(match runs.iter().all(|run| run.responses < needed) {
        true => format!("too few responses for {name}, which needs {}", grouped(needed)),
        false => format!("{name} is not known"),
    })
}

/// Of the server's CPU time.
fn no_cpu_time(runs: &[&Figures]) -> Option<String> {
    let of_others = |run: &&Figures| {
        let mut found = run.findings.iter();
        found.any(|finding| finding.id == DiagnosisId::D26 && finding.severity > Severity::Note)
    };
    if runs.is_empty() {
        return None;
    }
    Some(match runs.iter().all(of_others) {
        true => "the server's CPU time is not that of these requests (D26)".to_owned(),
        false => "the server's CPU time is not known: its process is on another host or of another user, was seen for too short a \
                  time, or started others that ended"
            .to_owned(),
    })
}
