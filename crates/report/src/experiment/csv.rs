//! The runs of an experiment or a search for spreadsheets: one row each, one column per figure.
//! Times are in nanoseconds, rates per second; what was not seen is empty (RFC 4180).

use ablaze_model::experiment::{Experiment, Figures, Outcome, Results, Search, Searched};
use ablaze_stats::rate_search::Trial as StageTrial;

use super::{groups, stages};

/// Every trial of an experiment, in the order in which they were run.
pub fn experiment(experiment: &Experiment, results: &Results) -> String {
    let mut text = String::from(
        "target,load,x,repeat,started_unix_ns,elapsed_ns,responses,errors,unexpected,rate_per_s,mean_ns,\
         p50_ns,p99_ns,server_cpu_ns,client_cpu_ns,verdict,limited_by,failed,run",
    );
    let names = groups::names(results);
    let has_checks = results.measured().any(|(_, run)| run.checks.is_some());
    text.push_str(&more_columns(&names, has_checks));
    // Behind the others, so that these keep their places.
    for axis in &experiment.axes {
        text.push(',');
        text.push_str(&quoted(&axis.name));
    }
    text.push_str("\r\n");
    for (trial, outcome) in &results.trials {
        let load = &experiment.loads[trial.load];
        let mut cells = vec![
            experiment.targets[trial.target].name.clone(),
            load.label.clone(),
            load.x.map_or(String::new(), |x| x.to_string()),
            (trial.repeat + 1).to_string(),
        ];
        match outcome {
            Outcome::Measured(figures) => {
                cells.extend(of_run(figures));
                cells.extend([String::new(), format!("runs/{}.json", experiment.stem(*trial))]);
                cells.extend(of_groups(figures, &names, has_checks));
            }
            Outcome::Failed(why) => {
                cells.extend(std::iter::repeat_n(String::new(), 13));
                cells.extend([why.clone(), String::new()]);
                let more = names.len() * OF_GROUP.len() + if has_checks { 2 } else { 0 };
                cells.extend(std::iter::repeat_n(String::new(), more));
            }
        }
        cells.extend(experiment.values_of(trial.load).iter().map(|value| value.text.clone()));
        row(&cells, &mut text);
    }
    text
}

/// The columns of each group, step and journey, behind its name and a dot.
const OF_GROUP: [&str; 6] = ["responses", "errors", "rate_per_s", "p50_ns", "p95_ns", "p99_ns"];

fn more_columns(names: &[String], has_checks: bool) -> String {
    let of_groups = names.iter().flat_map(|name| OF_GROUP.map(|column| format!("{name}.{column}")));
    let of_checks = ["checks_passed", "checks"].map(str::to_owned).into_iter();
    let columns = of_groups.chain(of_checks.filter(|_| has_checks));
    columns.map(|column| format!(",{}", quoted(&column))).collect()
}

fn of_groups(run: &Figures, names: &[String], has_checks: bool) -> Vec<String> {
    let broken = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.1}"));
    let mut cells = Vec::new();
    for name in names {
        let Some(group) = groups::group_of(run, name) else {
            cells.extend(OF_GROUP.map(|_| String::new()));
            continue;
        };
        cells.extend([group.responses, group.errors].map(|count| count.to_string()));
        cells.push(group.rate_per_s.map_or(String::new(), |rate| format!("{rate:.3}")));
        cells.extend([50.0, 95.0, 99.0].map(|percent| broken(group.percentile_ns(percent))));
    }
    if has_checks {
        let (passed, all) = run.checks.unzip();
        cells.extend([passed, all].map(|count| count.map_or(String::new(), |n| n.to_string())));
    }
    cells
}

fn of_run(run: &Figures) -> Vec<String> {
    let whole = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    let broken = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.1}"));
    vec![
        run.started_unix_ns.to_string(),
        run.elapsed_ns.to_string(),
        run.responses.to_string(),
        run.errors.to_string(),
        run.unexpected.to_string(),
        format!("{:.3}", run.rate_per_s),
        broken(run.mean_ns),
        whole(run.p50_ns),
        whole(run.p99_ns),
        broken(run.server_cpu_ns),
        broken(run.client_cpu_ns),
        run.verdict.to_string(),
        run.limit.key().to_owned(),
    ]
}

