//! Fleets of up to 64 simulated workers, with delays, clocks of their own, losses and hangs at every stage.

mod coming_back;
mod simulated_workers;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ablaze_model::LoadSpec;
use proptest::prelude::*;

use super::*;
use crate::message::VERSION;
use simulated_workers::{HERE_NS, MS, Moment, S, Script, Simulation, Trouble, What, Worker};

fn assignment(at: usize, of: usize) -> Assignment {
    Assignment {
        version: VERSION,
        program: "test".to_owned(),
        id: "0".repeat(32),
        name: format!("host-{at}"),
        index: at as u32,
        of: of as u32,
        load: LoadSpec::default(),
        files: Default::default(),
        secrets: Default::default(),
        identities: Default::default(),
    }
}

/// Plays it to the end, and holds it against what must be true of every fleet.
fn play(scripts: Vec<Script>, lost: Lost, interrupts_ns: &[u64]) -> Outcome {
    let settings = Settings { lost, ..Settings::default() };
    let of = scripts.len();
    let assignments = (0..of).map(|at| assignment(at, of)).collect();
    let (mut coordinator, first) = Coordinator::new(settings, assignments, HERE_NS);
    let worker = |script| Worker {
        script,
        sent: 0,
        last_there_ns: 0,
        last_here_ns: 0,
        is_dead: false,
        hangs: false,
        is_new: false,
        is_broken: false,
        has_broken: false,
        started_here_ns: None,
        stopped: false,
        done: 0,
        has_ended: false,
        was_cut: false,
        was_received: false,
    };
    let mut simulation = Simulation {
        now_ns: HERE_NS,
        queue: BinaryHeap::new(),
        what: Vec::new(),
        workers: scripts.into_iter().map(worker).collect(),
    };
    simulation.at(HERE_NS, What::Tick);
    interrupts_ns.iter().for_each(|at_ns| simulation.at(HERE_NS + at_ns, What::Interrupt));
    let (mut passed, mut started, mut over) = (vec![0; of], Vec::new(), false);
    let mut passed_when_closed = vec![None; of];
    let mut actions = first;
    loop {
        for action in actions.drain(..) {
            match action {
                Action::Say(at, message) => {
                    if let ToWorker::Start { .. } = message {
                        started.push((at, simulation.now_ns));
                    }
                    let way_ns = simulation.way_ns(at);
                    let worker = &mut simulation.workers[at];
                    worker.last_there_ns = worker.last_there_ns.max(simulation.now_ns + way_ns);
                    let at_ns = worker.last_there_ns;
                    simulation.at(at_ns, What::ToWorker(at, message));
                }
                Action::Cut(at) => {
                    let worker = &mut simulation.workers[at];
                    worker.was_cut = true;
                    // What a broken channel led to ends by itself, and may be heard again before.
                    worker.is_dead = !worker.has_broken;
                }
                Action::Row(at, interval) => passed[at] += interval.responses,
                Action::Over => over = true,
            }
        }
        if over {
            break;
        }
        let Reverse((at_ns, number)) = simulation.queue.pop().expect("ticks never end");
        assert!(at_ns < HERE_NS + 200 * S, "it does not end");
        simulation.now_ns = at_ns;
        let what = simulation.what[number as usize].take().unwrap();
        let event = match what {
            What::ToWorker(at, message) => {
                simulation.heard(at, message);
                continue;
            }
            What::Row(at, number) => {
                simulation.row(at, number);
                continue;
            }
            What::Start(at) => {
                simulation.starts(at);
                continue;
            }
            What::Beat(at) if simulation.workers[at].knows_nothing() => continue,
            What::Back(at) => {
                simulation.workers[at].is_broken = false;
                continue;
            }
            What::Beat(at) => {
                simulation.tell(at, FromWorker::Alive);
                simulation.at(at_ns + S, What::Beat(at));
                continue;
            }
            What::ToCoordinator(at, message) => Event::Said(at, message),
            What::Closed(at) => {
                passed_when_closed[at].get_or_insert(passed[at]);
                Event::Closed(at, "the connection ended".to_owned())
            }
            What::Tick => {
                simulation.at(at_ns + 100 * MS, What::Tick);
                Event::Tick
            }
            What::Interrupt => Event::Interrupted,
        };
        actions = coordinator.on(event, at_ns);
    }
    assert!(coordinator.on(Event::Tick, u64::MAX).is_empty(), "nothing is done afterwards");
    let outcome = coordinator.outcome();
    holds(&simulation, &outcome, &passed, &started, lost);
    for (at, when_closed) in passed_when_closed.into_iter().enumerate() {
        assert!(when_closed.is_none_or(|then| then == passed[at]), "streams are never rejoined");
    }
    outcome
}

