//! Causes that the peer or the system named beside the kind of a failure: a code of HTTP/2, an alert of TLS, an errno.

use ablaze_model::record::{Codes, TlsAlert};
use ablaze_model::{FailureKind, Run};

use super::causes::only_interim;
use super::{hosts, opening};
use crate::live::options::{Opt, spelled};
use crate::live::whose::over_loopback;
use crate::words::{counted, listed};

/// The server does not do over HTTP/2 what was requested (RFC 9113, section 7).
const HTTP_1_1_REQUIRED: u32 = 13;

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
        FailureKind::TlsRefused => of_alert(run),
        FailureKind::Unreachable if is_not_permitted(run) => Some(
            "The system does not permit this user to connect to the Unix socket: it may not be written to, or a directory of its \
             path may not be searched."
                .to_owned(),
        ),
        FailureKind::Timeout if only_interim(run) => Some(
            "Only an interim response (1xx) came to these requests, and no final one in time.".to_owned(),
        ),
        FailureKind::Timeout | FailureKind::Refused if several_unopened(run).is_some() => {
            of_several(run, kind)
        }
        FailureKind::Refused => hosts::never_listened(run),
        FailureKind::Timeout if began_for_connect(run) => Some(
            "Connections to the proxy opened, and it began its response to CONNECT and did not complete it in time."
                .to_owned(),
        ),
        FailureKind::Timeout | FailureKind::Reset | FailureKind::ClosedWithoutResponse => {
            in_handshake(run, kind)
        }
        FailureKind::Http2Violated => {
            let facts = run.record.http2.as_ref()?;
            let (_, words) = facts.first_failure.as_ref().filter(|(of, _)| *of == kind)?;
            Some(format!(
                "The client ended connections, or streams, for what the server sent over HTTP/2; the first time: {words}."
            ))
        }
        _ => None,
    }
}

