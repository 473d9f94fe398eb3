//! hey, and oha, which has its form: the same labels, with a rate of successes and other units.

use super::{behind, scaled, time_ms, time_s};
use crate::printed::line::number;
use crate::printed::{Connections, Printed, Report, Times, Tool};

/// What oha calls the requests that were under way when the time was up: no failures.
pub const CUT_OFF: &str = "aborted due to deadline";

/// hey keeps the results of no more responses than this. The others are only in its counts and sums.
pub const HEY_KEEPS: u64 = 1_000_000;

/// The mean as hey prints it of more responses than it keeps.
pub const DIVIDED_BY_KEPT: &str = "the sum of all times by a million";

/// The rate of successes, where it was printed as a ratio.
pub const RATIO: &str = "the ratio of successes";

/// What follows from the whole report: hey divides the sums of all responses by the number of those that it keeps.
pub fn finish(report: &mut Report) {
    let Some(all) = responses_beyond_kept(report) else { return };
    let by = HEY_KEEPS as f64 / all as f64;
    let printed = report.mean_ms();
    for row in [&mut report.total, &mut report.connect, &mut report.waiting].into_iter().flatten() {
        row.mean_ms = row.mean_ms.map(|mean| scaled(mean, by));
    }
    for (_, mean) in report.own.iter_mut().filter(|(name, _)| name.starts_with("the mean of ")) {
        *mean = scaled(*mean, by);
    }
    report.own.extend(printed.map(|mean| (DIVIDED_BY_KEPT, mean)));
}

/// How many responses came in all, of a report of hey of more than it keeps: its rate has all, failed ones included.
pub fn responses_beyond_kept(report: &Report) -> Option<u64> {
    let kept = report.statuses.values().copied().fold(0, u64::saturating_add);
    if report.tool != Tool::Hey || kept != HEY_KEEPS {
        return None;
    }
    let ended = report.rate_per_s?.value * report.taken_s?.value;
    let came = ended - report.failed.unwrap_or(0) as f64;
    // Both are rounded.
    (came > HEY_KEEPS as f64 * 1.0001 && came.is_finite()).then(|| came.round() as u64)
}

pub fn begins(line: &str) -> Option<Tool> {
    (line == "Summary:").then_some(Tool::Hey)
}

pub fn take(report: &mut Report, line: &str) -> bool {
    summary(report, line)
        || details(report, line)
        || histogram(report, line)
        || statuses(report, line)
        || percentile(report, line)
        || is_heading(report, line)
}

fn summary(report: &mut Report, line: &str) -> bool {
    // Without a response all are 0, or no numbers.
    let total = |text| time_ms(text).filter(|ms: &Printed| ms.value > 0.0);
    if let Some(rate) = behind(line, "Success rate:") {
        report.tool = Tool::Oha;
        if let Some((rate, unit)) = number(rate) {
            // Up to version 0.5 it is a ratio: `1.0000` is all.
            let is_ratio = !unit.trim_start().starts_with('%');
            let percent = if is_ratio { scaled(rate, 100.0) } else { rate };
            report.own.push(("the success rate", percent));
            report.own.extend(is_ratio.then_some((RATIO, rate)));
        }
    } else if let Some(taken) = behind(line, "Total:") {
        report.taken_s = time_s(taken);
        // hey prints seconds, and calls them so.
        if report.taken_s.is_some() && !taken.ends_with("secs") {
            report.tool = Tool::Oha;
        }
        report.connections = Connections::Unknown;
    } else if let Some(ms) = behind(line, "Slowest:") {
        row(report).max_ms = total(ms);
    } else if let Some(ms) = behind(line, "Fastest:") {
        row(report).min_ms = total(ms);
    } else if let Some(ms) = behind(line, "Average:") {
        row(report).mean_ms = total(ms);
    } else if let Some(rate) = behind(line, "Requests/sec:") {
        report.rate_per_s = number(rate).map(|(rate, _)| rate);
    } else if let Some(bytes) = behind(line, "Total data:") {
        data(report, bytes);
    } else if let Some(bytes) = behind(line, "Size/request:") {
        report.own.extend(size(bytes).map(|bytes| ("the size per request", bytes)));
    } else if let Some(bytes) = behind(line, "Size/sec:") {
        report.own.extend(size(bytes).map(|bytes| ("the size per second", bytes)));
    } else {
        return false;
    }
    true
}

