//! What other tools' reports were taken for, and are not: a contradiction, a cause, another run. Printed by the tools, but
//! for what each test says that somebody changed.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::Finding;
use ablaze_verdict::printed::{Report, read};
use ablaze_verdict::rules::judge;

fn one(text: &str) -> (Report, Vec<Finding>) {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    let report = reports.remove(0);
    (report.subject, report.findings)
}

fn of(id: DiagnosisId, findings: &[Finding]) -> Option<String> {
    let found = findings.iter().find(|finding| finding.id == id);
    found.map(|found| format!("{} {} {}", found.evidence, found.cause, found.fix))
}

fn has(id: DiagnosisId, findings: &[Finding]) -> bool {
    of(id, findings).is_some()
}

const HEY: &str = include_str!("../printed/real-hey.txt");
const AB: &str = include_str!("../printed/real-ab.txt");

fn run(text: &str, command: &str) -> String {
    let mut runs =
        text.split("\n$ ").map(|run| format!("$ {}\n", run.trim_start_matches("$ ").trim_end()));
    runs.find(|run| run.starts_with(command)).unwrap_or_else(|| panic!("no {command}"))
}

/// A job of the shell that ended, a footnote, a line of a log; and a report that was cut off in its last line.
#[test]
fn numbers_in_brackets_below_a_report_are_no_failed_requests() {
    let hey = run(HEY, "$ hey -n 1000 -c 1 ");
    let (before, _) = one(&hey);
    for below in [
        "$ kill %1\n[1]+  Terminated              ./server\n",
        "See [1] and [2].\n\n[1] https://github.com/a/b\n",
        "[250] some log line of the server\n",
    ] {
        let (report, findings) = one(&format!("{hey}\n\n{below}"));
        assert_eq!((report.complete, report.failed), (before.complete, Some(0)), "{below}");
        assert!(!has(D43, &findings) && !has(D02, &findings), "{findings:?}");
    }
    let cut = &hey[..hey.find(" responses").unwrap()];
    let text = read(cut);
    assert!(text.reports.iter().all(|report| report.failed.unwrap_or(0) == 0), "{cut}");
}

/// ab prints no more without its table of times, and many paste no more.
#[test]
fn what_stands_below_a_report_that_was_cut_off_names_the_next() {
    let whole = run(AB, "$ ab ");
    let (_, whole) = whole.split_once('\n').unwrap();
    let cut = &whole[..whole.find("Connection Times").unwrap()];
    for (first, second) in [
        ("Before the patch:\n\n", "After the patch:\n\n"),
        ("== Before ==\n", "== After ==\n"),
        ("--- Before ---\n", "--- After ---\n"),
        ("Before\n======\n\n", "After\n======\n\n"),
        ("Before I changed the number of workers\n", "After I changed it\n"),
    ] {
        for report in [cut, whole] {
            let reports = read(&format!("{first}{report}\n{second}{report}")).reports;
            let labels: Vec<String> =
                reports.into_iter().map(|report| report.label.unwrap_or_default()).collect();
            assert_eq!(labels.len(), 2, "{first}");
            assert!(labels[0].contains("Before") && !labels[1].contains("Before"), "{labels:?}");
            assert!(labels[1].contains("After"), "{labels:?}");
        }
    }
}

#[test]
fn ab_s_path_may_have_blanks() {
    let text = run(AB, "$ ab ");
    let path = one(&text).0.path.unwrap();
    let text =
        text.replace(&format!("Document Path:          {path}"), "Document Path:          /?q=a b");
    let (_, rest) = text.split_once('\n').unwrap();
    let text = format!("$ ab -k -n 1000 -c 10 \"http://127.0.0.1:21001/?q=a b\"\n{rest}");
    let (report, findings) = one(&text);
    assert_eq!(report.path.as_deref(), Some("/?q=a b"));
    assert!(!has(D36, &findings), "{findings:?}");
}