/// Every stage of a search, with the figure of each condition.
pub fn search(search: &Search, searched: &Searched) -> String {
    let columns = stages::columns(search);
    let mut text = String::new();
    let head = "stage,asked_per_s,again,outcome,answered_per_s,verdict,why,run".split(',');
    let mut names: Vec<String> = head.map(str::to_owned).collect();
    // Behind the others, so that these keep their places.
    for name in &columns {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    row(&names, &mut text);
    for (number, stage) in (1..).zip(&searched.stages) {
        let measured = stage.measured.as_ref();
        let mut cells = vec![
            i32::to_string(&number),
            format!("{:.3}", stage.asked_per_s),
            stage.confirming.to_string(),
            match stage.trial {
                StageTrial::Holds => "holds",
                StageTrial::Fails if stage.undecided => "not judged",
                StageTrial::Fails => "fails",
                StageTrial::LimitedByClient => "not offered",
            }
            .to_owned(),
            measured.map_or(String::new(), |measured| format!("{:.3}", measured.answered_per_s)),
            measured.map_or(String::new(), |measured| measured.verdict.to_string()),
            stage.why.clone().unwrap_or_default(),
            stage.run.as_ref().map_or(String::new(), |run| format!("runs/{run}")),
        ];
        let values = stages::values(stage, &columns).into_iter();
        cells.extend(
            values.map(|(_, value)| value.map_or(String::new(), |value| value.to_string())),
        );
        row(&cells, &mut text);
    }
    text
}

fn row(cells: &[String], text: &mut String) {
    text.push_str(&cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(","));
    text.push_str("\r\n");
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::experiment::{Measured, Stage, Trial};
    use ablaze_model::finding::Verdict;
    use ablaze_testing::experiments;

    #[test]
    fn every_trial_has_a_row_of_as_many_cells() {
        let mut of = experiments::experiment();
        of.targets[1].name = "other, or \"none\"".to_owned();
        let trial = |target| Trial { repeat: 0, load: 0, target };
        let trials = vec![
            (trial(0), Outcome::Measured(Box::new(experiments::figures(1000.0)))),
            (trial(1), Outcome::Failed("gone".to_owned())),
        ];
        let text = experiment(&of, &Results { trials, ..Results::default() });
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 3);
        let cells = |line: &str| line.split(',').count();
        assert_eq!(cells(lines[0]), cells(lines[1]));
        assert!(lines[1].starts_with("one,c=10,10,1,0,10000000000,10000,0,0,1000.000,"), "{text}");
        // The comma in its name stands in quotes.
        assert!(lines[2].starts_with("\"other, or \"\"none\"\"\",c=10,10,1,,"), "{text}");
        assert!(lines[2].ends_with(",gone,") && cells(lines[2]) == cells(lines[0]) + 1, "{text}");
    }
    #[test]
    fn a_stage_has_the_figures_that_the_search_is_about() {
        let measured = Measured {
            answered_per_s: 990.0,
            figures: vec![Some("19.2 ms".to_owned()), None],
            values: vec![Some(19_234_567.0), None],
            unsupported: Vec::new(),
            verdict: Verdict::Valid,
            findings: Vec::new(),
        };
        let stage = |run: Option<&str>, measured| Stage {
            asked_per_s: 1000.0,
            confirming: false,
            trial: StageTrial::Holds,
            why: None,
            undecided: false,
            run: run.map(str::to_owned),
            measured,
        };
        let stages = vec![stage(Some("01-1000.json"), Some(measured)), stage(None, None)];
        let searched = Searched { stages, ..Searched::default() };
        let text = search(&experiments::search("p99<20ms,errors<0.1%"), &searched);
        assert_eq!(
            text,
            "stage,asked_per_s,again,outcome,answered_per_s,verdict,why,run,p99_ns,errors_percent\r\n\
             1,1000.000,false,holds,990.000,VALID,,runs/01-1000.json,19234567,\r\n\
             2,1000.000,false,holds,,,,,,\r\n"
        );
    }
}
