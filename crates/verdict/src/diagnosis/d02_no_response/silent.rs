//! Requests to which nothing came, while others were answered: no failure, because the run ended before
//! their timeout.

use ablaze_model::Run;
use ablaze_model::record::Silent;

use super::stopped::{self, STOPPED};
use super::{opening, over_quic, queued, through, windows};
use crate::DiagnosisId::D02;
use crate::diagnosis::d08_connection_attempts_lost;
use crate::finding::{Finding, Severity};
use crate::live::figures;
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent, time};

/// So many times as long as any response took: else they may be slow ones, unless there are far too many of them.
const LONGER: u64 = 2;
/// So many times as many as requests as slow as those that ended leave at a moment, and at least so many.
const TIMES_EXPECTED: f64 = 5.0;
const FEWEST: u64 = 3;
/// Linux sends the first packet of a connection again after 1 s and 3 s.
const TIMERS_NS: u64 = 4_000_000_000;
/// The first of them is over by then, whatever it held up.
const FIRST_TIMER_NS: u64 = 2_500_000_000;
/// So many times as long as the 99 % time.
const TIMES_P99: u64 = 10;

const NOT_RESPONDED: &str = "The server had not responded to these requests when the run ended: the rate is that of the others.";

const ONLY_INTERIM: &str = "The server sent interim responses (1xx) to most of these requests, and no final ones until the run \
                            ended: the rate is that of the others.";

fn why_held(silent: &Silent) -> &'static str {
    if silent.interim * 2 > silent.count { ONLY_INTERIM } else { NOT_RESPONDED }
}

/// What had come for requests that hold a place.
fn what_came(silent: &Silent) -> String {
    match silent.interim {
        0 => "no byte of a response had come".to_owned(),
        all if all == silent.count => "only interim responses (1xx) had come".to_owned(),
        some => format!(
            "no byte of a response had come, or only interim responses (1xx, for {} of them),",
            grouped(some)
        ),
    }
}

/// The same of one that waits.
fn without(silent: &Silent) -> String {
    match silent.interim {
        0 => "without a byte of a response".to_owned(),
        some => format!(
            "without a byte of a final response (interim ones, 1xx, had come for {} of them)",
            grouped(some)
        ),
    }
}

/// A share of the places, or of the requests of an open loop, was held by requests that nothing came to.
pub(super) fn held(run: &Run) -> Option<Finding> {
    let silent = run.record.silent;
    let latency = run.record.answered.latency();
    let longest_answered_ns = latency.max_ns()?;
    let usual_ns = latency.quantile_ns(0.99)?.saturating_mul(TIMES_P99);
    let long = match are_too_many(run) {
        true => longest_answered_ns + 1,
        false => longest_answered_ns.saturating_mul(LONGER),
    };
    let of = of_what(run);
    let share = got_nothing(run) as f64 / of as f64;
    if share <= super::SHARE || silent.longest_ns < long.max(usual_ns) {
        return None;
    }
    let severity =
        if without_response(run) >= super::MOST { Severity::Invalid } else { Severity::Suspect };
    let of_warmup = match silent.of_warmup {
        0 => String::new(),
        count => format!("; {} of them were sent in the warm-up", grouped(count)),
    };
    let waited = time(silent.longest_ns as f64 / 1e6);
    let least = time(Silent::least_ns(run.elapsed_ns) as f64 / 1e6);
    let silence = match run.plan.load.is_open() && !is_full(run) {
        true => format!(
            "Of {} requests that were due, {} ({}) had waited for {least} to {waited} {} when the run ended",
            grouped(of),
            grouped(silent.count),
            percent(share),
            without(&silent)
        ),
        false => format!(
            "{} held {} of the {} places when the run ended{}: {} for up to {waited}",
            holders(run, &silent),
            percent(share),
            grouped(of),
            match run.record.never_sent {
                0 => String::new(),
                waiting => format!(", and {} that were due waited for one", grouped(waiting)),
            },
            match silent.count {
                0 => "they had been opening".to_owned(),
                _ => what_came(&silent),
            }
        ),
    };
    let mut evidence = format!(
        "{silence}, while other responses took at most {}{of_warmup}.",
        time(longest_answered_ns as f64 / 1e6)
    );
    if stopped::is_why(run, silent.longest_ns as f64 / 1e9, &mut evidence) {
        return Some(Finding::new(D02, severity, evidence, STOPPED.0, STOPPED.1));
    }
    if windows::are_why(run, &mut evidence) {
        return Some(Finding::new(D02, severity, evidence, windows::CAUSE, windows::FIX));
    }
    if let Some(silence) = over_quic::silence(run, silent.longest_ns as f64 / 1e9) {
        let evidence = format!("{evidence} {}", silence.evidence);
        return Some(Finding::new(D02, severity, evidence, silence.cause, silence.fix));
    }
    // What never opened is no connection that the server's process left in its queue.
    let unopened = silent.connecting * u64::from(run.plan.places_per_connection());
    if unopened <= silent.count
        && silent.interim < silent.count
        && let Some(queued) = queued::queued(run, silent.count.saturating_sub(silent.interim))
    {
        let evidence = format!("{evidence} {}", queued.evidence);
        return Some(Finding::new(D02, severity, evidence, queued.cause, queued.fix));
    }
    if unopened > silent.count {
        let cause = opening::why_they_held(run, silent.connecting, silent.count == 0);
        let fix = format!(
            "{} Or count them as failed with a time limit ({}) shorter than the run.",
            opening::fix(run, silent.connecting),
            spelled(run, Opt::Timeout)
        );
        return Some(Finding::new(D02, severity, evidence, cause, fix));
    }
    Some(Finding::new(
        D02,
        severity,
        evidence,
        through::of_both(run, why_held(&silent).to_owned()),
        format!(
            "See in the server's log what became of them. A run several times as long shows whether a response still comes; \
             with a time limit ({}) they count as failed.",
            spelled(run, Opt::Timeout)
        ),
    ))
}

