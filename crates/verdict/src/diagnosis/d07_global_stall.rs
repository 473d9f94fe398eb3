//! D07: nothing at all came back for a while, although requests were in flight and came back
//! steadily before and after.
//!
//! In a printed report: everything in flight was frozen at once. When d ms of delay are shared by k of
//! n requests, the deviation is about d × √(k / n); so the deviation tells k, and k tells whether it
//! was as many as were in flight.

mod around;
mod chance;
mod end;
mod filled;
mod hardly;
mod pauses;
mod printed;
mod start;

pub use printed::is_found;

use ablaze_model::plan::Load;
use ablaze_model::record::Slice;
use ablaze_model::{FailureKind, Run};

use super::d02_no_response::STOPPED;
use super::d08_connection_attempts_lost::late_connections;
use super::d09_retransmission::{after_timers, lost};
use super::{Diagnosis, Forms, OnRun, ShownBy, d13_shared_processors, d29_stuck_connection};
use crate::DiagnosisId::{D07, D13, D22, D23};
use crate::finding::{Finding, Severity};
use crate::live::figures::{
    asked_in_flight, elapsed_s, in_flight, monitor, server_stopped, users_pause, weighed_s,
};
use crate::live::options::{Opt, spelled};
use crate::words::{amount, counted, grouped, listed, percent, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D07,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[D13, D22, D23],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(printed::on_report),
        ..Forms::NONE
    },
};

/// A slice without a response means something by itself only where slices have so many as a rule: with 20
/// expected, none is left to chance once in half a billion.
const FEWEST_USUAL: u64 = 20;
/// The requests that were frozen took at least so many times the median, or the 99 % time where that
/// is all that is printed: else they are part of the bulk.
const OUTSIDE_THE_BULK: f64 = 5.0;
/// Below this share of the run a stall is a note.
const LITTLE: f64 = 0.01;
/// More responses than so many times those that stalls can have frozen are not late by stalls.
const TIMES_THE_FROZEN: f64 = 2.0;
/// At least so much of what was in flight times out in a stall that is longer than the timeout.
const OF_THE_PLACES: f64 = 0.5;
/// So many stalls are named.
const NAMED: usize = 3;
/// A thread that waits for a processor for this share of the time stands still now and then.
const STARVED: f64 = 0.5;
const CAUSE: &str = "The server, the client, one of their machines or the network between them \
                     stopped for that long.";
/// What was sent meanwhile, on other connections, did not come back either.
const ALL_WAITED: &str = " It is not a slow tail: what was sent meanwhile did not come back either. A single request that blocks \
                          all others looks like this, too.";
/// Where few finish, that none does for a while is less of a sign.
const OF_FEW: (&str, &str) = (
    "Something held up all requests for that time. What it was this run does not show: a server, a machine or a network that \
     stands still, a lock or one request that all others wait for, and requests that are all slow at that time look the same.",
    "See in the server's log what it did at that time, and run it again, for longer, to see whether it comes back.",
);
/// A closed loop sends nothing meanwhile.
const OR_IN_STEP: &str = " Or all requests in flight were slow at the same moment, as those of connections that keep step may be: \
                          a closed loop sends nothing else that would show it.";

const HERE: (&str, &str) = (
    "The server, the client or this machine stopped for that long.",
    "Run again with `vmstat 1` running beside: it shows whether the machine stops. Exclude the longest times from every \
     comparison, unless it is the server that does.",
);
const HERE_AND_RAN_ON: (&str, &str) = (
    "The server, the client or the kernel's work between them stopped for that long, or packets between them were lost; this \
     machine did not stop, as the monitor's thread on it ran on.",
    "Look for what stops all of the server at once: a garbage collection, a lock, a blocking call, or other processes that take \
     its CPU (`top`). What it does itself is part of its figures; if repeats do not have it, exclude the longest times from every \
     comparison.",
);

/// Where the connections sent again as many segments as half of what was in flight.
const LOOK_FOR_LOSS: &str = "Look for packet loss on the way (`ip -s link`, `nstat -az`).";

fn sent_again(lost: u64) -> String {
    format!(
        " The run's connections sent {} again, probes not counted: packets may have been lost meanwhile.",
        counted(lost, "segment")
    )
}

