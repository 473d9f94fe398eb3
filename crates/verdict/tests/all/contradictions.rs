//! Figures held against each other (D43): never against a report that a tool printed, always against one
//! in which a figure was changed by more than rounding.

use ablaze_verdict::DiagnosisId::{D01, D06, D36, D43};
use ablaze_verdict::printed::{Tool, read};
use ablaze_verdict::rules::judge;
use ablaze_verdict::{Finding, Severity};

/// Printed by the tools themselves, against servers that respond, fail, close and wait.
const REAL: [&str; 16] = [
    include_str!("../printed/real-ab.txt"),
    include_str!("../printed/real-ablaze-ab.txt"),
    include_str!("../printed/real-gurl.txt"),
    include_str!("../printed/real-ablaze.txt"),
    include_str!("../printed/real-wrk.txt"),
    include_str!("../printed/real-h2load.txt"),
    // nginx, python's http.server, TLS, HTTP/2, and servers that reset, close, wait and send garbage.
    include_str!("../printed/real-ab-2.txt"),
    include_str!("../printed/real-wrk-2.txt"),
    include_str!("../printed/real-h2load-2.txt"),
    include_str!("../printed/real-wrk2.txt"),
    include_str!("../printed/real-hey.txt"),
    include_str!("../printed/real-oha.txt"),
    include_str!("../printed/real-bombardier.txt"),
    include_str!("../printed/real-vegeta.txt"),
    include_str!("../printed/real-siege.txt"),
    // 35 servers of one fault each.
    include_str!("../printed/real-odd.txt"),
];
/// In the forms that other versions of them print.
const PEERS: &str = include_str!("../printed/peers.txt");
const PUBLISHED: [&str; 4] = [
    include_str!("../printed/000-gurl-and-ab.txt"),
    include_str!("../printed/001-annotated.txt"),
    include_str!("../printed/002-three-servers.txt"),
    include_str!("../printed/003-routn-and-nginx.txt"),
];

/// Each of them by itself: it begins with its command.
fn real(texts: &'static [&'static str]) -> impl Iterator<Item = String> {
    let runs = texts.iter().flat_map(|text| text.split("\n$ "));
    runs.map(|run| format!("$ {}\n", run.trim_start_matches("$ ")))
}

fn contradiction(text: &str) -> Option<Finding> {
    let judgement = judge(&read(text));
    let findings = judgement.reports.into_iter().flat_map(|report| report.findings);
    findings.into_iter().find(|finding| finding.id == D43)
}

#[test]
fn what_a_tool_printed_has_no_contradiction() {
    let mut reports = 0;
    for text in real(&REAL).chain(PUBLISHED.map(str::to_owned)) {
        reports += read(&text).reports.len();
        assert_eq!(contradiction(&text), None, "{text}");
        // Nor has it more in flight than its command has room for (D36).
        let findings = judge(&read(&text)).reports.into_iter().flat_map(|report| report.findings);
        let crowded = |one: &Finding| one.id == D36 && one.evidence.contains(" where ");
        assert!(!findings.into_iter().any(|one| crowded(&one)), "{text}");
    }
    assert!(reports > 420, "{reports}");
}

