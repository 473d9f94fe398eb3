//! D30 on runs.

use super::*;
use crate::live::{judge, sample};

/// 20,000 requests that left so late, each answered after 500 µs.
fn late_by(lag_ns: u64) -> Run {
    let mut run = sample::run();
    sample::open_loop(&mut run, 2_000.0);
    let mut intended = Intended::default();
    intended.lag.record_many(lag_ns, 20_000);
    intended.response.record_many(lag_ns + 500_000, 20_000);
    run.record.answered.intended = Some(Box::new(intended));
    run
}

#[test]
fn a_lag_counts_when_it_is_long_and_a_large_part_of_what_a_user_sees() {
    let severity = |lag_ns| on_run(&late_by(lag_ns)).map(|finding| finding.severity);
    assert_eq!(severity(40_000), None);
    assert_eq!(severity(900_000), None);
    assert_eq!(severity(1_100_000), Some(Severity::Note));
    assert_eq!(severity(19_000_000), Some(Severity::Note));
    assert_eq!(severity(21_000_000), Some(Severity::Suspect));
    let finding = on_run(&late_by(1_200_000_000)).unwrap();
    let evidence = &finding.evidence;
    assert!(evidence.contains("left at most 1.20 s late"), "{evidence}");
    assert!(evidence.contains("within 500 µs of when they left (service)"), "{evidence}");
    assert_eq!(on_run(&sample::run()), None, "a closed loop is never late");
}

#[test]
fn one_pause_of_the_machine_is_a_note() {
    let with = |lag_ns| {
        let mut run = late_by(20_000);
        let intended = run.record.answered.intended.as_mut().unwrap();
        intended.lag.record_many(lag_ns, 400);
        intended.response.record_many(lag_ns + 500_000, 400);
        on_run(&run).map(|finding| finding.severity)
    };
    assert_eq!(with(30_000_000), Some(Severity::Note));
    assert_eq!(with(300_000_000), Some(Severity::Suspect));
}

#[test]
fn what_was_waited_for_is_named() {
    let mut run = late_by(1_200_000_000);
    // One of 100 was in use on average, though 100 were opened: nobody waited for one.
    assert!(on_run(&run).unwrap().cause.contains("Connections were free"));
    run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
    assert!(on_run(&run).unwrap().cause.contains("100 connections permitted"));
    run.record.connections_opened = 12;
    assert!(on_run(&run).unwrap().cause.contains("the client itself was late"));
    let process = &mut sample::monitor(&mut run).target.processes[0];
    process.stopped_readings = 20;
    assert!(on_run(&run).unwrap().cause.contains("was stopped (state T or t in /proc)"));
    // A tenth of a second of 1.2 s.
    sample::monitor(&mut run).target.processes[0].stopped_readings = 1;
    let found = on_run(&run).unwrap();
    assert!(found.cause.contains("the client itself was late"), "{found:?}");
    assert!(found.evidence.contains("was stopped (state T or t in /proc)"), "{found:?}");
    sample::monitor(&mut run).target.processes[0].stopped_readings = 0;
    run.record.failures[FailureKind::Refused as usize] = 5;
    assert!(on_run(&run).unwrap().cause.starts_with("Connections could not be made"));
    run.record.failures[FailureKind::Refused as usize] = 0;
    run.record.failures[FailureKind::LocalPorts as usize] = 1_000;
    assert!(on_run(&run).unwrap().cause.starts_with("Connections could not be made"));
    run.record.failures = [0; ablaze_model::failure::FailureKind::ALL.len()];
    if let Load::Open { bounded, connections, .. } = &mut run.plan.load {
        (*bounded, *connections) = (false, 12);
    }
    assert!(on_run(&run).unwrap().cause.contains("this machine permits no more"));
    if let Load::Open { connections, .. } = &mut run.plan.load {
        *connections = 1;
    }
    assert!(on_run(&run).unwrap().cause.contains("for the one connection to become free"));
}

/// A tenth left late, in a part of the run in which all may have been in use.
#[test]
fn what_was_late_in_a_part_of_the_run_has_several_possible_reasons() {
    let mut run = late_by(20_000);
    let intended = run.record.answered.intended.as_mut().unwrap();
    intended.lag.record_many(300_000_000, 2_000);
    intended.response.record_many(300_500_000, 2_000);
    run.record.in_flight_ns = 20 * u128::from(run.elapsed_ns);
    let cause = on_run(&run).unwrap().cause;
    assert!(cause.contains("as 20.0 requests were in flight on average"), "{cause}");
    assert!(cause.ends_with("does not show.") && !cause.contains("more slowly"), "{cause}");
}

#[test]
fn responses_that_stopped_held_the_connections_that_the_others_waited_for() {
    let mut run = late_by(300_000_000);
    run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
    assert!(on_run(&run).unwrap().cause.contains("100 connections permitted"));
    run.record.stopped = ablaze_model::record::Stopped {
        unfinished: 7,
        begun: 7,
        longest: Some(ablaze_model::record::StoppedResponse {
            silent_ns: 5_000_000_000,
            body_bytes: 84,
            missing_bytes: Some(116),
        }),
        ..Default::default()
    };
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("did not come to their end (D29)"), "{finding:?}");
    assert!(!finding.fix.contains("--connections"), "{finding:?}");
}

