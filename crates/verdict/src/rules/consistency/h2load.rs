//! h2load: its counts and its bytes.

use super::Contradiction;
use super::figure::Figure::*;
use super::figure::Range;
use super::figure::{Column, Row};
use super::spread::{self, Spread};
use crate::printed::{
    BEYOND, FINISHED, FIRST_BYTE, FIRST_BYTE_DEVIATION, FIRST_BYTES, H2LOAD_DEVIATION, OF_THREADS,
    Printed, Report, UNCONNECTED, WARM_UP,
};
use crate::words::{counted, decimal, grouped};

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let mut found = counts(report);
    found.extend(first_byte(report));
    found.extend(by_class(report));
    found.extend(duration(report));
    found.extend(of_threads(report));
    found.extend(rows_of_clients(report));
    let (total, data) = ("the total bytes, rounded", "the bytes of data, rounded");
    let headers = (Own(HEADERS), Own("the bytes of headers, rounded"));
    for (bytes, rounded) in [(TotalBytes, Own(total)), (BodyBytes, Own(data)), headers] {
        let Some((exact, near)) = bytes.printed(report).zip(rounded.printed(report)) else {
            continue;
        };
        if Range::of(near).overlaps(Range::exactly(exact.value / 1024.0)) {
            continue;
        }
        let said = format!(
            "{} is {} B ({} KiB), but {} KiB is printed beside it.",
            match bytes {
                BodyBytes => "the number of bytes of data".to_owned(),
                bytes => bytes.name(report),
            },
            grouped(exact.value as u64),
            decimal(exact.value / 1024.0, 1),
            decimal(near.value, 1)
        );
        found.push(Contradiction::new([bytes, rounded], said));
    }
    found
}

/// As the reader calls them.
const HEADERS: &str = "the bytes of headers";
const WITH_STATUS: &str = "the number with a status";
const STARTED: &str = "the number started";
pub const SUCCEEDED: &str = "the number succeeded";
pub const FAILED: &str = "the number failed";
const TOTAL: &str = "the number of requests in total";

/// Whether the numbers are of a run by count: of one by time they may be counted on either side of its edges.
pub(super) fn is_by_count(report: &Report) -> bool {
    let timed = report.command.as_ref().is_some_and(|line| line.timed) || report.asked_s.is_some();
    // Its head says which it is; without it the length may be missing as well (`printed::peers::h2load`).
    let told = report.clients.is_some() || report.command.is_some();
    told && !timed && report.taken_s.is_some()
}

/// In a run by time h2load counts what begins, and what ends, and the heads that come within its main duration (src/h2load.cc:
/// `submit_request`, `on_stream_close`, `on_header`). So a response of which the head came in the warm-up, or the end after
/// the duration, is in one of the counts and not in the other: how many were under way when the warm-up ended, at most.
/// What it does not tell without its command is how many streams a client had.
fn under_way_at_start(report: &Report) -> Option<u64> {
    if is_by_count(report) || report.own(WARM_UP).is_some_and(|s| s.value == 0.0) {
        return Some(0);
    }
    let streams = report.command.as_ref()?.streams;
    report.own(WARM_UP)?;
    Some(report.asked_connections()?.saturating_mul(streams))
}

/// So many heads can have come at most: each of a request that was begun, or that was under way when the count began. Those that
/// broke off when their connection was opened again are neither done nor errored.
fn most_heads(report: &Report, both: u64) -> Option<u64> {
    if is_by_count(report) {
        return Some(both);
    }
    let started = Own(STARTED).printed(report)?.value as u64;
    Some(started.max(both).saturating_add(under_way_at_start(report)?))
}

