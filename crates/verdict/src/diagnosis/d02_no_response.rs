//! D02: requests that nobody answered. Other clients count them as complete.

use ablaze_model::record::Stopped;
use ablaze_model::run::Ended;
use ablaze_model::{FailureKind, Run};

mod aborted;
mod away;
pub(crate) mod begun;
mod causes;
mod counted;
mod cut;
mod elsewhere;
mod empty;
mod ended;
mod fixes;
mod gone;
mod h2load;
mod held;
mod hosts;
mod malformed;
mod none;
mod not_taken;
mod not_walked;
mod opening;
mod over_quic;
mod printed;
mod queued;
mod silent;
mod sockets;
mod stopped;
mod through;
mod timed_out;
mod told;
mod under_way;
mod waiting;
mod windows;
mod words;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use super::{d18_connections_cut, d20_out_of_local_ports, d29_stuck_connection};
use crate::DiagnosisId::{D02, D03, D21};
use crate::finding::{Finding, Severity};
use crate::live::figures::elapsed_s;
use crate::live::options::{Opt, spelled};
use crate::live::request_shown;
use crate::live::whose::of_forward_proxy;
use crate::words::{amount, counted, decimal, grouped, percent, time};
pub(super) use causes::by_kind;
pub(crate) use causes::without_end;
pub(crate) use empty::all_bodies_came;
pub(super) use empty::empty;
use ended::ENDED;
use fixes::fix;
pub(super) use gone::gone;
use gone::went_away;
pub(crate) use malformed::{Kinds, kinds, told_apart};
pub(crate) use printed::without_response;
pub(crate) use queued::is_full_of_others;
pub(super) use stopped::STOPPED;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D02,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect, Severity::Invalid],
    explained_by: &[D03, D21],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        while_it_runs: Some(under_way::while_it_runs),
        report: Some(printed::on_report),
        abort: Some(aborted::on_abort),
        ..Forms::NONE
    },
};

/// Fewer than this are accidents.
const SHARE: f64 = 0.01;
/// From here on the rate is no rate of responses.
const MOST: f64 = 0.5;
/// ab counts a request as complete when the connection closes, with or without a response; the
/// shortest HTTP response there can be is `HTTP/1.0 200 OK` with its two line ends.
pub(crate) const SHORTEST_RESPONSE_BYTES: f64 = 19.0;

/// Failures by which the far end left a request without a response; those of this machine have
/// diagnoses of their own.
fn is_of_the_server(kind: FailureKind) -> bool {
    !matches!(
        kind,
        FailureKind::LocalPorts
            | FailureKind::LocalDescriptors
            | FailureKind::Other
            | FailureKind::RequestTooLarge
    )
}

/// Whether half of all failures or more are those of this machine, of which no server knows.
fn are_of_this_machine(run: &Run) -> bool {
    let of_the_server: u64 = kinds_of_the_server().map(|kind| run.record.failures_of(kind)).sum();
    of_the_server * 2 <= run.record.failures_total()
}

fn kinds_of_the_server() -> impl Iterator<Item = FailureKind> {
    FailureKind::ALL.into_iter().filter(|kind| is_of_the_server(*kind))
}

pub(crate) use windows::seen as held_bodies;

/// Whether requests to which nothing comes hold the connections that an open loop's next ones wait for.
pub(super) fn holds_the_places(run: &Run) -> bool {
    silent::is_full(run)
}

/// Whether so many requests got nothing until the end that this is found.
pub(super) fn is_silent(run: &Run) -> bool {
    silent::held(run).is_some()
}

fn on_run(run: &Run) -> Option<Finding> {
    found(run).map(|found| of_forward_proxy(run, found))
}