#[test]
fn a_client_with_time_left_is_not_blamed() {
    let with = |client| {
        let mut run = late_by(1_200_000_000);
        run.workers = sample::with_shares(0.3, client).workers;
        on_run(&run).unwrap().cause
    };
    assert!(with(0.7).contains("the client itself was late"), "{}", with(0.7));
    assert!(with(0.1).contains("does not show"), "{}", with(0.1));
}

#[test]
fn requests_that_waited_for_streams_did_not_wait_for_the_client() {
    let late = late_by(1_200_000_000);
    let mut run = sample::over_http2(100);
    sample::open_loop(&mut run, 2_000.0);
    run.record.answered.intended = late.record.answered.intended.clone();
    run.record.http2.as_mut().unwrap().streams_permitted = Some(1);
    let connections = run.plan.load.connections();
    run.record.in_flight_ns = u128::from(connections) * u128::from(run.elapsed_ns);
    let found = on_run(&run).unwrap();
    assert!(
        found
            .cause
            .starts_with("They waited for a stream: the server permitted no more than 1 stream"),
        "{found:?}"
    );
}

#[test]
fn who_waits_for_a_connection_does_not_wait_for_a_cpu() {
    let explained = |used: u128, waited_ns: u64| {
        let mut run = late_by(1_200_000_000);
        run.record.in_flight_ns = used * u128::from(run.elapsed_ns);
        sample::idle(&mut run);
        sample::threads(&mut run)[0].waited_ns = waited_ns;
        sample::processors(&mut run).user_ns = 19_000_000_000;
        sample::processors(&mut run).idle_ns = 0;
        let findings = judge(&run).findings;
        assert!(findings.iter().any(|finding| finding.id == D13), "{findings:?}");
        findings.iter().find(|finding| finding.id == D30).unwrap().explained_by
    };
    assert_eq!(explained(99, 1_600_000_000), None);
    assert_eq!(explained(99, 6_000_000_000), Some(D13));
    assert_eq!(explained(10, 1_600_000_000), Some(D13));
}

#[test]
fn of_few_requests_no_percentile_is_told() {
    let mut run = sample::run();
    sample::open_loop(&mut run, 1000.0);
    run.record.responses = 8;
    let mut intended = Intended::default();
    intended.lag.record_many(599_000_000, 8);
    intended.response.record_many(899_000_000, 8);
    run.record.answered.intended = Some(Box::new(intended));
    run.record.answered.total.clear();
    run.record.answered.total.record_many(300_000_000, 8);
    (run.record.unfinished, run.record.never_sent) = (994, 992);
    let evidence = on_run(&run).unwrap().evidence;
    assert!(evidence.starts_with("Of 8 requests that were answered, all left"), "{evidence}");
    assert!(!evidence.contains("99 % were"), "{evidence}");
    assert!(evidence.contains("992 of 1,002 requests"), "{evidence}");
}

#[test]
fn a_backlog_is_a_doubt_however_short_the_lag() {
    let mut run = late_by(10_000);
    (run.record.unfinished, run.record.never_sent) = (200, 200);
    assert_eq!(on_run(&run), None);
    (run.record.unfinished, run.record.never_sent) = (220, 220);
    let finding = on_run(&run).unwrap();
    assert_eq!(finding.severity, Severity::Suspect);
    assert!(finding.evidence.contains("220 of 20,220 requests (1.1 %)"), "{finding:?}");
}

/// Of a fleet D46 says which machines were at their limit, or stood still.
#[test]
fn a_worker_at_its_limit_is_why_it_is_late() {
    use ablaze_model::fleet::WorkerLimit;
    let explained = |at_its_limit: bool, in_use: u128| {
        let mut run = late_by(21_000_000);
        run.record.in_flight_ns = in_use * u128::from(run.elapsed_ns);
        let mut fleet = sample::fleet(2);
        let limit = WorkerLimit { key: "client".to_owned(), text: "its thread".to_owned() };
        fleet.workers[0].limit = Some(limit).filter(|_| at_its_limit);
        run.fleet = Some(Box::new(fleet));
        let findings = judge(&run).findings;
        let late = findings.into_iter().find(|finding| finding.id == D30).expect("D30");
        late.explained_by == Some(D46)
    };
    assert!(explained(true, 1));
    assert!(!explained(false, 1));
    // What a worker saw of its own machine is not in the run of all.
    let mut run = late_by(21_000_000);
    run.record.in_flight_ns = u128::from(run.elapsed_ns);
    let mut fleet = sample::fleet(2);
    fleet.workers[1].findings = vec!["D23 machine paused".to_owned()];
    run.fleet = Some(Box::new(fleet));
    let findings = judge(&run).findings;
    let late = findings.into_iter().find(|finding| finding.id == D30).expect("D30");
    assert_eq!(late.explained_by, Some(D46), "{late:?}");
    assert!(late.cause.contains("host-1 found of its own machine"), "{late:?}");
    // All connections were in use: they waited for one.
    assert!(!explained(true, 100));
}

