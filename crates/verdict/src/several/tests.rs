//! What several runs or reports show only beside each other.

use ablaze_model::{FailureKind, Run};

use super::*;
use crate::DiagnosisId::{self, *};
use crate::finding::Severity;
use crate::live::{judge, sample};
use crate::rules::is_equal_work;

/// A run of a target that answers this many per second.
fn run(rate_per_s: u64) -> Run {
    let mut run = sample::run();
    run.record.responses = rate_per_s * 10;
    run.record.reused = rate_per_s * 10;
    run.record.statuses = [(200, rate_per_s * 10)].into();
    run.record.body_lengths = [(14, rate_per_s * 10)].into();
    run.record.body_lengths_other = 0;
    run
}

fn members(runs: &[(&str, Run)]) -> Vec<Member> {
    let of = |(target, run): &(&str, Run)| {
        member(run, &judge(run).findings, target, target, Some("0.1.0")).unwrap()
    };
    runs.iter().map(of).collect()
}

fn compared(runs: &[(&str, Run)]) -> Several {
    beside_each_other(members(runs), None).unwrap()
}

fn finding(several: &Several, id: DiagnosisId) -> Option<&Finding> {
    several.findings().iter().find(|finding| finding.id == id)
}

fn changed(change: impl FnOnce(&mut Run)) -> Run {
    let mut run = run(2000);
    change(&mut run);
    run
}

#[test]
fn repeats_in_turns_of_equal_work_have_nothing_against_them() {
    let rates = [("a", 2000), ("b", 2500), ("b", 2510), ("a", 2020), ("a", 2010), ("b", 2490)];
    let runs = rates.map(|(target, rate)| (target, run(rate)));
    let several = compared(&runs);
    assert_eq!(several.findings(), []);
    assert_eq!(several.verdict(), Verdict::Valid);
    assert!(is_equal_work(&members(&runs)));
    assert_eq!(beside_each_other(members(&runs[..1]), None), None);
}

#[test]
fn unequal_work_is_named_and_not_ranked() {
    let expect = |change: fn(&mut Run), severity, text: &str| {
        let runs = [("a", run(2000)), ("b", changed(change))];
        let several = compared(&runs);
        let found = finding(&several, D05).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((found.severity, found.evidence.as_str()), (severity, text));
        assert_eq!(is_equal_work(&members(&runs)), severity == Severity::Note);
    };
    let (note, suspect, invalid) = (Severity::Note, Severity::Suspect, Severity::Invalid);
    let not_found = |run: &mut Run| run.record.statuses = [(404, 20_000)].into();
    expect(not_found, invalid, "a against b: status 200 against 404");
    expect(
        |run| run.record.statuses = [(200, 18_000), (503, 2000)].into(),
        invalid,
        "a against b: status 200 against 200 (90 %) and 503 (10 %)",
    );
    expect(
        |run| run.record.reused = 0,
        invalid,
        "a against b: connections kept against one per request",
    );
    // 18,000 of 20,000.
    expect(
        |run| run.record.reused = 18_000,
        suspect,
        "a against b: a new connection for 0 % of the responses against 10 %",
    );
    expect(
        |run| run.record.in_flight_ns /= 10,
        invalid,
        "a against b: 1.00 in flight against 0.100",
    );
    expect(
        |run| run.plan.requests.method = "HEAD".into(),
        invalid,
        "a against b: method GET against HEAD",
    );
    expect(
        |run| run.plan.requests.minor_version = 0,
        suspect,
        "a against b: HTTP/1.1 against HTTP/1.0",
    );
    expect(
        |run| run.plan.workers.count = 4,
        suspect,
        "a against b: 1 thread of the client against 4",
    );
    expect(
        |run| run.machine.cpus_allowed = Some(8),
        suspect,
        "a against b: the client's machine: 2 CPUs against 8 CPUs",
    );
    expect(
        |run| run.record.first_head.extend(b"X-Much-More: of this and of that"),
        note,
        "a against b: heads of 41 B against 73 B",
    );
    expect(
        |run| {
            let thread = sample::threads(run)[0].clone();
            sample::threads(run).push(thread);
        },
        suspect,
        "a against b: 1 server thread busy against 2",
    );
}

