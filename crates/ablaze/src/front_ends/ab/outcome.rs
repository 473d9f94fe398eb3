//! How a run ended, in ab's exit statuses. Where ab stops at the first reset or timeout and throws
//! its results away, the run here went on and its report is printed; the status is ab's all the
//! same, because scripts look at it.

use ablaze_model::run::Ended;
use ablaze_model::{FailureKind, Record, Run};
use ablaze_report::number::time_exact;

use super::error::AbError;

/// What to say and which status to end with, after the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Status 0.
    Measured,
    /// A message and its status.
    Failed(AbError),
    /// Ctrl-C: status 1, as ab.
    Interrupted,
}

/// A time limit that has expired before the run begins, ns.
pub const EXPIRED_NS: u64 = 1;

/// Kinds of failure that end ab's run, `-r` or not.
const ALWAYS_FATAL: [FailureKind; 5] = [
    FailureKind::Timeout,
    FailureKind::LocalDescriptors,
    FailureKind::LocalPorts,
    FailureKind::Unreachable,
    FailureKind::TooLarge,
];
/// Kinds that end it without `-r`.
const FATAL_WITHOUT_R: [FailureKind; 3] =
    [FailureKind::Refused, FailureKind::Reset, FailureKind::Other];

/// Whether `-t` left no time for a request.
pub fn had_no_time(run: &Run) -> bool {
    run.plan.limits.duration_ns == Some(EXPIRED_NS) && run.record.finished() == 0
}

/// How this run ended. `tolerant`: `-r` was given.
pub fn outcome(run: &Run, tolerant: bool) -> Outcome {
    if run.ended == Ended::Interrupted {
        return Outcome::Interrupted;
    }
    if run.ended == Ended::Failed
        && let Some(line) = crate::outcome::explanation(run)
    {
        return Outcome::Failed(AbError::line(format!("ablaze: {line}")));
    }
    if let Some(kind) = decisive_failure(&run.record, tolerant) {
        return Outcome::Failed(message(run, kind));
    }
    if run.record.responses > 0 {
        return Outcome::Measured;
    }
    let first = run.record.first_failure.map(|failure| failure.kind);
    if first.is_some_and(FailureKind::is_of_tls)
        && let Some(fix) = crate::outcome::explanation(run)
    {
        // What failed behind a completed handshake is no failed handshake.
        let facts = run.record.tls.as_ref();
        let completed = facts.is_some_and(|facts| facts.handshakes() > 0)
            && run.record.first_failure.is_some_and(|first| !first.connecting);
        let said = match completed {
            true => "SSL read failed (1) - closing connection",
            false => "SSL handshake failed (1).",
        };
        return Outcome::Failed(AbError::text(said).with_fix(fix));
    }
    if first.is_some_and(FailureKind::is_of_proxy)
        && let Some(line) = crate::outcome::explanation(run)
    {
        return Outcome::Failed(AbError::line(format!("ablaze: {line}")));
    }
    Outcome::Failed(no_response(&run.record, had_no_time(run)))
}

/// Whether there is nothing to report on: no connection could be made at all.
pub fn is_unreachable(run: &Run) -> bool {
    run.ended == Ended::Unreachable && run.record.responses == 0
}

/// The kind that came first of those which would have ended ab's run.
fn decisive_failure(record: &Record, tolerant: bool) -> Option<FailureKind> {
    let fatal = |kind: &FailureKind| {
        record.failures_of(*kind) > 0
            && (ALWAYS_FATAL.contains(kind) || !tolerant && FATAL_WITHOUT_R.contains(kind))
    };
    let first = record.first_failure.map(|failure| failure.kind).filter(fatal);
    first.or_else(|| ALWAYS_FATAL.into_iter().chain(FATAL_WITHOUT_R).find(fatal))
}

fn message(run: &Run, kind: FailureKind) -> AbError {
    let refused = message_of_ab(run, kind);
    match crate::outcome::through_proxy(run) {
        Some(fix) => refused.with_fix(fix),
        None => refused,
    }
}

