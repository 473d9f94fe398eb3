//! bombardier. Its rate is a mean of the rates in parts of the run; how long a run of so many requests took is
//! not printed.

use super::{behind, of_go_ms, percentile, scaled, time_ms};
use crate::printed::line::{count, number, numbers};
use crate::printed::{Connections, Printed, Report, Times, Tool};

/// Without the intro (`-p r`) its table is the first.
pub fn begins(line: &str) -> Option<Tool> {
    let table = line.starts_with("Statistics ") && line.ends_with(" Max") && line.contains("Stdev");
    (table || line.starts_with("Bombarding ")).then_some(Tool::Bombardier)
}

pub fn take(report: &mut Report, line: &str) -> bool {
    intro(report, line)
        || statistics(report, line)
        || percentile(report, line)
        || codes(report, line)
        || progress(report, line)
        || is_other(line)
}

/// `Bombarding http://h/ with 100000 request(s) using 125 connection(s)`, `… for 10s using …`.
fn intro(report: &mut Report, line: &str) -> bool {
    let Some(target) = behind(line, "Bombarding ") else { return false };
    crate::printed::native::url(report, target.split_whitespace().next().unwrap_or_default());
    let before = target.split_once(" connection").map(|(before, _)| before);
    report.concurrency = before.and_then(|text| count(text.rsplit(' ').next()?));
    report.connections = Connections::Unknown;
    if let Some((_, length)) = target.split_once(" for ") {
        report.asked_s = of_go_ms(length).map(|ms| scaled(ms, 1e-3));
        report.taken_s = report.asked_s;
    }
    if let Some((_, requests)) = target.split_once(" with ") {
        let requests = count(requests).map(|n| Printed { value: n as f64, step: 0.0 });
        report.own.extend(requests.map(|requests| ("the number asked for", requests)));
    }
    true
}

/// `Latency  2.76ms  1.20ms  31.50ms`: mean, deviation, longest. Requests that failed are among them.
fn statistics(report: &mut Report, line: &str) -> bool {
    if let Some(rate) = behind(line, "Reqs/sec") {
        let cells = numbers(rate);
        report.rate_per_s = cells.first().copied();
        report.own.extend(cells.get(1).map(|deviation| (DEVIATION, *deviation)));
        report.own.extend(cells.get(2).map(|max| ("the maximum of Reqs/sec", *max)));
    } else if let Some(cells) = behind(line, "Latency ").filter(|rest| !rest.starts_with("Dist")) {
        let cells: Vec<Printed> = cells.split_whitespace().map_while(time_ms).collect();
        if let [mean, deviation, max] = cells[..] {
            let (mean_ms, deviation_ms, max_ms) = (Some(mean), Some(deviation), Some(max));
            let times = Times { mean_ms, deviation_ms, max_ms, ..Times::default() };
            report.total = (max.value > 0.0).then_some(times);
        }
    } else {
        return false;
    }
    true
}

fn codes(report: &mut Report, line: &str) -> bool {
    if line.contains("xx - ") {
        // Which of them is no number says nothing of how many there were.
        if has_no_count(line) {
            return true;
        }
        let of = |item: &str| count(item.split_once("xx - ")?.1);
        let numbers: Vec<u64> = line.split(", ").filter_map(of).collect();
        let counts: Vec<Option<u64>> = numbers.iter().copied().map(Some).collect();
        report.classes = super::classes(1, &counts);
        report.complete = Some(numbers.iter().copied().fold(0, u64::saturating_add));
        report.non_2xx =
            report.complete.zip(numbers.get(1)).map(|(all, good)| all.saturating_sub(*good));
    } else if let Some(others) = behind(line, "others - ") {
        report.failed = count(others);
    } else if let Some((words, times)) = line.rsplit_once(" - ").filter(|_| report.failed > Some(0))
    {
        // Below the codes: `dial tcp 127.0.0.1:80: connect: connection refused - 512`.
        let Some(times) = count(times) else { return false };
        super::error(&mut report.errors, words, Some(times));
    } else {
        return false;
    }
    true
}

/// Whether one of the counts by class is none: bombardier prints them with `%d`.
pub(super) fn has_no_count(line: &str) -> bool {
    let counts = line.split(", ").filter_map(|item| item.split_once("xx - "));
    let mut counts = counts.map(|(_, count)| count.trim().trim_end_matches(','));
    counts.any(|count| !count.bytes().all(|byte| byte.is_ascii_digit() || byte == b','))
}