/// The plan has the method of the first step, and the path of the target, for which no step need ask.
#[test]
fn journeys_are_compared_by_all_of_their_steps() {
    let walked = |steps: &[&str]| {
        let mut run = changed(|run| run.plan.target.path = "/".into());
        run.plan.journey = crate::live::setup::sample::with_failed(0).plan.journey;
        run.plan.journey.as_mut().unwrap().steps = steps.iter().map(|s| (*s).to_owned()).collect();
        run
    };
    let of = |one: Run, other: Run| {
        let compared = compared(&[("a", one), ("b", other)]);
        finding(&compared, D05).map_or(String::new(), |found| found.evidence.clone())
    };
    let steps = ["GET /x", "GET /y"];
    assert_eq!(of(walked(&steps), walked(&steps)), "");
    let said = of(run(2000), walked(&steps));
    assert!(said.contains("method GET against those of 2 steps: GET /x and GET /y"), "{said}");
    assert!(!said.contains(" against /"), "{said}");
    let said = of(walked(&["GET /x", "GET /z"]), walked(&steps));
    assert!(said.contains("GET /x and GET /z against those of 2 steps"), "{said}");
}

/// Every fifth response is another page behind another head: the first is not as long as all.
#[test]
fn of_several_statuses_the_mean_of_the_heads_is_told() {
    let with = |responses_of_503: u64| {
        changed(|run| {
            let all = run.record.responses;
            run.record.statuses = [(200, all - responses_of_503), (503, responses_of_503)].into();
            run.record.received_bytes = run.record.body_bytes + all * 55;
            run.record.first_head = vec![b'x'; 41];
        })
    };
    let compared = compared(&[("a", run(2000)), ("b", with(400))]);
    let evidence = &finding(&compared, D05).unwrap().evidence;
    assert!(evidence.contains("heads of 41 B against 55 B"), "{evidence}");
}

#[test]
fn a_faster_target_is_no_unequal_work() {
    let runs = [("a", run(2000)), ("b", run(9000))];
    assert_eq!(finding(&compared(&runs), D05), None);
    assert!(is_equal_work(&members(&runs)));
    // An open loop has as many in flight as the target makes it have.
    let open = |rate_per_s: f64, in_flight: u128| {
        changed(|run| {
            sample::open_loop(run, rate_per_s);
            run.record.in_flight_ns = in_flight * 10_000_000_000;
        })
    };
    assert!(is_equal_work(&members(&[("a", open(2000.0, 2)), ("b", open(2000.0, 90))])));
    assert!(!is_equal_work(&members(&[("a", open(2000.0, 2)), ("b", open(3000.0, 2))])));
}

/// Forty requests, four at a time, 1 ms each.
fn short(change: impl FnOnce(&mut Run)) -> Run {
    let mut run = run(4);
    run.plan.load = ablaze_model::plan::Load::Closed { connections: 4, pipeline: 1 };
    run.plan.limits.requests = Some(40);
    run.elapsed_ns = 10_000_000;
    run.record.answered.total.clear();
    run.record.answered.total.record_many(1_000_000, 40);
    run.record.in_flight_ns = 40_000_000;
    change(&mut run);
    run
}