/// Whether one had waited for most of the run, and many more for so long than requests like those that ended would have: of a
/// request that takes T, a place is in a wait of at least t for T − t. Where connection attempts are lost, timers make stragglers
/// that are longer each time, but not most of the requests.
fn are_too_many(run: &Run) -> bool {
    let (record, least_ns) = (&run.record, Silent::least_ns(run.elapsed_ns));
    let ended = record.answered.total.recorded().chain(record.failed.total.recorded());
    let waited_ns: f64 =
        ended.map(|(took_ns, count)| took_ns.saturating_sub(least_ns) as f64 * count as f64).sum();
    let expected = waited_ns / run.elapsed_ns.max(1) as f64;
    record.silent.longest_ns >= run.elapsed_ns / 2
        && (outlast_timers(run) || d08_connection_attempts_lost::on_run(run).is_none())
        && got_nothing(run) >= FEWEST
        && got_nothing(run) as f64 >= expected * TIMES_EXPECTED
}

/// Whether most of the places got nothing for longer than the first timers of lost packets hold one up, or for nearly all of
/// a shorter run.
fn outlast_timers(run: &Run) -> bool {
    got_nothing(run) * 2 >= of_what(run)
        && run.record.silent.longest_ns
            >= TIMERS_NS.min(FIRST_TIMER_NS.max(run.elapsed_ns / 10 * 9))
}

/// How many of [`of_what`] got nothing.
fn got_nothing(run: &Run) -> u64 {
    match run.plan.load.is_open() && !is_full(run) {
        true => run.record.silent.count,
        false => held_places(run),
    }
}

/// Places that are held by requests to which nothing comes, and by connections that do not open.
fn held_places(run: &Run) -> u64 {
    let silent = run.record.silent;
    silent.count + silent.connecting * u64::from(run.plan.places_per_connection())
}

/// `3 requests, and 7 connections that had not opened,`
fn holders(run: &Run, silent: &Silent) -> String {
    let requests = counted(silent.count, "request");
    let unopened = opening::named(run, silent.connecting);
    match (silent.count, silent.connecting) {
        (_, 0) => requests,
        (0, _) => unopened,
        (_, _) => format!("{requests}, and {unopened},"),
    }
}

/// Whether an open loop had as many connections as it may at the end, and requests that were due waited for one: its places
/// are then what requests that hang hold, as in a closed loop.
pub(super) fn is_full(run: &Run) -> bool {
    run.plan.load.is_open() && run.record.never_sent > 0 && held_places(run) * 2 >= places(run)
}

/// What requests hold one of.
pub(super) fn places(run: &Run) -> u64 {
    u64::from(run.plan.load.connections()) * u64::from(run.plan.places_per_connection())
}

/// What a request that hangs holds one of: a place of a closed loop, or one of the requests that an open loop had to send.
fn of_what(run: &Run) -> u64 {
    let of = match run.plan.load.is_open() {
        true if is_full(run) => places(run),
        true => run.record.finished() + run.record.unfinished,
        false => figures::asked_in_flight(run).unwrap_or(run.plan.load.connections().into()),
    };
    of.max(1)
}

/// The share that makes the rate none of responses. Of an open loop all in flight at the end count: younger ones wait for the
/// same server, for a shorter time.
fn without_response(run: &Run) -> f64 {
    let record = &run.record;
    if is_full(run) {
        return record.unfinished as f64 / (record.finished() + record.unfinished) as f64;
    }
    let of = of_what(run);
    let without = match run.plan.load.is_open() {
        true => record.unfinished.saturating_sub(record.never_sent).max(record.silent.count),
        false => held_places(run),
    };
    without as f64 / of as f64
}

#[cfg(test)]
mod tests;
