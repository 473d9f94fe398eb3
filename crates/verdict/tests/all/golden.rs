//! What must be said, and what must not be said, of reports that people have published. The
//! expected figures were worked out by hand from the printed ones.

use ablaze_verdict::DiagnosisId::{self, *};
use ablaze_verdict::printed::{Report, Tool, read};
use ablaze_verdict::rules::{Judged, Judgement, judge};
use ablaze_verdict::{Finding, Severity, Verdict};

const GURL_AND_AB: &str = include_str!("../printed/000-gurl-and-ab.txt");
const ANNOTATED: &str = include_str!("../printed/001-annotated.txt");
const LONE_RATES: &str = include_str!("../printed/001-rates.txt");
const THREE_SERVERS: &str = include_str!("../printed/002-three-servers.txt");
const ROUTN_AND_NGINX: &str = include_str!("../printed/003-routn-and-nginx.txt");
const SWEEPS: &str = include_str!("../printed/004-sweep.txt");

fn judged(text: &str) -> Judgement {
    judge(&read(text))
}

fn ids(findings: &[Finding]) -> Vec<DiagnosisId> {
    let mut ids: Vec<DiagnosisId> = findings.iter().map(|finding| finding.id).collect();
    ids.sort_unstable();
    ids
}

/// The finding, whose text must have all these parts.
fn expect<'a, T>(judged: &'a Judged<T>, id: DiagnosisId, parts: &[&str]) -> &'a Finding {
    let finding = judged.findings.iter().find(|finding| finding.id == id);
    let finding = finding.unwrap_or_else(|| panic!("no {id} among {:?}", ids(&judged.findings)));
    for part in parts {
        assert!(finding.evidence.contains(part), "{id}: no {part:?} in {:?}", finding.evidence);
    }
    finding
}

#[test]
fn gurl_beside_ab() {
    let judgement = judged(GURL_AND_AB);
    let [gurl, ab] = judgement.reports.as_slice() else { panic!("two reports") };
    assert_eq!((gurl.subject.tool, ab.subject.tool), (Tool::Gurl, Tool::Ab));
    // 21 / 129,741.42; 137,000,000 / 7.708 / 1024.
    assert_eq!(ids(&gurl.findings), [D06, D31]);
    expect(gurl, D06, &["21 / 129,741.42/s = 162 µs", "median reads 0 ms"]);
    expect(gurl, D31, &["17,357 KiB/s", "17,774.57"]);
    // 0.35² to 0.45² × 999,999 / 211².
    assert_eq!(ids(&ab.findings), [D06, D09]);
    expect(ab, D06, &["21 / 30,029.76/s = 699 µs"]);
    expect(ab, D09, &["211 ms more", "2.75 to 4.55"]);
    let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
    assert_eq!(ids(&comparison.findings), [D05, D15]);
    expect(comparison, D05, &["unknown (gurl does not print", "one per request (no -k)"]);
    expect(comparison, D15, &["Only one run of each", "= 4.32"]);
}

#[test]
fn a_report_with_remarks_between_its_lines() {
    let judgement = judged(ANNOTATED);
    let [report] = judgement.reports.as_slice() else { panic!("one report") };
    assert_eq!(report.subject.complete, Some(1000));
    assert_eq!(report.subject.server.as_deref(), Some("Apache/2.2.25"));
    assert_eq!(report.subject.command.as_ref().unwrap().requests, Some(1000));
    assert_eq!(ids(&report.findings), [D06, D14]);
    expect(report, D06, &["No percentiles", "24.701 ms is a mean"]);
    expect(report, D14, &["0.247 s"]);
    assert!(judgement.comparisons.is_empty());
}

#[test]
fn rates_that_stand_alone() {
    let judgement = judged(LONE_RATES);
    let [large, small] = judgement.comparisons.as_slice() else { panic!("two comparisons") };
    // 1 / 42.56 s - 1 / 48.55 s; 1 / 745.30 s - 1 / 927.56 s.
    for (comparison, gap) in [(large, "2,899 µs"), (small, "264 µs")] {
        assert_eq!(ids(&comparison.findings), [D14, D15]);
        expect(comparison, D15, &["Only one run of each", gap]);
        expect(comparison, D14, &["one connection"]);
        assert_eq!(comparison.verdict(), Verdict::Suspect);
    }
    assert_eq!(large.subject.members[1].name, "ET");
}