#[test]
fn what_chance_does_to_a_short_run_is_no_unequal_work() {
    let against = |change: fn(&mut Run)| {
        let runs = [("a", short(|_| {})), ("b", short(change))];
        finding(&compared(&runs), D05).map(|found| found.evidence.clone())
    };
    assert_eq!(against(|_| {}), None);
    // The last response took 40 ms, with nothing left to send beside it.
    let late = |run: &mut Run| {
        run.elapsed_ns = 49_000_000;
        run.record.answered.total.record(40_000_000);
        run.record.in_flight_ns = 79_000_000;
    };
    assert_eq!(against(late), None);
    // For the same numbers, ended by its time, nothing but the load explains them.
    let by_time = |run: &mut Run| {
        run.plan.limits.requests = None;
        run.elapsed_ns = 49_000_000;
        run.record.in_flight_ns = 79_000_000;
    };
    assert_eq!(against(by_time).unwrap(), "a against b: 4 in flight against 1.61");
    // One response of forty was refused; three connections were closed and opened again.
    assert_eq!(against(|run| run.record.statuses = [(200, 39), (503, 1)].into()), None);
    assert_eq!(against(|run| run.record.reused = 37), None);
    let half = against(|run| run.record.statuses = [(200, 20), (503, 20)].into()).unwrap();
    assert_eq!(half, "a against b: status 200 against 200 (50 %) and 503 (50 %)");
    // A page of either 10 or 20 bytes: 15.0 against 15.5 on average.
    let lengths =
        |short, long| self::short(|run| run.record.body_lengths = [(10, short), (20, long)].into());
    let compared_lengths = |one, other| {
        let runs = [("a", one), ("b", other)];
        finding(&compared(&runs), D05).map(|found| found.severity)
    };
    assert_eq!(compared_lengths(lengths(20, 20), lengths(18, 22)), None);
    assert_eq!(compared_lengths(lengths(40, 0), lengths(0, 40)), Some(Severity::Invalid));
}

#[test]
fn single_runs_and_runs_of_different_days_are_suspect() {
    let several = compared(&[("a", run(2000)), ("b", run(2050))]);
    let found = finding(&several, D15).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(found.evidence.contains("a and b (2,000 and 2,050/s) differ by 2.5 %"));
    // Far apart in rate is a note, unless a day lies between.
    let later = |hours: u64| {
        let mut run = run(9000);
        run.started_unix_ns += hours * 3_600_000_000_000;
        run
    };
    let severity = |hours| {
        let several = compared(&[("a", run(2000)), ("b", later(hours))]);
        let found = finding(&several, D15).unwrap();
        (found.severity, found.evidence.contains("apart rather than alternating"))
    };
    assert_eq!(severity(0), (Severity::Note, false));
    assert_eq!(severity(26), (Severity::Suspect, true));
    let a = || ("a", run(2000));
    let several = compared(&[a(), a(), a(), ("b", later(2)), ("b", later(2)), ("b", later(2))]);
    let found = finding(&several, D15).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert_eq!(found.evidence, "They were measured 2.00 hours apart rather than alternating.");
}

#[test]
fn repeats_among_each_other_show_no_difference() {
    let rates = [("a", 2000), ("b", 2020), ("a", 2030), ("b", 2050), ("a", 2010), ("b", 2000)];
    let several = compared(&rates.map(|(target, rate)| (target, run(rate))));
    let found = finding(&several, D15).unwrap();
    assert_eq!(found.severity, Severity::Note);
    assert!(found.evidence.contains("their runs overlap"), "{}", found.evidence);
}

