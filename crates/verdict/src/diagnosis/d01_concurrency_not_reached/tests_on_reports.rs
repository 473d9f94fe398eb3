//! D01 in printed reports.

use super::*;
use crate::rules::sample;

#[test]
fn little_s_law_decides() {
    let mut report = sample::ab();
    // 10,000/s × 9.5 ms = 95 of 200: under half. × 10.5 ms = 105: not surely.
    report.total = Some(sample::times(1.0, 9.0, 1.0, 9.0, 12.0));
    assert_eq!(on_report(&report).unwrap().severity, Severity::Suspect);
    report.total = Some(sample::times(1.0, 10.0, 1.0, 10.0, 12.0));
    assert_eq!(on_report(&report), None);
    // 10,000/s × 0.5 ms = 5 of 200.
    report.total = Some(sample::times(0.0, 0.0, 0.0, 0.0, 5.0));
    let finding = on_report(&report).unwrap();
    assert_eq!(finding.severity, Severity::Invalid);
    assert!(finding.evidence.contains("less than 5.00, while 200"), "{}", finding.evidence);
    assert!(finding.fix.contains("at most 5.00 in flight"), "{}", finding.fix);
}

#[test]
fn descriptors_are_spoken_of_near_their_limit_alone() {
    let fix = |asked, rate| {
        let mut report = sample::ab();
        (report.concurrency, report.rate_per_s) = (Some(asked), Some(sample::printed(rate, 0.01)));
        report.total = Some(sample::times(0.0, 0.0, 0.0, 0.0, 5.0));
        on_report(&report).unwrap().fix
    };
    assert!(!fix(5, 100.0).contains("ulimit"));
    assert!(!fix(999, 10_000.0).contains("ulimit"));
    assert!(fix(1000, 10_000.0).contains("ulimit"));
}

fn explained(text: &str) -> Option<Finding> {
    on_report(&crate::printed::read(text).reports.remove(0))
}

/// siege prints it, and without -b its users pause between requests.
#[test]
fn siege_says_itself_how_many_were_in_flight() {
    let with = |options: &str, concurrency: f64| {
        explained(&format!(
            "$ siege {options} -c 50 -t 10S http://127.0.0.1:23001/\n\n\
             {{\t\"transactions\":\t23920,\n\t\"availability\":\t100.00,\n\t\"elapsed_time\":\t10.00,\n\
             \t\"data_transferred\":\t1.49,\n\t\"response_time\":\t0.01,\n\t\"transaction_rate\":\t2392.00,\n\
             \t\"throughput\":\t0.15,\n\t\"concurrency\":\t{concurrency},\n\
             \t\"successful_transactions\":\t23920,\n\t\"failed_transactions\":\t0,\n\
             \t\"longest_transaction\":\t0.09,\n\t\"shortest_transaction\":\t0.00\n}}\n"
        ))
    };
    let finding = with("-b", 12.94).unwrap();
    assert!(finding.evidence.starts_with("siege prints 12.94 in flight"), "{finding:?}");
    assert_eq!((finding.severity, with("-b", 47.94)), (Severity::Suspect, None));
    assert_eq!(with("", 12.94), None, "users pause");
}

/// Its `Reqs/sec` is a mean of samples, here twice the rate of the run.
#[test]
fn bombardier_s_rate_over_the_run_is_that_beside_its_progress() {
    let with = |progress: &str, latency: &str| {
        explained(&format!(
            "$ bombardier -c 100 -n 20000 http://127.0.0.1:23001/\n\
             Bombarding http://127.0.0.1:23001/ with 20000 request(s) using 100 connection(s)\n \
             20000 / 20000  100.00% {progress}/s 2s\nDone!\n\
             Statistics        Avg      Stdev        Max\n  Reqs/sec     18000.00    5942.38   27865.33\n  \
             Latency       {latency}     0.10ms    19.94ms\n  HTTP codes:\n    \
             1xx - 0, 2xx - 20000, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 0\n  Throughput:     5.55MB/s\n"
        ))
    };
    let finding = with("9000", "2.00ms").unwrap();
    assert!(finding.evidence.contains("9,000.00/s × less than 2.01 ms"), "{finding:?}");
    assert_eq!(with("9000", "10.50ms"), None);
}

