//! The machines that carried the runs of an experiment out together: which of them was slower, busier or lost, over all
//! runs of a target. Each run in the folder has its machines over time.

use ablaze_model::Run;
use ablaze_model::experiment::Experiment;
use ablaze_model::fleet::FleetWorker;
use ablaze_stats::repeats::median;

use super::pooled::Pooled;
use crate::fleet::{HEAD, limit_of};
use crate::number::{grouped, percent, rate, time};
use crate::page::{Block, Section, TableBlock, fleet};

/// The same machine in each of these runs, in the order of the runs.
pub(super) type Workers = Vec<Vec<FleetWorker>>;

/// Adds the machines of one more run, without their courses.
pub(super) fn add(workers: &mut Workers, run: &Run) {
    for worker in run.fleet.iter().flat_map(|fleet| &fleet.workers) {
        let worker = FleetWorker { over_time: None, busy_over_time: None, ..worker.clone() };
        let is_same = |of: &&mut Vec<FleetWorker>| of.iter().any(|one| one.name == worker.name);
        match workers.iter_mut().find(is_same) {
            Some(of) => of.push(worker),
            None => workers.push(vec![worker]),
        }
    }
}

/// A table for each target under each load that is shown; `None` where one machine did it all.
pub(super) fn section(experiment: &Experiment, pooled: &[Pooled]) -> Option<Section> {
    let by_fleet = pooled.iter().filter(|pooled| !pooled.workers.is_empty());
    let blocks: Vec<Block> = by_fleet.flat_map(|pooled| of_target(experiment, pooled)).collect();
    (!blocks.is_empty()).then(|| Section { heading: HEADING.to_owned(), blocks })
}

/// Those of the one run that stands for a search, over time too.
pub(super) fn of_one_run(run: &Run) -> Option<Section> {
    let section = fleet::section(run)?;
    Some(Section { heading: format!("{HEADING} in that stage"), ..section })
}

const HEADING: &str = "Workers";

const CAPTION: &str = "Medians of the runs; the errors of all runs. CPU: the busiest thread of a worker. Each run in \
                       `runs/` has its workers over time.";

fn of_target(experiment: &Experiment, pooled: &Pooled) -> [Block; 2] {
    let label = match experiment.is_saved() {
        true => String::new(),
        false => format!(", {}", experiment.loads[pooled.load].label),
    };
    let by = pooled.first.fleet.as_ref().map_or("", |fleet| fleet.by.as_str());
    let name = &experiment.targets[pooled.target].name;
    let what = Block::Remark(format!("{name}{label}, by {by}:"));
    let mut table =
        Block::table(&HEAD, pooled.workers.iter().map(|of| row(of, pooled.runs)).collect());
    if let Block::Table(TableBlock { caption, ends_in_words, .. }) = &mut table {
        *caption = CAPTION.to_owned();
        *ends_in_words = true;
    }
    [what, table]
}

/// One machine over all runs.
fn row(of: &[FleetWorker], runs: u64) -> Vec<String> {
    let middle = |figure: &dyn Fn(&FleetWorker) -> Option<f64>, shown: &dyn Fn(f64) -> String| {
        let figures: Vec<f64> = of.iter().filter(|one| one.counted).filter_map(figure).collect();
        median(&figures).map_or_else(|| "-".to_owned(), shown)
    };
    let host = of.iter().find_map(|one| one.machine.as_ref());
    vec![
        of[0].name.clone(),
        host.map_or_else(|| "-".to_owned(), |machine| machine.host.clone()),
        middle(&FleetWorker::rate_per_s, &rate),
        middle(&|one| one.p50_ns.map(|ns| ns as f64), &time),
        middle(&|one| one.p99_ns.map(|ns| ns as f64), &time),
        grouped(of.iter().map(|one| one.failures).sum()),
        middle(&|one| one.busy, &|busy| percent(busy, 1.0)),
        limits(of, runs),
    ]
}

/// `the server`, or where the runs differ `the server in 3 of 5 runs, lost in 2`.
fn limits(of: &[FleetWorker], runs: u64) -> String {
    let mut said: Vec<(String, u64)> = Vec::new();
    for word in of.iter().map(limit_of) {
        match said.iter_mut().find(|(one, _)| *one == word) {
            Some((_, count)) => *count += 1,
            None => said.push((word, 1)),
        }
    }
    said.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match &said[..] {
        [(word, count)] if *count == runs => word.clone(),
        _ => {
            let each = said.iter().enumerate().map(|(at, (word, count))| match at {
                0 => format!("{word} in {count} of {runs} runs"),
                _ => format!("{word} in {count}"),
            });
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::{Fleet, WorkerLimit};
    use ablaze_testing::experiments::experiment;

    use super::*;
    use crate::page::Page;

    fn run(rates: [Option<u64>; 2]) -> Run {
        let worker = |(name, rate): (&str, Option<u64>)| FleetWorker {
            name: name.to_owned(),
            counted: rate.is_some(),
            lost: rate.is_none().then(|| "ended".to_owned()),
            responses: rate.unwrap_or(7) * 2,
            failures: 3,
            elapsed_ns: 2_000_000_000,
            p99_ns: Some(5_000_000),
            busy: rate.map(|_| 0.31),
            limit: rate.map(|_| WorkerLimit { key: "server".to_owned(), text: String::new() }),
            ..FleetWorker::default()
        };
        let mut run = crate::sample::ordinary();
        let workers = ["a", "b"].into_iter().zip(rates).map(worker).collect();
        run.fleet = Some(Box::new(Fleet { by: "ssh".to_owned(), workers, ..Fleet::default() }));
        run
    }

    fn tables(section: &Section) -> Vec<&Vec<Vec<String>>> {
        let rows = |block: &'_ Block| matches!(block, Block::Table(_));
        let tables = section.blocks.iter().filter(|block| rows(block));
        tables
            .filter_map(|block| match block {
                Block::Table(TableBlock { table, .. }) => Some(&table.rows),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn each_worker_has_the_medians_of_the_runs_in_which_it_had_a_part() {
        let mut one = Pooled::of(0, 0, run([Some(100), Some(900)]));
        one.add(&run([Some(300), Some(800)]));
        one.add(&run([Some(200), None]));
        let alone = Pooled::of(1, 0, crate::sample::ordinary());
        let section = section(&experiment(), &[one, alone]).unwrap();
        let [rows] = tables(&section)[..] else { panic!("{section:?}") };
        assert_eq!(rows[0][..3], ["a", "-", "200"].map(String::from));
        assert_eq!(rows[0][5..], ["9", "31 %", "the server"].map(String::from));
        // The third run has no figures of it.
        assert_eq!(rows[1][2], "850");
        assert_eq!(rows[1][7], "the server in 2 of 3 runs, lost in 1");
        let page = Page { sections: vec![section], ..Page::new("x") };
        assert!(page.html().contains("<h2>Workers</h2>"), "{}", page.html());
    }

    #[test]
    fn nothing_is_said_of_workers_where_one_machine_did_it_all() {
        let alone = Pooled::of(0, 0, crate::sample::ordinary());
        assert!(section(&experiment(), &[alone]).is_none());
        assert!(of_one_run(&crate::sample::ordinary()).is_none());
        let section = of_one_run(&run([Some(1), Some(2)])).unwrap();
        assert_eq!(section.heading, "Workers in that stage");
        assert_eq!(tables(&section)[0].len(), 2);
    }
}
