//! Reports that somebody edited, cut off, repeated or took from an odd run: what is said of them holds for all that they may be.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::printed::{Report, read};
use ablaze_verdict::rules::judge;
use ablaze_verdict::{Finding, Severity};

const AB: &str = include_str!("../printed/real-ab.txt");

fn run(text: &str, command: &str) -> String {
    let mut runs =
        text.split("\n$ ").map(|run| format!("$ {}\n", run.trim_start_matches("$ ").trim_end()));
    runs.find(|run| run.starts_with(command)).unwrap_or_else(|| panic!("no {command}"))
}

fn one(text: &str) -> (Report, Vec<Finding>) {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    let report = reports.remove(0);
    (report.subject, report.findings)
}

fn of(id: DiagnosisId, findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.id == id)
}

/// 400 responses of 200,000 B, from a server whose heads have 105 B.
const LARGE: &str = "Document Length:        200000 bytes\nConcurrency Level:      10\n\
    Time taken for tests:   0.297 seconds\nComplete requests:      400\nFailed requests:        0\n\
    Total transferred:      80042000 bytes\nHTML transferred:       80000000 bytes\n\
    Requests per second:    1346.80 [#/sec] (mean)\nTransfer rate:          263185.00 [Kbytes/sec] received\n";

#[test]
fn one_edited_figure_is_no_counter_that_wrapped() {
    assert_eq!(one(LARGE).1.iter().filter(|one| [D32, D43].contains(&one.id)).count(), 0);
    for (figure, edited) in [
        ("Document Length:        200000", "Document Length:        20000000"),
        ("Total transferred:      80042000", "Total transferred:      -80042000"),
        ("HTML transferred:       80000000", "HTML transferred:       -80000000"),
    ] {
        let (_, findings) = one(&LARGE.replace(figure, edited));
        assert_eq!(of(D32, &findings), None, "{edited}");
        assert!(of(D43, &findings).is_some(), "{edited}");
    }
    // 30,000 × 200,105 B = 6,003,150,000, less 2³²; the same of 30,000 × 200,000.
    let (_, findings) = one("Document Length:        200000 bytes\nConcurrency Level:      10\n\
        Time taken for tests:   22.000 seconds\nComplete requests:      30000\nFailed requests:        0\n\
        Total transferred:      1708182704 bytes\nHTML transferred:       1705032704 bytes\n");
    assert!(of(D32, &findings).is_some() && of(D43, &findings).is_none(), "{findings:?}");
    // A counter of 32 bits with a sign: 15,000 × 200,105 B less 2³², and the rate that follows from that.
    let (_, findings) = one("Document Length:        200000 bytes\nConcurrency Level:      10\n\
        Time taken for tests:   11.000 seconds\nComplete requests:      15000\nFailed requests:        0\n\
        Total transferred:      -1293392296 bytes\nTransfer rate:          -114825.31 kb/s received\n");
    assert!(of(D32, &findings).is_some() && of(D43, &findings).is_none(), "{findings:?}");
}

/// As ansible, docker and a logger's `msg=` keep them.
#[test]
fn what_a_quoted_line_ends_with_is_no_part_of_its_value() {
    let text = run(AB, "$ ab ");
    let (report, _) = one(&text);
    let (_, text) = text.split_once('\n').unwrap();
    for (before, behind) in [("    \"", "\","), ("level=info msg=\"", "\"")] {
        let quoted: String = text.lines().map(|line| format!("{before}{line}{behind}\n")).collect();
        let (quoted, findings) = one(&quoted);
        let of = |report: &Report| (report.host.clone(), report.path.clone(), report.total);
        assert_eq!(of(&quoted), of(&report), "{behind}");
        assert_eq!(super::pasted::of(D43, &findings), None);
    }
}

const WRK: &str = "Running 5s test @ http://h/\n  2 threads and 40 connections\n\
    \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     2.00ms    1.00ms  12.00ms   93.69%\n\
    \x20   Req/Sec     1.20k     0.10k    1.40k    70.00%\n  11850 requests in 5.00s, 1.51MB read\n\
    Requests/sec:   2370.00\nTransfer/sec:    309.25KB\n";

/// wrk (wg/wrk#327) and wrk2 (giltene/wrk2#138): the clock went back, or a length was printed that no run had.
#[test]
fn a_wrong_clock_is_no_other_command() {
    for (command, taken, rate) in [
        ("$ wrk -t2 -c40 -d5s http://h/\n", "307445734491.24m", "0.00"),
        ("$ wrk -t2 -c40 -d5s -R 10000 http://h/\n", "1.25ms", "9480000.00"),
    ] {
        let report = WRK
            .replace("5.00s,", &format!("{taken},"))
            .replace("2370.00", rate)
            .replace("12.00ms", "4.93s");
        let (_, findings) = one(&format!("{command}{report}"));
        assert_eq!(of(D36, &findings), None, "{taken}");
        let said = of(D43, &findings).unwrap();
        assert!(said.evidence.contains("the length of the run"), "{said:?}");
        assert_eq!(said.severity, Severity::Invalid);
    }
    // A run that was interrupted.
    let (_, findings) =
        one(&format!("$ wrk -t2 -c40 -d60s http://h/\n{}", WRK.replace("5s test", "1m test")));
    assert!(of(D43, &findings).is_none() && of(D36, &findings).is_none(), "{findings:?}");
}

