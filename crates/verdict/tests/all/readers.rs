//! Reports as other versions of the tools print them, and in forms that a reader may take for others: what is read and
//! what is said of them.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::printed::{Report, read};
use ablaze_verdict::rules::{Judged, judge};
use ablaze_verdict::{Severity, Verdict};

/// From public repositories and pages: vegeta up to version 8, oha up to 0.5, ab 2.0, bombardier, siege.
const PUBLISHED: &str = include_str!("../printed/published.txt");
/// Written for the tests of the readers: every line that ab can print.
const FORMS: &str = include_str!("../printed/forms.txt");

/// The reports of a text, judged.
fn judged(text: &str) -> Vec<Judged<Report>> {
    judge(&read(text)).reports
}

/// The published one whose command begins so.
fn published(command: &str) -> String {
    let mut runs = PUBLISHED.split("\n$ ").map(|run| run.trim_start_matches("$ "));
    let run = runs.find(|run| run.starts_with(command));
    format!("$ {}\n", run.unwrap_or_else(|| panic!("no {command}")))
}

fn one(text: &str) -> Judged<Report> {
    let mut reports = judged(text);
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0)
}

/// Its text, of a diagnosis that must be there.
fn of(id: DiagnosisId, judged: &Judged<Report>) -> (Severity, String) {
    let found = judged.findings.iter().find(|finding| finding.id == id);
    let found = found.unwrap_or_else(|| panic!("no {id} in {:?}", judged.findings));
    (found.severity, format!("{} {} {}", found.evidence, found.cause, found.fix))
}

fn has(id: DiagnosisId, judged: &Judged<Report>) -> bool {
    judged.findings.iter().any(|finding| finding.id == id)
}

/// What people published, they did not change.
#[test]
fn no_published_report_contradicts_itself() {
    let reports = judged(PUBLISHED);
    assert_eq!(reports.len(), 10);
    for report in reports {
        assert!(!has(D43, &report) && !has(D36, &report), "{report:?}");
    }
}

/// Requests / attack: 4,500 / 14.996579 = 300.07. In the whole 15.002 s it is 299.96.
#[test]
fn the_second_column_of_older_vegeta_is_the_rate_of_the_attack() {
    let of_vegeta = published("echo \"GET http://localhost:8080/feeds\"");
    let report = one(&of_vegeta);
    assert_eq!(report.verdict(), Verdict::Valid, "{:?}", report.findings);
    assert_eq!(report.subject.rate_per_s.unwrap().value, 300.07);
    let edited = of_vegeta.replace("4500, 300.07", "4500, 400.07");
    assert!(of(D43, &one(&edited)).1.contains("the rate of the attack"));
    // The failed ones are in it.
    let failing = one(&published("echo \"GET http://localhost:8082/time"));
    assert!(of(D02, &failing).1.contains("1,794 of 6,000 requests"));
    // Its JSON has no `throughput` either.
    let json = "{\"latencies\":{\"total\":27100075500,\"mean\":6022239,\"50th\":6036946,\"95th\":6854407,\
                \"99th\":8446394,\"max\":12119311},\"bytes_in\":{\"total\":3906000,\"mean\":868},\
                \"bytes_out\":{\"total\":0,\"mean\":0},\"duration\":14996579000,\"wait\":5451043,\"requests\":4500,\
                \"rate\":300.0684,\"success\":1,\"status_codes\":{\"200\":4500},\"errors\":[]}\n";
    let report = one(json);
    assert_eq!(report.subject.complete, Some(4500));
    assert!(!has(D43, &report), "{:?}", report.findings);
}

/// `1.0000` is all of them; the last bin has what took more than three times the mean.
#[test]
fn older_oha_prints_a_ratio_and_where_its_bins_end() {
    for (command, verdict) in [
        ("# oha", Verdict::Valid),
        // Whole steps of 0.1 ms.
        ("oha http://localhost:3000/", Verdict::Suspect),
    ] {
        let report = one(&published(command));
        assert_eq!(report.verdict(), verdict, "{:?}", report.findings);
        assert_eq!(report.subject.own("the success rate").unwrap().value, 100.0);
    }
    let of_oha = published("# oha");
    for (from, to) in [
        ("Success rate:\t1.0000", "Success rate:\t0.5000"),
        ("[6]    |", "[60]   |"),
        ("0.609 [114]", "0.909 [114]"),
        ("Slowest:\t1.6509", "Slowest:\t1.4509"),
    ] {
        let edited = of_oha.replacen(from, to, 1);
        assert_ne!(edited, of_oha, "{from}");
        assert!(has(D43, &one(&edited)), "{to}");
    }
}

