//! What a frame says, and that it never leaves the terminal.

use ablaze_load::carry_out::{WorkerProgress, WorkerState};
use ablaze_model::failure::FailureKind;
use ablaze_model::plan::RateProfile;
use ablaze_model::progress::{GroupInterval, Stage};
use ablaze_stats::{Latency, touched};

use super::super::sections::workers;
use super::*;

fn shown() -> Shown {
    Shown {
        title: "GET http://127.0.0.1:8080/".to_owned(),
        load: "HTTP/1.1 keep-alive · closed loop, 100 connections · 2 threads".to_owned(),
        requests: None,
        duration_ns: Some(10_000_000_000),
        walks: false,
        steering: Steering::of_rate(None),
        present: None,
        findings: Findings::default(),
        groups: Vec::new(),
        workers: Vec::new(),
        history: History::default(),
        said: String::new(),
        address: None,
    }
}

/// 4 s into a run that gives 100,000 responses a second, 99 of 100 within 1 ms.
fn half_way() -> Progress {
    let mut progress = Progress::default();
    for number in 0..40 {
        let mut times = Latency::new(touched::DIGITS);
        times.record_many(1_000_000, 9_900);
        times.record_many(5_000_000, 100);
        let mut piece = Interval {
            from_ns: number * 100_000_000,
            to_ns: (number + 1) * 100_000_000,
            responses: 10_000,
            unexpected: 20,
            max_ns: 5_000_000,
            statuses: vec![(200, 9_980), (503, 20)],
            ..Interval::default()
        };
        piece.failures[FailureKind::Timeout as usize] = 30;
        touched::append(&times, &mut piece.times);
        let half = GroupInterval {
            responses: 5_000,
            times: piece.times.clone(),
            ..GroupInterval::default()
        };
        piece.groups = vec![half.clone(), half];
        progress.hear(piece);
    }
    (progress.stage, progress.elapsed_ns) = (Stage::Measuring, 4_000_000_000);
    progress
}

fn text(shown: &Shown, progress: &Progress, columns: usize, rows: usize) -> Vec<String> {
    shown.frame(progress, Size { columns, rows }).iter().map(Line::text).collect()
}

fn row<'a>(rows: &'a [String], begins: &str) -> &'a str {
    let found = rows.iter().find(|row| row.trim_start().starts_with(begins));
    found.unwrap_or_else(|| panic!("no row {begins}: {rows:#?}"))
}

#[test]
fn the_figures_are_those_of_the_run() {
    let rows = text(&shown(), &half_way(), 80, 24);
    assert!(rows[0].ends_with("4.0 s of 10 s"), "{}", rows[0]);
    // Of the last second, and of everything.
    let figures =
        |begins| row(&rows, begins).split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    assert_eq!(figures("responses/s"), "100,000 100,000");
    assert_eq!(figures("p50"), "1.00 ms 1.00 ms");
    assert_eq!(figures("errors"), "300 1,200");
    // A row for each status, and for each kind of error; the others have none.
    let holds = |text: &str| rows.iter().filter(|row| row.contains(text)).count();
    assert_eq!((holds("399,200"), holds("503"), holds("timeout")), (1, 1, 1), "{rows:#?}");
    assert_eq!(holds(FailureKind::Reset.label()), 0);
    // 4 of 10 s.
    assert_eq!(rows[2].matches('━').count(), 32);
}

#[test]
fn each_group_has_its_row() {
    let shown = Shown { groups: vec!["login".into(), "search".into()], ..shown() };
    let rows = text(&shown, &half_way(), 80, 24);
    for name in ["login", "search"] {
        assert!(row(&rows, name).contains("200,000"), "{rows:#?}");
        assert!(row(&rows, name).contains("50,000"), "{rows:#?}");
    }
}

