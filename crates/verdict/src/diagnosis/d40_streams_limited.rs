//! D40: the server permits fewer streams on a connection than were asked for, so the load is another one;
//! or it permits them, and the client did not fill them.

use ablaze_model::Run;
use ablaze_model::record::ServerSettings;

use super::d01_concurrency_not_reached::{ANOTHER_EXPERIMENT, FEWEST_EACH, MISSED};
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D40;
use crate::finding::{Finding, Severity};
use crate::live::figures::{asked_in_flight, held_by_warmup, in_flight};
use crate::live::options::{Opt, spelled};
use crate::words::{amount, counted, grouped, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D40,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect, Severity::Invalid],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

/// A client whose busiest thread works for this share of its time is what the next requests wait for.
const BUSY: f64 = 0.5;
/// From this multiple of a limit on it was exceeded, whatever rounding does.
const EXCEEDED: f64 = 1.05;
/// Less than this share of a run, or of its requests, is nothing to speak of.
const LATE: f64 = 0.01;
/// Requests that left no later than this did not wait for a stream.
const LATE_NS: u64 = 1_000_000;

fn on_run(run: &Run) -> Option<Finding> {
    none_permitted(run).or_else(|| limited(run)).or_else(|| raised(run)).or_else(|| unfilled(run))
}

/// No request could be sent: what timed out waited for a stream, and not for a response.
fn none_permitted(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let streamless = record.without_stream();
    if record.streams_permitted() != Some(0) || streamless.total() == 0 {
        return None;
    }
    let waited = match (streamless.timed_out, streamless.unfinished) {
        (0, waiting) => format!("{} waited for one until the end", counted(waiting, "request")),
        (failed, 0) => format!("{} failed while waiting for one", counted(failed, "request")),
        (failed, waiting) => format!(
            "{} failed while waiting for one, {} still waited at the end",
            counted(failed, "request"),
            grouped(waiting)
        ),
    };
    if record.responses > 0 && streamless.unfinished == 0 && run.plan.http3.is_none() {
        return Some(none_for_a_time(run, streamless.timed_out));
    }
    let (answered, sent) = match record.responses {
        0 => (String::new(), "no request was sent"),
        some => (
            format!("; {} came before", counted(some, "response")),
            "these requests were never sent, and the rate is that of the others",
        ),
    };
    Some(Finding::new(
        D40,
        Severity::Invalid,
        format!("The server permits no stream ({} is 0); {waited}{answered}.", limit_of(run)),
        format!(
            "A client must not open more streams than the server{} permit: {sent}. Servers send 0 to \
             refuse work for a while, or by mistake in their configuration.",
            if run.plan.http3.is_some() { "'s transport parameters" } else { "'s SETTINGS" }
        ),
        format!("Raise the limit on the server (nginx: {}).", limit_of_nginx(run)),
    ))
}

/// Over HTTP/2 the lowest limit is kept, and no request waited for a stream in the end: it was not always in force, or not on
/// all connections.
fn none_for_a_time(run: &Run, failed: u64) -> Finding {
    Finding::new(
        D40,
        of_failed(run, failed),
        format!(
            "At least for a time the server permitted no stream on a connection ({} was 0); {} failed while waiting for one, and {} \
             came before, later or elsewhere.",
            limit_of(run),
            counted(failed, "request"),
            counted(run.record.responses, "response")
        ),
        "A client must not open more streams than the server's SETTINGS permit: these requests were never sent, and the rate is \
         that of the others. Servers send 0 to refuse work for a while, or by mistake in their configuration.",
        format!("Raise the limit on the server (nginx: {}).", limit_of_nginx(run)),
    )
}

/// Of so many that waited for a stream in vain.
fn of_failed(run: &Run, failed: u64) -> Severity {
    match failed as f64 / run.record.finished().max(1) as f64 {
        share if share >= MISSED => Severity::Invalid,
        share if share > LATE => Severity::Suspect,
        _ => Severity::Note,
    }
}

/// What the server's limit is called (RFC 9113, 6.5.2; RFC 9000, 18.2).
fn limit_of(run: &Run) -> &'static str {
    match run.plan.http3 {
        Some(_) => "initial_max_streams_bidi",
        None => "SETTINGS_MAX_CONCURRENT_STREAMS",
    }
}

fn limit_of_nginx(run: &Run) -> &'static str {
    match run.plan.http3 {
        Some(_) => "http3_max_concurrent_streams",
        None => "http2_max_concurrent_streams",
    }
}

