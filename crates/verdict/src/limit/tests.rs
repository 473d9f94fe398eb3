//! What bounded the rate, on Runs made by hand.

use super::*;
use crate::live::sample;
use ablaze_model::monitor::AtRest;
use ablaze_model::plan::Load;

pub(super) fn limit(run: &Run) -> Limit {
    of(run).by
}

#[test]
fn the_side_that_is_full_is_the_limit() {
    let run = sample::run();
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Server);
    assert_eq!(
        limited.to_string(),
        "limited by the server: its one thread ran at 96 % of a core, the client at 75 %"
    );
    let run = sample::with_shares(0.60, 0.90);
    assert_eq!(limit(&run), Limit::Client);
    assert!(of(&run).evidence.contains("worked 90 % of the time; the server's busiest thread"));
    // Both nearly full: the fuller one.
    assert_eq!(limit(&sample::with_shares(0.88, 0.86)), Limit::Server);
    assert_eq!(limit(&sample::with_shares(0.86, 0.88)), Limit::Client);
}

#[test]
fn interrupts_belong_to_whoever_causes_them() {
    let mut run = sample::with_shares(0.78, 0.4);
    assert_eq!(limit(&run), Limit::ResponseTime);
    // A fifth of the busy time went to interrupts: 0.78 / 0.8 is more than 95 %.
    sample::processors(&mut run).interrupts_ns = 2_950_000_000;
    assert_eq!(limit(&run), Limit::Server);
    // Not apart from the threads' times but in them: 0.78 is all there is.
    sample::processors(&mut run).threads_include_interrupts = Some(true);
    assert_eq!(limit(&run), Limit::ResponseTime);
}

#[test]
fn two_processors_can_be_full_before_either_side_is() {
    assert_eq!(limit(&sample::with_shares(0.93, 0.90)), Limit::SharedCpu);
    // Others had the processors that the server's thread waited for.
    let mut run = sample::with_shares(0.5, 0.4);
    sample::threads(&mut run)[0].waited_ns = 4_800_000_000;
    sample::processors(&mut run).user_ns = 14_000_000_000;
    sample::processors(&mut run).idle_ns = 0;
    let limited = of(&run);
    assert_eq!(limited.by, Limit::OtherProcesses);
    assert!(limited.evidence.contains("other processes"), "{limited}");
}

#[test]
fn others_limit_only_whom_they_held_up_most_of_the_time() {
    // The server waits 16 % of the time for a CPU, and sleeps for the rest.
    let with = |waited_ns| {
        let mut run = sample::with_shares(0.03, 0.01);
        sample::threads(&mut run)[0].waited_ns = waited_ns;
        sample::processors(&mut run).user_ns = 19_800_000_000;
        sample::processors(&mut run).idle_ns = 0;
        limit(&run)
    };
    assert_eq!(with(1_600_000_000), Limit::ResponseTime);
    assert_eq!(with(5_500_000_000), Limit::OtherProcesses);
}

#[test]
fn requests_in_flight_at_the_end_of_an_open_loop_were_sent() {
    let mut run = sample::with_shares(0.3, 0.2);
    sample::open_loop(&mut run, 2_100.0);
    run.record.answered.total.clear();
    run.record.answered.total.record_many(500_000_000, 20_000);
    run.record.unfinished = 1_000;
    let limited = of(&run);
    assert_eq!(limited.by, Limit::AskedRate, "{limited}");
    assert!(limited.evidence.ends_with("1,000 requests still in flight at the end"));
    // Fewer arrivals than the rate were drawn, and all were answered.
    run.record.unfinished = 0;
    sample::open_loop(&mut run, 2_200.0);
    assert_ne!(limit(&run), Limit::AskedRate);
    if let Load::Open { arrivals, .. } = &mut run.plan.load {
        *arrivals = ablaze_model::plan::Arrivals::Poisson;
    }
    assert_eq!(limit(&run), Limit::AskedRate);
    // A server that does not keep up: times grow from nothing, and twice as many are left.
    sample::open_loop(&mut run, 2_500.0);
    run.record.unfinished = 5_000;
    run.record.answered.total.clear();
    run.record.answered.total.record_many(1_000_000_000, 20_000);
    assert_ne!(limit(&run), Limit::AskedRate);
}

