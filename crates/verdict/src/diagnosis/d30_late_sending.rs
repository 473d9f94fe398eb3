//! D30: requests of an open loop left later than they were due, so that the times from their sending
//! hide a waiting that a user would have seen (coordinated omission).

mod options;
mod printed;
mod under_way;

use ablaze_model::plan::Load;
use ablaze_model::record::Intended;
use ablaze_model::{FailureKind, Run};

use ablaze_stats::Latency;

use super::d02_no_response::STOPPED;
use super::d11_client_at_its_limit::more_threads;
use super::{
    Diagnosis, Forms, OnRun, ShownBy, d02_no_response, d13_shared_processors, d29_stuck_connection,
    d46_worker_machines,
};
use crate::DiagnosisId::{D02, D07, D11, D13, D23, D30, D46, D58};
use crate::finding::{Finding, Severity};
use crate::live::figures::{StoppedServer, client, in_flight, monitor, server_stopped};
use crate::live::options::{Opt, spelled};
use crate::live::{quota, setup};
use crate::words::{amount, counted, grouped, percent, time};

/// A 99 % lag below this, or below this share of the 99 % response time, is no matter.
const LITTLE_NS: u64 = 1_000_000;
const LITTLE: f64 = 0.1;
/// One that makes up this share of it, and is as long as what counts as a pause of a machine (D23),
/// makes the tail the client's own.
const PAUSE_NS: u64 = 20_000_000;
const MOST: f64 = 0.5;
/// A single pause of a machine makes a hundredth of a short run late, and no more; a longer one than this
/// is no matter of course.
const LONG_PAUSE_NS: u64 = 5 * PAUSE_NS;
/// More requests than this that were due and never sent: another rate than the one asked for.
const NEVER_SENT: f64 = 0.01;
/// With this share of the places in use on average, requests waited for one.
const IN_USE: f64 = 0.5;
/// A thread that waits for a processor for this share of the time is late because of that.
const STARVED: f64 = 0.5;
/// One that waits for this share, or works for this one, can be.
const WAITED: f64 = 0.1;
const BUSY: f64 = 0.5;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D30,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[D02, D07, D11, D13, D23, D46, D58],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        while_it_runs: Some(under_way::while_it_runs),
        report: Some(printed::on_report),
        ..Forms::NONE
    },
};

/// 99 % times, ns.
struct Times {
    /// Requests that were sent and answered; of few, `lag` and the others are the longest times.
    of: u64,
    few: bool,
    lag: u64,
    /// A tenth of the requests left this late or later.
    lag_of_a_tenth: u64,
    response: u64,
    service: u64,
}

/// What the rate is of: requests, or journeys of several requests each.
struct Due {
    number: u64,
    noun: &'static str,
    past: &'static str,
}

impl Due {
    fn of(run: &Run) -> Self {
        let record = &run.record;
        match &record.journeys {
            Some(journeys) => {
                let number = journeys.begun + record.never_sent;
                Self { number, noun: "journey", past: "begun" }
            }
            None => {
                let number = record.finished() + record.unfinished;
                Self { number, noun: "request", past: "sent" }
            }
        }
    }
}

