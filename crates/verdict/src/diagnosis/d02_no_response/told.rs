//! Causes that the peer or the system named beside the kind of a failure: a code of HTTP/2, an alert of TLS, an errno.

use ablaze_model::record::Codes;
use ablaze_model::{FailureKind, Run};

use crate::live::options::{Opt, spelled};
use crate::live::whose::over_loopback;
use crate::words::{counted, listed};

/// The server does not do over HTTP/2 what was requested (RFC 9113, section 7).
const HTTP_1_1_REQUIRED: u32 = 13;

/// The name that was asked for is not known (RFC 6066, section 3).
const NAME_UNKNOWN: &str = "(112)";

/// The cause of a kind, where more is known of it.
pub(super) fn cause(run: &Run, kind: FailureKind) -> Option<String> {
    match kind {
        FailureKind::StreamReset if wants_http1(run) => Some(WANTS_HTTP1.to_owned()),
        FailureKind::GoAway if wants_http1(run) => Some(WANTS_HTTP1.to_owned()),
        FailureKind::StreamReset => Some(format!(
            "The server resets streams (RST_STREAM{}).",
            of_codes(&run.record.http2.as_ref()?.resets)?
        )),
        FailureKind::GoAway => Some(format!(
            "The server ends connections (GOAWAY{}) before it has responded to all streams.",
            of_codes(&run.record.http2.as_ref()?.goaway_codes)?
        )),
        FailureKind::Unreachable if run.plan.target.unix_socket.is_none() => {
            Some(unreachable(run).to_owned())
        }
        FailureKind::TlsRefused if refused_name(run) => Some(
            "The server ended the TLS handshake with the alert unrecognized_name (112): it does not serve the name that it \
             was asked for, or requires one."
                .to_owned(),
        ),
        _ => None,
    }
}

/// What to do about it.
pub(super) fn fix(run: &Run) -> Option<String> {
    let most = |kind| run.record.failures_of(kind) * 2 > run.record.failures_total();
    if most(FailureKind::Unreachable) && run.plan.target.unix_socket.is_none() {
        return Some(
            "See the route with `ip route get` and the address, and what rejects connections with `nft list ruleset` or \
             `iptables -S`, on this machine and on the way."
                .to_owned(),
        );
    }
    if (most(FailureKind::StreamReset) || most(FailureKind::GoAway)) && wants_http1(run) {
        return Some(format!("Measure it over HTTP/1.1 ({}).", spelled(run, Opt::Http11)));
    }
    None
}

const WANTS_HTTP1: &str = "The server requires HTTP/1.1 for these requests: over HTTP/2 it ends them with HTTP_1_1_REQUIRED.";

/// Whether the server said so for most of what it reset, or of the connections that it ended.
fn wants_http1(run: &Run) -> bool {
    let Some(facts) = &run.record.http2 else { return false };
    let said = |codes: &Codes| codes.of(HTTP_1_1_REQUIRED);
    let all = facts.resets.total() + facts.goaway_codes.total();
    (said(&facts.resets) + said(&facts.goaway_codes)) * 2 > all
}

/// ` with 3 × CANCEL`; `None` where no code was counted.
fn of_codes(codes: &Codes) -> Option<String> {
    let named: Vec<String> =
        codes.named().map(|(name, times)| format!("{} {name}", counted(times, "time"))).collect();
    (!named.is_empty()).then(|| format!(": {}", listed(named)))
}

/// A host on the way says so (ICMP), or this machine: the system does not tell which. Whether connections opened does not show it is
/// only for a part of the run: io_uring reports some as opened whose first packet was rejected.
fn unreachable(run: &Run) -> &'static str {
    match (over_loopback(run), run.record.responses > 0) {
        (true, false) => {
            "The system reports that address as unreachable, and it is one of this machine (loopback): a firewall on it \
             rejects connections, or its loopback device is down."
        }
        (true, true) => {
            "The system reported that address as unreachable for a part of the run, and it is one of this machine (loopback): \
             a firewall on it rejected connections, or its loopback device was down."
        }
        (false, false) => {
            "There is no route from this machine to that address, or a firewall or a host on the way rejects connections to it."
        }
        (false, true) => {
            "For a part of the run there was no route from this machine to that address, or a firewall or a host on the way \
             rejected connections to it."
        }
    }
}

/// Whether the alert that came first was the one of an unknown name.
fn refused_name(run: &Run) -> bool {
    let first = run.record.tls.as_ref().and_then(|facts| facts.first_failure.as_ref());
    first
        .is_some_and(|(kind, said)| *kind == FailureKind::TlsRefused && said.contains(NAME_UNKNOWN))
}
