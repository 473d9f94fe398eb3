//! Tests of D14, in Runs and in printed reports.

mod on_runs {
    use super::super::*;
    use crate::live::sample;

    #[test]
    fn seconds_and_requests_per_connection_decide() {
        let severity = |length_ns, responses| {
            let mut run = sample::run();
            run.elapsed_ns = length_ns;
            run.record.responses = responses;
            on_run(&run).map(|finding| finding.severity)
        };
        assert_eq!(severity(5_000_000_000, 10_000), None);
        assert_eq!(severity(4_900_000_000, 10_000), Some(Severity::Note));
        assert_eq!(severity(990_000_000, 10_000), Some(Severity::Suspect));
        assert_eq!(severity(5_000_000_000, 9_999), Some(Severity::Note));
        assert_eq!(severity(5_000_000_000, 999), Some(Severity::Suspect));
        assert_eq!(severity(5_000_000_000, 0), None);
    }

    /// What passed before the clock is in no figure, and takes no share of the run.
    #[test]
    fn connections_that_stood_before_the_clock_are_not_said_to_take_time() {
        let mut run = sample::run();
        run.elapsed_ns = 2_000_000_000;
        let cause = |run: &Run| on_run(run).unwrap().cause;
        run.record.answered.connect.clear();
        let before = run.record.setup_connect.count();
        run.record.connections_opened = before;
        assert!(before > 0 && cause(&run).starts_with("Filling caches"), "{}", cause(&run));
        // Others were opened behind them.
        run.record.answered.connect.record(50_000);
        assert!(cause(&run).starts_with("Opening connections"), "{}", cause(&run));
        run.record.answered.connect.clear();
        run.record.connections_opened = before + 1;
        assert!(cause(&run).starts_with("Opening connections"), "{}", cause(&run));
    }

    #[test]
    fn the_connections_of_an_open_loop_are_no_measure() {
        let mut run = sample::run();
        sample::open_loop(&mut run, 10.0);
        run.record.responses = 100;
        assert_eq!(on_run(&run), None);
        // So many seconds are for so many requests in all.
        run.record.responses = 9;
        let fix = on_run(&run).unwrap().fix;
        assert!(fix.starts_with("Run for 10 s or more, with 100 requests or more ("), "{fix}");
    }

    /// Responses per slice that vary by a few percent around a level.
    fn around(level: u64, number: usize) -> impl Iterator<Item = u64> {
        (0..number as u64).map(move |n| level + n * 7919 % 97 * level / 2000)
    }

    fn with_slices(counts: impl Iterator<Item = u64>) -> Run {
        let mut run = sample::run();
        for (slice, responses) in run.record.slices.slices.iter_mut().zip(counts) {
            slice.responses = responses;
        }
        run
    }

