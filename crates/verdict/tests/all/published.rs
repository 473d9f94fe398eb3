//! Reports as people publish them: what their tools print of such runs, and what is to be done about them.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::Severity;
use ablaze_verdict::printed::{Report, read};
use ablaze_verdict::rules::{Judged, judge};

fn one(text: &str) -> Judged<Report> {
    let mut reports = judge(&read(text)).reports;
    assert_eq!(reports.len(), 1, "{text}");
    reports.remove(0)
}

fn has(id: DiagnosisId, judged: &Judged<Report>) -> bool {
    judged.findings.iter().any(|finding| finding.id == id)
}

/// Severity, evidence, cause and fix, of a diagnosis that must be there.
fn of(id: DiagnosisId, judged: &Judged<Report>) -> (Severity, [String; 3]) {
    let found = judged.findings.iter().find(|finding| finding.id == id);
    let found = found.unwrap_or_else(|| panic!("no {id} in {:?}", judged.findings));
    (found.severity, [found.evidence.clone(), found.cause.clone(), found.fix.clone()])
}

/// 2,500,000 responses in 50 s, of which hey keeps 1,000,000: 100 / 49,998.8/s = 2.0 ms each.
const HEY: &str = "hey -z 50s -c 100 http://127.0.0.1:8080/\n\nSummary:\n  Total:\t50.0012 secs\n  Slowest:\t0.0412 secs\n\
    \x20 Fastest:\t0.0001 secs\n  Average:\t0.0050 secs\n  Requests/sec:\t49998.8000\n\n  Total data:\t30000000 bytes\n\
    \x20 Size/request:\t30 bytes\n\nLatency distribution:\n  10% in 0.0008 secs\n  25% in 0.0013 secs\n  50% in 0.0018 secs\n\
    \x20 75% in 0.0024 secs\n  90% in 0.0033 secs\n  95% in 0.0039 secs\n  99% in 0.0081 secs\n\n\
    Details (average, fastest, slowest):\n  DNS+dialup:\t0.0000 secs, 0.0001 secs, 0.0412 secs\n\
    \x20 req write:\t0.0002 secs, 0.0000 secs, 0.0119 secs\n  resp wait:\t0.0047 secs, 0.0000 secs, 0.0293 secs\n\
    \x20 resp read:\t0.0001 secs, 0.0000 secs, 0.0188 secs\n\nStatus code distribution:\n  [200]\t1000000 responses\n";

#[test]
fn hey_divides_the_sum_of_all_times_by_the_million_that_it_keeps() {
    let judged = one(HEY);
    for id in [D01, D36, D43] {
        assert!(!has(id, &judged), "{id}: {judged:?}");
    }
    let (severity, [evidence, ..]) = of(D06, &judged);
    assert_eq!(severity, Severity::Note);
    assert!(evidence.contains("2,500,000 responses came"), "{evidence}");
    assert!(
        evidence.contains("5.00 ms × 1,000,000 / 2,500,000 = 2.00 ms is the mean"),
        "{evidence}"
    );
    assert_eq!(judged.subject.body_bytes_per_request(), Some(12.0));
    // Whose average is many times those of its percentiles with all responses kept was edited.
    let kept = HEY.replace("[200]\t1000000", "[200]\t999000").replace("49998.8000", "19979.5205");
    assert!(has(D43, &one(&kept)));
}

/// A script that pipelines 1,024 requests: 254 of 279 batches took longer than 2 s, and no other one ended.
const WRK: &str = "wrk -t4 -c128 -d30s http://localhost:7001 -s pipeline.lua --latency -- /v1/data 1024\n\
    Running 30s test @ http://localhost:7001\n  4 threads and 128 connections\n\
    \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     0.00us    0.00us   0.00us     nan%\n\
    \x20   Req/Sec     2.54k     1.32k    9.52k    71.22%\n  Latency Distribution\n     50%    0.00us\n     75%    0.00us\n\
    \x20    90%    0.00us\n     99%    0.00us\n  286072 requests in 30.09s, 65.75MB read\n\
    \x20 Socket errors: connect 0, read 0, write 0, timeout 254\nRequests/sec:   9505.92\nTransfer/sec:      2.18MB\n";

#[test]
fn times_of_wrk_that_all_read_0_were_not_recorded() {
    let judged = one(WRK);
    let command = judged.subject.command.as_ref().unwrap();
    assert!(command.text.ends_with("--latency"), "{}", command.text);
    let (severity, [evidence, cause, _]) = of(D06, &judged);
    assert_eq!(severity, Severity::Suspect);
    assert!(evidence.contains("wrk recorded none"), "{evidence}");
    assert!(cause.contains("its timeouts are batches"), "{cause}");
    assert!(!cause.contains("those of the others"), "{cause}");
    // Without a script each time is that of a response.
    let each =
        WRK.replace(" -s pipeline.lua --latency -- /v1/data 1024", "").replace("0.00us", "1.20ms");
    let (severity, [evidence, ..]) = of(D06, &one(&each.replace("nan%", "80.00%")));
    assert_eq!(severity, Severity::Note);
    assert!(
        evidence.contains("254 of 286,072 responses took longer") && !evidence.contains("batches"),
        "{evidence}"
    );
}

