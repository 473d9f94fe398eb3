//! Kinds of input of which wrong things were said: what a log puts before a line, the last lines of a report, another tool's
//! command above it, a run that was stopped, statuses of no class, warm-ups. The texts are what the tools printed.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::Finding;
use ablaze_verdict::printed::{Report, Text, Tool, read, shown_label};
use ablaze_verdict::rules::{Judgement, judge};

const BOMBARDIER: &str = include_str!("../printed/real-bombardier.txt");
const H2LOAD: &str = include_str!("../printed/real-h2load-3.txt");
const HEY: &str = include_str!("../printed/real-hey.txt");
const REAL: [&str; 5] = [
    include_str!("../printed/real-ab.txt"),
    include_str!("../printed/real-wrk.txt"),
    include_str!("../printed/real-h2load.txt"),
    HEY,
    include_str!("../printed/real-siege.txt"),
];

const WRK: &str = "Running 2s test @ http://127.0.0.1:24811/\n\
    \x20 2 threads and 10 connections\n\
    \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n\
    \x20   Latency     3.10ms   15.36ms 154.85ms   96.66%\n\
    \x20   Req/Sec    35.47k    15.19k   69.40k    70.00%\n\
    \x20 Latency Distribution\n\
    \x20    50%  102.00us\n\
    \x20    75%  252.00us\n\
    \x20    90%    2.52ms\n\
    \x20    99%  100.52ms\n\
    \x20 141294 requests in 2.07s, 19.81MB read\n\
    Requests/sec:  68419.00\n\
    Transfer/sec:      9.59MB\n\
    ";

/// Each run of a text of them, with its command.
fn runs(text: &str) -> Vec<String> {
    let runs = text.split("\n$ ").map(|run| run.trim_start_matches("$ "));
    runs.map(|run| format!("$ {}\n", run.trim_end())).collect()
}

fn run(text: &str, command: &str) -> String {
    let all = runs(text);
    all.into_iter().find(|run| run.starts_with(command)).unwrap_or_else(|| panic!("no {command}"))
}

fn judged(text: &str) -> Judgement {
    judge(&read(text))
}

fn one(text: &str) -> (Report, Vec<Finding>) {
    let mut reports = judged(text).reports;
    assert_eq!(reports.len(), 1, "{text}");
    let report = reports.remove(0);
    (report.subject, report.findings)
}

fn of(id: DiagnosisId, findings: &[Finding]) -> Option<String> {
    let found = findings.iter().find(|finding| finding.id == id);
    found.map(|found| format!("{} {} {}", found.evidence, found.cause, found.fix))
}

fn has(id: DiagnosisId, findings: &[Finding]) -> bool {
    of(id, findings).is_some()
}

/// A processor was lent to it 12 ms of 102: its samples have a mean of 19,592/s, and the run had 5,517/s.
#[test]
fn the_mean_of_bombardier_s_samples_is_not_the_rate_of_the_run() {
    let commands = ["$ bombardier -c 20 -n 30000 http", "$ bombardier -c 20 -n 30000 -o json"];
    for (command, (least, most)) in commands.into_iter().zip([(5.0, 6.0), (6.0, 7.0)]) {
        let text = run(BOMBARDIER, command);
        let (report, findings) = one(&text);
        assert_eq!(report.complete, Some(30_000), "{text}");
        assert!(!has(D43, &findings) && !has(D36, &findings), "{findings:?}");
        let per_s = ablaze_verdict::rules::rate_over_all(&report).unwrap();
        assert!((least..=most).contains(&(30_000.0 / per_s)), "{per_s}");
    }
    // Without the progress its connections were busy for as long; by the mean of samples it took 1.53 s.
    let text = run(BOMBARDIER, commands[0]);
    let without: Vec<&str> = text.lines().filter(|line| !line.contains(" / ")).collect();
    let (report, findings) = one(&without.join("\n"));
    assert_eq!((report.complete, of(D14, &findings)), (Some(30_000), None));
    let said = of(D14, &one(&run(BOMBARDIER, "$ bombardier -c 500 -n 10000 -p r ")).1).unwrap();
    assert!(said.contains("which is a mean of samples, the run took about 1.00 s"), "{said}");
    // A second by its progress; by the mean of samples less.
    let short = run(BOMBARDIER, "$ bombardier -c 1 -n 1000 ");
    assert!(of(D14, &one(&short).1).unwrap().contains("By its progress the run took about 201 ms"));
    // No sample is further from the mean than so many with that deviation can have one.
    let edited = text.replace("23108.35", "208.35");
    assert!(of(D43, &one(&edited).1).unwrap().contains("the deviation of Reqs/sec"), "{edited}");
    let edited = text.replace("80491.93", "5000.00");
    assert!(has(D43, &one(&edited).1));
}

