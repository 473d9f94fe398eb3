//! vegeta's text report. It has three rates: that of the attack, that of the responses that were good, and what was
//! asked for, which it does not print.

use super::{of_go_ms, time_ms};
use crate::printed::line::{count, number};
use crate::printed::{Printed, Report, Times, Tool};

pub fn begins(line: &str) -> Option<Tool> {
    (line.starts_with("Requests") && line.contains("[total, rate")).then_some(Tool::Vegeta)
}

/// `Requests      [total, rate, throughput]  1200, 120.00, 65.87`.
pub fn take(report: &mut Report, line: &str) -> bool {
    let Some((names, cells)) = line.split_once(']') else { return line.starts_with("Error Set:") };
    let Some((label, names)) = names.split_once('[') else { return false };
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    let cells: Vec<&str> = cells.split(',').map(str::trim).collect();
    let cell = |name: &str| {
        let at = names.iter().position(|known| *known == name)?;
        cells.get(at).copied()
    };
    let figure = |name: &str| cell(name).and_then(number).map(|(figure, _)| figure);
    let own = |report: &mut Report, name, figure: Option<Printed>| {
        report.own.extend(figure.map(|figure| (name, figure)));
    };
    report.open_loop = true;
    if has(report, label.trim()) {
        of_another(report);
        return true;
    }
    match label.trim() {
        "Requests" => {
            report.complete = cell("total").and_then(count);
            own(report, "the rate of the attack", figure("rate"));
            // `throughput` counts the good responses, which is the rate of any other tool. Up to version 8 there is
            // no such column.
            own(report, "the rate of the good responses", figure("throughput"));
            report.rate_per_s = figure("throughput").or_else(|| figure("rate"));
        }
        "Duration" => {
            report.taken_s = cell("total").and_then(seconds);
            own(report, "the length of the attack", cell("attack").and_then(seconds));
            own(report, "the wait at its end", cell("wait").and_then(seconds));
        }
        "Latencies" => latencies(report, &names, &cells),
        "Bytes In" => {
            report.body_bytes = cell("total").and_then(count).and_then(|n| n.try_into().ok());
            own(report, "the mean of bytes in", figure("mean"));
        }
        "Bytes Out" => {
            own(report, "the total of bytes out", figure("total"));
            own(report, "the mean of bytes out", figure("mean"));
        }
        "Success" => own(report, "the success ratio", figure("ratio")),
        "Status Codes" => statuses(report, cells.first().copied().unwrap_or_default()),
        _ => return false,
    }
    true
}

/// Whether the report has this line already: vegeta prints each once (lib/reporters.go, `NewTextReporter`), so that the
/// next one is the end of another report, as `tail` leaves it in a log.
fn has(report: &Report, label: &str) -> bool {
    match label {
        "Duration" => report.taken_s.is_some(),
        "Latencies" => report.total.is_some(),
        "Bytes In" => report.body_bytes.is_some(),
        "Bytes Out" => report.own("the total of bytes out").is_some(),
        "Success" => report.own("the success ratio").is_some(),
        "Status Codes" => report.failed.is_some(),
        _ => false,
    }
}

/// Errors that stand below are those of another one.
fn of_another(report: &mut Report) {
    report.own.retain(|(name, _)| *name != ERRORS_READ);
    report.own.push((ERRORS_READ, Printed { value: 1.0, step: 0.0 }));
}

/// What its JSON has beside their mean.
pub const SUM: &str = "the sum of the latencies";

const ERRORS_READ: &str = "the error set";

/// vegeta rounds a time to the unit below the first, and Go leaves out the zeros at the end; older versions do not
/// round.
fn milliseconds(text: &str) -> Option<Printed> {
    let all = of_go_ms(text)?;
    let (_, after) = number(text)?;
    let unit = time_ms(&format!("1{after}"))?.value;
    let below = if unit > 1000.0 { unit / 60.0 } else { unit / 1000.0 };
    Some(Printed { step: all.step.min(below), ..all })
}

fn seconds(text: &str) -> Option<Printed> {
    milliseconds(text).map(|ms| super::scaled(ms, 1e-3))
}

fn latencies(report: &mut Report, names: &[&str], cells: &[&str]) {
    let mut times = Times::default();
    for (name, cell) in names.iter().zip(cells) {
        let Some(ms) = milliseconds(cell) else { continue };
        match *name {
            "min" => times.min_ms = Some(ms),
            "mean" => times.mean_ms = Some(ms),
            "max" => times.max_ms = Some(ms),
            percent => report.percentiles.extend(percent.parse().ok().map(|percent| (percent, ms))),
        }
    }
    report.total = Some(times);
}

/// Below `Error Set:` there is a line for each kind of error, up to the end of the report; how many lines these are.
pub fn error_set(report: &mut Report, below: impl Iterator<Item = String>) -> usize {
    let failing = report.own("the success ratio").is_none_or(|ratio| ratio.value < 100.0);
    let set: Vec<String> = below.take_while(|line| failing && may_be_error(line)).collect();
    if report.own(ERRORS_READ).is_none() {
        errors(report, set.iter().map(String::as_str));
        of_another(report);
    }
    set.len()
}

/// No end of a paragraph, of a block of code or of an object, and no shell that waits for the next command.
fn may_be_error(line: &str) -> bool {
    let is_prompt = line.contains("$ ") || line.contains("# ") || line.ends_with(['$', '#', '>']);
    !line.is_empty() && !line.starts_with(['`', '~', '{', '#']) && !is_prompt
}

/// It prints each kind once, and not how often it happened: all that failed did so by the only one.
pub fn errors<'a>(report: &mut Report, set: impl Iterator<Item = &'a str>) {
    for words in set.filter(|words| !is_status(words)) {
        super::error(&mut report.errors, words, None);
    }
    if let [(_, only)] = &mut report.errors[..] {
        *only = report.failed.filter(|failed| *failed > 0);
    }
}

/// `404 Not Found`: of responses, which are counted by status.
fn is_status(words: &str) -> bool {
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    digits == 3 && words[digits..].starts_with(' ')
}

/// `0:535  200:665`: 0 for those without a response.
fn statuses(report: &mut Report, items: &str) {
    for (status, responses) in items.split_whitespace().filter_map(|item| item.split_once(':')) {
        match (status.parse::<u16>(), count(responses)) {
            (Ok(0), Some(failed)) => report.failed = Some(failed),
            (Ok(status), Some(responses)) => {
                report.statuses.insert(status, responses);
            }
            _ => {}
        }
    }
    report.failed = report.failed.or(Some(0));
}
