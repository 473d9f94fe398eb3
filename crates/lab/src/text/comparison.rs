//! The report of a comparison: a row per target, and what may be said about each pair.

use ablaze_report::number::{counted, grouped, time};
use ablaze_report::table::Table;
use ablaze_stats::compare::NotComparable;

use ablaze_verdict::several::Several;

use super::{all_runs, failures, findings, together};
use crate::beside::unequal_work;
use crate::comparison::{Against, Answer, Compared, Comparison};
use crate::curve::Point;
use crate::experiment::{Experiment, Figures, Results};

/// The whole report. Where the work differs there is no ranking, unless `rank_anyway`.
pub fn comparison(
    experiment: &Experiment,
    results: &Results,
    comparison: &Comparison,
    several: Option<&Several>,
    rank_anyway: bool,
) -> String {
    let unequal = several.map(unequal_work).unwrap_or_default();
    let runs: Vec<&Figures> = results.measured().map(|(_, figures)| figures).collect();
    let mut lines = vec![what(experiment)];
    if runs.is_empty() {
        lines.push("nothing was measured".to_owned());
    } else {
        lines.push(all_runs(&runs));
        lines.extend(findings(experiment, results));
        lines.extend(several.map(together).unwrap_or_default());
    }
    if results.interrupted {
        lines.push("interrupted: the results up to then".to_owned());
    }
    lines.extend(failures(experiment, results));
    lines.push(String::new());
    lines.extend(rows(experiment, comparison).lines());
    lines.push(String::new());
    if unequal.is_empty() || rank_anyway {
        lines.extend(ratios(experiment, comparison).lines());
    }
    if !unequal.is_empty() {
        lines.push(match rank_anyway {
            true => "  the work is not equal; ranked all the same, as asked:".to_owned(),
            false => "  no ranking: the work is not equal (--allow-unequal ranks all the same):"
                .to_owned(),
        });
        let evidence = unequal.iter().flat_map(|finding| finding.evidence.lines());
        lines.extend(evidence.map(|difference| format!("    {difference}")));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn what(experiment: &Experiment) -> String {
    let load = &experiment.loads[0];
    format!(
        "{} · {} · {} of each, interleaved · {}",
        counted(experiment.subjects.len() as u64, "target"),
        load.label,
        counted(u64::from(experiment.repeats), "run"),
        experiment.placement.in_words()
    )
}

fn rows(experiment: &Experiment, comparison: &Comparison) -> Table {
    let mut table = Table::new(&[0]);
    let heads = ["", "rate /s", "slowest–fastest", "p50", "p99", "server CPU/request"];
    table.row(heads.map(String::from).to_vec(), "");
    for (subject, point) in experiment.subjects.iter().zip(&comparison.rows) {
        let mut cells = vec![subject.name.clone()];
        match point {
            Some(point) => cells.extend(row(point)),
            None => cells.push("not measured".to_owned()),
        }
        table.row(cells, "");
    }
    table
}

fn row(point: &Point) -> [String; 5] {
    let rate = |per_s: f64| grouped(per_s.round() as u64);
    let times = |ns: Option<f64>| ns.map_or("-".to_owned(), time);
    let (slowest, fastest) = point.extent();
    [
        rate(point.rate_per_s),
        format!("{}–{}", rate(slowest), rate(fastest)),
        times(point.p50_ns),
        times(point.p99_ns),
        times(point.server_cpu_ns),
    ]
}

fn ratios(experiment: &Experiment, comparison: &Comparison) -> Table {
    let mut table = Table::new(&[0, 1, 2, 3, 4]);
    for against in &comparison.against {
        let name = |at: usize| experiment.subjects[at].name.as_str();
        let mut cells = vec![format!("{} / {}", name(against.subject), name(against.control))];
        cells.extend(answers(against));
        table.row(cells, "");
    }
    table
}

/// What may be said of each metric; the first decides and says what could have been shown.
fn answers(against: &Against) -> Vec<String> {
    let mut cells = Vec::new();
    for (at, compared) in against.metrics.iter().enumerate() {
        match (&compared.ratio, compared.answer) {
            (Ok(ratio), Some(answer)) => {
                let word = word(compared, answer);
                let could = match answer {
                    Answer::NoDifferenceShown if at == 0 => format!(
                        " ({} can show {:.1} % or more)",
                        counted(ratio.pairs as u64, "pair"),
                        ratio.could_show * 100.0
                    ),
                    _ => String::new(),
                };
                cells.push(format!(
                    "{} {:.2} [{:.2}, {:.2}]  {word}{could}",
                    compared.metric.name(),
                    ratio.ratio,
                    ratio.low,
                    ratio.high
                ));
            }
            // Said once: it is the same for all metrics.
            (Err(NotComparable::NotEnoughRuns { pairs }), _) => {
                cells.push(format!(
                    "not enough runs: {}, 6 are the least that can show anything",
                    counted(*pairs as u64, "pair")
                ));
                break;
            }
            (Err(error), _) => cells.push(format!("{}: {error}", compared.metric.name())),
            (Ok(_), None) => {}
        }
    }
    cells
}

fn word(compared: &Compared, answer: Answer) -> &'static str {
    use crate::comparison::Metric::*;
    match (answer, compared.metric) {
        (Answer::NoDifferenceShown, _) => "no difference shown",
        (Answer::Better, ServerCpu) => "cheaper",
        (Answer::Worse, ServerCpu) => "dearer",
        (Answer::Better, Rate | Median | P99) => "faster",
        (Answer::Worse, Rate | Median | P99) => "slower",
    }
}
