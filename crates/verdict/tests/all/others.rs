//! What only one of the other tools prints, and what it must not be taken for.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::Finding;
use ablaze_verdict::finding::Severity;
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;

fn findings(text: &str) -> Vec<Finding> {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0).findings
}

fn of(id: DiagnosisId, text: &str) -> Option<Finding> {
    findings(text).into_iter().find(|finding| finding.id == id)
}

fn siege(command: &str, good: u64, failed: u64, s: f64, in_flight: f64) -> String {
    let (all, rate) = (good + failed, good as f64 / s);
    let available = good as f64 * 100.0 / all as f64;
    format!(
        "$ siege {command} http://127.0.0.1:18080/ok\n\n{{\t\"transactions\":\t{good},\n\t\"availability\":\t{available:.2},\n\
         \t\"elapsed_time\":\t{s:.2},\n\t\"data_transferred\":\t0.00,\n\t\"response_time\":\t0.00,\n\
         \t\"transaction_rate\":\t{rate:.2},\n\t\"throughput\":\t0.00,\n\t\"concurrency\":\t{in_flight:.2},\n\
         \t\"successful_transactions\":\t{good},\n\t\"failed_transactions\":\t{failed},\n\
         \t\"longest_transaction\":\t0.01,\n\t\"shortest_transaction\":\t0.00\n}}\n"
    )
}

#[test]
fn reports_of_siege_that_failed_unequally_are_no_equal_work() {
    let compared = |one: &str, other: &str| {
        let comparison = judge(&read(&format!("{one}\n{other}"))).comparisons.remove(0);
        comparison.findings.into_iter().find(|finding| finding.id == D05)
    };
    let (good, bad) = (
        siege("-b -c 10 -t 10s", 50_000, 0, 10.0, 8.8),
        siege("-b -c 10 -t 10s", 45_000, 5_000, 10.0, 8.7),
    );
    let found = compared(&good, &bad).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(
        found.evidence.contains("0 % of the requests failed (no response, or 5xx) against 10 %"),
        "{found:?}"
    );
    assert_eq!(compared(&good, &siege("-b -c 10 -t 10s", 49_000, 0, 10.0, 8.7)), None);
}

/// Its clock has steps of 10 ms.
#[test]
fn siege_sees_nothing_in_flight_in_one_step_of_its_clock() {
    assert_eq!(of(D01, &siege("-b -c 10 -r 1", 6, 0, 0.01, 0.0)), None);
    assert!(of(D01, &siege("-b -c 10 -t 10s", 6000, 0, 10.0, 0.0)).is_some());
}

#[test]
fn users_of_siege_that_did_not_pause_are_not_said_to() {
    let advice = |in_flight| of(D06, &siege("-c 10 -t 3s", 23_000, 0, 3.0, in_flight)).unwrap().fix;
    assert!(!advice(9.34).contains("pauses"));
    let slow = of(D06, &siege("-c 10 -t 30s", 300, 0, 30.0, 0.1)).unwrap().fix;
    assert!(slow.contains("pauses of siege"), "{slow}");
}

const HEY: &str = "$ hey -n 1000 -c 50 http://127.0.0.1:18080/\n\nSummary:\n  Total:\t0.3104 secs\n  Slowest:\t0.0338 secs\n  \
                   Fastest:\t0.0101 secs\n  Average:\t0.0140 secs\n  Requests/sec:\t32214.2\n\n\
                   Status code distribution:\n  [200]\t1000 responses\n";

#[test]
fn all_that_were_asked_for_left_no_errors_out() {
    assert_eq!(of(D43, HEY).unwrap().severity, Severity::Invalid);
    let more = HEY.replace("-n 1000", "-n 10000");
    assert!(of(D43, &more).unwrap().cause.contains("may have failed"));
    // The list is there, and has what oha cut off.
    let oha = more
        .replace("hey ", "oha ")
        .replace("1000 responses\n", "1000 responses\n\nError distribution:\n");
    let listed = of(D43, &oha).unwrap();
    assert!(!listed.cause.contains("That is not here"), "{listed:?}");
}

