//! What is said of runs against servers whose behaviour is known: the cause that was there, and none that was not.

use ablaze_verdict::DiagnosisId::{self, D01, D02, D03, D04, D05, D06, D08, D30, D37};
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;

/// Of the report that begins with this command: the findings with what is said of each.
fn said(text: &str, command: &str) -> Vec<(DiagnosisId, String)> {
    let runs = text.split("\n$ ").map(|run| format!("$ {}", run.trim_start_matches("$ ")));
    let run = runs.into_iter().find(|run| run.lines().next() == Some(command));
    let run = run.unwrap_or_else(|| panic!("no {command}"));
    let judgement = judge(&read(&run));
    let [report] = judgement.reports.as_slice() else { panic!("no report of {command}") };
    let findings = report.findings.iter();
    findings.map(|one| (one.id, format!("{} {}", one.evidence, one.cause))).collect()
}

fn of(id: DiagnosisId, said: &[(DiagnosisId, String)]) -> Option<&str> {
    said.iter().find(|(found, _)| *found == id).map(|(_, said)| said.as_str())
}

const ABLAZE: &str = include_str!("../printed/real-ablaze.txt");
const AB: &str = include_str!("../printed/real-ab-2.txt");
const H2LOAD: &str = include_str!("../printed/real-h2load-2.txt");
const HEY: &str = include_str!("../printed/real-hey.txt");
const OHA: &str = include_str!("../printed/real-oha.txt");
const BOMBARDIER: &str = include_str!("../printed/real-bombardier.txt");
const SIEGE: &str = include_str!("../printed/real-siege.txt");
const VEGETA: &str = include_str!("../printed/real-vegeta.txt");
const WRK: &str = include_str!("../printed/real-wrk-2.txt");
const ODD: &str = include_str!("../printed/real-odd.txt");
const WRK2: &str = include_str!("../printed/real-wrk2.txt");

/// One request in a hundred takes 3 s: the last of a counted run is awaited alone.
#[test]
fn a_slow_last_request_is_no_unused_connection() {
    for (text, command) in [
        (AB, "$ ab -n 500 -c 20 http://127.0.0.1:23017/"),
        (HEY, "$ hey -n 500 -c 20 http://127.0.0.1:23017/"),
        (HEY, "$ hey -n 200 -c 20 -t 1 http://127.0.0.1:23017/"),
        (OHA, "$ oha --no-tui -n 500 -c 20 http://127.0.0.1:23017/"),
        (OHA, "$ oha --no-tui -n 200 -c 20 -t 1s http://127.0.0.1:23017/"),
        (BOMBARDIER, "$ bombardier -c 20 -n 500 -l http://127.0.0.1:23017/"),
        (H2LOAD, "$ h2load --h1 -n 500 -c 20 http://127.0.0.1:23017/"),
    ] {
        assert_eq!(of(D01, &said(text, command)), None, "{command}");
    }
}

/// Two requests are served at a time: the others wait, and are in no report when the time is up.
#[test]
fn what_waits_at_the_end_is_no_unused_connection() {
    let command = "$ wrk -t2 -c100 -d2s --latency http://127.0.0.1:23022/";
    assert_eq!(of(D01, &said(WRK, command)), None);
    let handshakes = "$ h2load -n 2000 -c 10 -m 4 https://127.0.0.1:23012/";
    assert_eq!(of(D01, &said(H2LOAD, handshakes)), None);
}

/// In each of these bombardier's connections were busy to the end: its progress is drawn every 200 ms, and shows the length
/// of a run of 40 ms as that.
#[test]
fn what_bombardier_s_progress_shows_of_short_runs_is_no_length() {
    for judged in judge(&read(BOMBARDIER)).reports {
        let found = judged.findings.iter().find(|one| one.id == D01);
        assert_eq!(found, None, "{:?}", judged.subject.command);
        let coarse = judged.findings.iter().find(|one| one.id == DiagnosisId::D06);
        assert!(coarse.is_none_or(|one| !one.evidence.contains("in flight")), "{coarse:?}");
    }
}

