//! The report of a comparison: a row per target, and what may be said about each pair.

use ablaze_model::experiment::{Experiment, JudgedTogether, Results, SKIPPED};
use ablaze_stats::compare::{NotComparable, Outcome};

use super::dashes::dashes;
use super::{WIDTH, failures, worth};
use crate::experiment::comparison::{Against, Answer, Compared, Comparison, Metric, NoInterval};
use crate::experiment::counters;
use crate::experiment::curve::Point;
use crate::number::{amount, counted, percent, rate, time};
use crate::table::{Table, sentence};

const WHOSE_CPU: &str = "CPU/request: of the processes that listen there and those they start; what these call (a backend, a database, \
                         the server behind a proxy) is not in it";

/// The whole report. Where the work differs there is no ranking, unless `rank_anyway`.
pub fn comparison(
    experiment: &Experiment,
    results: &Results,
    comparison: &Comparison,
    judged: &JudgedTogether,
    rank_anyway: bool,
) -> String {
    let unequal = judged.unequal_work();
    let mut lines = vec![what(experiment, results)];
    lines.extend(worth(experiment, results, judged));
    lines.extend(super::partial(experiment, results));
    lines.extend(failures(experiment, results));
    lines.push(String::new());
    // Of targets that all failed for reasons of theirs there is no more to say than that.
    if results.failed().all(|(_, why)| !why.starts_with(SKIPPED))
        && results.measured().next().is_none()
    {
        return lines.join("\n");
    }
    lines.extend(rows(experiment, results, comparison).lines());
    let dashes = dashes(experiment, results, comparison);
    lines.extend(dashes.into_iter().flat_map(|why| sentence("  -  ", &why, WIDTH)));
    lines.extend(what_servers_counted(experiment, results));
    lines.extend(super::of_groups(experiment, results));
    lines.push(String::new());
    if unequal.is_empty() || rank_anyway {
        lines.extend(ratios(experiment, comparison).lines());
        lines.extend(whose_cpu(comparison).map(|text| format!("  {text}")));
    }
    lines.extend(of_ranking(judged, rank_anyway).map(|text| format!("  {text}")));
    lines.push(String::new());
    lines.join("\n")
}

/// That the targets did different work, and what that means for their ratios.
pub(crate) fn of_ranking(judged: &JudgedTogether, ranked: bool) -> Option<&'static str> {
    (!judged.unequal_work().is_empty()).then_some(match ranked {
        true => "the runs are not comparable (D05); ranked anyway, as requested",
        false => "no ranking: the runs are not comparable (D05); --allow-unequal ranks anyway",
    })
}

pub(super) fn what(experiment: &Experiment, results: &Results) -> String {
    if experiment.is_saved() {
        return super::sweep::what(experiment, results);
    }
    let load = &experiment.loads[0];
    format!(
        "{} · {} · {}{} · {}",
        counted(experiment.targets.len() as u64, "target"),
        load.label,
        super::runs_of_each(experiment, results),
        super::in_turns(experiment),
        super::carried_out(
            experiment.fleet.as_ref(),
            &experiment.placement,
            super::starts_all(experiment)
        )
    )
}

fn rows(experiment: &Experiment, results: &Results, comparison: &Comparison) -> Table {
    let mut table = Table::new(&[0]);
    let heads = ["", "rate /s", "slowest–fastest", "p50", "p99", "server CPU/request"];
    table.row(heads.map(String::from).to_vec(), "");
    let named = experiment.targets.iter().zip(&comparison.rows);
    for (at, (target, point)) in named.enumerate() {
        let mut cells = vec![target.name.clone()];
        match point {
            Some(point) => cells.extend(self::cells(point)),
            None => cells.push(results.skipped(at).unwrap_or("not measured").to_owned()),
        }
        table.row(cells, "");
    }
    table
}

/// What built-in servers counted, where responses blocked.
fn what_servers_counted(experiment: &Experiment, results: &Results) -> Vec<String> {
    let shown = counters::any_blocked(results).then(|| counters::table(experiment, results));
    let Some((mut head, rows)) = shown.flatten() else { return Vec::new() };
    head[0] = "per response";
    let mut table = Table::new(&[0]);
    table.row(head.into_iter().map(str::to_owned).collect(), "");
    rows.into_iter().for_each(|row| table.row(row, ""));
    std::iter::once(String::new()).chain(table.lines()).collect()
}