fn limited(run: &Run) -> Option<Finding> {
    let asked = run.plan.streams()?;
    let permitted = run.record.streams_permitted().filter(|&most| most < u64::from(asked))?;
    let (reached, connections) = (in_flight(run)?, u64::from(run.plan.load.connections()));
    let permits = match at_first(run) {
        Some(raised) => raised.in_words(run),
        // The limit is the lowest of all connections.
        None if permitted > 0 && reached > (connections * permitted) as f64 * EXCEEDED => {
            return elsewhere(run, permitted, reached);
        }
        None => format!(
            "The server permits {} at once per connection ({})",
            counted(permitted, "stream"),
            limit_of(run)
        ),
    };
    if run.plan.load.is_open() && permitted > 0 {
        return in_an_open_loop(run, &permits, asked);
    }
    let (all_asked, most) = (connections * u64::from(asked), connections * permitted);
    let share = most as f64 / all_asked as f64;
    let severity = match share {
        ..ANOTHER_EXPERIMENT => Severity::Invalid,
        ..MISSED => Severity::Suspect,
        _ => Severity::Note,
    };
    let evidence = format!(
        "{permits}, {} were requested: on {} that is {} of {}; {} were in flight on average.",
        grouped(asked.into()),
        counted(connections, "connection"),
        grouped(most),
        grouped(all_asked),
        amount(reached)
    );
    let fix = if permitted == 0 {
        format!("Raise the limit on the server (nginx: {}).", limit_of_nginx(run))
    } else {
        format!(
            "Raise the limit on the server (nginx: {}), or use \
             {} {permitted} and {} {} to have as many in flight.",
            limit_of_nginx(run),
            spelled(run, Opt::Streams),
            spelled(run, Opt::Connections),
            all_asked.div_ceil(permitted)
        )
    };
    Some(Finding::new(
        D40,
        severity,
        evidence,
        "A client must not open more streams than the server permits: the others were \
         never opened, and the figures are those of fewer requests in flight.",
        fix,
    ))
}

/// How many requests are in flight is up to the rate: the limit matters where some had to wait. That these are late has a finding
/// of its own (D30).
fn in_an_open_loop(run: &Run, permits: &str, asked: u32) -> Option<Finding> {
    let lag = &run.record.answered.intended.as_deref()?.lag;
    let late = lag.quantile_ns(0.99).is_some_and(|lag_ns| lag_ns > LATE_NS);
    if !late && run.record.never_sent == 0 {
        return None;
    }
    Some(Finding::new(
        D40,
        Severity::Note,
        format!(
            "{permits}, {} were requested; {} were in flight on average.",
            grouped(asked.into()),
            amount(in_flight(run)?)
        ),
        "A client must not open more streams than the server permits: requests that are due while all streams of their \
         connections are in use wait for one.",
        format!(
            "Raise the limit on the server (nginx: {}), or permit more connections ({}).",
            limit_of_nginx(run),
            spelled(run, Opt::Connections)
        ),
    ))
}

/// More were in flight than the lowest limit permits on all connections: it was not that of each.
fn elsewhere(run: &Run, permitted: u64, reached: f64) -> Option<Finding> {
    let asked = asked_in_flight(run)?;
    Some(Finding::new(
        D40,
        if reached < asked as f64 * MISSED { Severity::Suspect } else { Severity::Note },
        format!(
            "At least for a time the server permitted no more than {} at once on a connection ({}), and more elsewhere, before or \
             later: {} of {} were in flight on average.",
            counted(permitted, "stream"),
            limit_of(run),
            amount(reached),
            grouped(asked)
        ),
        "The server's limit was not the same on all connections, or not all the time: the load was less even than was \
         asked for.",
        format!("See why the server changes its limit (nginx: {}).", limit_of_nginx(run)),
    ))
}

/// A limit that the server raised behind the handshake.
struct Raised {
    first: u64,
    last: u64,
    after_ns: u64,
}

impl Raised {
    /// What was seen.
    fn in_words(&self, run: &Run) -> String {
        format!(
            "The server permitted {} at once per connection at first ({} is {}), and raised that to {} (MAX_STREAMS) \
             after up to {}",
            counted(self.first, "stream"),
            limit_of(run),
            grouped(self.first),
            grouped(self.last),
            time(self.after_ns as f64 / 1e6)
        )
    }
}

fn at_first(run: &Run) -> Option<Raised> {
    let facts = run.record.http3.as_ref()?;
    let (first, last) = (facts.streams_permitted?, facts.streams_at_last?);
    (last > first).then_some(Raised { first, last, after_ns: facts.streams_raised_ns })
}