/// 4,948 requests in 100 s are 49.5/s, which is not more than 50.
#[test]
fn a_duration_of_bombardier_has_all_its_units() {
    let of_bombardier = published("docker run");
    let report = one(&of_bombardier);
    assert_eq!(report.verdict(), Verdict::Valid, "{:?}", report.findings);
    for (printed, seconds) in
        [("1m40s", 100.0), ("10s", 10.0), ("1h0m5s", 3605.0), ("1m0s", 60.0), ("1.5s", 1.5)]
    {
        let text = of_bombardier.replacen("for 1m40s", &format!("for {printed}"), 1);
        assert_eq!(one(&text).subject.asked_s.unwrap().value, seconds, "{printed}");
    }
}

/// 404s are transactions to siege, neither successful nor failed.
#[test]
fn transactions_of_siege_that_were_not_successful_are_error_pages() {
    for (command, none) in
        [("siege -r 50 -c 20 -b", "None of 1,000 "), ("siege -b -c250", "None of 849,797 ")]
    {
        let report = one(&published(command));
        let (severity, said) = of(D04, &report);
        assert_eq!((severity, report.verdict()), (Severity::Invalid, Verdict::Invalid));
        assert!(said.contains(none) && !said.contains("redirect"), "{said}");
    }
    let some = published("siege -r 50");
    let with = |good: &str| some.replacen("transactions:           0", good, 1);
    let report = one(&with("transactions:         900"));
    assert_eq!(of(D04, &report).0, Severity::Suspect);
    assert!(!has(D04, &one(&with("transactions:        1000"))));
    // A redirect that failed is successful, and no transaction.
    assert!(!has(D04, &one(&with("transactions:        1010"))));
}

/// ab says it in one line, and counts each as complete.
#[test]
fn requests_that_ab_could_not_write_are_counted() {
    let lines = |failed: &str, written: &str, html: &str| {
        format!(
            "Server Software:        x\nServer Hostname:        h\nServer Port:            80\n\
             Document Path:          /\nDocument Length:        612 bytes\nConcurrency Level:      100\n\
             Time taken for tests:   12.500 seconds\nComplete requests:      50000\n{failed}{written}\
             Total transferred:      42700000 bytes\nHTML transferred:       {html} bytes\n\
             Requests per second:    4000.00 [#/sec] (mean)\n"
        )
    };
    let none = "Failed requests:        0\n";
    let all = "30600000";
    for (written, severity) in [("25000", Severity::Invalid), ("5000", Severity::Suspect)] {
        let written = format!("Write errors:           {written}\n");
        let report = one(&lines(none, &written, all));
        let (found, said) = of(D02, &report);
        assert_eq!(found, severity, "{said}");
        assert!(said.contains("Write errors"), "{said}");
        // All of the bodies came.
        assert!(of(D43, &report).1.contains("50,000 bodies of 612 B"));
    }
    let of_length = "Failed requests:        25000\n   (Connect: 0, Receive: 0, Length: 25000, Exceptions: 0)\n";
    let unsent = "Write errors:           25000\n";
    let half = one(&lines(of_length, unsent, "15300000"));
    assert!(has(D02, &half) && !has(D43, &half), "{:?}", half.findings);
    // Older versions print the line without any, and the bodies are held against the length as well.
    let older = "Write errors:           0\n";
    assert!(!has(D02, &one(&lines(none, older, all))));
    assert!(has(D43, &one(&lines(none, older, "60600000"))));
    assert!(!judged(FORMS).iter().any(|report| has(D02, report) && report.subject.line == 1));
}

/// ab 2.0 prints microseconds without the zeros before them.
#[test]
fn the_microseconds_of_old_ab_are_padded() {
    let of_ab = published("ab -c 100 -n 100000");
    let taken = |text: &str| one(text).subject.taken_s.unwrap().value;
    // 100,000 / 32,538.73/s = 3.07326 s.
    assert!((taken(&of_ab) - 3.073_261).abs() < 1e-9);
    let with = |printed: &str, rate: &str| {
        of_ab.replacen("3.73261", printed, 1).replacen("32538.73", rate, 1)
    };
    assert!((taken(&with("3.7326", "33252.12")) - 3.007_326).abs() < 1e-9);
    assert!((taken(&with("3.732610", "26790.90")) - 3.732_61).abs() < 1e-9);
    assert!((taken(&with("3.732", "26795.28")) - 3.732).abs() < 1e-9);
    // Five decimals that somebody calculated.
    assert!((taken(&with("3.73261", "26790.90")) - 3.732_61).abs() < 1e-9);
}