/// The text with the number behind this label of this line changed.
fn changed(text: &str, at: usize, change: impl Fn(f64) -> f64) -> Option<String> {
    let line = text.lines().nth(at)?;
    let colon = line.find(':')? + 1;
    let start = colon + line[colon..].find(|c: char| c.is_ascii_digit())?;
    let length = line[start..].find(|c: char| !c.is_ascii_digit() && c != '.');
    let digits = &line[start..length.map_or(line.len(), |length| start + length)];
    let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
    let number = change(digits.parse().ok()?);
    let new = line.replacen(digits, &format!("{number:.places$}"), 1);
    let lines = text.lines().enumerate().map(|(index, line)| if index == at { &new } else { line });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Lines whose figures follow from others in every whole report of ab.
const OF_AB: [&str; 8] = [
    "Time taken for tests:",
    "Concurrency Level:",
    "Complete requests:",
    "Total transferred:",
    "Requests per second:",
    "Time per request:",
    "Transfer rate:",
    "Failed requests:",
];

/// Each figure three times as large, and a third, and off by a hundredth where it has the digits.
#[test]
fn a_changed_figure_is_found_and_named() {
    let mut checked = 0;
    for text in real(&REAL[..2]).filter(|text| !text.contains("<table")) {
        let report = &read(&text).reports[0];
        let complete = report.complete.unwrap();
        // Half a millisecond of rounding must be less than a hundredth of the run for the last change.
        let fine = report.taken_s.is_some_and(|taken| taken.value > 0.2);
        for (at, line) in text.lines().enumerate() {
            let Some(label) = OF_AB.iter().find(|label| line.starts_with(**label)) else {
                continue;
            };
            let larger = |value: f64| value * 3.0 + 7.0;
            let smaller = |value: f64| (value / 3.0).floor();
            let a_little = |value: f64| (value * 1.02).ceil();
            let changes: [(&dyn Fn(f64) -> f64, bool); 3] =
                [(&larger, true), (&smaller, complete > 30), (&a_little, fine)];
            for (change, applies) in changes {
                let new = changed(&text, at, change).unwrap();
                // 7 B more in 10 s are no different rate.
                let of_nothing = line.contains("  0 bytes");
                if !applies || of_nothing || new.lines().nth(at) == Some(line) {
                    continue;
                }
                let Some(finding) = contradiction(&new) else { panic!("nothing found: {new}") };
                let named = format!("{} {}", finding.evidence, finding.cause);
                assert!(named.contains(label.trim_end_matches(':')), "{line}: {named}");
                checked += 1;
            }
        }
    }
    assert!(checked > 900, "{checked}");
}

/// In the other tools' forms: what to change, in which of their reports, and what is named.
#[test]
fn a_changed_figure_of_another_tool_is_found() {
    let of = |texts: usize, command: &str| {
        let found = real(&REAL[texts..=texts]).find(|text| text.starts_with(command));
        found.unwrap_or_else(|| panic!("no {command}"))
    };
    let wrk = of(4, "$ wrk --latency -t 2 -c 20");
    let h2load = of(5, "$ h2load -c 10 -m 10");
    let vegeta = of(13, "$ echo \"GET http://127.0.0.1:23001/\" | vegeta attack -rate=100 ");
    let gurl = of(2, "$ ablaze gurl -bench -ac 20 -an 500 ");
    let ablaze = of(3, "$ ablaze -c 50 -d 1 ");
    for (text, from, to, named) in [
        (&wrk, "1842 requests in", "18420 requests in", "the number of requests"),
        (&wrk, "Requests/sec:   1837.94", "Requests/sec:   9837.94", "the rate"),
        (&wrk, "Transfer/sec:    263.84KB", "Transfer/sec:    263.84MB", "the transfer rate"),
        (&wrk, "99%   20.43ms", "99%   10.43ms", "99 %"),
        // Less than what histograms round by.
        (&wrk, "50%   10.72ms", "50%   15.66ms", "50 % is 15.66 ms, more than 75 % (15.62 ms)"),
        (&wrk, "Latency    10.82ms", "Latency    40.82ms", "total mean"),
        (&h2load, "159964.17 req/s", "259964.17 req/s", "the rate"),
        (&h2load, "5000 done", "500 done", "the number succeeded"),
        (&h2load, "(186000) total", "(1860000) total", "the bytes received"),
        (&h2load, "311us       118us", "311us      1.18ms", "total deviation"),
        (&h2load, "44us       970us", "44us     20.00ms", "total deviation"),
        (&vegeta, "17.994ms", "1.017994s", "total max"),
        (&gurl, "Requests per second:", "Requests per second:    1", "`Requests per second`"),
        (&gurl, "200:500 ", "200:400 ", "`Status Codes`"),
        (&ablaze, "94,865 requests/s", "84,865 requests/s", "the rate"),
        (&ablaze, "94,865 responses", "9,486 responses", "the number of requests"),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        let finding = contradiction(&text.replacen(from, to, 1));
        let finding = finding.unwrap_or_else(|| panic!("{to}: {text}"));
        let said = format!("{} {}", finding.evidence, finding.cause);
        assert!(said.contains(named), "{to}: {said}");
    }
}

/// Figures of the other tools that follow from others in each of their reports: where the line begins, and
/// which of its numbers.
const OF_PEERS: [(&str, &str, usize); 25] = [
    ("wrk", "Requests/sec:", 0),
    ("wrk", "Transfer/sec:", 0),
    ("wrk2", "Requests/sec:", 0),
    ("h2load", "requests:", 0),
    ("h2load", "requests:", 3),
    ("h2load", "finished in", 1),
    ("hey", "  Total:", 0),
    ("hey", "  Requests/sec:", 0),
    ("hey", "  Total data:", 0),
    ("hey", "  Size/request:", 0),
    ("hey", "  Slowest:", 0),
    ("oha", "  Success rate:", 0),
    ("oha", "  Total:", 0),
    ("oha", "  Requests/sec:", 0),
    ("oha", "  Size/sec:", 0),
    ("oha", "  Slowest:", 0),
    ("oha", "  Average:", 0),
    ("bombardier", "Bombarding ", 0),
    ("vegeta", "Requests ", 0),
    ("vegeta", "Requests ", 1),
    ("vegeta", "Duration ", 0),
    ("vegeta", "Duration ", 1),
    ("vegeta", "Success ", 0),
    ("vegeta", "Bytes In ", 1),
    ("siege", "\"availability\":", 0),
];

/// The line with this one of its numbers changed, not counting those of a URL.
fn with_number(line: &str, which: usize, change: impl Fn(f64) -> f64) -> Option<String> {
    let from = line.find("://").map_or(0, |at| at + line[at..].find(' ').unwrap_or(0));
    let (mut left, mut at) = (which, from);
    while let Some(start) = line[at..].find(|c: char| c.is_ascii_digit()).map(|to| at + to) {
        let length = line[start..].find(|c: char| !c.is_ascii_digit() && c != '.');
        let end = length.map_or(line.len(), |length| start + length);
        if left == 0 {
            let digits = &line[start..end];
            let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
            let number = change(digits.parse().ok()?);
            return Some(format!("{}{number:.places$}{}", &line[..start], &line[end..]));
        }
        (left, at) = (left - 1, end);
    }
    None
}

/// Three times as large, or a third: some figures are held only against what they may not exceed.
#[test]
fn what_follows_from_other_figures_is_found_in_each_report_of_every_tool() {
    let mut checked = 0;
    for text in real(&REAL[4..]) {
        let words: Vec<&str> = text.lines().next().unwrap_or_default().split(' ').collect();
        let reports = read(&text).reports;
        let [report] = reports.as_slice() else { continue };
        // Of a few requests all rounds to 0.
        let fine = report.taken_s.is_none_or(|taken| taken.value > taken.step * 10.0);
        if report.complete.is_none_or(|n| n < 30) || report.failed == report.complete || !fine {
            continue;
        }
        for (tool, label, which) in OF_PEERS.iter().filter(|(tool, ..)| words.contains(tool)) {
            let lines: Vec<&str> = text.lines().collect();
            let at =
                lines.iter().position(|line| line.trim_start().starts_with(label.trim_start()));
            let Some(at) = at else { continue };
            // Nothing, in bytes of which each is a unit.
            if with_number(lines[at], *which, |value| value * 2.0).as_deref() == Some(lines[at]) {
                continue;
            }
            let larger = with_number(lines[at], *which, |value| value * 3.0 + 7.0);
            let smaller = with_number(lines[at], *which, |value| value / 3.0);
            let found = larger.into_iter().chain(smaller).any(|new| {
                let mut lines = lines.clone();
                lines[at] = &new;
                contradiction(&lines.join("\n")).is_some()
            });
            assert!(found, "{tool}: nothing found in {:?} of {text}", lines[at]);
            checked += 1;
        }
    }
    assert!(checked > 600, "{checked}");
}

#[test]
fn every_peer_is_recognised_with_what_all_print() {
    let reports = read(PEERS).reports;
    let rate = |tool| {
        let report = reports.iter().find(|report| report.tool == tool);
        let report = report.unwrap_or_else(|| panic!("no {}", tool.name()));
        (report.complete, report.failed, report.rate_per_s.unwrap().value, report.non_2xx)
    };
    assert_eq!(reports.len(), 6);
    // 1,900 and 60 responses and 40 errors, all in the rate.
    assert_eq!(rate(Tool::Hey), (Some(2000), Some(40), 11_111.111_1, Some(60)));
    assert_eq!(rate(Tool::Oha), (Some(1000), Some(10), 2000.0, Some(0)));
    assert_eq!(rate(Tool::Bombardier), (Some(100_000), Some(0), 45_210.23, Some(1000)));
    assert_eq!(rate(Tool::Vegeta), (Some(1200), Some(535), 65.87, Some(0)));
    assert_eq!(rate(Tool::Siege), (Some(1000), Some(0), 833.33, None));
    assert_eq!(rate(Tool::Wrk2), (Some(60_018), Some(0), 2000.28, Some(0)));
    for judged in judge(&read(PEERS)).reports {
        let contradictory = judged.findings.iter().find(|finding| finding.id == D43);
        assert_eq!(contradictory, None);
        assert!(judged.findings.iter().all(|finding| finding.id != D01), "{:?}", judged.findings);
    }
    let hey = PEERS.replacen("Requests/sec:\t11111.1111", "Requests/sec:\t21111.1111", 1);
    assert!(contradiction(&hey).unwrap().cause.contains("the rate"));
}

/// No tool prints these, and they leave no other figure wrong.
#[test]
fn a_figure_that_no_run_can_have_is_found() {
    let odd = |command: &str| {
        let found = real(&REAL[15..]).find(|text| text.starts_with(command));
        found.unwrap_or_else(|| panic!("no {command}"))
    };
    let ab = odd("$ ab -k -n 500 -c 10 -s 2 http://127.0.0.1:24016/");
    let wrk = odd("$ wrk -t1 -c10 -d1s --timeout 1s --latency http://127.0.0.1:24031/");
    let hey = odd("$ hey -n 300 -c 10 -t 2 http://127.0.0.1:24016/");
    let h2load = odd("$ h2load --h1 -n 300 -c 10 -N 2 -T 2 http://127.0.0.1:24016/");
    let of = |texts: usize, command: &str| {
        let found = real(&REAL[texts..=texts]).find(|text| text.starts_with(command));
        found.unwrap_or_else(|| panic!("no {command}"))
    };
    let bombardier = of(12, "$ bombardier -d 2s http://127.0.0.1:23001/");
    let ablaze = of(3, "$ ablaze -c 50 -d 1 ");
    for (text, from, to) in [
        (&bombardier, "Reqs/sec     14143.78", "Reqs/sec     42431.34"),
        (&bombardier, "Latency        9.99ms", "Latency       29.97ms"),
        (&ablaze, "p50 476 µs   p95", "p50 676 µs   p95"),
        (&ablaze, "p99 1.20 ms [", "p99 3.60 ms ["),
        (&ablaze, "max 9.38 ms   errors", "max 28.1 ms   errors"),
        (&ab, "Complete requests:      500", "Complete requests:      -500"),
        (&ab, "Failed requests:        0", "Failed requests:        -3"),
        (&ab, "Keep-Alive requests:    500", "Keep-Alive requests:    -500"),
        (&ab, "Time taken for tests:   2.829", "Time taken for tests:   -2.829"),
        (&ab, "Requests per second:    176.73", "Requests per second:    -176.73"),
        (&ab, "Time per request:       56.582", "Time per request:       -56.582"),
        (&ab, "Waiting:       51   56", "Waiting:      -51   56"),
        (&ab, "  50%     51", "  50%    -51"),
        (&ab, "  90%     57", " 900%     57"),
        // Of 500 requests 2 % took 163 ms, the mean of all is 56 ms.
        (&ab, "Total:         51   56  17.0", "Total:         51   56   5.7"),
        (&wrk, "524 requests in", "-524 requests in"),
        (&wrk, "43.02ms   80.87%", "43.02ms  242.61%"),
        (&wrk, "Req/Sec   523.00 ", "Req/Sec  1569.00 "),
        (&hey, "Slowest:\t0.0665", "Slowest:\t-0.0665"),
        (&hey, "DNS+dialup:\t0.0000", "DNS+dialup:\t7.0000"),
        (&h2load, "300 started", "900 started"),
        (&h2load, "0 timeout", "7 timeout"),
        (&h2load, "300 done", "-300 done"),
        (&h2load, "11.35ms    93.33%", "11.35ms   279.99%"),
    ] {
        let new = text.replacen(from, to, 1);
        assert_ne!(&new, text, "{from}");
        let finding = contradiction(&new).unwrap_or_else(|| panic!("nothing found: {to}"));
        assert_eq!(finding.severity, Severity::Invalid, "{to}: {finding:?}");
    }
}

/// Figures that only this tool prints, or that leave all others as they are.
#[test]
fn what_a_tool_says_in_another_way_is_held_against_its_figures() {
    let of = |texts: usize, command: &str| {
        let found = real(&REAL[texts..=texts]).find(|text| text.starts_with(command));
        found.unwrap_or_else(|| panic!("no {command}"))
    };
    let by_time = of(5, "$ h2load -c 10 -D 1 --h1 ");
    let streams = of(8, "$ h2load -n 10000 -c 10 -m 10 ");
    let wrk = of(7, "$ wrk -t2 -c100 -d2s ");
    let bombardier = of(12, "$ bombardier -c 100 -n 20000 ");
    let hey = of(10, "$ hey -n 1000 -c 1 ");
    let ab = of(6, "$ ab ");
    let value = |text: &str, label: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(label));
        let line = line.unwrap_or_else(|| panic!("no {label} in {text}"));
        line[line.find(label).unwrap() + label.len()..]
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned()
    };
    // 960 × 10.35 ms in 1 s are 9.9 of 10.
    let mean = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("time for request:")).unwrap();
        line.split_whitespace().nth(5).unwrap().to_owned()
    };
    let per_thread = value(&wrk, "Req/Sec");
    let maximum = wrk.lines().find(|line| line.contains("Req/Sec")).unwrap();
    let maximum = maximum.split_whitespace().nth(3).unwrap().to_owned();
    let small = "100.00".to_owned();
    let total = "137.81KB (141120) total".to_owned();
    let rate = value(&ab, "Requests per second:");
    let complete = value(&ab, "Complete requests:");
    let read = value(&hey, "resp read:");
    let of_parts = value(&bombardier, "Reqs/sec");
    for (text, from, to, severity) in [
        (&by_time, mean(&by_time), "20.35ms".to_owned(), Severity::Invalid),
        (&streams, mean(&streams), "900.00ms".to_owned(), Severity::Invalid),
        (&by_time, total.clone(), "1378.1KB (141120) total".to_owned(), Severity::Suspect),
        (
            &by_time,
            "13.14KB (13454) data".to_owned(),
            "13.14KB (23454) data".to_owned(),
            Severity::Suspect,
        ),
        (&by_time, "savings 0.00%".to_owned(), "savings 100.01%".to_owned(), Severity::Invalid),
        (&wrk, per_thread.clone(), small.clone(), Severity::Invalid),
        (&wrk, maximum, small.clone(), Severity::Invalid),
        (&bombardier, of_parts, "960.11".to_owned(), Severity::Invalid),
        (&hey, format!("resp read:\t{read}"), "resp read:\t0.9000".to_owned(), Severity::Invalid),
        (&ab, rate.clone(), "nan".to_owned(), Severity::Invalid),
        (&ab, rate, "inf".to_owned(), Severity::Invalid),
        (
            &ab,
            format!("requests:      {complete}"),
            format!("requests:      {}", "5".repeat(21)),
            Severity::Invalid,
        ),
        (&ab, "[ms] (mean)".to_owned(), "[s] (mean)".to_owned(), Severity::Invalid),
    ] {
        let new = text.replacen(&from, &to, 1);
        assert_ne!(&new, text, "{from}");
        assert_eq!(contradiction(text), None, "{text}");
        let finding = contradiction(&new).unwrap_or_else(|| panic!("nothing found: {to} in {new}"));
        assert_eq!(finding.severity, severity, "{to}: {finding:?}");
    }
    // Compression may cost more than it saves.
    assert_eq!(contradiction(&by_time.replacen("savings 0.00%", "savings -3.00%", 1)), None);
}

