//! What ablaze's own exporters print is read back as what they were given. The oracle is the Run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ablaze_report::ab::{self, Layout};
use ablaze_report::text::Style;
use ablaze_report::{gurl, json, text};
use ablaze_verdict::live;
use ablaze_verdict::printed::{Connections, Document, Report, Tool, read};
use ablaze_verdict::rules::judge;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// What a Run is made different by.
#[derive(Debug, Clone)]
struct Change {
    responses_404: u64,
    resets: u64,
    keep_alive: bool,
    has_body: bool,
    elapsed_ns: u64,
    received_bytes: u64,
    total_ns: Vec<u64>,
}

fn changes() -> impl Strategy<Value = Change> {
    let times = prop::collection::vec(1_000u64..40_000_000_000, 1..300);
    (0u64..500, 0u64..50, any::<bool>(), any::<bool>(), 1_000_000u64..3_600_000_000_000, times)
        .prop_flat_map(|(responses_404, resets, keep_alive, has_body, elapsed_ns, total_ns)| {
            (0u64..1 << 40).prop_map(move |received_bytes| Change {
                responses_404,
                resets,
                keep_alive,
                has_body,
                elapsed_ns,
                received_bytes,
                total_ns: total_ns.clone(),
            })
        })
}

/// A saved Run, made different.
fn saved(change: &Change) -> json::SavedRun {
    let mut saved =
        json::load(&ablaze_testing::repository::file("crates/model/tests/saved/format-1.json"))
            .unwrap();
    let run = &mut saved.run;
    let responses = change.total_ns.len() as u64 + change.responses_404;
    run.elapsed_ns = change.elapsed_ns;
    run.plan.connections.keep_alive = change.keep_alive;
    run.plan.requests.has_body = change.has_body;
    (run.record.responses, run.record.unexpected) = (responses, change.responses_404);
    run.record.statuses =
        [(200, responses - change.responses_404), (404, change.responses_404)].into();
    run.record.statuses.retain(|_, responses| *responses > 0);
    run.record.failures.fill(0);
    run.record.failures[1] = change.resets;
    run.record.received_bytes = change.received_bytes;
    run.record.reused = responses / 2;
    run.record.body_lengths = [(14, responses)].into();
    run.record.body_lengths_other = 0;
    run.record.first_body_bytes = Some(14);
    run.record.answered.total.clear();
    for ns in &change.total_ns {
        run.record.answered.total.record(*ns);
    }
    run.record.answered.total.record_many(change.total_ns[0], change.responses_404);
    saved
}

#[test]
fn the_findings_above_a_report_are_no_name_for_it() {
    let saved = ablaze_testing::repository::file("crates/model/tests/saved/format-1.json");
    let mut run = json::load(&saved).unwrap().run;
    run.elapsed_ns = 3_000_000_000;
    let text = text::write(&live::assessed(run), &Style::default());
    assert!(text.contains("note D14"), "{text}");
    let page = format!("## Before the change\n\n```\n{text}```\n");
    assert_eq!(read(&page).reports[0].label.as_deref(), Some("Before the change"));
}

fn only_report(printed: &str) -> Report {
    let mut reports = read(printed).reports;
    assert_eq!(reports.len(), 1, "{printed}");
    // What can be read can be judged.
    judge(&read(printed));
    reports.remove(0)
}