    #[test]
    fn a_slower_beginning_is_told_and_stays_a_note() {
        assert_eq!(on_run(&with_slices(around(18_800, 100))), None);
        let run = with_slices(around(6_100, 6).chain(around(18_800, 94)));
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.starts_with("The first 600 ms ran at 6"), "{}", finding.evidence);
        assert!(finding.evidence.contains("lower. Nothing was excluded"), "{}", finding.evidence);
        assert!(finding.fix.contains("--warmup 1s"), "{}", finding.fix);
        // A rate that is neither that of the beginning nor that of the rest.
        let run = with_slices(around(18_800, 10).chain(around(160, 90)));
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.cause.starts_with("The server became slower"), "{finding:?}");
        let run = with_slices(around(6_100, 6).chain(around(18_800, 94)));
        // In an open loop the rate is what was asked for.
        let mut open = run.clone();
        sample::open_loop(&mut open, 2_000.0);
        assert_eq!(on_run(&open), None);
    }

    #[test]
    fn a_last_slice_cut_short_is_no_change_of_level() {
        let mut run = with_slices(around(18_800, 100));
        run.elapsed_ns -= 90_000_000;
        run.record.slices.slices[99].responses = 1_880;
        assert_eq!(on_run(&run), None);
    }

    /// Pages, then error pages; or a drain, in which nothing more is sent.
    #[test]
    fn a_beginning_is_no_warm_up_where_something_else_tells_it() {
        let slower = || with_slices(around(6_100, 6).chain(around(18_800, 94)));
        let finding = |run: &Run| on_run(run).unwrap();
        assert!(finding(&slower()).cause.contains("Something had to warm up:"));
        let mut run = slower();
        run.record.statuses = [(200, 10_000), (502, 10_000)].into();
        let Finding { cause, fix, .. } = finding(&run);
        assert!(cause.starts_with("Requests or responses were not all alike"), "{cause}");
        assert!(!fix.contains("warm"), "{fix}");
        let mut run = with_slices(around(18_800, 20).chain(around(160, 80)));
        assert!(finding(&run).evidence.contains("The first 2.00 s ran"));
        run.record.drain_ns = Some(8_000_000_000);
        assert_eq!(on_run(&run), None);
    }

    #[test]
    fn connections_that_are_opened_anew_are_not_counted_as_one_each() {
        let mut run = sample::run();
        run.record.responses = 5_000;
        run.record.connections_opened = 4_000;
        let evidence = on_run(&run).unwrap().evidence;
        let said = "5,000 requests, 100 at a time, is 50.0 one after another";
        assert!(evidence.contains(said), "{evidence}");
    }

    #[test]
    fn a_longer_run_is_asked_for_in_the_options_of_the_caller() {
        let mut run = sample::run();
        sample::asked(&mut run, &[]);
        run.elapsed_ns = 900_000_000;
        let mut fix = |front_end, requests| {
            run.asked.as_mut().unwrap().front_end = front_end;
            run.plan.limits.requests = requests;
            on_run(&run).unwrap().fix
        };
        for (front_end, how) in [
            (FrontEnd::Load, "(--duration 10s)."),
            (FrontEnd::Ab, "(-t 10 -n 1000000, in this order: -t alone stops at 50,000 requests)."),
            (FrontEnd::Gurl, "(-duration 10s)."),
            (FrontEnd::Wrk, "(-d 10s)."),
            (FrontEnd::Hey, "(-z 10s)."),
            (FrontEnd::H2load, "(-D 10s)."),
            (FrontEnd::Oha, "(-z 10s)."),
            (FrontEnd::Vegeta, "(-duration 10s)."),
            (FrontEnd::Library, "(duration())."),
        ] {
            let said = fix(front_end, None);
            assert!(said.ends_with(how), "{front_end:?}: {said}");
        }
        let said = fix(FrontEnd::Load, Some(20_000));
        assert!(said.ends_with("(--duration 10s, instead of a number of requests)."), "{said}");
        // -t made the number.
        let said = fix(FrontEnd::Ab, Some(50_000));
        assert!(said.ends_with("stops at 50,000 requests)."), "{said}");
    }

    /// What a journey's run is limited by are journeys, of all users or of each.
    #[test]
    fn instead_of_what_was_asked_for_a_longer_run_is_asked_for() {
        let mut run = crate::live::setup::sample::with_failed(0);
        sample::asked(&mut run, &[]);
        run.elapsed_ns = 900_000_000;
        run.plan.limits.requests = Some(2_000);
        let said = on_run(&run).unwrap().fix;
        assert!(said.ends_with("(--duration 10s, instead of a number of journeys)."), "{said}");
        run.plan.journey.as_mut().unwrap().users.iterations = Some(20);
        let said = on_run(&run).unwrap().fix;
        assert!(
            said.ends_with("(--duration 10s, instead of a number of iterations (--iterations))."),
            "{said}"
        );
    }

    /// Ten seconds were not enough.
    #[test]
    fn many_connections_need_a_longer_run_or_are_too_many() {
        let mut run = sample::run();
        let mut fix = |responses| {
            run.record.responses = responses;
            on_run(&run).unwrap().fix
        };
        assert!(fix(5_000).ends_with("(--duration 20s)."), "{}", fix(5_000));
        assert!(fix(100).ends_with("(fewer connections: --connections)."), "{}", fix(100));
    }

    #[test]
    fn a_short_run_keeps_its_own_advice() {
        let mut run = with_slices(around(6_100, 6).chain(around(18_800, 94)));
        run.elapsed_ns = 4_900_000_000;
        let finding = on_run(&run).unwrap();
        assert!(
            finding.evidence.contains("The run took 4.90 s. The first"),
            "{}",
            finding.evidence
        );
        assert!(finding.fix.contains("10 s or more"), "{}", finding.fix);
    }
}

mod on_reports {
    use super::super::printed::on_report;
    use super::super::*;
    use crate::printed::read;
    use crate::rules::sample;

    fn with(taken_s: f64, complete: u64) -> Option<Severity> {
        let mut report = sample::ab();
        report.taken_s = Some(sample::printed(taken_s, 0.001));
        report.complete = Some(complete);
        report.rate_per_s = None;
        report.total = None;
        on_report(&report).map(|finding| finding.severity)
    }

    #[test]
    fn seconds_and_requests_per_connection_decide() {
        assert_eq!(with(5.0, 1_000_000), None);
        assert_eq!(with(4.999, 1_000_000), Some(Severity::Note));
        assert_eq!(with(0.999, 1_000_000), Some(Severity::Suspect));
        // 200 connections.
        assert_eq!(with(60.0, 20_000), None);
        assert_eq!(with(60.0, 19_999), Some(Severity::Note));
        assert_eq!(with(60.0, 2000), Some(Severity::Note));
        assert_eq!(with(60.0, 1999), Some(Severity::Suspect));
    }

    fn of_vegeta(figures: &str) -> Option<Finding> {
        let [requests, duration, latencies] = figures.split('|').collect::<Vec<_>>()[..] else {
            panic!("{figures}")
        };
        let text = format!(
            "Requests      [total, rate, throughput]         {requests}\n\
             Duration      [total, attack, wait]             {duration}\n\
             Latencies     [min, mean, 50, 90, 95, 99, max]  {latencies}\n\
             Status Codes  [code:count]                      200:1\n"
        );
        on_report(&read(&text).reports[0])
    }

