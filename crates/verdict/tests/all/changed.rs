//! Rows of few values, ablaze's own report, and lines in another order: one figure changed, and what is said of it.

use ablaze_verdict::DiagnosisId::{D06, D43};
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;
use ablaze_verdict::{Finding, Severity};

fn findings(text: &str) -> Vec<Finding> {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0).findings
}

fn contradiction(text: &str) -> Option<Finding> {
    findings(text).into_iter().find(|finding| finding.id == D43)
}

/// Each change, and what is said of it; without one nothing is.
fn all_found(text: &str, changes: &[(&str, &str, &str)]) {
    assert_eq!(contradiction(text), None);
    for (from, to, said) in changes {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let finding = contradiction(&changed).unwrap_or_else(|| panic!("nothing found: {to}"));
        assert!(finding.evidence.contains(said), "{to}: {}", finding.evidence);
    }
}

const H2LOAD: &str = "\
$ h2load -D 4 -c 10 --h1 --warm-up-time 1 http://127.0.0.1:27001/
starting benchmark...
spawning thread #0: 10 total client(s). Timing-based test with 1s of warm-up time and 4s of main duration for measurements.
Warm-up started for thread #0.
Application protocol: http/1.1

finished in 5.00s, 4260.75 req/s, 611.65KB/s
requests: 17043 total, 17043 started, 17043 done, 17043 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 17043 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 2.39MB (2505321) total, 1.97MB (2067506) headers (space savings 0.00%), 288.44KB (295358) data
                     min         max         mean         sd        +/- sd
time for request:      362us     11.77ms      2.35ms       346us    96.40%
time for connect:      112us       710us       365us       186us    70.00%
time to 1st byte:     2.16ms      3.01ms      2.45ms       275us    70.00%
req/s           :     424.48      426.98      426.05        0.69    80.00%
";

#[test]
fn a_run_by_time_lasts_as_long_as_it_was_told() {
    let told = "the warm-up is 1 s and the main duration 4 s";
    all_found(
        H2LOAD,
        &[
            ("finished in 5.00s", "finished in 4.00s", told),
            ("finished in 5.00s", "finished in 5.00ms", told),
            ("finished in 5.00s", "finished in 500.00s", told),
            ("with 1s of warm-up", "with 3s of warm-up", "the warm-up is 3 s"),
        ],
    );
    // Clients that were lost may have been all.
    let errored = H2LOAD
        .replace("5.00s", "3.00s")
        .replace("17043 succeeded, 0 failed, 0 errored", "17033 succeeded, 10 failed, 10 errored");
    let said = contradiction(&errored).map_or(String::new(), |finding| finding.evidence);
    assert!(!said.contains("warm-up"), "{said}");
}

#[test]
fn each_client_is_in_a_row_once() {
    let changes = [
        ("424.48 ", "42.45 ", "the deviation of req/s"),
        ("0.69 ", "69.00 ", "the deviation of req/s"),
        ("3.01ms", "30.10ms", "the deviation of the time to 1st byte"),
        ("186us", "19us", "connect deviation"),
        ("710us", "7.10ms", "of no more than 10 values it is at least"),
    ];
    all_found(H2LOAD, &changes);
    let changed = contradiction(&H2LOAD.replace("0.69 ", "69.00 ")).unwrap();
    assert_eq!(changed.severity, Severity::Suspect);
    assert!(changed.cause.contains("Nothing contradicts the rate of the run"), "{changed:?}");
}

#[test]
fn the_threads_of_h2load_share_its_requests() {
    let counted = H2LOAD
        .replace("-D 4 -c 10 --h1 --warm-up-time 1", "-n 17043 -c 10 --h1")
        .replace("finished in 5.00s", "finished in 4.00s")
        .replace(
            "10 total client(s). Timing-based test with 1s of warm-up time and 4s of main duration for measurements.",
            "5 total client(s). 8522 total requests\nspawning thread #1: 5 total client(s). 8521 total requests",
        );
    let said = "the number of requests of its threads is 4,261, but the number of requests in total 17,043";
    all_found(&counted, &[("8522 total", "4000 total", "is 12,521")]);
    let one_run_s_head =
        counted.replace("8522 total", "2131 total").replace("8521 total", "2130 total");
    assert!(contradiction(&one_run_s_head).unwrap().evidence.contains(said));
}

const WRK: &str = "\
$ wrk -t2 -c20 -d5s --latency http://127.0.0.1:27001/
Running 5s test @ http://127.0.0.1:27001/
  2 threads and 20 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     4.71ms  619.91us  11.90ms   94.35%
    Req/Sec     2.13k   120.39     2.39k    70.00%
  Latency Distribution
     50%    4.65ms
     75%    4.76ms
     90%    4.90ms
     99%    7.98ms
  21225 requests in 5.00s, 2.98MB read
Requests/sec:   4241.08
Transfer/sec:    608.82KB
";

#[test]
fn figures_of_wrk_that_read_0_beside_others() {
    all_found(
        WRK,
        &[
            ("4.71ms", "0.00us", "the percentiles leave 2.37 ms"),
            ("4.76ms", "0.00us", "75 % reads 0, and 90 % 4.90 ms"),
            ("4.65ms", "0.00us", "50 % reads 0, and 75 % 4.76 ms"),
        ],
    );
    // The highest ones read so where a script sends several requests at once.
    let batches = WRK.replace("7.98ms", "0.00us").replace("4.90ms", "0.00us");
    assert_eq!(contradiction(&batches), None);
}