fn on_run(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let times = times(run)?;
    let Due { number: due, noun, past } = Due::of(run);
    let never_sent = record.never_sent as f64 / due.max(1) as f64;
    let share = times.lag as f64 / times.response.max(1) as f64;
    let more_than_once = times.lag_of_a_tenth > LITTLE_NS || times.lag >= LONG_PAUSE_NS;
    let of_the_tail = share >= MOST && times.lag >= PAUSE_NS && more_than_once;
    let severity = if never_sent > NEVER_SENT || of_the_tail {
        Severity::Suspect
    } else if share > LITTLE && times.lag > LITTLE_NS {
        Severity::Note
    } else {
        return None;
    };
    let backlog = if record.never_sent > 0 {
        format!(
            " {} of {} ({}) were due but not {past} when the run ended.",
            grouped(record.never_sent),
            counted(due, noun),
            percent(never_sent)
        )
    } else {
        String::new()
    };
    let stopped = server_stopped(run);
    let why_late = stopped.as_ref().filter(|stopped| stopped.lasted(times.lag as f64 / 1e9));
    let (cause, fix) = why(run, why_late);
    let beside = stopped.as_ref().filter(|_| why_late.is_none());
    let beside = beside.map_or(String::new(), |stopped| format!(" {}", stopped.said));
    let evidence = format!("{}{backlog}{beside}", described(&times));
    let finding = Finding::new(D30, severity, evidence, cause, fix);
    // Who waits for a connection does not wait for a CPU, unless the server did so most of the time.
    let starved = d13_shared_processors::waited(run) >= STARVED;
    let of_connections = used(run) >= IN_USE && !starved;
    let finding = if of_connections { finding.not_explained_by(D13) } else { finding };
    let late_worker = d46_worker_machines::at_their_limit(run).is_some()
        || d46_worker_machines::made_late(run).is_some();
    let late_worker = late_worker && !of_connections;
    let finding = if late_worker { finding } else { finding.not_explained_by(D46) };
    let silent = d02_no_response::holds_the_places(run);
    let finding = if silent { finding } else { finding.not_explained_by(D02) };
    // What pauses do not last for, they do not explain.
    let paused_ns = monitor(run).and_then(|monitor| monitor.heartbeat.as_ref());
    let paused_ns = paused_ns.map_or(u64::MAX, |heartbeat| heartbeat.gaps_ns);
    let much = paused_ns >= times.lag / 2;
    let finding = if much { finding } else { finding.not_explained_by(D23) };
    // A pause for a quota makes late by its own length; one that bounds the client, by any.
    let by_quota = quota::of_client(run).is_some_and(|throttled| {
        quota::bounds(throttled) || throttled.time_ns / throttled.periods >= times.lag / 2
    });
    Some(if by_quota && !of_connections { finding } else { finding.not_explained_by(D58) })
}

/// The share of the places that were in use, on average: by requests in flight, and by users in the middle of a journey, who
/// keep theirs while they pause.
fn used(run: &Run) -> f64 {
    let per_connection = u64::from(run.plan.places_per_connection());
    let per_connection = fewer_streams(run).unwrap_or(per_connection);
    let places = u64::from(run.plan.load.connections()) * per_connection;
    let places = places.saturating_sub(setup::users_out(run));
    let in_use = in_flight(run).map_or(0.0, |in_flight| in_flight + pausing(run));
    in_use / places.max(1) as f64
}

/// How many users paused in the middle of a journey, on average.
fn pausing(run: &Run) -> f64 {
    let pauses_ns = run.record.journeys.as_ref().map_or(0, |journeys| journeys.pauses_ns);
    pauses_ns as f64 / run.elapsed_ns.max(1) as f64
}

/// The streams that the server permits on each connection, where these are fewer than were asked for.
fn fewer_streams(run: &Run) -> Option<u64> {
    let asked = u64::from(run.plan.places_per_connection());
    run.record.streams_permitted().filter(|permitted| *permitted < asked)
}

/// Connections that could not be made, of every kind that leaves no doubt where it failed.
fn failed_connects(run: &Run) -> u64 {
    use FailureKind::{LocalDescriptors, LocalPorts, Refused, Unreachable};
    let is_of_connecting = |kind: &FailureKind| {
        kind.is_of_setup() || matches!(kind, Refused | Unreachable | LocalPorts | LocalDescriptors)
    };
    let kinds = FailureKind::ALL.iter().filter(|kind| is_of_connecting(kind));
    kinds.map(|kind| run.record.failures_of(*kind)).sum()
}

/// Whether the client is seen to have been late itself: its threads worked, or waited for a CPU.
fn client_was_busy(run: &Run) -> bool {
    let busiest = client(run).map_or(0.0, |client| client.wanting);
    busiest >= BUSY || d13_shared_processors::waited(run) >= WAITED
}