fn found(run: &Run) -> Option<Finding> {
    let record = &run.record;
    // Responses that stopped in the middle are another diagnosis.
    let stuck =
        if d29_stuck_connection::is_found(run) { record.stopped } else { Stopped::default() };
    if record.finished() == 0 {
        if record.unfinished == 0 {
            return not_walked::found(run).or_else(|| {
                Some(match run.ended {
                    Ended::Interrupted => nothing_sent(run),
                    _ => nothing_due(run),
                })
            });
        }
        let streamless = record.without_stream().unfinished;
        let waiting = record.unfinished > stuck.unfinished + streamless;
        return waiting.then(|| begun::still_waiting(run));
    }
    let (closed_idle, reset_idle) = d18_connections_cut::failed_idle(run).unwrap_or_default();
    let failures_of = |kind: FailureKind| match kind {
        FailureKind::ClosedWithoutResponse => record.failures_of(kind).saturating_sub(closed_idle),
        FailureKind::Reset => record.failures_of(kind).saturating_sub(reset_idle),
        // Who waited for a stream, where none was permitted, was never sent.
        FailureKind::Timeout => record
            .failures_of(kind)
            .saturating_sub(d29_stuck_connection::timed_out(&stuck))
            .saturating_sub(record.without_stream().timed_out),
        kind => record.failures_of(kind),
    };
    let kinds = kinds_of_the_server().filter(|kind| failures_of(*kind) > 0);
    let unanswered: u64 = kinds_of_the_server().map(&failures_of).sum();
    // A request that was dropped on a new connection as well as on a reused one failed, sent again or not.
    let again = d18_connections_cut::dropped(run).unwrap_or(0);
    let of = record.finished() + again;
    let share = (unanswered + again) as f64 / of as f64;
    let of_time = timed_out::share_of_time(run, unanswered);
    if share <= SHARE {
        let other = away::found(run)
            .or_else(|| went_away(run))
            .or_else(|| hosts::away(run))
            .or_else(|| timed_out::held(run, &stuck))
            .or_else(|| silent::held(run))
            .or_else(|| not_taken::found(run))
            .or_else(|| none_responded(run));
        if other.is_some() || of_time.is_none_or(|share| share < timed_out::NOTICED) {
            return other;
        }
    }
    if share < MOST && hosts::never_listened(run).is_none() {
        let of_host = hosts::away(run);
        if of_host.is_some() {
            return of_host;
        }
    }
    let failed: Vec<(FailureKind, u64)> = kinds.map(|kind| (kind, failures_of(kind))).collect();
    let mut evidence = format!(
        "{} of {} ({}) got no valid response: {}{}.",
        grouped(unanswered + again),
        if again > 0 { counted(of, "request") + " sent" } else { counted(of, "request") },
        percent(share),
        if again > 0 { format!("{} sent again, ", grouped(again)) } else { String::new() },
        causes::by_kind(&failed)
    );
    evidence.push_str(&elsewhere::in_words(&[
        ("whose responses stopped partway (D29)", d29_stuck_connection::timed_out(&stuck)),
        ("on reused connections that ended (D18)", closed_idle + reset_idle),
        ("that no stream was permitted for (D40)", record.without_stream().timed_out),
    ]));
    let mut severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    if let Some(of_time) = of_time.filter(|of_time| share <= SHARE || *of_time >= MOST) {
        let they = match timed_out::still_silent_ns(run) {
            0.0 => "They",
            _ => "They, and those that still waited at the end,",
        };
        let took = format!(" {they} took {} of the time of all places.", percent(of_time));
        evidence.push_str(&took);
        severity = if of_time >= MOST { Severity::Invalid } else { severity };
    }
    let mut silence = None;
    let away = away::away(run);
    if let Some(gone) = gone(run).filter(|_| away.is_none()) {
        evidence = format!("{} {evidence}", gone.evidence());
        severity = severity.max(gone.severity());
        silence = gone.silence(run);
    }
    if let Some(away) = &away {
        evidence = format!("{} {evidence}", away.evidence());
        severity = severity.max(away.severity());
    }
    if away.is_none() && ended::is_seen(run, &failed) {
        evidence = format!("{evidence} {}", ENDED.0);
        if ended::is_why(run, &failed) {
            return Some(Finding::new(
                D02,
                severity,
                evidence,
                ended::cause(run, &failed),
                ENDED.2,
            ));
        }
    }
    let timeouts = failures_of(FailureKind::Timeout);
    if timeouts * 2 > unanswered && stopped::is_why(run, stopped::of_timeouts_s(run), &mut evidence)
    {
        return Some(Finding::new(D02, severity, evidence, STOPPED.0, STOPPED.1));
    }
    if timeouts * 2 > unanswered && windows::are_why(run, &mut evidence) {
        return Some(Finding::new(D02, severity, evidence, windows::CAUSE, windows::FIX));
    }
    if timeouts * 2 > unanswered
        && let Some(silence) = silence
    {
        let evidence = format!("{evidence} {}", silence.evidence);
        return Some(Finding::new(D02, severity, evidence, silence.cause, silence.fix));
    }
    if timeouts * 2 > unanswered
        && !causes::timed_out_here(run)
        && let Some(queued) = queued::mostly_queued(run, timeouts)
    {
        let evidence = format!("{evidence} {}", queued.evidence);
        return Some(Finding::new(D02, severity, evidence, queued.cause, queued.fix));
    }
    let mut cause = causes::of(run, &failed);
    if again > 0 {
        cause.push_str(match run.plan.load.pipeline() {
            _ if run.plan.streams().is_some() => "",
            0 | 1 => " It happened on new connections as well as on reused ones: reuse is not why.",
            _ if cause.contains(causes::LOST) => "",
            _ => " Requests that are pipelined behind another one are lost with its connection.",
        });
    }
    Some(Finding::new(D02, severity, evidence, cause, fix(run)))
}