/// Where most of the time of all connections went into it.
const EITHER: &str = "Either the server stopped again and again, or single requests are so slow that all connections were in such a request \
                      at once: a closed loop cannot tell, as its connections wait for both in the same way.";

/// What tells the two apart.
fn tell_them_apart(run: &Run) -> String {
    format!(
        "Run it at a rate ({}), half of this one for example, with more connections: what is sent while the others wait comes \
         back if only single requests are slow. Percentiles of this run count requests, not time.",
        spelled(run, Opt::Rate)
    )
}

fn on_run(run: &Run) -> Option<Finding> {
    // Nothing was to be sent where the server permits no stream (D40): nothing stood still.
    if run.record.streams_permitted() == Some(0) && run.record.without_stream().total() > 0 {
        return None;
    }
    let finished = finished(run);
    usual(&finished)
        .and_then(|usual| {
            let often = usual >= FEWEST_USUAL;
            let at_start = || start::found(run, &finished, usual).filter(|_| often);
            between(run, &finished, usual).or_else(at_start)
        })
        .or_else(|| hardly::found(run, &finished))
        .or_else(|| end::found(run, &finished))
}

/// Stalls with work before and after.
fn between(run: &Run, finished: &[u64], usual: u64) -> Option<Finding> {
    let slices = &run.record.slices;
    let slice_s = slices.slice_ns as f64 / 1e9;
    // A request that times out in a stall is no sign of life.
    let timeouts_aside = only_timeouts_failed(run);
    let mut stalls = stalls(finished);
    // In a pause that somebody made nothing was due, and at the foot of a ramp next to nothing.
    stalls.retain(|(at, length)| {
        let (from_ns, to_ns) =
            (*at as u64 * slices.slice_ns, (*at + *length) as u64 * slices.slice_ns);
        let paused = run.was_paused_between(from_ns, to_ns) || is_idle(run, from_ns, to_ns);
        !paused && !is_behind_the_last(run, to_ns) && around::goes_on(run, finished, (*at, *length))
    });
    let few = usual < FEWEST_USUAL;
    if are_of_timers(run, stalls.len())
        || chance::explains(run, &stalls)
        // Users who think finish nothing for a while, too.
        || few && (users_pause(run) || chance::leaves_empty(finished, &stalls))
    {
        return None;
    }
    let lost_s = stalls.iter().map(|(_, length)| *length as f64).sum::<f64>() * slice_s;
    let longest = stalls.iter().map(|(_, length)| *length).max()?;
    let longest_s = longest as f64 * slice_s;
    // Whoever was frozen shows it: an empty slice without late responses is the end of the work.
    let times = run.record.answered.latency();
    let (median_ns, max_ns) = (times.quantile_ns(0.5)? as f64, times.max_ns()? as f64);
    let timed_out = if timeouts_aside { failed_in(run, &stalls) } else { 0 };
    // Responses that stopped in the middle hold their places until they time out (D29), and nothing else stood still.
    let stuck = d29_stuck_connection::timed_out(&run.record.stopped);
    let are_stuck = stuck > 0 && stuck * 2 >= timed_out && d29_stuck_connection::is_found(run);
    // Where most of the time of all places is that of requests that time out, one by one or together, D02 tells it.
    let lost_ns = run.record.failed.total.sum_ns() as f64;
    let are_most = timed_out > 0 && lost_ns >= OF_THE_PLACES * run.record.in_flight_ns as f64;
    if are_stuck || are_most {
        return None;
    }
    let frozen = timed_out as f64 >= in_flight(run)? * OF_THE_PLACES;
    let late = max_ns >= median_ns * OUTSIDE_THE_BULK
        && most_waited(run, longest_s * 0.8e9)
        && around::explains_the_late(run, longest as u64, longest_s * 0.8e9);
    if !late && (timed_out == 0 || !frozen) {
        return None;
    }
    let may_be_requests = chance::are_all_slow(run, &stalls);
    // An open loop works off what came meanwhile: its rate is the asked one. Where it may be that single requests were slow,
    // there is no other rate.
    let without = asked_in_flight(run).filter(|_| !may_be_requests).map_or(String::new(), |_| {
        let per_s = run.record.responses as f64 / (elapsed_s(run) - lost_s);
        format!(" Without it the rate would be at least {}/s.", amount(per_s))
    });
    let named = stalls.iter().take(NAMED).map(|(at, length)| {
        format!(
            "at least {} starting at {} s",
            time(*length as f64 * slice_s * 1e3),
            amount(*at as f64 * slice_s)
        )
    });
    let more = stalls.len().saturating_sub(NAMED);
    let more = match more as u64 {
        0 => String::new(),
        more => format!(", and {} more", counted(more, "time")),
    };
    let share = lost_s / elapsed_s(run);
    let (nothing, what) = match timed_out {
        0 => ("No request finished", "finished requests"),
        _ => ("No response came", "responses"),
    };
    let without = match timed_out {
        0 => without,
        count => format!(" In that time {} timed out.{without}", counted(count, "request")),
    };
    let evidence = format!(
        "{nothing} for {}{more}, with {} requests in flight on average and a median of {} {what} \
         per {} ms. That is at least {} of the run; the longest request took {}.{without}",
        listed(named),
        amount(in_flight(run)?),
        grouped(usual),
        slices.slice_ns / 1_000_000,
        percent(share),
        time(max_ns / 1e6)
    );
    if may_be_requests {
        let finding = Finding::new(D07, Severity::Note, evidence, EITHER, tell_them_apart(run));
        // What nobody knows of is explained by nothing that was seen beside it.
        return Some(finding.not_explained_by(D13).not_explained_by(D23));
    }
    let (covers, ran_on) = match pauses::own(run, longest_s) {
        Some(own) => (Some(own.cover(longest_s, lost_s)), !own.last_as_long_as(lost_s)),
        None => (None, false),
    };
    let stopped = server_stopped(run);
    let is_stopped = stopped.as_ref().is_some_and(|stopped| stopped.all_lasted(lost_s));
    let evidence = format!(
        "{evidence}{}",
        stopped.map_or(String::new(), |stopped| format!(" {}", stopped.said))
    );
    let (cause, fix) = match monitor(run) {
        Some(_) if is_stopped => STOPPED,
        _ if few => OF_FEW,
        Some(monitor) if monitor.target.on_this_host && ran_on => HERE_AND_RAN_ON,
        Some(monitor) if monitor.target.on_this_host => HERE,
        _ => (
            CAUSE,
            "Run again with `vmstat 1` running on both machines: it shows which one stops. Exclude the longest times from \
             every comparison, unless it is the server that does.",
        ),
    };
    let cause = match chance::places_in_use(run) {
        _ if is_stopped || few => cause.to_owned(),
        None => format!("{cause}{ALL_WAITED}"),
        Some(_) => format!("{cause}{OR_IN_STEP}"),
    };
    let (mut evidence, mut fix) = (evidence, fix.to_owned());
    let lost = lost(run);
    if !is_stopped && lost as f64 >= in_flight(run)? * OF_THE_PLACES {
        evidence.push_str(&sent_again(lost));
        fix = format!("{LOOK_FOR_LOSS} {fix}");
    }
    let finding = Finding::new(D07, gravity(share), evidence, cause, fix);
    let finding =
        if covers == Some(false) || is_stopped { finding.not_explained_by(D23) } else { finding };
    // A share of the whole run says nothing of one moment: while others had the CPUs for so long, the thread
    // that only sleeps was late, too.
    // Of a wait that makes up nearly the whole run some fell into the stall, whenever it was.
    let waited = d13_shared_processors::waited(run);
    let in_it = waited + share - 1.0;
    let starved = covers == Some(true) && waited >= STARVED || in_it >= share * STARVED;
    Some(if starved { finding } else { finding.not_explained_by(D13) })
}