#[test]
fn each_machine_of_a_fleet_has_its_row_beside_the_sum() {
    let worker = |name: &str, state| WorkerProgress {
        name: name.to_owned(),
        state,
        progress: half_way(),
        busy: Some(0.31),
        limit: Some(ablaze_model::finding::Limit::Client),
        ..WorkerProgress::default()
    };
    let mut all =
        vec![worker("load-1", WorkerState::Measuring), worker("load-2", WorkerState::Lost)];
    let shown = Shown { workers: workers(&all), ..shown() };
    let rows = text(&shown, &half_way(), 100, 30);
    let first = row(&rows, "load-1").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(first, "load-1 100,000 1.00 ms 1.00 ms 400,000 1,200 31 % the client");
    assert_eq!(row(&rows, "load-2").split_whitespace().collect::<Vec<_>>(), ["load-2", "lost"]);
    // A page has the same.
    let page = shown.page(&half_way(), &ablaze_model::by_hand::run(), &all).html();
    for part in ["<td>100,000</td><td>1.00 ms", "<td>1,200</td>", "<td>lost</td><td>-</td>"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let alone = shown.page(&half_way(), &ablaze_model::by_hand::run(), &[]).html();
    assert!(!alone.contains("Workers"), "{alone}");
    // The sum is there as before, and before the start it is told who is ready.
    assert!(row(&rows, "responses/s").contains("100,000"), "{rows:#?}");
    all[0].state = WorkerState::Ready;
    let shown = Shown { workers: workers(&all), ..shown };
    let rows = text(&shown, &Progress::default(), 80, 24);
    assert!(row(&rows, "load-1").trim_end().ends_with("ready"), "{rows:#?}");
    // Of more than fit the lost ones are among those that are shown.
    let mut many: Vec<WorkerProgress> =
        (0..100).map(|at| worker(&format!("host-{at}"), WorkerState::Measuring)).collect();
    many[77].state = WorkerState::Lost;
    let shown = Shown { workers: workers(&many), ..shown };
    let rows = text(&shown, &half_way(), 80, 24);
    assert!(row(&rows, "host-77").contains("lost"), "{rows:#?}");
    assert!(row(&rows, "and ").contains("more"), "{rows:#?}");
}

#[test]
fn no_row_is_wider_than_the_terminal_and_no_frame_higher() {
    let mut shown = Shown { groups: vec!["日本語".repeat(20), "search".into()], ..shown() };
    shown.title = format!("GET http://host/{}", "é".repeat(300));
    let far = |name: String| WorkerProgress {
        name,
        state: WorkerState::Measuring,
        progress: half_way(),
        ..WorkerProgress::default()
    };
    shown.workers = workers(&[far("host".repeat(30)), far("h".to_owned())]);
    let progress = half_way();
    for at in 0..60 {
        progress.news[..40].iter().take(at).for_each(|piece| shown.history.hear(piece, 30));
        shown.history.fit(30);
    }
    for columns in 20..=250 {
        for rows in [1, 5, 12, 24, 60] {
            for progress in [&Progress::default(), &progress] {
                let frame = shown.frame(progress, Size { columns, rows });
                assert!(frame.len() <= rows, "{columns}×{rows}: {} rows", frame.len());
                for line in frame {
                    assert!(line.columns() <= columns, "{columns}×{rows}: {}", line.text());
                }
            }
        }
    }
}

#[test]
fn a_high_terminal_has_charts_with_axes() {
    let mut shown = shown();
    let progress = half_way();
    progress.news.iter().for_each(|piece| shown.history.hear(piece, 100));
    let charts = |rows| {
        let rows = text(&shown, &progress, 100, rows);
        let holds = |text: &str| rows.iter().any(|row| row.contains(text));
        (holds("responses per second"), holds("time of a response"))
    };
    assert_eq!([24, 42, 60].map(charts), [(false, false), (true, false), (true, true)]);
}

#[test]
fn what_others_wrote_commands_no_terminal() {
    let name = "\x1b]0;owned\x07\u{202e}step".to_owned();
    let shown = Shown { title: name.clone(), groups: vec![name.clone(), name], ..shown() };
    for line in shown.frame(&half_way(), Size { columns: 120, rows: 40 }) {
        let text = line.text();
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
    }
}

#[test]
fn a_clock_has_tenths_of_a_second_until_it_has_minutes() {
    assert_eq!(seconds(0), "0.0 s");
    assert_eq!(seconds(4_249_000_000), "4.2 s");
    assert_eq!(seconds(725_000_000_000), "12 min 05 s");
}

#[test]
fn keys_are_offered_where_they_do_something() {
    let keys = |rate: Option<RateProfile>| {
        let steering = Steering::of_rate(rate.map(|rate| (rate, 10_000_000_000)));
        let rows = text(&Shown { steering, ..shown() }, &half_way(), 80, 24);
        (rows[23].clone(), rows.iter().any(|row| row.starts_with("requested/s")))
    };
    let (closed, has_rate) = keys(None);
    assert!(closed.contains("q end") && !closed.contains("space") && !has_rate, "{closed}");
    let (open, has_rate) = keys(Some(RateProfile::constant(2_000.0)));
    assert!(open.contains("+ -") && open.contains("space pause") && has_rate, "{open}");
}

#[test]
fn the_address_of_the_page_is_whole_on_the_smallest_terminal() {
    let url = format!("http://127.0.0.1:41234/?token={}", "0".repeat(32));
    let shown = Shown { address: Some(url.clone()), ..shown() };
    let rows = text(&shown, &half_way(), 80, 24);
    assert!(rows.iter().any(|row| row.contains(&url)), "{rows:#?}");
}
