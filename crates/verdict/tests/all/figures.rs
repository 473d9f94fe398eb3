//! Reports as their tools print them, of which the figures look contradictory and are not; and beside each one in which a
//! figure was changed.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;
use ablaze_verdict::{Finding, Severity};

fn findings(text: &str) -> Vec<Finding> {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0).findings
}

fn found(text: &str, id: DiagnosisId) -> Option<Finding> {
    findings(text).into_iter().find(|finding| finding.id == id)
}

/// What D43 says with this instead of that.
fn contradiction(text: &str, from: &str, to: &str) -> Finding {
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "{from}");
    found(&changed, D43).unwrap_or_else(|| panic!("nothing found: {changed}"))
}

/// nghttp2 1.52 against a server of 2 MB bodies: 24 heads more than ends, of 32 streams.
const BY_TIME: &str = "\
$ h2load -D 2 -c 4 -m 8 http://127.0.0.1:24010/
starting benchmark...
spawning thread #0: 4 total client(s). Timing-based test with 0s of warm-up time and 2s of main duration for measurements.
Warm-up started for thread #0.
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Application protocol: h2c
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 2.05s, 540.00 req/s, 1.02GB/s
requests: 1080 total, 1112 started, 1080 done, 1080 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 1104 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 2.03GB (2182911049) total, 5.78KB (5920) headers (space savings 95.25%), 2.03GB (2181687521) data
                     min         max         mean         sd        +/- sd
time for request:    10.30ms    150.33ms     41.88ms     27.83ms    73.33%
time for connect:       91us       147us       124us        24us    75.00%
time to 1st byte:     4.11ms     23.77ms     10.42ms      9.02ms    75.00%
req/s           :     128.62      137.23      132.83        3.85    50.00%
";

/// The same with a warm-up: 16 of its responses end in the main duration.
const WARMED_UP: &str = "\
$ h2load -D 2 -c 4 -m 8 --warm-up-time 1 http://127.0.0.1:24010/
starting benchmark...
spawning thread #0: 4 total client(s). Timing-based test with 1s of warm-up time and 2s of main duration for measurements.
Warm-up started for thread #0.
Application protocol: h2c
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 3.02s, 888.00 req/s, 1.65GB/s
requests: 1776 total, 1776 started, 1776 done, 1776 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 1760 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 3.30GB (3539010379) total, 12.82KB (13132) headers (space savings 95.40%), 4.71GB (5056000000) data
                     min         max         mean         sd        +/- sd
time for request:     8.28ms    141.51ms     24.88ms     14.48ms    87.50%
time for connect:        0us         0us         0us         0us     0.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :     210.17      226.04      220.10        6.87    75.00%
";

/// nghttp2 issue 1523, printed without its command; 10 streams of one client.
const WITHOUT_COMMAND: &str = "\
starting benchmark...
spawning thread #0: 1 total client(s). Timing-based test with 0s of warm-up time and 10s of main duration for measurements.
Application protocol: h2c

finished in 10.00s, 96.00 req/s, 41.81KB/s
requests: 960 total, 970 started, 960 done, 960 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 961 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 418.07KB (428103) total, 62.60KB (64100) headers (space savings 48.69%), 338.44KB (346560) data
                     min         max         mean         sd        +/- sd
time for request:    82.96ms    123.99ms    103.65ms     19.55ms    45.83%
time for connect:       61us        61us        61us         0us   100.00%
";

fn below(text: &str, start: &str) -> String {
    text.find(start).map_or(String::new(), |at| text[at..].to_owned())
}

