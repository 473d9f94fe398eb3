//! D59: responses were complete before the server had taken their requests: what was measured is not what serving the whole
//! request takes.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D59;
use crate::finding::{Finding, Severity};
use crate::words::{counted, grouped, percent, time};

/// From this share of the responses on the figures are not those of whole requests.
const MANY: f64 = 0.01;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D59,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

/// The client does not send the rest of such a request over HTTP/2 and HTTP/3.
const NOT_READ: &str = "The server responds to these requests without reading them to their end: their rate and times are not those \
                        of requests that are read whole.";
/// Over HTTP/1 it does: who took it, the server or its kernel, is not seen, nor whether it is read slowly or not at all.
const AND_MAY_READ_ON: &str = "The server responds to these requests before it has read them to their end: their times are not those of \
                               requests that are read whole. Whether it reads the rest behind its response does not show.";

fn on_run(run: &Run) -> Option<Finding> {
    let record = &run.record;
    let early = record.answered_early;
    if early.count == 0 || record.responses == 0 {
        return None;
    }
    let share = (early.count as f64 / record.responses as f64).min(1.0);
    let mut evidence = format!(
        "{}{} of {} ({}) were complete before the server had taken the whole request.",
        if over_http1(run) { "At least " } else { "" },
        grouped(early.count),
        counted(record.responses, "response"),
        percent(share)
    );
    if early.waited_ns > 0 {
        evidence.push_str(&format!(
            " Connections then waited {} in total for the rest of it to leave, and {} were closed because it had not within 1 s.",
            time(early.waited_ns as f64 / 1e6),
            grouped(early.closed)
        ));
    } else if !over_http1(run) {
        evidence.push_str(" The rest was not sent.");
    }
    // Who refuses a body need not read it (RFC 9110, section 15.5.14); who says that it was taken should have.
    let refused = record.responses - plainly_succeeded(run);
    let severity = match share >= MANY && early.count > refused {
        true => Severity::Suspect,
        false => Severity::Note,
    };
    Some(Finding::new(
        D59,
        severity,
        evidence,
        match over_http1(run) {
            true => AND_MAY_READ_ON,
            false => NOT_READ,
        },
        "Have the server read the body before it responds, or measure without a body if it is not meant to be read.",
    ))
}

/// Over HTTP/1 the kernel may hold the rest of a request that the server has not read, and nothing waits for it then.
fn over_http1(run: &Run) -> bool {
    run.plan.http2.is_none() && run.plan.http3.is_none()
}

/// Responses with a status of success.
fn plainly_succeeded(run: &Run) -> u64 {
    let of_success = run.record.statuses.range(200..300);
    of_success.map(|(_, count)| count).sum::<u64>().min(run.record.responses)
}

fn seen(_: &Run) -> Option<String> {
    Some("No response was complete before its request had been sent whole.".to_owned())
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::AnsweredEarly;

    use super::*;
    use crate::live::sample;

    fn early(count: u64, status: u16) -> Run {
        let mut run = sample::over_http2(1);
        let responses = run.record.responses;
        run.record.statuses.clear();
        run.record.statuses.insert(200, responses - count);
        *run.record.statuses.entry(status).or_default() += count;
        run.record.answered_early = AnsweredEarly { count, closed: 0, waited_ns: 0 };
        run
    }

    #[test]
    fn a_success_without_reading_the_request_is_no_measurement_of_it() {
        assert_eq!(on_run(&early(0, 200)), None);
        let all = early(sample::run().record.responses, 200);
        let finding = on_run(&all).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("(100 %)"), "{}", finding.evidence);
        assert!(finding.evidence.contains("The rest was not sent."), "{}", finding.evidence);
        assert_eq!(on_run(&early(3, 200)).unwrap().severity, Severity::Note, "3 of all");
    }

    #[test]
    fn a_refusal_need_not_read_what_it_refuses() {
        let refused = early(sample::run().record.responses, 413);
        assert_eq!(on_run(&refused).unwrap().severity, Severity::Note);
    }

    #[test]
    fn over_http1_it_says_what_the_connections_waited_for() {
        let mut run = sample::run();
        run.record.answered_early =
            AnsweredEarly { count: 30, closed: 20, waited_ns: 29_700_000_000 };
        let finding = on_run(&run).unwrap();
        let evidence = &finding.evidence;
        // Others may lie whole in the kernel's buffers, unread.
        assert!(evidence.starts_with("At least 30 of 20,000 responses"), "{evidence}");
        assert!(evidence.contains("29.7 s in total"), "{evidence}");
        assert!(evidence.contains("20 were closed"), "{evidence}");
        // A server may respond first and read on behind that, slowly.
        assert!(!finding.cause.contains("without reading"), "{finding:?}");
        assert!(finding.cause.contains("Whether it reads the rest"), "{finding:?}");
    }
}
