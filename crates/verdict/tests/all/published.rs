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
