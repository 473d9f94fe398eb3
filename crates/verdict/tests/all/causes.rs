//! What is said of runs against servers whose behaviour is known: the cause that was there, and none that was not.

use ablaze_verdict::DiagnosisId::{self, D01, D02, D04, D05, D08, D30, D37};
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
    for (text, command) in [
        (WRK, "$ wrk -t1 -c5 -d1s http://127.0.0.1:23021/"),
        (HEY, "$ hey -n 500 -c 10 http://127.0.0.1:23019/"),
        (OHA, "$ oha --no-tui -n 20 -c 5 -t 1s http://127.0.0.1:23020/"),
    ] {
        let found = said(text, command);
        let said = of(D02, &found).unwrap_or_else(|| panic!("{command}"));
        assert!(!said.contains("closed every connection"), "{said}");
        assert!(said.contains("HTTP response"), "{said}");
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
    for command in [
        "$ ab -r -n 500 -c 10 http://127.0.0.1:23016/",
        "$ ab -r -k -n 1000 -c 10 http://127.0.0.1:23019/",
    ] {
        let found = said(AB, command);
        let said = of(D37, &found).unwrap_or_else(|| panic!("{command}"));
        assert!(said.contains("much shorter") && !said.contains("a date"), "{command}: {said}");
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
    assert!(cause.contains("reset the streams"), "{cause}");
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
