//! Pages of experiments and searches, in a real browser too.

use ablaze_model::experiment::{Measured, Outcome, Searched, Stage, Trial};
use ablaze_model::finding::{DiagnosisId, Finding, Verdict};
use ablaze_stats::rate_search::{Found, Trial as StageTrial};
use ablaze_testing::browser;
use ablaze_testing::experiments::{self, running};
use serde_json::Value;

use super::super::{json, search_page};
use super::*;
use crate::page::figures_json;

/// A saved run, for what a page shows of single runs.
fn saved() -> Run {
    let saved = &ablaze_testing::repository::file("crates/model/tests/saved/format-1.json");
    crate::json::load(saved).unwrap().run
}

/// An experiment that was run, and its page: each target slower than the one before. Each run took ten seconds.
fn page(targets: &[&str], loads: &[u32], repeats: u32) -> (Page, Results) {
    page_of(targets, loads, repeats, |_, _| {})
}

/// The same, with something else to report.
fn page_of(
    targets: &[&str],
    loads: &[u32],
    repeats: u32,
    otherwise: impl Fn(&mut Results, &mut JudgedTogether),
) -> (Page, Results) {
    let mut experiment = experiments::experiment();
    experiment.targets = targets.iter().map(|name| running(name, "http://h/")).collect();
    experiment.loads = loads.iter().map(|c| experiments::load(*c)).collect();
    experiment.repeats = repeats;
    let measured = |trial: Trial| {
        let figures = experiments::figures(responses(trial) as f64 / 10.0);
        (trial, Outcome::Measured(Box::new(figures)))
    };
    let trials = experiment.trials().into_iter().map(measured).collect();
    let mut results = Results { trials, ..Results::default() };
    let mut judged =
        JudgedTogether { verdict: Verdict::Valid, findings: Vec::new(), unequal: Vec::new() };
    otherwise(&mut results, &mut judged);
    let loads = pooled::shown_loads(&experiment).into_iter();
    let all = loads.flat_map(|load| (0..targets.len()).map(move |target| (target, load)));
    let runs: Vec<Pooled> = all.map(|(target, load)| Pooled::of(target, load, saved())).collect();
    let reported = Reported {
        experiment: &experiment,
        results: &results,
        judged: &judged,
        runs: &runs,
        profiled: &[],
    };
    let asked = Description::default();
    let figures = match experiment.loads.len() {
        1 => {
            let comparison = Comparison::of(&experiment, &results, 0, experiment.control());
            json::comparison(&experiment, &results, &comparison, &judged, true)
        }
        _ => {
            let curves = Curve::all(&experiment, &results, Pick::Median);
            json::sweep(&experiment, &results, &curves, &judged)
        }
    };
    let shown = Shown {
        figures: &figures,
        ranked: judged.unequal_work().is_empty(),
        pick: Pick::Median,
        printed: "the report",
        asked: &asked,
        file: "",
        checks: &[],
    };
    (of_experiment(reported, shown), results)
}

fn responses(trial: Trial) -> u64 {
    20_000 * (trial.load as u64 + 1) / (trial.target as u64 + 1) + u64::from(trial.repeat) * 37
}

fn of_search() -> Page {
    let search = experiments::search("p99<20ms,errors<0.1%");
    let stage = |asked_per_s: f64, holds: bool| Stage {
        undecided: false,
        run: None,
        asked_per_s,
        confirming: false,
        trial: if holds { StageTrial::Holds } else { StageTrial::Fails },
        why: (!holds).then(|| "p99 was 71.4 ms".to_owned()),
        measured: Some(Measured {
            answered_per_s: asked_per_s.min(4100.0),
            figures: vec![Some("18.2 ms".to_owned()), None],
            values: Vec::new(),
            unsupported: Vec::new(),
            verdict: Verdict::Valid,
            findings: Vec::new(),
        }),
    };
    let rates = [(1000.0, true), (2000.0, true), (4000.0, true), (8000.0, false), (4080.0, false)];
    let searched = Searched {
        stages: rates.map(|(rate, holds)| stage(rate, holds)).to_vec(),
        found: Some(Found::Limit { holds_per_s: 4000.0, fails_per_s: 4080.0 }),
        interrupted: false,
        gone: None,
    };
    search_page::of_search(&search, &searched, Some(&saved()), &Description::default())
}

