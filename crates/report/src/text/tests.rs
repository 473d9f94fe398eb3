//! The native text, held against what the documents show of it.

use std::collections::BTreeMap;

use ablaze_model::plan::tls::Trust;
use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_model::record::{GroupRecord, Phases};
use ablaze_model::run::Ended;

use super::Style;
use crate::sample::{self, assessed};
use ablaze_testing::repository;

fn write(run: &ablaze_model::Run, style: &Style) -> String {
    super::write(&assessed(run), style)
}

fn plain(run: &ablaze_model::Run) -> String {
    write(run, &Style::default())
}

#[test]
fn an_ordinary_run_reads_as_designed() {
    // The server's thread used 9.6 of 10 s; 0.1 of the processors' 10.1 busy seconds were interrupts,
    // and its share of them is added: 9.6 / (1 - 0.1 / 10.1) is 9.7.
    let expected = "\
VALID · limited by the server: its one thread ran at 97 % of a core, the client at 1 %
GET http://127.0.0.1:8080/ · HTTP/1.1 keep-alive · closed loop, 100 connections · 1 thread, io_uring

  2,000 requests/s    p50 49.5 ms   p95 67.5 ms   p99 69.1 ms [69.1–69.2]   max 675 ms   errors 0
  20,000 responses in 10.00 s · 200: 20,000 · 305 KiB/s · CPU per request: server 480 µs, client 3.60 µs

              mean      p50      p75      p90      p95      p99    p99.9      max
  connect  64.8 µs  64.5 µs  77.1 µs  84.5 µs  87.0 µs        -        -  89.5 µs   100×, before the clock
  wait     49.9 ms  49.5 ms  59.5 ms  65.5 ms  67.5 ms  69.1 ms  69.5 ms   675 ms
  total    49.9 ms  49.5 ms  59.5 ms  65.5 ms  67.5 ms  69.1 ms  69.5 ms   675 ms
     ≤ 30 ms ▊  ≤ 40 ms ████████████████  ≤ 50 ms ████████████████  ≤ 60 ms ████████████████
     ≤ 70 ms ███████████████▎  more ▏
  -  too few values in that row: p99 needs 368, p99.9 3,688

  requests/s         slowest second 1,950 · fastest 2,040
  CPU per request    server 480 µs (nginx, pid 4711)    client 3.60 µs (0.2 user, 3.4 kernel)
  client busy        0.76 % of its one thread's time
  client delay       at most p50 5.76 µs (0.012 % of the median time), p99 10.7 µs from a response's arrival
                     to its handling
  connections idle   0.12 % of the time, between a response and the next request
  body length        14 B each
  threads            1: half of the 2 CPUs allowed, the target is on this host
";
    assert_eq!(plain(&sample::ordinary()), expected);
    let explained = &repository::file("docs/reading-the-report.md");
    assert!(explained.contains(expected), "docs/reading-the-report.md explains another report");
}

