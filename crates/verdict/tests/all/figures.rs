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
