//! The section on the machines that carried a run out together.

use ablaze_chart::{Axis, Chart, Plot, Series, Unit};
use ablaze_model::Run;
use ablaze_model::fleet::{BusyCourse, FleetWorker, WorkerCourse};

use super::{Block, Section};
use crate::fleet::{HEAD, rows, sentences};

/// So many machines are drawn; the table and the JSON have all of them.
const DRAWN_MOST: usize = 24;

/// The workers, a row and a small chart each; nothing where one machine did it all.
pub(crate) fn section(run: &Run) -> Option<Section> {
    let rows = rows(run);
    if rows.is_empty() {
        return None;
    }
    let charts = charts(run, &rows);
    let mut section = Section::new("Workers").with(Block::table(&HEAD, rows));
    if !charts.is_empty() {
        section = section.with(Block::Multiples(charts));
    }
    Some(section.with(Block::Remark(sentences(run).join(" "))))
}

/// Rate, 99th percentile and CPU of each over time, all on the same scales, so that the one that differs is seen.
fn charts(run: &Run, rows: &[Vec<String>]) -> Vec<Chart> {
    let workers = run.fleet.iter().flat_map(|fleet| &fleet.workers).zip(rows);
    let drawn: Vec<_> = workers
        .filter_map(|(worker, row)| Some((worker, worker.over_time.as_ref()?, row)))
        .take(DRAWN_MOST)
        .collect();
    let highest = |of: &dyn Fn(&WorkerCourse) -> f64| {
        drawn.iter().map(|(_, course, _)| of(course)).fold(0.0, f64::max)
    };
    let most = |values: &[u64]| values.iter().copied().max().unwrap_or(0) as f64;
    let rate_most = highest(&|course| per_s(course, most(&course.responses)));
    let p99_most = highest(&|course| most(&course.p99_ns));
    drawn
        .iter()
        .map(|(worker, course, row)| {
            let x = || Axis::between("time", Unit::TimeNs, 0.0, run.elapsed_ns as f64);
            let rate = Axis::between("responses/s", Unit::PerSecond, 0.0, rate_most);
            let p99 = Axis::between("p99", Unit::TimeNs, 0.0, p99_most);
            let (mut rate, mut p99) = (Plot::new(x(), rate), Plot::new(x(), p99));
            let of_rate = |count: u64| per_s(course, count as f64);
            rate.series.push(line("responses/s", 0, course, &course.responses, of_rate));
            p99.series.push(line("p99", 1, course, &course.p99_ns, |ns| ns as f64));
            let chart = Chart::of(&title(worker, row), rate).above(p99);
            let chart = match &worker.busy_over_time {
                Some(busy) => chart.above(cpu(x(), busy)),
                None => chart,
            };
            chart.described(
                "Responses per second of this worker, the 99th percentile of their times, and how busy its threads were, \
                 on the scales of all workers.",
            )
        })
        .collect()
}

/// How busy its threads were on average, of all that they can be.
fn cpu(x: Axis, course: &BusyCourse) -> Plot {
    let mut plot = Plot::new(x, Axis::between("CPU", Unit::Share, 0.0, 1.0));
    let middle = |index: usize| (index as f64 + 0.5) * course.piece_ns as f64;
    let points = course.busy.iter().enumerate().map(|(at, busy)| (middle(at), *busy));
    plot.series.push(Series::line("CPU", 2, points));
    plot
}

/// `load-1 · CPU 31 % · limit: the server`
fn title(worker: &FleetWorker, row: &[String]) -> String {
    let cell = |name: &str| {
        let at = HEAD.iter().position(|head| *head == name);
        at.and_then(|at| row.get(at)).map_or("-", String::as_str)
    };
    format!("{} · CPU {} · limit: {}", worker.name, cell("CPU"), cell("limit"))
}

fn per_s(course: &WorkerCourse, responses: f64) -> f64 {
    responses * 1e9 / course.piece_ns.max(1) as f64
}

fn line(
    name: &str,
    slot: usize,
    course: &WorkerCourse,
    values: &[u64],
    y: impl Fn(u64) -> f64,
) -> Series {
    let middle = |index: usize| (index as f64 + 0.5) * course.piece_ns as f64;
    Series::line(name, slot, values.iter().enumerate().map(|(at, value)| (middle(at), y(*value))))
}

#[cfg(test)]
mod tests {
    use ablaze_chart::{Panel, Scale};
    use ablaze_model::fleet::Fleet;

    use super::*;
    use crate::page::Page;

    #[test]
    fn each_worker_has_a_small_chart_on_the_scale_of_all() {
        let mut run = crate::sample::ordinary();
        assert!(section(&run).is_none());
        let worker = |name: &str, responses: u64| FleetWorker {
            name: name.to_owned(),
            counted: true,
            busy: Some(0.31),
            busy_over_time: Some(BusyCourse { busy: vec![0.2, 0.9], ..BusyCourse::default() }),
            over_time: Some(WorkerCourse {
                piece_ns: 100_000_000,
                responses: vec![responses; 4],
                p99_ns: vec![1_000_000; 4],
            }),
            ..FleetWorker::default()
        };
        let lost = FleetWorker { name: "gone".to_owned(), ..FleetWorker::default() };
        let workers = vec![worker("fast", 900), worker("slow", 100), lost];
        run.fleet = Some(Box::new(Fleet { workers, ..Fleet::default() }));
        let charts = charts(&run, &rows(&run));
        let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!(
            titles,
            ["fast · CPU 31 % · limit: unknown", "slow · CPU 31 % · limit: unknown"]
        );
        // All have the scale of the fastest.
        for chart in &charts {
            let [Panel::Plot(rate), Panel::Plot(p99), Panel::Plot(cpu)] = chart.panels.as_slice()
            else {
                panic!("{chart:?}")
            };
            assert_eq!(rate.y.scale, Scale::Between(0.0, 9_000.0));
            assert_eq!(p99.y.scale, Scale::Between(0.0, 1_000_000.0));
            assert_eq!(cpu.y.scale, Scale::Between(0.0, 1.0));
            assert_eq!(cpu.series.len(), 1);
        }
        let page = Page { sections: section(&run).into_iter().collect(), ..Page::new("x") };
        assert_eq!(page.html().matches("class=\"multiples\"").count(), 1);
    }
}