fn holds(
    simulation: &Simulation,
    outcome: &Outcome,
    passed: &[u64],
    started: &[(usize, u64)],
    lost: Lost,
) {
    // All are told to start at once, and each once.
    assert!(started.windows(2).all(|pair| pair[0].1 == pair[1].1 && pair[0].0 < pair[1].0));
    for (at, (worker, real)) in outcome.workers.iter().zip(&simulation.workers).enumerate() {
        assert_eq!(worker.rows.responses, passed[at], "every row was passed on, and once");
        assert!(worker.rows.responses <= real.done, "nothing is counted twice");
        assert!(worker.run.is_none() || worker.lost.is_none());
        if let Some(run) = &worker.run {
            assert_eq!(*run, real.done.to_string());
            assert_eq!(worker.rows.responses, real.done, "rows come before the Run");
        }
        // Nobody is left running: it was told that its Run has come, or cut off, or ended by itself.
        // One behind a broken channel hears nothing any more, and ends for that.
        let ends = real.was_received || real.was_cut || real.is_dead || real.has_broken;
        assert!(ends, "worker {at} is left running");
        let Some(clock) = worker.clock else { continue };
        assert!(clock.ahead_ns.abs_diff(real.script.ahead_ns) <= clock.bound_ns);
        if let Some((here_ns, told_ns)) = real.started_here_ns.zip(worker.started_ns) {
            assert!(here_ns.abs_diff(told_ns) <= clock.bound_ns);
            let late_ns = here_ns.abs_diff(outcome.start_ns.unwrap());
            assert!(late_ns <= clock.bound_ns, "it starts when it was told to");
        }
    }
    if lost == Lost::Fail && outcome.start_ns.is_some() {
        // Who was lost was lost after the start.
        let early = |worker: &&WorkerOutcome| worker.lost.is_some() && worker.clock.is_none();
        assert_eq!(outcome.workers.iter().filter(early).count(), 0);
    }
}

fn script(trouble: Trouble) -> Script {
    Script { ahead_ns: 5 * S as i64, ways_ns: vec![MS, 3 * MS, 2 * MS], trouble }
}

fn moments() -> impl Strategy<Value = Moment> {
    prop::sample::select(vec![
        Moment::BeforeReady,
        Moment::AfterReady,
        Moment::InMidRun,
        Moment::BeforeItsRun,
        Moment::BehindItsRun,
        Moment::BeforeGoodbye,
    ])
}

fn troubles() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        12 => Just(Trouble::None),
        1 => moments().prop_map(Trouble::Dies),
        1 => moments().prop_map(Trouble::Hangs),
        1 => Just(Trouble::Fails),
        1 => Just(Trouble::Babbles),
        1 => Just(Trouble::HidesItsClock),
        1 => moments().prop_map(Trouble::OnlyLives),
        1 => moments().prop_map(Trouble::Restarts),
        1 => moments().prop_map(Trouble::RestartsAssigned),
        1 => moments().prop_map(Trouble::Breaks),
    ]
}

fn scripts() -> impl Strategy<Value = Script> {
    let ahead = -900_000_000_000i64..900_000_000_000;
    (ahead, prop::collection::vec(10_000..40 * MS, 1..6), troubles())
        .prop_map(|(ahead_ns, ways_ns, trouble)| Script { ahead_ns, ways_ns, trouble })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_fleet_ends_and_loses_nothing_that_was_said(
        scripts in prop::collection::vec(scripts(), 1..65),
        goes_on in any::<bool>(),
        interrupts in prop::collection::vec(0..8 * S, 0..3),
    ) {
        let lost = if goes_on { Lost::GoOn } else { Lost::Fail };
        let interrupts = if scripts.len() % 2 == 0 { interrupts } else { Vec::new() };
        let troubles: Vec<Trouble> = scripts.iter().map(|script| script.trouble).collect();
        let outcome = play(scripts, lost, &interrupts);
        if interrupts.is_empty() {
            for (worker, trouble) in outcome.workers.iter().zip(troubles) {
                if trouble == Trouble::None && goes_on {
                    prop_assert!(worker.run.is_some(), "{worker:?}");
                }
            }
        }
    }
}

#[test]
fn a_fleet_without_trouble_has_every_run_and_a_small_skew() {
    let outcome = play(vec![script(Trouble::None); 8], Lost::Fail, &[]);
    assert!(outcome.workers.iter().all(|worker| worker.run.is_some() && worker.lost.is_none()));
    let skew = outcome.skew().unwrap();
    assert!(skew.ns <= skew.bound_ns, "{skew:?}");
    assert!(outcome.workers.iter().all(|worker| worker.clock_after.is_some()));
}

#[test]
fn a_worker_lost_before_the_start_ends_it_or_is_done_without() {
    let scripts = vec![script(Trouble::None), script(Trouble::Dies(Moment::BeforeReady))];
    let failed = play(scripts.clone(), Lost::Fail, &[]);
    assert_eq!(failed.start_ns, None);
    assert_eq!(failed.workers[1].lost.as_deref(), Some("the connection ended"));
    assert_eq!(failed.workers[0].lost, None);
    let without = play(scripts, Lost::GoOn, &[]);
    assert!(without.workers[0].run.is_some());
    assert_eq!(without.skew(), None);
}