#[test]
fn requests_that_hang_hold_the_places_of_the_others() {
    let mut run = sample::with_shares(0.03, 0.01);
    run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
    // 20,000 responses of 500 µs: 10 s of 1,000 s; what the rest was is not said.
    assert_eq!(limit(&run), Limit::Unknown);
    run.record.failures[FailureKind::Timeout as usize] = 90;
    // What was in flight at the end, and may only not have come yet, is not theirs.
    run.record.failed.total.record_many(4_000_000_000, 90);
    assert_eq!(limit(&run), Limit::Unknown, "36 %");
    run.record.failed.total.record_many(6_000_000_000, 90);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unanswered, "{limited}");
    assert!(limited.evidence.contains("of the time in flight was theirs: 90 timed out"));
    run.record.failures = [0; ablaze_model::failure::FailureKind::ALL.len()];
    run.record.failed.total.clear();
    (run.record.unfinished, run.record.unfinished_oldest_ns) = (100, 9_000_000_000);
    // Those that are not silent were ordinary ones.
    for (silent, said) in [(100, "100"), (78, "78 of 100"), (0, "one or more of 100")] {
        run.record.silent.count = silent;
        assert!(of(&run).evidence.ends_with(&format!("theirs: {said} in flight at the end")));
    }
    // Failures of another kind, which took the time; the few that were in flight at the end did not.
    (run.record.unfinished, run.record.unfinished_oldest_ns) = (3, 9_000_000_000);
    run.record.failures[FailureKind::StreamReset as usize] = 10;
    run.record.failed.total.record_many(80_000_000_000, 10);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unanswered, "{limited}");
    assert!(
        limited.evidence.ends_with("theirs: 10 with a stream that the server reset"),
        "{limited}"
    );
}

#[test]
fn threads_that_take_turns_are_told_together() {
    let mut run = sample::with_shares(0.3, 0.1);
    assert!(!of(&run).evidence.contains("together"), "{}", of(&run));
    let threads = sample::threads(&mut run);
    let more = vec![threads[0].clone(); 3];
    threads.extend(more);
    let process = &mut run.monitor.as_mut().unwrap().target.processes[0];
    (process.user_ns, process.system_ns) = (4 * process.user_ns, 4 * process.system_ns);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::ResponseTime);
    let said = "the server's busiest thread ran at 30 % of a core, all of its threads together at 120 % of a core";
    assert!(limited.evidence.contains(said), "{limited}");
}

#[test]
fn others_on_the_cpus_limit_nobody_who_wants_none() {
    // The server sleeps, the client waits, and somebody else keeps both CPUs busy.
    let mut run = sample::with_shares(0.0, 0.004);
    sample::processors(&mut run).user_ns = 19_900_000_000;
    sample::processors(&mut run).idle_ns = 0;
    let limited = of(&run);
    assert_eq!(limited.by, Limit::ResponseTime, "{limited}");
    // Interrupts that carry our packets are ours.
    let mut run = sample::with_shares(0.7, 0.7);
    sample::processors(&mut run).interrupts_ns = 5_000_000_000;
    sample::processors(&mut run).idle_ns = 1_000_000_000;
    assert_ne!(limit(&run), Limit::ResponseTime);
}

#[test]
fn others_that_use_a_cpu_may_be_what_the_server_waits_for() {
    let mut run = sample::with_shares(0.3, 0.2);
    assert!(of(&run).evidence.contains("threads was at its limit: the server's"), "{}", of(&run));
    let processors = sample::processors(&mut run);
    processors.user_ns += 10_000_000_000;
    processors.idle_ns = processors.idle_ns.saturating_sub(10_000_000_000);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::ResponseTime);
    assert!(!limited.evidence.contains("no CPU"), "{limited}");
    assert!(
        limited.evidence.contains("whether the server waits for them does not show"),
        "{limited}"
    );
}