#[test]
fn a_line_that_is_not_there_is_no_other_value() {
    let text = "$ ab -k -n 400 -c 10 http://h/\nServer Hostname:        h\nServer Port:            80\n\
        Document Path:          /\nConcurrency Level:      10\nTime taken for tests:   0.297 seconds\n\
        Complete requests:      400\nFailed requests:        0\nTotal transferred:      80042 bytes\n";
    let (_, findings) = one(text);
    let said = of(D36, &findings).unwrap();
    assert!(said.evidence.contains("no line `Keep-Alive requests`"), "{said:?}");
    assert!(!said.evidence.contains("closed after each"), "{said:?}");
    for possible in ["a different command", "masked", "wrapped", "lost or edited"] {
        assert!(said.cause.contains(possible), "{said:?}");
    }
}

/// 2,370 × 2 ms are the 4 that the command asks for, and one figure of the report is another.
#[test]
fn connections_that_two_places_tell_differently_are_not_said_to_be_unused() {
    let (_, findings) = one(&format!("$ wrk -t2 -c4 -d5s http://h/\n{WRK}"));
    assert!(of(D36, &findings).is_some(), "{findings:?}");
    assert_eq!(of(D01, &findings), None);
    let (_, findings) = one(&format!("$ wrk -t2 -c40 -d5s http://h/\n{WRK}"));
    assert!(of(D36, &findings).is_none() && of(D01, &findings).is_some(), "{findings:?}");
}

/// Before 4.0 (wrk.c of 3.1.2, `check_timeouts`) wrk looked at its connections from time to time, and counted those that waited;
/// no latency was left out.
#[test]
fn timeouts_of_an_old_wrk_are_no_responses() {
    let late = WRK.replace(
        "Requests/sec",
        "  Socket errors: connect 0, read 0, write 0, timeout 20\nRequests/sec",
    );
    let left_out = |text: &str| {
        of(D06, &one(text).1).map_or(String::new(), |one| format!("{} {}", one.evidence, one.cause))
    };
    let says = |said: &str| said.contains("leaves them out");
    let command = "$ wrk -t2 -c40 -d5s http://h/\n";
    assert!(says(&left_out(&format!("{command}{late}"))));
    // A latency above --timeout was recorded.
    let longer = late.replace("12.00ms", " 2.84s");
    assert!(!says(&left_out(&format!("{command}{longer}"))));
    assert!(says(&left_out(&format!("$ wrk -t2 -c40 -d5s -T 4 http://h/\n{longer}"))));
    let either = left_out(&longer);
    assert!(either.contains("--timeout was longer") && either.contains("before 4.0"), "{either}");
    let old = late.replace("Running 5s test @", "Making 11850 requests to");
    let said = left_out(&old);
    assert!(!says(&said), "{said}");
    assert_eq!(one(&old).0.host.as_deref(), Some("h"));
}

#[test]
fn a_list_of_the_same_figures_is_no_other_run() {
    let text = run(AB, "$ ab ");
    let value = |label: &str| {
        let line = text.lines().find(|line| line.starts_with(label)).unwrap();
        line.split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .unwrap()
            .to_owned()
    };
    let list = |rate: &str| {
        format!(
            "\nWhat it means:\n- Concurrency Level: {}, how many at once (-c)\n- Time taken for tests: {} seconds, until the end\n\
             - Complete requests: {}, of all\n- Requests per second: {rate}, the throughput\n",
            value("Concurrency Level"),
            value("Time taken for tests"),
            value("Complete requests")
        )
    };
    let rate = value("Requests per second");
    let judgement = judge(&read(&format!("{text}{}", list(&rate))));
    assert_eq!((judgement.reports.len(), judgement.comparisons.len()), (1, 0));
    let judgement = judge(&read(&format!("{text}{}", list("1.25"))));
    assert_eq!(judgement.reports.len(), 2);
}

#[test]
fn a_figure_in_which_the_text_ends_is_not_read() {
    let (before, _) = LARGE.split_once("042000 bytes").unwrap();
    let (report, findings) = one(before);
    assert_eq!(report.total_bytes, None);
    assert_eq!(of(D02, &findings), None);
    let (before, _) = LARGE.split_once("6.80 [#/sec]").unwrap();
    assert_eq!(one(before).0.rate_per_s, None);
    // The whole line, without its end.
    let (before, _) = LARGE.split_once("\nHTML").unwrap();
    assert_eq!(one(before).0.total_bytes, Some(80_042_000));
    let (before, _) = LARGE.split_once("\nTotal").unwrap();
    assert_eq!(one(before).0.failed, Some(0));
    let siege = "{\t\"transactions\":\t\t\t1500,\n\t\"availability\":\t\t\t100.00,\n\t\"elapsed_time\":\t\t\t5.00,\n\
        \t\"transaction_rate\":\t\t300.00,\n\t\"successful_transactions\":\t15";
    assert_eq!(of(D04, &one(siege).1), None);
    assert!(of(D04, &one(&format!("{siege},\n")).1).is_some());
}

