//! One figure of a report changed that leaves most others as they are: what is said of it, and what is then not said.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;
use ablaze_verdict::{Finding, Severity};

fn findings(text: &str) -> Vec<Finding> {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0).findings
}

fn found(findings: &[Finding], id: DiagnosisId) -> Option<&Finding> {
    findings.iter().find(|finding| finding.id == id)
}

/// The contradiction in the text with this instead of that; without the change there is none.
fn contradiction(text: &str, from: &str, to: &str) -> (Severity, String, Vec<Finding>) {
    assert_eq!(found(&findings(text), D43), None, "{text}");
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "{from}");
    let findings = findings(&changed);
    let finding = found(&findings, D43).unwrap_or_else(|| panic!("nothing found: {to}"));
    (finding.severity, format!("{} {}", finding.evidence, finding.cause), findings)
}

const AB: &str = "\
$ ab -n 20000 -c 10 http://127.0.0.1:25001/
This is ApacheBench, Version 2.3 <$Revision$>
Server Software:        nginx/1.22.1
Server Hostname:        127.0.0.1
Server Port:            25001

Document Path:          /
Document Length:        12 bytes

Concurrency Level:      10
Time taken for tests:   2.682 seconds
Complete requests:      20000
Failed requests:        0
Total transferred:      4840000 bytes
HTML transferred:       240000 bytes
Requests per second:    7457.06 [#/sec] (mean)
Time per request:       1.341 [ms] (mean)
Time per request:       0.134 [ms] (mean, across all concurrent requests)
Transfer rate:          1762.31 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.5      0       6
Processing:     0    1   1.9      1      78
Waiting:        0    1   1.8      0      77
Total:          0    1   1.9      1      83

Percentage of the requests served within a certain time (ms)
  50%      1
  90%      2
  99%      5
 100%     83 (longest request)
";

/// ab's line of failures with that of their kinds.
fn failed(connect: u64, length: u64) -> String {
    format!(
        "Failed requests:        {}\n   (Connect: {connect}, Receive: 0, Length: {length}, Exceptions: 0)",
        connect + length
    )
}

const NONE_FAILED: &str = "Failed requests:        0";

#[test]
fn ab_compares_each_length_once() {
    let (severity, said, others) = contradiction(AB, NONE_FAILED, &failed(0, 30_000));
    assert_eq!(severity, Severity::Invalid);
    assert!(said.contains("Length is 30,000, more than `Complete requests` (20,000)"), "{said}");
    assert_eq!(found(&others, D37), None);
    // Those under way when the last one ended.
    let few_more = findings(&AB.replacen(NONE_FAILED, &failed(0, 20_008), 1));
    assert_eq!(found(&few_more, D43), None);
    assert!(found(&few_more, D37).unwrap().evidence.contains("(100 %)"));
}

#[test]
fn ab_does_not_open_connections_in_vain_for_long() {
    let (severity, said, others) = contradiction(AB, NONE_FAILED, &failed(500, 0));
    assert_eq!(severity, Severity::Invalid);
    assert!(said.contains("Connect is 500, but ab ends without a report at connection 12"));
    assert_eq!(found(&others, D02), None);
    assert_eq!(found(&findings(&AB.replacen(NONE_FAILED, &failed(11, 0), 1)), D43), None);
    // `ablaze ab` says who it is in its first line, which may be missing.
    let unnamed = AB.replacen("This is ApacheBench, Version 2.3 <$Revision$>\n", "", 1);
    let unnamed = findings(&unnamed.replacen(NONE_FAILED, &failed(500, 0), 1));
    assert_eq!(found(&unnamed, D43), None);
    assert!(found(&unnamed, D02).unwrap().evidence.contains("500 of 20,000 requests (2.5 %)"));
}

#[test]
fn from_contradicted_bytes_nothing_follows() {
    let total = "Total transferred:      4840000";
    let (severity, said, others) = contradiction(AB, total, "Total transferred:      240000");
    assert_eq!(severity, Severity::Suspect);
    assert!(said.contains("Nothing contradicts the rate and the times."), "{said}");
    assert_eq!(found(&others, D02), None);
}

#[test]
fn the_suggested_command_closes_connections_as_the_command_of_ab_does() {
    let text = AB.replacen("Complete requests:      20000\n", "", 1);
    let fix = found(&findings(&text), D06).unwrap().fix.to_string();
    assert!(fix.contains("`ablaze -c 10 --no-keepalive http://127.0.0.1:25001/`"), "{fix}");
    let kept = text.replacen("$ ab -n", "$ ab -k -n", 1);
    assert!(!found(&findings(&kept), D06).unwrap().fix.contains("--no-keepalive"));
}

const H2LOAD: &str = "\
$ h2load -D 2 -c 10 --h1 http://127.0.0.1:25001/
starting benchmark...
spawning thread #0: 10 total client(s). Timing-based test with 0s of warm-up time and 2s of main duration for measurements.
Application protocol: http/1.1

finished in 2.00s, 13710.00 req/s, 3.23MB/s
requests: 27420 total, 27430 started, 27420 done, 27420 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 27420 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 6.45MB (6767800) total, 4.81MB (5045732) headers (space savings 0.00%), 321.36KB (329076) data
                     min         max         mean         sd        +/- sd
time for request:       76us     30.91ms       729us      1.51ms    91.86%
req/s           :    1363.90     1380.94     1370.91        5.16    80.00%
";

#[test]
fn h2load_divides_by_the_time_that_it_was_given() {
    let (severity, said, _) = contradiction(H2LOAD, "13710.00 req/s", "23710.00 req/s");
    assert_eq!(severity, Severity::Invalid);
    assert!(said.contains("one of the rate, the number succeeded"), "{said}");
    let half = H2LOAD
        .replace("2s of main", "1.5s of main")
        .replace("13710.00", "18280.00")
        .replace("729us", "529us");
    assert_eq!(found(&findings(&half.replace("3.23MB/s", "4.30MB/s")), D43), None);
}

/// The counts that its responses are computed from, and no number that is not printed.
#[test]
fn h2load_is_blamed_for_what_it_prints() {
    let counted = H2LOAD
        .replace("h2load -D 2", "h2load -n 27420")
        .replace(
            "Timing-based test with 0s of warm-up time and 2s of main duration for measurements.",
            "27420 total requests",
        )
        .replace("27430 started", "27420 started");
    for (from, to, named) in [
        (
            "27420 total, ",
            "20000 total, ",
            "All of them have the number of requests in total in common",
        ),
        ("0 failed, 0 errored", "100 failed, 0 errored", "the number failed"),
        (
            "27420 succeeded, 0 failed, 0 errored",
            "27220 succeeded, 200 failed, 50 errored",
            "the number errored",
        ),
    ] {
        let (_, said, _) = contradiction(&counted, from, to);
        assert!(said.contains(named), "{to}: {said}");
        assert!(!said.contains("the number succeeded = "), "{said}");
    }
}

#[test]
fn h2load_fails_what_has_4xx_and_5xx() {
    let (severity, said, _) =
        contradiction(H2LOAD, "27420 succeeded, 0 failed", "27000 succeeded, 420 failed");
    assert_eq!(severity, Severity::Invalid);
    assert!(said.contains("420 requests failed, 0 of them errored, but 0 responses"), "{said}");
    let (_, said, _) =
        contradiction(H2LOAD, "27420 2xx, 0 3xx, 0 4xx", "27000 2xx, 0 3xx, 420 4xx");
    assert!(said.contains("but 420 responses had a status of 4xx or 5xx"), "{said}");
    // Their heads came before the time that counts.
    let early = H2LOAD.replace("27420 succeeded, 0 failed", "27412 succeeded, 8 failed");
    assert_eq!(found(&findings(&early), D43), None);
}

#[test]
fn h2load_prints_the_bytes_of_headers_twice() {
    let (severity, said, _) = contradiction(H2LOAD, "(5045732) headers", "(8045732) headers");
    assert_eq!(severity, Severity::Suspect);
    assert!(said.contains("the bytes of headers"), "{said}");
}

const WRK: &str = "\
$ wrk -t2 -c20 -d2s --latency http://127.0.0.1:25001/
Running 2s test @ http://127.0.0.1:25001/
  2 threads and 20 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.18ms    1.61ms  23.31ms   91.33%
    Req/Sec    11.32k     1.97k   16.75k    72.50%
  Latency Distribution
     50%  738.00us
     75%    1.10ms
     90%    2.51ms
     99%    7.09ms
  45197 requests in 2.01s, 10.65MB read
Requests/sec:  22512.11
Transfer/sec:      5.30MB
";

#[test]
fn one_time_of_wrk_makes_a_part_of_the_deviation() {
    // (2,000 - 1) / √(2.5 × 45,197) = 5.9.
    let (severity, said, _) = contradiction(WRK, "1.61ms  23.31ms", "1.61ms  2.00s");
    assert_eq!(severity, Severity::Invalid);
    assert!(said.contains("a maximum of 2,000 ms it is at least 5.86 ms"), "{said}");
}

#[test]
fn no_more_requests_of_wrk_are_late_than_fit_into_the_run() {
    let read = "10.65MB read\n";
    let with =
        |late| format!("{read}  Socket errors: connect 0, read 0, write 0, timeout {late}\n");
    let (severity, said, others) = contradiction(WRK, read, &with(31));
    assert_eq!(severity, Severity::Invalid);
    assert!(said.contains("20 connections carry no more than 20 responses"), "{said}");
    assert!(!others.iter().any(|finding| finding.evidence.contains("took longer than")));
    // Each connection one.
    let twenty = WRK.replace(read, &with(20));
    assert_eq!(found(&findings(&twenty), D43), None);
    let of_1s = WRK.replace("--latency", "--timeout 1s").replace(read, &with(40));
    assert_eq!(found(&findings(&of_1s), D43), None);
    // Without the command --timeout is not known, and `ablaze wrk` takes shorter ones.
    for line in ["", "$ ablaze wrk -t2 -c20 -d2s --timeout 100ms http://127.0.0.1:25001/\n"] {
        let text = WRK.replace(read, &with(3000));
        let text = format!("{line}{}", &text[text.find("Running").unwrap()..]);
        assert_eq!(found(&findings(&text), D43), None, "{line}");
    }
}

#[test]
fn percentiles_of_wrk_are_read_in_whatever_order() {
    let (one, other) = ("     50%  738.00us\n", "     75%    1.10ms\n");
    let exchanged = WRK.replace(&format!("{one}{other}"), &format!("{other}{one}"));
    assert_ne!(exchanged, WRK);
    assert_eq!(findings(&exchanged), findings(WRK));
    // Without the median the others are still there.
    let without = findings(&WRK.replace(one, ""));
    let evidence = &found(&without, D06).unwrap().evidence;
    assert!(evidence.contains("No median is printed") && evidence.contains("75 %, 90 % and 99 %"));
}

const SIEGE: &str = "\
$ siege -b -c25 -t10S http://127.0.0.1:25001/
Transactions:\t\t       50000 hits
Availability:\t\t      100.00 %
Elapsed time:\t\t       10.02 secs
Data transferred:\t        30.60 MB
Response time:\t\t        0.01 secs
Transaction rate:\t      4990.02 trans/sec
Throughput:\t\t        3.05 MB/sec
Concurrency:\t\t       24.97
Successful transactions:        50000
Failed transactions:\t           0
Longest transaction:\t        0.12
Shortest transaction:\t        0.00
";

/// 50,000 × 0.005 to 0.015 s in 10.02 s.
#[test]
fn siege_rounds_its_mean_to_the_nearest() {
    let (severity, said, others) = contradiction(SIEGE, "       24.97", "       3.10");
    assert_eq!(severity, Severity::Invalid);
    assert!(said.contains("makes the concurrency 24.9"), "{said}");
    assert_eq!(found(&others, D01), None);
}

#[test]
fn the_spectrum_of_wrk2_rises() {
    let text = include_str!("../printed/real-wrk2.txt");
    let at = text.find("Detailed Percentile spectrum").unwrap();
    let start = text[..at].rfind("\n$ ").map_or(0, |start| start + 1);
    let end = text[at..].find("\n$ ").map_or(text.len(), |end| at + end);
    let run = &text[start..end];
    let row = run.lines().find(|line| line.contains("     0.900000 ")).unwrap();
    let lower = row.replacen(row.split_whitespace().next().unwrap(), "0.001", 1);
    let (severity, said, _) = contradiction(run, row, &lower);
    assert_eq!(severity, Severity::Invalid);
    assert!(said.contains("In the spectrum times fall from"), "{said}");
}

/// The run of a file of real ones whose command begins so.
fn run(file: &str, command: &str) -> String {
    let run = file.split("$ ").find(|run| run.starts_with(command));
    format!("$ {}", run.unwrap_or_else(|| panic!("no {command}")))
}

#[test]
fn ab_prints_the_times_of_its_percentages_alone_and_what_it_finished() {
    let (_, said, _) = contradiction(AB, "  50%      1", "  55%      1");
    assert!(said.contains("55 % has a time: ab prints those of 50, 66,"), "{said}");
    let progress = "This is ApacheBench, Version 2.3 <$Revision$>\nFinished 20000 requests\n";
    let text = AB.replace("This is ApacheBench, Version 2.3 <$Revision$>\n", progress);
    let (_, said, _) = contradiction(&text, "Finished 20000", "Finished 21000");
    assert!(said.contains("`Finished 21000 requests` stands above it, but"), "{said}");
    // Of several at once it is not known whose it is.
    let two =
        text.replace("Finished 20000 requests\n", "Finished 10 requests\nFinished 20 requests\n");
    assert_eq!(found(&findings(&two), D43), None);
}

#[test]
fn each_phase_of_hey_lies_between_its_fastest_and_its_slowest() {
    const HEY: &str = include_str!("../printed/real-hey.txt");
    let text = run(HEY, "hey -n 1000 -c 1 ");
    for (row, changed) in [
        (
            "req write:\t0.0000 secs, 0.0000 secs, 0.0082 secs",
            "req write:\t0.0005 secs, 0.0000 secs, 0.0002 secs",
        ),
        (
            "resp read:\t0.0001 secs, 0.0000 secs, 0.0067 secs",
            "resp read:\t0.0001 secs, 0.0000 secs, 0.9067 secs",
        ),
        (
            "DNS-lookup:\t0.0000 secs, 0.0000 secs, 0.0000 secs",
            "DNS-lookup:\t0.5000 secs, 0.0000 secs, 0.0000 secs",
        ),
    ] {
        let (_, said, _) = contradiction(&text, row, changed);
        assert!(said.contains("more than"), "{said}");
    }
}

#[test]
fn the_share_within_a_deviation_of_wrk_is_that_of_its_percentiles() {
    const WRK: &str = include_str!("../printed/real-wrk.txt");
    let text = run(WRK, "wrk --latency -t 1 -c 4 -d 1 http://127.0.0.1:21004/");
    let (_, said, _) = contradiction(&text, "89.79%", "3.79%");
    assert!(said.contains("the share within a deviation is 3.79 %"), "{said}");
}

/// `siege -v` prints a line of each transaction.
#[test]
fn pages_that_siege_printed_are_not_among_those_that_were_successful() {
    const SIEGE: &str = include_str!("../printed/real-siege.txt");
    let text = run(SIEGE, "siege -b -c 10 -r 100 ");
    let (command, report) = text.split_once('\n').unwrap();
    let with = |status: u16, more: &str| {
        let line = format!("HTTP/1.1 {status}     0.00 secs:     153 bytes ==> GET  /\n");
        format!("{command}\n{more}{}{report}", line.repeat(40))
    };
    let redirect = "HTTP/1.1 302     0.00 secs:     153 bytes ==> GET  /\n";
    for fine in [with(200, ""), with(401, ""), with(404, redirect)] {
        assert_eq!(found(&findings(&fine), D43), None, "{fine}");
    }
    let findings = findings(&with(404, ""));
    let evidence = &found(&findings, D43).unwrap().evidence;
    assert!(evidence.contains("40 transactions above it had a status of 4xx"), "{evidence}");
}

#[test]
fn a_cell_of_ablaze_s_table_that_is_no_time_is_no_end_of_the_row() {
    const ABLAZE: &str = include_str!("../printed/real-ablaze.txt");
    let text = run(ABLAZE, "ablaze -c 10 -n 1000 :21001/nope");
    let row = "  total     104 µs  95.9 µs  107 µs  133 µs";
    for cell in ["1O7 µs", "x07 µs", "?"] {
        let (_, said, _) = contradiction(&text, row, &row.replace("107 µs", cell));
        assert!(said.contains("is impossible"), "{said}");
    }
    // Cut off by a terminal.
    let cut = text.replace(
        "  total     104 µs  95.9 µs  107 µs  133 µs  175 µs  260 µs      -  329 µs",
        "  total     104 µs  95.9 µs  10",
    );
    assert_ne!(cut, text);
    assert_eq!(found(&findings(&cut), D43), None);
}