#[test]
fn a_moment_shows_no_limit() {
    let mut run = sample::with_shares(0.5, 0.9);
    run.elapsed_ns = 309_000;
    run.workers[0].window_ns = 309_000;
    run.workers[0].busy_ns = 640_000;
    run.monitor = None;
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unknown);
    assert_eq!(limited.evidence, "a run of 309 µs is too short to show it");
    // Clocks of CPUs and of the window are read at times of their own: nobody works for 207 %.
    assert!(figures::client(&run).unwrap().busiest <= 1.0);
}

#[test]
fn a_server_that_was_seen_too_briefly_is_not_called_unobservable() {
    let mut run = sample::with_shares(0.5, 0.2);
    run.elapsed_ns = 300_000_000;
    sample::monitor(&mut run).target.processes[0].readings = 1;
    assert_eq!(
        of(&run).evidence,
        "the run was too short to measure the server's CPU; the client's busiest thread \
         worked 20 %"
    );
    run.elapsed_ns = 10_000_000_000;
    let evidence = of(&run).evidence;
    assert!(
        evidence.starts_with("the server's process was read too few times to measure its CPU"),
        "ten seconds are not too short: {evidence}"
    );
    sample::monitor(&mut run).target.processes.clear();
    assert!(of(&run).evidence.starts_with("the server's process cannot be observed"));
}

#[test]
fn nothing_full_is_the_round_trip_in_closed_loop_and_the_rate_in_open_loop() {
    let mut run = sample::with_shares(0.3, 0.2);
    // 20,000 of 500 µs in 10 s, of 100 that were asked for: what kept the others away is not the time of a response.
    run.record.failures[ablaze_model::FailureKind::Refused as usize] = 100;
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unknown);
    assert!(limited.evidence.starts_with("1.00 of 100 requests were in flight"), "{limited}");
    run.record.in_flight_ns = 80 * u128::from(run.elapsed_ns);
    run.record.answered.total.clear();
    run.record.answered.total.record_many(40_000_000, 20_000);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::ResponseTime);
    let most = "with 80.0 requests in flight on average a response took 40.0 ms";
    assert!(limited.evidence.starts_with(most), "{limited}");
    run.record.answered.total.clear();
    run.record.answered.total.record_many(50_000_000, 20_000);
    run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
    let evidence = of(&run).evidence;
    let all = "with 100 requests in flight a response took 50.0 ms on average";
    assert!(evidence.starts_with(all), "{evidence}");
    let mut run = sample::with_shares(0.3, 0.2);
    sample::open_loop(&mut run, 2_000.0);
    assert_eq!(limit(&run), Limit::AskedRate);
    sample::open_loop(&mut run, 4_000.0);
    assert_eq!(limit(&run), Limit::Unknown);
    // All of its 100 connections were in use: each response takes 50 ms.
    run.record.in_flight_ns = 99 * u128::from(run.elapsed_ns);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::ResponseTime);
    // A server with a queue carries no more over more of them.
    assert!(limited.evidence.ends_with("does not show"), "{limited}");
}

#[test]
fn what_is_not_seen_is_not_guessed() {
    let mut run = sample::with_shares(0.96, 0.2);
    sample::monitor(&mut run).target.on_this_host = false;
    assert_eq!(limit(&run), Limit::Unknown);
    assert!(of(&run).evidence.contains("cannot be observed"));
    run.monitor = None;
    assert_eq!(limit(&run), Limit::Unknown);
    run.record.responses = 0;
    assert_eq!(of(&run).evidence, "no response came");
}

#[test]
fn a_remote_target_can_be_as_far_away_as_its_responses_take() {
    let mut run = sample::with_shares(0.96, 0.2);
    let monitor = sample::monitor(&mut run);
    monitor.target.on_this_host = false;
    let mut seen = sample::connections();
    seen.last.shortest_round_trip.as_mut().unwrap().median_ns = 48_000_000;
    monitor.connections = Some(seen);
    run.record.answered.total.clear();
    run.record.answered.total.record_many(50_000_000, 20_000);
    assert_eq!(limit(&run), Limit::RoundTrip);
    let last = &mut sample::monitor(&mut run).connections.as_mut().unwrap().last;
    last.busy_ns = Some(100);
    last.window_limited_ns = Some(60);
    assert_eq!(limit(&run), Limit::Network);
}