fn seen(run: &Run) -> Option<String> {
    let slices = &run.record.slices;
    let usual = usual(&finished(run))?;
    let times = run.record.answered.latency();
    Some(format!(
        "A median of {} finished per {} ms; the longest took {}, the median {}.",
        counted(usual, "request"),
        slices.slice_ns / 1_000_000,
        time(times.max_ns()? as f64 / 1e6),
        time(times.quantile_ns(0.5)? as f64 / 1e6)
    ))
}

/// Whether so little was due in this time, of an open loop whose rate is not always the same, that nothing had to finish in it.
fn is_idle(run: &Run, from_ns: u64, to_ns: u64) -> bool {
    let Load::Open { rate, .. } = run.plan.load else { return false };
    let per_s = run.record.responses as f64 / elapsed_s(run);
    let changes = !rate.is_constant() || !run.rate_changes.is_empty();
    changes && per_s * weighed_s(run, from_ns, to_ns) < FEWEST_USUAL as f64
}

/// Whether an open loop had sent its last request by then: what is still in flight may be one slow request.
fn is_behind_the_last(run: &Run, at_ns: u64) -> bool {
    let sending_ns = run.elapsed_ns.saturating_sub(run.record.drain_ns.unwrap_or(0));
    run.plan.load.is_open() && at_ns > sending_ns + run.record.slices.slice_ns
}