#[test]
fn counts_of_bombardier_that_are_no_numbers_say_nothing_of_the_requests() {
    let text = |good: &str| {
        format!(
            "$ bombardier -c 200 -d 10s https://example.org/\nBombarding https://example.org:443/ for 10s using 200 connection(s)\n\
             Done!\nStatistics        Avg      Stdev        Max\n  Reqs/sec      1892.23     542.11    3301.77\n  \
             Latency      105.61ms    33.02ms      1.12s\n  HTTP codes:\n    \
             1xx - 0, 2xx - {good}, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 0\n  Throughput:     2.33MB/s\n"
        )
    };
    for wrong in ["-5", "18.9k", "NaN", "1M"] {
        let text = text(wrong);
        assert_eq!(of(D02, &text), None, "{wrong}");
        assert!(of(D43, &text).unwrap().evidence.contains("is impossible"), "{wrong}");
    }
    assert_eq!(of(D43, &text("18922")), None);
    assert!(of(D02, &text("0")).is_some());
}

#[test]
fn timeouts_of_wrk_below_its_longest_latency_are_mentioned() {
    let text = "$ wrk -t2 -c64 -d30s --timeout 1s http://10.0.0.2/\nRunning 30s test @ http://10.0.0.2/\n  \
                2 threads and 64 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
                Latency     1.02s   500.12ms   4.98s    80.01%\n    Req/Sec    24.12      2.11    60.00     70.25%\n  \
                1249 requests in 30.00s, 600.51KB read\n  Socket errors: connect 0, read 0, write 0, timeout 130\n\
                Requests/sec:     41.63\nTransfer/sec:     20.02KB\n";
    let found = of(D06, text).unwrap();
    assert!(found.evidence.contains("`timeout` is 130 beside 1,249 responses"), "{found:?}");
    assert_eq!(found.severity, Severity::Note);
}

const H2LOAD: &str = "$ h2load -n100000 -c100 -m100 https://localhost:8443/\nstarting benchmark...\n\
                      spawning thread #0: 100 concurrent clients, 100000 total requests\nProtocol: TLSv1.2\n\n\
                      finished in 771.26ms, 129658 req/s, 4.71MB/s\n\
                      requests: 100000 total, 100000 started, 100000 done, 100000 succeeded, 0 failed, 0 errored\n\
                      status codes: 100000 2xx, 0 3xx, 0 4xx, 0 5xx\n";

#[test]
fn streams_of_h2load_over_tls_are_no_pipeline() {
    let fix = of(D06, H2LOAD).unwrap().fix;
    assert!(fix.contains("--http 2") && fix.contains("--streams 100"), "{fix}");
    let first = of(D06, &H2LOAD.replace("-n100000", "--h1 -n100000")).unwrap().fix;
    assert!(first.contains("--pipeline 100"), "{first}");
}

#[test]
fn tls_is_among_what_may_have_failed_where_it_was_asked_for() {
    let none = H2LOAD
        .replace(
            "100000 started, 100000 done, 100000 succeeded, 0 failed, 0 errored",
            "0 started, 0 done, 0 succeeded, 100000 failed, 100000 errored, 0 timeout",
        )
        .replace("100000 2xx", "0 2xx")
        .replace("129658 req/s, 4.71MB/s", "0.00 req/s, 0B/s");
    assert!(of(D02, &none).unwrap().cause.contains("TLS handshake"));
    let plain = none.replace("https://", "http://").replace("Protocol: TLSv1.2\n", "");
    assert!(!of(D02, &plain).unwrap().cause.contains("TLS"));
}

#[test]
fn a_request_that_took_longer_than_the_run_is_a_contradiction() {
    let text = siege("-b -c 10 -t 10s", 50_000, 0, 10.0, 8.8);
    assert_eq!(of(D43, &text), None);
    let longer = text.replace("\"longest_transaction\":\t0.01", "\"longest_transaction\":\t30.00");
    let found = of(D43, &longer).unwrap();
    assert!(found.evidence.contains("longer than the run (10.00 s)"), "{found:?}");
    let counted = "time for request:    25.12ms       5.55s     51.07ms     15.36ms    84.87%\n";
    let counted = format!("{H2LOAD}traffic: 1B (1) total\n{counted}");
    assert!(of(D43, &counted).unwrap().evidence.contains("longer than the run"));
}