#[test]
fn a_part_of_the_machine_is_full_where_client_and_server_may_use_no_more() {
    let mut run = sample::with_shares(0.7, 0.25);
    assert_ne!(of(&run).by, Limit::SharedCpu);
    let monitor = sample::monitor(&mut run);
    monitor.target.processes[0].cpus_allowed = vec![0];
    monitor.client.as_mut().unwrap().cpus_allowed = vec![0];
    let limited = of(&run);
    assert_eq!(limited.by, Limit::SharedCpu, "{limited:?}");
    assert!(limited.evidence.contains("1 CPU that the two may use (0)"), "{limited:?}");
    // Each has one of its own, or one of them has all.
    sample::monitor(&mut run).target.processes[0].cpus_allowed = vec![1];
    assert_ne!(of(&run).by, Limit::SharedCpu);
    let all = (0..run.machine.cpus_allowed.unwrap_or(4)).collect();
    sample::monitor(&mut run).target.processes[0].cpus_allowed = all;
    assert_ne!(of(&run).by, Limit::SharedCpu);
}

#[test]
fn a_server_that_fills_the_cpus_it_may_use_is_the_limit() {
    let mut run = sample::with_shares(0.9, 0.25);
    let process = &mut sample::monitor(&mut run).target.processes[0];
    process.cpus_allowed = vec![0];
    // Six threads that share it: none of them is full.
    let whole = process.threads[0].clone();
    process.threads = vec![whole; 6];
    for thread in &mut process.threads {
        thread.cpu_ns /= 6;
    }
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Server, "{limited}");
    assert!(limited.evidence.contains("of the 1 CPU that they may use"), "{limited}");
    sample::monitor(&mut run).target.processes[0].cpus_allowed = vec![0, 1];
    assert_ne!(of(&run).by, Limit::Server);
}

/// Another program that the server started, such as a job in the background.
#[test]
fn a_child_that_does_not_serve_is_no_limit_because_it_is_full() {
    let mut run = sample::with_shares(0.2, 0.3);
    sample::serving(&mut run);
    let mut child = sample::monitor(&mut run).target.processes[0].clone();
    (child.pid, child.name, child.serving) = (4_712, "batchjob".to_owned(), None);
    child.threads[0].cpu_ns = 9_900_000_000;
    let processes = &mut sample::monitor(&mut run).target.processes;
    processes.insert(0, child);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unknown, "{limited}");
    assert!(limited.evidence.starts_with("batchjob, which the server started"), "{limited}");
    // A worker that was started anew is the same program.
    sample::monitor(&mut run).target.processes[0].name = "nginx".to_owned();
    assert_eq!(of(&run).by, Limit::Server);
}

#[test]
fn cpus_that_a_client_fills_with_looking_are_not_shared() {
    let mut run = sample::with_shares(0.9, 0.93);
    assert_eq!(of(&run).by, Limit::SharedCpu);
    for worker in &mut run.workers {
        worker.busy_ns = 900_000_000;
        worker.spun_ns = 8_400_000_000;
    }
    assert_ne!(of(&run).by, Limit::SharedCpu);
}

#[test]
fn a_server_that_fell_silent_is_not_limited_by_its_responses() {
    let mut run = sample::with_shares(0.3, 0.2);
    run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
    run.record.answered.total.clear();
    run.record.answered.total.record_many(30_000_000, 20_000);
    assert_eq!(limit(&run), Limit::ResponseTime);
    run.record.silent.count = 100;
    run.record.silent.longest_ns = 4_000_000_000;
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unknown);
    assert!(limited.evidence.starts_with("100 of the 100 requests in flight"), "{limited}");
    // A pause at the end is none.
    run.record.silent.longest_ns = 1_000_000_000;
    assert_eq!(limit(&run), Limit::ResponseTime);
}