/// ` 100000 / 100000 [====] 100.00% 58711/s 1s`, once more for each time that it was drawn. Of a run by time, whose bars
/// may have been left out, it is what is left and at last all: `00m02s 00m01s 3s`.
fn progress(report: &mut Report, line: &str) -> bool {
    let of_times = line.split_whitespace().all(|word| of_go_ms(word).is_some());
    if of_times || line.starts_with('[') && line.contains('%') {
        last_drawn(report, line);
        return true;
    }
    let Some((bar, rest)) = line.rsplit_once("100.00% ").filter(|_| line.contains(" / ")) else {
        return false;
    };
    // `200000 / 200000 [===`; 199,999 of them are 100.00 % as well.
    let done = bar.rsplit_once(" / ").and_then(|(done, _)| count(done.rsplit(' ').next()?));
    let done = done.map(|done| Printed { value: done as f64, step: 0.0 });
    report.own.retain(|(name, _)| *name != DONE);
    report.own.extend(done.map(|done| (DONE, done)));
    let rate = number(rest).filter(|(_, unit)| unit.starts_with("/s")).map(|(rate, _)| rate);
    report.own.extend(rate.map(|rate| ("the rate beside the progress", rate)));
    let time = rest.split_whitespace().filter(|word| !is_left(word)).find_map(of_go_ms);
    report.own.retain(|(name, _)| *name != DRAWN_S);
    report.own.extend(time.map(|ms| (DRAWN_S, scaled(ms, 1e-3))));
    true
}

/// `00m50s`: what is left, and not how long it took.
fn is_left(word: &str) -> bool {
    word.starts_with('0') && word[1..].starts_with(|c: char| c.is_ascii_digit())
}

/// Of the rates of the parts.
pub const DEVIATION: &str = "the deviation of Reqs/sec";
pub const DONE: &str = "the number done by the progress";
const DRAWN_PERCENT: &str = "the percentage of the progress";
pub const DRAWN_S: &str = "the time beside the progress";

/// How much of the time was over when the bar was drawn last, and how long that was: `[==>---]  16.67% 10s`. Before, what is
/// left stands there: `00m50s`.
fn last_drawn(report: &mut Report, line: &str) {
    let words = || line.split_whitespace().rev();
    let percent = words().find_map(|word| number(word.strip_suffix('%')?));
    let time = words().next().filter(|word| !is_left(word)).and_then(of_go_ms);
    let drawn = [
        (DRAWN_PERCENT, percent.map(|(percent, _)| percent)),
        (DRAWN_S, time.map(|ms| scaled(ms, 1e-3))),
    ];
    for (name, figure) in drawn {
        let Some(figure) = figure else { continue };
        report.own.retain(|(known, _)| *known != name);
        report.own.push((name, figure));
    }
}

/// Of a run by time that was stopped, less of the requests have ended than their rate gives for all of it.
const STOPPED: f64 = 0.75;

/// The time in the first line is that which was asked for. Of a run that was stopped nothing says how long it took, but for
/// its progress in whole seconds.
pub fn finish(report: &mut Report) {
    let Some(asked_s) = report.asked_s.filter(|asked_s| report.taken_s == Some(*asked_s)) else {
        return;
    };
    let percent = report.own(DRAWN_PERCENT).map(|percent| percent.value < 100.0);
    let time = report.own(DRAWN_S).map(|drawn_s| drawn_s.value + 1.0 <= asked_s.value);
    let stopped = match (percent, time) {
        (None, None) => {
            let ended = report.complete.unwrap_or(0).saturating_add(report.failed.unwrap_or(0));
            let by_rate = report.rate_per_s.map(|rate| rate.value * asked_s.value);
            by_rate.is_some_and(|by_rate| (ended as f64) < by_rate * STOPPED)
        }
        (percent, time) => percent == Some(true) || time == Some(true),
    };
    if stopped {
        report.taken_s = None;
    }
}

fn is_other(line: &str) -> bool {
    const STARTS: [&str; 8] = [
        "Statistics",
        "Latency",
        "HTTP codes:",
        "Throughput:",
        "Done!",
        "[",
        "Errors:",
        "There wasn't enough data to compute statistics",
    ];
    STARTS.iter().any(|start| line.starts_with(start)) || line.contains('%') || line.contains(" - ")
}
