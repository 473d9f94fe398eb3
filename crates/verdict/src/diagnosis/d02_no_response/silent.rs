//! Requests to which nothing came, while others were answered: no failure, because the run ended before
//! their timeout.

use ablaze_model::Run;

use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::live::figures;
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent, time};

/// So many times as long as any response took: else they may be slow ones.
const LONGER: u64 = 2;
/// So many times as long as the 99 % time.
const TIMES_P99: u64 = 10;

/// A share of the places was held by requests that nothing came to.
pub(super) fn held(run: &Run) -> Option<Finding> {
    let silent = run.record.silent;
    let latency = run.record.answered.latency();
    let longest_answered_ns = latency.max_ns()?;
    let usual_ns = latency.quantile_ns(0.99)?.saturating_mul(TIMES_P99);
    let places =
        figures::asked_in_flight(run).unwrap_or_else(|| run.plan.load.connections().into()).max(1);
    let share = silent.count as f64 / places as f64;
    let long = longest_answered_ns.saturating_mul(LONGER).max(usual_ns);
    if share <= super::SHARE || silent.longest_ns < long {
        return None;
    }
    let severity = if share >= super::MOST { Severity::Invalid } else { Severity::Suspect };
    let of_warmup = match silent.of_warmup {
        0 => String::new(),
        count => format!("; {} of them were sent in the warm-up", grouped(count)),
    };
    Some(Finding::new(
        D02,
        severity,
        format!(
            "{} held {} of the {} places when the run ended: no byte of a response had come for up \
             to {}, while other responses took at most {}{of_warmup}.",
            counted(silent.count, "request"),
            percent(share),
            grouped(places),
            time(silent.longest_ns as f64 / 1e6),
            time(longest_answered_ns as f64 / 1e6)
        ),
        "The server did not respond to these requests: the rate is that of the others.",
        format!(
            "See in the server's log what became of them, or count them as failed with a time limit \
             ({}) shorter than the run, and measure again.",
            spelled(run, Opt::Timeout)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::record::Silent;

    fn with(count: u64, of_warmup: u64, longest_ns: u64) -> Run {
        let mut run = sample::run();
        run.record.silent = Silent { count, of_warmup, longest_ns };
        run
    }

    #[test]
    fn requests_that_hang_are_found_by_their_share_of_the_places() {
        let severity = |count| held(&with(count, 0, 9_000_000_000)).map(|found| found.severity);
        assert_eq!(severity(1), None);
        assert_eq!(severity(2), Some(Severity::Suspect));
        assert_eq!(severity(50), Some(Severity::Invalid));
        let evidence = held(&with(90, 90, 9_000_000_000)).unwrap().evidence;
        assert!(evidence.starts_with("90 requests held 90 % of the 100 places"), "{evidence}");
        assert!(evidence.ends_with("90 of them were sent in the warm-up."), "{evidence}");
    }

    #[test]
    fn slow_responses_are_no_silence() {
        let mut run = with(90, 0, 1_500_000_000);
        run.record.answered.total.record(1_000_000_000);
        assert_eq!(held(&run), None);
    }
}
