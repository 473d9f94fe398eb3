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
    /// It works off what it has taken, whoever waits for it.
    keeps_its_backlog: bool,
}

thread_local! {
    /// Seconds of work that the target still has to do.
    static BACKLOG_S: std::cell::Cell<f64> = const { std::cell::Cell::new(0.0) };
}

/// Time passes for the target.
fn rest(time: Duration) {
    BACKLOG_S.set((BACKLOG_S.get() - time.as_secs_f64()).max(0.0));
}

impl Simulated {
    fn of(capacity_per_s: f64) -> Self {
        Self {
            capacity_per_s,
            offers_per_s: f64::INFINITY,
            asked: Vec::new(),
            interrupt_at: None,
            dies_at: None,
            keeps_its_backlog: false,
        }
    }

    /// A single request, answered behind what the target has to do.
    fn single(&self, load: &LoadSpec) -> Result<Run, Failure> {
        if self.dies_at.is_some_and(|at| self.asked.len() > at || at == 0) {
            return Err(Failure::Impossible("refused the connection".to_owned()));
        }
        let timeout_s = load.limits.timeout_ns as f64 / 1e9;
        let busy_s = BACKLOG_S.get();
        rest(Duration::from_secs_f64(timeout_s));
        if busy_s > timeout_s {
            return Err(Failure::Impossible("no response in time".to_owned()));
        }
        let mut run = saved();
        let mut intended = Intended::default();
        intended.response.record((busy_s * 1e9) as u64 + 10_000_000);
        run.record.unexpected = 0;
        run.record.answered.intended = Some(Box::new(intended));
        Ok(run)
    }
}

fn saved() -> Run {
    let saved = ablaze_testing::repository::file("crates/model/tests/saved/format-1.json");
    ablaze_report::json::load(&saved).unwrap().run
}