/// A name stands behind the time, in many signs.
#[test]
fn names_behind_the_time_of_a_log_are_no_words_of_a_report() {
    for prefix in [
        "2026-01-02 10:00:00 bench-3 ",
        "2026-01-02 10:00:00 UTC bench-3 ",
        "2026-01-02T10:00:00+00:00 host app[123]: ",
        "2026-01-02 10:00:00,123 [bench-3] INFO ",
        "2026-01-02 10:00:00.123 INFO bench-3 - ",
        "2026-01-02 10:00:00 - bench-3 - INFO - ",
        "Jan 02 10:00:00 host app[123]: ",
        "Jan 02 10:00:00 host app: ",
        "Jan  2 10:00:00 host app[123] ",
        "<14>Jan  2 10:00:00 host app[1]: ",
        "Fri Jan  2 10:00:00 2026 ",
        "Fri Jan  2 10:00:00 UTC 2026: ",
        "[10:00:00] runner | ",
        "[10:00:00][runner] ",
        "10:00:00 runner> ",
        "10:00:00 bench-3: ",
        "[bench-3] ",
        "bench-3: ",
    ] {
        for text in REAL.iter().map(|text| runs(text).remove(0)) {
            // What is judged of it is the same as without, line by line.
            let logged: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
            assert_eq!(read(&logged), read(&text), "{prefix:?}");
            // And where blanks at the end of a line go.
            let trimmed: String =
                logged.lines().map(|line| format!("{}\n", line.trim_end())).collect();
            assert_eq!(read(&trimmed), read(&text), "{prefix:?}");
        }
    }
    // What tools print line after line is no name: the threads of h2load, the errors of its connections, a loop's labels.
    let threads: String = (0..5)
        .map(|at| {
            format!("10:00:00 spawning thread #{at}: 2 total client(s). 100 total requests\n")
        })
        .collect();
    let text = format!(
        "10:00:00 starting benchmark...\n{threads}10:00:01 finished in 1.00s, 100.00 req/s, 1.00KB/s\n\
         10:00:01 requests: 100 total, 100 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout\n"
    );
    assert_eq!(one(&text).0.clients, Some(10));
    // A count behind a time is no year.
    let counts = format!(
        "Jan  2 10:00:00 {}\nJan  2 10:00:00 5000 requests in 2.00s, 1.00MB read\n",
        "Running 2s test @ http://h/"
    );
    assert_eq!(one(&counts).0.complete, Some(5000));
    let rates = "10:00:00 Requests per second:    7837.42 [#/sec] (mean)\n".repeat(5);
    assert_eq!(read(&rates).rates.len(), 5);
}

/// `wrk … | tail -n 5`, from the whole of it to its rate.
#[test]
fn the_last_lines_of_a_report_of_wrk_are_read_for_what_they_are() {
    let lines: Vec<&str> = WRK.lines().collect();
    for count in 3..=lines.len() {
        let last = format!("{}\n", lines[lines.len() - count..].join("\n"));
        for command in ["", "$ wrk -t2 -c10 -d2s --latency http://127.0.0.1:24811/ | tail\n"] {
            let (report, findings) = one(&format!("{command}{last}"));
            assert_eq!((report.tool, report.complete), (Tool::Wrk, Some(141_294)), "{last}");
            assert_eq!(report.rate_per_s.unwrap().value, 68_419.0);
            assert!(!has(D43, &findings) && !has(D36, &findings), "{findings:?}");
            let with_row = count >= 10;
            assert_eq!(report.mean_ms().is_some(), with_row, "{last}");
            // What is there is not said to be missing.
            let percentiles = (count - 3).min(4);
            assert_eq!(report.percentiles.len(), percentiles, "{last}");
            let printed = if command.is_empty() { None } else { Some(10) };
            let clients = if count >= 12 { Some(10) } else { printed };
            assert_eq!(report.asked(), clients, "{last}");
        }
    }
    // One below the other, without what is above.
    let tail = lines[lines.len() - 5..].join("\n");
    assert_eq!(read(&format!("{tail}\n{tail}\n")).reports.len(), 2);
    // Errors are printed between the counts and the rate.
    let errors =
        "  Non-2xx or 3xx responses: 100\nRequests/sec:  68419.00\nTransfer/sec:      9.59MB\n";
    let (report, _) = one(errors);
    assert_eq!((report.complete, report.non_2xx), (None, Some(100)));
}

