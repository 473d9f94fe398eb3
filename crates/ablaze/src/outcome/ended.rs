//! What is said of connections that a reset or a close ended, and of responses of which only an interim one came.

use ablaze_model::record::FirstFailure;
use ablaze_model::{FailureKind, Run};
use ablaze_report::experiment::text::CHECK_PORT;
use ablaze_report::number::time_exact;

use super::{connections_that, failed_in_a_response, refused, spoke_http2, stood};

/// Whether this is one of them.
pub(super) fn is_known(failure: &FirstFailure, run: &Run) -> bool {
    let kind = failure.kind;
    match kind {
        FailureKind::Reset => true,
        FailureKind::ClosedWithoutResponse if failure.connecting && stood(run) => true,
        FailureKind::ClosedWithoutResponse
        | FailureKind::ShortHead
        | FailureKind::TlsTruncated
        | FailureKind::Timeout => refused::only_interim(run),
        _ => false,
    }
}

/// What to do about it.
pub(super) fn fix(failure: &FirstFailure, to: &str, run: &Run) -> String {
    let kind = failure.kind;
    let ended = if kind == FailureKind::Reset { "reset" } else { "closed" };
    if refused::only_interim(run) {
        return only_interim(kind, ended, to, run);
    }
    if failure.connecting && stood(run) {
        // Who completed another handshake speaks it.
        let advice = if handshakes(run) == 0 { "does it speak TLS?" } else { "see its log" };
        return format!("{to} {ended} the connection during the TLS handshake: {advice}");
    }
    match failed_in_a_response(run) {
        true if ablaze_verdict::live::have_no_length(run) => format!(
            "{to} reset the connection, which is the end of a response that has no length: see its log, and with {} whether \
             the response is whole",
            ablaze_verdict::live::request_shown(run, "-v")
        ),
        true => format!("{to} reset the connection in the middle of a response: see its log"),
        false => {
            // Who completed a handshake, or sent frames of HTTP/2, is what was looked for.
            let known = handshakes(run) > 0 || spoke_http2(run);
            let port = if known { "" } else { CHECK_PORT };
            format!("{to} reset the connection before it responded: see its log{port}")
        }
    }
}

fn only_interim(kind: FailureKind, ended: &str, to: &str, run: &Run) -> String {
    let then = match kind {
        FailureKind::Timeout => {
            let limit = time_exact(run.plan.limits.timeout_ns);
            format!(", and no final one within {limit}")
        }
        _ => format!(" and {ended} {} without a final one", connections_that(run, kind)),
    };
    format!("{to} sent an interim response (1xx){then}: see its log")
}

/// Whether nothing else had come when the run ended, for all that were in flight.
pub(super) fn only_interim_until_the_end(run: &Run) -> bool {
    let only = run.record.circumstances.interim_unfinished;
    only > 0 && only == run.record.unfinished
}

/// TLS handshakes that were completed.
pub(super) fn handshakes(run: &Run) -> u64 {
    run.record.tls.as_ref().map_or(0, |facts| facts.handshakes())
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::TlsFacts;

    use super::*;

    fn reset(connecting: bool, handshakes_full: u64) -> String {
        let mut run = ablaze_model::by_hand::run();
        run.record.failures = [0; FailureKind::ALL.len()];
        run.record.failures[FailureKind::Reset as usize] = 10;
        run.record.tls =
            Some(TlsFacts { connected: 10, handshakes_full, ..TlsFacts::default() }.into());
        let failure = FirstFailure { at_ns: 0, kind: FailureKind::Reset, errno: 104, connecting };
        fix(&failure, "127.0.0.1:1", &run)
    }

    /// A port on which TLS stands is the one that was looked for.
    #[test]
    fn a_reset_behind_a_handshake_asks_for_no_other_port() {
        let behind = reset(false, 10);
        assert!(behind.ends_with("before it responded: see its log"), "{behind}");
        assert!(reset(false, 0).ends_with(CHECK_PORT), "{}", reset(false, 0));
    }

    #[test]
    fn a_reset_in_the_handshake_is_a_reset() {
        let within = reset(true, 0);
        assert!(
            within.contains("reset the connection during the TLS handshake: does it"),
            "{within}"
        );
        let other = reset(true, 1);
        assert!(other.ends_with("during the TLS handshake: see its log"), "{other}");
    }

    /// As D02 says it, whatever ended the connection.
    #[test]
    fn an_interim_response_alone_is_told_whatever_ended_it() {
        let mut run = ablaze_model::by_hand::run();
        for (kind, then) in [
            (FailureKind::Reset, "and reset every connection without a final one"),
            (FailureKind::ShortHead, "and closed every connection without a final one"),
            (FailureKind::Timeout, "and no final one within"),
        ] {
            run.record.failures = [0; FailureKind::ALL.len()];
            run.record.failures[kind as usize] = 10;
            run.record.circumstances.interim_only = 10;
            let failure = FirstFailure { at_ns: 0, kind, errno: 0, connecting: false };
            assert!(is_known(&failure, &run));
            let said = fix(&failure, "127.0.0.1:1", &run);
            assert!(
                said.contains("sent an interim response (1xx)") && said.contains(then),
                "{said}"
            );
        }
    }
}
