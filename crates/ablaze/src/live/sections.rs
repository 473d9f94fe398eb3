//! Parts of a frame below the figures: how long responses took, statuses and errors, groups of requests.

use ablaze_chart::number::{grouped, percent, rate, time, time_exact};
use ablaze_load::carry_out::{WorkerProgress, WorkerState};
use ablaze_model::failure::FailureKind;
use ablaze_model::progress::{GroupInterval, Interval, Progress};
use ablaze_report::page::{Block, Section};
use ablaze_report::text::edges;
use ablaze_stats::touched;

use super::line::{Line, Look};

/// Columns of the label of a bar.
const EDGE: usize = 11;
/// Columns of a share behind a bar.
const SHARE: usize = 8;

/// How many responses took how long, between round edges, as bars: a heading and at most so many rows in all.
pub fn times(so_far: &Interval, columns: usize, rows: usize) -> Vec<Line> {
    let all = touched::latency(&so_far.times);
    let (Some(low), Some(high)) = (all.quantile_ns(0.01), all.quantile_ns(0.99)) else {
        return Vec::new();
    };
    let edges = if low == high { vec![high] } else { edges(low, high) };
    let mut counts = Vec::with_capacity(edges.len() + 1);
    let mut before = 0;
    for edge in edges.iter().map(|edge| all.count_at_most(*edge)).chain([all.count()]) {
        counts.push(edge.saturating_sub(before));
        before = edge;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let room = columns.saturating_sub(EDGE + SHARE + 2).max(4);
    let labels = edges.iter().map(|edge| format!("≤ {}", time_exact(*edge)));
    let rows_of_bars = labels.chain(["more".to_owned()]).zip(&counts).map(|(label, count)| {
        let line = Line::empty().up_to_column(EDGE.saturating_sub(label.chars().count()));
        let line = line.with(Look::Plain, &label).with(Look::Plain, " ");
        let line =
            line.with(Look::Figure, &bar(*count as f64 / most as f64, room)).with(Look::Plain, " ");
        line.with(Look::Faint, &percent(*count as f64, all.count() as f64))
    });
    let heading = Line::empty().with(Look::Faint, "responses by time");
    std::iter::once(heading).chain(rows_of_bars).take(rows).collect()
}

/// A bar as long as its share of the room; what exists is seen.
pub fn bar(share: f64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if share.is_nan() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share.min(1.0) * room as f64 * 8.0).round() as usize).max(1);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// What came back: a row for each status, and one for each kind of error.
pub fn errors_and_statuses(so_far: &Interval) -> Vec<Line> {
    let all = so_far.finished().max(1) as f64;
    let row = |name: &str, count: u64, look: Look| {
        let figure = grouped(count);
        let line = Line::empty().with(look, &format!("{name} "));
        let line = line.up_to_column((EDGE + 13).saturating_sub(figure.len()));
        line.with(look, &figure).with(Look::Faint, &format!("  {}", percent(count as f64, all)))
    };
    let mut lines = vec![Line::empty().with(Look::Faint, "responses by status, and errors")];
    for (status, count) in &so_far.statuses {
        lines.push(row(&status.to_string(), *count, Look::Plain));
    }
    if so_far.unexpected > 0 {
        lines.push(row("unexpected", so_far.unexpected, Look::Attention));
    }
    for (kind, count) in FailureKind::ALL.iter().zip(so_far.failures) {
        if count > 0 {
            lines.push(row(kind.label(), count, Look::Attention));
        }
    }
    lines
}

/// A row of a table below the figures.
#[derive(Debug, Clone)]
pub struct TableRow {
    name: String,
    /// Under the headings; a row that has none says why.
    cells: Result<Vec<String>, &'static str>,
    /// How much there is of it: of many rows those with most are shown.
    weight: u64,
    look: Look,
}

impl TableRow {
    /// The name, and a cell under each heading.
    fn texts(&self) -> Vec<String> {
        let mut texts = vec![self.name.clone()];
        match &self.cells {
            Ok(cells) => texts.extend_from_slice(cells),
            Err(why) => texts.push((*why).to_owned()),
        }
        texts.resize(OF_WORKERS.len() + 1, "-".to_owned());
        texts
    }
}

const OF_GROUPS: [&str; 5] = ["last s /s", "p50", "p99", "responses", "errors"];
const OF_WORKERS: [&str; 7] = ["last s /s", "p50", "p99", "responses", "errors", "CPU", LIMIT];
/// The one column of words.
const LIMIT: &str = "limit now";

/// The figures of each group of requests (lines of a list, steps of a journey), the most requested first where there are
/// more than rows.
pub fn groups(names: &[String], progress: &Progress, rows: usize) -> Vec<Line> {
    let groups = &progress.so_far.groups;
    if groups.is_empty() || names.len() != groups.len() {
        return Vec::new();
    }
    let recent = progress.recent();
    let row = |(at, group): (usize, &GroupInterval)| {
        let seconds = recent.length_ns() as f64 / 1e9;
        let lately = recent.groups.get(at).map_or(0, |recent| recent.responses);
        let lately = if seconds > 0.0 { rate(lately as f64 / seconds) } else { "-".to_owned() };
        let quantile = |q| group.quantile_ns(q);
        TableRow {
            name: names[at].clone(),
            cells: Ok(cells(lately, quantile, group.responses, group.failures)),
            weight: group.responses + group.failures,
            look: if group.failures > 0 { Look::Attention } else { Look::Plain },
        }
    };
    let of_all: Vec<TableRow> = groups.iter().enumerate().map(row).collect();
    table(&OF_GROUPS, &of_all, rows)
}