fn row(report: &mut Report) -> &mut Times {
    report.total.get_or_insert_default()
}

/// hey prints bytes, oha rounds them.
fn data(report: &mut Report, text: &str) {
    let Some(bytes) = size(text) else { return };
    if bytes.step == 1.0 {
        report.body_bytes = Some(bytes.value as i64);
    }
    report.own.push(("the total data", bytes));
}

/// `28000 bytes`, `13.67 KiB`.
fn size(text: &str) -> Option<Printed> {
    let (printed, rest) = number(text)?;
    let by: f64 = match rest.trim() {
        "B" | "bytes" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(scaled(printed, by))
}

/// The shortest, the mean and the longest of each phase that hey prints whole; the waiting is a row of the table.
pub const PHASES: [[&str; 3]; 3] = [
    ["the fastest DNS-lookup", "the mean of DNS-lookup", "the slowest DNS-lookup"],
    ["the fastest req write", "the mean of req write", "the slowest req write"],
    ["the fastest resp read", "the mean of resp read", "the slowest resp read"],
];
const PHASES_OF_HEY: [(&str, [&str; 2]); 3] = [
    ("DNS-lookup:", [PHASES[0][0], PHASES[0][2]]),
    ("req write:", [PHASES[1][0], PHASES[1][2]]),
    ("resp read:", [PHASES[2][0], PHASES[2][2]]),
];

/// The phases: mean, shortest and longest.
fn details(report: &mut Report, line: &str) -> bool {
    const LABELS: [&str; 5] =
        ["DNS+dialup:", "DNS-lookup:", "req write:", "resp wait:", "resp read:"];
    let Some(phase) = LABELS.iter().find(|phase| line.starts_with(**phase)) else { return false };
    let cells: Vec<Option<Printed>> = line[phase.len()..].split(',').map(time_ms).collect();
    if let [mean_ms, min_ms, max_ms] = cells[..] {
        let times = Times { mean_ms, min_ms, max_ms, ..Times::default() };
        // hey prints those of the whole request as the shortest and the longest time to connect.
        let times = match report.tool {
            Tool::Hey => Times { mean_ms, ..Times::default() },
            _ => times,
        };
        let some = [mean_ms, min_ms, max_ms].into_iter().flatten().any(|ms| ms.value > 0.0);
        if let Some((_, names)) = PHASES_OF_HEY.iter().find(|(name, _)| name == phase)
            && report.tool == Tool::Hey
        {
            let row = names.iter().copied().zip([min_ms, max_ms]);
            report.own.extend(row.filter_map(|(name, ms)| Some((name, ms?))));
        }
        let mut own = |name| report.own.extend(mean_ms.map(|mean| (name, mean)));
        match *phase {
            "DNS+dialup:" => report.connect = some.then_some(times),
            "resp wait:" => {
                report.waiting = some.then_some(Times { mean_ms, min_ms, max_ms, ..times })
            }
            "DNS-lookup:" if report.tool == Tool::Hey => own(PHASES[0][1]),
            "req write:" => own("the mean of req write"),
            "resp read:" => own("the mean of resp read"),
            _ => {}
        }
    }
    true
}

/// `0.001 [20] |■■`, of oha with a unit behind the time.
fn histogram(report: &mut Report, line: &str) -> bool {
    let Some((mark, rest)) = line.split_once('[') else { return false };
    let Some((count, bar)) = rest.split_once(']') else { return false };
    // Where a terminal or a mail has no such signs, the bar is lost, or other signs stand for it.
    let is_bar = bar.trim_start().starts_with('|') || !bar.contains(char::is_alphanumeric);
    if mark.trim().is_empty() || !is_bar {
        return false;
    }
    let mark = time_ms(mark).or_else(|| number(mark).map(|(s, _)| scaled(s, 1e3)));
    // oha may print those of a part once more, below all.
    let again = !report.percentiles.is_empty();
    let row = mark.zip(count.trim().parse().ok());
    let is_row = row.is_some() || bar.trim_start().starts_with('|');
    report.histogram.extend(row.filter(|_| !again));
    is_row
}

/// `[200] 20000 responses`; `[3] Get "http://…": …`.
fn statuses(report: &mut Report, line: &str) -> bool {
    let Some((what, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else {
        return false;
    };
    let rest = rest.trim();
    let responses = number(rest).filter(|(_, after)| after.trim().starts_with("response"));
    let more = |to: &mut Option<u64>, count: u64| *to = Some(to.unwrap_or(0).saturating_add(count));
    match (responses, what.parse::<u64>()) {
        (Some((responses, _)), Ok(status)) => {
            let responses = responses.value as u64;
            if let Ok(status) = status.try_into() {
                report.statuses.insert(status, responses);
            }
            more(&mut report.complete, responses);
        }
        // Anybody may write so below a report.
        (None, Ok(count)) if !rest.is_empty() && report.own(ERRORS_LISTED).is_some() => {
            // Both tools have them in their rates.
            more(&mut report.complete, count);
            if rest == CUT_OFF {
                let aborted = Printed { value: count as f64, step: 0.0 };
                report.own.push(("the number aborted at the deadline", aborted));
            } else {
                more(&mut report.failed, count);
                super::error(&mut report.errors, rest, Some(count));
            }
        }
        _ => return false,
    }
    report.failed = report.failed.or(Some(0));
    true
}

/// `10% in 0.0010 secs`, of some versions `10%% in …`. hey has `0% in 0.0000 secs` for those it cannot tell.
fn percentile(report: &mut Report, line: &str) -> bool {
    let Some((percent, rest)) = number(line) else { return false };
    let Some(ms) = rest.trim_start_matches('%').trim_start().strip_prefix("in ") else {
        return false;
    };
    let last = report.percentiles.last().map_or(0.0, |(last, _)| *last);
    // oha may print those of a part once more, below all.
    if let Some(ms) = time_ms(ms).filter(|_| percent.value > last) {
        report.percentiles.push((percent.value, ms));
    }
    true
}

/// Where the errors begin.
pub const ERRORS_LISTED: &str = "the list of errors";

/// Lines with nothing to take.
fn is_heading(report: &mut Report, line: &str) -> bool {
    if line.starts_with("Error distribution:") {
        report.own.push((ERRORS_LISTED, Printed { value: 0.0, step: 0.0 }));
    }
    let starts = [
        "Summary:",
        "Size/request:",
        "Response time histogram",
        "Response time distribution",
        "Latency distribution:",
        "Details (average",
        "Status code distribution:",
        "Error distribution:",
    ];
    starts.iter().any(|start| line.starts_with(start)) || line.contains("% in NaN")
}

#[cfg(test)]
mod tests {
    use crate::printed::read;

    /// As hey prints it, but for its bars: a terminal or a mail lost them, or has other signs for them.
    #[test]
    fn rows_of_a_histogram_are_read_without_their_bars() {
        for bar in ["|■■■■", "|", "", "????", "\u{fffd}\u{fffd}", "=="] {
            let text = format!(
                "Summary:\n  Total:\t0.5000 secs\n  Slowest:\t0.0200 secs\n  Fastest:\t0.0010 secs\n  \
                 Average:\t0.0100 secs\n  Requests/sec:\t200.0000\n\nResponse time histogram:\n  0.001 [1]\t{bar}\n  \
                 0.003 [99]\t{bar}\n\nStatus code distribution:\n  [200]\t100 responses\n"
            );
            let report = &read(&text).reports[0];
            let counts: Vec<u64> = report.histogram.iter().map(|(_, count)| *count).collect();
            assert_eq!(counts, [1, 99], "{bar}");
            assert_eq!(report.statuses.get(&200), Some(&100), "{bar}");
        }
    }
}