/// At the end bombardier's progress has all requests, each under a status or under `others`; 199,999 of 200,000 are
/// 100.00 % as well.
#[test]
fn bombardier_s_codes_are_all_that_its_progress_has() {
    let with = |done: u64, good: u64| {
        contradiction(&format!(
            "$ bombardier -c 50 -n 200000 http://h/\nBombarding http://h/ with 200000 request(s) using 50 connection(s)\n \
             {done} / 200000 [====] 100.00% 14700/s 14s\nDone!\nStatistics        Avg      Stdev        Max\n  \
             Reqs/sec     14847.31    1470.03   20580.43\n  Latency        3.40ms     1.81ms    36.34ms\n  HTTP codes:\n    \
             1xx - 0, 2xx - {good}, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 0\n  Throughput:    15.55MB/s\n"
        ))
    };
    assert_eq!(with(200_000, 200_000), None);
    assert_eq!(with(199_999, 199_990), None);
    let found = with(200_000, 150_000).unwrap();
    assert!(
        found.evidence.contains("add up to 150,000, but 200,000 requests are done"),
        "{found:?}"
    );
}

/// 200,000 / 13.605 s = 14,700/s.
#[test]
fn the_rate_in_bombardier_s_json_is_near_the_count_by_the_length() {
    let with = |good: u64| {
        contradiction(&format!(
            "{{\"spec\":{{\"numberOfConnections\":50,\"testType\":\"number-of-requests\",\"numberOfRequests\":200000,\
             \"method\":\"GET\",\"url\":\"http://h/\",\"body\":\"\",\"stream\":false,\"timeoutSeconds\":2,\
             \"client\":\"fasthttp\"}},\"result\":{{\"bytesRead\":160000000,\"bytesWritten\":13000000,\
             \"timeTakenSeconds\":13.605,\"req1xx\":0,\"req2xx\":{good},\"req3xx\":0,\"req4xx\":0,\"req5xx\":0,\
             \"others\":0,\"latency\":{{\"mean\":3400.1,\"stddev\":1810.2,\"max\":29000}},\
             \"rps\":{{\"mean\":14720.1,\"stddev\":90.2,\"max\":19000}}}}}}\n"
        ))
    };
    assert_eq!(with(200_000), None);
    assert!(
        with(90_000).unwrap().evidence.contains("90,000 requests in 13.605"),
        "{:?}",
        with(90_000)
    );
}

