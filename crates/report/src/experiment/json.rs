//! What experiments print with `--json`: the figures that the tables show, unrounded. Times are in
//! nanoseconds, rates per second; what was not seen is null.

use ablaze_model::experiment::{
    Experiment, GroupFigures, JudgedTogether, Results, Search, Searched, Stage, Trial,
};
use ablaze_model::finding::Finding;
use ablaze_model::printable;
use ablaze_stats::rate_search::{Found, Trial as StageTrial};
use serde_json::{Value, json};

use super::comparison::{Against, Answer, Comparison, NoInterval};
use super::curve::{Curve, Point};
use super::stages;

/// A sweep: a curve per target, a point per load.
pub fn sweep(
    experiment: &Experiment,
    results: &Results,
    curves: &[Curve],
    judged: &JudgedTogether,
) -> String {
    let curve = |curve: &Curve| {
        let points: Vec<Value> = experiment
            .loads
            .iter()
            .zip(&curve.points)
            .enumerate()
            .map(|(at, (load, p))| {
                json!({"load": load.label, "x": load.x, "values": values(experiment, at),
                    "point": p.as_ref().map(point)})
            })
            .collect();
        json!({"target": curve.name, "points": points})
    };
    let curves: Vec<Value> = curves.iter().map(curve).collect();
    printed(
        &json!({"experiment": experiment, "verdict": judged.verdict.to_string(), "curves": curves, "trials": trials(experiment, results),
        "findings": together(judged),
        "interrupted": results.interrupted, "unsaved": results.unsaved}),
    )
}

/// A comparison: a row per target, the ratios of each pair if they are to be `ranked`.
pub fn comparison(
    experiment: &Experiment,
    results: &Results,
    comparison: &Comparison,
    judged: &JudgedTogether,
    ranked: bool,
) -> String {
    let name = |at: usize| experiment.targets[at].name.as_str();
    let rows: Vec<Value> = comparison
        .rows
        .iter()
        .enumerate()
        .map(|(at, p)| json!({"target": name(at), "point": p.as_ref().map(point)}))
        .collect();
    let against: Vec<Value> = comparison
        .against
        .iter()
        .map(|against| {
            json!({"target": name(against.target), "against": name(against.control),
                "metrics": metrics(against, ranked)})
        })
        .collect();
    printed(&json!({"experiment": experiment, "verdict": judged.verdict.to_string(), "rows": rows,
        "ratios": against, "findings": together(judged), "trials": trials(experiment, results),
        "interrupted": results.interrupted, "unsaved": results.unsaved}))
}

/// A search: the answer and every stage.
pub fn search(search: &Search, searched: &Searched) -> String {
    let columns = stages::columns(search);
    let stages: Vec<Value> = searched.stages.iter().map(|one| stage(one, &columns)).collect();
    printed(&json!({"search": search, "found": searched.found.map(found),
        "verdict": super::text::verdict(searched).to_string(), "stages": stages,
        "interrupted": searched.interrupted, "gone": searched.gone}))
}

/// What a load has on each axis, by the axis's name.
fn values(experiment: &Experiment, load: usize) -> Value {
    let axes = experiment.axes.iter().zip(experiment.values_of(load));
    axes.map(|(axis, value)| (axis.name.clone(), json!(value.text))).collect()
}

/// What was found in the runs beside each other.
fn together(judged: &JudgedTogether) -> Vec<Value> {
    findings(&judged.findings)
}

/// With their sentences, as a single run has them.
fn findings(findings: &[Finding]) -> Vec<Value> {
    findings.iter().map(|finding| json!(crate::json::found(finding))).collect()
}

fn printed(value: &Value) -> String {
    format!("{}\n", printable::json(&format!("{value:#}")))
}

fn point(point: &Point) -> Value {
    json!({"rate_per_s": point.rate_per_s, "rates_per_s": point.rates_per_s, "p50_ns": point.p50_ns,
        "p99_ns": point.p99_ns, "server_cpu_ns": point.server_cpu_ns, "errors": point.errors,
        "verdict": point.verdict.to_string()})
}

/// The ratios; without their figures where targets did different work, as there is no ranking then.
fn metrics(against: &Against, ranked: bool) -> Vec<Value> {
    let metric = |compared: &super::comparison::Compared| {
        let name = compared.metric.name();
        let answer = compared.answer.map(|answer| match answer {
            Answer::Better => "better",
            Answer::Worse => "worse",
            Answer::NoDifferenceShown => "no difference shown",
        });
        match &compared.ratio {
            _ if !ranked => {
                json!({"metric": name, "ratio": null, "why": "the runs are not comparable (D05)"})
            }
            Ok(ratio) => {
                let mut value = json!({"metric": name, "ratio": ratio.ratio, "low": ratio.low,
                    "high": ratio.high, "pairs": ratio.pairs, "could_show": ratio.could_show,
                    "p_value": ratio.p_value, "answer": answer});
                if let Some(among) = compared.among_several {
                    value["among_several"] = json!({"questions": among.questions,
                        "low": among.low, "high": among.high});
                }
                value
            }
            Err(
                why @ (NoInterval::Pairs(_) | NoInterval::Missing { .. } | NoInterval::AsRequested),
            ) => {
                json!({"metric": name, "ratio": null, "why": why.to_string()})
            }
            Err(why @ NoInterval::NotInTurns { plain, .. }) => {
                json!({"metric": name, "ratio": null, "plain_ratio": plain, "why": why.to_string()})
            }
        }
    };
    against.metrics.iter().map(metric).collect()
}