/// Users who pause keep their places: nothing was free, though little was in flight.
#[test]
fn users_in_the_middle_of_a_journey_hold_their_places() {
    use ablaze_model::record::Journeys;
    let mut run = late_by(21_000_000);
    (run.record.unfinished, run.record.never_sent) = (2_000, 2_000);
    let connections = u64::from(run.plan.load.connections());
    run.record.connections_opened = connections;
    run.record.in_flight_ns = u128::from(connections * run.elapsed_ns / 5);
    assert!(on_run(&run).unwrap().cause.contains("Connections were free"));
    let pauses_ns = connections * run.elapsed_ns * 3 / 4;
    let mut journeys = Journeys::new(&[]);
    journeys.pauses_ns = pauses_ns;
    run.record.journeys = Some(Box::new(journeys));
    let finding = on_run(&run).unwrap();
    assert!(finding.cause.contains("come to the end of its journey"), "{finding:?}");
    assert!(!finding.cause.contains("responds more slowly"), "{finding:?}");
}

/// Each user has a connection: `--users` and `-c` cannot be used together.
#[test]
fn of_journeys_users_are_permitted_and_not_connections() {
    let mut run = late_by(21_000_000);
    let connections = u64::from(run.plan.load.connections());
    run.record.connections_opened = connections;
    run.record.in_flight_ns = u128::from(connections * run.elapsed_ns);
    let said = |run: &Run| {
        let found = on_run(run).unwrap();
        format!("{} {}", found.cause, found.fix)
    };
    assert!(said(&run).contains("one of the 100 connections permitted"), "{}", said(&run));
    run.plan.journey = crate::live::setup::sample::with_failed(0).plan.journey;
    let said = said(&run);
    assert!(said.contains("one of the 100 users permitted"), "{said}");
    assert!(said.contains("more users (--users)") && !said.contains("onnections"), "{said}");
}

/// Each of 5,000 journeys has several requests: what is due in an open loop is the journey.
#[test]
fn what_is_due_of_journeys_is_journeys() {
    use ablaze_model::record::Journeys;
    let mut run = late_by(1_200_000_000);
    (run.record.unfinished, run.record.never_sent) = (1_000, 1_000);
    let said = |run: &Run| on_run(run).unwrap().evidence;
    let requests = said(&run);
    assert!(
        requests.contains("1,000 of 21,000 requests (4.8 %) were due but not sent"),
        "{requests}"
    );
    let mut journeys = Journeys::new(&[]);
    journeys.begun = 4_000;
    run.record.journeys = Some(Box::new(journeys));
    let journeys = said(&run);
    assert!(
        journeys.contains("1,000 of 5,000 journeys (20 %) were due but not begun"),
        "{journeys}"
    );
}

/// Nine of ten users failed in their setup, and the other walks all the time.
#[test]
fn users_who_failed_in_their_setup_leave_no_connection_free() {
    let mut run = late_by(1_200_000_000);
    let of_setup = crate::live::setup::sample::with_failed(90);
    (run.plan.journey, run.record.journeys) = (of_setup.plan.journey, of_setup.record.journeys);
    run.record.in_flight_ns = 10 * u128::from(run.elapsed_ns);
    let finding = on_run(&run).unwrap();
    let cause = "90 of 100 users failed in their setup (D01), and 10 others may walk one journey at a time each: 10.0 were in \
                 one on average. They waited for such a user";
    assert!(finding.cause.starts_with(cause), "{}", finding.cause);
    run.record.journeys.as_mut().unwrap().setup = None;
    assert!(on_run(&run).unwrap().cause.contains("Connections were free"));
}

/// `ablaze hey -q` and `ablaze h2load --rps` are rates of each connection; and who leaves out oha's -c has 50.
#[test]
fn what_is_advised_can_be_asked_for() {
    use ablaze_model::spec::FrontEnd;
    let told = |front_end| {
        let mut run = late_by(1_200_000_000);
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        run.plan.load = match run.plan.load {
            Load::Open { rate, arrivals, connections, .. } => {
                Load::Open { rate, arrivals, connections, bounded: true }
            }
            closed => closed,
        };
        sample::asked(&mut run, &[]);
        run.asked.as_mut().unwrap().front_end = front_end;
        on_run(&run).unwrap().fix
    };
    assert!(
        told(FrontEnd::Load).contains("permit more connections (--connections) or set no limit")
    );
    for (front_end, option) in [(FrontEnd::Hey, "-q"), (FrontEnd::H2load, "--rps")] {
        let fix = told(front_end);
        assert!(!fix.contains("more connections"), "{fix}");
        assert!(fix.contains(&format!("a lower rate of each connection ({option})")), "{fix}");
    }
    assert!(!told(FrontEnd::Oha).contains("no limit"));
}