/// Options of ab above what wrk printed, and the other way round.
#[test]
fn a_command_of_another_tool_is_not_that_of_the_report() {
    let ab = runs(REAL[0]).remove(0);
    let (_, ab) = ab.split_once('\n').unwrap();
    for text in [
        format!("$ ab -k -c 50 -n 20000 http://127.0.0.1:9999/x\n{WRK}"),
        format!("ab -c 50 -n 20000 http://127.0.0.1:9999/x\n\n```\n{WRK}```\n"),
        format!("$ wrk -t8 -c100 -d30s http://127.0.0.1:9999/x\n{ab}"),
        format!("$ h2load -c 7 -n 100 http://127.0.0.1:9999/x\n{ab}"),
    ] {
        let (report, findings) = one(&text);
        assert_eq!(report.command, None, "{text}");
        assert!(report.port != Some(9999) && !has(D36, &findings), "{findings:?}");
        let said = findings.iter().map(|one| format!("{one:?}")).collect::<String>();
        assert!(!said.contains("9999") && !said.contains("-c 50"), "{said}");
    }
    // Nor of one that began, and printed no more.
    let begun = format!(
        "$ ab -k -c 50 -n 20000 http://127.0.0.1:9999/x\n{}",
        &WRK[..WRK.find("  Thread").unwrap()]
    );
    let begun = judged(&begun).begun;
    assert_eq!((begun[0].tool, &begun[0].command), (Tool::Wrk, &None));
}

/// /, /a and /b in turn; only the first is there.
#[test]
fn h2load_with_several_urls_is_held_against_none_of_them_alone() {
    let text = run(H2LOAD, "$ h2load -n 20000 -c 10 --h1 http://127.0.0.1:24811/ http");
    let (report, findings) = one(&text);
    let command = report.command.as_ref().unwrap();
    assert!(command.has_more_urls && command.text.ends_with("24811/b"), "{command:?}");
    assert_eq!((report.port, report.path.as_deref()), (Some(24_811), None));
    let pages = of(D04, &findings).unwrap();
    assert!(pages.contains("of each URL of the command"), "{pages}");
    assert!(!pages.contains("`curl -i http"), "{pages}");
    let coarse = of(D06, &findings).unwrap();
    assert!(coarse.contains("with the URLs of the command above (--urls)"), "{coarse}");
    assert!(!has(D36, &findings) && !has(D43, &findings), "{findings:?}");
}

/// Statuses from 600 on are in no class of h2load's, those below 200 are among 3xx.
#[test]
fn statuses_that_h2load_has_no_class_for_contradict_nothing() {
    for (port, others, all) in
        [(24_821, 2000, 2000), (24_822, 1000, 2000), (24_825, 1333, 2000), (24_823, 2000, 2000)]
    {
        let text = run(H2LOAD, &format!("$ h2load --h1 -n 2000 -c 10 http://127.0.0.1:{port}/"));
        let (report, findings) = one(&text);
        assert!(!has(D43, &findings), "{findings:?}");
        assert_eq!((report.complete, report.non_2xx), (Some(all), Some(others)), "{text}");
        let said = of(D04, &findings).unwrap();
        assert_eq!(said.contains("or have a status below 200"), port == 24_823, "{said}");
        assert_eq!(said.contains("none of 2xx to 5xx"), port != 24_823, "{said}");
    }
    let by_time = run(H2LOAD, "$ h2load --h1 -D 1 ");
    let (report, findings) = one(&by_time);
    assert!(!has(D43, &findings), "{findings:?}");
    assert_eq!(report.non_2xx, Some(22_059));
    // Where all are in a class, those are all.
    let edited = run(H2LOAD, "$ h2load --h1 -n 2000 -c 10 http://127.0.0.1:24823/")
        .replace("2000 succeeded, 0 failed", "1900 succeeded, 100 failed");
    assert!(has(D43, &one(&edited).1));
}