/// 559/s over 400 connections, of which 12 threads open 396.
fn slow_wrk(options: &str) -> String {
    format!(
        "$ wrk -t12 -c400 {options} http://h:8000\nRunning 30s test @ http://h:8000\n  12 threads and 400 connections\n\
         \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   694.86ms  117.63ms 946.45ms   79.52%\n\
         \x20   Req/Sec    74.56     60.21   320.00     64.56%\n  16792 requests in 30.04s, 1.22MB read\n\
         Requests/sec:    559.00\nTransfer/sec:     41.49KB\n"
    )
}

/// ab without -k, 25.53/s.
const AB: &str = "$ ab -c 100 -n 5000 http://h/\nServer Software:        x\nServer Hostname:        h\n\
    Server Port:            80\n\nDocument Path:          /\nDocument Length:        337 bytes\n\n\
    Concurrency Level:      100\nTime taken for tests:   195.826 seconds\nComplete requests:      5000\n\
    Failed requests:        0\nTotal transferred:      4480000 bytes\nHTML transferred:       1685000 bytes\n\
    Requests per second:    25.53 [#/sec] (mean)\n";

/// However long the run was: what is advised gives 100 requests per connection at its rate.
#[test]
fn an_advised_run_is_never_shorter_than_the_one_it_is_for() {
    let (_, [evidence, _, fix]) = of(D14, &one(&slow_wrk("-d30s")));
    let expected = "16,792 requests, on up to 396 connections at a time, is 42.4 for each of these";
    assert!(evidence.contains(expected), "{evidence}");
    // 30.04 s × 39,600 / 16,792.
    assert!(fix.ends_with("(-d 71s; or fewer connections: -c)."), "{fix}");
    let (_, [evidence, _, fix]) = of(D14, &one(AB));
    assert!(
        evidence.contains("5,000 requests, each on a connection of its own and 100 at a time"),
        "{evidence}"
    );
    assert!(!evidence.contains("per connection"), "{evidence}");
    assert!(fix.contains("for each that is in flight (-t 392 -n 1000000, in this order"), "{fix}");
    assert!(fix.ends_with("; or fewer connections: -c)."), "{fix}");
    // 19 minutes.
    let (_, [_, _, fix]) =
        of(D14, &one(&AB.replace("-c 100", "-c 300").replace(" 100\nTime", " 300\nTime")));
    assert!(fix.ends_with("in flight (fewer connections: -c)."), "{fix}");
    // Its length and its rate are left out.
    let bare = AB.replace("Time taken for tests:   195.826 seconds\n", "");
    let bare = bare.replace("Requests per second:    25.53 [#/sec] (mean)\n", "");
    let (_, [_, _, fix]) = of(D14, &one(&bare));
    assert!(fix.ends_with("for each that is in flight."), "{fix}");
}

#[test]
fn a_command_alone_is_advised_the_number_of_its_requests() {
    let judged = judge(&read("$ ab -k -n 100000 -c 10000 http://h/"));
    let found: Vec<String> =
        judged.commands.iter().flat_map(|c| &c.findings).map(|f| f.fix.clone()).collect();
    assert!(
        found.iter().any(|fix| fix.contains("(-n 1000000: 100 for each of 10,000;")),
        "{found:?}"
    );
}

/// Every request of this attack was ended by its timeout.
#[test]
fn an_attack_without_a_response_has_no_times_that_could_grow() {
    let attack = "Requests      [total, rate, throughput]         6000, 100.02, 0.00\n\
        Duration      [total, attack, wait]             1m30s, 59.99s, 30.001s\n\
        Latencies     [min, mean, 50, 90, 95, 99, max]  30s, 30.001s, 30.001s, 30.001s, 30.001s, 30.001s, 30.021s\n\
        Bytes In      [total, mean]                     0, 0.00\nBytes Out     [total, mean]                     0, 0.00\n\
        Success       [ratio]                           0.00%\nStatus Codes  [code:count]                      0:6000  \n\
        Error Set:\nGet \"https://h/tea\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)\n";
    let judged = one(attack);
    assert!(has(D02, &judged) && !has(D14, &judged), "{judged:?}");
    let some =
        attack.replace("0:6000  ", "0:5990  200:10  ").replace("100.02, 0.00", "100.02, 0.11");
    let some = some.replace("0.00%", "0.17%");
    let (_, [_, _, fix]) = of(D14, &one(&some));
    assert!(!fix.contains("If the times grow"), "{fix}");
}