/// Connections are opened at 20/s, and users wait between requests.
#[test]
fn a_paced_client_leaves_connections_idle() {
    assert_eq!(
        of(D01, &said(H2LOAD, "$ h2load --h1 -n 500 -c 50 -r 20 http://127.0.0.1:23001/")),
        None
    );
    assert_eq!(of(D01, &said(SIEGE, "$ siege -c 10 -r 10 -d 0.1 http://127.0.0.1:23001/")), None);
    assert_eq!(of(D01, &said(HEY, "$ hey -z 2s -c 10 -q 20 http://127.0.0.1:23001/")), None);
}

/// `http.server` of Python has a backlog of 5.
#[test]
fn a_short_backlog_is_seen_in_oha_s_connects() {
    let found = said(OHA, "$ oha --no-tui -n 300 -c 10 http://127.0.0.1:23002/");
    assert!(of(D08, &found).unwrap().contains("1,007 ms"), "{found:?}");
}

#[test]
fn h2load_s_errors_are_counted_among_all_requests() {
    // 392 never got a response, most of them were never sent.
    let found = said(H2LOAD, "$ h2load --h1 -n 500 -c 10 http://127.0.0.1:23016/");
    assert!(of(D02, &found).unwrap().contains("392 of 500 requests"), "{found:?}");
    // 150 streams were refused: they are no responses of another status.
    let found = said(H2LOAD, "$ h2load -n 1000 -c 10 -m 20 http://127.0.0.1:23028/");
    assert!(of(D02, &found).unwrap().contains("150 of 1,000 requests"), "{found:?}");
    assert_eq!(of(D04, &found), None);
    // HTTP/2 to a server that speaks HTTP/1.1 alone there: it responds, with 400.
    let found = said(H2LOAD, "$ h2load -n 100 -c 5 http://127.0.0.1:23001/");
    assert!(of(D02, &found).unwrap().contains("1,545 bytes came back"), "{found:?}");
}

#[test]
fn garbage_and_silence_are_not_called_closed_connections() {
    for (text, command, cause) in [
        (WRK, "$ wrk -t1 -c5 -d1s http://127.0.0.1:23021/", "HTTP response"),
        (HEY, "$ hey -n 500 -c 10 http://127.0.0.1:23019/", "`malformed HTTP status code"),
        (OHA, "$ oha --no-tui -n 20 -c 5 -t 1s http://127.0.0.1:23020/", "20× `timeout`"),
    ] {
        let found = said(text, command);
        let said = of(D02, &found).unwrap_or_else(|| panic!("{command}"));
        assert!(!said.contains("closed every connection"), "{said}");
        assert!(said.contains(cause), "{said}");
    }
}

/// siege counts 5xx as failed; they were responses.
#[test]
fn siege_s_failures_may_be_responses() {
    let found = said(SIEGE, "$ siege -b -c 10 -r 50 http://127.0.0.1:23001/half");
    let said = of(D02, &found).unwrap();
    assert!(said.contains("232 of 500 requests (46 %) failed") && said.contains("5xx"), "{said}");
    assert!(!said.contains("no whole response"), "{said}");
}

/// Bodies cut off in the middle, and heads that are none, are no page with a date in it.
#[test]
fn lengths_far_apart_are_not_those_of_one_page() {
    for (command, cause) in [
        ("$ ab -r -n 500 -c 10 http://127.0.0.1:23016/", "much shorter"),
        // 829 bodies came whole, to the byte.
        ("$ ab -r -k -n 1000 -c 10 http://127.0.0.1:23019/", "had no body: no response"),
    ] {
        let found = said(AB, command);
        let said = of(D37, &found).unwrap_or_else(|| panic!("{command}"));
        assert!(said.contains(cause) && !said.contains("a date"), "{command}: {said}");
        assert!(said.contains("no HTTP"), "{command}: {said}");
    }
}

/// One request in twenty is closed without a byte, which the bytes of the others prove.
#[test]
fn what_got_no_response_is_no_other_length() {
    let found = said(AB, "$ ab -r -n 1000 -c 10 http://127.0.0.1:23015/");
    assert!(of(D02, &found).unwrap().contains("41 of 1,000 requests (4.1 %)"), "{found:?}");
    assert!(of(D37, &found).unwrap().contains("no response at all"), "{found:?}");
}