fn siege(command: &str, elapsed_s: f64, rate: f64) -> String {
    format!(
        "$ {command}\n\n{{\t\"transactions\":\t\t\t         619,\n\t\"availability\":\t\t\t      100.00,\n\
         \t\"elapsed_time\":\t\t\t        {elapsed_s:.2},\n\t\"data_transferred\":\t\t        0.01,\n\
         \t\"response_time\":\t\t        0.03,\n\t\"transaction_rate\":\t\t      {rate:.2},\n\
         \t\"throughput\":\t\t\t        0.00,\n\t\"concurrency\":\t\t\t        {:.2},\n\
         \t\"successful_transactions\":\t         619,\n\t\"failed_transactions\":\t\t           0,\n\
         \t\"longest_transaction\":\t\t        0.83,\n\t\"shortest_transaction\":\t\t        0.00\n}}\n",
        619.0 * 0.03 / elapsed_s
    )
}

/// siege 4.0.7 takes a time without a letter for minutes: `-t 2` was under way after 8 s, and ended after 120.
#[test]
fn siege_s_times_have_its_units_and_a_run_may_be_stopped() {
    for (time, asked_s) in [
        ("-t 1M", 60.0),
        ("-t 1m", 60.0),
        ("-t 30S", 30.0),
        ("-t30s", 30.0),
        ("--time=1H", 3600.0),
        ("-t 2", 120.0),
        ("-t5", 300.0),
    ] {
        let line = format!("siege -b -c 10 {time} http://127.0.0.1:24811/");
        // Ctrl-C after two seconds, and to its end.
        for (elapsed_s, rate) in [(2.26, 273.89), (asked_s - 0.5, 619.0 / (asked_s - 0.5))] {
            let (report, findings) = one(&siege(&line, elapsed_s, rate));
            assert_eq!(report.command.as_ref().unwrap().duration_s, Some(asked_s), "{line}");
            assert!(!has(D36, &findings) && !has(D43, &findings), "{line}: {findings:?}");
        }
    }
    let longer = siege("siege -b -c 10 -t 2S http://127.0.0.1:24811/", 119.5, 5.18);
    assert!(has(D36, &one(&longer).1));
}

/// Printed by hey: the means of the phases are rounded each by itself, and that of waiting begins elsewhere.
#[test]
fn the_phases_of_hey_may_be_more_than_the_whole() {
    let text = run(HEY, "$ hey -n 1000 -c 1 ");
    let (report, _) = one(&text);
    let mean_s = report.mean_ms().unwrap().value / 1e3;
    let line = text.lines().find(|line| line.trim().starts_with("resp wait:")).unwrap();
    let longer =
        format!("  resp wait:\t{:.4} secs, 0.0000 secs, {:.4} secs", mean_s + 1e-4, mean_s + 2e-4);
    assert!(!has(D43, &one(&text.replace(line, &longer)).1));
    assert!(!has(D43, &one(&text).1));
}

fn labels(text: &Text) -> Vec<String> {
    text.reports.iter().map(|report| report.label.clone().unwrap_or_default()).collect()
}

