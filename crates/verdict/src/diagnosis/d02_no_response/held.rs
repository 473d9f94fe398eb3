//! What the kinds of failures in a printed report show besides their number: the time that those which timed out held
//! their connections, and causes that they exclude.

use crate::printed::{FailedParts, Report, Tool};
use crate::words::{counted, decimal, grouped, percent, seconds};

/// From this share of the time of all connections on, requests that timed out decide on the rate.
const NOTICED: f64 = 0.05;
/// In a run by count, from this share of its length on that one of them takes.
const OF_THE_LENGTH: f64 = 0.25;
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
    let is_by_count = command.value_of('z', "duration").is_none();
    let long = is_by_count && timeouts > 0 && each_s >= OF_THE_LENGTH * taken_s;
    let fits = (share >= NOTICED || long) && share <= 1.05 && timeouts * 2 > report.failed?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::read;

    /// Of 2.0 s, one timeout took the half; by time the rate of the others is what was measured.
    #[test]
    fn few_timeouts_decide_on_the_rate_of_a_run_by_count() {
        let with = |length: &str| {
            let text = format!(
                "$ hey {length} -c 50 -t 1 http://10.0.0.5/\n\nSummary:\n  Total:\t2.0391 secs\n  Slowest:\t0.0115 secs\n  \
                 Fastest:\t0.0000 secs\n  Average:\t0.0020 secs\n  Requests/sec:\t490.4093\n\nStatus code distribution:\n  \
                 [200]\t995 responses\n\nError distribution:\n  [5]\tGet \"http://10.0.0.5/\": context deadline exceeded \
                 (Client.Timeout exceeded while awaiting headers)\n"
            );
            found(&read(&text).reports[0])
        };
        let held = with("-n 1000").unwrap();
        assert!(
            held.evidence.contains("5 × 1 s is 4.9 % of the time of 50 connections in 2.0 s"),
            "{}",
            held.evidence
        );
        assert!(with("-z 2s").is_none());
    }
}