#[test]
fn a_schedule_that_was_not_kept_is_named() {
    let found = said(WRK2, "$ wrk2 -t2 -c200 -d3s -R50000 http://127.0.0.1:23001/");
    assert!(of(D30, &found).unwrap().contains("50,000/s were requested"), "{found:?}");
    let kept = "$ wrk2 -t2 -c50 -d12s -R2000 --latency http://127.0.0.1:23001/";
    assert_eq!(of(D30, &said(WRK2, kept)), None);
    let kept = "$ echo \"GET http://127.0.0.1:23001/\" | vegeta attack -rate=2000/s -duration=2s | vegeta report";
    assert_eq!(of(D30, &said(VEGETA, kept)), None);
}

/// 200/s for 2 s to a server of 40/s, whose last response came 8 s later.
#[test]
fn an_attack_that_is_mostly_waited_for_is_not_valid() {
    let command = "$ echo \"GET http://127.0.0.1:23022/\" | vegeta attack -rate=200 -duration=2s | vegeta report";
    let found = said(VEGETA, command);
    assert!(
        of(DiagnosisId::D14, &found).unwrap().contains("In the last 8.018 of 10.013 s"),
        "{found:?}"
    );
}

/// What siege, vegeta and bombardier say of requests that failed.
#[test]
fn the_clients_own_words_are_quoted() {
    let reset = "$ echo \"GET http://127.0.0.1:23026/\" | vegeta attack -rate=50 -duration=1s | vegeta report";
    let reads = "$ siege -b -c 10 -r 20 http://127.0.0.1:23014/";
    for (text, command, words) in [
        (SIEGE, reads, "27× `Connection reset by peer`"),
        (SIEGE, "$ siege -b -c 5 -r 10 http://127.0.0.1:23099/", "50× `Connection refused`"),
        (VEGETA, reset, "50× `connection reset by peer`"),
        (
            BOMBARDIER,
            "$ bombardier -c 5 -n 100 http://127.0.0.1:23099/",
            "100× `connection refused`",
        ),
        (BOMBARDIER, "$ bombardier -c 100 -n 300 http://127.0.0.1:23022/", "100× `timeout`"),
    ] {
        let found = said(text, command);
        let said = of(D02, &found).unwrap_or_else(|| panic!("{command}"));
        assert!(said.contains(words), "{said}");
        assert!(!said.contains("or reset or closed") && !said.contains("5xx"), "{said}");
    }
}

/// Without the line that it begins with, or that tells it from another tool, each is still its tool's.
#[test]
fn a_report_without_its_first_line_is_read() {
    let whole = |text: &str, command: &str| {
        let runs = text.split("\n$ ").map(|run| format!("$ {}", run.trim_start_matches("$ ")));
        runs.into_iter().find(|run| run.lines().next() == Some(command)).unwrap()
    };
    let without = |text: &str, start: &str| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with(start));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    for (text, command, start) in [
        (WRK, "$ wrk -t2 -c100 -d2s http://127.0.0.1:23001/", "Running "),
        (OHA, "$ oha --no-tui -n 1000 -c 1 http://127.0.0.1:23001/", "Success rate:"),
        (ABLAZE, "$ ablaze -c 10 -n 1000 :21001/nope", "GET "),
    ] {
        let text = whole(text, command);
        let (before, after) = (read(&text).reports, read(&without(&text, start)).reports);
        let figures = |reports: &[ablaze_verdict::printed::Report]| {
            let [one] = reports else { panic!("{reports:?}") };
            (one.tool, one.complete, one.rate_per_s, one.taken_s)
        };
        assert_eq!(figures(&before), figures(&after), "{command}");
    }
}

/// bombardier does not print how long a run of so many requests took.
#[test]
fn a_run_of_unknown_length_may_be_short() {
    let found = said(BOMBARDIER, "$ bombardier -c 20 -n 500 -l http://127.0.0.1:23017/");
    assert!(of(DiagnosisId::D14, &found).is_some(), "{found:?}");
}

