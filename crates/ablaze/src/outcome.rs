//! What a Run comes to: an exit status, and a line with the fix when nothing could be
//! measured.

mod addresses;
mod ended;
mod http3;
mod malformed;
mod proxy;
mod refused;
mod statuses;
mod tls;

use ablaze_model::record::FirstFailure;
use ablaze_model::run::Ended;
use ablaze_model::spec::FrontEnd;
use ablaze_model::{FailureKind, Run};
use ablaze_report::number::{time, time_exact};
use ablaze_report::system_error::reason;
use ablaze_verdict::live::{
    connections_option, duration_option, no_connection_opened, request_shown,
};

use crate::error::{INTERRUPTED, NOTHING_MEASURED};
pub use http3::elsewhere;
use malformed::malformed;
use refused::without_http2;
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
    match record.first_failure {
        Some(failure) if run.plan.http3.is_some() => {
            Some(http3::of_failure(&failure, &to, run).unwrap_or_else(|| fix(&failure, &to, run)))
        }
        Some(failure) => {
            let special = proxy::of_failure(&failure, run).or_else(|| addresses::by_several(run));
            Some(special.unwrap_or_else(|| fix(&failure, &to, run)))
        }
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
        None if no_connection_opened(run) => Some(format!(
            "no connection to {to} opened in time: check the address, and whether a firewall is in the way"
        )),
        None => Some(format!(
            "no response from {to} in time: use a longer {duration}, if it responds at all"
        )),
    }
}

/// A server of another protocol ends at once what it cannot read; one that took longer had read it, or waited for more.
const CLOSED_LATE_NS: u64 = 250_000_000;

fn closed_late(run: &Run) -> bool {
    median_ns(run) >= CLOSED_LATE_NS
}

