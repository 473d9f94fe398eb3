//! ablaze's own report: a head that names the URL and the load, then lines that begin with a word.

use super::line::{count, number, time_ms};
use super::{Connections, Printed, Report, Times};

/// Where in a line a report of ablaze begins: `GET http://… · HTTP/1.1 …`, perhaps behind what a
/// log puts before every line.
pub fn begins_at(line: &str) -> Option<usize> {
    let url_at = [" http://", " https://"].iter().filter_map(|scheme| line.find(scheme)).min()?;
    let before = &line[..url_at];
    let at = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let method = &before[at..];
    let is_method =
        !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
    let after: Vec<&str> = line[url_at..].split_whitespace().skip(1).take(2).collect();
    let goes_on = match after.as_slice() {
        [] => true,
        [dot, version] => *dot == "·" && version.starts_with("HTTP/1."),
        _ => false,
    };
    (is_method && goes_on).then_some(at)
}

/// How the head names the shape of the load.
const LOADS: [&str; 2] = ["closed loop, ", "open loop, "];

/// Takes what a line of the report says; whether it says anything.
pub fn take(report: &mut Report, line: &str) -> bool {
    if begins_at(line).is_some()
        || line.starts_with("HTTP/1.")
        || LOADS.iter().any(|load| line.contains(load))
    {
        head(report, line);
        return true;
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    let rest = line[first.len()..].trim_start();
    match first {
        "answers" => answers(report, rest),
        "rate" => report.rate_per_s = number(rest).map(|(rate, _)| rate),
        "errors" => report.failed = count(rest),
        "unexpected" | "unfinished" | "repeated" if count(rest).is_some() => {}
        "CPU" | "tester" | "client" if rest.contains("  ") => {}
        // The first row: connections made before the clock started are in no total.
        "connect" => report.connect = row(rest).or(report.connect),
        "wait" => report.waiting = row(rest),
        // In an open loop the response counts from when a request was due: what its user waits.
        "total" | "response" => {
            let Some(times) = row(rest) else { return false };
            report.total = Some(times);
            report.percentiles = percentiles(rest);
        }
        "receive" | "service" | "lag" if row(rest).is_some() => {}
        _ => return statuses_and_bytes(report, line),
    }
    true
}

fn head(report: &mut Report, line: &str) {
    for item in line.split(" · ") {
        let item = item.trim();
        if begins_at(item).is_some() {
            url(report, item.split_whitespace().nth(1).unwrap_or_default());
        }
        if item.contains("keep-alive") {
            report.connections = Connections::Kept(None);
        } else if item.contains("a connection per request") {
            report.connections = Connections::PerRequest;
        }
        report.open_loop |= item.starts_with("open loop, ");
        if let Some(connections) = item.strip_prefix("closed loop, ").and_then(count) {
            let pipeline = item.split_once("× ").and_then(|(_, rest)| count(rest)).unwrap_or(1);
            report.concurrency = Some(connections.saturating_mul(pipeline));
        }
    }
}

fn url(report: &mut Report, url: &str) {
    report.tls = url.starts_with("https://");
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
        _ => (authority, Some(if report.tls { 443 } else { 80 })),
    };
    report.host = Some(host.to_owned());
    report.port = port;
    report.path = Some(path.to_owned());
}

/// `20,000 in 10.00 s    200: 20,000    errors: 0    14 B body    305 KiB/s`
fn answers(report: &mut Report, rest: &str) {
    let Some((answers, after)) = number(rest) else { return };
    report.complete = Some(answers.value as u64);
    report.failed = Some(0);
    let taken_ms = after.trim_start().strip_prefix("in ").and_then(time_ms);
    report.taken_s =
        taken_ms.map(|(taken, _)| Printed { value: taken.value / 1e3, step: taken.step / 1e3 });
    statuses_and_bytes(report, after);
}

/// The items of that line and of those it is continued on.
fn statuses_and_bytes(report: &mut Report, line: &str) -> bool {
    let mut any = false;
    for item in line.split("  ").map(str::trim).filter(|item| !item.is_empty()) {
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

/// The cells of a row: mean, p50, p90, p99, its interval, p99.9, max. `-` is an empty one.
fn cells(rest: &str) -> Vec<Option<Printed>> {
    let mut cells = Vec::new();
    let mut rest = rest.trim_start();
    while cells.len() < 6 && !rest.is_empty() {
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
    cells
}

fn row(rest: &str) -> Option<Times> {
    let cells = cells(rest);
    let mean_ms = *cells.first()?;
    Some(Times {
        min_ms: None,
        mean_ms,
        deviation_ms: None,
        median_ms: cells.get(1).copied().flatten(),
        max_ms: cells.last().copied().flatten(),
    })
}

fn percentiles(rest: &str) -> Vec<(f64, Printed)> {
    let cells = cells(rest);
    let names = [50.0, 90.0, 99.0, 99.9];
    let middle = cells.iter().skip(1).take(cells.len().saturating_sub(2));
    let mut found: Vec<(f64, Printed)> =
        names.into_iter().zip(middle).filter_map(|(name, cell)| Some((name, (*cell)?))).collect();
    if let Some(longest) = cells.last().copied().flatten() {
        found.push((100.0, longest));
    }
    found
}