/// In a run by count; one by time has its warm-up besides.
#[test]
fn no_first_byte_of_h2load_comes_after_the_run() {
    let row = |command: &str, longest: &str, mean: &str, deviation: &str| {
        contradiction(&format!(
            "{command}starting benchmark...\nspawning thread #0: 50 total client(s). 200000 total requests\n\
             Application protocol: h2c\n\nfinished in 13.61s, 14700.31 req/s, 11.38MB/s\n\
             requests: 200000 total, 200000 started, 200000 done, 200000 succeeded, 0 failed, 0 errored, 0 timeout\n\
             status codes: 200000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
             \x20                    min         max         mean         sd        +/- sd\n\
             time for request:      273us     36.34ms      3.40ms      1.81ms    71.00%\n\
             time to 1st byte:      500us     {longest}      {mean}      {deviation}    80.00%\n"
        ))
    };
    let with = |command: &str, longest: &str| row(command, longest, "4.00ms", "3.00ms");
    assert_eq!(with("", "20.00ms"), None);
    assert!(
        with("", "20.00s")
            .unwrap()
            .evidence
            .contains("1st byte is 20,000 ms, longer than the run (13.61 s)")
    );
    assert_eq!(row("$ h2load -D 13 -c 50 http://h/\n", "13.90s", "300.00ms", "1.96s"), None);
}