/// Whether a printed figure stands for a value.
fn stands_for(printed: ablaze_verdict::printed::Printed, value: f64) -> bool {
    (printed.value - value).abs() <= printed.step * 0.500_001
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn ab_s_form(change in changes(), percentiles: bool, confidence: bool, variable_length: bool) {
        let run = saved(&change).run;
        let layout = Layout { percentiles, confidence, variable_length, ..Layout::default() };
        let mut out = Vec::new();
        ab::banner(false, &mut out).unwrap();
        ab::report(&run, &layout, &mut out).unwrap();
        let report = only_report(&String::from_utf8(out).unwrap());
        let responses = run.record.responses;
        prop_assert_eq!(report.tool, Tool::AblazeAb);
        prop_assert_eq!(report.concurrency, Some(u64::from(run.plan.load.connections())));
        prop_assert_eq!(report.complete, Some(responses + change.resets));
        prop_assert_eq!(report.failed, Some(change.resets));
        prop_assert_eq!(report.non_2xx, Some(change.responses_404));
        let kept = if change.keep_alive {
            Connections::Kept(Some(responses / 2))
        } else {
            Connections::PerRequest
        };
        prop_assert_eq!(report.connections, kept);
        let length = if variable_length { Document::Variable } else { Document::Bytes(14) };
        prop_assert_eq!(report.document, Some(length));
        prop_assert_eq!(report.total_bytes, Some(change.received_bytes as i64));
        prop_assert_eq!(report.sent_bytes, change.has_body.then_some(run.record.sent_bytes));
        prop_assert!(stands_for(report.taken_s.unwrap(), change.elapsed_ns as f64 / 1e9));
        let rate = (responses + change.resets) as f64 * 1e9 / change.elapsed_ns as f64;
        prop_assert!(stands_for(report.rate_per_s.unwrap(), rate));
        if change.resets == 0 {
            // The histogram keeps four digits, the report whole ms, rounded twice.
            let longest_ms = *change.total_ns.iter().max().unwrap() as f64 / 1e6;
            let printed = report.max_ms().unwrap().value;
            prop_assert!((printed - longest_ms).abs() <= 0.51 + longest_ms * 1e-4);
        }
        prop_assert_eq!(report.percentiles.len(), if percentiles && responses + change.resets > 1 { 9 } else { 0 });
        prop_assert_eq!(report.total.unwrap().deviation_ms.is_some(), confidence);
    }

    #[test]
    fn ab_s_form_in_html(change in changes()) {
        let run = saved(&change).run;
        let layout = Layout { html: Some(ab::HtmlAttributes::default()), ..Layout::default() };
        let mut out = Vec::new();
        ab::banner(true, &mut out).unwrap();
        ab::report(&run, &layout, &mut out).unwrap();
        let report = only_report(&String::from_utf8(out).unwrap());
        prop_assert_eq!(report.complete, Some(run.record.responses + change.resets));
        prop_assert_eq!(report.failed, Some(change.resets));
        prop_assert_eq!(report.non_2xx, Some(change.responses_404));
        prop_assert_eq!(report.total_bytes, Some(change.received_bytes as i64));
        prop_assert!(stands_for(report.taken_s.unwrap(), change.elapsed_ns as f64 / 1e9));
        prop_assert!(report.total.unwrap().max_ms.is_some());
    }

    #[test]
    fn gurl_s_form(change in changes()) {
        let run = saved(&change).run;
        let report = only_report(&format!("{}{}", gurl::heading("h"), gurl::write(&run)));
        prop_assert_eq!(report.tool, Tool::AblazeGurl);
        prop_assert_eq!(report.complete, Some(run.record.responses));
        prop_assert_eq!(report.non_2xx, Some(change.responses_404));
        prop_assert_eq!(&report.statuses, &run.record.statuses);
        prop_assert_eq!(report.connections, Connections::Unknown);
        let mean_ms = run.record.answered.total.mean_ns().unwrap() / 1e6;
        prop_assert!(stands_for(report.mean_ms().unwrap(), mean_ms));
        prop_assert_eq!(report.percentiles.len(), 9);
    }

    #[test]
    fn the_native_form(change in changes(), width in 80usize..140) {
        let run = saved(&change).run;
        let printed = text::write(&live::assessed(run.clone()), &Style { colour: width % 2 == 0, width, ..Style::default() });
        let report = only_report(&printed);
        prop_assert_eq!(report.tool, Tool::Ablaze);
        prop_assert_eq!(report.complete, Some(run.record.responses), "{}", printed);
        prop_assert_eq!(report.failed, Some(change.resets), "{}", printed);
        prop_assert_eq!(&report.statuses, &run.record.statuses, "{}", printed);
        // 100 connections with 4 pipelined requests each.
        prop_assert_eq!(report.concurrency, Some(400));
        let kept = if change.keep_alive { Connections::Kept(None) } else { Connections::PerRequest };
        prop_assert_eq!(report.connections, kept);
        let total = &run.record.answered.total;
        let mean_ms = total.mean_ns().unwrap() / 1e6;
        prop_assert!(stands_for(report.mean_ms().unwrap(), mean_ms), "{}", printed);
        prop_assert!(stands_for(report.max_ms().unwrap(), total.max_ns().unwrap() as f64 / 1e6));
        let p50 = total.supported_quantile_ns(0.5).map(|ns| ns as f64 / 1e6);
        prop_assert_eq!(report.percentile(50.0).is_some(), p50.is_some(), "{}", printed);
        if let (Some(read), Some(p50)) = (report.percentile(50.0), p50) {
            prop_assert!(stands_for(read, p50), "{}", printed);
        }
    }
}