#[test]
fn servers_that_do_not_answer_and_one_that_echoes() {
    let judgement = judged(THREE_SERVERS);
    let [third, first, second] = judgement.reports.as_slice() else { panic!("three reports") };
    for (silent, in_flight, each) in
        [(third, "less than 4.86", "103.0 µs"), (first, "8.32", "60.1 µs")]
    {
        assert_eq!(ids(&silent.findings), [D01, D02, D06]);
        assert_eq!(silent.verdict(), Verdict::Invalid);
        expect(silent, D02, &["0 bytes came back for 100,000", each]);
        let concurrency = expect(silent, D01, &[in_flight, "1,000 were requested"]);
        assert_eq!(concurrency.explained_by, Some(D02));
    }
    // Its thousand were in flight, and its times are fine enough.
    assert_eq!(ids(&second.findings), [D03, D04]);
    expect(second, D03, &["83 B per request", "has 83 B"]);
    assert_eq!(expect(second, D04, &["None of 100,000 responses"]).explained_by, Some(D03));
    let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
    assert_eq!(ids(&comparison.findings), [D05, D15]);
    assert_eq!(comparison.verdict(), Verdict::Invalid);
    expect(
        comparison,
        D05,
        &[
            "reports 1 and 2 against report 3",
            "0 B per response against 83 B",
            "in flight against 1,000",
        ],
    );
}

#[test]
fn error_pages_stalls_and_a_control_of_another_kind() {
    let judgement = judged(ROUTN_AND_NGINX);
    assert_eq!(judgement.reports.len(), 8);
    let report = |number: usize| &judgement.reports[number - 1];
    // (deviation)² × 999,999 / (longest - mean)², and the share of the run that the stalls took.
    // Little's law excludes idle connections at the end of the first two, and of the others not: 16,286.60/s × 11.5 ms
    // is 187 of 200, and a run of 61.4 s leaves the last request the time that the longest took.
    let stalls = [
        (1, "200.4", "all 200 once", "6.2 %"),
        (2, "393.5", "two stalls", "10 %"),
        (3, "199.9", "as many as one stall of all 200", "5.7 %"),
        (6, "348.7", "as many as two stalls of all 200", "8.4 %"),
    ];
    for (number, slow, how, lost) in stalls {
        expect(report(number), D07, &[slow, how, lost]);
    }
    for number in [1, 2, 3] {
        assert_eq!(ids(&report(number).findings), [D04, D07]);
    }
    assert_eq!(ids(&report(6).findings), [D07]);
    for number in [4, 5] {
        assert_eq!(ids(&report(number).findings), [D04, D06]);
    }
    assert_eq!(ids(&report(7).findings), [D04, D06, D18]);
    expect(report(7), D18, &["9,907 closes", "100.9", "326 × 1,000,000 - 9,907 × 5 = 325,950,465"]);
    assert_eq!(ids(&report(8).findings), [D04, D06, D14]);
    expect(report(8), D14, &["1.762 s"]);
    for number in [1, 2, 3, 4, 5, 7, 8] {
        assert_eq!(report(number).verdict(), Verdict::Invalid);
    }
    assert_eq!(expect(report(2), D07, &[]).severity, Severity::Suspect);
    assert_eq!(expect(report(6), D07, &[]).severity, Severity::Note);
    let [comparison] = judgement.comparisons.as_slice() else { panic!("one comparison") };
    expect(
        comparison,
        D05,
        &[
            "reports 1, 2 and 3 against report 6: no status of 2xx against status 2xx; bodies of \
             138 B against 612 B",
            "reports 4 and 5 against report 7: bodies of 138 B against 162 B",
            "reports 4 and 5 against report 8: 1,000,000 requests against 100,000",
        ],
    );
    expect(comparison, D15, &["report 4 and report 5", "differ by 2.0 %"]);
}

#[test]
fn a_stall_is_not_taken_for_lost_connection_attempts() {
    for report in judged(ROUTN_AND_NGINX).reports {
        assert!(!ids(&report.findings).contains(&D08));
    }
}

