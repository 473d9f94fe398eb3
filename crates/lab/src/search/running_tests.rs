//! Searches for a rate against a target that a test makes up.

use std::path::Path;

use ablaze_model::FailureKind;
use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_model::record::{Intended, Slice};
use ablaze_model::spec::Shape;
use ablaze_stats::rate_search::Found;

use ablaze_testing::Scratch;

use super::*;
use crate::experiment::document::Former;
use crate::target::ThisProgram;
use ablaze_testing::experiments::search;

/// A target with this capacity, behind a client that can offer no more than that. What is asked
/// beyond the capacity piles up; below it a response takes 10 ms.
struct Simulated {
    capacity_per_s: f64,
    offers_per_s: f64,
    asked: Vec<f64>,
    interrupt_at: Option<usize>,
    dies_at: Option<usize>,
}

impl Simulated {
    fn of(capacity_per_s: f64) -> Self {
        Self {
            capacity_per_s,
            offers_per_s: f64::INFINITY,
            asked: Vec::new(),
            interrupt_at: None,
            dies_at: None,
        }
    }
}

impl Runner for Simulated {
    fn run(&mut self, load: &LoadSpec, _profiled: bool) -> Result<Run, Failure> {
        if self.interrupt_at == Some(self.asked.len()) {
            return Err(Failure::Interrupted);
        }
        let Shape::Open { rate, .. } = load.shape else { panic!("a closed loop") };
        let asked = rate.from_per_s;
        let length_ms = load.limits.duration_ns.unwrap() / 1_000_000;
        self.asked.push(asked);
        if self.dies_at.is_some_and(|at| self.asked.len() > at) {
            return Err(Failure::Impossible("refused the connection".to_owned()));
        }
        let saved = &ablaze_testing::repository::file("crates/model/tests/saved/format-1.json");
        let mut run = ablaze_report::json::load(saved).unwrap().run;
        let length_s = length_ms as f64 / 1e3;
        run.ended = Ended::Complete;
        run.elapsed_ns = length_ms * 1_000_000;
        run.monitor = None;
        run.workers.clear();
        run.plan.load = Load::Open {
            rate: RateProfile::constant(asked),
            arrivals: Arrivals::Constant,
            connections: 10_000,
            bounded: false,
        };
        let came_per_s = asked.min(self.capacity_per_s).min(self.offers_per_s);
        let record = &mut run.record;
        record.failures.fill(0);
        record.unexpected = 0;
        record.never_sent = 0;
        record.connections_opened = 10;
        record.responses = (came_per_s * length_s) as u64;
        record.statuses = [(200, record.responses)].into();
        record.unfinished = ((asked - came_per_s) * length_s) as u64;
        let slices = length_ms / 100;
        let up_to = |slice: u64| (came_per_s * slice as f64 / 10.0) as u64;
        let slice = |at| Slice { responses: up_to(at + 1) - up_to(at), ..Slice::default() };
        record.slices.slices = (0..slices).map(slice).collect();
        // Of what piles up each waits longer than the one before.
        let piled_ns = (asked / came_per_s - 1.0) * length_s * 1e9;
        let late_ns = if asked > self.offers_per_s { piled_ns } else { 0.0 };
        let mut intended = Intended::default();
        for step in 0..1000 {
            let so_far = f64::from(step) / 1000.0;
            intended.response.record((1e7 + so_far * piled_ns) as u64);
            intended.lag.record((so_far * late_ns) as u64);
        }
        record.answered.intended = Some(Box::new(intended));
        Ok(run)
    }

    fn response_of(&mut self, _load: &LoadSpec) -> Option<Response> {
        None
    }
}

struct Nobody;

impl Watch for Nobody {
    fn begins(&mut self, _: usize, _: f64, _: bool) {}
    fn ended(&mut self, _: usize, _: &Stage) {}
}

fn carried_out(search: &Search, path: &Path, client: Option<&mut Simulated>) -> Searched {
    let mut folder = StageFolder::at(path, search, &mut Former).unwrap();
    let client = client.map(|client| client as &mut dyn Runner);
    let rest = |_| {};
    let setting = Setting { program: ThisProgram::nowhere(), client, watch: &mut Nobody, rest };
    run(search, &mut folder, setting).unwrap()
}