/// Counts that another figure shows to be wrong are counted no further.
#[test]
fn nothing_is_counted_from_what_is_contradictory() {
    let more = "Concurrency Level:      10\nTime taken for tests:   10.000 seconds\nComplete requests:      2000\n\
        Failed requests:        500\n   (Connect: 0, Receive: 0, Length: 500, Exceptions: 0)\nNon-2xx responses:      500\n\
        Requests per second:    100.00 [#/sec] (mean)\nTime per request:       100.000 [ms] (mean)\n\
        Time per request:       10.000 [ms] (mean, across all concurrent requests)\n";
    let (_, findings) = one(more);
    assert!(of(D43, &findings).unwrap().cause.contains("`Complete requests`"), "{findings:?}");
    assert!(of(D04, &findings).is_none() && of(D37, &findings).is_none(), "{findings:?}");
    // Another figure is the wrong one.
    let rate = more.replace("2000", "1000").replace("100.00 [#", "300.00 [#");
    let (_, findings) = one(&rate);
    assert!(of(D43, &findings).is_some() && of(D04, &findings).is_some(), "{findings:?}");
}

/// As its head is 5 letters longer for `keep-alive`: 1,000 × 271 - 400 × 5.
#[test]
fn bytes_agree_only_where_they_could_not() {
    let with = |kept: u64, total: u64| {
        let text = format!(
            "Concurrency Level:      10\nTime taken for tests:   20.000 seconds\nComplete requests:      1000\n\
             Failed requests:        0\nKeep-Alive requests:    {kept}\nTotal transferred:      {total} bytes\n"
        );
        of(D18, &one(&text).1).unwrap().evidence.contains("bytes agree")
    };
    assert!(with(990, 271_000 - 50));
    // 2,000 B less are 2 B less for each.
    assert!(!with(600, 269_000));
}

#[test]
fn a_report_of_loadtest_is_none_of_ab() {
    let text = "INFO Max requests:        5000\nINFO Concurrency level:   30\nINFO Requests per second: 350\n\
        INFO Completed requests:  5000\nINFO Total errors:        10\nINFO Total time:          15.4 s\n\
        INFO Requests per second: 324\nINFO Mean latency:        1600 ms\nINFO\n\
        INFO Percentage of the requests served within a certain time\nINFO   50%      1118 ms\n";
    let read = read(text);
    assert!(read.reports.is_empty() && read.rates.is_empty(), "{read:?}");
}

/// 600 times 11 B, which ab takes for a head without a status of 2xx.
#[test]
fn what_is_no_http_has_no_status() {
    let text = "Document Length:        0 bytes\nConcurrency Level:      10\nTime taken for tests:   0.211 seconds\n\
        Complete requests:      600\nFailed requests:        0\nNon-2xx responses:      600\n\
        Total transferred:      6600 bytes\nHTML transferred:       0 bytes\n";
    let (_, findings) = one(text);
    assert!(of(D02, &findings).is_some() && of(D04, &findings).is_none(), "{findings:?}");
    let heads = text.replace("6600", "66000");
    assert!(of(D04, &one(&heads).1).is_some());
}

/// vegeta prints the number of requests for the rate of one.
#[test]
fn one_request_of_vegeta_has_the_rate_of_its_command() {
    let report = "Requests      [total, rate]            1, 1.00\nDuration      [total, attack, wait]    15.312127947s, 0s, 15.312127947s\n\
        Latencies     [mean, 50, 95, 99, max]  15.312127947s, 15.312127947s, 15.312127947s, 15.312127947s, 15.312127947s\n\
        Bytes In      [total, mean]            11335, 11335.00\nBytes Out     [total, mean]            0, 0.00\n\
        Success       [ratio]                  100.00%\nStatus Codes  [code:count]             200:1\nError Set:\n";
    let fix = |text: &str| of(D14, &one(text).1).unwrap().fix.clone();
    let command =
        "echo \"GET http://h/\" | vegeta attack -duration=1s -rate 1/1s | vegeta report\n";
    assert!(
        fix(&format!("{command}{report}")).contains("100 s"),
        "{}",
        fix(&format!("{command}{report}"))
    );
    assert!(!fix(report).contains("at this rate"), "{}", fix(report));
}

#[test]
fn a_host_that_was_taken_out_is_in_no_command() {
    let (report, findings) = one(&WRK.replace("http://h/", "/luaRedis"));
    assert_eq!((report.host, report.path.as_deref()), (None, Some("/luaRedis")));
    assert!(findings.iter().all(|one| !one.fix.contains("http:///")), "{findings:?}");
}