/// Whether as many requests took so long as half of those that are in flight: of fewer, each may be slow for a reason of its
/// own, as one that is the last to be sent and holds up nobody.
fn most_waited(run: &Run, least_ns: f64) -> bool {
    let all = run.record.answered.total.recorded().chain(run.record.failed.total.recorded());
    let waited: u64 =
        all.filter(|(took_ns, _)| *took_ns as f64 >= least_ns).map(|(_, count)| count).sum();
    let places = asked_in_flight(run).filter(|_| run.plan.connections.ramp_ns == 0);
    let of = places.map_or(in_flight(run).unwrap_or(0.0), |places| places as f64);
    waited > 0 && waited as f64 >= of * OF_THE_PLACES
}

/// Where packets are lost all the time, now and then everybody waits to send one again at once (D09):
/// far more responses are late by exactly that timer than stalls of everybody would make.
fn are_of_timers(run: &Run, stalls: usize) -> bool {
    let frozen = in_flight(run).unwrap_or(0.0) * stalls as f64;
    let times = &run.record.answered.total;
    let late = times.quantile_ns(0.5).map_or(0, |median_ns| after_timers(times, median_ns));
    // Or half of them waited for the timer of a connection that was being opened (D08).
    let opening = late_connections(run);
    late as f64 > frozen * TIMES_THE_FROZEN
        || opening > 0 && opening as f64 >= frozen * OF_THE_PLACES
}

/// Requests finished in each slice, those that timed out not among them where they can be told apart.
fn finished(run: &Run) -> Vec<u64> {
    let aside = only_timeouts_failed(run);
    let failures = |slice: &Slice| if aside { 0 } else { slice.failures };
    run.record.slices.slices.iter().map(|slice| slice.responses + failures(slice)).collect()
}

/// Whether requests failed by timeouts and by nothing else: slices do not tell failures apart.
fn only_timeouts_failed(run: &Run) -> bool {
    let timeouts = run.record.failures_of(FailureKind::Timeout);
    timeouts > 0 && timeouts == run.record.failures_total()
}

/// How many failed in these stalls, or in the slice behind each: of one about as long as the timeout the frozen ones time out
/// when the first others are answered again.
fn failed_in(run: &Run, stalls: &[(usize, usize)]) -> u64 {
    let slices = &run.record.slices.slices;
    let of = |(at, length): &(usize, usize)| slices[*at..].iter().take(*length + 1);
    stalls.iter().flat_map(of).map(|slice| slice.failures).sum()
}

/// How many a usual slice has: the median of those that have any, as a server may stand still most of the time.
fn usual(finished: &[u64]) -> Option<u64> {
    let mut usual: Vec<u64> = finished.iter().copied().filter(|number| *number > 0).collect();
    usual.sort_unstable();
    usual.get(usual.len() / 2).copied()
}

/// Runs of slices in which nothing was finished, with work before and after: begin and length.
fn stalls(finished: &[u64]) -> Vec<(usize, usize)> {
    let busy = |number: &u64| *number > 0;
    let (Some(first), Some(last)) =
        (finished.iter().position(busy), finished.iter().rposition(busy))
    else {
        return Vec::new();
    };
    in_a_row((first..last).filter(|at| !busy(&finished[*at])))
}

/// Slices, in their order, as those that follow each other: begin and length.
fn in_a_row(slices: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in slices {
        match found.last_mut() {
            Some((begin, length)) if *begin + *length == at => *length += 1,
            _ => found.push((at, 1)),
        }
    }
    found
}

/// Of a stall that took such a share of the run.
fn gravity(share: f64) -> Severity {
    if share < LITTLE { Severity::Note } else { Severity::Suspect }
}

#[cfg(test)]
mod tests;
