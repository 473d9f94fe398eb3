//! What stands beside each other: runs of one target or of several, where the text says so.

use ablaze_verdict::DiagnosisId::{D05, D15};
use ablaze_verdict::printed::read;
use ablaze_verdict::rules::judge;
use ablaze_verdict::{Finding, Severity};

/// wrk's report of so many requests per second.
fn wrk(per_s: f64) -> String {
    at(100, per_s)
}

fn at(connections: u64, per_s: f64) -> String {
    format!(
        "Running 30s test @ http://127.0.0.1:8080/\n  4 threads and {connections} connections\n\
         \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
         \x20   Latency  {:.2}us  150.00us   90.00ms   78.12%\n\
         \x20   Req/Sec    {:.2}k   400.00    90.00k    68.33%\n  {} requests in 30.00s, 85.92MB read\n\
         Requests/sec:  {per_s:.2}\nTransfer/sec:      2.86MB\n",
        connections as f64 / per_s * 1e6,
        per_s / 4e3,
        (per_s * 30.0) as u64,
    )
}

fn found(text: &str) -> Vec<Finding> {
    judge(&read(text)).comparisons.into_iter().flat_map(|one| one.findings).collect()
}

fn noise(text: &str) -> Option<Finding> {
    found(text).into_iter().find(|one| one.id == D15)
}

const RUN: &str = "$ wrk -t4 -c100 -d30s http://127.0.0.1:8080/";
const UNSAID: &str = "the text does not say whether they are of one target";