/// A line lost, the end cut off, decimal commas: what is left is read for what it is.
#[test]
fn what_is_left_of_a_mutilated_report_is_judged() {
    let run = |text: &str, command: &str| {
        let runs = text.split("\n$ ").map(|run| format!("$ {}", run.trim_start_matches("$ ")));
        runs.into_iter().find(|run| run.lines().next() == Some(command)).unwrap()
    };
    let ids = |text: &str| {
        let reports = judge(&read(text)).reports;
        let [report] = reports.as_slice() else { panic!("{text}") };
        let ids: Vec<DiagnosisId> = report.findings.iter().map(|one| one.id).collect();
        (report.subject.clone(), ids, report.findings.clone())
    };
    // Cut off before the numbers by status: 0.07 s are short all the same.
    let hey = run(HEY, "$ hey -n 500 -c 10 -m POST -d hello http://127.0.0.1:23001/post");
    let (_, found, _) = ids(&hey[..hey.find("Latency distribution").unwrap()]);
    assert!(found.contains(&DiagnosisId::D14), "{found:?}");
    // Without the number of those that failed nobody can say that the time was up.
    let refused = run(BOMBARDIER, "$ bombardier -c 5 -n 100 http://127.0.0.1:23099/");
    let (_, _, found) = ids(&refused.replace("    others - 100\n", ""));
    let cause = &found.iter().find(|one| one.id == D02).unwrap().cause;
    assert!(!cause.contains("by its limit of time"), "{cause}");
    for (text, command) in [
        (AB, "$ ab -i -n 500 -c 10 http://127.0.0.1:23001/"),
        (WRK2, "$ wrk2 -t1 -c10 -d2s -R1000 http://127.0.0.1:23001/nope"),
        (H2LOAD, "$ h2load --h1 -n 1000 -c 10 -m 5 http://127.0.0.1:23001/"),
        (HEY, "$ hey -n 300 -c 100 http://127.0.0.1:23022/"),
    ] {
        let points = run(text, command);
        let (command, body) = points.split_once('\n').unwrap();
        let characters: Vec<char> = body.chars().collect();
        let between = |at: usize| {
            at > 0
                && characters[at - 1].is_ascii_digit()
                && characters.get(at + 1).is_some_and(char::is_ascii_digit)
        };
        let commas = characters.iter().enumerate();
        let commas = commas.map(|(at, c)| if *c == '.' && between(at) { ',' } else { *c });
        let text = format!("{command}\n{}", commas.collect::<String>());
        let ((with, found, _), (without, expected, _)) = (ids(&text), ids(&points));
        assert_eq!(
            (with.rate_per_s, with.taken_s),
            (without.rate_per_s, without.taken_s),
            "{text}"
        );
        let but_36 = |ids: Vec<DiagnosisId>| {
            ids.into_iter().filter(|id| *id != DiagnosisId::D36).collect::<Vec<_>>()
        };
        assert_eq!(but_36(found), but_36(expected), "{command}");
    }
}

/// The server speaks HTTP/2, and resets every stream.
#[test]
fn streams_that_are_reset_do_not_prove_another_protocol() {
    let text = "\
$ h2load -n 200 -c 4 -m 10 http://127.0.0.1:20154/
starting benchmark...
Application protocol: h2c

finished in 3.03ms, 0.00 req/s, 861.46KB/s
requests: 200 total, 200 started, 200 done, 0 succeeded, 200 failed, 200 errored, 0 timeout
status codes: 0 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 2.61KB (2672) total, 0B (0) headers (space savings 0.00%), 0B (0) data
                     min         max         mean         sd        +/- sd
time for request:        0us         0us         0us         0us     0.00%
time for connect:      102us       297us       183us        83us    75.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :       0.00        0.00        0.00        0.00   100.00%
";
    let judgement = judge(&read(text));
    let cause = &judgement.reports[0].findings[0].cause;
    assert!(cause.contains("streams were reset"), "{cause}");
}

/// wrk adds times to its mean that nobody waited for: by Little's law more than its connections would be in flight.
#[test]
fn more_than_fit_into_the_connections_are_not_in_flight() {
    let wrk = |port: u16, mean: &str| {
        format!(
            "Running 2s test @ http://127.0.0.1:{port}/\n  1 threads and 8 connections\n  Thread Stats   Avg      Stdev     \
             Max   +/- Stdev\n    Latency     {mean}    5.48ms  49.81ms   94.99%\n    Req/Sec    37.17k    18.16k   \
             57.32k    47.62%\n  78359 requests in 2.13s, 2.99MB read\nRequests/sec:  36721.66\nTransfer/sec:      \
             1.40MB\n\n"
        )
    };
    let judgement = judge(&read(&(wrk(1, "1.48ms") + &wrk(2, "200.00us"))));
    let found = judgement.comparisons[0].findings.iter();
    let unequal: Vec<&str> = found
        .filter(|finding| finding.id == D05)
        .map(|finding| finding.evidence.as_str())
        .collect();
    assert!(!unequal.iter().any(|evidence| evidence.contains("in flight")), "{unequal:?}");
}