/// As ansible and docker keep them: something stands behind the last figure. And a row without its last one.
#[test]
fn a_row_of_times_has_its_columns_whatever_stands_behind_it() {
    let text = run(AB, "$ ab ");
    let (report, _) = one(&text);
    for behind in ["\"", "\",", "\\n\",\"stream\":\"stdout\""] {
        let rows = ["Connect:", "Processing:", "Waiting:", "Total:"];
        let quoted: String = text
            .lines()
            .map(|line| match rows.iter().any(|row| line.starts_with(row)) {
                true => format!("{line}{behind}\n"),
                false => format!("{line}\n"),
            })
            .collect();
        let (quoted, findings) = one(&quoted);
        assert_eq!(
            (quoted.processing, quoted.total),
            (report.processing, report.total),
            "{behind}"
        );
        assert!(!has(D43, &findings), "{findings:?}");
    }
    let row = text.lines().find(|line| line.starts_with("Processing:")).unwrap();
    let last = row.rsplit_once(' ').unwrap().0;
    let (cut, _) = one(&text.replace(row, last));
    let (cut, whole) = (cut.processing.unwrap(), report.processing.unwrap());
    assert_eq!(
        (cut.mean_ms, cut.deviation_ms, cut.median_ms),
        (whole.mean_ms, whole.deviation_ms, whole.median_ms)
    );
    assert_eq!(cut.max_ms, None);
}

/// 400 responses of 20,000,000 B, of which 80,042,000 B are left, wrapped around by no power of two.
#[test]
fn bytes_that_no_counter_of_32_bits_shows_are_no_such_count() {
    let report = |total: &str| {
        format!(
            "Document Length:        20000000 bytes\nConcurrency Level:      10\nTime taken for tests:   0.297 seconds\n\
             Complete requests:      400\nFailed requests:        0\nTotal transferred:      {total} bytes\n\
             Requests per second:    1349.07 [#/sec] (mean)\n"
        )
    };
    assert!(!has(D32, &one(&report("80042000")).1));
    // 400 × (20,000,000 + 105) less one round.
    assert!(has(D32, &one(&report("3705074704")).1));
}

fn siege(hits: u64, good: u64, failed: u64, availability: &str) -> String {
    format!(
        "Transactions:\t\t{hits} hits\nAvailability:\t\t{availability} %\nElapsed time:\t\t67.47 secs\n\
         Data transferred:\t4273708 bytes\nResponse time:\t\t8.25 secs\nTransaction rate:\t{:.2} trans/sec\n\
         Throughput:\t\t63342.34 bytes/sec\nConcurrency:\t\t{:.2}\nSuccessful transactions:\t{good}\n\
         Failed transactions:\t{failed}\nLongest transaction:\t17.77 secs\nShortest transaction:\t0.37 secs\n",
        hits as f64 / 67.47,
        hits as f64 * 8.25 / 67.47
    )
}

/// siege 2.60's own example, whose availability leaves two error pages out: 339 / (339 + 24).
#[test]
fn an_availability_of_an_older_siege_is_no_contradiction() {
    let (_, findings) = one(&siege(339, 337, 26, "93.39"));
    assert!(!has(D43, &findings), "{findings:?}");
}

/// What is no HTTP at all siege 4.0.7 counts twice: 200 requests (by the server) are 200 transactions, none of them successful,
/// and 200 failed.
#[test]
fn what_siege_may_have_counted_twice_is_said_so() {
    let (_, findings) = one(&siege(200, 0, 200, "50.00"));
    let said = of(D02, &findings).unwrap();
    assert!(said.contains("they may be the same") && !said.contains("of 400"), "{said}");
    assert!(!has(D04, &findings), "{findings:?}");
}

/// Somebody masked the host, or wrapped the command.
#[test]
fn another_host_in_the_command_need_not_be_another_run() {
    let text = run(AB, "$ ab ").replacen("http://127.0.0.1", "http://example.com", 1);
    let said = of(D36, &one(&text).1).unwrap();
    assert!(said.contains("or one of the two was changed since"), "{said}");
}

/// A run that ended without a report, and one of a single client below it in the same log.
#[test]
fn clients_of_a_run_above_are_not_those_of_h2load_s_report() {
    let text = "\
starting benchmark...
spawning thread #0: 8 total client(s). Timing-based test with 0s of warm-up time and 1s of main duration for measurements.
spawning thread #1: 8 total client(s). Timing-based test with 0s of warm-up time and 1s of main duration for measurements.
starting benchmark...
spawning thread #0: 1 total client(s). 1000 total requests
Application protocol: http/1.1

finished in 78.10ms, 12804.62 req/s, 2.04MB/s
requests: 1000 total, 1000 started, 1000 done, 1000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 1000 2xx, 0 3xx, 0 4xx, 0 5xx
                     min         max         mean         sd        +/- sd
time for request:       50us      1.39ms        77us        23us    90.80%
";
    let judged = judge(&read(text)).reports.remove(0);
    assert_eq!(judged.subject.concurrency, Some(1));
    assert!(!has(D01, &judged.findings), "{:?}", judged.findings);
}
