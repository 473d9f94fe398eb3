//! Any text may be given to `ablaze explain`. Reading and judging it never panics; a report read has
//! its line in the text; and what stands behind each line (a carriage return) changes no report.

#![no_main]

use ablaze_verdict::printed::{Report, read};
use ablaze_verdict::rules::judge;
use libfuzzer_sys::fuzz_target;

fn reports(text: &str) -> Vec<Report> {
    let text = read(text);
    let judgement = judge(&text);
    assert_eq!(judgement.reports.len(), text.reports.len());
    for judged in &judgement.reports {
        for finding in &judged.findings {
            assert!(!finding.evidence.contains("NaN"), "{finding:?}");
        }
    }
    text.reports
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let read = reports(&text);
    let lines = text.lines().count();
    assert!(read.iter().all(|report| (1..=lines).contains(&report.line)));
    if !text.contains('\r') {
        // Compared as printed: some figures may be NaN nowhere, but a step is a float.
        let carried = reports(&text.replace('\n', "\r\n"));
        assert_eq!(format!("{read:?}"), format!("{carried:?}"));
    }
});