/// Responses with 4xx and 5xx are failed. In a run by time the head may come before
/// the time that counts, or the rest behind it.
fn by_class(report: &Report) -> Option<Contradiction> {
    let failed = Own(FAILED).printed(report)?.value as u64;
    let (responses, errored) = (report.complete?, report.failed?);
    let of = |class| report.classes.get(&class).copied();
    let bad = of(4)?.saturating_add(of(5)?);
    let with_status = failed.saturating_sub(errored);
    // Those of 600 or more are in no class.
    let in_classes = report.classes.values().copied().fold(0, u64::saturating_add);
    let least = with_status.saturating_sub(responses.saturating_sub(in_classes));
    let (least, most) = match is_by_count(report) {
        true => (least, failed),
        false => {
            let at_start = under_way_at_start(report)?;
            let at_edges = report.asked_connections()?.saturating_mul(streams(report));
            let good = responses.saturating_sub(with_status);
            let begun = most_heads(report, responses.saturating_add(errored))?;
            let left = begun.saturating_sub(good).saturating_add(at_start);
            (least.saturating_sub(at_edges), left.max(failed.saturating_add(at_edges)))
        }
    };
    (bad < least || bad > most).then(|| {
        let said = format!(
            "{} failed, {} of them errored, but {} had a status of 4xx or 5xx: h2load counts these as failed.",
            counted(failed, "request"),
            grouped(errored),
            counted(bad, "response")
        );
        Contradiction::new([Own(FAILED), Statuses, Failed], said)
    })
}

/// As the command has it, or one.
fn streams(report: &Report) -> u64 {
    report.command.as_ref().map_or(1, |command| command.streams)
}

/// In a run by count each client lives within the run. Of one by time the warm-up is not in its length.
fn first_byte(report: &Report) -> Option<Contradiction> {
    let by_count = is_by_count(report);
    let (max, taken) = (Own(FIRST_BYTE).printed(report)?, report.taken_s.filter(|_| by_count)?);
    (max.value - max.step > (taken.value + taken.step) * 1e3 * LONGER).then(|| {
        let said = format!(
            "{FIRST_BYTE} is {} ms, longer than the run ({} s).",
            Own(FIRST_BYTE).digits(report),
            Taken.digits(report)
        );
        Contradiction::new([Own(FIRST_BYTE), Taken], said)
    })
}

/// A run by time lasts for its warm-up and its main duration, where no client was lost; then h2load ends its clients at
/// once. It opens them one after the other where it was told a rate for that.
fn duration(report: &Report) -> Option<Contradiction> {
    let finished = Own(FINISHED);
    let (taken, main) = (finished.printed(report)?, report.asked_s?);
    let warm_up = report.own(WARM_UP)?;
    if report.own(UNCONNECTED).is_some() || report.failed != Some(0) || report.complete == Some(0) {
        return None;
    }
    let both = main.value + warm_up.value;
    let too_short = taken.value + taken.step < both * 0.98 - EARLY_S;
    let too_long = taken.value - taken.step > both * 1.5 + LATE_S;
    (too_short || too_long).then(|| {
        let told = match warm_up.value {
            0.0 => format!("the main duration is {} s", decimal(main.value, 0)),
            _ => format!(
                "the warm-up is {} s and the main duration {} s",
                decimal(warm_up.value, 0),
                decimal(main.value, 0)
            ),
        };
        let said = format!("{FINISHED} is {} s, but {told}.", finished.digits(report));
        Contradiction::new([finished, Own(WARM_UP), Taken], said)
    })
}

/// Timers go off that much early, or, on a machine without time for them, late.
const EARLY_S: f64 = 0.05;
const LATE_S: f64 = 60.0;

/// Each thread has its part of the requests, and says so.
fn of_threads(report: &Report) -> Option<Contradiction> {
    let (shares, total) = (Own(OF_THREADS).printed(report)?, Own(TOTAL).printed(report)?);
    (is_by_count(report) && shares.value > 0.0 && shares.value != total.value).then(|| {
        let said = format!(
            "{OF_THREADS} is {}, but {TOTAL} {}.",
            Own(OF_THREADS).digits(report),
            Own(TOTAL).digits(report)
        );
        Contradiction::new([Own(OF_THREADS), Own(TOTAL)], said)
    })
}

/// Each client is in each of these rows once at most; with `ablaze h2load` each connection, and a server that closes makes
/// them any number.
fn rows_of_clients(report: &Report) -> Vec<Contradiction> {
    let clients = report.asked_connections().filter(|_| !report.is_of_ablaze());
    let clients = clients.map(|clients| clients as f64);
    let [least, mean, most] = FIRST_BYTES.map(Own);
    let cell = |column| Cell(Row::Connect, column);
    let rows = [
        Spread {
            least: Some(Own("the least req/s")),
            mean: Own("the mean req/s"),
            deviation: Own(H2LOAD_DEVIATION),
            most: Own("the most req/s"),
            unit: "",
        },
        Spread {
            least: Some(least),
            mean,
            deviation: Own(FIRST_BYTE_DEVIATION),
            most,
            unit: " ms",
        },
        Spread {
            least: Some(cell(Column::Min)),
            mean: cell(Column::Mean),
            deviation: cell(Column::Deviation),
            most: cell(Column::Max),
            unit: " ms",
        },
    ];
    rows.iter().filter_map(|row| spread::contradiction(report, row, clients)).collect()
}