#[test]
fn h2load_counts_heads_and_ends_on_either_side_of_an_edge() {
    for text in [BY_TIME, WARMED_UP, WITHOUT_COMMAND] {
        assert_eq!(found(text, D43), None, "{text}");
        // Without the command, and of the report's own lines only.
        assert_eq!(found(&below(text, "starting benchmark"), D43), None);
        assert_eq!(found(&below(text, "finished in"), D43), None);
        let command = text.lines().next().filter(|line| line.starts_with('$')).unwrap_or_default();
        assert_eq!(found(&format!("{command}\n{}", below(text, "finished in")), D43), None);
    }
    // Of 1,112 that were begun no 1,113 heads came; of 1,776 that ended, 32 can have been under way before.
    let more = contradiction(BY_TIME, "1104 2xx", "1113 2xx");
    assert_eq!(more.severity, Severity::Invalid);
    assert!(more.evidence.contains("the number with a status is 1,113"), "{more:?}");
    assert!(contradiction(WITHOUT_COMMAND, "961 2xx", "971 2xx").evidence.contains("971"));
    assert!(contradiction(BY_TIME, "1104 2xx", "1079 2xx").evidence.contains("1,079"));
    assert!(contradiction(WARMED_UP, "1760 2xx", "1743 2xx").evidence.contains("1,743"));
    assert_eq!(found(&WARMED_UP.replace("1776 started", "1744 started"), D43), None);
    assert!(contradiction(WARMED_UP, "1776 started", "1743 started").evidence.contains("started"));
}

/// Each ends its connection in the middle of a body: neither done nor errored in a run by time.
#[test]
fn heads_that_broke_off_in_a_run_of_h2load_by_time() {
    let cut = BY_TIME
        .replace("1080 total, 1112 started", "1080 total, 2112 started")
        .replace("1104 2xx, 0 3xx, 0 4xx, 0 5xx", "1080 2xx, 0 3xx, 0 4xx, 900 5xx");
    assert_eq!(found(&cut, D43), None);
    let more = contradiction(&cut, "900 5xx", "1100 5xx");
    assert!(more.evidence.contains("1,100 responses had a status of 4xx or 5xx"), "{more:?}");
}

/// The number that begins there, three times as large.
fn tripled(line: &str, at: usize) -> Option<String> {
    let length = line[at..].find(|c: char| !c.is_ascii_digit() && c != '.');
    let end = length.map_or(line.len(), |length| at + length);
    let digits = line[at..end].trim_end_matches('.');
    let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
    let value: f64 = digits.parse().ok().filter(|value| *value > 0.0)?;
    Some(format!("{}{:.places$}{}", &line[..at], value * 3.0, &line[at + digits.len()..]))
}

/// Each text with one of its numbers changed.
fn with_one_changed(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = text.lines().collect();
    let begins = |line: &str, at: usize| {
        let before = line[..at].chars().next_back();
        line[at..].starts_with(|c: char| c.is_ascii_digit())
            && !before.is_some_and(|c| c.is_alphanumeric() || ".[-/+".contains(c))
    };
    let mut texts = Vec::new();
    for (nth, line) in lines.iter().enumerate().skip(1) {
        for (at, _) in line.char_indices().filter(|(at, _)| begins(line, *at)) {
            let Some(new) = tripled(line, at) else { continue };
            let mut changed = lines.clone();
            changed[nth] = &new;
            texts.push(changed.join("\n"));
        }
    }
    texts.into_iter()
}

#[test]
fn one_changed_figure_is_not_called_several() {
    let mut found_in = 0;
    for text in [
        include_str!("../printed/real-ab.txt"),
        include_str!("../printed/real-wrk.txt"),
        include_str!("../printed/real-h2load.txt"),
        include_str!("../printed/real-hey.txt"),
        include_str!("../printed/real-oha.txt"),
        include_str!("../printed/real-bombardier.txt"),
        include_str!("../printed/real-vegeta.txt"),
        include_str!("../printed/real-siege.txt"),
    ] {
        for run in text.split("\n$ ").take(3) {
            for changed in with_one_changed(&format!("$ {}\n", run.trim_start_matches("$ "))) {
                let mut reports = judge(&read(&changed)).reports;
                let of_one = if reports.len() == 1 { reports.pop() } else { None };
                let Some(finding) = of_one.and_then(|report| {
                    report.findings.into_iter().find(|finding| finding.id == D43)
                }) else {
                    continue;
                };
                found_in += 1;
                let several = finding.cause.contains("More than one of them is wrong");
                assert!(!several, "{finding:?}\n{changed}");
            }
        }
    }
    assert!(found_in > 100, "{found_in}");
}

