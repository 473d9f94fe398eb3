//! What reports are named after: words that somebody wrote above one, and none that a tool printed.

use ablaze_verdict::printed::read;

const PRINTED: [&str; 9] = [
    include_str!("../printed/real-bombardier.txt"),
    include_str!("../printed/real-h2load-2.txt"),
    include_str!("../printed/real-siege.txt"),
    include_str!("../printed/real-vegeta.txt"),
    include_str!("../printed/real-wrk-2.txt"),
    include_str!("../printed/real-wrk2.txt"),
    include_str!("../printed/real-ab-2.txt"),
    include_str!("../printed/real-ablaze-ab.txt"),
    include_str!("../printed/peers.txt"),
];

/// Nobody wrote a word between these.
#[test]
fn what_a_tool_printed_is_no_title() {
    for text in PRINTED {
        for report in read(text).reports {
            // `ablaze:` is what ablaze says of the run, on stderr.
            let label = report.label.filter(|label| !label.starts_with("ablaze: "));
            assert_eq!(label, None, "line {} of {}", report.line, text.lines().next().unwrap());
        }
    }
}

const SIEGE: &str = "$ siege -b -c 50 -t 30S http://10.0.0.5:8080/\n** SIEGE 4.0.4\n\
    ** Preparing 50 concurrent users for battle.\nThe server is now under siege...\n\
    HTTP/1.1 200     0.00 secs:     612 bytes ==> GET  /\n\
    [error] socket: unable to connect sock.c:282: Connection refused\n\nLifting the server siege...\n\
    Transactions:\t\t       14784 hits\nAvailability:\t\t      100.00 %\nElapsed time:\t\t       29.27 secs\n\
    Transaction rate:\t      505.09 trans/sec\nConcurrency:\t\t       49.94\nFailed transactions:\t           1\n";

#[test]
fn siege_announces_its_report_and_does_not_name_it() {
    let label = |text: &str| {
        let mut reports = read(text).reports;
        assert_eq!(reports.len(), 1, "{text}");
        reports.remove(0).label
    };
    assert_eq!(label(SIEGE), None);
    assert_eq!(label(&format!("## nginx\n{SIEGE}")), Some("nginx".to_owned()));
    assert_eq!(label(&SIEGE.replace("...\nTrans", "...^C\nTrans")), None);
    // An interrupt is typed beside what the tool prints.
    let ab = "$ ab -n 1000 -c 10 http://h/\nBenchmarking h (be patient)\n^C\n\nConcurrency Level:      10\n\
              Complete requests:      120\nRequests per second:    10.00 [#/sec] (mean)\n";
    assert_eq!(label(ab), None);
    // `time` and `date` of a script name nothing either.
    let ab = &ab[ab.find("Benchmarking").unwrap()..];
    assert_eq!(label(&format!("real\t0m3.204s\nuser\t0m0.100s\nsys\t0m3.200s\n{ab}")), None);
    assert_eq!(label(&format!("Mon Nov 21 10:00:01 UTC 2026\n{ab}")), None);
    assert_eq!(label(&format!("real life\n{ab}")), Some("real life".to_owned()));
}