/// A server that leaves connections open behind responses without keep-alive: h2load opens them again, and counts no
/// byte there.
#[test]
fn bytes_that_h2load_does_not_count_are_no_silence() {
    let found = said(ODD, "$ h2load --h1 -n 300 -c 10 -N 2 -T 2 http://127.0.0.1:24023/");
    assert_eq!(of(D02, &found), None, "{found:?}");
}

#[test]
fn what_h2load_s_counts_exclude_is_no_cause() {
    // Every connection was opened, and closed or reset: before, and instead of a response.
    for port in [24006, 24008, 24034, 24035] {
        let found =
            said(ODD, &format!("$ h2load --h1 -n 300 -c 10 -N 2 -T 2 http://127.0.0.1:{port}/"));
        let said = of(D02, &found).unwrap();
        assert!(!said.contains("listens"), "{said}");
        assert!(said.contains("300 failed, 290 of which h2load never sent"), "{said}");
    }
    // The head of a response came, with its status, and not all of its body; or all of it, up to the end of the
    // connection.
    for port in [24013, 24024] {
        let found =
            said(ODD, &format!("$ h2load --h1 -n 300 -c 10 -N 2 -T 2 http://127.0.0.1:{port}/"));
        let said = of(D02, &found).unwrap();
        assert!(said.contains("though 10 responses began, with a status"), "{said}");
        assert!(!said.contains("another protocol"), "{said}");
    }
    // Every fifth request is closed, and with it the connection.
    let found = said(ODD, "$ h2load --h1 -n 300 -c 10 -N 2 -T 2 http://127.0.0.1:24009/");
    assert!(of(D02, &found).unwrap().contains("250 of which h2load never sent"), "{found:?}");
}

#[test]
fn hey_s_own_words_are_the_cause() {
    for (port, words, no) in [
        (24004, "300× `stopped after 10 redirects`", "refused"),
        (24008, "300× `EOF`", "refused"),
        (24015, "15× `context deadline exceeded", "refused"),
        (24033, "100× `connection refused`", "reset"),
    ] {
        let found = said(ODD, &format!("$ hey -n 300 -c 10 -t 2 http://127.0.0.1:{port}/"));
        let said = of(D02, &found).unwrap_or_else(|| panic!("{port}"));
        assert!(said.contains(words), "{said}");
        assert!(!said.contains(no), "{said}");
    }
    // One cause, with an address of its own on each line.
    let resets = "$ hey -n 300 -c 10 -t 2 http://127.0.0.1:24007/";
    assert!(of(D02, &said(ODD, resets)).unwrap().contains("7× `connection reset by peer`"));
}

/// At the end of `-t` ab has counted the status of responses that are not complete.
#[test]
fn what_ab_cuts_off_at_the_end_is_counted_as_it_is() {
    let echo = said(ODD, "$ ab -n 1000 -c 10 -s 2 -t 3 http://127.0.0.1:24012/");
    assert!(
        of(D03, &echo).unwrap().contains("1,668,134 B / 20,098 is 83 B per request"),
        "{echo:?}"
    );
    let redirects = said(ODD, "$ ab -n 1000 -c 10 -s 2 -t 3 http://127.0.0.1:24004/");
    let said = of(D04, &redirects).unwrap();
    assert!(!said.contains("of 17,766"), "{said}");
    assert!(said.contains("17,775 responses had a status other than 2xx"), "{said}");
}

/// The server ended after 200 responses of 82 B, which are all 16,400 B that came: 100 of 300 requests got none, though
/// `Receive` counts 104 connections that broke.
#[test]
fn connections_that_broke_are_no_requests() {
    let found = said(ODD, "$ ab -r -n 300 -c 10 -s 2 http://127.0.0.1:24033/");
    assert!(of(D02, &found).unwrap().contains("100 of 300 requests (33 %)"), "{found:?}");
}

/// Each connection was closed without a byte, after 97 µs: ab's mean of all, 0 ms, is no 968 µs.
#[test]
fn a_mean_that_was_not_measured_is_not_computed() {
    let found = said(ODD, "$ ab -k -n 500 -c 10 -s 2 http://127.0.0.1:24008/");
    assert!(!of(D06, &found).unwrap().contains("Little"), "{found:?}");
}