#[test]
fn a_worker_lost_in_mid_run_keeps_what_it_said_and_ends_the_others_early() {
    let scripts = vec![script(Trouble::None), script(Trouble::Hangs(Moment::InMidRun))];
    let failed = play(scripts, Lost::Fail, &[]);
    assert_eq!(failed.workers[1].lost.as_deref(), Some("said nothing for 10 s"));
    // Six rows: 10 + 20 + … + 60, and one more in each for its number.
    assert_eq!(failed.workers[1].rows.responses, 216);
    let standing = &failed.workers[1].standing;
    assert_eq!((standing.busy, standing.limit.as_deref()), (Some(0.5), Some("client")));
    assert_eq!(standing.found[0].evidence, "20 connections failed");
    assert!(failed.workers[0].run.is_some());
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_a_second_waits_for_nobody() {
    let scripts = vec![script(Trouble::None), script(Trouble::Hangs(Moment::BeforeItsRun))];
    let once = play(scripts.clone(), Lost::GoOn, &[3 * S]);
    assert!(once.interrupted && once.workers[0].run.is_some());
    let twice = play(scripts, Lost::GoOn, &[3 * S, 3 * S + 500 * MS]);
    assert_eq!(twice.workers[1].lost.as_deref(), Some("the run was interrupted twice"));
    let early = play(vec![script(Trouble::None); 2], Lost::Fail, &[MS]);
    assert!(early.workers.iter().all(|worker| worker.run.is_none() && worker.lost.is_none()));
}

#[test]
fn a_worker_that_lives_and_hides_its_clock_is_not_waited_for_for_ever() {
    let scripts = vec![script(Trouble::None), script(Trouble::HidesItsClock)];
    let outcome = play(scripts, Lost::GoOn, &[]);
    let why = outcome.workers[1].lost.as_deref();
    assert_eq!(why, Some("did not say what its clock shows for 10 s"));
    assert!(outcome.workers[0].run.is_some());
}

#[test]
fn a_worker_that_lives_and_tells_of_nothing_is_not_waited_for_for_ever() {
    let why = "said that it is there, and told of no row and no run, for 60 s";
    for (moment, rows) in [(Moment::InMidRun, 216), (Moment::BeforeItsRun, 2120)] {
        let scripts = vec![script(Trouble::None), script(Trouble::OnlyLives(moment))];
        let outcome = play(scripts, Lost::GoOn, &[]);
        assert_eq!(outcome.workers[1].lost.as_deref(), Some(why));
        assert_eq!(outcome.workers[1].rows.responses, rows);
        assert!(outcome.workers[0].run.is_some() && outcome.workers[0].lost.is_none());
    }
    // One that does not go when its Run has come is done with as well, and not lost.
    let scripts = vec![script(Trouble::OnlyLives(Moment::BeforeGoodbye)); 2];
    let outcome = play(scripts, Lost::Fail, &[]);
    assert!(outcome.workers.iter().all(|worker| worker.run.is_some() && worker.lost.is_none()));
}

/// A coordinator of two workers that have started at the time it comes with; nothing has been heard since.
fn under_way() -> (Coordinator, u64) {
    let settings = Settings { pings: 1, ..Settings::default() };
    let assignments = (0..2).map(|at| assignment(at, 2)).collect();
    let (mut coordinator, _) = Coordinator::new(settings, assignments, HERE_NS);
    for at in 0..2 {
        let ready = FromWorker::Ready(ablaze_model::fleet::WorkerMachine::default());
        coordinator.on(Event::Said(at, ready), HERE_NS + MS);
        let pong = FromWorker::Pong { number: 0, at_ns: HERE_NS };
        coordinator.on(Event::Said(at, pong), HERE_NS + 2 * MS);
    }
    assert!(coordinator.start_ns().is_some());
    let mut now_ns = HERE_NS;
    for _ in 0..3 {
        now_ns += S;
        coordinator.on(Event::Tick, now_ns);
    }
    for at in 0..2 {
        coordinator.on(Event::Said(at, FromWorker::Started { at_ns: HERE_NS + 2 * S }), now_ns);
    }
    (coordinator, now_ns)
}

#[test]
fn time_in_which_the_coordinator_did_not_run_is_nobodys_silence() {
    let (mut coordinator, mut now_ns) = under_way();
    let losses = |actions: &[Action]| {
        actions.iter().filter(|action| matches!(action, Action::Cut(_))).count()
    };
    now_ns += 14 * S;
    assert_eq!(losses(&coordinator.on(Event::Tick, now_ns)), 0);
    // One is there still; the other has ended its load, as it heard nothing for so long.
    coordinator.on(Event::Said(0, FromWorker::Alive), now_ns);
    coordinator.on(Event::Closed(1, "its channel was closed".to_owned()), now_ns);
    // Who says nothing from then on is lost as before.
    for _ in 0..10 {
        now_ns += S;
        assert_eq!(losses(&coordinator.on(Event::Tick, now_ns)), 0);
    }
    assert_eq!(losses(&coordinator.on(Event::Tick, now_ns + S)), 1);
    let outcome = coordinator.outcome();
    assert_eq!(outcome.workers[0].lost.as_deref(), Some("said nothing for 10 s"));
    assert_eq!(
        outcome.workers[1].lost.as_deref(),
        Some(
            "its channel was closed, after this coordinator did not run for 14 s: a worker ends its load when it \
             hears nothing for 10 s"
        )
    );
}
