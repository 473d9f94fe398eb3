//! What a Run comes to: an exit status, and a line with the remedy when nothing could be
//! measured.

use ablaze_engine::record::FirstFailure;
use ablaze_engine::run::Ended;
use ablaze_engine::{FailureKind, Run};
use ablaze_report::system_error::reason;

use crate::refusal::{INTERRUPTED, NOTHING_MEASURED};

/// The exit status that a Run deserves by itself; 0 if there is nothing to say.
pub fn status(run: &Run) -> u8 {
    match run.ended {
        Ended::Interrupted => INTERRUPTED,
        _ if run.record.succeeded() == 0 => NOTHING_MEASURED,
        _ => 0,
    }
}

/// What to tell a person whose run got no answer, or none as expected.
pub fn explanation(run: &Run) -> Option<String> {
    let record = &run.record;
    if record.succeeded() > 0 || run.ended == Ended::Interrupted {
        return None;
    }
    if record.answers > 0 {
        let mut statuses: Vec<(u64, u16)> =
            record.statuses.iter().map(|(status, count)| (*count, *status)).collect();
        statuses.sort_unstable();
        let (_, status) = *statuses.last()?;
        return Some(format!(
            "no answer was as expected, most were {status}: check the path, or say --expect {status}"
        ));
    }
    let to = match run.connected_to.as_str() {
        "" => run.plan.target.url.as_str(),
        address => address,
    };
    match record.first_failure {
        Some(failure) => Some(remedy(&failure, to, run)),
        None => Some(format!("no answer came from {to} in time: try a longer -d")),
    }
}

fn remedy(failure: &FirstFailure, to: &str, run: &Run) -> String {
    let errno = || reason(&std::io::Error::from_raw_os_error(failure.errno));
    match failure.kind {
        FailureKind::Refused => {
            format!("{to} refused the connection: is the server running, and on this port?")
        }
        FailureKind::Reset => format!("{to} reset the connection: is it an HTTP server?"),
        FailureKind::Timeout if failure.connecting => format!(
            "{to} did not accept a connection within {}: is a firewall in between?",
            seconds(run.plan.limits.timeout_ns)
        ),
        FailureKind::Timeout => format!(
            "{to} did not answer within {}: give it longer with --timeout",
            seconds(run.plan.limits.timeout_ns)
        ),
        FailureKind::ClosedWithoutAnswer => format!(
            "{to} closed the connection without an answer: does it speak TLS, or another protocol?"
        ),
        FailureKind::ShortBody => {
            format!("{to} closed every connection in the middle of its answer: see its log")
        }
        FailureKind::Malformed => {
            format!("{to} answered something that is not HTTP/1: is it the right port?")
        }
        FailureKind::TooLarge => format!(
            "the heads of the answers of {to} are longer than {} bytes: allow more with --max-head",
            run.plan.limits.max_head_bytes
        ),
        FailureKind::Unreachable if run.plan.target.unix_socket.is_some() => {
            format!("{to} cannot be used ({}): check its path, and start the server", errno())
        }
        FailureKind::Unreachable => {
            format!("{to} cannot be reached ({}): check address and route", errno())
        }
        FailureKind::LocalPorts => format!(
            "this host has no local port left ({}): use --local-address with more addresses, or \
             keep connections alive",
            errno()
        ),
        FailureKind::LocalDescriptors => {
            format!("this host has no descriptor or memory left ({}): lower -c", errno())
        }
        FailureKind::Other => format!("connecting to {to} failed: {}", errno()),
    }
}

fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}