const LOADS: [u32; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
const LONG: &str = "a-name-that-somebody-gave-to-a-target-and-that-goes-on-and-on";

#[test]
fn pages_fit_every_window_and_say_nothing_on_the_console() {
    let pages = [
        ("compare", page(&["one", "other", LONG], &[10], 8).0),
        ("few", page(&["one", "other"], &[10], 2).0),
        ("sweep", page(&["one", "other", LONG], &LOADS, 1).0),
        ("repeats", page(&["one"], &LOADS[..3], 3).0),
        ("search", of_search()),
    ];
    browser::check(&pages.map(|(name, page)| (name.to_owned(), page.html())));
}

/// The labels of a chart: what an SVG says in `text` elements.
fn labels(svg: &str) -> Vec<&str> {
    let texts = svg.split("<text").skip(1).filter_map(|rest| rest.split_once('>'));
    texts.filter_map(|(_, rest)| rest.split_once("</text>")).map(|(text, _)| text).collect()
}

#[test]
fn ratios_are_drawn_on_a_scale_that_says_what_it_is_whatever_the_runs_are() {
    let experiment = {
        let mut experiment = experiments::experiment();
        experiment.repeats = 1;
        experiment
    };
    let figures = |rate| Outcome::Measured(Box::new(experiments::figures(rate)));
    let trials = experiment.trials().into_iter();
    let trials = trials.map(|trial| (trial, figures(8000.0 / 4f64.powi(trial.target as i32))));
    let results = Results { trials: trials.collect(), ..Results::default() };
    let saved = {
        let mut saved = experiment.clone();
        for target in &mut saved.targets {
            let file = vec!["run.json".into()];
            target.source = ablaze_model::spec::TargetSpec::Saved(file);
        }
        saved
    };
    for (experiment, pair, rate) in
        [(&experiment, "one / other", 4.0), (&saved, "other / one", 0.25)]
    {
        let comparison = Comparison::of(experiment, &results, 0, experiment.control());
        let chart = charts::ratios(experiment, &comparison, &comparison.against[0]);
        let Some(ablaze_chart::Panel::Bars(bars)) = chart.panels.first() else {
            panic!("{chart:?}")
        };
        assert!(
            bars.title.starts_with(&format!("{pair}: ratio of the medians (")),
            "{}",
            bars.title
        );
        let of_rate = bars.rows.iter().find(|row| row.name == "rate").unwrap();
        assert_eq!(of_rate.values, [rate]);
        let svg = chart.svg_file();
        let labels = labels(&svg);
        for label in ["0.5", "1", "2", "equal"] {
            assert!(labels.contains(&label), "{label} of {labels:?}");
        }
    }
}

#[test]
fn the_figures_in_the_page_make_its_tables() {
    let (page, results) = page(&["one", "other"], &[10], 6);
    let html = page.html();
    let figures: Value = serde_json::from_str(figures_json(&html).unwrap()).unwrap();
    let trials = figures["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 12);
    let rates = |target: &str| {
        let of = trials.iter().filter(|trial| trial["target"] == target);
        let mut rates: Vec<f64> = of.map(|trial| trial["rate_per_s"].as_f64().unwrap()).collect();
        rates.sort_by(f64::total_cmp);
        rates
    };
    for (target, name) in ["one", "other"].into_iter().enumerate() {
        let rates = rates(name);
        let expected: Vec<f64> = (0..6)
            .map(|repeat| responses(Trial { repeat, load: 0, target }) as f64 / 10.0)
            .collect();
        assert_eq!(rates, expected);
        let median = (rates[2] + rates[3]) / 2.0;
        let grouped = crate::number::rate;
        let row = format!(
            "<th scope=\"row\">{name}</th><td>{}</td><td>{}–{}</td>",
            grouped(median),
            grouped(rates[0]),
            grouped(rates[5])
        );
        assert!(html.contains(&row), "{row}");
    }
    // The ratio of a pair is that of its two runs; what decides is their median.
    let mut ratios: Vec<f64> = results
        .pairs(0, 1, 0)
        .iter()
        .map(|(one, other)| (one.rate_per_s / other.rate_per_s).ln())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let median = ((ratios[2] + ratios[3]) / 2.0).exp();
    let metrics = figures["ratios"][0]["metrics"].as_array().unwrap();
    let rate = metrics.iter().find(|metric| metric["metric"] == "rate").unwrap();
    assert!((rate["ratio"].as_f64().unwrap() - median).abs() < 1e-9, "{rate}");
}

#[test]
fn explain_reads_the_figures_back() {
    let read = |page: Page| ablaze_verdict::printed::read(&page.markdown("BENCH").text);
    let compared = read(page(&["one", "other|2"], &[10], 6).0);
    let rates: Vec<(Option<String>, f64, bool)> = compared
        .rates
        .into_iter()
        .map(|rate| (rate.label, rate.rate_per_s.value, rate.of_several))
        .collect();
    // 2,000 and 1,000 per second and half a step of 3.7, five times.
    let expected =
        [(Some("one".to_owned()), 2009.0, true), (Some("other|2".to_owned()), 1009.0, true)];
    assert_eq!(rates, expected);
    for repeats in [1, 3] {
        let swept = read(page(&["one", "other"], &[1, 2, 5], repeats).0).sweeps;
        assert_eq!(swept.len(), 1);
        let other = &swept[0].curves[1];
        let more = if repeats == 1 { 0.0 } else { 4.0 };
        let points = [(1, 1000.0 + more), (2, 2000.0 + more), (5, 3000.0 + more)];
        assert_eq!((other.name.as_str(), other.points.as_slice()), ("other", &points[..]));
    }
}

/// A rate that the client did not offer, and one that had too few requests, are none that the target did not keep.
#[test]
fn what_is_not_known_of_a_rate_is_not_drawn_as_one_that_does_not_hold() {
    let stage = |asked_per_s: f64, trial, undecided| Stage {
        undecided,
        run: None,
        asked_per_s,
        confirming: false,
        trial,
        why: None,
        measured: Some(Measured {
            answered_per_s: asked_per_s,
            figures: vec![None],
            values: Vec::new(),
            unsupported: Vec::new(),
            verdict: Verdict::Valid,
            findings: Vec::new(),
        }),
    };
    let stages = vec![
        stage(1000.0, StageTrial::Holds, false),
        stage(2000.0, StageTrial::LimitedByClient, false),
        stage(3000.0, StageTrial::Fails, true),
        stage(4000.0, StageTrial::Fails, false),
    ];
    let searched = Searched { stages, found: None, interrupted: false, gone: None };
    let chart = search_page::chart(&searched);
    let ablaze_chart::Panel::Plot(plot) = &chart.panels[0] else { panic!("a plot") };
    let drawn: Vec<(&str, usize)> =
        plot.series.iter().map(|series| (series.name.as_str(), series.points.len())).collect();
    assert_eq!(drawn, [("holds", 1), ("does not hold", 1), ("not judged, or not offered", 2)]);
}

/// The stage that does not hold bounds the answer: what was found in it stands on the page as it does in the report.
#[test]
fn a_search_lists_the_same_findings_everywhere_with_their_stages() {
    use ablaze_model::finding::DiagnosisId::{D07, D13};
    let found = |id, evidence: &str| Finding::new(id, Severity::Suspect, evidence, "", "Fix it.");
    let stage = |asked_per_s: f64, trial, findings| Stage {
        undecided: false,
        run: None,
        asked_per_s,
        confirming: false,
        trial,
        why: None,
        measured: Some(Measured {
            answered_per_s: asked_per_s,
            figures: vec![None, None],
            values: Vec::new(),
            unsupported: Vec::new(),
            verdict: Verdict::Suspect,
            findings,
        }),
    };
    let noise = || found(D13, "Others used 1.7 CPUs.");
    let stall = found(D07, "No request finished for 100 ms.");
    let stages = vec![
        stage(1000.0, StageTrial::Holds, vec![noise()]),
        stage(8000.0, StageTrial::Fails, vec![found(DiagnosisId::D02, "far beyond")]),
        stage(2000.0, StageTrial::Fails, vec![noise(), stall]),
    ];
    let found = Some(Found::Limit { holds_per_s: 1000.0, fails_per_s: 2000.0 });
    let searched = Searched { stages, found, interrupted: false, gone: None };
    let search = experiments::search("p99<20ms,errors<0.1%");
    let page = search_page::of_search(&search, &searched, None, &Description::default());
    let listed = page.sections.iter().flat_map(|section| &section.blocks);
    let listed: Vec<(String, DiagnosisId)> = listed
        .filter_map(|block| match block {
            Block::Findings(findings) => Some(findings),
            _ => None,
        })
        .flatten()
        .map(|text| (text.of.clone(), text.finding.id))
        .collect();
    let held = ("at 1,000/s, which held".to_owned(), D13);
    let bound = ("at 2,000/s, which did not hold".to_owned(), D07);
    assert_eq!(listed, [held, bound]);
    let printed = crate::experiment::text::search(&search, &searched);
    assert!(
        printed.contains("SUSPECT global stall, at 2,000/s, which did not hold: No"),
        "{printed}"
    );
    assert!(printed.lines().nth(1).unwrap().starts_with("SUSPECT · one · "), "{printed}");
    let value: Value = serde_json::from_str(&json::search(&search, &searched)).unwrap();
    assert_eq!(value["verdict"], "SUSPECT");
}

/// A server that answers everything with 404 is no server of which the lowest rate is too high.
#[test]
fn a_search_in_which_no_rate_holds_is_as_bad_as_the_stage_it_stands_on() {
    let stage = |asked_per_s: f64, verdict, id| Stage {
        undecided: false,
        run: None,
        asked_per_s,
        confirming: false,
        trial: StageTrial::Fails,
        why: None,
        measured: Some(Measured {
            answered_per_s: asked_per_s,
            figures: vec![None],
            values: Vec::new(),
            unsupported: Vec::new(),
            verdict,
            findings: vec![Finding::new(id, Severity::Invalid, "All were 404.", "", "Fix it.")],
        }),
    };
    let search = experiments::search("p99<20ms");
    for (lowest, head) in
        [(Verdict::Invalid, "INVALID"), (Verdict::Suspect, "SUSPECT"), (Verdict::Valid, "SUSPECT")]
    {
        let stages = vec![
            stage(1000.0, Verdict::Invalid, DiagnosisId::D04),
            stage(10.0, lowest, DiagnosisId::D04),
        ];
        let found = Some(Found::LowestFails { fails_per_s: 10.0 });
        let searched = Searched { stages, found, interrupted: false, gone: None };
        let printed = crate::experiment::text::search(&search, &searched);
        assert!(printed.lines().nth(1).unwrap().starts_with(head), "{printed}");
        let value: Value = serde_json::from_str(&json::search(&search, &searched)).unwrap();
        assert_eq!(value["verdict"], head);
    }
}

/// Nothing listens there, or what did died of the first stage: there is no figure that could be doubted.
#[test]
fn a_search_that_measured_nothing_is_invalid() {
    let stage = |measured| Stage {
        undecided: false,
        run: None,
        asked_per_s: 1000.0,
        confirming: false,
        trial: StageTrial::Fails,
        why: Some("refused".to_owned()),
        measured,
    };
    let of = |verdict| {
        let finding =
            Finding::new(DiagnosisId::D02, Severity::Invalid, "All reset.", "", "Fix it.");
        stage(Some(Measured {
            answered_per_s: 0.0,
            figures: vec![None],
            values: Vec::new(),
            unsupported: Vec::new(),
            verdict,
            findings: vec![finding],
        }))
    };
    let search = experiments::search("p99<20ms");
    let gone = "127.0.0.1:1 refused the connection: is a server running there?";
    for (stages, head, has_cause) in [
        (vec![stage(None)], "INVALID", false),
        (vec![of(Verdict::Invalid), stage(None), stage(None)], "INVALID", true),
        (vec![of(Verdict::Valid), stage(None), stage(None)], "SUSPECT", false),
    ] {
        let gone = Some(gone.to_owned());
        let searched = Searched { stages, found: None, interrupted: false, gone };
        let printed = crate::experiment::text::search(&search, &searched);
        let mut lines = printed.lines();
        assert!(lines.next().unwrap().starts_with("no answer: 127.0.0.1:1 refused"), "{printed}");
        assert!(lines.next().unwrap().starts_with(head), "{printed}");
        assert_eq!(printed.contains("All reset."), has_cause, "{printed}");
        let value: Value = serde_json::from_str(&json::search(&search, &searched)).unwrap();
        assert_eq!(value["verdict"], head);
    }
}

#[test]
fn a_page_says_how_many_runs_were_made_and_under_which_load() {
    let (whole, _) = page(&["one", "other"], &[10], 6);
    assert!(whole.subtitle.starts_with("2 targets · c=10 · 6 runs of each"), "{}", whole.subtitle);
    let interrupted = |from: usize| {
        page_of(&["one", "other"], &[10], 6, move |results, _| {
            results.interrupted = true;
            match from {
                0 => results.trials.truncate(5),
                at => drop(results.trials.remove(at)),
            }
        })
    };
    let (page, _) = interrupted(0);
    assert!(page.subtitle.contains(" runs of one, "), "{}", page.subtitle);
    let says = |page: &Page, text: &str| {
        page.sections[0]
            .blocks
            .iter()
            .any(|block| matches!(block, Block::Text(said) if said == text))
    };
    assert!(
        says(&page, "Interrupted after 5 of 12 runs: partial results."),
        "{:?}",
        page.sections[0]
    );
    // One is missing of a complete one.
    let (page, _) = interrupted(4);
    assert!(
        says(&page, "11 of 12 runs are in the folder: partial results."),
        "{:?}",
        page.sections[0]
    );
}

#[test]
fn a_page_without_ratios_says_why() {
    let unequal = |_: &mut Results, judged: &mut JudgedTogether| {
        let finding =
            Finding::new(DiagnosisId::D05, Severity::Suspect, "Other bodies.", "", "Fix it.");
        judged.findings.push(finding);
    };
    let (page, _) = page_of(&["one", "other"], &[10], 6, unequal);
    let ratios = page.sections.iter().find(|section| section.heading == "Ratios").unwrap();
    let expected = "No ranking: the runs are not comparable (D05); --allow-unequal ranks anyway.";
    assert!(matches!(&ratios.blocks[..], [Block::Text(text)] if text == expected), "{ratios:?}");
}

#[test]
fn an_experiment_among_several_does_not_say_where_files_are_that_are_not_there() {
    let experiment = experiments::experiment();
    let outcome = |trial: Trial| {
        let counted = ablaze_model::experiment::Counted {
            requests: 100,
            writes: 150,
            write_eagains: 50,
            out_events: 50,
            epoll_mods: 0,
        };
        let figures = Figures { counted: Some(counted), ..experiments::figures(1e3) };
        (trial, Outcome::Measured(Box::new(figures)))
    };
    let trials = experiment.trials().into_iter().map(outcome).collect();
    let results = Results { trials, ..Results::default() };
    let judged =
        JudgedTogether { verdict: Verdict::Valid, findings: Vec::new(), unequal: Vec::new() };
    let section = section_of("part", &experiment, &results, &judged, true);
    let said = format!("{section:?}");
    assert!(said.contains("EAGAIN: writes") && said.contains("Medians of the runs."), "{said}");
    assert!(!said.contains("results folder"), "{said}");
    assert!(format!("{:?}", page(&["one"], &[10], 2).0).contains("`runs/` of the results folder"));
}

/// Two stages of one rate are one place on its axis; the table of the stages has both.
#[test]
fn all_stages_stand_in_one_table_and_what_is_not_supported_is_said() {
    let page = of_search();
    let stages = page.sections.iter().find(|section| section.heading == "Stages").unwrap();
    assert!(matches!(&stages.blocks[..], [Block::Chart { figures: false, .. }, Block::Table(_)]));
    let search = experiments::search("p99<20ms");
    let measured = Measured {
        answered_per_s: 1000.0,
        figures: vec![Some("10.3 ms".to_owned())],
        values: Vec::new(),
        unsupported: vec!["p99<20ms".to_owned()],
        verdict: Verdict::Valid,
        findings: Vec::new(),
    };
    let stage = Stage {
        undecided: false,
        run: None,
        asked_per_s: 1000.0,
        confirming: false,
        trial: StageTrial::Holds,
        why: None,
        measured: Some(measured),
    };
    let found = Some(Found::HighestHolds { holds_per_s: 1000.0 });
    let searched = Searched { stages: vec![stage], found, interrupted: false, gone: None };
    let page = search_page::of_search(&search, &searched, None, &Description::default());
    let stages = page.sections.iter().find(|section| section.heading == "Stages").unwrap();
    assert!(format!("{stages:?}").contains("10.3 ms (too few)"), "{stages:?}");
    let said = format!("{:?}", page.sections[0]);
    assert!(said.contains("p99<20ms: too few responses in a stage for this percentile"), "{said}");
}

#[test]
fn a_sweep_names_the_loads_under_which_requests_failed() {
    let failing = |results: &mut Results, _: &mut JudgedTogether| {
        for (trial, outcome) in &mut results.trials {
            if let (1, Outcome::Measured(figures)) = (trial.load, outcome) {
                figures.errors = 7;
            }
        }
    };
    let says = |page: &Page| format!("{:?}", page.sections[1]);
    let (page, _) = page_of(&["one"], &LOADS[..3], 2, failing);
    let expected = format!("Some requests failed: one, c={}.", LOADS[1]);
    assert!(says(&page).contains(&expected), "{}", says(&page));
    assert!(!says(&self::page(&["one"], &LOADS[..3], 2).0).contains("requests failed"));
}