/// Published runs of older versions: 10,000,000 / 37 s × 0.472 ms are 127.6 of 2,000; 1,000,000 / 83 s × 8.31 ms 100.1 of 3,000.
#[test]
fn bombardier_s_progress_in_whole_seconds_bounds_the_rate() {
    let with = |(n, c): (u64, u64), progress: &str, rate: &str, latency: &str| {
        explained(&format!(
            "Bombarding http://127.0.0.1:8080 with {n} request(s) using {c} connection(s)\n \
             {n} / {n} [=======================================] 100.00% {progress}\nDone!\n\
             Statistics        Avg      Stdev        Max\n  Reqs/sec    {rate}   10733.06     288434\n  \
             Latency      {latency}\n  HTTP codes:\n    \
             1xx - 0, 2xx - {n}, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 0\n  Throughput:   292.92MB/s\n"
        ))
    };
    let finding = with((10_000_000, 2000), "37s", "270560.00", "471.00us   522.34us    51.00ms");
    let finding = finding.unwrap();
    assert_eq!(finding.severity, Severity::Invalid);
    let said =
        "at most 270,270.27/s (10,000,000 requests in 37 s or more, by the progress) × less than";
    assert!(finding.evidence.contains(said), "{finding:?}");
    let of_minutes = with((1_000_000, 3000), "1m23s", "12044.00", "8.30ms     3.83ms   291.71ms");
    assert!(of_minutes.unwrap().evidence.contains("in 83 s or more"));
    // 10,000,000 / 37 s × 4.71 ms are 1,273 of 2,000.
    let more = with((10_000_000, 2000), "37s", "270560.00", "4.71ms   0.52ms    51.00ms");
    assert_eq!(more, None);
    // What is left is no length, and of a short run whole seconds are none.
    for progress in ["00m37s", "1s"] {
        let text =
            with((10_000_000, 2000), progress, "270560.00", "471.00us   522.34us    51.00ms");
        assert_eq!(text, None, "{progress}");
    }
}

#[test]
fn a_schedule_asks_for_no_concurrency() {
    let mut report = sample::ab();
    report.total = Some(sample::times(0.0, 0.0, 0.0, 0.0, 5.0));
    report.open_loop = true;
    assert_eq!(on_report(&report), None);
}

#[test]
fn one_connection_is_always_reached() {
    let mut report = sample::ab();
    report.concurrency = Some(1);
    report.total = Some(sample::times(0.0, 0.0, 0.0, 0.0, 5.0));
    assert_eq!(on_report(&report), None);
}

/// 311 requests of 51 ms each in 2.01 s are 8 in flight, however many were asked for.
#[test]
fn a_shortage_does_not_vanish_as_it_grows() {
    let with = |connections: u64, latency: &str| {
        explained(&format!(
            "Running 2s test @ http://127.0.0.1:19302/\n  1 threads and {connections} connections\n  \
             Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    {latency}   84.89%\n    \
             Req/Sec   155.70     18.21   161.00     95.00%\n  311 requests in 2.01s, 49.81KB read\n\
             Requests/sec:    154.95\nTransfer/sec:     24.82KB\n"
        ))
    };
    let short = "51.24ms    1.23ms  56.88ms";
    for (connections, severity) in [
        (60, Severity::Suspect),
        (75, Severity::Suspect),
        (200, Severity::Invalid),
        (1000, Severity::Invalid),
    ] {
        let found = with(connections, short).unwrap();
        assert_eq!(found.severity, severity, "{found:?}");
        assert_eq!(
            found.evidence.contains("had no response at the end"),
            connections > 62,
            "{found:?}"
        );
    }
    assert_eq!(with(8, short), None);
    // Those that had not come yet explain it: 311 of 1.0 s in 2.01 s are 156 of 400, and as many as 380 had 1.9 s at the end.
    assert_eq!(with(400, "1.01s    500.00ms  1.90s"), None);
}

/// Eight workers, each with one kept connection.
#[test]
fn connections_that_nobody_serves_are_missed_in_few_responses_too() {
    let found = explained(
        "Running 5s test @ http://127.0.0.1:19350/\n  1 threads and 100 connections\n  \
         Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   400.48ms  242.56us 401.30ms   78.12%\n    \
         Req/Sec    28.95     24.62    70.00     57.89%\n  96 requests in 5.01s, 6.00KB read\n\
         Requests/sec:     19.16\nTransfer/sec:      1.20KB\n",
    );
    let found = found.unwrap();
    assert!(found.evidence.contains("less than 7.68, while 100"), "{found:?}");
    assert!(found.evidence.contains("8.01 more at most"), "{found:?}");
    // ab that waited for one of five until it came: the others may have come next.
    let one = explained(
        "$ ab -k -r -t 2 -c 5 http://127.0.0.1:19312/\nThis is ApacheBench, Version 2.3 <$Revision$>\n\
         Concurrency Level:      5\nTime taken for tests:   20.001 seconds\nComplete requests:      1\n\
         Failed requests:        0\nKeep-Alive requests:    1\nTotal transferred:      63 bytes\n\
         HTML transferred:       1 bytes\nRequests per second:    0.05 [#/sec] (mean)\n\
         Connection Times (ms)\n              min  mean[+/-sd] median   max\n\
         Total:      20001 20001   0.0  20001   20001\n",
    );
    assert_eq!(one, None);
}