/// The cells of a target, behind its name.
pub(crate) fn cells(point: &Point) -> [String; 5] {
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

/// Two lines for each pair: the metric that decides with the rate, then the times.
fn ratios(experiment: &Experiment, comparison: &Comparison) -> Table {
    let mut table = Table::new(&[0, 1, 2, 3, 4]);
    for against in &comparison.against {
        let name = |at: usize| experiment.targets[at].name.as_str();
        let pair = format!("{} / {}", name(against.target), name(against.control));
        let responses = said(experiment, comparison, against);
        for (line, cells) in responses.chunks(2).enumerate() {
            let first = if line == 0 { pair.clone() } else { String::new() };
            table.row(std::iter::once(first).chain(cells.iter().cloned()).collect(), "");
        }
        table.row(could_show(against).into_iter().collect(), "");
    }
    table
}

/// The same as rows for a page: the pair, and what may be said of each metric.
pub(crate) fn ratio_rows(experiment: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let name = |at: usize| experiment.targets[at].name.as_str();
    let mut rows = Vec::new();
    for against in &comparison.against {
        let pair = format!("{} / {}", name(against.target), name(against.control));
        let [_, could] = could_show(against);
        let said = said(experiment, comparison, against)
            .into_iter()
            .chain((!could.is_empty()).then_some(could));
        rows.extend(
            said.enumerate().map(|(line, said)| {
                vec![if line == 0 { pair.clone() } else { String::new() }, said]
            }),
        );
    }
    rows.extend(whose_cpu(comparison).map(|text| vec![String::new(), text.to_owned()]));
    rows
}

/// What `cheaper` and `costlier` are about, where either is said: a proxy may be cheaper than the server behind it.
fn whose_cpu(comparison: &Comparison) -> Option<&'static str> {
    let told = |compared: &Compared| {
        let is_cpu = compared.metric == Metric::ServerCpu && compared.ratio.is_ok();
        is_cpu && matches!(compared.answer, Some(Answer::Better | Answer::Worse))
    };
    let mut metrics = comparison.against.iter().flat_map(|against| &against.metrics);
    metrics.any(told).then_some(WHOSE_CPU)
}

/// What may be said of a pair: where nothing was measured of one, more runs alone would not help.
fn said(experiment: &Experiment, comparison: &Comparison, against: &Against) -> Vec<String> {
    let is_missing = |at: &usize| comparison.rows.get(*at).is_some_and(Option::is_none);
    let missing = [against.target, against.control].into_iter().filter(is_missing);
    let names: Vec<&str> = missing.map(|at| experiment.targets[at].name.as_str()).collect();
    match names[..] {
        [] => responses(against),
        [one] => vec![format!("not compared: {one} was not measured")],
        _ => vec!["not compared: neither was measured".to_owned()],
    }
}

/// What may be said of each metric; the first decides.
fn responses(against: &Against) -> Vec<String> {
    let mut cells = Vec::new();
    for compared in &against.metrics {
        let name = compared.metric.name();
        match (&compared.ratio, compared.answer) {
            (Ok(ratio), Some(answer)) => {
                let word = word(compared, answer);
                let [middle, low, high] = [ratio.ratio, ratio.low, ratio.high].map(amount);
                let among = compared.among_several.map_or(String::new(), |among| {
                    let [low, high] = [among.low, among.high].map(amount);
                    format!(": [{low}, {high}] as one of {}", among.questions)
                });
                cells.push(format!("{name} {middle} [{low}, {high}]  {word}{among}"));
            }
            // Said once: it is the same for all metrics.
            (Err(NoInterval::Pairs(NotComparable::NotEnoughRuns { pairs })), _) => {
                let pairs = counted(*pairs as u64, "pair");
                cells.push(format!("not enough runs: {pairs}, at least 6 are needed"));
                break;
            }
            (Err(NoInterval::NotInTurns { plain: Some(plain), .. }), _) => {
                cells.push(format!("{name} {}", amount(*plain)));
            }
            (Err(error), _) => cells.push(format!("{name}: {error}")),
            (Ok(_), None) => {}
        }
    }
    cells
}

/// Where no difference was shown by the metric that decides: how large one would have had to be.
fn could_show(against: &Against) -> [String; 2] {
    if let Some(Err(why @ NoInterval::NotInTurns { .. })) = against.headline().map(|c| c.ratio) {
        return [String::new(), why.to_string()];
    }
    let headline = against.headline().filter(|c| c.answer == Some(Answer::NoDifferenceShown));
    let said = headline.and_then(|compared| Some((compared, compared.ratio.ok()?)));
    let said = said.map(|(compared, ratio)| {
        if ratio.outcome() != Outcome::NoDifferenceShown {
            return "a difference alone, but not as one of several questions".to_owned();
        }
        let (pairs, share) = (counted(ratio.pairs as u64, "pair"), percent(ratio.could_show, 1.0));
        let metric = compared.metric.name();
        format!("{pairs} this noisy can show a difference of {share} or more in {metric}")
    });
    [String::new(), said.unwrap_or_default()]
}

fn word(compared: &Compared, answer: Answer) -> &'static str {
    use crate::experiment::comparison::Metric::*;
    match (answer, compared.metric) {
        (Answer::NoDifferenceShown, _) => "no difference shown",
        (Answer::Better, ServerCpu) => "cheaper",
        (Answer::Worse, ServerCpu) => "costlier",
        (Answer::Better, Rate | Median | P99) => "faster",
        (Answer::Worse, Rate | Median | P99) => "slower",
    }
}
