//! What is said of reports of which a part is missing or that were stopped: what was seen, and no more.

use ablaze_verdict::DiagnosisId::{self, D01, D36};
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
