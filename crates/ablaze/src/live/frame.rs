//! A frame of the live view: rows of text from what is known of a run, for a terminal of any size. Pure functions.

use ablaze_chart::number::{grouped, rate, time};
use ablaze_chart::terminal::{Characters, sparkline};
use ablaze_load::carry_out::WorkerProgress;
use ablaze_model::progress::{Interval, Progress};
use ablaze_model::{Plan, Run};
use ablaze_monitor::Present;
use ablaze_report::page::Page;
use ablaze_sys::terminal::Size;

use super::charts;
use super::findings::Findings;
use super::history::{History, Point};
use super::line::{Line, Look};
use super::machine;
use super::sections::{TableRow, errors_and_statuses, groups, times, workers_table};
use super::so_far;
use super::steering::Steering;

/// Where the columns of the table of figures end.
const LABEL: usize = 13;
const FIGURE: usize = 12;
/// Where the second of two blocks beside each other begins, from this width on.
const TWO_BLOCKS_FROM: usize = 72;

/// Rows below everything: what came of a key, and the keys.
const FOOT: usize = 2;
/// A frame that is saved has room for everything but the longest lists.
const SAVED: Size = Size { columns: 120, rows: 160 };

/// What is shown of a run.
#[derive(Debug)]
pub struct Shown {
    /// What is loaded.
    title: String,
    /// The shape of the load.
    load: String,
    /// What ends the run, if not the person at the terminal.
    requests: Option<u64>,
    duration_ns: Option<u64>,
    /// Requests are the steps of journeys.
    walks: bool,
    /// Names of the groups of requests.
    pub groups: Vec<String>,
    /// A row for each machine of a fleet.
    pub workers: Vec<TableRow>,
    /// The run over time.
    pub history: History,
    /// What the person at the terminal did to it.
    pub steering: Steering,
    /// How busy both sides are, where that is known.
    pub present: Option<Present>,
    /// What was found so far.
    pub findings: Findings,
    /// What came of the key that was pressed last.
    pub said: String,
    /// Where browsers can watch, if they can.
    pub address: Option<String>,
}

impl Shown {
    /// What can be shown of a run of this plan before it begins.
    pub fn of(plan: &Plan, steering: Steering) -> Self {
        let (title, load) = ablaze_report::text::of_plan(plan);
        Self {
            title,
            load,
            // Of journeys it is not known how many requests they come to.
            requests: plan.limits.requests.filter(|_| plan.journey.is_none()),
            duration_ns: plan.limits.duration_ns,
            walks: plan.journey.is_some(),
            groups: plan.requests.groups.names.clone(),
            workers: Vec::new(),
            history: History::default(),
            steering,
            present: None,
            findings: Findings::of(plan),
            said: String::new(),
            address: None,
        }
    }

    /// The rows of a frame, at most as many as there are and none wider than the terminal.
    pub fn frame(&self, progress: &Progress, size: Size) -> Vec<Line> {
        let mut lines = self.head(progress, size.columns);
        if progress.has_started() {
            lines.extend(self.figures(progress, size.columns));
            let room = size.rows.saturating_sub(FOOT + lines.len());
            lines.extend(self.blocks(progress, size.columns, room));
        } else {
            lines.push(Line::empty().with(Look::Plain, "  connecting, warming up…"));
            lines
                .extend(workers_table(&self.workers, size.rows.saturating_sub(FOOT + lines.len())));
        }
        lines.resize(size.rows.saturating_sub(FOOT), Line::empty());
        lines.push(Line::empty().with(Look::Attention, &self.said));
        lines.push(self.keys());
        lines.truncate(size.rows.max(1));
        lines.into_iter().map(|line| line.fitted(size.columns)).collect()
    }

    /// Everything that is known, as text: a frame without an edge and without keys.
    pub fn text(&self, progress: &Progress) -> String {
        let mut lines = self.frame(progress, SAVED);
        lines.truncate(SAVED.rows - FOOT);
        while lines.last().is_some_and(|line| line.text().trim().is_empty()) {
            lines.pop();
        }
        lines.iter().map(|line| format!("{}\n", line.text().trim_end())).collect()
    }