/// The time of the median request that failed, or 0 if none did.
fn median_ns(run: &Run) -> u64 {
    run.record.failed.total.quantile_ns(0.5).unwrap_or(0)
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

fn fix(failure: &FirstFailure, to: &str, run: &Run) -> String {
    let errno = || reason(&std::io::Error::from_raw_os_error(failure.errno));
    if let Some(advice) = ended_in_plain(run) {
        return format!("{to} ends connections on plain HTTP without a response: {advice}");
    }
    match failure.kind {
        FailureKind::Refused if run.plan.target.unix_socket.is_some() => {
            format!("{to} refused the connection: is the server running, and is it a socket?")
        }
        FailureKind::Refused => {
            format!("{to} refused the connection: is the server running, and on this port?")
        }
        _ if ended::is_known(failure, run) => ended::fix(failure, to, run),
        FailureKind::Timeout if failure.connecting && stood(run) => format!(
            "the connection to {to} opened, but it did not finish the TLS handshake within {}: does it \
             speak TLS?",
            time_exact(run.plan.limits.timeout_ns)
        ),
        FailureKind::Timeout if failure.connecting => format!(
            "{to} did not accept a connection within {}: is a firewall in the way?",
            time_exact(run.plan.limits.timeout_ns)
        ),
        FailureKind::Timeout if failed_in_a_response(run) && run.record.is_event_stream() => {
            format!(
                "{to} responds with event streams, which do not end: request something that does"
            )
        }
        FailureKind::Timeout if failed_in_a_response(run) && without_a_head(run) => format!(
            "{to} sent something, and no whole head of a final response within {}: see it with {}, or \
             allow more with {}",
            time_exact(run.plan.limits.timeout_ns),
            request_shown(run, "-v"),
            ablaze_verdict::live::timeout_option(run)
        ),
        FailureKind::Timeout if failed_in_a_response(run) => format!(
            "{to} began its responses and did not end them within {}: see where its body ends, or allow \
             more with {}",
            time_exact(run.plan.limits.timeout_ns),
            ablaze_verdict::live::timeout_option(run)
        ),
        FailureKind::Timeout if run.record.circumstances.unsent_timed_out > 0 => format!(
            "{to} accepted connections and did not take all bytes of the request within {}: does it read bodies?",
            time_exact(run.plan.limits.timeout_ns)
        ),
        FailureKind::Timeout => format!(
            "{to} did not respond within {}: allow more with {}",
            time_exact(run.plan.limits.timeout_ns),
            ablaze_verdict::live::timeout_option(run)
        ),
        FailureKind::ClosedWithoutResponse if run.plan.tls.is_some() || spoke_http2(run) => {
            format!("{to} closed the connection without a response: see its log")
        }
        FailureKind::ClosedWithoutResponse if closed_late(run) => format!(
            "{to} held the connection for {} and closed it without a response: see its log, and for its timeouts",
            time(median_ns(run) as f64)
        ),
        FailureKind::ClosedWithoutResponse => format!(
            "{to} closed the connection without a response: does it speak TLS, or another protocol?"
        ),
        FailureKind::ShortBody => {
            let which = connections_that(run, failure.kind);
            format!("{to} closed {which} in the middle of a response: see its log")
        }
        FailureKind::ShortHead => format!(
            "{to} closed {} before the head of the response was complete: see its log",
            connections_that(run, failure.kind)
        ),
        FailureKind::Malformed => malformed(to, run),
        FailureKind::NoHttp2 => {
            format!("no common protocol: {to} does not speak HTTP/2; {}", without_http2(run))
        }
        FailureKind::StreamReset | FailureKind::GoAway | FailureKind::Http2Violated => {
            let first = run.record.http2.as_ref().and_then(|facts| {
                let failed = facts.first_failure.as_ref().map(|(_, words)| words);
                // That it refused a request twice says less than the error that it named.
                match failure.kind {
                    FailureKind::GoAway => facts.first_goaway.as_ref().or(failed),
                    _ => failed.or(facts.first_goaway.as_ref()),
                }
            });
            match first {
                Some(words) if failure.kind == FailureKind::Http2Violated && !spoke_http2(run) => {
                    format!("HTTP/2 with {to} failed: {words}; does it speak HTTP/2?")
                }
                Some(words) if words.contains("HTTP_1_1_REQUIRED") => {
                    format!(
                        "{to} requires HTTP/1.1 for this request ({words}): {}",
                        without_http2(run)
                    )
                }
                Some(words) => format!("HTTP/2 with {to} failed: {words}"),
                None => format!("HTTP/2 with {to} failed: see the server's log"),
            }
        }
        FailureKind::TooLarge => format!(
            "the response heads of {to} are longer than {} bytes: allow more with --max-head",
            run.plan.limits.max_head_bytes
        ),
        FailureKind::Unreachable
            if run.plan.target.unix_socket.is_some() && is_not_permitted(failure) =>
        {
            format!(
                "cannot connect to {to} ({}): this user may not write to the socket, or not search a directory of its path: see \
                 both with `namei -l`",
                errno()
            )
        }
        FailureKind::Unreachable if run.plan.target.unix_socket.is_some() => {
            format!("cannot connect to {to} ({}): check the path, and start the server", errno())
        }
        FailureKind::Unreachable => {
            format!("cannot reach {to} ({}): {}", errno(), refused::on_the_way(run))
        }
        FailureKind::LocalPorts if run.record.connections_opened == 0 => format!(
            "cannot connect to {to} ({}): this machine has no address from which to reach it (as where IPv6 is off), or no local \
             port left; use an address that {} connects to",
            errno(),
            request_shown(run, "-v")
        ),
        FailureKind::LocalPorts => format!(
            "no local port left ({}): use --local-address with more addresses, or keep connections \
             alive",
            errno()
        ),
        FailureKind::LocalDescriptors => {
            format!("no descriptor or memory left ({}): lower {}", errno(), connections_option(run))
        }
        FailureKind::Other => format!("connecting to {to} failed: {}", errno()),
        kind => tls::fix(kind, to, run),
    }
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

/// Whether no whole head of a response came, as far as it is kept: of HTTP/1.
fn without_a_head(run: &Run) -> bool {
    run.plan.streams().is_none() && run.record.first_head.is_empty()
}

/// Whether the server's settings of HTTP/2 came: nothing else begins with them.
fn spoke_http2(run: &Run) -> bool {
    run.record.http2.as_ref().is_some_and(|facts| facts.settings.is_some())
}

/// Whether the system denied it for a lack of permission.
fn is_not_permitted(failure: &FirstFailure) -> bool {
    let error = std::io::Error::from_raw_os_error(failure.errno);
    error.kind() == std::io::ErrorKind::PermissionDenied
}

/// Whether connections stood below TLS.
fn stood(run: &Run) -> bool {
    run.record.tls.as_ref().is_some_and(|facts| facts.connected > 0)
}

#[cfg(test)]
mod tests;