    /// tests/printed/real-vegeta.txt: a server of two threads that takes 50 ms each serves 40/s; one takes 4 s for each.
    #[test]
    fn an_attack_that_was_mostly_waited_for_is_too_short() {
        let served = of_vegeta(
            "400, 200.46, 39.95|10.013s, 1.995s, 8.018s|50.953ms, 4.033s, 4.035s, 7.233s, 7.633s, 7.951s, 8.023s",
        );
        let finding = served.unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert_eq!(
            finding.evidence,
            "The attack took 1.995 s. In the last 8.018 of 10.013 s (80 %) nothing was sent, and responses were waited for: \
             the throughput, 39.95/s, is that of the whole time. Half of the requests took 4.04 s or longer, and the attack \
             2.00 s: they had no response when the last was sent."
        );
        // The report would be the same of a server that takes a random time.
        assert!(finding.cause.ends_with("does not tell one from the other."), "{finding:?}");
        let slow = of_vegeta(
            "10, 5.56, 1.72|5.804s, 1.8s, 4.004s|4.001s, 4.005s, 4.003s, 4.009s, 4.01s, 4.01s, 4.01s",
        );
        let finding = slow.unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(
            finding.evidence.contains("The attack took 1.800 s. It had 10 requests."),
            "{finding:?}"
        );
        // Each took as long as the others: the times did not grow, and nothing is left open about that.
        assert!(!finding.cause.contains("does not tell"), "{finding:?}");
        assert!(finding.cause.contains("All requests took 4.00 s to 4.01 s"), "{finding:?}");
        assert!(!finding.fix.contains("does not keep up"), "{finding:?}");
        // 2.1 ms for 99 % of them: one was waited for, or few.
        let one = of_vegeta(
            "10000, 1000.1, 810.1|12.3s, 9.999s, 2.3s|1ms, 2.2ms, 2ms, 2.05ms, 2.08ms, 2.1ms, 2.3s",
        );
        let finding = one.unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(!finding.cause.contains("does not tell"), "{finding:?}");
        assert!(finding.cause.contains("99 % of the requests took 2.10 ms or less"), "{finding:?}");
        let long = "60000, 1000.02, 900.00|1m6s, 59.999s, 6s|1.2ms, 5ms, 4ms, 9ms, 30ms, 1s, 6.01s";
        assert_eq!(of_vegeta(long), None, "of which a tenth was waited for");
    }

    /// docs/diagnoses.md: in an open loop fewer than 100 in all, SUSPECT below 10.
    #[test]
    fn requests_on_a_schedule_are_counted_in_all() {
        let with = |requests: u64| {
            let times = "0.7ms, 8.6ms, 1.3ms, 23.8ms, 23.8ms, 23.8ms, 23.8ms";
            of_vegeta(&format!("{requests}, 0.75, 0.75|60.004s, 60.003s, 700.476µs|{times}"))
        };
        assert_eq!(with(100), None);
        assert_eq!(with(99).unwrap().severity, Severity::Note);
        assert_eq!(with(9).unwrap().severity, Severity::Suspect);
        assert!(with(9).unwrap().evidence.contains("It had 9 requests."));
        // vegeta divides 9 requests by the 8 intervals between them: 100 / (0.75 × 8 / 9).
        assert!(with(9).unwrap().fix.ends_with("(-duration=150s)."), "{:?}", with(9));
        // There is no length between one request and itself.
        let one = of_vegeta("1, 1.00, 1.00|1.023ms, 0s, 1.023ms|1ms, 1ms, 1ms, 1ms, 1ms, 1ms, 1ms")
            .unwrap();
        assert_eq!(one.evidence, "The run took 0.001 s. It had 1 request.");
    }

    #[test]
    fn a_table_says_from_where_on() {
        let curve = |name: &str, rates: [f64; 3]| Curve {
            name: name.into(),
            points: [1, 10, 1000].into_iter().zip(rates).collect(),
        };
        let curves =
            vec![curve("a", [1000.0, 9000.0, 20_000.0]), curve("b", [900.0, 8000.0, 5000.0])];
        // 10,000 requests: 10 s, 11 s; 1.1 s, 1.25 s; 0.5 s, 2 s. 10,000 / 1000 = 10 each.
        let finding = on_curves(&Curves::of_table(&curves, Some(10_000), None)).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        for part in
            ["every c ≥ 10", "a at c = 1,000, took 0.500 s", "From c = 1,000 on", ": 10.0 at"]
        {
            assert!(finding.evidence.contains(part), "{part}: {}", finding.evidence);
        }
        assert_eq!(on_curves(&Curves::of_table(&curves, Some(1_000_000), None)), None);
        assert_eq!(on_curves(&Curves::of_table(&curves, None, None)), None);
    }
}