/// Clocks are read one after the other.
const LONGER: f64 = 1.02;

/// Its counts: responses and errors are all requests.
fn counts(report: &Report) -> Vec<Contradiction> {
    let (Some(responses), Some(errored)) = (report.complete, report.failed) else {
        return Vec::new();
    };
    let both = responses.saturating_add(errored);
    let exact = |name| Own(name).printed(report).map(|figure: Printed| figure.value as u64);
    let mut found = Vec::new();
    let mut differ = |name: &'static str, fits: &dyn Fn(u64) -> bool| {
        let Some(count) = exact(name).filter(|count| !fits(*count)) else { return };
        let said = format!(
            "{} is {}, but {} succeeded and {} failed, {} of these errored.",
            Own(name).name(report),
            grouped(count),
            Own(SUCCEEDED).digits(report),
            Own(FAILED).digits(report),
            grouped(errored)
        );
        // The responses are those that succeeded, and those that failed and did not err.
        let of_statuses = (name == WITH_STATUS).then_some(Statuses);
        let figures = match name {
            // Those that succeeded and those that failed are all, however many of the latter errored.
            TOTAL => vec![Own(name), Own(SUCCEEDED), Own(FAILED)],
            _ => {
                [Own(name), Complete, Failed, Own(FAILED)].into_iter().chain(of_statuses).collect()
            }
        };
        found.push(Contradiction::new(figures, said));
    };
    differ(TOTAL, &|total| total == both);
    differ(FAILED, &|failed| failed >= errored);
    differ("the number done", &|done| (responses..=both).contains(&done));
    // In a run by time the total is what was done.
    let by_count = is_by_count(report);
    let at_start = under_way_at_start(report);
    let done_of_begun = at_start.map_or(0, |at_start| responses.saturating_sub(at_start));
    differ(STARTED, &|started| started >= done_of_begun);
    differ("the number timed out", &|late| late <= errored || !by_count);
    // The head of a response that breaks off has a status, too. One of 600 or more is in no class, and failed.
    let beyond = exact(BEYOND).unwrap_or(0);
    let done_of_begun = done_of_begun.saturating_sub(beyond);
    if let Some(most) = most_heads(report, both) {
        differ(WITH_STATUS, &|sum| (done_of_begun..=most).contains(&sum));
    }
    found.extend(more_started(report).filter(|_| by_count));
    found.extend(order(report));
    found
}

/// In a run by count no more are begun than there are.
fn more_started(report: &Report) -> Option<Contradiction> {
    let exact = |name| Own(name).printed(report).map(|figure: Printed| figure.value as u64);
    let (started, total) = (exact(STARTED)?, exact(TOTAL)?);
    (started > total).then(|| {
        let said =
            format!("{STARTED} is {}, more than {TOTAL} ({}).", grouped(started), grouped(total));
        Contradiction::new([Own(STARTED), Own(TOTAL)], said)
    })
}

/// The rates of the clients, and their times to the first byte: the least, then the mean, then the most.
fn order(report: &Report) -> Vec<Contradiction> {
    let rates = ["the least req/s", "the mean req/s", "the most req/s"];
    let mut found = Vec::new();
    for (row, of, unit) in [(rates, " of a client", ""), (FIRST_BYTES, "", " ms")] {
        for pair in row.windows(2) {
            let [less, more] = [Own(pair[0]), Own(pair[1])];
            let (Some(low), Some(high)) = (less.range(report), more.range(report)) else {
                continue;
            };
            if low.low <= high.high {
                continue;
            }
            let (one, other) = (less.digits(report), more.digits(report));
            let said = format!(
                "{}{of} is {one}{unit}, more than {} ({other}{unit}).",
                less.name(report),
                more.name(report)
            );
            found.push(Contradiction::new([less, more], said));
        }
    }
    found
}