#[test]
fn rates_over_concurrency() {
    let judgement = judged(SWEEPS);
    let [linux, windows, macos] = judgement.sweeps.as_slice() else { panic!("three tables") };
    let names: Vec<&str> = linux.subject.curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["cppnet_2", "cppnet_1", "muduo"]);
    assert_eq!(ids(&linux.findings), [D14, D15, D16, D17, D39]);
    expect(
        linux,
        D16,
        &[
            "cppnet_2: from c = 1 to 2 the rate grows from 13,749 to 67,334/s (×4.90), so each request \
             takes 29.7 µs instead of 72.7 µs",
            "cppnet_2: at c = 5 the rate falls",
            "cppnet_1: from c = 1 to 2",
            "×2.45",
            "muduo: from c = 1 to 2",
            "×2.36",
        ],
    );
    let speed_up = expect(linux, D16, &[]);
    assert_eq!(speed_up.evidence.lines().count(), 4, "{}", speed_up.evidence);
    expect(linux, D17, &["cppnet_1: from c = 200 to 500", "-44 %", "muduo: from c = 200 to 500"]);
    expect(linux, D17, &["-51 %", "cppnet_2 changes by -15 %"]);
    // 100,000 / 189,071/s; 100,000 requests by 10,000 connections.
    expect(linux, D14, &["every c ≥ 2", "0.529 s", "From c = 2,000 on", "10.0 at c = 10,000"]);
    expect(linux, D15, &["best of several"]);
    expect(linux, D39, &["2.7 %"]);
    // At c = 1 these two differ by 29 %, and the one of four threads grows by ×1.80.
    assert_eq!(ids(&windows.findings), [D14, D15, D16]);
    let speed_up = expect(windows, D16, &["Windows, 2 threads: from c = 1 to 2", "×2.36"]);
    assert_eq!(speed_up.evidence.lines().count(), 1, "{}", speed_up.evidence);
    // ×2.17 from one client to two.
    assert_eq!(ids(&macos.findings), [D14, D15]);
}

/// 208,914/s × 479 µs = 100.07 in flight, 10 s, 20,891 requests per connection, three digits.
const NATIVE: &str = "\
$ ablaze -c 100 :8080/

  > GET http://127.0.0.1:8080/ · HTTP/1.1 keep-alive · closed loop, 100 connections · 1 thread, io_uring
  >
  >   answers     2,089,140 in 10.00 s    200: 2,089,140    errors: 0    14 B body    31.1 MiB/s
  >   rate          208,914 /s            slowest second 205,870 · fastest 211,020
  >
  >                mean     p50     p90     p99  [95 % interval]    p99.9       max
  >   connect     61 µs   58 µs   88 µs       -                         -    124 µs   100×, before the clock
  >   wait       472 µs  455 µs  603 µs  835 µs  [833–838]        1.30 ms   6.01 ms
  >   total      479 µs  462 µs  611 µs  843 µs  [841–846]        1.31 ms   6.02 ms
  >
  > In total it was a good day.
";

#[test]
fn a_sound_run_of_our_own_has_nothing_against_it() {
    let judgement = judged(NATIVE);
    let [report] = judgement.reports.as_slice() else { panic!("one report") };
    assert_eq!(report.findings, []);
    assert_eq!(report.subject.tool, Tool::Ablaze);
    assert_eq!(
        report.subject.command.as_ref().map(|command| command.concurrency),
        Some((100, 100))
    );
    let ms = |percent| report.subject.percentile(percent).map(|ms| (ms.value * 1e3).round() / 1e3);
    assert_eq!(
        [50.0, 90.0, 99.0, 99.9, 100.0].map(ms).map(Option::unwrap),
        [0.462, 0.611, 0.843, 1.31, 6.02]
    );
}