fn seen(run: &Run) -> Option<String> {
    let times = times(run)?;
    let Due { noun, past, .. } = Due::of(run);
    let left = counted(run.record.never_sent, noun);
    Some(format!("{} {left} were due but not {past} when the run ended.", described(&times)))
}

fn described(times: &Times) -> String {
    let in_words = |ns: u64| time(ns as f64 / 1e6);
    let share = if times.few { "all" } else { "99 %" };
    format!(
        "Of {} that were answered, {share} left at most {} late; {share} were answered within {} \
         of when they were due (response), and within {} of when they left (service).",
        counted(times.of, "request"),
        in_words(times.lag),
        in_words(times.response),
        in_words(times.service)
    )
}

/// Whether a connection was waited for, or the client: connections that were asked for as a bound
/// may be too few; without a bound there were as many as this machine permits.
fn why(run: &Run, stopped: Option<&StoppedServer>) -> (String, String) {
    let connections = u64::from(run.plan.load.connections());
    // Who failed in the setup may never have had one.
    let wanted = connections.saturating_sub(setup::users_out(run));
    let all_in_use = run.record.connections_opened >= wanted && !were_free(run);
    if let Some(stopped) = stopped {
        let stopped = &stopped.said;
        return (format!("{stopped} What was due meanwhile had to wait."), STOPPED.1.to_owned());
    }
    if all_in_use && d29_stuck_connection::is_found(run) {
        return (
            "Responses that did not come to their end (D29) held connections all that time: what was due waited for the others."
                .to_owned(),
            "Find out first why these responses stopped.".to_owned(),
        );
    }
    let streams = fewer_streams(run).filter(|_| !were_free(run));
    match run.plan.load {
        Load::Open { .. } if streams.is_some() => (
            format!(
                "They waited for a stream: the server permitted no more than {} at once on a connection, at least for a time.",
                counted(streams.unwrap_or_default(), "stream")
            ),
            format!(
                "Take the response time as what a user sees; permit more streams on the server, or use more connections \
                 ({}).",
                spelled(run, Opt::Connections)
            ),
        ),
        Load::Open { .. } if all_in_use && setup::users_out(run) > 0 => waited_for_the_others(run),
        Load::Open { .. } if all_in_use && used(run) < IN_USE => (
            format!(
                "They waited for a part of the run only, as {} requests were in flight on average: {} was in use then, or \
                 being opened, or the client's threads had no time. Which of these does not show.",
                amount(in_flight(run).unwrap_or(0.0)),
                one_of(connections, "the one connection", "each of the")
            ),
            "Take the response time as what a user sees, and see what else is said of that part of the run.".to_owned(),
        ),
        Load::Open { .. } if all_in_use && pausing(run) > 0.0 => (
            format!(
                "They waited for a user to come to the end of its journey: {} may walk one at a time, {} were in one on \
                 average, and {} of these paused between two requests.",
                counted(connections * u64::from(run.plan.places_per_connection()), "user"),
                amount(in_flight(run).unwrap_or(0.0) + pausing(run)),
                amount(pausing(run))
            ),
            format!(
                "Take the response time as what a user sees; permit more users ({}), or lower the rate.",
                spelled(run, Opt::Connections)
            ),
        ),
        Load::Open { bounded: true, .. } if all_in_use => (
            format!(
                "They waited for {} permitted to become free: the server responds more slowly than \
                 that many can sustain at this rate.",
                permitted(run, connections)
            ),
            format!("Take the response time as what a user sees; {}.", options::for_no_wait(run)),
        ),
        Load::Open { .. } if all_in_use => (
            format!(
                "They waited for {} to become free: this machine permits no more.",
                one_of(connections, "the one connection", "one of")
            ),
            "Take the response time as what a user sees; raise the limit on descriptors (`ulimit \
             -n`) to permit more connections, or lower the rate."
                .to_owned(),
        ),
        _ if failed_connects(run) > 0 => (
            "Connections could not be made, and after a failed attempt the client waits before the next one.".to_owned(),
            "See why they could not, and measure again.".to_owned(),
        ),
        _ if d46_worker_machines::made_late(run).is_some() => (
            format!(
                "Connections were free: {} found of its own machine what keeps a client from sending in time (D46).",
                d46_worker_machines::made_late(run).unwrap_or_default()
            ),
            "Take the response time as an upper bound, and measure again once that is put right.".to_owned(),
        ),
        _ if !client_was_busy(run) => (
            "Connections were free, and the client's threads had time left: what these requests waited for does not show."
                .to_owned(),
            "Take the response time as an upper bound, and measure again.".to_owned(),
        ),
        _ => (
            match client(run).is_some_and(|client| client.busiest >= BUSY) {
                true => {
                    "Connections were free: the client itself was late, because its threads had too much \
                     to do or did not get a CPU."
                }
                false => {
                    "Connections were free: the client itself was late, because its threads did not get a CPU when they \
                     had something to do."
                }
            }
            .to_owned(),
            match client(run).is_some_and(|client| client.busiest >= BUSY) {
                true => format!(
                    "Take the response time as an upper bound; give the client {} or a machine of its own, or lower the rate.",
                    more_threads(run)
                ),
                false => "Take the response time as an upper bound; give the client a CPU that nothing else uses, or a machine of \
                          its own."
                    .to_owned(),
            },
        ),
    }
}

