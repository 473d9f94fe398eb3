//! Tests of the live page, and of the Run that its sections are made of.

use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_model::progress::{GroupInterval, Interval, Progress};
use ablaze_stats::{Latency, touched};

use super::*;
use crate::page::{Block, ShownRun, SoFar, section};
use crate::sample;

/// Twenty slices of 100 responses of 1 ms, with a failure each.
fn progress(groups: usize) -> Progress {
    let mut progress = Progress::default();
    let mut times = Latency::new(touched::DIGITS);
    times.record_many(1_000_000, 100);
    for slice in 0..20 {
        let mut interval = Interval {
            from_ns: slice * 100_000_000,
            to_ns: (slice + 1) * 100_000_000,
            responses: 100,
            statuses: vec![(200, 100)],
            max_ns: 1_000_000,
            ..Interval::default()
        };
        interval.failures[0] = 1;
        touched::append(&times, &mut interval.times);
        let group = GroupInterval {
            responses: 100 / groups.max(1) as u64,
            times: interval.times.clone(),
            ..GroupInterval::default()
        };
        interval.groups = vec![group; groups];
        progress.hear(interval);
    }
    progress
}

#[test]
fn a_run_so_far_has_the_figures_of_its_intervals() {
    for is_open in [false, true] {
        let mut plan = sample::ordinary().plan;
        if is_open {
            let rate = RateProfile::constant(1000.0);
            plan.load =
                Load::Open { rate, arrivals: Arrivals::Constant, connections: 8, bounded: false };
        }
        let mut so_far = SoFar::of(&plan);
        let progress = progress(0);
        so_far.hear(&progress);
        let run = so_far.run(&progress, Vec::new());
        assert_eq!((run.record.responses, run.record.failures_total()), (2_000, 20));
        assert_eq!(run.rate_per_s(), Some(1_000.0));
        assert_eq!(run.record.statuses, [(200, 2_000)].into());
        let slices = &run.record.slices.slices;
        assert!(slices.len() == 20 && slices.iter().all(|slice| slice.responses == 100));
        let p50 = run.record.answered.latency().quantile_ns(0.5).unwrap();
        assert!((990_000..=1_010_000).contains(&p50), "{p50}");
        // Each section of the finished page that a run so far has something for.
        let subjects = [ShownRun::new("all responses", 0, run)];
        for section in [section::over_time(run), section::percentiles(&subjects)] {
            assert!(matches!(section.blocks[0], Block::Chart { .. }), "{section:?}");
        }
        assert!(!section::outcome(run).blocks.is_empty());
    }
}

#[test]
fn groups_of_a_run_so_far_are_those_of_its_plan() {
    let mut plan = sample::ordinary().plan;
    plan.requests.groups.names = vec!["/a".to_owned(), "<b>".to_owned()];
    let mut so_far = SoFar::of(&plan);
    let progress = progress(2);
    so_far.hear(&progress);
    let run = so_far.run(&progress, Vec::new());
    let part = Part::of("groups", &[section::groups(run).unwrap()]);
    assert!(part.html.contains("&lt;b&gt;") && !part.html.contains("<b>"), "{}", part.html);
    assert!(part.html.contains("1,000"), "{}", part.html);
}

#[test]
fn nothing_is_markup_but_the_page_and_nobody_but_its_own_server_is_asked() {
    let hostile = "</script><img src=x onerror=alert(1)>\"'&";
    let mut page = Page::new(hostile);
    page.subtitle = hostile.to_owned();
    let state = State {
        text: hostile.to_owned(),
        share: Some(f64::NAN),
        bars: vec![Bar {
            name: hostile.to_owned(),
            share: 2.0,
            text: hostile.to_owned(),
            is_full: true,
        }],
        rows: vec![(hostile.to_owned(), hostile.to_owned())],
        ..State::default()
    };
    let html = write(&page, &[state.part("state")], Controls::StopAndRate);
    assert!(!html.contains("<img") && html.contains("&lt;img"), "{html}");
    assert!(html.contains("connect-src 'self'") && html.contains("default-src 'none'"));
    assert!(html.contains("id=\"live-state\"") && html.contains("data-does=\"faster\""));
    assert!(!write(&page, &[], Controls::Stop).contains("data-does=\"faster\""));
    // The script has no address but its own server's.
    assert!(!SCRIPT.contains("//") || !SCRIPT.contains("http"), "{SCRIPT}");
}