fn message_of_ab(run: &Run, kind: FailureKind) -> AbError {
    let record = &run.record;
    let count = record.failures_of(kind);
    let first_errno = record.first_failure.filter(|first| first.kind == kind).map(|f| f.errno);
    let errno = first_errno.filter(|errno| *errno != 0);
    match kind {
        FailureKind::Refused => AbError::system_call("apr_socket_recv", libc::ECONNREFUSED)
            .with_fix(format!(
                "{} refused {}: start the server, or check the host and port",
                destination(run),
                times(count, "connection")
            )),
        FailureKind::Reset => {
            let ends_well = record.responses > 0 && decisive_failure(record, true).is_none();
            AbError::system_call("apr_socket_recv", libc::ECONNRESET).with_fix(resets(
                count,
                record.finished(),
                crate::outcome::failed_in_a_response(run),
                ends_well,
            ))
        }
        FailureKind::Timeout => match errno {
            Some(errno) => AbError::system_call("apr_socket_recv", errno),
            None => AbError::timed_out(),
        }
        .with_fix(format!(
            "{} still incomplete after {}; use -s SECONDS to wait longer",
            were(count),
            time_exact(run.plan.limits.timeout_ns)
        )),
        FailureKind::LocalDescriptors => {
            AbError::system_call("socket", errno.unwrap_or(libc::EMFILE))
                .with_fix("lower -c, or raise the limit of open files (`ulimit -n`)")
        }
        FailureKind::LocalPorts if run.plan.connections.local_addresses.is_empty() => {
            AbError::system_call("apr_socket_connect()", errno.unwrap_or(libc::EADDRNOTAVAIL))
                .with_fix(match run.record.connections_opened {
                    0 => {
                        "this machine has no address from which to reach it (as where IPv6 is off), or no free local port: use an \
                         address that `curl -v` connects to"
                    }
                    _ => "no free local port: use -k, or --local-address with more addresses",
                })
        }
        FailureKind::LocalPorts => {
            AbError::system_call("bind", errno.unwrap_or(libc::EADDRNOTAVAIL))
                .with_fix("the address of -B must belong to this machine")
        }
        FailureKind::Unreachable if run.plan.target.unix_socket.is_some() => {
            AbError::system_call("apr_socket_connect()", errno.unwrap_or(libc::ENETUNREACH))
                .with_fix(format!(
                    "{} cannot be used: check its path, and start the server",
                    destination(run)
                ))
        }
        FailureKind::Unreachable => {
            AbError::system_call("apr_socket_connect()", errno.unwrap_or(libc::ENETUNREACH))
                .with_fix(format!("{} cannot be reached from here", destination(run)))
        }
        FailureKind::TooLarge => AbError::text(format!(
            "{} sent a response head longer than {} bytes; use --max-head SIZE to allow more",
            were(count),
            run.plan.limits.max_head_bytes
        )),
        _ => match errno {
            Some(errno) => AbError::system_call("apr_socket_recv", errno),
            None => no_response(record, false),
        },
    }
}

/// How many of the `finished` requests were reset, before or in a response, and whether `-r` makes the exit status 0.
fn resets(count: u64, finished: u64, in_a_response: bool, ends_well_with_r: bool) -> String {
    if count >= finished {
        let which = match count {
            1 => "the request was".to_owned(),
            2 => "both requests were".to_owned(),
            _ => format!("all {count} requests were"),
        };
        return if in_a_response {
            format!("{which} reset by the server in the middle of a response: see its log")
        } else {
            format!(
                "{which} reset by the server before a response: see its log, and check the port"
            )
        };
    }
    let promise = if ends_well_with_r { "; with -r the exit status is 0" } else { "" };
    format!("{} reset by the server; the report covers the others{promise}", were(count))
}

/// ab says 0 to a run in which nothing was ever answered.
fn no_response(record: &Record, no_time: bool) -> AbError {
    let kinds: Vec<String> = FailureKind::ALL
        .into_iter()
        .filter(|kind| record.failures_of(*kind) > 0)
        .map(|kind| format!("{} {}", record.failures_of(kind), kind.label()))
        .collect();
    match kinds[..] {
        [] if no_time => {
            AbError::line("ablaze: a -t below 0 leaves no time for a request: use -t 1 or more")
        }
        [] => AbError::line("ablaze: no response before the run ended"),
        _ => AbError::line(format!(
            "ablaze: no request got a complete response: {}",
            kinds.join(", ")
        )),
    }
}

fn destination(run: &Run) -> String {
    if let Some(socket) = &run.plan.target.unix_socket {
        return format!("unix:{}", socket.display());
    }
    if let Some(proxy) = &run.plan.target.proxy {
        return format!("the proxy {}", proxy.authority());
    }
    match &run.plan.target.addresses[..] {
        [address] => address.to_string(),
        _ => format!("{} port {}", run.plan.target.host, run.plan.target.port),
    }
}

fn times(count: u64, noun: &str) -> String {
    if count == 1 { format!("a {noun}") } else { format!("{count} {noun}s") }
}

fn were(count: u64) -> String {
    if count == 1 { "1 request was".to_owned() } else { format!("{count} requests were") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_resets_is_true_of_the_others() {
        let all = resets(20, 20, false, false);
        assert!(all.starts_with("all 20 requests were reset by the server"), "{all}");
        assert!(!all.contains("-r") && !all.contains("others"), "{all}");
        assert!(resets(1, 1, true, false).starts_with("the request was reset"));
        assert_eq!(
            resets(2, 20, false, true),
            "2 requests were reset by the server; the report covers the others; with -r the exit \
             status is 0"
        );
        assert!(resets(2, 20, false, false).ends_with("the report covers the others"));
    }
}