/// Others failed in their setup, and those that are left walk one journey at a time each.
fn waited_for_the_others(run: &Run) -> (String, String) {
    let for_a_part = match used(run) < IN_USE {
        true => {
            " They waited for a part of the run only, for such a user or because the client's threads had no time: which does not show."
        }
        false => " They waited for such a user to come to the end of its journey.",
    };
    let cause = format!(
        "{} (D01), and {} may walk one journey at a time each: {} were in one on average.{for_a_part}",
        setup::in_words(run).unwrap_or_default(),
        counted(setup::users_left(run), "other"),
        amount(in_flight(run).unwrap_or(0.0) + pausing(run)),
    );
    let fix = "Take the response time as that of fewer users than were asked for; see why the others failed in their setup, and \
               measure again.";
    (cause, fix.to_owned())
}

/// Whether most places were free while requests waited: of requests that wait for a place, each waits in a time in which all
/// are in use, and that time is about their share of the Run.
fn were_free(run: &Run) -> bool {
    let Some(Intended { lag, .. }) = run.record.answered.intended.as_deref() else { return false };
    let late = 1.0 - lag.count_at_most(LITTLE_NS) as f64 / lag.count().max(1) as f64;
    used(run) < late * IN_USE
}

/// Who walks a journey is a user, and has a place of its own.
fn permitted(run: &Run, connections: u64) -> String {
    match (&run.plan.journey, connections * u64::from(run.plan.places_per_connection())) {
        (None, _) => one_of(connections, "the one connection", "one of the"),
        (Some(_), 1) => "the one user".to_owned(),
        (Some(_), users) => format!("one of the {}", counted(users, "user")),
    }
}

fn one_of(connections: u64, one: &str, several: &str) -> String {
    match connections {
        1 => one.to_owned(),
        more => format!("{several} {}", counted(more, "connection")),
    }
}

fn times(run: &Run) -> Option<Times> {
    let answered = &run.record.answered;
    let Intended { response, lag } = answered.intended.as_deref()?;
    Some(Times {
        of: lag.count(),
        few: lag.supported_quantile_ns(0.99).is_none(),
        lag: highest(lag)?,
        lag_of_a_tenth: lag.quantile_ns(0.9)?,
        response: highest(response)?,
        service: highest(&answered.total)?,
    })
}

/// The 99 % time, or the longest where there are too few values for one.
fn highest(times: &Latency) -> Option<u64> {
    match times.supported_quantile_ns(0.99) {
        Some(_) => times.quantile_ns(0.99),
        None => times.max_ns(),
    }
}

#[cfg(test)]
mod tests;
