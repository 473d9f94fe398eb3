//! D02: requests counted as complete that nobody answered.

use super::arithmetic::SHORTEST_ANSWER_BYTES;
use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::printed::Report;
use crate::words::{amount, counted, decimal, grouped};

pub fn check(report: &Report) -> Option<Finding> {
    let complete = report.complete?;
    if complete == 0 {
        return report.failed.filter(|failed| *failed > 0).map(none_at_all);
    }
    let total_bytes = report.total_bytes?;
    // A negative count has wrapped and says nothing.
    if total_bytes < 0 || total_bytes as f64 >= complete as f64 * SHORTEST_ANSWER_BYTES {
        return None;
    }
    let remedy = "Count these as failed. Ask the target once with `curl -v` to see what it does, and \
                  measure again when it answers.";
    if total_bytes > 0 {
        let answered = (total_bytes as f64 / SHORTEST_ANSWER_BYTES) as u64;
        let evidence = format!(
            "{} bytes came back for {}: {} each, where the shortest answer has 19. At least {} had \
             none.",
            grouped(total_bytes as u64),
            counted(complete, "complete request"),
            amount(total_bytes as f64 / complete as f64),
            grouped(complete - answered)
        );
        return Some(Finding::new(D02, Severity::Suspect, evidence, cause(report), remedy));
    }
    let each = report.taken_s.map_or(String::new(), |taken| {
        format!(
            " {} s / {} is {} µs from one close to the next.",
            decimal(taken.value, 3),
            grouped(complete),
            decimal(taken.value * 1e6 / complete as f64, 1)
        )
    });
    let evidence = format!(
        "0 bytes came back for {}, of which {} are counted as failed.{each}",
        counted(complete, "complete request"),
        grouped(report.failed.unwrap_or(0))
    );
    Some(Finding::new(D02, Severity::Invalid, evidence, cause(report), remedy))
}

fn cause(report: &Report) -> String {
    let counts = if report.tool.is_ab_like() {
        "ab counts a request as complete when its connection closes, with or without an answer."
    } else {
        "The tool counts a closed connection as a complete request."
    };
    format!("The target closed the connections without an HTTP response. {counts}")
}

fn none_at_all(failed: u64) -> Finding {
    Finding::new(
        D02,
        Severity::Invalid,
        format!("Not one request was answered; {} failed.", grouped(failed)),
        "Nobody listened there, or whoever did closed every connection without an HTTP response.",
        "Ask the target once with `curl -v`: it says which of the two it is.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn bytes_decide_what_an_answer_is() {
        let with_bytes = |bytes| {
            let mut report = sample::ab();
            report.total_bytes = Some(bytes);
            check(&report).map(|finding| finding.severity)
        };
        assert_eq!(with_bytes(0), Some(Severity::Invalid));
        assert_eq!(with_bytes(18_999_999), Some(Severity::Suspect));
        assert_eq!(with_bytes(19_000_000), None);
        assert_eq!(with_bytes(-5), None);
    }

    #[test]
    fn the_serial_time_is_shown() {
        let mut report = sample::ab();
        report.total_bytes = Some(0);
        // 100 s / 1,000,000.
        let evidence = check(&report).unwrap().evidence;
        assert!(evidence.contains("is 100.0 µs from one close to the next"), "{evidence}");
    }
}