/// The same run as it is printed today, with findings and their continued lines between figures and table.
const NATIVE_TODAY: &str = "\
$ ablaze -c 100 :8080/

  > SUSPECT · limited by the server: its one thread ran at 96 % of a core, the client at 75 %
  > GET http://127.0.0.1:8080/ · HTTP/1.1 keep-alive · closed loop, 100 connections · 1 thread, io_uring
  >
  >   208,914 requests/s    p50 462 µs   p95 702 µs   p99 843 µs [841–846]   max 6.02 ms   errors 0
  >   2,089,140 responses in 10.00 s · 200: 2,089,140 · 31.1 MiB/s
  >   CPU per request: server 4.60 µs, client 3.60 µs
  >
  >   D07  global stall: For 120 ms nothing came back:
  >        total 5 of the connections, errors 7 of them, 404: 3
  >   note D14 too short: it is said in words,
  >            rate 5 of them.
  >
  >               min     mean      sd     p50     p75     p90     p95     p99  [95 % interval]  p99.9      max
  >   connect   31 µs    61 µs   12 µs   58 µs       -   88 µs       -       -                       -   124 µs
  >   wait      99 µs   472 µs  210 µs  455 µs  520 µs  603 µs  694 µs  835 µs  [833–838]      1.30 ms  6.01 ms
  >   total    101 µs   479 µs  215 µs  462 µs  527 µs  611 µs  702 µs  843 µs  [841–846]      1.31 ms  6.02 ms
  >      connect: 100×, before the clock
  >
  >   requests/s         slowest second 205,870 · fastest 211,020
  >   client busy        75 % of its one thread's time
  >   body length        14 B each
  >
  > In total it was a good day.
";

#[test]
fn our_own_report_of_today_gives_the_same_figures() {
    let (before, today) = (read(NATIVE).reports.remove(0), read(NATIVE_TODAY).reports.remove(0));
    let total = today.total.unwrap();
    assert!((total.min_ms.unwrap().value - 0.101).abs() < 1e-9);
    assert!((total.deviation_ms.unwrap().value - 0.215).abs() < 1e-9);
    assert!((today.percentile(95.0).unwrap().value - 0.702).abs() < 1e-9);
    for percent in [50.0, 90.0, 99.0, 99.9, 100.0] {
        assert_eq!(today.percentile(percent), before.percentile(percent), "{percent}");
    }
    let figures = |report: &Report| {
        (
            (report.complete, report.failed, report.non_2xx, report.statuses.clone()),
            (report.rate_per_s, report.taken_s, report.document),
            (report.waiting.map(|times| (times.mean_ms, times.median_ms, times.max_ms))),
            (report.total.map(|times| (times.mean_ms, times.median_ms, times.max_ms))),
            (report.concurrency, report.port, report.path.clone()),
        )
    };
    assert_eq!(figures(&today), figures(&before));
    // What the report itself says was found is taken over, and nothing is found besides.
    let judgement = judged(NATIVE_TODAY);
    let found: Vec<DiagnosisId> = judgement.reports[0].findings.iter().map(|f| f.id).collect();
    assert_eq!(found, [D07, D14]);
}

#[test]
fn of_an_open_loop_the_response_is_read() {
    let text = "\
GET http://h/ · HTTP/1.1 keep-alive · open loop, 1,000/s evenly spaced · 1 thread, io_uring
  answers          10,000 in 10.00 s    200: 10,000    errors: 0    14 B body    144 KiB/s
  rate              1,000 /s
              mean      p50      p90      p99  [95 % interval]  p99.9      max
  service  75.6 µs  59.9 µs   143 µs   349 µs  [319–389]            -   878 µs
  lag       136 µs  41.9 µs  57.4 µs  2.64 ms  [2.58–3.59]          -  4.82 ms
  response  212 µs   102 µs   192 µs  2.96 ms  [2.81–3.78]          -  5.21 ms
";
    let judgement = judged(text);
    let [report] = judgement.reports.as_slice() else { panic!("one report") };
    assert!(report.subject.open_loop && report.subject.concurrency.is_none());
    assert_eq!(report.subject.percentile(99.0).unwrap().value, 2.96);
    assert_eq!(report.findings, []);
}

#[test]
fn errors_and_statuses_of_our_own_report_are_read() {
    let text = include_str!("../printed/native.txt");
    let report = &read(text).reports[1];
    assert_eq!((report.complete, report.failed, report.non_2xx), (Some(1200), Some(15), Some(100)));
    assert_eq!(report.path.as_deref(), Some("/form"));
    assert_eq!((report.concurrency, report.port), (Some(8), Some(80)));
    let judgement = judged(text);
    // 100 of 1,200; 3 s. 400/s × 19.9 ms = 7.96 of 8 in flight.
    assert_eq!(ids(&judgement.reports[1].findings), [D02, D04, D14]);
    expect(&judgement.reports[1], D02, &["15 of 1,215 requests (1.2 %)"]);
    expect(
        &judgement.reports[1],
        D04,
        &["100 of 1,200 responses (8.3 %)", "404 (90×) and 503 (10×)"],
    );
}