#[test]
fn the_capacity_is_found_by_latency_and_without_it() {
    for (name, goal) in [("latency", "p99<20ms,errors<0.1%"), ("errors", "errors<0.1%")] {
        for capacity in [37.0, 801.0, 12_345.0] {
            let scratch = Scratch::new(&format!("{name}-{capacity}"));
            let searched = carried_out(
                &search(goal),
                &scratch.join("kept"),
                Some(&mut Simulated::of(capacity)),
            );
            let Some(Found::Limit { holds_per_s, fails_per_s }) = searched.found else {
                panic!("{goal} {capacity}: {:?}", searched.found)
            };
            // Where only errors count, two in a hundred may pile up, and two requests of chance.
            let above = 1.021 + 2.0 / capacity;
            assert!(
                holds_per_s > capacity * 0.95 && holds_per_s < capacity * above,
                "{holds_per_s}"
            );
            assert!(fails_per_s <= holds_per_s * 1.0201, "{fails_per_s}");
            assert!(searched.is_answered());
            let again = searched.stages.iter().filter(|stage| stage.confirming).count();
            assert!(again >= 2, "both ends are tried again: {again}");
        }
    }
}

#[test]
fn what_the_client_cannot_offer_is_no_limit_of_the_target() {
    let scratch = Scratch::new("client");
    let mut client = Simulated { offers_per_s: 5000.0, ..Simulated::of(1e9) };
    let searched = carried_out(&search("p99<20ms"), &scratch.join("kept"), Some(&mut client));
    let Some(Found::LimitedByClient { holds_per_s: Some(holds), .. }) = searched.found else {
        panic!("{:?}", searched.found)
    };
    assert!(holds <= 5050.0 && !searched.is_answered());
    let text = ablaze_report::experiment::text::answer(&searched, &["p99<20ms"]);
    assert!(text.contains("the client reached its limit first: at least"), "{text}");
    assert!(text.contains("the client sent late"), "{text}");
}

#[test]
fn a_search_that_was_interrupted_goes_the_same_way_again() {
    let scratch = Scratch::new("resumes");
    let search = search("p99<20ms");
    let mut first = Simulated { interrupt_at: Some(3), ..Simulated::of(1700.0) };
    let before = carried_out(&search, &scratch.join("kept"), Some(&mut first));
    assert!(before.interrupted && before.found.is_none());
    assert_eq!(before.stages.len(), 3);
    // Looking at it changes nothing.
    assert_eq!(carried_out(&search, &scratch.join("kept"), None), before);
    let mut second = Simulated::of(1700.0);
    let after = carried_out(&search, &scratch.join("kept"), Some(&mut second));
    assert_eq!(after.stages[..3], before.stages[..]);
    assert_eq!(second.asked.len(), after.stages.len() - 3);
    assert!(after.is_answered());
    assert_eq!(carried_out(&search, &scratch.join("kept"), None), after);
    let other = Search { goal: "p99<30ms".to_owned(), ..search };
    let refused =
        StageFolder::at(&scratch.join("kept"), &other, &mut Former).unwrap_err().to_string();
    assert!(refused.contains("another search"), "{refused}");
}

#[test]
fn a_target_that_is_gone_ends_the_search_and_keeps_its_stages() {
    let scratch = Scratch::new("gone");
    let mut client = Simulated { dies_at: Some(2), ..Simulated::of(1700.0) };
    let searched = carried_out(&search("p99<20ms"), &scratch.join("kept"), Some(&mut client));
    assert_eq!(searched.gone.as_deref(), Some("refused the connection"));
    assert_eq!(searched.stages.len(), 4, "{searched:?}");
    assert!(searched.stages[..2].iter().all(|stage| stage.measured.is_some()));
    let scratch = Scratch::new("never-there");
    let mut client = Simulated { dies_at: Some(0), ..Simulated::of(1700.0) };
    let searched = carried_out(&search("p99<20ms"), &scratch.join("kept"), Some(&mut client));
    assert_eq!((searched.stages.len(), searched.found), (1, None));
    // Whoever goes on has started it meanwhile.
    let mut there = Simulated::of(1700.0);
    let searched = carried_out(&search("p99<20ms"), &scratch.join("kept"), Some(&mut there));
    assert!(searched.is_answered(), "{searched:?}");
    assert_eq!(carried_out(&search("p99<20ms"), &scratch.join("kept"), None), searched);
}

