//! What the kinds of failures in a printed report show besides their number: the time that those which timed out held
//! their connections, and causes that they exclude.

use crate::printed::{FailedParts, Report, Tool};
use crate::words::{counted, decimal, grouped, percent, seconds};

/// From this share of the time of all connections on, requests that timed out decide on the rate.
const NOTICED: f64 = 0.05;
/// hey's `-t` where the command has none.
const HEY_TIMEOUT_S: f64 = 20.0;

/// What hey and vegeta say of one.
const TOO_MANY: &str = "stopped after 10 redirects";
/// Why, and what to do.
pub const REDIRECTS: (&str, &str) = (
    "Each response was a redirect, and so was what it leads to, ten times: the client then gives up. The URL leads in a circle, or \
     further. The rate counts all of them as one request.",
    "See with `curl -iL` where it leads, and load the URL at its end; if a redirect is what is measured, do not follow it (hey: \
     -disable-redirects).",
);

/// Time that requests held which timed out.
pub struct Held {
    /// Of the time of all connections.
    pub share: f64,
    /// How it was computed.
    pub evidence: String,
}

/// In a closed loop of whose failures most timed out, each after a time that the command says.
pub fn found(report: &Report) -> Option<Held> {
    let command = report.command.as_ref()?;
    let default_s = match report.tool {
        Tool::Hey => Some(HEY_TIMEOUT_S),
        Tool::Oha => None,
        _ => return None,
    };
    let asked = command.value_of('t', "timeout");
    let each_s = match asked {
        Some(asked) => seconds(asked)?,
        None => default_s?,
    };
    let is_timeout = |words: &str| words.contains("deadline exceeded") || words == "timeout";
    let timeouts = report.errors.iter().filter(|(words, _)| is_timeout(words));
    let timeouts = timeouts.filter_map(|(_, count)| *count).fold(0, u64::saturating_add);
    let (asked, taken_s) = (report.asked()?, report.taken_s?.value);
    let share = timeouts as f64 * each_s / (asked as f64 * taken_s);
    // More than all there was: these were not ended by that time.
    let fits = (NOTICED..=1.05).contains(&share) && timeouts * 2 > report.failed?;
    (fits && !report.is_paced()).then(|| Held {
        share,
        evidence: format!(
            " {} × {} s is {} of the time of {} in {} s: the rate changes with -t.",
            grouped(timeouts),
            decimal(each_s, if each_s.fract() == 0.0 { 0 } else { 2 }),
            percent(share.min(1.0)),
            counted(asked, "connection"),
            decimal(taken_s, 1)
        ),
    })
}

/// Whether every failure is one redirect too many.
pub fn ends_in_redirects(report: &Report) -> bool {
    !report.errors.is_empty() && report.errors.iter().all(|(words, _)| words.contains(TOO_MANY))
}

/// Whether ab's table has nothing of what is refused, reset or read in vain: what has no byte was closed.
pub fn closed_without_a_byte(report: &Report) -> bool {
    let none =
        |parts: FailedParts| parts.connect == 0 && parts.receive == 0 && parts.exceptions == 0;
    report.tool == Tool::Ab
        && !report.tls
        && report.write_errors.unwrap_or(0) == 0
        && report.failed_parts.is_some_and(none)
}