/// What ab says when it ends early, and what of it is so.
#[test]
fn an_end_without_a_report_has_the_cause_that_ab_names() {
    let ended = |command: &str| {
        let runs = ODD.split("\n$ ").map(|run| format!("$ {}", run.trim_start_matches("$ ")));
        let run = runs.into_iter().find(|run| run.lines().next() == Some(command)).unwrap();
        let judgement = judge(&read(&run));
        let finding = judgement.aborts[0].findings[0].clone();
        assert_eq!(finding.id, D02);
        format!("{} {}", finding.evidence, finding.cause)
    };
    // It responded 210 times before it ended.
    let said = ended("$ ab -k -n 500 -c 10 -s 2 http://127.0.0.1:24033/");
    assert!(said.contains("after 210 complete requests"), "{said}");
    assert!(!said.contains("Nothing listens"), "{said}");
    // Heads of 9,000 bytes.
    let said = ended("$ ab -k -n 500 -c 10 -s 2 http://127.0.0.1:24029/");
    assert!(said.contains("Test aborted after 10 failures") && said.contains("8,191"), "{said}");
    let unreachable = "Benchmarking 10.1.1.1 (be patient)\n\nTest aborted after 10 failures\n\n\
                       apr_socket_connect(): Network is unreachable (101)\n";
    let judgement = judge(&read(unreachable));
    let [ended] = judgement.aborts.as_slice() else { panic!("{judgement:?}") };
    assert!(ended.findings[0].cause.contains("no route"), "{ended:?}");
    assert!(ended.findings[0].evidence.contains("(101)"), "{ended:?}");
}

/// The lines that OpenSSL adds to ab's, for each of many connections, stand between the beginning and the report.
#[test]
fn what_is_printed_before_a_report_is_not_its_end() {
    let handshake = "SSL handshake failed (1).\n8055:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:\
                     ../ssl/record/ssl3_record.c:350:\n";
    let lines = "a line of a head that -v shows\n".repeat(40);
    let of_ab = |run: &&str| run.starts_with("ab -r -n 300 -c 10 -s 2 http://127.0.0.1:24031/");
    let report = format!("$ {}", ODD.split("\n$ ").find(of_ab).unwrap());
    let report = report.replacen('\n', "\nThis is ApacheBench, Version 2.3 <$Revision$>\n", 1);
    for between in [handshake.repeat(20), lines] {
        let report = report.replacen("(be patient)", &format!("(be patient)...{between}"), 1);
        assert!(report.contains(&between), "{report}");
        let text = read(&report);
        assert!(text.begun.is_empty(), "{:?}", text.begun);
        let [one] = text.reports.as_slice() else { panic!("{:?}", text.reports) };
        assert!(one.command.is_some(), "{one:?}");
    }
    // A run that was ended, and another one behind it.
    let two = format!(
        "$ ab -n 9 http://h/\nThis is ApacheBench, Version 2.3 <$Revision$>\nBenchmarking h (be patient)\n{report}"
    );
    assert_eq!(read(&two).begun.len(), 1);
}

#[test]
fn a_host_that_is_not_known_ends_ab() {
    let text = "$ ab -n 10 http://nope.invalid/\nBenchmarking nope.invalid (be patient)...\
                apr_sockaddr_info_get() for nope.invalid: Name or service not known (670002)\n";
    let judgement = judge(&read(text));
    let [ended] = judgement.aborts.as_slice() else { panic!("{judgement:?}") };
    assert!(ended.findings[0].cause.contains("could not be resolved"), "{ended:?}");
}

/// `https:` at a port that speaks HTTP: to wrk a handshake that fails is a connection that cannot be opened.
#[test]
fn a_handshake_that_fails_is_not_excluded_by_wrk_s_connect_errors() {
    let found = said(ODD, "$ wrk -t1 -c5 -d1s https://127.0.0.1:24201/");
    assert!(of(D02, &found).unwrap().contains("the TLS handshake failed"), "{found:?}");
}

/// h2load speaks HTTP/2 to a server that does not; by time it has no total.
#[test]
fn a_run_of_h2load_by_time_has_no_total() {
    let found = said(ODD, "$ h2load -D 1 -c 3 --warm-up-time 0 http://127.0.0.1:24201/");
    assert!(of(D02, &found).unwrap().contains("though 564 bytes came back"), "{found:?}");
}