#[test]
fn a_stage_is_judged_by_what_came_back_and_by_every_condition() {
    let judged = |goal: &str, rate: f64, change: fn(&mut Run)| {
        let search = search(goal);
        let load = search.stage_load(rate, false);
        let mut run = Simulated::of(1000.0).run(&load, false).unwrap();
        change(&mut run);
        goal.parse::<Goal>().unwrap().judge(&live::assessed(run), rate)
    };
    let good = judged("p99<20ms,errors<0.1%", 900.0, |_| {});
    assert_eq!((good.trial, good.why), (Trial::Holds, None));
    assert_eq!(good.figures[1].as_deref(), Some("0 (0 %)"));
    let slow = judged("p99<5ms,errors<0.1%", 900.0, |_| {});
    assert_eq!(slow.trial, Trial::Fails);
    assert!(slow.why.unwrap().starts_with("p99 was 10"));
    let piled = judged("errors<0.1%", 2000.0, |_| {});
    assert_eq!(piled.why.unwrap(), "only 1,000/s of 2,000/s answered");
    // However many random arrivals there happened to be, what piles up is seen.
    let few = judged("errors<0.1%", 1050.0, |run| {
        let Load::Open { arrivals, .. } = &mut run.plan.load else { panic!() };
        *arrivals = Arrivals::Poisson;
    });
    assert_eq!(few.why.unwrap(), "100 of 2,100 requests were unanswered at the end: they pile up");
    // Responses that take a second are under way, not piled up.
    let slow = judged("errors<0.1%", 1000.0, |run| {
        run.record.unfinished = 1000;
        run.record.slices.slices.iter_mut().for_each(|slice| slice.p50_ns = 1_000_000_000);
    });
    assert_eq!(slow.why, None);
    let ports = judged("errors<0.1%", 900.0, |run| {
        run.record.failures[FailureKind::LocalPorts as usize] = 400;
    });
    assert_eq!(ports.trial, Trial::LimitedByClient);
    // Error pages come fast, and are not what was to be measured.
    let pages = judged("p99<20ms,errors<1%", 900.0, |run| {
        run.record.unexpected = run.record.responses;
        run.record.statuses = [(500, run.record.responses)].into();
    });
    assert_eq!(pages.trial, Trial::Fails);
    assert_eq!(pages.why.unwrap(), "INVALID: D04 error pages");
    // One request is no rate, whoever was slow.
    let one = judged("p99<1us", 0.5, |run| {
        run.record.responses = 1;
        run.record.unfinished = 0;
        let intended = run.record.answered.intended.as_mut().unwrap();
        *intended.as_mut() = Intended::default();
        intended.lag.record(415_000);
        intended.response.record(540_000);
    });
    assert_eq!(one.trial, Trial::Fails);
    assert_eq!(one.why.unwrap(), "1 request at this rate: too few to judge it, use a longer -d");
    // Errors are no responses, whether or not a condition is put on them.
    let errors = judged("p99<20ms", 900.0, |run| {
        for slice in &mut run.record.slices.slices {
            slice.failures = std::mem::take(&mut slice.responses);
        }
    });
    assert_eq!(errors.why.unwrap(), "only 0/s of 900/s answered");
}

#[test]
fn a_folder_with_other_files_is_refused_and_left_as_it_is() {
    let scratch = Scratch::new("others");
    std::fs::write(scratch.join("index.html"), "keep").unwrap();
    let refused = StageFolder::at(scratch.path(), &search("p99<20ms"), &mut Former).unwrap_err();
    assert!(refused.to_string().contains("holds other files (index.html)"), "{refused}");
    assert!(!scratch.join("search.json").exists());
}