/// What to do about it.
pub(super) fn fix(run: &Run) -> Option<String> {
    let most = |kind| run.record.failures_of(kind) * 2 > run.record.failures_total();
    if most(FailureKind::Unreachable) && is_not_permitted(run) {
        return Some(
            "See with `namei -l` and the socket's path who may write to it and search its directories; run ablaze as a user that \
             may, or change them."
                .to_owned(),
        );
    }
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

/// Whether the first connection to a Unix socket failed for a lack of permission.
fn is_not_permitted(run: &Run) -> bool {
    let first = run.record.first_failure.filter(|first| first.kind == FailureKind::Unreachable);
    let denied = |errno| {
        std::io::Error::from_raw_os_error(errno).kind() == std::io::ErrorKind::PermissionDenied
    };
    run.plan.target.unix_socket.is_some() && first.is_some_and(|first| denied(first.errno))
}

/// The addresses of a name that has several, where none accepted a connection.
fn several_unopened(run: &Run) -> Option<&[std::net::SocketAddr]> {
    let (record, target) = (&run.record, &run.plan.target);
    let stood = record.connections_opened > 0
        || record.tls.as_ref().is_some_and(|facts| facts.connected > 0)
        || target.proxy.is_some()
        || target.unix_socket.is_some()
        || run.plan.http3.is_some();
    Some(target.addresses.as_slice()).filter(|addresses| addresses.len() > 1 && !stood)
}

/// What happened at those of them where it did; at one or more of them, where that was not kept.
fn of_several(run: &Run, kind: FailureKind) -> Option<String> {
    let addresses = several_unopened(run)?;
    let named = listed(addresses.iter().map(ToString::to_string));
    let seen = match kind {
        FailureKind::Refused => {
            "connections were refused: nothing listens there, or a firewall rejects connections"
        }
        _ => {
            "no connection could be established in time: nobody has that address, packets are dropped on the way, or the server's \
             accept queue is full"
        }
    };
    let with_it = run.record.by_address.iter().filter(|one| one.failures[kind as usize] > 0);
    let with_it: Vec<String> = with_it.map(|one| one.address.to_string()).collect();
    if !with_it.is_empty() {
        return Some(format!("At {} {seen}.", listed(with_it)));
    }
    Some(format!(
        "At one or more of the {} addresses of {} ({named}) {seen}.",
        addresses.len(),
        run.plan.target.host
    ))
}

/// Whether the proxy was reached, opened no tunnel, and had begun a response to CONNECT where the first request timed out.
fn began_for_connect(run: &Run) -> bool {
    let facts = run.record.proxy.as_ref().filter(|facts| facts.tunnels == 0);
    let first = facts.and_then(|facts| facts.first_failure.as_ref());
    first.is_some_and(|(kind, _)| *kind == FailureKind::Timeout)
}

/// How connections ended, of which none completed the TLS handshake.
fn in_handshake(run: &Run, kind: FailureKind) -> Option<String> {
    let facts = run.record.tls.as_ref()?;
    if facts.connected == 0 {
        return None;
    }
    if facts.handshakes() > 0 {
        return beside_others(run, kind);
    }
    let first = run.record.first_failure.filter(|first| first.kind == kind && first.connecting)?;
    let tunnels = run.record.proxy.as_ref().is_some_and(|facts| facts.tunnels > 0);
    Some(match (first.kind, tunnels) {
        (FailureKind::Timeout, false) => return None,
        (FailureKind::Timeout, true) => {
            "The proxy opened tunnels, and no TLS handshake was completed through them in time: whether the proxy or the target is \
             why does not show."
        }
        (FailureKind::Reset, false) => {
            "Connections opened, and the server, or something in front of it, reset them during the TLS handshake."
        }
        (FailureKind::Reset, true) => {
            "The proxy opened tunnels, and they were reset during the TLS handshake: whether by the proxy or by the target does \
             not show."
        }
        (_, false) => {
            "Connections opened, and the server, or something in front of it, closed them during the TLS handshake."
        }
        (_, true) => {
            "The proxy opened tunnels, and they were closed during the TLS handshake: whether by the proxy or by the target does \
             not show."
        }
    }
    .to_owned())
}

/// Connections that ended in the TLS handshake, where others completed it.
fn beside_others(run: &Run, kind: FailureKind) -> Option<String> {
    let known = run.record.circumstances;
    let (requests, ended) = match kind {
        FailureKind::Reset => (known.reset_connecting, "reset"),
        FailureKind::ClosedWithoutResponse => (known.closed_connecting, "closed"),
        _ => return None,
    };
    let others = match run.record.failures_of(kind).saturating_sub(requests) {
        0 => String::new(),
        others => format!(
            " Other connections were {ended} behind it, with {}.",
            counted(others, "request")
        ),
    };
    (requests > 0).then(|| {
        format!(
            "The server, or something in front of it, {ended} connections during the TLS handshake: {} waited for these, and \
             no part of them was sent.{others}",
            counted(requests, "request")
        )
    })
}

/// A host on the way says so (ICMP), or this machine: the system does not tell which. Whether connections opened does not always show
/// it is only for a part of the run: of io_uring's short connections on direct descriptors the state cannot be asked.
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

/// The alert that came first, and what it says, as far as it says anything.
fn of_alert(run: &Run) -> Option<String> {
    let facts = run.record.tls.as_ref()?;
    let alert = facts.alert_of(FailureKind::TlsRefused)?;
    let named = alert.named();
    let behind = facts.all_completed();
    let ended = match (behind, opening::handshakes_of_all(run)) {
        (true, _) => format!(
            "The TLS handshakes were completed; then the server ended TLS with the alert {named}"
        ),
        (false, None) => format!("The server ended the TLS handshake with the alert {named}"),
        // Whether it came in a handshake or behind one is not kept.
        (false, Some(seen)) => format!("{seen}; the server ended TLS with the alert {named}"),
    };
    let says = match alert.number {
        TlsAlert::UNRECOGNIZED_NAME => {
            ": it does not serve the name that it was asked for, or requires one."
        }
        TlsAlert::NO_APPLICATION_PROTOCOL => {
            ": it speaks none of the application protocols that it was offered."
        }
        TlsAlert::HANDSHAKE_FAILURE if !behind && facts.handshakes() == 0 => {
            ", which does not say why: servers send it where they accept none of the versions, cipher suites or groups that were \
             offered, for a name that they do not serve, for a missing client certificate, and for other reasons."
        }
        _ => ".",
    };
    Some(ended + says)
}

/// Why there was no response where the proxy made no tunnel, or not for all connections.
pub(super) fn no_tunnels(run: &Run) -> String {
    let some = run.record.proxy.as_ref().is_some_and(|facts| facts.tunnels > 0);
    let which = if some { "some of the tunnels" } else { "tunnels" };
    format!("The proxy did not establish {which}: how the target would have responded is unknown.")
}