#[test]
fn an_impossible_figure_and_what_contradicts_it_may_be_the_same() {
    let vegeta = "\
Requests      [total, rate, throughput]         30000, 1000.03, 999.99
Duration      [total, attack, wait]             30s, 29.999s, 1.23ms
Latencies     [min, mean, 50, 90, 95, 99, max]  524.975µs, 1.946ms, 1.095ms, 2.042ms, 4.461ms, 23.134ms, 93.918ms
Bytes In      [total, mean]                     4800000, 160.00
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           100.00%
Status Codes  [code:count]                      200:30000  
Error Set:
";
    assert_eq!(found(vegeta, D43), None);
    let cause = contradiction(vegeta, "100.00%", "300.00%").cause;
    let said =
        "If the impossible figure is the success ratio or the numbers by status, it alone is wrong";
    assert!(cause.contains(said), "{cause}");
}

/// 10 requests of each of 10 clients; and as versions since March 2026 name the rows.
const BY_COUNT: &str = "\
$ h2load -n 5000 -c 10 -m 10 https://127.0.0.1:24001/
starting benchmark...
spawning thread #0: 10 total client(s). 5000 total requests
Application protocol: h2

finished in 71.75ms, 69683.50 req/s, 2.47MB/s
requests: 5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 5000 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 181.64KB (186000) total, 24.91KB (25510) headers (space savings 95.28%), 68.36KB (70000) data
                     min         max         mean         sd        +/- sd
time for request:      103us      5.29ms       602us       813us    90.18%
time for connect:     2.82ms     17.91ms     10.12ms      5.31ms    60.00%
time to 1st byte:    18.41ms     20.32ms     19.11ms       635us    80.00%
req/s           :    7030.67     7351.30     7098.22       92.17    90.00%
";
const BY_COUNT_LATER: &str = "\
request     :      103us      5.29ms       402us      2.10ms      4.81ms       602us       813us    90.18%
connect     :     2.82ms     17.91ms      9.80ms     17.91ms     17.91ms     10.12ms      5.31ms    60.00%
TTFB        :    18.41ms     20.32ms     19.02ms     20.32ms     20.32ms     19.11ms       635us    80.00%
req/s       :    7030.67     7351.30     7090.12     7351.30     7351.30     7098.22       92.17    90.00%
";

#[test]
fn the_rows_of_h2load_are_in_order() {
    let later =
        format!("{}{BY_COUNT_LATER}", &BY_COUNT[..BY_COUNT.find("time for request").unwrap()]);
    for text in [BY_COUNT, &later] {
        assert_eq!(found(text, D43), None, "{text}");
        let total = read(text).reports[0].total.unwrap();
        assert_eq!(total.mean_ms.map(|mean| mean.value), Some(0.602));
        let more = contradiction(text, "18.41ms", "93.41ms");
        let said = "the shortest time to 1st byte is 93.41 ms, more than the mean time to 1st byte (19.11 ms)";
        assert!(more.evidence.contains(said), "{more:?}");
        let more = contradiction(text, "7098.22", "9098.22");
        assert!(more.evidence.contains("the mean req/s of a client is 9,098.22"), "{more:?}");
    }
}

/// From the log of several pods, each cut by `tail` in front of the next one's report.
const LOG: &str = "\
Namespace: ns-1
Status Codes  [code:count]                      200:10000  
Error Set:
Requests      [total, rate, throughput]         10000, 1000.10, 999.60
Duration      [total, attack, wait]             10.004s, 9.999s, 5.000ms
Latencies     [min, mean, 50, 90, 95, 99, max]  1.1ms, 5ms, 4.500ms, 7.500ms, 9.000ms, 15ms, 100ms
Bytes In      [total, mean]                     100000, 10.00
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           100.00%
Status Codes  [code:count]                      200:10000  
Error Set:

