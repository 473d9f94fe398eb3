//! More requests in flight than the command's connections have room for, in reports that do not print how many were asked for:
//! the figures of the report may agree with each other all the same.

use crate::printed::{Command, HEY_KEEPS, Printed, Report, Tool};
use crate::rules::arithmetic::printed_in_flight;
use crate::rules::consistency::{Contradiction, contradictions};
use crate::words::{amount, counted, decimal, grouped};

/// Of many requests h2load keeps the times of a sample; others round.
const SAMPLED: f64 = 1.05;

/// What the command asks for, and what the report shows of it.
pub(super) fn more_than_asked(report: &Report) -> Option<String> {
    let command = report.command.as_ref().filter(|_| !report.is_of_ablaze())?;
    let (connections, high) = command.concurrency;
    let is_of_them = matches!(report.tool, Tool::Hey | Tool::Oha | Tool::Siege | Tool::H2load);
    // With another number of connections it is another command's already.
    let differs = report.clients.is_some_and(|clients| clients != connections);
    if !is_of_them || connections != high || connections == 0 || differs {
        return None;
    }
    let places = connections.saturating_mul(command.streams);
    let shown = at_the_deadline(report, places).or_else(|| on_average(report, command, places))?;
    let connections = counted(connections, "connection");
    Some(match command.streams {
        1 => format!("{connections} {shown}"),
        streams => format!("{connections} of {} each {shown}", counted(streams, "request")),
    })
}

/// oha counts the requests that were under way when the time was up.
fn at_the_deadline(report: &Report, places: u64) -> Option<String> {
    let aborted = report.own("the number aborted at the deadline")?.value as u64;
    (aborted > places)
        .then(|| format!("where {} requests were under way when the time was up", grouped(aborted)))
}

/// Rate × mean time is the number in flight, in any system (Little's law). What began in a warm-up may end behind it: one
/// for each place.
fn on_average(report: &Report, command: &Command, places: u64) -> Option<String> {
    let taken = report.taken_s.or_else(|| of_main_duration(report))?;
    let (n, mean) = (with_a_time(report)?, report.mean_ms()?);
    // With this the times begin when requests were due, and not when they were sent.
    let corrected = command.words().any(|word| word == "--latency-correction");
    if corrected || !contradictions(report).iter().all(Contradiction::is_aside) {
        return None;
    }
    let max_ms = report.max_ms().map_or(0.0, |max| max.value + max.step);
    let room = places as f64 * ((taken.value + taken.step) * 1e3 + max_ms) * SAMPLED;
    let printed = printed_in_flight(report);
    let sum_ms = match printed {
        Some(in_flight) => in_flight.low() * taken.low() * 1e3,
        None => n as f64 * (mean.value - mean.step).max(0.0),
    };
    (sum_ms > room).then(|| match printed {
        Some(Printed { value, .. }) => {
            format!("where {} were in flight on average, as the report says", decimal(value, 2))
        }
        None => format!(
            "where {} were in flight on average ({} × {} ms / {} s)",
            amount(n as f64 * mean.value / 1e3 / taken.value),
            counted(n, "response"),
            amount(mean.value),
            amount(taken.value)
        ),
    })
}

/// h2load's rate is that of the main duration, whose length it prints in lines that are often left out.
fn of_main_duration(report: &Report) -> Option<Printed> {
    let rate = report.rate_per_s.filter(|rate| report.tool == Tool::H2load && rate.value > 0.0)?;
    let complete = report.complete? as f64;
    Some(Printed { value: complete / rate.value, step: complete * rate.step / rate.value.powi(2) })
}

/// The requests whose times the mean is of.
fn with_a_time(report: &Report) -> Option<u64> {
    let by_status = || report.statuses.values().copied().fold(0, u64::saturating_add);
    match report.tool {
        // Above this it divides the times of all by the number that it keeps.
        Tool::Hey => Some(by_status()).filter(|responses| *responses < HEY_KEEPS),
        Tool::Oha => Some(by_status()),
        _ => report.complete,
    }
}
