//! What is said of reports of which a part is missing or that were stopped: what was seen, and no more.

use ablaze_verdict::DiagnosisId::{self, D01, D02, D06, D36};
use ablaze_verdict::Finding;
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;

fn found(text: &str) -> Vec<Finding> {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0).findings
}

fn of(id: DiagnosisId, findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.id == id)
}

/// 101,000 requests in about 10 of 60 s, of 9.9 ms each: 100 were in flight.
fn bombardier(progress: &str) -> String {
    format!(
        "$ bombardier -c 100 -d 60s http://127.0.0.1:23099/\n\
         Bombarding http://127.0.0.1:23099/ for 1m0s using 100 connection(s)\n{progress}Done!\n\
         Statistics        Avg      Stdev        Max\n  Reqs/sec     10000.00     500.00   14624.49\n  \
         Latency        9.90ms   498.23us    12.17ms\n  HTTP codes:\n    \
         1xx - 0, 2xx - 101000, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 0\n  Throughput:       2.00MB/s\n"
    )
}

#[test]
fn a_run_of_bombardier_s_that_was_stopped_is_not_as_long_as_it_was_to_be() {
    for progress in [
        " [=====>----------------------------]  16.67% 10s\n",
        "[=====>------------------------------] 16.67%\n",
        " 00m58s 00m56s 00m51s 10s\n",
        // It was not copied: the requests and their rate tell.
        "",
    ] {
        let stopped = found(&bombardier(progress));
        assert_eq!(of(D01, &stopped), None, "{progress}");
        assert_eq!(of(D36, &stopped), None, "{progress}");
    }
    // It was not stopped, and had few in flight: the rate in samples is another.
    for progress in [" 00m58s 00m01s 1m0s\n", "[==================================] 100.00% 1m0s\n"]
    {
        let whole = found(&bombardier(progress));
        let evidence = &of(D01, &whole).unwrap().evidence;
        assert!(evidence.contains("1,683.33/s"), "{evidence}");
    }
}

fn hey(options: &str, url: &str) -> String {
    format!(
        "$ hey -n 2000 -c 20 {options} {url}\n\nSummary:\n  Total:\t20.0120 secs\n  Slowest:\t0.0100 secs\n  \
         Fastest:\t0.0010 secs\n  Average:\t0.0050 secs\n  Requests/sec:\t99.9400\n\n\
         Status code distribution:\n  [200]\t2000 responses\n"
    )
}

fn command_of_d06(text: &str) -> String {
    let all = found(text);
    of(D06, &all).unwrap_or_else(|| panic!("no D06 in {all:?}")).fix.clone()
}

/// zsh takes brackets and question marks for a pattern, and ends where no file has such a name.
#[test]
fn an_address_in_a_suggested_command_is_whole_and_quoted() {
    let fix = command_of_d06(&hey("", "http://[::1]:8080/"));
    assert!(fix.contains("`ablaze -c 20 'http://[::1]:8080/'`"), "{fix}");
    let fix = command_of_d06(&hey("", "'http://h:8080/a?b=1&c=2'"));
    assert!(fix.contains("`ablaze -c 20 'http://h:8080/a?b=1&c=2'`"), "{fix}");
    let fix = command_of_d06(&hey("", "http://h:8080/a"));
    assert!(fix.contains("`ablaze -c 20 http://h:8080/a`"), "{fix}");
    // bombardier prints it, in its brackets.
    let text = bombardier("").replace("127.0.0.1", "[::1]");
    let all = found(&text);
    assert_eq!(of(D36, &all), None, "{all:?}");
    assert!(of(D06, &all).unwrap().fix.contains("'http://[::1]:23099/'"), "{all:?}");
}

#[test]
fn what_a_suggested_command_leaves_out_is_said() {
    let plain = command_of_d06(&hey("", "http://h/"));
    assert!(!plain.contains("above"), "{plain}");
    let posted = command_of_d06(&hey("-m POST -D body.json -H 'X: y'", "http://h/"));
    assert!(posted.contains(", with the method, fields and body of the command above"), "{posted}");
    let proxied = command_of_d06(&hey("-x proxy:3128", "http://h/"));
    assert!(proxied.contains(", through the proxy of the command above (--proxy)"), "{proxied}");
    let vegeta = "$ vegeta attack -rate=10 -duration=10s -body=b.json | vegeta report\n\
        Requests      [total, rate, throughput]         100, 10.10, 10.00\n\
        Duration      [total, attack, wait]             9.9s, 9.9s, 2ms\n\
        Latencies     [mean]                            2ms\n\
        Success       [ratio]                           100.00%\nStatus Codes  [code:count]                      200:100\n";
    assert!(command_of_d06(vegeta).contains("body of the command above"), "{vegeta}");
}

fn h2load(options: &str, protocol: &str, mean: &str) -> String {
    format!(
        "$ h2load -n 100000 -c 100 {options} http://127.0.0.1:23099/\nstarting benchmark...\n\
         spawning thread #0: 100 total client(s). 100000 total requests\nApplication protocol: {protocol}\n\n\
         finished in 10.00s, 10000.00 req/s, 1.00MB/s\n\
         requests: 100000 total, 100000 started, 100000 done, 100000 succeeded, 0 failed, 0 errored, 0 timeout\n\
         status codes: 100000 2xx, 0 3xx, 0 4xx, 0 5xx\n\
         traffic: 10.00MB (10485760) total, 1.00MB (1048576) headers (space savings 0.00%), 8.00MB (8388608) data\n                     \
         min         max         mean         sd        +/- sd\n\
         time for request:      100us      15.00ms      {mean}       200us    80.00%\n\
         time for connect:      100us      5.00ms      1.00ms       200us    80.00%\n\
         req/s           :       90.00       110.00       100.00        0.10    90.00%\n"
    )
}

/// Its -r is a rate of connections: requests follow each other on them as fast as they can.
#[test]
fn a_rate_of_connections_is_no_rate_of_requests() {
    let text = h2load("-r 10 --h1", "http/1.1", "1.00ms");
    assert_eq!(of(D01, &found(&text)), None);
    let fix = command_of_d06(&text);
    assert!(!fix.contains("--rate"), "{fix}");
    assert!(fix.contains("its connections opened as slowly (--ramp)"), "{fix}");
    let all = command_of_d06(&h2load("--h1", "http/1.1", "10.00ms"));
    assert!(!all.contains("--ramp") && !all.contains("--rate"), "{all}");
}

#[test]
fn there_are_no_streams_over_http_1() {
    let of_http1 = found(&h2load("-m 10 --h1", "http/1.1", "1.00ms"));
    let cause = &of(D01, &of_http1).unwrap().cause;
    assert!(!cause.contains("stream") && cause.contains("does not tell which"), "{cause}");
    let of_http2 = found(&h2load("-m 10", "h2c", "1.00ms"));
    assert!(of(D01, &of_http2).unwrap().cause.contains("fewer streams"), "{of_http2:?}");
    let failing = |protocol: &str| {
        let text = h2load("--h1", protocol, "10.00ms")
            .replace(
                "100000 succeeded, 0 failed, 0 errored",
                "80000 succeeded, 20000 failed, 20000 errored",
            )
            .replace("status codes: 100000", "status codes: 80000")
            .replace("10000.00 req/s, 1.00MB/s", "8000.00 req/s, 1.00MB/s");
        of(D02, &found(&text)).unwrap().cause.clone()
    };
    assert!(!failing("http/1.1").contains("stream"), "{}", failing("http/1.1"));
    assert!(failing("h2c").contains("a connection or a stream ended"), "{}", failing("h2c"));
}
