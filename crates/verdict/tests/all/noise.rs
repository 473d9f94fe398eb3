//! Reports reach people inside of logs, mails and pages. What stands around them must not change
//! what is read, and no text whatever may make the reader panic.

use ablaze_verdict::printed::{Report, Setting, read};
use ablaze_verdict::rules::judge;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const REPORTS: [&str; 5] = [
    include_str!("../printed/000-gurl-and-ab.txt"),
    include_str!("../printed/002-three-servers.txt"),
    include_str!("../printed/003-routn-and-nginx.txt"),
    include_str!("../printed/forms.txt"),
    include_str!("../printed/native.txt"),
];

/// The figures alone: where and under which words a report stands changes with what is around it.
fn figures(text: &str) -> Vec<Report> {
    let mut reports = read(text).reports;
    for report in &mut reports {
        (report.line, report.label, report.command) = (0, None, None);
        report.setting = Setting::default();
    }
    reports
}

/// What people and programs put before every line.
fn prefixes() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("> ".to_owned()),
        Just("> > ".to_owned()),
        Just("| ".to_owned()),
        Just("* ".to_owned()),
        Just("\u{3000}".to_owned()),
        "[ \t]{1,12}",
        "2026-0[1-9]-1[0-9]T10:00:0[0-9]Z (INFO|ERROR) \\[bench\\]   ",
        "[a-z]{1,8} \\| ",
    ]
}

/// What stands behind the figures.
fn notes() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("   ".to_owned()),
        Just(" (备注：第 3 次)".to_owned()),
        Just("  <- look here".to_owned()),
        Just("\r".to_owned()),
        Just(" |".to_owned()),
    ]
}

fn is_figure(line: &str) -> bool {
    line.chars().any(|c| c.is_ascii_digit())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(1),
        failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_around_a_report_changes_no_figure(
        index in 0..REPORTS.len(),
        prefix in prefixes(),
        note in notes(),
        blank_lines in 0usize..3,
    ) {
        let text = REPORTS[index];
        let mut noisy = String::new();
        for line in text.lines() {
            let note = if is_figure(line) { note.as_str() } else { "" };
            noisy.push_str(&format!("{prefix}{line}{note}\n"));
            for _ in 0..blank_lines {
                noisy.push_str(&format!("{}\n", prefix.trim_end()));
            }
        }
        prop_assert_eq!(figures(&noisy), figures(text), "{}", noisy);
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        judge(&read(&text));
    }

    /// Lines of reports in any order, with anything in the place of their figures.
    #[test]
    fn no_mixture_of_reports_makes_it_panic(
        picks in prop::collection::vec((0..REPORTS.len(), any::<prop::sample::Index>()), 0..60),
        figure in "(-?[0-9]{0,25}(\\.[0-9]{0,25})?|,|µ|\u{1b}\\[|%|\\PC{0,6})",
    ) {
        let mut text = String::new();
        for (index, pick) in picks {
            let lines: Vec<&str> = REPORTS[index].lines().collect();
            let line = lines[pick.index(lines.len())];
            let at = line.find(|c: char| c.is_ascii_digit());
            text.push_str(at.map_or(line, |at| &line[..at]));
            text.push_str(if at.is_some() { &figure } else { "" });
            text.push('\n');
        }
        judge(&read(&text));
    }
}

#[test]
fn the_reports_are_all_read() {
    let numbers: Vec<usize> = REPORTS.iter().map(|text| figures(text).len()).collect();
    assert_eq!(numbers, [2, 3, 8, 4, 2]);
    assert!(REPORTS.iter().flat_map(|text| figures(text)).all(|report| report.complete.is_some()));
    let first = figures(REPORTS[0]).into_iter().next().unwrap();
    assert_eq!(first.rate_per_s.unwrap().value, 129_741.42);
}