/// Both CPUs are busy, with others and with twenty threads of which one runs at a time.
#[test]
fn threads_that_take_turns_beside_others_have_no_limit_that_is_known() {
    let with = |each_ns: u64| {
        let mut run = sample::with_shares(0.05, 0.05);
        let threads = sample::threads(&mut run);
        threads[0].cpu_ns = each_ns;
        threads[0].waited_ns = 9_000_000_000;
        let twenty = vec![threads[0].clone(); 20];
        *threads = twenty;
        let process = &mut sample::monitor(&mut run).target.processes[0];
        (process.user_ns, process.system_ns) = (20 * each_ns, 0);
        sample::processors(&mut run).user_ns = 19_800_000_000;
        sample::processors(&mut run).idle_ns = 0;
        of(&run)
    };
    let limited = with(500_000_000);
    assert_eq!(limited.by, Limit::Unknown, "{limited}");
    assert!(limited.evidence.contains("the server's in 20 threads"), "{limited}");
    assert!(!limited.evidence.contains("turns"), "one core by chance looks the same: {limited}");
    assert_eq!(with(250_000_000).by, Limit::OtherProcesses);
}

/// Who has no bound on connections sends all that is due, whatever becomes of it.
#[test]
fn requests_that_hang_hold_no_place_where_there_is_no_bound() {
    let mut run = sample::with_shares(0.03, 0.01);
    sample::open_loop(&mut run, 2_500.0);
    run.record.in_flight_ns = 500 * u128::from(run.elapsed_ns);
    (run.record.unfinished, run.record.unfinished_oldest_ns) = (1_000, 9_000_000_000);
    if let Load::Open { bounded, .. } = &mut run.plan.load {
        *bounded = true;
    }
    assert_eq!(limit(&run), Limit::Unanswered);
    if let Load::Open { bounded, .. } = &mut run.plan.load {
        *bounded = false;
    }
    assert_ne!(limit(&run), Limit::Unanswered);
}

#[test]
fn a_server_that_died_or_whose_children_ended_is_no_limit() {
    let mut run = sample::with_shares(0.97, 0.3);
    assert_eq!(of(&run).by, Limit::Server);
    sample::monitor(&mut run).target.processes[0].ended = true;
    run.record.failures[ablaze_model::FailureKind::Refused as usize] = 5_000;
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unknown);
    assert!(limited.evidence.contains("ended during the run"), "{limited:?}");
    let mut run = sample::with_shares(0.1, 0.3);
    sample::monitor(&mut run).target.children_ended = 3;
    assert!(crate::live::figures::machine(&run).is_none(), "their time would be the others'");
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unknown, "{limited:?}");
    assert!(limited.evidence.contains("starts processes"), "{limited:?}");
}

#[test]
fn one_that_waits_for_a_connection_at_the_end_is_no_backlog() {
    let mut run = sample::with_shares(0.3, 0.2);
    sample::open_loop(&mut run, 2_000.0);
    let mut with_waiting = |waiting: u64| {
        (run.record.unfinished, run.record.never_sent) = (waiting, waiting);
        limit(&run)
    };
    // Of 20,000.
    assert_eq!(with_waiting(1), Limit::AskedRate);
    assert_eq!(with_waiting(20), Limit::AskedRate);
    assert_ne!(with_waiting(100), Limit::AskedRate);
}

fn at_rest(busiest_share: f64, cores: f64, busy_threads: u64) -> Option<AtRest> {
    let (settled_ns, watched_ns) = (600_000_000, 35_000_000);
    Some(AtRest { settled_ns, watched_ns, busiest_share, cores, busy_threads })
}