const HEY: &str = "$ hey -n 20000 -c 20 http://127.0.0.1:25001/\n\nSummary:\n  Total:\t2.1708 secs\n  Slowest:\t0.0239 secs\n\
    \x20 Fastest:\t0.0001 secs\n  Average:\t0.0021 secs\n  Requests/sec:\t9213.0792\n\n  Total data:\t240000 bytes\n\
    \x20 Size/request:\t12 bytes\n\nResponse time histogram:\n  0.000 [1]\t|\n  0.002 [13798]\t|\n  0.005 [4524]\t|\n\
    \x20 0.007 [1235]\t|\n  0.010 [366]\t|\n  0.012 [38]\t|\n  0.014 [15]\t|\n  0.017 [3]\t|\n  0.019 [0]\t|\n\
    \x20 0.022 [15]\t|\n  0.024 [5]\t|\n\nStatus code distribution:\n  [200]\t20000 responses\n";

/// hey prints no number of requests but that.
#[test]
fn one_wrong_number_by_status_is_named() {
    assert_eq!(contradiction(HEY), None);
    let finding = contradiction(&HEY.replace("20000 responses", "19000 responses")).unwrap();
    assert!(finding.cause.contains("have the numbers by status in common"), "{finding:?}");
}

/// ab's own report, but for its rate.
#[test]
fn no_number_in_flight_follows_from_a_wrong_rate() {
    let ab = |rate: &str| {
        format!(
            "$ ab -k -n 30000 -c 10 http://127.0.0.1:25001/\nThis is ApacheBench, Version 2.3 <$Revision$>\n\
             Server Software:        nginx/1.22.1\nServer Hostname:        127.0.0.1\nServer Port:            25001\n\n\
             Document Path:          /\nDocument Length:        12 bytes\n\nConcurrency Level:      10\n\
             Time taken for tests:   1.896 seconds\nComplete requests:      30000\nFailed requests:        0\n\
             Keep-Alive requests:    29972\nTotal transferred:      7409860 bytes\nHTML transferred:       360000 bytes\n\
             Requests per second:    {rate} [#/sec] (mean)\nTime per request:       0.632 [ms] (mean)\n\
             Time per request:       0.063 [ms] (mean, across all concurrent requests)\n\
             Transfer rate:          3816.89 [Kbytes/sec] received\n\nConnection Times (ms)\n\
             \x20             min  mean[+/-sd] median   max\nConnect:        0    0   0.0      0       2\n\
             Processing:     0    1   2.3      0      90\nWaiting:        0    1   2.3      0      90\n\
             Total:          0    1   2.3      0      90\n\n\
             Percentage of the requests served within a certain time (ms)\n  50%      0\n 100%     90 (longest request)\n"
        )
    };
    let coarse = |rate: &str| {
        let findings = judge(&read(&ab(rate))).reports.remove(0).findings;
        findings.into_iter().find(|one| one.id == D06).unwrap().evidence
    };
    assert!(coarse("15822.78").contains("/s"), "{}", coarse("15822.78"));
    assert!(!coarse("25824.19").contains("/s"), "{}", coarse("25824.19"));
}
