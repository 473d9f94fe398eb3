//! h2load: its counts and its bytes.

use super::Contradiction;
use super::figure::Figure::*;
use super::figure::Range;
use crate::printed::{FIRST_BYTE, Printed, Report};
use crate::words::{counted, decimal, grouped};

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let mut found = counts(report);
    found.extend(first_byte(report));
    found.extend(by_class(report));
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

/// Responses with 4xx and 5xx are failed, and no others but those that errored. In a run by time the head may come before
/// the time that counts, or the rest behind it: of one response for each stream.
fn by_class(report: &Report) -> Option<Contradiction> {
    let failed = Own("the number failed").printed(report)?.value as u64;
    let errored = report.failed?;
    let of = |class| report.classes.get(&class).copied();
    let bad = of(4)?.saturating_add(of(5)?);
    let room = match report.asked_s {
        None => 0,
        Some(_) => report.asked_connections()?.saturating_mul(report.command.as_ref()?.streams),
    };
    let least = failed.saturating_sub(errored).saturating_sub(room);
    (bad < least || bad > failed.saturating_add(room)).then(|| {
        let said = format!(
            "{} failed, {} of them errored, but {} had a status of 4xx or 5xx: h2load counts these as failed, and no \
             other responses.",
            counted(failed, "request"),
            grouped(errored),
            counted(bad, "response")
        );
        Contradiction::new([Own("the number failed"), Statuses, Failed], said)
    })
}

/// In a run by count each client lives within the run. Of one by time the warm-up is not in its length.
fn first_byte(report: &Report) -> Option<Contradiction> {
    let timed = report.command.as_ref().is_some_and(|line| line.timed) || report.asked_s.is_some();
    let (max, taken) = (Own(FIRST_BYTE).printed(report)?, report.taken_s.filter(|_| !timed)?);
    (max.value - max.step > (taken.value + taken.step) * 1e3 * LONGER).then(|| {
        let said = format!(
            "{FIRST_BYTE} is {} ms, longer than the run ({} s).",
            Own(FIRST_BYTE).digits(report),
            Taken.digits(report)
        );
        Contradiction::new([Own(FIRST_BYTE), Taken], said)
    })
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
            "{} is {}, but {} succeeded or failed with a status, and {} errored.",
            Own(name).name(report),
            grouped(count),
            grouped(responses),
            grouped(errored)
        );
        found.push(Contradiction::new([Own(name), Complete, Failed], said));
    };
    differ("the number of requests in total", &|total| total == both);
    differ("the number failed", &|failed| failed >= errored);
    differ("the number done", &|done| (responses..=both).contains(&done));
    // In a run by time it has no total.
    let counted = report.asked_s.is_none() && report.taken_s.is_some();
    let total = exact("the number of requests in total").filter(|_| counted).unwrap_or(u64::MAX);
    differ("the number started", &|started| (responses..=total).contains(&started));
    differ("the number timed out", &|late| late <= errored || !counted);
    // The head of a response that breaks off has a status, too.
    differ("the number with a status", &|sum| (responses..=both).contains(&sum));
    let [least, mean, most] = ["the least req/s", "the mean req/s", "the most req/s"].map(Own);
    for (less, more) in [(least, mean), (mean, most)] {
        let (Some(low), Some(high)) = (less.range(report), more.range(report)) else { continue };
        if low.low > high.high {
            let (one, other) = (less.digits(report), more.digits(report));
            let said = format!(
                "{} of a client is {one}, more than {} ({other}).",
                less.name(report),
                more.name(report)
            );
            found.push(Contradiction::new([less, more], said));
        }
    }
    found
}
