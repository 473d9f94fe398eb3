//! D31: a kilobyte is 1000 bytes for one tool and 1024 for another.

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D31;
use crate::finding::{Finding, Severity};
use crate::printed::{Report, Tool};
use crate::words::{decimal, grouped};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D31,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms { report: Some(on_report), ..Forms::NONE },
};

/// How near the quotient must come, and how exact the length of the run must be for that.
const NEAR: f64 = 0.004;

fn on_report(report: &Report) -> Option<Finding> {
    let (taken, printed) = (report.taken_s?, report.kilobytes_per_s?);
    let total = report.total_bytes.filter(|total| *total > 0)? as f64;
    if taken.value <= 0.0 || printed.value <= 0.0 || taken.step > NEAR * taken.value {
        return None;
    }
    let per_s = total / taken.value;
    if (per_s / printed.value / 1000.0 - 1.0).abs() > NEAR {
        return None;
    }
    let mut evidence = format!(
        "{} B / {} s is {} KiB/s of 1024 bytes, which is what ab would print; the {} printed is \
         in thousands of bytes.",
        grouped(total as u64),
        decimal(taken.value, 3),
        decimal(per_s / 1024.0, if per_s < 1024e3 { 2 } else { 0 }),
        decimal(printed.value, 2)
    );
    if report.tool == Tool::Gurl {
        evidence.push_str(
            " The bytes are not counted on the wire but reconstructed from the parsed heads.",
        );
    }
    Some(Finding::new(
        D31,
        Severity::Note,
        evidence,
        "ab divides by 1024 where this tool divides by 1000.",
        "Before comparing with ab's transfer rate, multiply this one by 1000 / 1024.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn the_quotient_tells_the_kilobyte() {
        let mut report = sample::ab();
        assert_eq!(on_report(&report), None);
        // 1,200,000,000 B / 100 s / 1000.
        report.kilobytes_per_s = Some(sample::printed(12_000.0, 0.01));
        assert!(on_report(&report).unwrap().evidence.contains("11,719 KiB/s"));
        // 26,100 B / 1.528 s / 1024.
        report.total_bytes = Some(26_100);
        report.taken_s = Some(sample::printed(1.528, 0.001));
        report.kilobytes_per_s = Some(sample::printed(17.08, 0.01));
        let evidence = on_report(&report).unwrap().evidence;
        assert!(evidence.contains("is 16.68 KiB/s"), "{evidence}");
    }
}