/// Pairs of runs show differences that are smaller than the spread: what they show is not called noise beside them.
#[test]
fn the_spread_of_runs_in_turns_forbids_no_difference() {
    let rates = [("a", 2000), ("b", 2900), ("b", 4000), ("a", 3000), ("a", 2500), ("b", 3500)];
    let at = |(nth, (target, rate)): (usize, (&'static str, u64))| {
        let mut run = run(rate);
        run.started_unix_ns += nth as u64 * 10_000_000_000;
        (target, run)
    };
    let runs: Vec<(&str, Run)> = rates.into_iter().enumerate().map(at).collect();
    let several = compared(&runs);
    let found = finding(&several, D15).unwrap();
    assert!(found.evidence.contains("3 runs of a ranged from"), "{}", found.evidence);
    assert!(!found.evidence.contains("overlap"), "{}", found.evidence);
    assert!(!found.fix.contains("do not call"), "{}", found.fix);
    // One after the other they make no pairs.
    let mut runs = runs;
    for (nth, (target, run)) in runs.iter_mut().enumerate() {
        run.started_unix_ns += if *target == "b" { 600_000_000_000 } else { nth as u64 };
    }
    let several = compared(&runs);
    let found = finding(&several, D15).unwrap();
    assert!(found.evidence.contains("their runs overlap"), "{}", found.evidence);
}

/// Ten rounds of two targets, one of which is three times as slow from the fourth round on.
#[test]
fn a_target_that_changes_between_its_runs_is_no_noise() {
    let rounds = |of_b: fn(u64) -> u64| {
        let runs = (0..10).flat_map(|round: u64| {
            let of_a = if round < 3 { 9_000 } else { 3_000 } + round % 3 * 20;
            [("a", of_a), ("b", of_b(round))].map(|(target, rate)| {
                let mut run = run(rate);
                run.started_unix_ns +=
                    round * 20_000_000_000 + u64::from(target == "b") * 10_000_000_000;
                (target, run)
            })
        });
        finding(&compared(&runs.collect::<Vec<_>>()), D15).cloned()
    };
    let found = rounds(|round| 5_000 + round % 4 * 30).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    let said =
        "The first 3 runs of a came to 9,000 to 9,040/s, and the last 7 to 3,000 to 3,040/s.";
    assert_eq!(found.evidence, said);
    assert!(
        found.cause.contains("that did not show in the rates of those measured in turns"),
        "{found:?}"
    );
    // Both at once: pairs are compared on one level each.
    let found = rounds(|round| if round < 3 { 6_000 } else { 2_000 } + round % 4 * 10).unwrap();
    assert_eq!(found.severity, Severity::Note);
    // In the middle of a run, and later than the other's.
    let found = rounds(|round| [8_000, 4_000, 2_000][round.saturating_sub(5).min(2) as usize]);
    let said =
        "The first 6 runs of b came to 8,000 to 8,000/s, and the last 3 to 2,000 to 2,000/s.";
    assert!(found.unwrap().evidence.contains(said));
    // Up and down.
    assert!(
        rounds(|round| 5_000 + round % 2 * 2_000)
            .unwrap()
            .evidence
            .starts_with("The first 3 runs of a")
    );
}

#[test]
fn waiting_for_room_that_never_was_short() {
    let waits = |model: &str, waited_ns: u64| {
        changed(|run| {
            let monitor = sample::monitor(run);
            let words = ["ablaze", "serve", "8080", "--model", model];
            monitor.target.processes[0].command_line = words.map(str::to_owned).to_vec();
            let mut connections = sample::connections();
            connections.last.send_buffer_limited_ns = Some(waited_ns);
            monitor.server_connections = Some(connections);
        })
    };
    let several = compared(&[("lt", waits("epoll-lt", 0)), ("et", waits("epoll-et", 0))]);
    let found = finding(&several, D25).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(found.evidence.contains("`epoll-et` and `epoll-lt`"), "{}", found.evidence);
    let large = |model| {
        let mut run = waits(model, 0);
        run.record.body_lengths = [(1 << 20, 20_000)].into();
        run
    };
    let several = compared(&[("lt", large("epoll-lt")), ("et", large("epoll-et"))]);
    assert_eq!(finding(&several, D25).unwrap().severity, Severity::Note);
    // It was told a small buffer: full for less than TCP counts.
    let told = |model| {
        let mut run = large(model);
        let words = &mut sample::monitor(&mut run).target.processes[0].command_line;
        words.extend(["--sndbuf", "65536"].map(str::to_owned));
        run
    };
    assert_eq!(
        finding(&compared(&[("lt", told("epoll-lt")), ("et", told("epoll-et"))]), D25),
        None
    );
    for other in [waits("epoll-et", 1), waits("uring", 0), run(2000)] {
        assert_eq!(finding(&compared(&[("lt", waits("epoll-lt", 0)), ("et", other)]), D25), None);
    }
}

fn at(concurrency: u32, rate_per_s: u64) -> Run {
    let mut run = run(rate_per_s);
    run.plan.load = ablaze_model::plan::Load::Closed { connections: concurrency, pipeline: 1 };
    // Little's law: so many in flight make each take so long.
    run.record.in_flight_ns = u128::from(concurrency) * 10_000_000_000;
    run.record.answered.total.clear();
    let each_ns = u64::from(concurrency) * 1_000_000_000 / rate_per_s;
    run.record.answered.total.record_many(each_ns, rate_per_s * 10);
    run
}

#[test]
fn runs_over_concurrency_make_curves() {
    let runs = [
        ("a", at(1, 1000)),
        ("a", at(2, 3000)),
        ("a", at(10, 9000)),
        ("a", at(100, 5000)),
        ("a", at(100, 7000)),
        ("a", at(100, 6000)),
        ("b", at(1, 1010)),
        ("b", at(2, 2000)),
        ("b", at(10, 9000)),
        ("b", at(100, 9000)),
    ];
    let several = compared(&runs);
    let Several::Curves(judged) = &several else { panic!("{several:?}") };
    let points = [(1, 1000.0), (2, 3000.0), (10, 9000.0), (100, 6000.0)];
    assert_eq!(judged.subject[0].points, points);
    // 2 / 3,000 s against 1 / 1,000 s.
    assert!(finding(&several, D16).unwrap().evidence.contains("667 µs instead of 1.00 ms"));
    assert!(finding(&several, D17).unwrap().evidence.contains("from 9,000 to 6,000/s (-33 %)"));
    // Its server was full: that is no round trip.
    assert_eq!(finding(&several, D39), None);
    let noise = &finding(&several, D15).unwrap().evidence;
    assert!(noise.starts_with("Some points have only 1 run: too few"), "{noise}");
    // 2,000 of 6,000.
    assert!(
        noise.ends_with("33 % of their median: a at c = 100 ranged from 5,000 to 7,000/s."),
        "{noise}"
    );
    assert_eq!(finding(&several, D05), None);

    let twice: Vec<_> = runs.iter().chain(&runs).cloned().collect();
    let noise = finding(&compared(&twice), D15).unwrap().evidence.clone();
    assert!(noise.contains("only 2 runs"), "{noise}");
}

#[test]
fn what_was_found_behind_a_cliff_is_named() {
    let mut lost = at(100, 2000);
    lost.record.statuses = [(200, 10_000), (503, 10_000)].into();
    let found = live_ids(&lost);
    let several = compared(&[("a", at(1, 1000)), ("a", at(10, 9000)), ("a", lost)]);
    let evidence = &finding(&several, D17).unwrap().evidence;
    for id in found {
        let named = format!("{id} {}", id.name());
        assert!(evidence.contains(&named), "{named}: {evidence}");
    }
    assert!(evidence.contains("found at c = 100 but not before"), "{evidence}");
}

fn live_ids(run: &Run) -> Vec<DiagnosisId> {
    let found = member(run, &judge(run).findings, "", "", None).unwrap();
    let ids = found.circumstances().unwrap().found.clone();
    assert!(!ids.is_empty());
    ids
}

#[test]
fn other_work_along_a_curve_is_found_where_it_is() {
    let mut other = at(10, 9000);
    other.record.statuses = [(404, 90_000)].into();
    let several = compared(&[
        ("a", at(1, 1000)),
        ("a", at(2, 1900)),
        ("a", at(10, 9000)),
        ("b", at(1, 1000)),
        ("b", at(2, 1900)),
        ("b", other),
    ]);
    let found = finding(&several, D05).unwrap();
    assert_eq!(found.evidence, "At c = 10: a against b: status 200 against 404");
}

#[test]
fn what_became_of_equal_loads_is_told_as_that() {
    let failing = |share_of_100: u64| {
        changed(|run| {
            let failed = run.record.responses * share_of_100 / (100 - share_of_100);
            run.record.failures[FailureKind::Reset as usize] = failed;
            run.record.in_flight_ns /= 4;
        })
    };
    let runs = [("a", run(2000)), ("b", failing(80))];
    let several = compared(&runs);
    let found = finding(&several, D05).unwrap();
    // As many connections were asked for: that fewer were in flight is no other load.
    let said = "a against b: 0 % of the requests without a response against 80 %";
    assert_eq!((found.severity, found.evidence.as_str()), (Severity::Invalid, said));
    assert!(found.fix.starts_with("See why requests got no response (D02)"), "{}", found.fix);
    assert!(!is_equal_work(&members(&runs)));
    // How many failed differs from run to run; these are repeats all the same.
    let repeats: Vec<_> = [80, 85, 90].map(|share| ("b", failing(share))).into();
    let of_one: Vec<_> = members(&repeats);
    assert!(crate::rules::differences::are_repeats(&of_one[0], &of_one[2]));
}

#[test]
fn runs_of_one_target_are_no_unequal_comparison() {
    let errors = changed(|run| run.record.statuses = [(200, 10_000), (503, 10_000)].into());
    let several = compared(&[("a", run(2000)), ("a", errors)]);
    let found = finding(&several, D05).unwrap();
    assert_eq!(found.severity, Severity::Suspect);
    assert!(found.cause.starts_with("These are runs of one target"), "{}", found.cause);
    assert!(!found.fix.contains("Make the work equal"), "{}", found.fix);
}

/// Bodies of 0 to 332 bytes at random: their means differ by chance from run to run.
#[test]
fn random_bodies_of_many_lengths_are_equal_work() {
    let of_mean = |bytes: u64| {
        changed(|run| {
            run.record.body_lengths = (0..64).map(|nth| (nth * 5, 10)).collect();
            run.record.body_lengths_other = run.record.responses - 640;
            run.record.body_bytes = run.record.responses * bytes;
        })
    };
    let severity = |other| {
        let several = compared(&[("a", of_mean(166)), ("b", of_mean(other))]);
        finding(&several, D05).map(|found| found.severity)
    };
    assert_eq!(severity(168), None);
    assert_eq!(severity(190), Some(Severity::Invalid));
}

#[test]
fn rates_of_error_pages_are_no_points_to_grow_or_fall_from() {
    let refused = |concurrency, rate_per_s: u64| {
        let mut run = at(concurrency, rate_per_s);
        run.record.statuses = [(200, rate_per_s), (503, rate_per_s * 9)].into();
        run
    };
    let found = |last: Run| {
        let runs = [("a", at(1, 1000)), ("a", at(10, 2000)), ("a", at(16, 2500)), ("a", last)];
        let several = compared(&runs);
        let evidence = |id| finding(&several, id).map(|found| found.evidence.clone());
        (evidence(D16), evidence(D17))
    };
    assert!(found(at(20, 30_000)).0.is_some());
    assert_eq!(found(refused(20, 30_000)), (None, None));
    // What falls to errors is a cliff.
    let (_, cliff) = found(refused(20, 500));
    assert!(cliff.unwrap().contains("95 % of its highest rate at c = 16 (2,500/s)"));
    // Nothing but refusals, faster with fewer clients.
    let several = compared(&[1, 4, 16].map(|c| ("a", refused(c, 30_000 / u64::from(c)))));
    assert_eq!(finding(&several, D17), None);
}

#[test]
fn a_target_keeps_its_name_whatever_it_counts() {
    let rates = [("first", 2000), ("second", 2900), ("first", 3000), ("second", 4000)];
    let rates = rates.into_iter().chain([("first", 2500), ("second", 3500)]);
    let several = compared(&rates.map(|(name, rate)| (name, run(rate))).collect::<Vec<_>>());
    let evidence = &finding(&several, D15).unwrap().evidence;
    assert!(evidence.contains("3 runs of first ranged"), "{evidence}");
}