/// EADDRNOTAVAIL or EADDRINUSE, where nothing was ever connected.
const NO_ADDRESS_OR_PORT: &str = "Connecting fails like this where this machine has no address from which that destination can be \
                                  reached (such as ::1, or any of IPv6, where IPv6 is off), and where no local port is left.";

fn fix_of_address(run: &Run) -> String {
    format!(
        "Use an address to which {} connects, such as 127.0.0.1 for localhost; `ss -s` shows how many connections are in \
         TIME_WAIT.",
        request_shown(run, "-v")
    )
}

/// Failures that are no silence of the server, in a run without a single response.
fn none_responded(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let diagnosed = |kind: FailureKind| {
        let here = match kind {
            FailureKind::LocalPorts => record.connections_opened > 0,
            kind => kind == FailureKind::LocalDescriptors,
        };
        here || is_of_the_server(kind)
    };
    let others = FailureKind::ALL.into_iter().filter(|kind| !diagnosed(*kind));
    let failed: Vec<(FailureKind, u64)> = others
        .map(|kind| (kind, record.failures_of(kind)))
        .filter(|(_, count)| *count > 0)
        .collect();
    if record.responses > 0 || failed.is_empty() {
        return None;
    }
    if matches!(failed.as_slice(), [(FailureKind::LocalPorts, _)]) {
        let of_this_machine = match run.fleet {
            Some(_) => String::new(),
            None => d20_out_of_local_ports::of_this_machine(run),
        };
        let evidence = format!(
            "None of {} got a response: no connection could be given a local address and port.{of_this_machine}",
            counted(record.finished(), "request")
        );
        let fix = fix_of_address(run);
        return Some(Finding::new(D02, Severity::Invalid, evidence, NO_ADDRESS_OR_PORT, fix));
    }
    let evidence = format!(
        "None of {} got a response: {}.",
        counted(record.finished(), "request"),
        causes::by_kind(&failed)
    );
    let cause = "The run measured nothing.";
    Some(Finding::new(D02, Severity::Invalid, evidence, cause, fix(run)))
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    let unanswered: u64 = kinds_of_the_server().map(|kind| record.failures_of(kind)).sum();
    (record.finished() > 0).then(|| {
        format!(
            "{} of {} got no valid response.",
            grouped(unanswered),
            counted(record.finished(), "request")
        )
    })
}

/// Stopped before it began: there is nothing to judge, and nothing that could be called valid.
fn nothing_sent(run: &Run) -> Finding {
    Finding::new(
        D02,
        Severity::Invalid,
        format!(
            "The run was stopped after {} s, and {}.{}",
            decimal(run.setup_ns as f64 / 1e9 + elapsed_s(run), 2),
            match (run.plan.sends_before_clock(), run.elapsed_ns) {
                (true, 0) => "the clock had not started: what was sent before it is in no figure",
                (true, _) => "no request was sent in the measured time",
                (false, _) => "no request was sent",
            },
            opening::waited_for(run)
        ),
        "It was told to stop before the first request that counts: there is no figure in it.",
        match opening::waited_for(run).is_empty() {
            true => "Run it again, and stop it later.".to_owned(),
            false => fix(run),
        },
    )
}

/// It ran as long as it was asked to, and no request fell into that time.
fn nothing_due(run: &Run) -> Finding {
    let length_s = elapsed_s(run);
    let silent = &run.record.silent;
    if silent.of_warmup > 0 {
        let evidence = format!(
            "No request was sent in the measured time: {} of the warm-up had no response when the run ended, after up to {}.",
            counted(silent.of_warmup, "request"),
            time(silent.longest_ns as f64 / 1e6)
        );
        let cause =
            "The server did not respond to these requests, and no place was left for others.";
        return Finding::new(D02, Severity::Invalid, evidence, cause, self::fix(run));
    }
    let mut evidence =
        format!("No request was due in {} s, and none was sent.", decimal(length_s, 2));
    let mut fix = format!("Measure for longer ({})", spelled(run, Opt::Duration));
    if let Some(per_s) = run.requested_per_s() {
        evidence.push_str(&format!(
            " At {}/s, {} requests are due in that time on average.",
            amount(per_s),
            amount(per_s * length_s)
        ));
        fix.push_str(&format!(", or raise the rate ({})", spelled(run, Opt::Rate)));
    }
    let cause = "The time was over before the first request: the run measured nothing.";
    Finding::new(D02, Severity::Invalid, evidence, cause, fix + ".")
}

#[cfg(test)]
mod tests_of_circumstances;
#[cfg(test)]
mod tests_on_runs;
