//! ablaze's own report: its table of times, its interval, its seconds, and the rate that it was asked for.

use super::Contradiction;
use super::figure::Figure::{self, *};
use super::figure::{Column, Row};
use crate::printed::{ASKED, FASTEST, INTERVAL, Printed, RECEIVED, Report, SLOWEST};
use crate::words::{counted, decimal, grouped};

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let mut found = waiting(report);
    found.extend(wait_within_total(report));
    found.extend(interval(report));
    found.extend(seconds(report));
    found.extend(more_than_asked(report));
    found.extend(more_by_status(report));
    found.extend(fewer_by_status(report));
    found.extend(bodies(report));
    found
}

/// Histograms have three digits of each time.
const NEAR: f64 = 1.01;

fn is_more(less: Printed, more: Printed) -> bool {
    less.value - less.step > (more.value + more.step) * NEAR
}

/// `the wait p75`.
fn of_wait(percent: f64) -> String {
    match percent {
        100.0 => "the longest wait".to_owned(),
        percent => format!("p{percent} of the wait"),
    }
}

/// More of the waits took longer.
fn waiting(report: &Report) -> Vec<Contradiction> {
    let pairs = report.waiting_percentiles.windows(2);
    let falls = pairs.filter(|pair| is_more(pair[0].1, pair[1].1));
    let said = |pair: &[(f64, Printed)]| {
        let said = format!(
            "{} is {} ms, more than {} ({} ms).",
            of_wait(pair[0].0),
            ms(pair[0].1),
            of_wait(pair[1].0),
            ms(pair[1].1)
        );
        Contradiction::new([Own(WAITS)], said)
    };
    falls.map(said).collect()
}

/// As it is called in a sentence.
const WAITS: &str = "the row of waits";

fn ms(printed: Printed) -> String {
    super::figure::digits(printed)
}

/// The wait is a part of each request's time; where some failed, the rows are of different requests.
fn wait_within_total(report: &Report) -> Vec<Contradiction> {
    if report.failed != Some(0) || report.open_loop {
        return Vec::new();
    }
    let of_total = |percent: f64| report.percentile(percent);
    let over = report.waiting_percentiles.iter().find_map(|(percent, wait)| {
        let total = of_total(*percent).filter(|total| is_more(*wait, *total))?;
        Some((*percent, *wait, total))
    });
    let mut found: Vec<Contradiction> = over
        .map(|(percent, wait, total)| {
            let said = format!(
                "{} is {} ms, more than that of the total ({} ms), of which it is a part.",
                of_wait(percent),
                ms(wait),
                ms(total)
            );
            Contradiction::new([Own(WAITS), Percentile(percent)], said)
        })
        .into_iter()
        .collect();
    let cells = [Row::Waiting, Row::Total].map(|row| Cell(row, Column::Mean));
    if let [Some(wait), Some(total)] = cells.map(|cell| cell.printed(report))
        && is_more(wait, total)
    {
        let said = format!(
            "{} is {} ms, more than {} ({} ms), of which it is a part.",
            cells[0].name(report),
            ms(wait),
            cells[1].name(report),
            ms(total)
        );
        found.push(Contradiction::new(cells, said));
    }
    found
}

/// Each response has one status.
fn more_by_status(report: &Report) -> Option<Contradiction> {
    let sum = report.statuses.values().copied().fold(0, u64::saturating_add);
    let complete = report.complete.filter(|complete| sum > *complete)?;
    let said = format!(
        "The numbers by status add up to {}, more than {} ({}).",
        grouped(sum),
        Complete.name(report),
        grouped(complete)
    );
    Some(Contradiction::new([Complete, Statuses], said))
}

/// None is left out. Many of them may go on below, on a line that was lost: what stands behind the last shows that they do
/// not.
fn fewer_by_status(report: &Report) -> Option<Contradiction> {
    report.own(RECEIVED).filter(|_| !report.statuses.is_empty())?;
    let sum = report.statuses.values().copied().fold(0, u64::saturating_add);
    let complete = report.complete.filter(|complete| sum < *complete)?;
    let said = format!(
        "The numbers by status add up to {}, fewer than {} ({}).",
        grouped(sum),
        Complete.name(report),
        grouped(complete)
    );
    Some(Contradiction::new([Complete, Statuses], said))
}

/// Of the bodies so many came while the clock ran, for sure: of what was under way when it started a part had come before.
const WHILE_IT_RAN: f64 = 0.5;

/// All that came is no less than the bodies.
fn bodies(report: &Report) -> Option<Contradiction> {
    let received = Own(RECEIVED);
    let (per_s, taken) = (received.printed(report)?, report.taken_s?);
    let crate::printed::Document::Bytes(length) = report.document? else { return None };
    let (complete, under_way) = (report.complete?, report.concurrency?);
    let bodies = complete.saturating_sub(under_way) as f64 * WHILE_IT_RAN;
    (bodies * length as f64 > per_s.high() * taken.high() * NEAR).then(|| {
        let said = format!(
            "{} with bodies of {} B each in {} s are {} B/s, but {RECEIVED} are {}.",
            counted(complete, "response"),
            grouped(length),
            Taken.digits(report),
            decimal(complete as f64 * length as f64 / taken.value, 0),
            decimal(per_s.value, 0)
        );
        Contradiction::new([received, Document, Complete, Taken], said)
    })
}

