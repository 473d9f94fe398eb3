//! What a Run comes to: an exit status, and a line with the fix when nothing could be
//! measured.

mod addresses;
mod differing;
mod ended;
mod failure;
mod http2;
mod http3;
mod malformed;
mod proxy;
mod refused;
mod statuses;
mod tls;

use ablaze_model::run::Ended;
use ablaze_model::spec::FrontEnd;
use ablaze_model::{FailureKind, Run};
use ablaze_verdict::live::{duration_option, no_connection_opened};

use crate::error::{INTERRUPTED, NOTHING_MEASURED};
use failure::fix;
pub use http3::elsewhere;
pub use refused::{bad_request, ended_in_plain};
use statuses::{of_all, what_to_check};

/// The exit status that a Run deserves by itself; 0 if there is nothing to say.
pub fn status(run: &Run) -> u8 {
    match run.ended {
        Ended::Interrupted => INTERRUPTED,
        Ended::Failed => NOTHING_MEASURED,
        _ if run.record.succeeded() == 0 => NOTHING_MEASURED,
        _ if no_journey_is_whole(run) => NOTHING_MEASURED,
        _ => 0,
    }
}

/// Whether all journeys that ended had failed.
fn no_journey_is_whole(run: &Run) -> bool {
    run.record.journeys.as_ref().is_some_and(|journeys| journeys.whole == 0 && journeys.failed > 0)
}

/// Why there was nobody to walk a journey, where all users failed in their setup.
fn no_user_was_set_up(run: &Run) -> Option<String> {
    let setup = run.record.journeys.as_ref()?.setup.as_ref()?;
    let file = run.plan.journey.as_ref()?.users.setup.as_deref()?;
    let first = setup.first.as_ref().filter(|_| setup.failed == setup.begun)?;
    let text = format!("every user failed in the setup: {file}: {}", first.text);
    Some(ablaze_model::printable::printable(&text).into_owned())
}

/// What to tell a person whose run got no response, or none as expected.
pub fn explanation(run: &Run) -> Option<String> {
    let record = &run.record;
    if run.ended == Ended::Failed {
        return Some(fault(run));
    }
    if let Some(text) = no_user_was_set_up(run).filter(|_| run.ended != Ended::Interrupted) {
        return Some(text);
    }
    let nothing_was_sent = record.finished() == 0 && record.unfinished == 0;
    if (record.succeeded() > 0 || nothing_was_sent)
        && no_journey_is_whole(run)
        && run.ended != Ended::Interrupted
    {
        let steps = record.journeys.iter().flat_map(|journeys| &journeys.steps);
        let first = steps.filter_map(|step| Some((&step.name, step.first.as_ref()?))).next()?;
        let text = format!("no journey was whole: {} failed, {}", first.0, first.1.text);
        return Some(ablaze_model::printable::printable(&text).into_owned());
    }
    if record.succeeded() > 0 || run.ended == Ended::Interrupted {
        return None;
    }
    if record.responses > 0 {
        let mut statuses: Vec<(u64, u16)> =
            record.statuses.iter().map(|(status, count)| (*count, *status)).collect();
        statuses.sort_unstable();
        let (count, status) = *statuses.last()?;
        if let Some(text) = proxy::of_status(run, status) {
            return Some(text);
        }
        if let Some(advice) = bad_request(run) {
            return Some(format!("no expected response, all were 400: {advice}"));
        }
        // Its file says what is sent and what is expected; a server's error is none of the file.
        if run.plan.journey.is_some() && status < 500 {
            return Some(format!(
                "no expected response, {}: write what its request lacks in the journey's file, or `HTTP {status}` below it \
                 where that is expected",
                of_all(count, record.responses, status)
            ));
        }
        // gurl has no such option.
        let expect = match run.front_end() {
            FrontEnd::Gurl => String::new(),
            _ if run.plan.journey.is_some() => {
                format!(", or write `HTTP {status}` below the request where that is expected")
            }
            _ => format!(", or use --expect {status}"),
        };
        return Some(format!(
            "no expected response, {}: {}{expect}",
            of_all(count, record.responses, status),
            what_to_check(status, run)
        ));
    }
    let to = proxy::far_end(run).unwrap_or_else(|| match run.connected_to.as_str() {
        "" => run.plan.target.url.clone(),
        address => addresses::that_failed(run).unwrap_or_else(|| address.to_owned()),
    });
    if record.permitted_no_stream() {
        let (version, limit) = match run.plan.http3 {
            Some(_) => (3, "initial_max_streams_bidi"),
            None => (2, "SETTINGS_MAX_CONCURRENT_STREAMS"),
        };
        return Some(format!(
            "no request was sent: {to} permits no HTTP/{version} streams ({limit} is 0): raise its limit"
        ));
    }
    let duration = duration_option(run);
    let in_vain = record.first_failure.is_none_or(|first| first.kind == FailureKind::Timeout);
    if in_vain && was_stopped(run) {
        return Some(format!(
            "no response from {to}: its process was stopped (SIGSTOP, Ctrl-Z, a debugger): continue it, \
             with kill -CONT or in the debugger"
        ));
    }
    if in_vain && ablaze_verdict::live::bodies_were_held(run) {
        return Some(format!(
            "no request was sent whole: their bodies waited for windows of {to}: see its first window for a stream, and what \
             reads the bodies"
        ));
    }
    if in_vain && ablaze_verdict::live::queue_was_full(run) {
        return Some(format!(
            "no connection to {to} opened, its accept queue was full: see what keeps it from accepting (`ss -lnt` shows the queue)"
        ));
    }
    let differing = record.first_failure.filter(|_| ended_in_plain(run).is_none());
    let differing = differing.and_then(|failure| differing::of_kinds(failure.kind, &to, run));
    match record.first_failure {
        Some(failure) if run.plan.http3.is_some() => {
            let known = differing.or_else(|| http3::of_failure(&failure, &to, run));
            Some(known.unwrap_or_else(|| fix(&failure, &to, run)))
        }
        Some(failure) => {
            let special = proxy::of_failure(&failure, run).or_else(|| addresses::by_several(run));
            Some(special.or(differing).unwrap_or_else(|| fix(&failure, &to, run)))
        }
        None if ended::only_interim_until_the_end(run) => Some(format!(
            "{to} sent interim responses (1xx), and no final one until the run ended: see its log"
        )),
        None if record.stopped.begun > 0 => Some(format!(
            "no response from {to} was complete in time: use a longer {duration}, if they end at all"
        )),
        None if record.unfinished == 0 && record.silent.of_warmup > 0 => {
            Some(format!("{to} stopped responding in the warm-up"))
        }
        None if record.unfinished == 0 => {
            let rate = if run.plan.load.is_open() { ", or a higher rate" } else { "" };
            Some(format!("no request was due in the run: use a longer {duration}{rate}"))
        }
        None if let Some(text) = proxy::until_the_end(run) => Some(text),
        None if stood(run) && ended::handshakes(run) == 0 => Some(format!(
            "connections to {to} opened, and no TLS handshake was completed in time: does it speak TLS?"
        )),
        None if no_connection_opened(run) => Some(format!(
            "no connection to {to} opened in time: check the address, and whether a firewall is in the way"
        )),
        None => Some(format!(
            "no response from {to} in time: use a longer {duration}, if it responds at all"
        )),
    }
}