Namespace: ns-2
Bytes In      [total, mean]                     40000, 4.00
Success       [ratio]                           40.00%
Status Codes  [code:count]                      0:6000  200:4000  
Error Set:
connection refused
Requests      [total, rate, throughput]         10000, 1000.10, 399.84
Duration      [total, attack, wait]             10.004s, 9.999s, 5.000ms
Latencies     [min, mean, 50, 90, 95, 99, max]  1.1ms, 5ms, 4.500ms, 7.500ms, 9.000ms, 15ms, 100ms
Bytes In      [total, mean]                     40000, 4.00
Bytes Out     [total, mean]                     0, 0.00
Success       [ratio]                           40.00%
Status Codes  [code:count]                      0:6000  200:4000  
Error Set:
connection refused
";

#[test]
fn the_end_of_another_report_of_vegeta_is_not_of_the_one_above() {
    let text = read(LOG);
    assert_eq!(text.reports.len(), 2);
    assert_eq!(
        text.reports.iter().map(|one| one.failed).collect::<Vec<_>>(),
        [Some(0), Some(6000)]
    );
    assert!(text.reports[0].errors.is_empty());
    assert_eq!(text.reports[1].errors, [("connection refused".to_owned(), Some(6000))]);
    let judged = judge(&text).reports;
    assert!(judged[0].findings.iter().all(|one| one.id != D02 && one.id != D43));
    assert!(judged[1].findings.iter().all(|one| one.id != D43));
}

/// siege 4, without -b: 49 of 50 users were in flight (published), or 12 of 50, who were idle for half a second each time.
#[test]
fn users_of_siege_in_flight_all_the_time_do_not_pause() {
    let run = |path: &str, rate: u32, in_flight: u32| {
        let each_ms = f64::from(in_flight) * 1e3 / f64::from(rate);
        format!(
            "$ siege -c50 -t20S http://localhost:8080/{path}\n\n\
             Transactions:\t\t{} hits\nAvailability:\t\t100.00 %\nElapsed time:\t\t20.00 secs\n\
             Data transferred:\t1.49 MB\nResponse time:\t\t{each_ms:.2} ms\n\
             Transaction rate:\t{rate}.00 trans/sec\nThroughput:\t\t0.07 MB/sec\n\
             Concurrency:\t\t{in_flight}.00\nSuccessful transactions: {}\nFailed transactions:\t0\n\
             Longest transaction:\t1820.00 ms\nShortest transaction:\t1.00 ms\n\n",
            rate * 20,
            rate * 20
        )
    };
    let of = |in_flight: u32, rate: u32| {
        let text = format!("{}{}", run("read", rate, in_flight), run("write", rate * 2, in_flight));
        let judgement = judge(&read(&text));
        assert!(judgement.reports.iter().all(|one| one.findings.iter().all(|one| one.id != D43)));
        let findings = judgement.comparisons.into_iter().flat_map(|one| one.findings);
        findings.map(|one| format!("{} {}", one.evidence, one.cause)).collect::<String>()
    };
    assert!(of(12, 70).contains("users that pause"), "{}", of(12, 70));
    assert!(!of(49, 82).contains("users that pause"), "{}", of(49, 82));
    assert!(!of(49, 82).is_empty());
}

/// As `jq -c` prints it, or Python.
#[test]
fn the_json_of_siege_on_one_line_has_all_its_figures() {
    let json = "{\"transactions\":5000,\"availability\":20.00,\"elapsed_time\":30.00,\"data_transferred\":2.5,\
                \"response_time\":0.15,\"transaction_rate\":166.67,\"throughput\":0.08,\"concurrency\":25.0,\
                \"successful_transactions\":5000,\"failed_transactions\":20000,\"longest_transaction\":2.5,\
                \"shortest_transaction\":0.01}\n";
    for text in [json.to_owned(), json.replace(',', ", ").replace(':', ": ").replace("{", "{ ")] {
        let reports = read(&text).reports;
        let [report] = &reports[..] else { panic!("{text}") };
        assert_eq!((report.complete, report.failed), (Some(5000), Some(20_000)));
        assert_eq!(report.mean_ms().map(|mean| mean.value), Some(150.0));
        assert_eq!(report.max_ms().map(|max| max.value), Some(2500.0));
        let none = found(&text, D02).unwrap();
        assert_eq!(none.severity, Severity::Invalid, "{none:?}");
        assert_eq!(found(&text, D43), None);
    }
}