/// p99 lies in its own interval.
fn interval(report: &Report) -> Option<Contradiction> {
    let beside = Own("p99 beside the rate");
    let p99 = beside.printed(report)?;
    let [low, high] = INTERVAL.map(Own);
    let (least, most) = (low.printed(report)?, high.printed(report)?);
    (is_more(least, p99) || is_more(p99, most)).then(|| {
        let said = format!(
            "p99 is {} ms, but its interval is {} to {} ms.",
            beside.digits(report),
            low.digits(report),
            high.digits(report)
        );
        Contradiction::new([beside, low, high], said)
    })
}

/// The slowest second has no more responses than any other whole one, and the fastest no more than there are.
fn seconds(report: &Report) -> Option<Contradiction> {
    let (slow, fast) = (Own(SLOWEST), Own(FASTEST));
    let (slowest, fastest) = (slow.printed(report)?, fast.printed(report)?);
    if is_more(slowest, fastest) {
        let said = format!(
            "{SLOWEST} is {}, more than {FASTEST} ({}).",
            slow.digits(report),
            fast.digits(report)
        );
        return Some(Contradiction::new([slow, fast], said));
    }
    let all = report.complete?.saturating_add(report.failed?);
    let taken = report.taken_s?;
    // The second in which it ends is no whole one.
    let whole = (taken.value - taken.step).floor().max(1.0);
    let each = |figure: Figure, name: &str, seconds: f64| {
        let least = (figure.printed(report)?.low() * seconds) / NEAR;
        (least > all as f64).then(|| {
            let said = format!(
                "{name} is {}, but {} in {} s are there.",
                figure.digits(report),
                counted(all, "response"),
                Taken.digits(report)
            );
            Contradiction::new([figure, Complete, Taken], said)
        })
    };
    each(slow, SLOWEST, whole).or_else(|| each(fast, FASTEST, 1.0))
}

/// A tool that paces its requests may begin with some at once.
const BURST: f64 = 100.0;

/// In an open loop no more are sent than are due.
fn more_than_asked(report: &Report) -> Option<Contradiction> {
    let asked = Own(ASKED);
    let (per_s, taken) = (asked.printed(report)?, report.taken_s?);
    let all = report.complete?.saturating_add(report.failed?);
    let most = per_s.high() * taken.high() * 1.1 + BURST;
    (all as f64 > most).then(|| {
        let said = format!(
            "{ASKED} is {}/s, which makes {} in {} s, but {} ended.",
            asked.digits(report),
            decimal(per_s.value * taken.value, 0),
            Taken.digits(report),
            grouped(all)
        );
        Contradiction::new([asked, Taken, Complete], said)
    })
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D43;
    use crate::printed::read;
    use crate::rules::judge;

    fn said(text: &str) -> String {
        let findings = judge(&read(text)).reports.remove(0).findings;
        findings.into_iter().filter(|one| one.id == D43).map(|one| one.evidence).collect()
    }

    #[test]
    fn statuses_are_no_more_than_responses() {
        let text = |status: &str| {
            format!(
                "VALID · limit unknown\nGET http://h/ · HTTP/1.1 keep-alive · closed loop, 8 connections · 1 thread\n\n  \
                 3,977 requests/s    p50 270 µs   p95 1.25 ms   p99 2.65 ms [2.55–2.72]   max 10.2 ms   errors 0\n  \
                 39,774 responses in 10.00 s · 200: {status} · 503: 4 · 1.27 MiB/s\n"
            )
        };
        assert_eq!(said(&text("39,770")), "");
        assert!(said(&text("39,771")).contains("add up to 39,775"), "{}", said(&text("39,771")));
        for (status, sum) in [("39,769", "39,773"), ("0", "4")] {
            let expected = format!("add up to {sum}, fewer than");
            assert!(said(&text(status)).contains(&expected), "{}", said(&text(status)));
        }
        // Those that a narrow terminal has on the next line, which is not there.
        let wrapped = text("39,770").replace(" · 503: 4 · 1.27 MiB/s", "");
        assert_eq!(said(&wrapped), "");
    }

    #[test]
    fn bodies_are_no_more_than_all_bytes() {
        let text = |received: &str| {
            format!(
                "VALID · limit unknown\nGET http://h/ · HTTP/1.1 keep-alive · closed loop, 10 connections · 1 thread\n\n  \
                 490 requests/s    p50 20.2 ms   p95 21.3 ms   p99 23.9 ms   max 23.9 ms   errors 0\n  \
                 490 responses in 1.000 s · 200: 490 · {received}\n\n  body length        14 B each\n"
            )
        };
        for received in ["70.3 KiB/s", "7.00 KiB/s", "7,000 B/s"] {
            assert_eq!(said(&text(received)), "", "{received}");
        }
        let expected = "are 6,860 B/s, but the bytes received per second are 3,174.";
        assert!(said(&text("3.1 KiB/s")).contains(expected), "{}", said(&text("3.1 KiB/s")));
    }

    #[test]
    fn wrk_has_a_connection_for_each_thread() {
        let text = |threads: u64| {
            format!(
                "Running 10s test @ http://h/\n  {threads} threads and 8 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
                 Latency     1.00ms    1.49ms  16.52ms   88.45%\n  80000 requests in 10.00s, 11.02MB read\nRequests/sec:   8000.00\n\
                 Transfer/sec:      1.10MB\n"
            )
        };
        assert_eq!(said(&text(8)), "");
        assert!(
            said(&text(9)).contains("9 threads are more than 8 connections"),
            "{}",
            said(&text(9))
        );
    }
}
