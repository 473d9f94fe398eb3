//! A server that went away: responses came, and from some moment on only failures until the end.

use ablaze_model::{FailureKind, Run};

use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::live::figures::{self, elapsed_s, weighed_s};
use crate::words::{counted, time};

use super::ended::{self, ENDED};
use super::stopped::{self, STOPPED};
use super::{causes, over_quic};

/// So many responses would have come in the silence at the rate before it: fewer may be chance.
const FEWEST_MISSED: f64 = 20.0;
/// The silence is longer than any response took, by this factor: else it may be a slow one.
const LONGER: f64 = 2.0;

/// From when on no response came.
pub struct Gone {
    pub from_s: f64,
    pub ended_s: f64,
    /// How long it lasted while there was something to respond to.
    pub silent_s: f64,
    /// For how long of it somebody had paused the rate.
    paused_s: f64,
    pub failed: u64,
    /// It lasted for more than half of the run, in which requests were sent: the rate is none of responses.
    for_most: bool,
    /// They were all in flight when the silence began, and nothing was sent in it.
    only_last: bool,
    /// Their kinds, where no request failed before, or all of the run failed alike.
    pub kinds: Vec<(FailureKind, u64)>,
}

/// The silence at the end of a run, if requests failed in it and responses came before it.
pub fn gone(run: &Run) -> Option<Gone> {
    let slices = &run.record.slices;
    let ended_s = elapsed_s(run);
    let last = slices.slices.iter().rposition(|slice| slice.responses > 0)?;
    let from_ns = (last + 1) as u64 * slices.slice_ns;
    let from_s = from_ns as f64 / 1e9;
    // With no requests left to send, fewer responses are to come; and none in a pause.
    let sending_ns = run.elapsed_ns.saturating_sub(run.record.drain_ns.unwrap_or(0));
    let paused_s = run.paused_ns_between(from_ns, sending_ns) as f64 / 1e9;
    let silent_s = sending_ns.saturating_sub(from_ns) as f64 / 1e9 - paused_s;
    let failed: u64 = slices.slices[last + 1..].iter().map(|slice| slice.failures).sum();
    // No silence of the server: these were never sent.
    let failed = failed.saturating_sub(run.record.without_stream().timed_out);
    let per_s = run.record.responses as f64 / weighed_s(run, 0, from_ns);
    let missed = per_s * weighed_s(run, from_ns, sending_ns);
    let longest_s = run.record.answered.latency().max_ns().unwrap_or(0) as f64 / 1e9;
    if failed == 0 || super::are_of_this_machine(run) {
        return None;
    }
    if missed.is_nan() || missed < FEWEST_MISSED || silent_s < longest_s * LONGER {
        return None;
    }
    // All failures are those of the silence, or nobody knows which. It began within the slice of the last response.
    let before: u64 = slices.slices[..last].iter().map(|slice| slice.failures).sum();
    let all = run.record.failures_total();
    let only_then = before == 0 && failed + slices.slices[last].failures == all;
    let kinds = FailureKind::ALL.into_iter().map(|kind| (kind, run.record.failures_of(kind)));
    let mut kinds: Vec<_> = kinds.filter(|(_, count)| *count > 0).collect();
    // Those of the slice of the last response broke with what broke there; but a request that timed out in it had been sent long
    // before, when responses came.
    let timed_out = FailureKind::Timeout;
    let earlier = slices.slices[last].failures > 0 && run.record.failures_of(timed_out) == all;
    let failed = if only_then && !earlier { all } else { failed };
    match kinds.as_mut_slice() {
        [(_, count)] => *count = failed,
        _ if only_then => {}
        _ => kinds.clear(),
    }
    let timed_out = matches!(kinds.as_slice(), [(FailureKind::Timeout, _)]);
    let places = figures::asked_in_flight(run).unwrap_or(0);
    let only_last = timed_out && run.plan.limits.requests.is_some() && failed <= places;
    let for_most = !only_last && silent_s > super::MOST * ended_s;
    Some(Gone { from_s, ended_s, silent_s, paused_s, failed, for_most, only_last, kinds })
}