    /// The same as a page, of a Run that is made of what is known.
    pub fn page(&self, progress: &Progress, run: &Run, workers: &[WorkerProgress]) -> Page {
        let how_far = seconds(progress.so_far.to_ns);
        so_far::page((&self.title, &self.load), &how_far, run, workers, &self.findings)
    }

    /// What is run, how far it is, and a bar of that.
    fn head(&self, progress: &Progress, columns: usize) -> Vec<Line> {
        let far = self.how_far(progress);
        let (done, all) = self
            .share_done(progress)
            .map_or((0, columns), |share| ((share * columns as f64).floor() as usize, columns));
        let room = columns.saturating_sub(far.chars().count() + 2);
        let title = Line::empty().with(Look::Strong, &self.title).fitted(room);
        let address = self.address.iter();
        let mut lines = vec![
            title.up_to_column(room + 2).with(Look::Plain, &far),
            Line::empty().with(Look::Faint, &self.load),
        ];
        lines
            .extend(address.map(|url| Line::empty().with(Look::Faint, &format!("watch at {url}"))));
        lines.push(
            Line::empty()
                .with(Look::Figure, &"━".repeat(done))
                .with(Look::Faint, &"─".repeat(all - done)),
        );
        lines
    }

    /// `4.2 s of 10 s`
    fn how_far(&self, progress: &Progress) -> String {
        let elapsed = seconds(progress.elapsed_ns);
        match (progress.has_started(), self.duration_ns, self.requests) {
            (false, ..) => String::new(),
            (_, Some(duration_ns), _) => {
                format!("{elapsed} of {}", seconds(duration_ns).replace(".0 s", " s"))
            }
            (_, None, Some(requests)) => {
                format!(
                    "{elapsed}, {} of {}",
                    grouped(progress.so_far.finished()),
                    grouped(requests)
                )
            }
            (_, None, None) => elapsed,
        }
    }

    /// How much of the run is over, if that can be told; by what ends it first.
    fn share_done(&self, progress: &Progress) -> Option<f64> {
        let share = |part: u64, whole: u64| (part as f64 / whole.max(1) as f64).clamp(0.0, 1.0);
        let by_time = self.duration_ns.map(|whole_ns| share(progress.elapsed_ns, whole_ns));
        let by_count = self.requests.map(|whole| share(progress.so_far.finished(), whole));
        let far = by_time.into_iter().chain(by_count).reduce(f64::max)?;
        progress.has_started().then_some(far)
    }

    /// The figures that matter most: of the last second, of all so far, and over time.
    fn figures(&self, progress: &Progress, columns: usize) -> Vec<Line> {
        let (recent, so_far) = (progress.recent(), &progress.so_far);
        let heading = Line::empty().up_to_column(LABEL);
        let heading = right(right(heading, "last second", Look::Faint), "so far", Look::Faint);
        let mut lines = vec![Line::empty(), heading.with(Look::Faint, "   over time")];
        let room = self.sparkline_room(columns);
        let row =
            |label: &str, figure: &dyn Fn(&Interval) -> String, over: &dyn Fn(&Point) -> f64| {
                let line = Line::empty().with(Look::Plain, label).up_to_column(LABEL);
                let line = right(line, &figure(&recent), Look::Strong);
                let line = right(line, &figure(so_far), Look::Plain).with(Look::Plain, "   ");
                line.with(Look::Figure, &over_time(self.history.points(), room, over))
            };
        let quantile = |q: f64| {
            move |of: &Interval| of.quantile_ns(q).map_or("-".to_owned(), |ns| time(ns as f64))
        };
        if let Some((lately, all)) = self.steering.requested_per_s(progress.elapsed_ns) {
            let line = Line::empty().with(Look::Plain, "requested/s").up_to_column(LABEL);
            let line = right(line, &rate(lately), Look::Strong);
            let state = if self.steering.is_paused() { "   paused by hand" } else { "" };
            lines.push(right(line, &rate(all), Look::Plain).with(Look::Attention, state));
        }
        lines.push(row("responses/s", &|of| rate(of.rate_per_s()), &|point| point.rate_per_s));
        lines.push(row("p50", &quantile(0.5), &|point| point.p50_ns));
        lines.push(row("p99", &quantile(0.99), &|point| point.p99_ns));
        let look = |count: u64| if count > 0 { Look::Attention } else { Look::Plain };
        let errors = Line::empty().with(Look::Plain, "errors").up_to_column(LABEL);
        let errors = [&recent, so_far].into_iter().fold(errors, |line, of| {
            right(line, &grouped(of.failures_total()), look(of.failures_total()))
        });
        lines.push(errors);
        lines.extend(self.machine(progress, &recent));
        lines.extend(self.findings.rows());
        lines.push(Line::empty());
        lines
    }