/// The rates lie so far apart that runs of one target would be noted, and those of two compared.
#[test]
fn reports_that_nothing_tells_apart_are_neither_compared_nor_repeats() {
    let (a, b) = (wrk(50_000.0), wrk(71_000.0));
    for text in [
        format!("{a}\n{b}"),
        format!("$ ./nginx-bench.sh\n{a}$ ./caddy-bench.sh\n{b}"),
        format!("$ ./bench.sh\n{a}{b}"),
        format!(
            "$ git checkout main && make && ./server &\n{RUN}\n{a}$ git checkout fast && make && ./server &\n{RUN}\n{b}"
        ),
        format!("{RUN}\n{a}$ systemctl restart other\n{RUN}\n{b}"),
        format!(
            "$ for s in nginx caddy; do docker run -d $s; wrk -t4 -c100 -d30s http://127.0.0.1:8080/; done\n{a}{b}"
        ),
    ] {
        let finding = noise(&text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(finding.evidence, format!("2 reports; {UNSAID}."), "{text}");
    }
    // Other work all the same.
    let text = format!("{}\n{}", at(100, 50_000.0), at(400, 52_000.0));
    assert!(found(&text).iter().any(|one| one.id == D05), "{:?}", found(&text));
}

#[test]
fn runs_are_of_one_target_where_the_text_says_so() {
    let [a, b, c] = [50_000.0, 60_000.0, 55_000.0].map(wrk);
    for text in [
        format!("{RUN}\n{a}{RUN}\n{b}{RUN}\n{c}"),
        format!("{RUN}\n{a}$ sleep 10\n$ uname -a\nLinux\n\n{RUN}\n{b}{RUN}\n{c}"),
        format!("$ for i in 1 2 3; do ./bench.sh; done\n{a}{b}{c}"),
        format!("$ ./bench.sh\n{a}$ ./bench.sh\n{b}$ ./bench.sh\n{c}"),
        format!("run 1\n{a}run 2\n{b}run 3\n{c}"),
        format!("## nginx\n{a}{b}{c}"),
    ] {
        let finding = noise(&text).unwrap_or_else(|| panic!("{text}"));
        assert!(finding.evidence.starts_with("3 runs of report 1 ranged"), "{text}: {finding:?}");
    }
}

/// One output under two names.
#[test]
fn figures_that_are_the_same_to_the_last_digit_are_of_one_run() {
    let text = format!("## A\n{}## B\n{}", wrk(50_000.0), wrk(50_000.0));
    let finding = noise(&text).unwrap();
    assert_eq!(finding.evidence, "report 1 and report 2 are the same to the last digit.");
    assert_eq!(finding.severity, Severity::Suspect);
}

/// Each is with its own kind: at the same concurrency.
#[test]
fn targets_are_compared_at_the_same_concurrency() {
    let text = format!(
        "## A\n### c=100\n{}### c=200\n{}## B\n### c=100\n{}### c=200\n{}",
        at(100, 20_000.0),
        at(200, 20_900.0),
        at(100, 20_400.0),
        at(200, 30_000.0)
    );
    let evidence = noise(&text).unwrap().evidence;
    assert!(
        evidence.starts_with("Only one run of each of the 4 kinds of work of 2 targets is"),
        "{evidence}"
    );
    assert!(
        evidence.contains("report 1 and report 3 (20,000 and 20,400/s) differ by 2.0 %"),
        "{evidence}"
    );
    // 20,400 and 20,900/s are nearer neighbours.
    assert!(!evidence.contains("report 2"), "{evidence}");
}

/// What was asked for is no difference of targets.
#[test]
fn rates_that_were_asked_for_are_not_compared() {
    let vegeta = |throughput: f64, mean: f64| {
        format!(
            "Requests      [total, rate, throughput]         30000, 1000.03, {throughput:.2}\n\
             Duration      [total, attack, wait]             30s, 29.999s, 762.8µs\n\
             Latencies     [min, mean, 50, 90, 95, 99, max]  500µs, {mean}µs, 700µs, 900µs, 1ms, 2ms, 30ms\n\
             Bytes In      [total, mean]                     4800000, 160.00\n\
             Bytes Out     [total, mean]                     0, 0.00\n\
             Success       [ratio]                           100.00%\nStatus Codes  [code:count]                      200:30000  \n\
             Error Set:\n"
        )
    };
    let text = format!("## latte\n{}## coffee\n{}", vegeta(1000.0, 770.0), vegeta(1000.0, 812.0));
    let finding = noise(&text).unwrap();
    assert!(!finding.evidence.contains("differ by"), "{finding:?}");
    assert!(finding.fix.starts_with("Compare the times"), "{finding:?}");
    assert_eq!(finding.severity, Severity::Note);
    // One that keeps up, and one that does not.
    let slower = vegeta(990.0, 812.0).replace("1000.03, 990.00", "2000.03, 990.00");
    let other = format!("## latte\n{}## coffee\n{slower}", vegeta(1000.0, 770.0));
    assert!(!noise(&other).unwrap().evidence.contains("differ by"), "{:?}", noise(&other));
    // Users that pause.
    let siege = |per_s: f64, path: &str| {
        format!(
            "$ siege -d 1 -c 2 -t 1M http://h/{path}\nTransactions:\t\t{:.0} hits\nAvailability:\t\t      100.00 %\n\
             Elapsed time:\t\t       60.00 secs\nTransaction rate:\t{per_s:.2} trans/sec\nConcurrency:\t\t        0.04\n\
             Failed transactions:\t           0\n",
            per_s * 60.0
        )
    };
    let text = format!("{}{}", siege(2.95, "cio"), siege(3.87, "apache"));
    assert!(!noise(&text).unwrap().evidence.contains(" / "), "{:?}", noise(&text));
}

/// Titles may differ in their last words alone.
#[test]
fn long_titles_are_told_apart_by_all_of_their_words() {
    let text = format!(
        "With command `cargo run --release --example axum` we got:\n\n{}\n\
         With command `cargo run --release --example axum --features local` we got:\n\n{}",
        wrk(50_000.0),
        wrk(71_000.0)
    );
    let evidence = noise(&text).unwrap().evidence;
    assert!(
        evidence.starts_with("Only one run of each of the two is shown. 71,000 /"),
        "{evidence}"
    );
}

/// ab makes it of concurrency and rate.
#[test]
fn a_concurrency_that_is_left_out_follows_from_ab_s_time_per_request() {
    let ab = |rate: f64, ms: f64| {
        format!(
            "Requests per second:    {rate:.2} [#/sec] (mean)\nTime per request:       {ms:.3} [ms] (mean)\n"
        )
    };
    let text = format!("## Light\n{}## Medium\n{}", ab(288.97, 86.515), ab(256.74, 194.750));
    let asked: Vec<_> = read(&text).reports.iter().map(|report| report.asked()).collect();
    assert_eq!(asked, [Some(25), Some(50)]);
    let difference = found(&text).into_iter().find(|one| one.id == D05).unwrap().evidence;
    assert!(difference.contains("a concurrency of 25 against 50"), "{difference}");
    assert!(!noise(&text).unwrap().evidence.contains("differ by"), "{:?}", noise(&text));
    // No whole number, and more than one.
    for (rate, ms) in [(288.97, 88.0), (2_500_000.0, 400.0)] {
        assert_eq!(read(&ab(rate, ms)).reports[0].asked(), None, "{rate}");
    }
}

/// A number in the name of a file, or no word at all, beside another target.
#[test]
fn reports_that_may_be_runs_of_either_are_not_compared() {
    let text = format!("{}\n{}\n## caddy\n{}", wrk(50_000.0), wrk(49_000.0), wrk(48_000.0));
    let finding = noise(&text).unwrap();
    assert_eq!(
        finding.evidence,
        "3 reports; the text does not say which of them are of one target."
    );
    assert_eq!(finding.severity, Severity::Note);
}
