//! What to tell a person whose run over HTTP/3 got no response, or none as expected.

use ablaze_load::planning::alt_svc;
use ablaze_model::printable::printable;
use ablaze_model::record::FirstFailure;
use ablaze_model::spec::FrontEnd;
use ablaze_model::{FailureKind, Run};

/// What to do about a failure that HTTP/3, or UDP below it, has words of its own for.
pub fn of_failure(failure: &FirstFailure, to: &str, run: &Run) -> Option<String> {
    let handshakes = handshakes(run);
    let received = run.record.http3.as_deref().map_or(0, |facts| {
        let quic = &facts.quic;
        quic.received.datagrams.max(quic.all_handshakes.incomplete_received)
    });
    let port = match &run.plan.target.alternative {
        Some(alternative) => alternative.port,
        None => run.plan.target.port,
    };
    Some(match failure.kind {
        FailureKind::Refused => format!(
            "no response over UDP port {port}: {to} refused the datagrams; HTTP/3 needs the server to listen on UDP"
        ),
        FailureKind::Timeout if handshakes == 0 && received == 0 => format!(
            "no response over UDP port {port} from {to}: HTTP/3 needs the server to listen on UDP, and nothing on the \
             way that drops it"
        ),
        FailureKind::Timeout if handshakes == 0 => format!(
            "{to} responded over UDP but did not finish the QUIC handshake in time: see its log"
        ),
        FailureKind::NoHttp3 => {
            let fix = match run.front_end() {
                FrontEnd::H2load => "use --alpn-list h2",
                FrontEnd::Library => "use http(HttpVersion::Http2)",
                _ => "remove --http 3",
            };
            format!(
                "no common protocol: {to} does not speak HTTP/3{}; {fix}",
                detail(run, " (", ")")
            )
        }
        FailureKind::StreamReset
        | FailureKind::GoAway
        | FailureKind::QuicClosed
        | FailureKind::Http3Violated
        | FailureKind::RequestTooLarge => match detail(run, "", "") {
            words if words.is_empty() => {
                format!("HTTP/3 with {to} failed: see the server's log")
            }
            words => format!("HTTP/3 with {to} failed: {words}"),
        },
        _ => return None,
    })
}

/// Where else the server has HTTP/3, in words that follow those of [`of_failure`]. It is asked over TCP, where nothing came
/// over UDP.
pub fn elsewhere(run: &Run) -> Option<String> {
    let failed = run.record.first_failure?.kind;
    let nothing = handshakes(run) == 0;
    let unreached =
        matches!(failed, FailureKind::Refused | FailureKind::Timeout | FailureKind::NoHttp3);
    if !nothing || !unreached || run.plan.target.alternative.is_some() {
        return None;
    }
    let field = alt_svc::elsewhere(&run.plan.target, run.plan.tls.as_ref()?)?;
    Some(format!(
        "; over TCP it names another place (Alt-Svc: {}): use --alt-svc",
        printable(&field)
    ))
}

/// Handshakes that were completed, before the clock or during the run.
fn handshakes(run: &Run) -> u64 {
    let quic = run.record.http3.as_deref().map(|facts| &facts.quic);
    quic.map_or(0, |quic| quic.handshakes.max(quic.all_handshakes.count()))
}

/// What went wrong first in the words of the server, or of whoever read what it sent.
fn detail(run: &Run, before: &str, behind: &str) -> String {
    let facts = run.record.http3.as_deref();
    let words = facts.and_then(|facts| {
        let first = facts.first_failure.as_ref().map(|(_, words)| words);
        first.or(facts.first_close.as_ref())
    });
    words.map_or_else(String::new, |words| format!("{before}{}{behind}", printable(words)))
}
