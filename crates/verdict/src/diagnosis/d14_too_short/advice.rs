//! How a tool is asked for a run that is long enough: at the rate that was seen, and never a shorter one.

use super::{FEW, LONG_S, TOO_LONG_S};
use crate::printed::{Command, Program, Report, Tool};
use crate::words::grouped;

/// Requests that `ab -t` needs a limit above, at least.
const AB_MOST: u64 = 1_000_000;

/// What is to be done, in general; connections that are not kept carry one request each.
pub(super) fn remedy(kept: bool) -> &'static str {
    match kept {
        true => "Run for 10 s or more, with 100 requests or more per connection",
        false => "Run for 10 s or more, with 100 requests or more for each that is in flight",
    }
}

/// A longer run than one of so many requests in so long, where so many are wanted; whether fewer connections would do.
pub(super) fn longer(
    report: &Report,
    kept: bool,
    length_s: Option<f64>,
    wanted: Option<f64>,
    fewer: bool,
) -> String {
    let complete = report.complete.filter(|complete| *complete > 0).unwrap_or(1) as f64;
    let needed_s = match (wanted, length_s) {
        (None, _) => Some(LONG_S),
        (Some(wanted), Some(length_s)) => Some((length_s * wanted / complete).max(LONG_S).ceil()),
        // Ten seconds may be less than it was.
        (Some(_), None) => None,
    };
    let Some(needed_s) = needed_s.filter(|needed_s| needed_s.is_finite()) else {
        return format!("{}.", remedy(kept));
    };
    if fewer && needed_s > TOO_LONG_S {
        return format!("{} (fewer connections: {}).", remedy(kept), connections_of(report.tool));
    }
    let requests = length_s.map_or(0.0, |length_s| complete / length_s * needed_s);
    let how = options(report.tool, needed_s, requests);
    let or_fewer = match fewer && length_s.is_some_and(|length_s| needed_s > length_s.max(LONG_S)) {
        true => format!("; or fewer connections: {}", connections_of(report.tool)),
        false => String::new(),
    };
    format!("{} ({how}{or_fewer}).", remedy(kept))
}

/// ab's limit on requests, which is not to be reached first.
pub(super) fn limit_of_ab(requests: f64) -> u64 {
    let mut most = AB_MOST;
    while (most as f64) < requests * 2.0 && most < u64::MAX / 10 {
        most *= 10;
    }
    most
}

fn options(tool: Tool, s: f64, requests: f64) -> String {
    match tool {
        Tool::Ab | Tool::AblazeAb => format!(
            "-t {s:.0} -n {}, in this order: -t alone stops at 50,000 requests",
            limit_of_ab(requests)
        ),
        Tool::Gurl | Tool::AblazeGurl => format!("-duration {s:.0}s"),
        Tool::Ablaze => format!("-d {s:.0}s --warmup 1s"),
        Tool::Wrk | Tool::Wrk2 | Tool::Bombardier => format!("-d {s:.0}s"),
        Tool::H2load => format!("-D {s:.0} --warm-up-time 1"),
        Tool::Hey | Tool::Oha => format!("-z {s:.0}s"),
        Tool::Vegeta => format!("-duration={s:.0}s"),
        Tool::Siege => format!("-t {s:.0}s"),
    }
}

fn connections_of(tool: Tool) -> &'static str {
    match tool {
        Tool::Gurl | Tool::AblazeGurl => "-ac",
        _ => "-c",
    }
}

/// A command whose report is not there, and so its rate is not known.
pub(super) fn more_requests(command: &Command) -> String {
    let option = if command.program == Program::Gurl { "-an" } else { "-n" };
    let wanted = (FEW as u64).saturating_mul(command.concurrency.1);
    format!(
        "{} ({option} {wanted}: {} for each of {}; more where that takes less than 10 s).",
        remedy(command.keep_alive != Some(false)),
        grouped(FEW as u64),
        grouped(command.concurrency.1)
    )
}
