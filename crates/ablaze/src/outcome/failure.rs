//! What to do about the failure that came first in a run without a response.

use ablaze_model::record::FirstFailure;
use ablaze_model::{FailureKind, Run};
use ablaze_report::number::{time, time_exact};
use ablaze_report::system_error::reason;
use ablaze_verdict::live::{connections_option, request_shown};

use super::malformed::malformed;
use super::refused::{self, ended_in_plain, without_http2};
use super::{connections_that, ended, failed_in_a_response, http2, spoke_http2, stood, tls};

/// A server of another protocol ends at once what it cannot read; one that took longer had read it, or waited for more.
const CLOSED_LATE_NS: u64 = 250_000_000;

fn closed_late(run: &Run) -> bool {
    median_ns(run) >= CLOSED_LATE_NS
}

/// The time of the median request that failed, or 0 if none did.
fn median_ns(run: &Run) -> u64 {
    run.record.failed.total.quantile_ns(0.5).unwrap_or(0)
}

/// What to do about it. `to` is who was connected to.
pub(super) fn fix(failure: &FirstFailure, to: &str, run: &Run) -> String {
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
        FailureKind::Timeout if came_late(run) => format!(
            "{to} responded behind the time limit of {}: allow more with {}",
            time_exact(run.plan.limits.timeout_ns),
            ablaze_verdict::live::timeout_option(run)
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
            "{to} did not respond within {}: see its log, or allow more with {}",
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
            http2::of_failure(failure.kind, to, run)
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

/// Whether no whole head of a response came, as far as it is kept: of HTTP/1.
fn without_a_head(run: &Run) -> bool {
    run.plan.streams().is_none() && run.record.first_head.is_empty()
}

/// Whether most of what timed out was whole when it was read.
fn came_late(run: &Run) -> bool {
    run.record.circumstances.came_late * 2 > run.record.failures_of(FailureKind::Timeout)
}

/// Whether the system denied it for a lack of permission.
fn is_not_permitted(failure: &FirstFailure) -> bool {
    let error = std::io::Error::from_raw_os_error(failure.errno);
    error.kind() == std::io::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests;