/// What a command asks for stands on all of its lines.
#[test]
fn a_command_on_several_lines_is_held_against_its_report() {
    let report = FORMS.split("\n\nThis is ablaze").next().unwrap();
    let text =
        format!("$ ab -n 50000 \\\n    -c 10 \\\n    https://example.test/form?a=1\n{report}\n");
    let judged = one(&text);
    assert!(of(D36, &judged).1.contains("a concurrency of 10, the report says 20"));
    assert_eq!(judged.subject.label, None);
    let json = "$ bombardier -o json \\\n  http://h/\n{\"spec\":1}\n";
    assert_eq!(read(json).commands.len(), 1);
}

/// Below the visible part of a run by time there is no main duration: 97,110 / 9,711.00/s is 10 s, not 11.03.
#[test]
fn the_length_of_a_run_by_time_of_h2load_stands_above() {
    let text = "finished in 11.03s, 9711.00 req/s, 772.10KB/s\n\
                requests: 99420 total, 99999 started, 99420 done, 90115 succeeded, 9305 failed, 2310 errored, 2312 timeout\n\
                status codes: 90115 2xx, 0 3xx, 6995 4xx, 0 5xx\n\
                traffic: 7.54MB (7906295) total, 4.32MB (4529697) headers (space savings 57.56%), 1.54MB (1619718) data\n";
    let report = one(text);
    assert!(!has(D43, &report) && report.subject.taken_s.is_none(), "{report:?}");
}

/// ab 2.0 divides the time by no requests.
#[test]
fn the_time_of_each_of_no_requests_is_no_contradiction() {
    let with = |complete: &str, each: &str| {
        let text = format!(
            "Concurrency Level:      10\nTime taken for tests:   5.12 seconds\nComplete requests:      {complete}\n\
             Failed requests:        0\nTotal transferred:      0 bytes\nHTML transferred:       0 bytes\n\
             Requests per second:    0.00 [#/sec] (mean)\nTime per request:       {each} [ms] (mean)\n"
        );
        has(D43, &one(&text))
    };
    assert!(!with("0", "inf"));
    assert!(with("1000", "inf"));
}

/// hey's own connections are known from its command alone: 50 unless it says otherwise.
#[test]
fn a_command_may_have_nothing_but_a_url() {
    let hey = include_str!("../printed/real-hey.txt");
    let report = &hey[hey.find("Summary:").unwrap()..];
    let report = &report[..report.find("\n$ ").unwrap()];
    let report = one(&format!("$ hey http://127.0.0.1:25001/\n\n{report}\n"));
    assert_eq!((report.subject.asked(), report.subject.port), (Some(50), Some(25001)));
}

/// Its head names files and steps, and no method: without it a journey that got no response had no line that begins a report.
#[test]
fn reports_of_journeys_are_read_from_their_head_on() {
    const JOURNEYS: &str = include_str!("../printed/real-journeys.txt");
    let reports = judged(JOURNEYS);
    assert_eq!(reports.len(), 2, "{reports:?}");
    let [none, some] = &reports[..] else { panic!("two") };
    assert_eq!(none.verdict(), Verdict::Invalid);
    assert!(of(D02, none).1.contains("1 of 1 request"), "{none:?}");
    for (report, port) in [(none, 1), (some, 18080)] {
        assert_eq!(report.subject.host.as_deref(), Some("127.0.0.1"));
        assert_eq!((report.subject.port, report.subject.path.as_deref()), (Some(port), None));
        assert_eq!(report.subject.concurrency, None, "users may pause");
        assert!(!has(D43, report) && !has(D36, report), "{report:?}");
    }
    // Of several, behind what a log puts before its lines, to several hosts.
    let several = JOURNEYS.replace(
        "journey p1.hurl, 2 steps, to http://127.0.0.1:18080/",
        "journeys a ×1, b ×3, 2 steps, to http://127.0.0.1:18080/, http://b and https://c",
    );
    let logged: String = several.lines().map(|line| format!("09:12:01 app | {line}\n")).collect();
    let reports = judged(&logged);
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert_eq!(reports[1].subject.port, Some(18080), "{reports:?}");
}

/// Ten clients with five requests each, which only the command says: without it the clients are not what was in flight.
#[test]
fn clients_of_h2load_that_pipeline_are_not_its_concurrency() {
    const H2LOAD: &str = include_str!("../printed/real-h2load-2.txt");
    let run = |command: &str| {
        let run = H2LOAD.split("$ ").find(|run| run.starts_with(command));
        run.unwrap_or_else(|| panic!("no {command}")).to_owned()
    };
    let asked = |text: &str| one(text).subject.asked();
    let pipelined = run("h2load --h1 -n 1000 -c 10 -m 5");
    assert_eq!(asked(&format!("$ {pipelined}")), Some(50));
    assert_eq!(asked(pipelined.split_once('\n').unwrap().1), None);
    let single = run("h2load --h1 -n 20000 -c 100 ");
    assert_eq!(asked(single.split_once('\n').unwrap().1), Some(100));
}