/// The figures of each machine of a fleet.
pub fn workers(workers: &[WorkerProgress]) -> Vec<TableRow> {
    let row = |worker: &WorkerProgress| {
        let (so_far, recent) = (&worker.progress.so_far, worker.progress.recent());
        let quantile = |q| recent.quantile_ns(q);
        let failures = so_far.failures_total();
        let figures = |lately| {
            let mut cells = cells(lately, quantile, so_far.responses, failures);
            let is_running = worker.state == WorkerState::Measuring;
            let or_none =
                |text: Option<String>| text.filter(|_| is_running).unwrap_or("-".to_owned());
            cells.push(or_none(worker.busy.map(|busy| percent(busy, 1.0))));
            let limit = worker.limit.map(|limit| limit.to_string());
            cells.push(or_none(limit.map(|text| text.replacen("limited by ", "", 1))));
            Ok(cells)
        };
        let (cells, look) = match worker.state {
            WorkerState::Preparing => (Err("preparing"), Look::Faint),
            WorkerState::Ready => (Err("ready"), Look::Faint),
            WorkerState::Lost => (Err("lost"), Look::Attention),
            WorkerState::Ended => (figures("ended".to_owned()), Look::Faint),
            WorkerState::Measuring if failures > 0 => {
                (figures(rate(recent.rate_per_s())), Look::Attention)
            }
            WorkerState::Measuring => (figures(rate(recent.rate_per_s())), Look::Plain),
        };
        // Of many, those that need a look come first.
        let weight = match worker.state {
            WorkerState::Lost => u64::MAX,
            _ => so_far.finished(),
        };
        TableRow { name: worker.name.clone(), cells, weight, look }
    };
    workers.iter().map(row).collect()
}

/// The same under their headings, in so many rows at most.
pub fn workers_table(workers: &[TableRow], rows: usize) -> Vec<Line> {
    table(&OF_WORKERS, workers, rows)
}

/// The same as the section of a page; nothing where one machine does it all.
pub fn workers_section(workers: &[WorkerProgress]) -> Option<Section> {
    let rows: Vec<_> = self::workers(workers).iter().map(TableRow::texts).collect();
    if rows.is_empty() {
        return None;
    }
    let head = ["worker", "responses/s", "p50", "p99", "responses", "errors", "CPU", LIMIT];
    let remark = "Responses/s, p50, p99, CPU and limit are those of the last second of each worker, the rest is all so far.";
    let section = Section::new("Workers").with(Block::table(&head, rows));
    Some(section.with(Block::Remark(remark.to_owned())))
}

fn cells(
    lately: String,
    quantile_ns: impl Fn(f64) -> Option<u64>,
    responses: u64,
    failures: u64,
) -> Vec<String> {
    let quantile = |q| quantile_ns(q).map_or("-".to_owned(), |ns| time(ns as f64));
    vec![lately, quantile(0.5), quantile(0.99), grouped(responses), grouped(failures)]
}

/// Rows under their headings, those with most of it where there are more than `rows`.
fn table(headings: &[&str], of_all: &[TableRow], rows: usize) -> Vec<Line> {
    if of_all.is_empty() || rows < 4 {
        return Vec::new();
    }
    let mut order: Vec<&TableRow> = of_all.iter().collect();
    let room = rows - 3;
    if of_all.len() > room {
        order.sort_by_key(|row| std::cmp::Reverse(row.weight));
        order.truncate(room);
    }
    let names = of_all.iter().map(|row| super::line::columns(&row.name));
    let widest = names.max().unwrap_or(0).clamp(5, 32);
    let line_of = |line: Line, cells: &[String], look: Look| {
        cells.iter().enumerate().fold(line.up_to_column(widest + 1), |line, (at, cell)| {
            if headings.get(at) == Some(&LIMIT) {
                return line.with(look, "  ").with(look, cell);
            }
            let from = line.columns() + 11usize.saturating_sub(cell.chars().count());
            line.up_to_column(from).with(look, cell)
        })
    };
    let heading: Vec<String> = headings.iter().map(|text| (*text).to_owned()).collect();
    let mut lines = vec![Line::empty(), line_of(Line::empty(), &heading, Look::Faint)];
    for row in &order {
        let name = Line::empty().with(Look::Plain, &row.name).fitted(widest);
        lines.push(match &row.cells {
            Ok(cells) => line_of(name, cells, row.look),
            Err(why) => line_of(name, &[(*why).to_owned()], row.look),
        });
    }
    if of_all.len() > order.len() {
        let more = format!("and {} more", grouped((of_all.len() - order.len()) as u64));
        lines.push(Line::empty().with(Look::Faint, &more));
    }
    lines
}
