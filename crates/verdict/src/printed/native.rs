//! ablaze's own report: a head that names the URL and the load, two lines of figures, then rows that begin with a word.
//! Reports of before 0.1 had a line for answers and one for the rate in their place.

mod head;
mod without_verdict;

use super::line::{count, number, time_ms};
use super::{Connections, Printed, PrintedVerdict, Report, Times};
use head::head;
pub use head::{begins_at, url};
pub use without_verdict::{proven, without_rests};

/// How the head names the shape of the load.
const LOADS: [&str; 2] = ["closed loop, ", "open loop, "];

/// Where in a report the reader is.
#[derive(Debug, Clone)]
pub struct Place {
    /// The columns of the table as its head named them; those of before 0.1 until there is one.
    columns: Vec<String>,
    /// Lines since the findings began, which stand between figures and table and may go on with any word.
    in_findings: Option<usize>,
}

/// Findings have fewer lines than this, also with `--explain` on a narrow terminal.
const FINDINGS_LINES_MAX: usize = 300;

impl Default for Place {
    fn default() -> Self {
        let columns = ["mean", "p50", "p90", "p99", "p99.9", "max"].map(str::to_owned).to_vec();
        Self { columns, in_findings: None }
    }
}

/// Takes what a line of the report says, without what stands before all of its lines; whether it says anything.
pub fn take(report: &mut Report, place: &mut Place, line: &str) -> bool {
    if begins_at(line).is_some()
        || line.starts_with("HTTP/")
        || LOADS.iter().any(|load| line.contains(load))
    {
        head(report, line);
        return true;
    }
    if let Some(columns) = table_head(line) {
        *place = Place { columns, in_findings: None };
        return true;
    }
    if place.in_findings.is_some() || is_finding(line) {
        let lines = place.in_findings.map_or(1, |lines| lines + 1);
        let no_table = ["No response came", "No valid response came"];
        let over =
            lines > FINDINGS_LINES_MAX || no_table.iter().any(|start| line.starts_with(start));
        place.in_findings = (!over).then_some(lines);
        if !over {
            let said = report.said.get_or_insert_with(PrintedVerdict::without_line);
            said.take(line);
        }
        return !over;
    }
    figures(report, line) || labelled(report, &place.columns, line)
}

/// The names of the columns, if the line is the head of the table.
fn table_head(line: &str) -> Option<Vec<String>> {
    let is_head =
        ["mean ", "min "].iter().any(|first| line.starts_with(first)) && line.ends_with(" max");
    let names = line.split_whitespace().filter(|word| !["[95", "%", "interval]"].contains(word));
    is_head.then(|| names.map(str::to_owned).collect())
}