impl Runner for Simulated {
    fn run(&mut self, load: &LoadSpec, _profiled: bool) -> Result<Run, Failure> {
        if self.interrupt_at == Some(self.asked.len()) {
            return Err(Failure::Interrupted);
        }
        let Shape::Open { rate, .. } = load.shape else { return self.single(load) };
        let asked = rate.from_per_s;
        let length_ms = load.limits.duration_ns.unwrap() / 1_000_000;
        self.asked.push(asked);
        if self.dies_at.is_some_and(|at| self.asked.len() > at) {
            return Err(Failure::Impossible("refused the connection".to_owned()));
        }
        let mut run = saved();
        let length_s = length_ms as f64 / 1e3;
        if self.keeps_its_backlog {
            let busy_s = BACKLOG_S.get();
            BACKLOG_S.set((busy_s + (asked / self.capacity_per_s - 1.0) * length_s).max(0.0));
            if busy_s >= length_s {
                return Err(Failure::Impossible("no response in time".to_owned()));
            }
        }
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
        record.first_failure = None;
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
    let setting = Setting { program: ThisProgram::nowhere(), client, watch: &mut Nobody, rest };
    run(search, &mut folder, setting).unwrap()
}

#[test]
fn the_capacity_is_found_by_latency_and_without_it() {
    for (name, goal) in [("latency", "p99<20ms,errors<0.1%"), ("errors", "errors<0.1%")] {
        for capacity in [37.0, 801.0, 12_345.0] {
            let scratch = Scratch::new(&format!("{name}-{capacity}"));
            let searched_for = Search { fewest_requests: 1100, ..search(goal) };
            let searched = carried_out(
                &Search { stage_ns: 10_000_000_000, confirm_ns: 10_000_000_000, ..searched_for },
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

/// Single requests of a client without a processor are late, too, and are not the target's.
#[test]
fn a_client_at_its_limit_does_not_say_that_the_target_did_not_recover() {
    let scratch = Scratch::new("starved");
    let starved = Simulated { keeps_its_backlog: true, offers_per_s: 900.0, ..Simulated::of(10.0) };
    let mut client = Simulated { interrupt_at: Some(2), ..starved };
    let searched = carried_out(&search("p99<20ms"), &scratch.join("kept"), Some(&mut client));
    assert_eq!(searched.stages[0].trial, Trial::LimitedByClient, "{searched:?}");
    assert!(searched.gone.is_none() && searched.stages.len() == 2, "{searched:?}");
    BACKLOG_S.set(0.0);
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
    let why = searched.gone.clone().unwrap();
    assert!(why.starts_with("the target did not recover from 1,414/s: 20."), "{why}");
    assert!(why.contains("a single request failed (refused the connection); before the"), "{why}");
    assert!(why.ends_with("Start it again, and use lower rates (--from, --to)"), "{why}");
    // The stage in which it went away; then it is tried by single requests.
    assert_eq!(searched.stages.len(), 3, "{searched:?}");
    assert!(searched.stages[..2].iter().all(|stage| stage.measured.is_some()));
    assert_eq!(carried_out(&search("p99<20ms"), &scratch.join("kept"), None), searched);
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
    // A server that answers 256 at a time: the batch that is being filled is no pile.
    let batch = |run: &mut Run| {
        run.record.unfinished = 232;
        run.record.slices.slices.iter_mut().for_each(|slice| {
            (slice.p50_ns, slice.p99_ns) = (128_000_000, 253_000_000);
        });
    };
    assert_eq!(judged("errors<0.1%", 1000.0, batch).why, None);
    // Nor is one that ends behind the second half: 80 ms of them.
    let missed = judged("errors<0.1%", 1060.0, |run| {
        run.record.unfinished = 0;
        run.record.slices.slices.iter_mut().for_each(|slice| {
            (slice.p50_ns, slice.p99_ns) = (40_000_000, 79_000_000);
        });
    });
    assert_eq!(missed.why, None);
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
    assert_eq!(
        one.why.unwrap(),
        "1 request at this rate: too few to judge it, which takes 10; use a longer -d"
    );
    // Errors are no responses, whether or not a condition is put on them.
    let errors = judged("p99<20ms", 900.0, |run| {
        for slice in &mut run.record.slices.slices {
            slice.failures = std::mem::take(&mut slice.responses);
        }
    });
    assert_eq!(errors.why.unwrap(), "only 0/s of 900/s answered");
}

#[test]
fn what_a_stage_left_behind_is_worked_off_before_the_next() {
    let scratch = Scratch::new("backlog");
    // The first stage asks ten times of what can be done: 18 s of work are left when its 2 s are over.
    let mut client = Simulated { keeps_its_backlog: true, ..Simulated::of(100.0) };
    let searched = carried_out(&search("p99<20ms"), &scratch.join("kept"), Some(&mut client));
    let Some(Found::Limit { holds_per_s, .. }) = searched.found else { panic!("{searched:?}") };
    assert!(holds_per_s > 95.0 && holds_per_s <= 102.1, "{holds_per_s}");
    assert!(searched.stages.iter().all(|stage| stage.measured.is_some()), "{searched:?}");
    assert_eq!(carried_out(&search("p99<20ms"), &scratch.join("kept"), None), searched);
    // One that does not recover in any time ends the search, which says so.
    let scratch = Scratch::new("for-ever");
    let mut client = Simulated { keeps_its_backlog: true, ..Simulated::of(10.0) };
    let searched = carried_out(&search("p99<20ms"), &scratch.join("kept"), Some(&mut client));
    let why = searched.gone.clone().unwrap();
    assert!(why.starts_with("the target did not recover from 1,000/s: 2"), "{why}");
    assert_eq!(searched.stages.len(), 1);
    assert_eq!(carried_out(&search("p99<20ms"), &scratch.join("kept"), None), searched);
    BACKLOG_S.set(0.0);
}

#[test]
fn a_stage_of_a_target_that_exited_is_kept_and_shown() {
    let scratch = Scratch::new("exited");
    let search = search("p99<20ms");
    let path = scratch.join("kept");
    let mut folder = StageFolder::at(&path, &search, &mut Former).unwrap();
    let mut client = Simulated::of(1700.0);
    let run = live::assessed(client.run(&search.stage_load(1000.0, false), false).unwrap());
    folder.note_failure(1, 1000.0, ("one exited during the stage", Some(&run))).unwrap();
    drop(folder);
    let searched = carried_out(&search, &path, None);
    let (folder, _) = StageFolder::open(&path, &mut Former).unwrap();
    let [stage] = &searched.stages[..] else { panic!("{searched:?}") };
    assert_eq!(stage.trial, Trial::Fails);
    assert_eq!(stage.why.as_deref(), Some("one exited during the stage"));
    assert_eq!(stage.measured.as_ref().unwrap().answered_per_s, 1000.0);
    assert!(folder.shown_run(&searched).unwrap().is_some());
    // At a lower rate it may not exit: the search goes on.
    assert!(searched.interrupted && searched.gone.is_none());
    let after = carried_out(&search, &path, Some(&mut client));
    assert!(after.is_answered() && after.stages[0] == searched.stages[0], "{after:?}");
}

#[test]
fn a_stage_that_cannot_be_kept_ends_the_search_with_what_there_is() {
    let scratch = Scratch::new("unwritable");
    let search = search("p99<20ms");
    let mut folder = StageFolder::at(&scratch.join("kept"), &search, &mut Former).unwrap();
    std::fs::create_dir(folder.file(1, 1000.0).with_extension("hlog")).unwrap();
    let client: Option<&mut dyn Runner> = Some(&mut Simulated::of(1700.0));
    let setting = Setting { program: ThisProgram::nowhere(), client, watch: &mut Nobody, rest };
    let searched = run(&search, &mut folder, setting).unwrap();
    assert_eq!((searched.stages.len(), searched.found), (1, None));
    assert!(folder.unsaved().unwrap().starts_with("stage 1: "), "{:?}", folder.unsaved());
}

#[test]
fn too_few_requests_do_not_show_that_a_share_is_kept_to() {
    let judged = |goal: &str, rate: f64, change: fn(&mut Run)| {
        let mut run =
            Simulated::of(1000.0).run(&search(goal).stage_load(rate, false), false).unwrap();
        change(&mut run);
        goal.parse::<Goal>().unwrap().judge(&live::assessed(run), rate)
    };
    let few = judged("errors<1%", 15.0, |_| {});
    assert!(few.undecided && few.trial == Trial::Fails, "{few:?}");
    assert!(
        few.why.unwrap().contains("30 requests at this rate: too few to judge it, which takes 100")
    );
    assert_eq!(judged("errors<1%", 60.0, |_| {}).trial, Trial::Holds);
    assert_eq!(judged("p99<20ms", 15.0, |_| {}).trial, Trial::Holds);
    // Behind "does not hold: ", which the row says.
    let slow = judged("p99.99<5ms", 15.0, |_| {}).why.unwrap();
    assert!(slow.starts_with("p99.99<5ms: 10") && !slow.contains("does not hold"), "{slow}");
    // One that was never answered, in whatever stage, is one of 30.
    let lost = |run: &mut Run| {
        run.record.responses -= 1;
        run.record.statuses = [(200, run.record.responses)].into();
        run.record.unfinished = 1;
        run.record.unfinished_oldest_ns = 300_000_000;
    };
    let hung = judged("p99<20ms", 15.0, lost);
    assert_eq!((hung.trial, hung.undecided), (Trial::Fails, false));
    let why = hung.why.unwrap();
    assert!(why.starts_with("1 of 30 requests were not answered, 3.3 % (1 request at the end without a response, the oldest for 300 ms"), "{why}");
    // Two in a hundred may be missing, but not where less is asked for.
    let hung = judged("errors<1%", 50.0, lost);
    assert!(
        hung.trial == Trial::Fails
            && hung.why.as_deref().unwrap().starts_with("1 request at the end"),
        "{hung:?}"
    );
    assert_eq!(judged("errors<2%", 50.0, lost).trial, Trial::Holds);
    // One that is under way is not lost.
    let under_way = judged("errors<1%", 60.0, |run| {
        run.record.unfinished = 1;
        run.record.unfinished_oldest_ns = 20_000_000;
    });
    assert_eq!(under_way.trial, Trial::Holds);
}

#[test]
fn a_stage_that_is_missing_among_others_is_no_interruption() {
    let scratch = Scratch::new("missing-stage");
    let search = search("p99<20ms");
    let path = scratch.join("kept");
    let searched = carried_out(&search, &path, Some(&mut Simulated::of(1700.0)));
    let (folder, _) = StageFolder::open(&path, &mut Former).unwrap();
    std::fs::remove_file(folder.file(2, searched.stages[1].asked_per_s)).unwrap();
    let shown = carried_out(&search, &path, None);
    assert!(!shown.interrupted, "{shown:?}");
    assert!(shown.gone.unwrap().contains("stage 2 is missing"));
}