#[test]
fn groups_have_a_table_of_which_ten_rows_are_shown() {
    let run = sample::grouped();
    let expected = "
  group          requests  share  errors  unexpected      p50      p95      p99      max
  /item            15,000   75 %       0           0  33.3 ms  36.6 ms  36.9 ms  37.0 ms
  /search?q=a,b     5,000   25 %      15          90  91.3 ms  92.4 ms  92.5 ms  92.5 ms

";
    let text = plain(&run);
    assert!(text.contains(expected), "{text}");
    let explained = repository::file("docs/reading-the-report.md");
    assert!(
        explained.contains(expected.trim_end()),
        "docs/reading-the-report.md shows another table"
    );
    let mut many = run;
    let group = many.record.groups[0].clone();
    for number in 2..13 {
        let name = format!("/{number}\u{1b}[2J{}", "x".repeat(200));
        many.record.groups.push(GroupRecord { name, ..group.clone() });
    }
    for width in [80, 110, 200] {
        let text = write(&many, &Style { width, ..Style::default() });
        assert!(text.contains("\n  3 more: all are in -o FILE.json and FILE.html\n"), "{text}");
        assert!(text.contains("  /9\\u{") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(text.contains("  share  "), width > 80, "{text}");
        let rows = text.lines().filter(|line| line.contains('…'));
        assert_eq!(rows.clone().count(), 8, "{text}");
        assert!(rows.into_iter().all(|line| line.chars().count() <= width), "{text}");
    }
}

#[test]
fn without_groups_there_is_no_table_and_too_many_are_said() {
    let mut run = sample::ordinary();
    assert!(!plain(&run).contains("group"));
    run.plan.requests.groups.too_many = 1_000;
    let text = plain(&run);
    let line = "  groups             1,000 were named: for more than 256 only the figures of the whole are kept";
    assert!(text.contains(line), "{text}");
}

#[test]
fn tls_has_a_line_and_rows_of_its_own() {
    let mut run = sample::encrypted();
    let text = plain(&run);
    for part in [
        "TLSv1.3 TLS_AES_256_GCM_SHA384 x25519 (99×) · TLSv1.3 0x1399 x25519 (1×)",
        "certificate verified",
        "handshakes: 100 full (3 with an extra round trip, for another group)",
        "\n  tls      ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let Some(tls) = &mut run.plan.tls else { panic!("the sample speaks TLS") };
    tls.trust = Trust::Anyone;
    tls.resume = true;
    let text = plain(&run);
    assert!(text.contains("certificate NOT verified"), "{text}");
    assert!(text.contains("another group), 0 resumed"), "{text}");
}

/// In an open loop a request that could not leave in time has waited all the same.
#[test]
fn failures_of_an_open_loop_are_timed_from_when_they_were_due() {
    let mut run = sample::troubled();
    run.plan.load = Load::Open {
        rate: RateProfile::constant(100.0),
        arrivals: Arrivals::Constant,
        connections: 1,
        bounded: true,
    };
    run.record.failed = Phases { intended: Some(Box::default()), ..Phases::new() };
    for number in 0..20 {
        let due_ns = 1_000_000_000 + number * 10_000_000;
        // It is taken when its time is over.
        let end_ns = due_ns + 300_000_000;
        run.record.failed.total.record(0);
        run.record.failed.intended.as_mut().unwrap().record(due_ns, end_ns, end_ns);
    }
    let text = plain(&run);
    assert!(text.contains("they took p50 300 ms, max 300 ms from when they were due"), "{text}");
}

#[test]
fn a_run_that_never_began_is_not_said_to_have_lasted() {
    let mut run = sample::empty();
    (run.elapsed_ns, run.ended) = (0, Ended::Interrupted);
    let text = plain(&run);
    assert!(text.contains("interrupted before the first request"), "{text}");
    run.plan.limits.warmup_ns = 1_000_000_000;
    assert!(plain(&run).contains("interrupted before the clock started"), "{}", plain(&run));
    assert!(plain(&run).contains("No response came that counts"), "{}", plain(&run));
    assert!(!text.contains("0 ns"), "{text}");
}

/// What was due at the very end has waited for no time yet; what failed at once took none.
#[test]
fn what_took_no_time_is_not_said_to_have_taken_0_ns() {
    let mut run = sample::troubled();
    run.record.unfinished_oldest_ns = 0;
    run.record.failed.total.clear();
    run.record.failed.total.record_many(0, 15);
    for never_sent in [0, run.record.unfinished / 2, run.record.unfinished] {
        run.record.never_sent = never_sent;
        let text = plain(&run);
        let unfinished = text.lines().find(|line| line.contains("unfinished")).expect("a line");
        assert!(unfinished.ends_with("at the end"), "{unfinished}");
        assert!(!text.contains("they took"), "{text}");
    }
}

#[test]
fn what_went_wrong_is_named_and_counted() {
    let text = plain(&sample::troubled());
    for part in [
        "100 connections × 4 pipelined requests",
        "2 threads, epoll",
        "epoll instead of io_uring: io_uring_setup: Operation not permitted",
        "interrupted after 10.0 s: results up to then",
        "200: 19,900 · 404: 90 · 503: 10 · ",
        "body length        14–162 B",
        "0.50 % of the responses    404: 90    503: 10    expected: 2xx, 3xx",
        "0.075 % of the requests    reset: 12    timeout: 3",
        "first error: reset: connection reset by peer",
        "they took p50 1.00 ms, max 30.0 s",
        "in flight at the end, the oldest for at least 812 µs",
        "12×, during the run",
        // 2 × 72 ms less 2 × 20 ms over 20,015 requests.
        "5.20 µs of work and 2.00 µs of busy polling",
        // 75 ms and 6 s of 10 s, with the interrupts: a hundredth of all busy time.
        "0.76 % · 61 % of its threads' time",
        "Little's law",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let figure = |label: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(label)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_string()
    };
    assert_eq!(figure("unexpected"), "100");
    assert_eq!(figure("errors"), "15");
    assert_eq!(figure("unfinished"), "100");
    assert_eq!(figure("repeated"), "4");
}

#[test]
fn a_run_without_responses_says_so() {
    for run in [sample::refused(), sample::empty()] {
        let text = plain(&run);
        assert!(text.contains("No response came"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(!text.contains("Closed loop:") && !text.contains("p99"), "{text}");
    }
    let text = plain(&sample::refused());
    assert!(text.contains("gave up: no connection could be made"));
    assert!(text.contains("first error while connecting: refused: connection refused"));
}

#[test]
fn one_response_has_a_mean_and_a_maximum_and_no_percentile() {
    let mut run = sample::empty();
    run.record.responses = 1;
    run.record.statuses = BTreeMap::from([(204, 1)]);
    run.record.answered.total.record(1_234_567);
    run.plan.load = Load::Closed { connections: 1, pipeline: 1 };
    let text = plain(&run);
    let total = text.lines().find(|line| line.trim_start().starts_with("total")).unwrap();
    let cells: Vec<&str> = total.split_whitespace().collect();
    assert_eq!(
        cells,
        ["total", "1.23", "ms", "1.23", "ms", "-", "-", "-", "-", "-", "-", "-", "1.23", "ms"]
    );
    assert!(text.contains("p50 needs 6, p75 13, p90 36, p95 72, p99 368, p99.9 3,688"), "{text}");
    assert!(text.contains("  0.100 requests/s "), "{text}");
}

#[test]
fn receive_has_a_row_when_it_matters() {
    let has_row = |receive_ns: u64| {
        let mut run = sample::empty();
        run.record.responses = 1000;
        for _ in 0..1000 {
            run.record.answered.wait.record(1_000_000);
            run.record.answered.receive.record(receive_ns);
            run.record.answered.total.record(1_000_000 + receive_ns);
        }
        plain(&run).lines().any(|line| line.trim_start().starts_with("receive"))
    };
    assert!(!has_row(40_000));
    assert!(has_row(60_000));
}

#[test]
fn explained_it_shows_what_the_rules_went_by_and_nothing_else_changes() {
    for run in [sample::ordinary(), sample::troubled(), sample::refused(), sample::empty()] {
        let explained = write(&run, &Style { explain: true, ..Style::default() });
        let judged = assessed(&run).judged;
        for passed in judged.passed.iter().filter(|passed| passed.evidence.is_some()) {
            let line = format!("\n  passed {} {}: ", passed.id, passed.id.name());
            assert!(explained.contains(&line), "{line} in\n{explained}");
        }
        assert_eq!(explained.contains("not observable here: D"), judged.unseen().is_some());
        for note in judged.notes() {
            assert!(explained.contains(&format!("\n  note {} {}: ", note.id, note.id.name())));
        }
        // All lines of the report without it are there, in their order.
        let mut lines = explained.lines();
        // Notes go on in another place, as they have their cause and fix behind them.
        let is_note = |line: &str| line.starts_with("  note ") || line.starts_with("           ");
        for line in plain(&run).lines().filter(|line| !is_note(line)) {
            assert!(lines.any(|explained| explained == line), "{line}\nnot in\n{explained}");
        }
    }
    let explained = write(&sample::ordinary(), &Style { explain: true, ..Style::default() });
    let words = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the rate is its capacity. For a higher rate, give"), "{explained}");
}

#[test]
fn it_fits_the_terminal() {
    for run in [sample::ordinary(), sample::troubled(), sample::refused(), sample::empty()] {
        for width in [80, 90, 100, 120] {
            for line in write(&run, &Style { width, ..Style::default() }).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn colour_comes_only_when_asked_and_moves_nothing() {
    for run in [sample::ordinary(), sample::troubled(), sample::refused()] {
        let coloured = write(&run, &Style { colour: true, ..Style::default() });
        assert!(!plain(&run).contains('\x1b'));
        let mut stripped = String::new();
        let mut rest = coloured.as_str();
        while let Some(start) = rest.find('\x1b') {
            stripped.push_str(&rest[..start]);
            rest = &rest[start + rest[start..].find('m').unwrap() + 1..];
        }
        stripped.push_str(rest);
        assert_eq!(stripped, plain(&run));
    }
}

#[test]
fn a_name_is_shown_with_the_address_behind_it() {
    let mut run = sample::ordinary();
    run.plan.target.host = "localhost".into();
    assert!(plain(&run).contains("\n  connected to       127.0.0.1:8080\n"));
}

#[test]
fn with_a_list_no_url_is_named_that_was_not_asked_for() {
    let mut run = sample::grouped();
    let number = run.record.groups.len();
    let line = |run: &ablaze_model::Run| plain(run).lines().nth(1).unwrap().to_owned();
    let shown = line(&run);
    assert!(
        shown.starts_with(&format!("GET http://127.0.0.1:8080 · {number} URLs of a list")),
        "{shown}"
    );
    let mut spec = ablaze_model::LoadSpec::default();
    let file = ablaze_model::spec::Blob::new("urls.txt", Vec::new());
    spec.requests.urls = Some(ablaze_model::spec::Feed::of(file));
    run.asked = Some(Box::new(spec));
    run.record.groups.clear();
    assert!(line(&run).starts_with("GET http://127.0.0.1:8080 · the URLs of urls.txt · "));
}