#[test]
fn reports_that_differ_in_concurrency_alone_make_a_curve() {
    let report = |concurrency: u64, rate: f64| {
        format!(
            "Server Software: x\nServer Hostname: h\nServer Port: 80\nDocument Path: /\n\
             Document Length: 5 bytes\nConcurrency Level: {concurrency}\n\
             Time taken for tests: 10.000 seconds\nComplete requests: {}\nFailed requests: 0\n\
             Total transferred: {} bytes\nHTML transferred: {} bytes\n\
             Requests per second: {rate:.2} [#/sec] (mean)\n\n",
            rate * 10.0,
            rate * 900.0,
            rate * 50.0
        )
    };
    let text = [report(1, 1000.0), report(2, 3000.0), report(10, 9000.0), report(100, 6000.0)];
    let judgement = judged(&text.concat());
    let [sweep] = judgement.sweeps.as_slice() else { panic!("one curve") };
    let points = [(1, 1000.0), (2, 3000.0), (10, 9000.0), (100, 6000.0)];
    assert_eq!(sweep.subject.curves[0].points, points);
    assert_eq!(ids(&sweep.findings), [D16, D17]);
    assert!(judgement.comparisons.is_empty());
    // Two at the same concurrency are repeats where a title says so, unless they did other work.
    let again = text.concat() + &report(100, 6100.0);
    let judgement = judged(&format!("## nginx\n{again}"));
    assert_eq!((judgement.sweeps.len(), judgement.comparisons.len()), (1, 0));
    let judgement = judged(&again);
    assert_eq!((judgement.sweeps.len(), judgement.comparisons.len()), (0, 1));
    let other = report(100, 6100.0).replace("Length: 5 bytes", "Length: 10 bytes");
    let other = other.replace("HTML transferred: 305000", "HTML transferred: 610000");
    let judgement = judged(&format!("## nginx\n{}{other}", text.concat()));
    assert_eq!((judgement.sweeps.len(), judgement.comparisons.len()), (0, 1));
}

#[test]
fn a_command_without_figures_is_judged_by_itself() {
    let judgement =
        judged("ab -kc[1-10000] -n100000 http://127.0.0.1:8921/hello\n\nthe best of 3\n");
    let [command] = judgement.commands.as_slice() else { panic!("one command") };
    assert_eq!(ids(&command.findings), [D14, D15]);
    expect(command, D14, &["100,000 requests over 10,000 connections is 10.0"]);
    assert!(judged(THREE_SERVERS).commands.is_empty());
}

#[test]
fn text_without_figures_has_nothing_to_judge() {
    for text in ["", "a page about ab\n\nwith Requests per second: in it\n", "{\"tool\": 1}"] {
        assert!(judged(text).is_empty(), "{text:?}");
    }
}

/// What the runs showed is more than the rates of a table do.
#[test]
fn the_page_of_a_sweep_keeps_its_verdict() {
    let page = "# slow\n\n1 target × 3 loads × 1 run · target on CPU 1, client on CPU 0  \n2026-11-27 02:15:00 UTC\n\n\
        **SUSPECT** 2 of 3 runs limited by other processes on the same CPUs\n\n![Rate](BENCH.svg)\n\n\
        | connections | 1 | 20 | 200 |\n|:--|--:|--:|--:|\n| slow | 4,983 | 15,955 | 16,933 |\n\n## What was found\n\n\
        - 2 of 3 runs, for example slow, c=1, repeat 1: D13 shared processors (SUSPECT)[^d13-1]\n";
    let judged = ablaze_verdict::rules::judge(&ablaze_verdict::printed::read(page));
    let [sweep] = &judged.sweeps[..] else { panic!("{judged:?}") };
    assert_eq!(sweep.verdict(), ablaze_verdict::Verdict::Suspect);
}