/// `D13  shared processors: …`, and what `--explain` shows of the other rules.
fn is_finding(line: &str) -> bool {
    let id = ["note ", "passed "].iter().find_map(|label| line.strip_prefix(label)).unwrap_or(line);
    let is_id = |word: &str| {
        word.strip_prefix('D')
            .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    id.split_whitespace().next().is_some_and(is_id)
        || ["not observable here: ", "not to be seen here: "]
            .iter()
            .any(|start| line.starts_with(start))
}

/// `errors 0` among the items of the line of figures.
fn errors(items: &str) -> Option<u64> {
    items.split("   ").find_map(|item| count(item.trim().strip_prefix("errors ")?))
}

/// Whether a line is the one with the rate.
pub fn is_figures(line: &str) -> bool {
    line.split_once(" requests/s ").is_some_and(|(rate, items)| {
        let is_rate = number(rate).is_some_and(|(_, rest)| rest.is_empty());
        is_rate && errors(items).is_some()
    })
}

/// The two lines of figures that people look for.
fn figures(report: &mut Report, line: &str) -> bool {
    if let Some((figure, rest)) = line.split_once(" requests/s ") {
        report.rate_per_s = number(figure).map(|(rate, _)| rate);
        report.failed = errors(rest);
        beside_the_rate(report, rest);
        return report.rate_per_s.is_some() || figure == "-";
    }
    let Some((responses, after)) = number(line) else { return false };
    let Some(after) =
        after.trim_start().strip_prefix("response").map(|rest| rest.trim_start_matches('s'))
    else {
        return false;
    };
    report.complete = Some(responses.value as u64);
    report.failed = report.failed.or(Some(0));
    let time = after.trim_start().strip_prefix("in ").and_then(time_ms);
    report.taken_s =
        time.map(|(taken, _)| Printed { value: taken.value / 1e3, step: taken.step / 1e3 });
    statuses(report, after, " · ");
    report.own.extend(after.split(" · ").find_map(received).map(|rate| (RECEIVED, rate)));
    true
}

/// Behind the last of the statuses, in bytes per second: that none of them is on another line.
pub const RECEIVED: &str = "the bytes received per second";

/// `70.3 KiB/s`.
fn received(item: &str) -> Option<Printed> {
    let (rate, unit) = number(item)?;
    let by = match unit.trim() {
        "B/s" => 1.0,
        "KiB/s" => 1024.0,
        "MiB/s" => 1024.0 * 1024.0,
        "GiB/s" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(Printed { value: rate.value * by, step: rate.step * by })
}

/// `p50 476 µs   p95 776 µs   p99 1.20 ms [1.18–1.25]   max 9.38 ms   errors 0`: the table has them once more.
fn beside_the_rate(report: &mut Report, items: &str) {
    for (label, name) in BESIDE_THE_RATE {
        let figure = |item: &str| time_ms(item.trim().strip_prefix(label)?).map(|(ms, _)| ms);
        report.own.extend(items.split("   ").find_map(figure).map(|ms| (name, ms)));
    }
    interval(report, items);
}

/// The second with the fewest responses, and that with the most.
pub const SLOWEST: &str = "the rate of the slowest second";
pub const FASTEST: &str = "the rate of the fastest second";
/// Of p99, in ms.
pub const INTERVAL: [&str; 2] = ["the lower end of the interval", "the upper end of the interval"];
/// Of an open loop whose rate does not change.
pub const ASKED: &str = "the rate asked for";

/// `slowest second 4,284 · fastest 4,455`.
fn seconds(report: &mut Report, row: &str) {
    for (label, name) in [("slowest second ", SLOWEST), ("fastest ", FASTEST)] {
        let figure = row.split(" · ").find_map(|item| number(item.trim().strip_prefix(label)?));
        report.own.extend(figure.map(|(rate, _)| (name, rate)));
    }
}

/// `[2.77–3.09]` behind `p99 2.85 ms`, in the same unit.
fn interval(report: &mut Report, items: &str) {
    let Some(item) = items.split("   ").find_map(|item| item.trim().strip_prefix("p99 ")) else {
        return;
    };
    let (Some((ms, rest)), Some((shown, _))) = (time_ms(item), number(item)) else { return };
    let ends = rest.trim().strip_prefix('[').and_then(|ends| ends.strip_suffix(']'));
    let Some((low, high)) = ends.and_then(|ends| ends.split_once('–')) else { return };
    let unit = ms.value / shown.value;
    if let (Some((low, "")), Some((high, "")), true) = (number(low), number(high), unit.is_finite())
    {
        let scaled = |end: Printed| Printed { value: end.value * unit, step: end.step * unit };
        report.own.extend(INTERVAL.into_iter().zip([scaled(low), scaled(high)]));
    }
}

const BESIDE_THE_RATE: [(&str, &str); 4] = [
    ("p50 ", "p50 beside the rate"),
    ("p95 ", "p95 beside the rate"),
    ("p99 ", "p99 beside the rate"),
    ("max ", "max beside the rate"),
];

fn labelled(report: &mut Report, columns: &[String], line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    let rest = line[first.len()..].trim_start();
    match first {
        "answers" => answers(report, rest),
        "rate" => report.rate_per_s = number(rest).map(|(rate, _)| rate),
        "errors" => report.failed = count(rest),
        "requests/s" if rest.starts_with("slowest second ") => seconds(report, rest),
        "unexpected" | "unfinished" | "repeated" if count(rest).is_some() => {}
        "CPU" | "tester" | "client" | "requests/s" | "threads" | "connections"
            if line[first.len()..].contains("  ") => {}
        "body" => {
            let length = rest.strip_prefix("length").map(str::trim);
            let each = length.and_then(|length| count(length.strip_suffix(" B each")?));
            report.document = each.map(super::Document::Bytes).or(report.document.take());
        }
        // The first row: connections made before the clock started are in no total.
        "connect" => {
            report.connect = row(columns, rest).or(report.connect);
            opened_meanwhile(report, rest);
        }
        "wait" => {
            unreadable(report, columns, line);
            if let Some(times) = row(columns, rest) {
                report.waiting = Some(times);
                report.waiting_percentiles = percentiles(columns, rest);
            }
        }
        // In an open loop the response counts from when a request was due: what its user waits.
        "total" | "response" => {
            unreadable(report, columns, line);
            let Some(times) = row(columns, rest) else { return false };
            report.total = Some(times);
            report.percentiles = percentiles(columns, rest);
        }
        "receive" | "service" | "lag" if row(columns, rest).is_some() => {}
        _ => return statuses(report, line, " · ") || statuses(report, line, "  "),
    }
    true
}

/// `889×, during the run`: connections that were opened for about every request were not kept, whatever
/// was asked for.
fn opened_meanwhile(report: &mut Report, rest: &str) {
    let note = rest.strip_suffix("×, during the run");
    let opened = note.and_then(|note| count(note.split_whitespace().next_back()?));
    let Some((opened, complete)) = opened.zip(report.complete) else { return };
    if opened * 2 > complete && matches!(report.connections, Connections::Kept(_)) {
        report.connections = Connections::PerRequest;
    }
}

/// `20,000 in 10.00 s    200: 20,000    errors: 0    14 B body    305 KiB/s`
fn answers(report: &mut Report, rest: &str) {
    let Some((answers, after)) = number(rest) else { return };
    report.complete = Some(answers.value as u64);
    report.failed = Some(0);
    let taken_ms = after.trim_start().strip_prefix("in ").and_then(time_ms);
    report.taken_s =
        taken_ms.map(|(taken, _)| Printed { value: taken.value / 1e3, step: taken.step / 1e3 });
    statuses(report, after, "  ");
}

/// The items of such a line and of those it is continued on.
fn statuses(report: &mut Report, line: &str, separator: &str) -> bool {
    let mut any = false;
    for item in line.split(separator).map(str::trim).filter(|item| !item.is_empty()) {
        if let Some((status, answers)) = item.split_once(": ") {
            if let (Ok(status @ 100..=999), Some(answers)) = (status.parse(), count(answers)) {
                report.statuses.insert(status, answers);
                report.non_2xx = Some(
                    report
                        .statuses
                        .iter()
                        .filter(|(status, _)| !(200..300).contains(*status))
                        .map(|(_, answers)| answers)
                        .sum(),
                );
                any = true;
            }
        } else if let Some(bytes) = item.strip_suffix(" B body").and_then(count) {
            report.document = Some(super::Document::Bytes(bytes));
            any = true;
        }
    }
    any
}

/// The cells of a row up to the first that is none, and what is left.
fn readable<'l>(columns: &[String], rest: &'l str) -> (Vec<Option<Printed>>, &'l str) {
    let mut cells = Vec::new();
    let mut rest = rest.trim_start();
    while cells.len() < columns.len() && !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            rest = after.split_once(']').map_or("", |(_, after)| after);
        } else if let Some(after) = rest.strip_prefix('-') {
            cells.push(None);
            rest = after;
        } else if let Some((time, after)) = time_ms(rest) {
            cells.push(Some(time));
            rest = after;
        } else {
            break;
        }
        rest = rest.trim_start();
    }
    (cells, rest)
}