/// No response any more, from some moment to the end of the run.
pub(super) fn went_away(run: &Run) -> Option<Finding> {
    let gone = gone(run)?;
    let timed_out = matches!(gone.kinds.as_slice(), [] | [(FailureKind::Timeout, _)]);
    let mut evidence = gone.evidence();
    if gone.kinds.is_empty() {
        let of_run = FailureKind::ALL.into_iter().map(|kind| (kind, run.record.failures_of(kind)));
        let of_run: Vec<_> = of_run.filter(|(_, count)| *count > 0).collect();
        evidence.push_str(&format!(" Failures of the whole run: {}.", causes::by_kind(&of_run)));
    }
    if timed_out && stopped::is_why(run, gone.silent_s, &mut evidence) {
        return Some(Finding::new(D02, gone.severity(), evidence, STOPPED.0, STOPPED.1));
    }
    if timed_out && let Some(silence) = gone.silence(run) {
        let evidence = format!("{evidence} {}", silence.evidence);
        return Some(Finding::new(D02, gone.severity(), evidence, silence.cause, silence.fix));
    }
    if ended::is_seen(run, &gone.kinds) {
        evidence = format!("{evidence} {}", ENDED.0);
        if ended::is_why(run, &gone.kinds) {
            return Some(Finding::new(D02, gone.severity(), evidence, ENDED.1, ENDED.2));
        }
    }
    let cause = match gone.kinds.as_slice() {
        [(FailureKind::Refused, _)] => {
            "Nothing listened there any longer (the server ended, or closed its listening socket), or something in front of it \
             rejected connections."
        }
        _ if gone.only_last => {
            "No other request was left to send: the server stopped responding, or it does not respond to some \
             requests, whatever it does with others."
        }
        _ => "The server, or something in front of it, stopped responding.",
    };
    let fix = if gone.only_last {
        "See in the server's log what became of the last requests, and measure again: the rate is that of the \
         whole run, the wait for them included."
    } else {
        "See in the server's log why it stopped, and measure again: the rate is that of the \
         whole run, silence included."
    };
    Some(Finding::new(D02, gone.severity(), evidence, cause, fix))
}

impl Gone {
    /// What it makes of the run, whatever part of the requests failed: to fail takes no time.
    pub fn severity(&self) -> Severity {
        if self.for_most { Severity::Invalid } else { Severity::Suspect }
    }

    /// Whether nothing at all came from the server in it.
    pub fn silence(&self, run: &Run) -> Option<over_quic::Silence> {
        over_quic::silence(run, self.silent_s)
    }