    /// How busy both sides are, and what bounds the rate.
    fn machine(&self, progress: &Progress, recent: &Interval) -> Vec<Line> {
        let Some(present) = &self.present else { return Vec::new() };
        // The rate of journeys is not that of their requests.
        let requested = self.steering.requested_per_s(progress.elapsed_ns);
        let requested = requested.map(|(lately, _)| lately).filter(|_| !self.walks);
        machine::rows(present, requested, recent, self.steering.is_paused())
    }

    /// How many points over time there is room for.
    pub fn sparkline_room(&self, columns: usize) -> usize {
        columns.saturating_sub(LABEL + 2 * FIGURE + 3).clamp(8, 240)
    }

    /// What else is known, as much of it as there is room for.
    fn blocks(&self, progress: &Progress, columns: usize, room: usize) -> Vec<Line> {
        let so_far = &progress.so_far;
        let charts = charts::rows(self.history.points(), columns, room);
        let room = room.saturating_sub(charts.len());
        let mut workers = workers_table(&self.workers, room * 2 / 3);
        if !workers.is_empty() {
            workers.push(Line::empty());
        }
        let room = room.saturating_sub(workers.len());
        let groups = groups(&self.groups, progress, room / 2);
        let room = room.saturating_sub(groups.len());
        let answers = errors_and_statuses(so_far);
        let mut lines = match columns >= TWO_BLOCKS_FROM {
            true => beside(times(so_far, columns / 2 - 2, room), &answers, columns / 2),
            false => {
                let kept = answers.len().min(room / 2);
                let mut lines = times(so_far, columns, room - kept);
                lines.extend(answers.into_iter().take(kept));
                lines
            }
        };
        lines.truncate(room);
        lines.extend(groups);
        charts.into_iter().chain(workers).chain(lines).collect()
    }

    /// What can be done.
    fn keys(&self) -> Line {
        let key = |line: Line, key: &str, does: &str| {
            line.with(Look::Strong, key).with(Look::Faint, &format!(" {does}  "))
        };
        let mut keys = key(Line::empty(), "q", "end with the report");
        if self.steering.has_rate() {
            let does = if self.steering.is_paused() { "go on" } else { "pause" };
            keys = key(key(keys, "+ -", "rate by a tenth"), "space", does);
        }
        keys = key(keys, "s", "save");
        keys
    }
}

/// A figure flush right in its column, behind what is there.
fn right(line: Line, text: &str, look: Look) -> Line {
    let from = line.columns() + FIGURE - text.chars().count().min(FIGURE);
    line.up_to_column(from).with(look, text)
}

/// A figure of the last points as a line of characters.
fn over_time(points: &[Point], room: usize, figure: impl Fn(&Point) -> f64) -> String {
    let last = &points[points.len().saturating_sub(room)..];
    let values: Vec<f64> = last.iter().map(figure).collect();
    let highest = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    sparkline(&values, highest, Characters::Unicode)
}

/// Two blocks beside each other.
fn beside(left: Vec<Line>, right: &[Line], column: usize) -> Vec<Line> {
    let rows = left.len().max(right.len());
    let row = |at: usize| {
        let left = left.get(at).cloned().unwrap_or_default().fitted(column.saturating_sub(2));
        match right.get(at) {
            Some(right) => left.up_to_column(column).with_line(right.clone()),
            None => left,
        }
    };
    (0..rows).map(row).collect()
}

/// `4.2 s`: a clock that is looked at while it runs.
fn seconds(ns: u64) -> String {
    match ns as f64 / 1e9 {
        seconds if seconds < 600.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0),
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
