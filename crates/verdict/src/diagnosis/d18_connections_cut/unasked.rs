//! Responses over HTTP/1 that had come before the requests to which they were taken for the response: pipelined
//! connections carry on with whatever comes next.

use ablaze_model::Run;

use super::REPEATED;
use super::surplus::FIX_OF_UNASKED;
use crate::DiagnosisId::D18;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent};

/// No response comes as soon as this behind its request, not even on one machine: each way takes a system call.
const AT_ONCE_NS: u64 = 50;
/// From here on the rate is no rate of requests with responses.
const MOST: f64 = 0.5;

/// Responses that were there when their requests were sent.
pub(super) fn found(run: &Run) -> Option<Finding> {
    let times = run.record.answered.total.recorded();
    let early: u64 =
        times.filter(|(took_ns, _)| *took_ns <= AT_ONCE_NS).map(|(_, count)| count).sum();
    let share = early as f64 / run.record.responses as f64;
    if early == 0 || share <= REPEATED {
        return None;
    }
    Some(Finding::new(
        D18,
        if share >= MOST { Severity::Invalid } else { Severity::Suspect },
        format!(
            "{} of {} ({}) were whole no later than {AT_ONCE_NS} ns after the requests were sent whose responses they were \
             taken for.",
            grouped(early),
            counted(run.record.responses, "response"),
            percent(share)
        ),
        "None can come so soon: they had come before these requests, and do not belong to them. The server sends more responses than it was asked \
         for (it responds twice, or says with a response to no request, such as a 408, that it closes the connection), and in HTTP/1 nothing tells one of them from the response to the next request. Neither the rate nor the times are \
         those of requests with their responses.",
        format!(
            "{FIX_OF_UNASKED} Without pipelining the client notices such a response and closes the connection."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn a_response_that_came_before_its_request_is_no_response_to_it() {
        let with = |early: u64| {
            let mut run = sample::run();
            run.record.answered.total.record_many(1, early);
            run.record.responses += early;
            super::super::on_run(&run)
        };
        // Beside 20,000 others.
        assert_eq!(with(100), None);
        assert_eq!(with(1_000).unwrap().severity, Severity::Suspect);
        let finding = with(30_000).unwrap();
        assert_eq!(finding.severity, Severity::Invalid);
        assert!(finding.evidence.starts_with("30,000 of 50,000 responses (60 %)"), "{finding:?}");
    }
}