#[test]
fn far_more_successful_transactions_than_transactions_are_a_contradiction() {
    let text = siege("-b -c 10 -t 10s", 500, 0, 10.0, 0.2);
    let with = |good: &str| {
        text.replace(
            "\"successful_transactions\":\t500",
            &format!("\"successful_transactions\":\t{good}"),
        )
    };
    // Some were under way at the end.
    assert_eq!(of(D43, &with("505")), None);
    assert!(
        of(D43, &with("5000")).unwrap().evidence.contains("the successful transactions are 5,000")
    );
}

/// By its configuration.
#[test]
fn users_that_siege_does_not_permit_are_not_missed() {
    let text = siege("-b -c 300 -t 10s", 80_000, 0, 10.0, 38.7);
    assert!(of(D01, &text).is_some());
    let capped = text.replacen(
        "\n\n",
        "\n\nWARNING: The number of users is capped at 255.  To increase this\n",
        1,
    );
    assert_eq!(of(D01, &capped), None);
}

#[test]
fn a_run_of_bombardier_does_not_outlast_its_time_and_its_longest_request() {
    let text = |s: f64| {
        format!(
            "{{\"spec\":{{\"numberOfConnections\":10,\"testType\":\"timed\",\"testDurationSeconds\":10,\"method\":\"GET\",\
             \"url\":\"http://h:80/\"}},\"result\":{{\"bytesRead\":1,\"bytesWritten\":1,\"timeTakenSeconds\":{s},\"req1xx\":0,\
             \"req2xx\":20000,\"req3xx\":0,\"req4xx\":0,\"req5xx\":0,\"others\":0,\"latency\":{{\"mean\":5000.5,\
             \"stddev\":100.5,\"max\":9000}},\"rps\":{{\"mean\":2000.5,\"stddev\":90000.5,\"max\":300000.5}}}}}}\n"
        )
    };
    let said = |s| of(D43, &text(s)).map(|found| found.evidence).unwrap_or_default();
    assert!(said(100.01).contains("but 10 s were asked for"), "{}", said(100.01));
    assert!(!said(10.01).contains("asked for"), "{}", said(10.01));
    assert_eq!(of(D01, &text(100.01)), None);
}

#[test]
fn a_count_below_zero_behind_a_status_of_vegeta_is_found() {
    let text = "Requests      [total, rate, throughput]         100, 100.00, 50.00\nStatus Codes  [code:count]                      \
                200:-6000  \nError Set:\n";
    assert!(of(D43, text).unwrap().evidence.contains("is impossible"));
}

#[test]
fn a_report_that_was_pasted_twice_is_to_be_left_out_once() {
    let wrk = "$ wrk -t2 -c20 -d1s http://127.0.0.1:18080/ok\nRunning 1s test @ http://127.0.0.1:18080/ok\n  \
               2 threads and 20 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
               Latency     8.36ms   23.76ms 167.64ms   93.48%\n    Req/Sec     8.84k     5.35k   19.68k    73.68%\n  \
               16946 requests in 1.06s, 2.08MB read\nRequests/sec:  16038.71\nTransfer/sec:      1.97MB\n";
    let found = |text: &str| {
        let comparison = judge(&read(text)).comparisons.remove(0);
        comparison.findings.into_iter().find(|finding| finding.id == D15)
    };
    let twice = found(&format!("{wrk}{wrk}")).unwrap();
    assert!(twice.evidence.contains("the same to the last digit"), "{twice:?}");
    assert!(twice.fix.starts_with("Leave one of the two out"), "{twice:?}");
    let other = wrk.replace("16946", "16947").replace("16038.71", "16039.66");
    let others = found(&format!("{wrk}{other}"));
    assert!(others.is_none_or(|found| !found.evidence.contains("to the last digit")));
}

/// All times of siege are rounded to nothing.
#[test]
fn nothing_is_said_to_be_fewer_than_none() {
    let nothing = "$ siege -b -c 10 -r 5 http://127.0.0.1:18080/\n";
    let (one, other) =
        (siege("-b -c 10 -r 50", 500, 0, 0.05, 8.8), siege("-b -c 10 -r 5", 0, 50, 0.01, 0.0));
    let text = format!("{one}\n{nothing}\n{other}");
    let said =
        judge(&read(&text)).comparisons.into_iter().flat_map(|comparison| comparison.findings);
    for finding in said {
        assert!(!finding.evidence.contains("fewer than 0"), "{finding:?}");
    }
}