/// Connections that a failure of this kind ended: all of them, or some where others failed in another way.
fn connections_that(run: &Run, kind: FailureKind) -> &'static str {
    let all = run.record.failures_of(kind) == run.record.failures_total();
    if all { "every connection" } else { "connections" }
}

/// What to say of a run that a fault of this program ended.
fn fault(run: &Run) -> String {
    let faults = &run.record.faults;
    let first = faults.first().map_or_else(String::new, |fault| {
        let place = fault.panicked_at.as_ref().map(|place| format!(" at {place}"));
        format!(" ({}{})", fault.message, place.unwrap_or_default())
    });
    format!(
        "{} of {} threads failed{first}, which is a bug in ablaze: the results end there",
        faults.len(),
        run.plan.workers.count
    )
}

/// What to do about a run without a response, where that lies with the proxy in between.
pub fn through_proxy(run: &Run) -> Option<String> {
    let failure = run.record.first_failure.filter(|_| run.record.responses == 0)?;
    proxy::of_failure(&failure, run)
}

/// Whether the server was stopped most times that it was looked at.
fn was_stopped(run: &Run) -> bool {
    let processes = run.monitor.iter().flat_map(|monitor| &monitor.target.processes);
    processes.into_iter().any(|process| process.stopped_readings * 2 > process.readings)
}

/// Whether bytes of a response had come before most of the requests failed, or of the request in front of them: behind it
/// others wait on a pipelined connection, and fail with it.
pub fn failed_in_a_response(run: &Run) -> bool {
    let on_each = match run.plan.streams() {
        Some(_) => 1,
        None => u64::from(run.plan.load.pipeline()).max(1),
    };
    run.record.failed.wait.count() * on_each > run.record.failures_total() / 2
}

/// Whether the server's settings of HTTP/2 came: nothing else begins with them.
fn spoke_http2(run: &Run) -> bool {
    run.record.http2.as_ref().is_some_and(|facts| facts.settings.is_some())
}

/// Whether connections stood below TLS.
fn stood(run: &Run) -> bool {
    run.record.tls.as_ref().is_some_and(|facts| facts.connected > 0)
}