    /// As a sentence.
    pub fn evidence(&self) -> String {
        let kinds = match self.kinds.as_slice() {
            [] => String::new(),
            kinds => format!(", {}", causes::by_kind(kinds)),
        };
        let paused = match self.paused_s {
            0.0 => String::new(),
            paused_s => format!(" (the rate was paused for {} of that)", time(paused_s * 1e3)),
        };
        format!(
            "No response came from {} on at the latest, until the run ended at {}{paused}: {} failed{kinds}.",
            time(self.from_s * 1e3),
            time(self.ended_s * 1e3),
            counted(self.failed, "request")
        )
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::{Load, RateProfile};
    use ablaze_model::rate_change::RateChange;

    use super::*;
    use crate::live::sample;

    /// Ten seconds of an open loop, without a response from this slice on; thirty requests time out in it.
    fn silent_from(slice: usize, asked: RateProfile) -> Run {
        let mut run = sample::run();
        sample::open_loop(&mut run, 1.0);
        let Load::Open { rate, .. } = &mut run.plan.load else { unreachable!("opened above") };
        *rate = asked;
        run.plan.limits.duration_ns = Some(run.elapsed_ns);
        for slice in &mut run.record.slices.slices[slice..] {
            *slice = ablaze_model::record::Slice::default();
        }
        run.record.slices.slices[slice].failures = 30;
        run.record.failures[FailureKind::Timeout as usize] = 30;
        run
    }

    /// Requests that hang time out in a pause by hand, in which nothing else was due.
    /// It was killed within the slice of its last responses.
    #[test]
    fn the_failures_around_the_last_response_are_those_of_the_silence() {
        let killed = |earlier: u64| {
            let mut run = sample::run();
            run.record.slices.slices[50..].fill(ablaze_model::record::Slice::default());
            (run.record.slices.slices[49].failures, run.record.slices.slices[51].failures) =
                (60, 220);
            run.record.slices.slices[10].failures = earlier;
            run.record.failures[FailureKind::Refused as usize] = 280 + earlier;
            sample::monitor(&mut run).target.processes[0].ended = true;
            went_away(&run).unwrap()
        };
        let found = killed(0);
        assert!(found.evidence.contains("280 requests failed, 280 refused."), "{found:?}");
        assert_eq!(found.cause, ENDED.1);
        // Alike, so that their kind is known.
        assert!(killed(1).evidence.contains(": 220 requests failed, 220 refused."));
    }

    /// They had been sent a timeout before, when others were answered.
    #[test]
    fn requests_that_timed_out_beside_responses_are_not_of_the_silence() {
        let mut run = silent_from(50, RateProfile::constant(2_000.0));
        run.record.slices.slices[49].failures = 30;
        run.record.failures[FailureKind::Timeout as usize] = 60;
        let evidence = went_away(&run).unwrap().evidence;
        assert!(evidence.contains(": 30 requests failed, 30 timed out."), "{evidence}");
    }

    /// It has no local port left (D20); the server stands by.
    #[test]
    fn a_client_that_cannot_connect_is_no_server_that_went_away() {
        for kind in [FailureKind::LocalPorts, FailureKind::LocalDescriptors] {
            let mut run = silent_from(50, RateProfile::constant(2_000.0));
            run.record.failures = [0; FailureKind::ALL.len()];
            run.record.failures[kind as usize] = 30;
            assert_eq!(went_away(&run), None, "{kind:?}");
            run.record.failures[FailureKind::Refused as usize] = 31;
            assert!(went_away(&run).is_some(), "{kind:?}");
        }
    }

    #[test]
    fn a_pause_by_hand_is_no_server_that_went_away() {
        let pause = |at_ns| vec![RateChange { at_ns, times_asked: 0.0 }];
        let mut run = silent_from(50, RateProfile::constant(2_000.0));
        let found = went_away(&run).unwrap();
        assert!(!found.evidence.contains("paused"), "{found:?}");
        run.rate_changes = pause(5_000_000_000);
        assert_eq!(went_away(&run), None);
        // It had been away for three seconds, not for most of the run.
        let mut run = silent_from(40, RateProfile::constant(2_000.0));
        assert_eq!(went_away(&run).unwrap().severity, Severity::Invalid);
        run.rate_changes = pause(7_000_000_000);
        let found = went_away(&run).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let said = "until the run ended at 10.0 s (the rate was paused for 3.00 s of that): 30 requests failed";
        assert!(found.evidence.contains(said), "{found:?}");
    }

    #[test]
    fn the_foot_of_a_ramp_is_no_server_that_went_away() {
        let down = RateProfile { from_per_s: 4_000.0, to_per_s: 0.0, steps: 0 };
        // 18 requests are due in the last three slices, 800 in the last twenty.
        assert_eq!(went_away(&silent_from(97, down)), None);
        assert!(went_away(&silent_from(97, RateProfile::constant(2_000.0))).is_some());
        assert!(went_away(&silent_from(80, down)).is_some());
    }
}