#[test]
fn the_parts_of_a_thread_s_run_lie_as_far_apart_as_they_can() {
    let changes = [
        ("120.39 ", "1203.90 ", "the deviation of Req/Sec is 1,203.90"),
        ("120.39 ", "12.04 ", "values it is at least"),
        ("2.39k", "23.90k", "the maximum of Req/Sec 23,900"),
    ];
    all_found(WRK, &changes);
}

#[test]
fn counts_of_wrk_below_its_rate_are_of_the_same_report() {
    let counts = "  21225 requests in 5.00s, 2.98MB read\n";
    let rate = "Requests/sec:   4241.08\n";
    let exchanged = WRK.replace(&format!("{counts}{rate}"), &format!("{rate}{counts}"));
    assert_ne!(exchanged, WRK);
    assert_eq!(findings(&exchanged), findings(WRK));
}

const NATIVE: &str = "\
$ ablaze -c 10 -d 4s http://127.0.0.1:27001/
VALID · limited by the server: its one thread that worked ran at 100 % of a core, the client at 15 %
GET http://127.0.0.1:27001/ · HTTP/1.1 keep-alive · closed loop, 10 connections · 1 thread, io_uring

  4,369 requests/s    p50 2.27 ms   p95 2.42 ms   p99 2.85 ms [2.77–3.09]   max 6.08 ms   errors 0
  17,476 responses in 4.000 s · 200: 17,476 · 627 KiB/s · CPU per request: server 228 µs, client 33.7 µs

              mean      p50      p75      p90      p95      p99    p99.9      max
  connect  76.2 µs  41.8 µs        -        -        -        -        -   238 µs   10×, before the clock
  wait     2.28 ms  2.27 ms  2.33 ms  2.39 ms  2.42 ms  2.85 ms  4.44 ms  6.08 ms
  total    2.28 ms  2.27 ms  2.33 ms  2.39 ms  2.42 ms  2.85 ms  4.44 ms  6.08 ms

  requests/s         slowest second 4,284 · fastest 4,455
";

#[test]
fn ablaze_s_own_figures_are_held_against_each_other() {
    let wait = "  wait     2.28 ms  2.27 ms  2.33 ms  2.39 ms";
    all_found(
        NATIVE,
        &[
            ("[2.77–3.09]", "[27.70–3.09]", "p99 is 2.85 ms, but its interval is 27.70"),
            ("[2.77–3.09]", "[2.77–2.80]", "its interval is 2.77 to 2.80 ms"),
            ("slowest second 4,284", "slowest second 4,884", "more than the rate of the fastest"),
            ("fastest 4,455", "fastest 44,550", "the rate of the fastest second is 44,550"),
            (
                wait,
                "  wait     2.28 ms  2.27 ms  2.33 ms  23.90 ms",
                "p90 of the wait is 23.90 ms, more",
            ),
            (wait, "  wait     22.80 ms  2.27 ms  2.33 ms  2.39 ms", "of which it is a part"),
            (
                wait,
                "  wait     2.28 ms  2.27 ms  2.38 ms  2.39 ms",
                "p75 of the wait is 2.38 ms, more",
            ),
        ],
    );
}

#[test]
fn an_open_loop_sends_no_more_than_its_rate() {
    let open = NATIVE.replace(
        "closed loop, 10 connections",
        "open loop, 5,000/s evenly spaced, at most 10 connections",
    );
    let open =
        open.replace("-c 10 -d 4s", "-c 10 --rate 5000 -d 4s").replace("  wait ", "  other ");
    let open = open.replace("  total ", "  response ");
    assert_eq!(contradiction(&open), None);
    let said = contradiction(&open.replace("5,000/s evenly", "500/s evenly")).unwrap().evidence;
    assert!(
        said.contains(
            "the rate asked for is 500/s, which makes 2,000 in 4.000 s, but 17,476 ended"
        ),
        "{said}"
    );
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

#[test]
fn lines_of_ab_in_another_order_are_of_the_same_report() {
    let lines: Vec<&str> = AB.lines().collect();
    for (at, label) in [(14, "HTML"), (10, "Time taken"), (11, "Complete"), (18, "Transfer")] {
        assert!(lines[at].starts_with(label), "{}", lines[at]);
    }
    // The rate above the bytes; the rate above all counts.
    for (from, to) in [(15, 14), (15, 9), (14, 18)] {
        let mut moved = lines.clone();
        let line = moved.remove(from);
        moved.insert(to, line);
        let text = moved.join("\n");
        let found = findings(&text);
        assert_eq!(found, findings(AB), "{text}");
        let coarse = found.iter().find(|one| one.id == D06).unwrap();
        assert!(!coarse.evidence.contains("The text has no request times"), "{coarse:?}");
    }
    // Another run of which a line is there twice is another.
    let other = AB[AB.find("Concurrency").unwrap()..].replace("2.682", "2.683");
    assert_eq!(read(&format!("{AB}{other}")).reports.len(), 2);
}