/// What warmed up is not set beside what was measured, and each has its own name.
#[test]
fn a_warm_up_and_the_run_have_different_names() {
    let again = WRK.replace("68419.00", "68100.00").replace("2.07s", "2.08s");
    for (first, second) in [
        ("warmup\n", "run\n"),
        ("warmup:\n", "run 1:\n"),
        ("warmup:\n", "run 1\n"),
        ("--- warmup\n", "--- run 1\n"),
        ("=== Warm-up ===\n", "=== run ===\n"),
        ("# warmup\n", "# run\n"),
        ("run 0 (warmup)\n", "run 1\n"),
        (
            "$ wrk -t2 -c10 -d2s --latency http://127.0.0.1:24811/ # warm-up\n",
            "$ wrk -t2 -c10 -d2s --latency http://127.0.0.1:24811/ # run\n",
        ),
    ] {
        let text = format!("{first}{WRK}\n{second}{again}");
        let read = read(&text);
        let names = labels(&read);
        assert_eq!(names.len(), 2, "{text}");
        assert!(names[0].to_lowercase().replace('-', "").contains("warmup"), "{names:?}");
        assert!(!names[1].to_lowercase().replace('-', "").contains("warmup"), "{names:?}");
        assert!(judge(&read).comparisons.is_empty(), "{first}");
    }
    // All below one title are warm-ups.
    let numbered = format!("Warmup:\nrun 1\n{WRK}run 2\n{again}");
    assert_eq!(labels(&read(&numbered)), ["Warmup, run 1", "Warmup, run 2"]);
    // Rates alone.
    let rates = "warmup: Requests per second:    7837.42 [#/sec] (mean)\n\
                 run: Requests per second:    9837.42 [#/sec] (mean)\n";
    assert!(judged(rates).comparisons.is_empty());
    let of_wrk = "$ wrk -d2s http://h/ | grep Requests\nwarmup\nRequests/sec:  100.00\nrun\nRequests/sec:  200.00\n";
    assert!(judged(of_wrk).comparisons.is_empty());
    // Two long names that differ in their last words.
    let long = "nginx 1.29 with four workers and keepalive, ";
    let (one, other) = (format!("{long}warmup"), format!("{long}run"));
    assert_ne!(shown_label(&one), shown_label(&other));
}

/// 0 is hey's own default: no limit.
#[test]
fn a_rate_of_0_is_no_limit() {
    let text = run(HEY, "$ hey -n 1000 -c 1 ").replace("hey -n", "hey -q 0 -n");
    let (report, findings) = one(&text);
    assert_eq!(report.asked_per_s(), None);
    assert!(!has(D36, &findings), "{findings:?}");
    assert!(of(D06, &findings).is_none_or(|said| !said.contains("--rate")), "{findings:?}");
}

/// wrk's clock went back; that it was told 60 s it says itself (wg/wrk#327).
#[test]
fn a_report_that_names_its_command_s_length_is_of_that_command() {
    let text = "$ wrk --latency -d 60 -c 128 --timeout 8 -t 8 http://localhost:28080/servlet/db\n\
        Running 1m test @ http://localhost:28080/servlet/db\n  8 threads and 128 connections\n\
        \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   210.88ms  289.85ms   3.79s    84.62%\n\
        \x20   Req/Sec    75.44     40.51   260.00     67.23%\n\
        \x20 35951 requests in 307445734491.24m, 5.51MB read\nRequests/sec:      0.00\nTransfer/sec:       0.00B\n";
    assert!(!has(D36, &one(text).1));
}

/// siege's mean is the time of all requests by the number of those that did not fail: against a server that fails half of
/// them, and one that fails all.
#[test]
fn failures_of_siege_are_in_its_mean_and_in_no_other_figure() {
    let report = |figures: [&str; 9]| {
        let [hits, availability, elapsed, mean, rate, concurrency, failed, longest, shortest] =
            figures;
        format!(
            "{{\t\"transactions\":\t\t\t{hits},\n\t\"availability\":\t\t\t{availability},\n\t\"elapsed_time\":\t\t\t{elapsed},\n\
             \t\"data_transferred\":\t\t0.00,\n\t\"response_time\":\t\t{mean},\n\t\"transaction_rate\":\t\t{rate},\n\
             \t\"throughput\":\t\t\t0.00,\n\t\"concurrency\":\t\t\t{concurrency},\n\t\"successful_transactions\":\t{hits},\n\
             \t\"failed_transactions\":\t\t{failed},\n\t\"longest_transaction\":\t\t{longest},\n\
             \t\"shortest_transaction\":\t\t{shortest}\n}}\n"
        )
    };
    let half = report(["50", "50.00", "1.58", "0.12", "31.65", "3.93", "50", "0.11", "0.02"]);
    assert!(!has(D43, &one(&half).1));
    let all = report(["0", "0.00", "0.10", "0.00", "0.00", "4.40", "200", "0.02", "0.00"]);
    assert!(!has(D43, &one(&all).1));
}
