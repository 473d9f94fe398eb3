//! Requests that were never sent whole, because their bodies waited for the server's windows (RFC 9113, 5.2; RFC 9000, 4): that no
//! response came is then no sign that it does not respond.

use ablaze_model::Run;

use crate::diagnosis::d41_window_stalls;

/// Bodies waited for this share of the time of all requests.
const NEARLY_ALL: f64 = 0.9;
/// And those that timed out had this share of it: else the others may be the ones that waited.
const OF_THESE: f64 = 0.5;

pub(super) const CAUSE: &str = "The server did not permit the bodies of these requests to be sent whole in time: they waited for its \
                                windows. Whether it responds to whole requests this run does not show.";
pub(super) const FIX: &str = "See why the server opens no window, or opens it too slowly: a first window of 0 or of too few bytes \
                              (SETTINGS_INITIAL_WINDOW_SIZE in HTTP/2, initial_max_stream_data_bidi_remote in HTTP/3), or a \
                              handler that does not read bodies.";

/// Whether nearly all the time that requests without a response took was that of bodies which waited for a window; what was
/// seen is added to the evidence.
pub(super) fn are_why(run: &Run, evidence: &mut String) -> bool {
    let Some(said) = seen(run) else { return false };
    evidence.push(' ');
    evidence.push_str(&said);
    true
}

/// What was seen of bodies that could not be sent, where that is why no response came.
pub fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    let share = d41_window_stalls::share(run)?;
    let failed = record.failed.total.sum_ns() as f64 + super::timed_out::still_silent_ns(run);
    let of_these = failed / record.in_flight_ns as f64;
    if share < NEARLY_ALL || record.responses > 0 && of_these < OF_THESE {
        return None;
    }
    let settings = record.http2.as_ref().and_then(|facts| facts.settings);
    let window = settings.map(|settings| settings.stream_window_bytes);
    let window = window.map(d41_window_stalls::first_window).unwrap_or_default();
    Some(format!("{}{window}", d41_window_stalls::waited(run, share)?))
}

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind;

    use super::*;
    use crate::DiagnosisId::D02;
    use crate::live::{judge, sample};

    fn with_window(bytes: u32, share: f64) -> Run {
        let mut run = sample::over_http2(1);
        let record = &mut run.record;
        record.answered.total.clear();
        record.responses = 0;
        record.statuses.clear();
        record.failures[FailureKind::Timeout as usize] = 100;
        record.failed.total.record_many(1_000_000_000, 100);
        record.in_flight_ns = 100_000_000_000;
        let facts = record.http2.as_mut().unwrap();
        facts.settings.as_mut().unwrap().stream_window_bytes = bytes;
        facts.waits.stream_times = 100;
        facts.waits.stream_ns = (1e11 * share) as u128;
        facts.waits.longest_ns = 1_000_000_000;
        run
    }

    #[test]
    fn a_server_that_lets_no_body_be_sent_is_not_called_silent() {
        let told = |run: &Run| {
            let findings = judge(run).findings;
            let found = findings.into_iter().find(|found| found.id == D02).expect("D02");
            (found.evidence, found.cause)
        };
        let (evidence, cause) = told(&with_window(0, 0.99));
        assert!(evidence.contains("starts with a window of 0 B"), "{evidence}");
        assert!(cause.starts_with("The server did not permit the bodies"), "{cause}");
        // Most of the time went by behind the body.
        let (_, cause) = told(&with_window(0, 0.5));
        assert!(!cause.contains("permit"), "{cause}");
        // The answered ones may be those that waited.
        let mut run = with_window(100, 0.95);
        run.record.responses = 1_000;
        run.record.in_flight_ns *= 3;
        run.record.http2.as_mut().unwrap().waits.stream_ns *= 3;
        assert_eq!(seen(&run), None);
    }
}