/// The cells of a row, by the names of their columns. `-` is an empty one.
fn cells<'c>(columns: &'c [String], rest: &str) -> Vec<(&'c str, Option<Printed>)> {
    let (cells, _) = readable(columns, rest);
    columns.iter().map(String::as_str).zip(cells).collect()
}

/// Notes a row of times in which a cell that is no time stands in front of one that is: no terminal cut it off there.
fn unreadable(report: &mut Report, columns: &[String], line: &str) {
    let (_, rest) =
        readable(columns, line.split_once(char::is_whitespace).map_or("", |(_, rest)| rest));
    let mut words = rest.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at);
    if !rest.is_empty() && words.any(|at| time_ms(rest[at..].trim_start()).is_some()) {
        report.impossible.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}

fn row(columns: &[String], rest: &str) -> Option<Times> {
    let cells = cells(columns, rest);
    let cell = |name: &str| cells.iter().find(|(column, _)| *column == name)?.1;
    let mean_ms = cells.iter().find(|(column, _)| *column == "mean")?.1;
    Some(Times {
        min_ms: cell("min"),
        mean_ms,
        deviation_ms: cell("sd"),
        median_ms: cell("p50"),
        max_ms: cell("max"),
    })
}

fn percentiles(columns: &[String], rest: &str) -> Vec<(f64, Printed)> {
    let percentile = |(name, cell): (&str, Option<Printed>)| {
        let of = match name.strip_prefix('p') {
            Some(number) => number.parse().ok()?,
            None if name == "max" => 100.0,
            None => return None,
        };
        Some((of, cell?))
    };
    cells(columns, rest).into_iter().filter_map(percentile).collect()
}