fn trials(experiment: &Experiment, results: &Results) -> Vec<Value> {
    let named = |trial: Trial| {
        json!({"target": experiment.targets[trial.target].name,
            "load": experiment.loads[trial.load].label, "repeat": trial.repeat + 1,
            "run": format!("{}.json", experiment.stem(trial))})
    };
    let mut all: Vec<Value> = Vec::new();
    for (trial, run) in results.measured() {
        let mut value = named(trial);
        value["started_unix_ns"] = run.started_unix_ns.into();
        value["elapsed_ns"] = run.elapsed_ns.into();
        value["responses"] = run.responses.into();
        value["errors"] = run.errors.into();
        value["unexpected"] = run.unexpected.into();
        value["rate_per_s"] = run.rate_per_s.into();
        value["mean_ns"] = run.mean_ns.into();
        value["p50_ns"] = run.p50_ns.into();
        value["p99_ns"] = run.p99_ns.into();
        value["server_cpu_ns"] = run.server_cpu_ns.into();
        value["client_cpu_ns"] = run.client_cpu_ns.into();
        value["verdict"] = run.verdict.to_string().into();
        value["limited_by"] = run.limit.key().into();
        value["server_counters"] = json!(run.counted);
        value["findings"] = findings(&run.findings).into();
        let groups: Vec<Value> = run.groups.iter().filter_map(group).collect();
        if !groups.is_empty() {
            value["groups"] = groups.into();
        }
        if let Some((passed, checked)) = run.checks {
            value["checks"] = json!({"passed": passed, "checked": checked});
        }
        all.push(value);
    }
    for (trial, why) in results.failed() {
        let mut value = named(trial);
        // What failed is no run that could be read.
        value["run"] = Value::Null;
        value["failed"] = why.into();
        all.push(value);
    }
    all
}

/// A group, a step or journeys; the run as a whole stands beside them.
fn group(group: &GroupFigures) -> Option<Value> {
    let mut value = json!({"name": group.name.as_ref()?, "journeys": group.is_journeys,
        "responses": group.responses, "errors": group.errors, "unexpected": group.unexpected,
        "rate_per_s": group.rate_per_s, "mean_ns": group.mean_ns, "max_ns": group.max_ns});
    for (percent, ns) in GroupFigures::PERCENTILES.into_iter().zip(group.percentiles_ns) {
        value[format!("p{percent}_ns")] = json!(ns);
    }
    Some(value)
}

fn found(found: Found) -> Value {
    match found {
        Found::Limit { holds_per_s, fails_per_s } => {
            json!({"answer": "limit", "holds_per_s": holds_per_s, "fails_per_s": fails_per_s})
        }
        Found::HighestHolds { holds_per_s } => {
            json!({"answer": "highest permitted holds", "holds_per_s": holds_per_s})
        }
        Found::LowestFails { fails_per_s } => {
            json!({"answer": "lowest permitted does not hold", "fails_per_s": fails_per_s})
        }
        Found::LimitedByClient { holds_per_s, limited_at_per_s } => json!({
            "answer": "limited by the client", "holds_per_s": holds_per_s,
            "limited_at_per_s": limited_at_per_s}),
        Found::Undecided { holds_per_s, trials } => {
            json!({"answer": "undecided", "holds_per_s": holds_per_s, "stages": trials})
        }
    }
}

fn stage(stage: &Stage, columns: &[String]) -> Value {
    let outcome = match stage.trial {
        StageTrial::Holds => "holds",
        StageTrial::Fails if stage.undecided => "not judged",
        StageTrial::Fails => "does not hold",
        StageTrial::LimitedByClient => "not offered",
    };
    let measured = stage.measured.as_ref();
    let values = measured.map(|_| {
        let values = stages::values(stage, columns).into_iter();
        values.map(|(name, value)| (name, json!(value))).collect::<Value>()
    });
    json!({"asked_per_s": stage.asked_per_s, "again": stage.confirming, "outcome": outcome,
        "why": stage.why, "answered_per_s": measured.map(|m| m.answered_per_s),
        "figures": measured.map(|m| &m.figures), "values": values, "run": stage.run, "verdict": measured.map(|m| m.verdict.to_string()),
        "findings": measured.map(|m| findings(&m.findings))})
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
