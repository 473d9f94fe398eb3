//! What came back: answers, their statuses and bodies, errors by kind, and what stayed open.

use ablaze_model::{FailureKind, Run};

use super::Style;
use crate::number::{bytes_rate, grouped, length, percent, rate, time};
use crate::per_second::PerSecond;
use crate::system_error::reason;
use crate::table::{sentence, wrapped};

/// Width of the label and the figure, so that what follows them stands in one column.
const LABEL: usize = 12;
const FIGURE: usize = 11;

/// The lines on what came back.
pub(super) fn lines(run: &Run, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(answers(run, style));
    lines.push(rate_line(run, style));
    lines.extend(unexpected(run, style));
    lines.extend(errors(run, style));
    lines.extend(open_ends(run, style));
    lines
}

/// A label, its figure and what belongs to it, padded so that every line goes on in one column.
fn start(run: &Run, label: &str, figure: &str, unit: &str) -> String {
    let width = format!(" {}", window(run)).chars().count().max(3) + 4;
    format!("  {label:<LABEL$}{figure:>FIGURE$}{:<width$}", format!(" {unit}"))
}

/// `in 10.00 s`; nothing when the run had no length.
fn window(run: &Run) -> String {
    if run.elapsed_ns == 0 {
        String::new()
    } else {
        format!("in {}", length(run.elapsed_ns as f64))
    }
}

fn answers(run: &Run, style: &Style) -> Vec<String> {
    let record = &run.record;
    let start = start(run, "answers", &grouped(record.answers), &window(run));
    let statuses = record.statuses.iter().map(|(status, n)| format!("{status}: {}", grouped(*n)));
    let mut items: Vec<String> = statuses.collect();
    if record.failures_total() == 0 {
        items.push("errors: 0".to_string());
    }
    items.extend(body(run));
    if run.elapsed_ns > 0 && record.received_bytes > 0 {
        items.push(bytes_rate(record.received_bytes as f64 * 1e9 / run.elapsed_ns as f64));
    }
    wrapped(&start, &items, "    ", style.width)
}

/// How long the bodies were.
fn body(run: &Run) -> Option<String> {
    let lengths = &run.record.body_lengths;
    let (shortest, longest) = (lengths.keys().next()?, lengths.keys().next_back()?);
    if lengths.len() == 1 && run.record.body_lengths_other == 0 {
        return Some(format!("{} B body", grouped(*shortest)));
    }
    let more = if run.record.body_lengths_other > 0 { " and others" } else { "" };
    Some(format!("bodies of {}–{} B{more}", grouped(*shortest), grouped(*longest)))
}

fn rate_line(run: &Run, style: &Style) -> String {
    let per_s = run.rate_per_s();
    let figure = per_s.map_or("-".to_string(), rate);
    let mut line = start(run, "rate", &figure, "/s").replacen(&figure, &style.strong(&figure), 1);
    if let Some(PerSecond { window_ns, slowest_per_s, fastest_per_s }) = PerSecond::of(run) {
        let piece =
            if window_ns == 1_000_000_000 { "second".to_string() } else { time(window_ns as f64) };
        let (slowest, fastest) = (rate(slowest_per_s), rate(fastest_per_s));
        line.push_str(&format!("slowest {piece} {slowest} · fastest {fastest}"));
    }
    line.trim_end().to_string()
}

fn unexpected(run: &Run, style: &Style) -> Vec<String> {
    let record = &run.record;
    if record.unexpected == 0 {
        return Vec::new();
    }
    let is_expected = |status: &u16| run.plan.expect.iter().any(|range| range.contains(status));
    let expected: Vec<String> = run.plan.expect.iter().map(range_text).collect();
    let unexpected = record.statuses.iter().filter(|(status, _)| !is_expected(status));
    let mut items = vec![format!("{} of the answers", share(record.unexpected, record.answers))];
    items.extend(unexpected.map(|(status, n)| format!("{status}: {}", grouped(*n))));
    items.push(format!("expected: {}", expected.join(", ")));
    let start = start(run, "unexpected", &grouped(record.unexpected), "");
    let lines = wrapped(&start, &items, "    ", style.width);
    lines.into_iter().map(|line| style.warning(&line)).collect()
}

/// `2xx` for 200 to 299, `200–399`, `204`.
fn range_text(range: &std::ops::RangeInclusive<u16>) -> String {
    let (low, high) = (*range.start(), *range.end());
    let classes = |low: u16, high: u16| -> Option<String> {
        if !low.is_multiple_of(100) || high % 100 != 99 {
            return None;
        }
        let names: Vec<String> = (low / 100..=high / 100).map(|c| format!("{c}xx")).collect();
        Some(names.join(", "))
    };
    if low == high {
        return low.to_string();
    }
    classes(low, high).unwrap_or_else(|| format!("{low}–{high}"))
}

fn errors(run: &Run, style: &Style) -> Vec<String> {
    let record = &run.record;
    let total = record.failures_total();
    if total == 0 {
        return Vec::new();
    }
    let mut items = vec![format!("{} of the requests", share(total, record.finished()))];
    for kind in FailureKind::ALL {
        let number = record.failures_of(kind);
        if number > 0 {
            items.push(format!("{}: {}", kind.label(), grouped(number)));
        }
    }
    let start = start(run, "errors", &grouped(total), "");
    let mut lines = wrapped(&start, &items, "    ", style.width);
    let indent = " ".repeat(start.chars().count());
    if let Some(first) = record.first_failure {
        let connecting = if first.connecting { " while connecting" } else { "" };
        let system = match first.errno {
            0 => String::new(),
            errno => format!(": {}", reason(&std::io::Error::from_raw_os_error(errno))),
        };
        let text = format!("the first: {}{connecting}{system}", first.kind.label());
        lines.extend(sentence(&indent, &text, style.width));
    }
    let failed = &record.failed.total;
    if let (Some(p50), Some(max)) = (failed.quantile_ns(0.5), failed.max_ns()) {
        let (p50, max) = (time(p50 as f64), time(max as f64));
        let text = format!("they took p50 {p50}, max {max}; not part of the table below");
        lines.extend(sentence(&indent, &text, style.width));
    }
    lines.into_iter().map(|line| style.error(&line)).collect()
}

/// What is neither answer nor error, and what was done twice.
fn open_ends(run: &Run, style: &Style) -> Vec<String> {
    let record = &run.record;
    let mut lines = Vec::new();
    if record.unfinished > 0 {
        let start = start(run, "unfinished", &grouped(record.unfinished), "");
        let age = time(record.unfinished_oldest_ns as f64);
        let text = format!("in flight at the end, the oldest for at least {age}");
        lines.extend(sentence(&start, &text, style.width));
    }
    if record.repeated > 0 {
        let start = start(run, "repeated", &grouped(record.repeated), "");
        let why = match run.plan.http2 {
            None => "had closed the kept connection",
            Some(_) => "had not processed them (GOAWAY, REFUSED_STREAM)",
        };
        let text = &format!("sent again, as the server {why}; timed from the first sending");
        lines.extend(sentence(&start, text, style.width));
    }
    lines
}

fn share(part: u64, whole: u64) -> String {
    percent(part as f64, whole as f64)
}

#[cfg(test)]
mod tests {
    use super::range_text;

    #[test]
    fn expected_statuses_are_named_as_they_are_typed() {
        let texts = [200..=399, 200..=299, 204..=204, 200..=204].map(|range| range_text(&range));
        assert_eq!(texts, ["2xx, 3xx", "2xx", "204", "200–204"]);
    }
}