#[test]
fn threads_that_are_full_without_a_load_are_no_proof_and_those_beyond_them_are() {
    let mut run = sample::run();
    sample::monitor(&mut run).environment.cpus_online = Some(8);
    let first = sample::threads(&mut run)[0].clone();
    sample::threads(&mut run).push(first);
    sample::monitor(&mut run).target.processes[0].user_ns += 9_600_000_000;
    sample::monitor(&mut run).target.processes[0].at_rest = at_rest(0.97, 0.97, 1);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Server, "{limited}");
    let said = "2 of its threads ran at 95 % of a core or more, and 1 ran without a load, too";
    assert_eq!(limited.evidence, said);
    sample::threads(&mut run)[1].cpu_ns = 3_000_000_000;
    assert_eq!(limit(&run), Limit::Unknown);
}

/// A task that loops goes from one thread to another: none is busy all the time.
#[test]
fn what_loops_on_several_threads_in_turn_is_no_work_for_requests() {
    let mut run = sample::with_shares(0.5, 0.4);
    let first = sample::threads(&mut run)[0].clone();
    sample::threads(&mut run).push(first);
    sample::monitor(&mut run).target.processes[0].user_ns += 5_000_000_000;
    sample::processors(&mut run).user_ns += 5_000_000_000;
    sample::monitor(&mut run).target.processes[0].at_rest = at_rest(0.4, 0.8, 0);
    let limited = of(&run);
    assert_eq!(limited.by, Limit::ResponseTime, "{limited}");
    let said = "without a load its threads ran, or were ready to, for 80 % of the time";
    assert!(limited.evidence.contains(said), "{limited}");
}

#[test]
fn a_child_that_loops_does_not_hide_that_the_server_is_full() {
    let mut run = sample::run();
    let target = &mut sample::monitor(&mut run).target;
    let mut child = target.processes[0].clone();
    (child.name, child.serving) = ("helper".to_owned(), None);
    child.at_rest = at_rest(0.97, 0.97, 1);
    target.processes.push(child);
    assert_eq!(limit(&run), Limit::Server);
    // One of the same program may serve.
    sample::monitor(&mut run).target.processes[1].name = "nginx".to_owned();
    let limited = of(&run);
    let said = "2 of its threads ran at 95 % of a core or more, and 1 ran without a load, too";
    assert_eq!((limited.by, limited.evidence.as_str()), (Limit::Server, said));
    sample::threads(&mut run)[0].cpu_ns = 1_000_000_000;
    assert_eq!(limit(&run), Limit::Unknown);
}

#[test]
fn of_several_servers_the_one_that_was_observed_is_named() {
    let mut run = sample::with_shares(0.5, 0.4);
    let other = || ablaze_model::plan::origins::Origin {
        url: "http://b:8081".to_owned(),
        host: "b".to_owned(),
        port: 8081,
        addresses: Vec::new(),
        tls: None,
    };
    run.plan.target.others = vec![other()];
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Unknown);
    let said = "alone was observed, and requests went to b:8081, too";
    assert!(limited.evidence.ends_with(said), "{limited}");
    let mut run = sample::run();
    run.plan.target.others = vec![other()];
    let limited = of(&run);
    assert_eq!(limited.by, Limit::Server);
    assert!(limited.evidence.ends_with(said), "{limited}");
}

/// With what it waited for a thread of the server would have been full, on a CPU that it may use and others had in part.
#[test]
fn a_side_on_a_part_of_the_cpus_waits_for_others_there() {
    let starved = |allowed: Vec<u32>| {
        let mut run = sample::with_shares(0.4, 0.2);
        let monitor = sample::monitor(&mut run);
        monitor.environment.cpus_online = Some(8);
        monitor.client.as_mut().unwrap().cpus_allowed = (0..8).collect();
        monitor.target.processes[0].cpus_allowed = allowed;
        sample::threads(&mut run)[0].waited_ns = 5_000_000_000;
        let times = sample::processors(&mut run);
        (times.user_ns, times.system_ns, times.idle_ns) = (12_000_000_000, 0, 68_000_000_000);
        (times.interrupts_ns, times.steal_ns) = (0, 0);
        limit(&run)
    };
    assert_eq!(starved(vec![0]), Limit::OtherProcesses);
    // Of all CPUs most were idle.
    assert_eq!(starved((0..8).collect()), Limit::ResponseTime);
}