/// The server began with fewer streams than were asked for, and permitted them later: for a part of the run the load was
/// another one.
fn raised(run: &Run) -> Option<Finding> {
    let raised = at_first(run)?;
    let streamless = run.record.without_stream();
    // What passed before the clock, at least.
    let of_run_ns = raised.after_ns.saturating_sub(run.plan.limits.warmup_ns);
    let late = of_run_ns as f64 > LATE * run.elapsed_ns as f64;
    if !late && streamless.total() == 0 {
        return None;
    }
    let failed = match streamless.timed_out {
        0 => String::new(),
        failed => format!("; {} failed while waiting for one", counted(failed, "request")),
    };
    Some(Finding::new(
        D40,
        of_failed(run, streamless.timed_out),
        format!(
            "{}; {} were requested{failed}.",
            raised.in_words(run),
            grouped(run.plan.streams().unwrap_or_default().into())
        ),
        "Until then fewer requests were in flight than were asked for.",
        format!(
            "Raise the server's first limit (nginx: {}), or let a warm-up pass before the measured time ({}).",
            limit_of_nginx(run),
            spelled(run, Opt::Warmup)
        ),
    ))
}

/// All connections stayed open and permitted the streams, and less than half of them were in flight.
fn unfilled(run: &Run) -> Option<Finding> {
    let (asked, streams) = (asked_in_flight(run)?, run.plan.streams()?);
    let reached = in_flight(run)?;
    let record = &run.record;
    let steady = record.failures_total() == 0
        && record.connections_opened == u64::from(run.plan.load.connections())
        && !held_by_warmup(run);
    let few = run.plan.limits.requests.is_some_and(|requests| requests < asked * FEWEST_EACH);
    let ramping = run.plan.connections.ramp_ns > 0;
    if streams == 1 || reached >= asked as f64 * MISSED || !steady || few || ramping {
        return None;
    }
    let (cause, more_threads) = match busiest_share(run) >= BUSY {
        true => (
            "Responses came faster than the client could send the next requests: streams were free \
             while it worked.",
            format!(", or give the client more threads ({})", spelled(run, Opt::Threads)),
        ),
        false => (
            "Streams were free for most of the time, and the client was not busy: this run does not show what it waited for.",
            String::new(),
        ),
    };
    Some(Finding::new(
        D40,
        Severity::Note,
        format!(
            "On average {} of {} streams were in flight, although all connections stayed open and \
             {}.",
            amount(reached),
            grouped(asked),
            permits_them(run)
        ),
        cause,
        format!(
            "Read the rate as that of about {} in flight{more_threads}.",
            amount(reached.max(1.0).ceil())
        ),
    ))
}

/// What is known of the server's limit where it was none to what was asked for.
fn permits_them(run: &Run) -> &'static str {
    match run.record.http2.as_ref().map(|facts| facts.settings) {
        Some(None) => "nothing is known of a limit of the server's (no SETTINGS came)",
        Some(Some(ServerSettings { streams_max: None, .. })) => {
            "the server set no limit (it sent no SETTINGS_MAX_CONCURRENT_STREAMS)"
        }
        Some(Some(_)) | None => "the server permits as many",
    }
}

/// The share of its time that the client's busiest thread worked.
fn busiest_share(run: &Run) -> f64 {
    let shares = run.workers.iter().map(|own| own.busy_ns as f64 / own.window_ns.max(1) as f64);
    shares.fold(0.0, f64::max)
}

fn seen(run: &Run) -> Option<String> {
    let Some(asked) = run.plan.streams() else {
        return Some("Neither HTTP/2 nor HTTP/3 was used.".to_owned());
    };
    let permits = match run.record.http2.as_ref() {
        // Over QUIC a server permits more as streams end; what is known is whether it permitted those that were asked for.
        None => match run.record.streams_permitted() {
            None => "permits all streams at once per connection".to_owned(),
            Some(permitted) => permits_at_once(permitted),
        },
        Some(facts) => match facts.settings?.streams_max {
            None => "set no limit of streams (SETTINGS_MAX_CONCURRENT_STREAMS)".to_owned(),
            Some(permitted) => permits_at_once(permitted.into()),
        },
    };
    Some(format!(
        "The server {permits}, {} requested; {} were in flight on average.",
        match asked {
            1 => "1 was".to_owned(),
            streams => format!("{} were", grouped(streams.into())),
        },
        amount(in_flight(run)?)
    ))
}

fn permits_at_once(permitted: u64) -> String {
    format!("permits {} at once per connection", counted(permitted, "stream"))
}

#[cfg(test)]
mod tests;
