//! Tests of D07, in Runs and in printed reports.

mod on_runs {
    use super::super::*;
    use crate::live::{judge, sample};
    use ablaze_model::monitor::{Gap, Heartbeat};

    fn frozen(slices: std::ops::Range<usize>) -> Run {
        stopped(sample::run(), slices)
    }

    fn stopped(mut run: Run, slices: std::ops::Range<usize>) -> Run {
        let length_ns = slices.len() as u64 * 100_000_000;
        for slice in slices {
            run.record.slices.slices[slice].responses = 0;
        }
        run.record.answered.total.record_many(length_ns, 100);
        run.record.answered.processing.record_many(length_ns, 100);
        run
    }

    /// That nothing ends is what a server that permits nothing looks like (D40), and no stall of its own.
    #[test]
    fn requests_that_wait_for_a_stream_are_no_stall() {
        let mut run = frozen(40..50);
        assert!(on_run(&run).is_some());
        let permitted = |streams| ablaze_model::record::Http2Facts {
            streams_permitted: Some(streams),
            ..ablaze_model::record::Http2Facts::default()
        };
        run.record.http2 = Some(Box::new(permitted(0)));
        assert!(on_run(&run).is_some(), "nobody waited");
        (run.record.streamless.unfinished, run.record.unfinished) = (100, 100);
        assert_eq!(on_run(&run), None);
        run.record.http2 = Some(Box::new(permitted(1)));
        assert!(on_run(&run).is_some());
    }

    #[test]
    fn a_silence_at_the_start_is_found_and_has_no_cause() {
        for at_a_rate in [false, true] {
            let mut run = frozen(0..10);
            if at_a_rate {
                sample::open_loop(&mut run, 2000.0);
            }
            let finding = on_run(&run).unwrap();
            assert_eq!(finding.severity, Severity::Suspect);
            let said = &finding.evidence;
            assert!(
                said.starts_with("No request finished in the first 1.00 s of the run (10 %)"),
                "{said}"
            );
            assert!(
                said.contains("100 requests took 800 ms or more, the longest 1.00 s."),
                "{said}"
            );
            assert_eq!(said.contains("the rate would be at least 2,222/s"), !at_a_rate, "{said}");
            assert!(finding.cause.contains("nothing else is known"), "{}", finding.cause);
        }
        // Many more are as slow, all over the run.
        let mut run = frozen(0..10);
        run.record.answered.total.record_many(1_000_000_000, 100);
        assert_eq!(on_run(&run), None);
        // Nothing was due, or the connections were not there yet.
        let mut run = sample::run();
        run.record.slices.slices[..10].fill(Slice::default());
        assert_eq!(on_run(&run), None);
        let mut run = frozen(0..10);
        run.record.answered.processing.clear();
        run.record.answered.processing.record_many(500_000, 100);
        assert_eq!(on_run(&run), None);
    }

    /// A connection for each request, and all of them in a SYN timer at once now and then.
    #[test]
    fn places_that_wait_for_lost_connection_attempts_are_no_stall() {
        let mut run = frozen(30..40);
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        assert!(on_run(&run).is_some());
        run.record.answered.connect.record_many(1_003_000_000, 60);
        sample::counter(&mut run, "TcpExtTCPSynRetrans", 60);
        assert_eq!(on_run(&run), None);
        // A few of a hundred did not hold up the others.
        run.record.answered.connect.clear();
        run.record.answered.connect.record_many(1_003_000_000, 4);
        assert!(on_run(&run).is_some());
    }

    /// The requests that waited were sent in the warm-up, and are in no figure.
    #[test]
    fn a_silence_that_began_in_the_warm_up_is_found() {
        let mut run = sample::run();
        run.record.slices.slices[..16].fill(Slice::default());
        assert_eq!(on_run(&run), None);
        // As slow as others: what the warm-up sent takes a second, and the first behind it another one.
        let mut slow = run.clone();
        slow.plan.limits.warmup_ns = 500_000_000;
        slow.record.answered.total.record(1_000_000_000);
        assert_eq!(on_run(&slow), None);
        run.plan.limits.warmup_ns = 1_000_000_000;
        let finding = on_run(&run).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        let said =
            "No request finished in at least the first 1.60 s behind the warm-up (16 % of the run)";
        assert!(finding.evidence.starts_with(said), "{finding:?}");
        assert!(finding.cause.contains("no percentile has these"), "{finding:?}");
        // One slice may be chance, and one place a slow request.
        let mut run = run.clone();
        run.record.slices.slices[1] = run.record.slices.slices[50];
        assert_eq!(on_run(&run), None);
    }

    /// One request of 1.5 s, for which nothing was left to send beside it, and one of which nobody else waited.
    #[test]
    fn one_slow_request_is_no_stall_of_all() {
        let with_late = |late: u64| {
            let mut run = frozen(80..95);
            run.record.answered.total.clear();
            run.record.answered.total.record_many(500_000, 20_000);
            run.record.answered.total.record_many(1_500_000_000, late);
            run
        };
        assert_eq!(on_run(&with_late(1)), None);
        assert!(on_run(&with_late(100)).is_some());
        let mut run = with_late(2);
        sample::open_loop(&mut run, 2_000.0);
        assert!(on_run(&run).is_some(), "two were in flight on average");
        run.record.drain_ns = Some(2_100_000_000);
        assert_eq!(on_run(&run), None, "and nothing more was due");
    }

    #[test]
    fn a_second_without_responses_is_found_with_its_place() {
        let finding = on_run(&frozen(30..40)).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(
            finding.evidence.contains("for at least 1.00 s starting at 3.00 s"),
            "{}",
            finding.evidence
        );
        assert!(finding.evidence.contains("at least 10 % of the run"), "{}", finding.evidence);
        assert!(
            finding.evidence.contains("the rate would be at least 2,222/s"),
            "{}",
            finding.evidence
        );
        let mut open = frozen(30..40);
        sample::open_loop(&mut open, 2000.0);
        let found = on_run(&open).unwrap();
        assert!(!found.evidence.contains("the rate would be"), "{found:?}");
        // Only where others were sent meanwhile, slow single requests are excluded.
        assert!(
            found.cause.contains("what was sent meanwhile did not come back either"),
            "{found:?}"
        );
        assert!(
            finding.cause.contains("Or all requests in flight were slow at the same moment"),
            "{finding:?}"
        );
    }

    /// The frozen ones time out after 300 ms, are sent again, and time out again, until the server goes on.
    #[test]
    fn a_stall_that_is_longer_than_the_timeout_is_found() {
        let with = |in_each: u64| {
            let mut run = sample::run();
            run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
            for (at, slice) in run.record.slices.slices[30..40].iter_mut().enumerate() {
                (slice.responses, slice.failures) = (0, if at % 3 == 2 { in_each } else { 0 });
            }
            run.record.failures[FailureKind::Timeout as usize] = 3 * in_each;
            run.record.failed.total.record_many(300_000_000, 3 * in_each);
            run
        };
        let finding = on_run(&with(60)).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        let said = &finding.evidence;
        assert!(
            said.starts_with("No response came for at least 1.00 s starting at 3.00 s"),
            "{said}"
        );
        assert!(said.contains("In that time 180 requests timed out."), "{said}");
        // As long as the timeout: they time out when the server goes on.
        let mut run = with(60);
        run.record.slices.slices[30..40].iter_mut().for_each(|slice| slice.failures = 0);
        run.record.slices.slices[40].failures = 180;
        assert!(on_run(&run).is_some());
        // One request that hung, of the 100 in flight, is no stall of all.
        assert_eq!(on_run(&with(1)), None);
        // Places that hang one by one until the timeout, most of the time: D02 tells that.
        let mut hung = with(60);
        hung.record.failed.total.record_many(1_000_000_000, 500);
        assert_eq!(on_run(&hung), None);
        // What failed otherwise came from the server, or through it.
        let mut run = with(60);
        run.record.failures[FailureKind::Reset as usize] = 3;
        assert_eq!(on_run(&run), None);
    }

    /// A stall of 1 s amid a few requests that never get a response.
    #[test]
    fn requests_that_time_out_beside_it_hide_no_stall() {
        let mut run = frozen(30..40);
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        for at in [10, 31, 33, 35, 37, 39, 60] {
            run.record.slices.slices[at].failures = 1;
        }
        run.record.failures[FailureKind::Timeout as usize] = 7;
        run.record.failed.total.record_many(2_000_000_000, 7);
        let finding = on_run(&run).unwrap();
        assert!(finding.evidence.contains("for at least 1.00 s starting at 3.00 s"), "{finding:?}");
    }

    #[test]
    fn a_pause_by_hand_is_no_stall() {
        use ablaze_model::rate_change::RateChange;
        let mut run = frozen(30..40);
        sample::open_loop(&mut run, 2000.0);
        let change = |at_ms: u64, times_asked| RateChange { at_ns: at_ms * 1_000_000, times_asked };
        run.rate_changes = vec![change(2_950, 0.0), change(3_980, 1.0)];
        assert_eq!(on_run(&run), None);
        // Elsewhere it is one.
        run.rate_changes = vec![change(5_000, 0.0), change(6_000, 1.0)];
        assert!(on_run(&run).is_some());
    }

    /// At a rate that grows from nothing, slices are empty at its foot because nothing was due, and responses are slow at its
    /// top because that was too much.
    #[test]
    fn the_foot_of_a_ramp_is_no_stall() {
        let found = |from_per_s: f64, to_per_s: f64, empty: &[usize]| {
            let mut run = sample::run();
            sample::open_loop(&mut run, 1.0);
            let Load::Open { rate, .. } = &mut run.plan.load else { unreachable!("opened above") };
            (rate.from_per_s, rate.to_per_s) = (from_per_s, to_per_s);
            run.plan.limits.duration_ns = Some(run.elapsed_ns);
            for at in empty {
                run.record.slices.slices[*at].responses = 0;
            }
            run.record.answered.total.record_many(250_000_000, 100);
            run.record.answered.processing.record_many(250_000_000, 100);
            on_run(&run).map(|found| found.evidence)
        };
        // From 0 to 4,000/s 6 and 14 requests are due in these slices; 8 in the first two; 202 in the last one.
        assert_eq!(found(0.0, 4_000.0, &[1, 3]), None);
        assert_eq!(found(0.0, 4_000.0, &[0, 1]), None);
        let top = found(0.0, 4_000.0, &[1, 3, 50]).unwrap();
        assert!(
            top.starts_with("No request finished for at least 100 ms starting at 5.00 s, with"),
            "{top}"
        );
        let evenly = found(2_000.0, 2_000.0, &[1, 3]).unwrap();
        assert!(evenly.contains("0.100 s") && evenly.contains("0.300 s"), "{evenly}");
        assert!(found(2_000.0, 2_000.0, &[0, 1]).is_some());
    }

    /// A rate that was lowered by hand to 10/s for a second.
    #[test]
    fn a_rate_lowered_by_hand_is_no_stall() {
        use ablaze_model::rate_change::RateChange;
        let mut run = frozen(32..35);
        sample::open_loop(&mut run, 2000.0);
        assert!(on_run(&run).is_some());
        let change = |at_ms: u64, times_asked| RateChange { at_ns: at_ms * 1_000_000, times_asked };
        run.rate_changes = vec![change(3_000, 0.005), change(4_000, 1.0)];
        assert_eq!(on_run(&run), None);
    }

    /// Beats of which one was so late, and for so much of it others had the processors.
    fn late(late_ms: u64, waited_ms: u64) -> Heartbeat {
        let waited_ns = Some(waited_ms * 1_000_000);
        let gap = Gap { at_clock_ns: 5, length_ns: late_ms * 1_000_000, waited_ns };
        Heartbeat {
            beats: 900,
            gaps: 1,
            gaps_ns: gap.length_ns,
            gaps_waited_ns: waited_ns,
            longest: vec![gap],
        }
    }

    #[test]
    fn who_runs_on_did_not_stop() {
        let mut run = frozen(30..40);
        let cause = on_run(&run).unwrap().cause;
        assert!(!cause.contains("network") && cause.contains("this machine did not"), "{cause}");
        sample::monitor(&mut run).heartbeat = Some(late(990, 0));
        let cause = on_run(&run).unwrap().cause;
        assert!(!cause.contains("network") && cause.contains("or this machine stopped"), "{cause}");
        run.monitor = None;
        assert!(on_run(&run).unwrap().cause.contains("the network between them"));
    }

    #[test]
    fn what_was_sent_again_meanwhile_is_told_and_not_explained() {
        let mut run = frozen(30..40);
        let quiet = on_run(&run).unwrap();
        assert!(
            !quiet.fix.contains("packet loss") && !quiet.evidence.contains("again"),
            "{quiet:?}"
        );
        sample::monitor(&mut run).connections.as_mut().unwrap().last.retransmissions = 2_000;
        sample::counter(&mut run, "TcpRetransSegs", 2_000);
        let judged = judge(&run).findings;
        let of = |id| judged.iter().find(|finding| finding.id == id).unwrap();
        assert!(of(D07).evidence.contains("2,000 segments again"), "{:?}", of(D07));
        assert!(of(D07).fix.starts_with("Look for packet loss"), "{:?}", of(D07));
        assert_eq!(of(crate::DiagnosisId::D09).explained_by, None);
    }

    #[test]
    fn timers_that_run_for_everybody_at_once_are_no_stall() {
        let with = |late| {
            let mut run = frozen(30..32);
            // The stall froze 100 requests; so many waited for a packet to be sent again.
            run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
            run.record.answered.total.record_many(204_000_000, late);
            on_run(&run)
        };
        assert!(with(90).is_some());
        assert_eq!(with(120), None);
    }

    #[test]
    fn who_waited_for_a_processor_most_of_the_time_stood_still_for_that() {
        let explained = |waited_ns: u64, late_ms: u64| {
            let mut run = stopped(sample::with_shares(0.3, 0.4), 30..40);
            sample::threads(&mut run)[0].waited_ns = waited_ns;
            sample::monitor(&mut run).heartbeat = Some(late(late_ms, late_ms));
            sample::processors(&mut run).user_ns = 19_000_000_000;
            sample::processors(&mut run).idle_ns = 0;
            let findings = judge(&run).findings;
            findings.iter().find(|finding| finding.id == D07).unwrap().explained_by
        };
        assert_eq!(explained(6_500_000_000, 990), Some(D13));
        assert_eq!(explained(2_000_000_000, 20), None, "a little waiting stops nobody");
        assert_eq!(explained(6_500_000_000, 20), None, "not in that moment");
    }

    #[test]
    fn only_a_pause_as_long_as_the_stall_explains_it() {
        let explained = |pause_ms: u64| {
            let mut run = frozen(30..40);
            sample::monitor(&mut run).heartbeat = Some(late(pause_ms, 0));
            let judged = judge(&run);
            judged.findings.iter().find(|finding| finding.id == D07).unwrap().explained_by
        };
        assert_eq!(explained(990), Some(D23));
        // One of several stalls was the machine's; nobody knows of the others.
        let mut run = stopped(stopped(frozen(10..20), 30..40), 50..60);
        sample::monitor(&mut run).heartbeat = Some(late(990, 0));
        assert_eq!(on_run(&run).unwrap().not_explained_by, [D23, D13]);
        assert_eq!(explained(400), None);
    }

    #[test]
    fn a_process_that_was_stopped_for_less_is_no_cause() {
        let found = |readings: u64, slices: std::ops::Range<usize>, workers: usize| {
            let mut run = frozen(slices);
            let processes = &mut sample::monitor(&mut run).target.processes;
            processes.resize(workers, processes[0].clone());
            processes[0].stopped_readings = readings;
            let found = on_run(&run).unwrap();
            assert!(found.evidence.contains("was stopped (state T or t in /proc)"), "{found:?}");
            found.cause == STOPPED.0
        };
        // Of 100 readings in ten seconds.
        assert!(found(19, 30..50, 1));
        assert!(found(10, 30..50, 1));
        assert!(!found(1, 30..50, 1));
        assert!(found(19, 0..20, 1));
        assert!(!found(1, 0..20, 1));
        assert!(!found(19, 30..50, 2), "the other one worked on");
    }

    /// So many pauses of this length, one every so many ms.
    fn pauses(number: u64, length_ms: u64, every_ms: u64) -> Heartbeat {
        let gap = |at: u64| Gap {
            at_clock_ns: at * every_ms * 1_000_000,
            length_ns: length_ms * 1_000_000,
            waited_ns: Some(length_ms * 1_000_000),
        };
        Heartbeat {
            beats: 900,
            gaps: number,
            gaps_ns: number * length_ms * 1_000_000,
            gaps_waited_ns: None,
            longest: (0..number).map(gap).collect(),
        }
    }

    /// Seen where a client at idle priority was left a moment of its processor every 300 ms: one stall, several pauses.
    #[test]
    fn who_is_left_a_moment_now_and_then_did_not_run_on() {
        let mut run = stopped(sample::with_shares(0.3, 0.4), 30..40);
        sample::threads(&mut run)[0].waited_ns = 6_800_000_000;
        sample::processors(&mut run).user_ns = 19_000_000_000;
        sample::processors(&mut run).idle_ns = 0;
        let mut judged = |heartbeat| {
            sample::monitor(&mut run).heartbeat = Some(heartbeat);
            let findings = judge(&run).findings;
            findings.into_iter().find(|finding| finding.id == D07).unwrap()
        };
        let starved = judged(pauses(4, 280, 300));
        assert_eq!(starved.explained_by, Some(D13));
        assert!(starved.cause.contains("or this machine stopped"), "{starved:?}");
        // As much all over the run is no stall; that this machine ran on is not said then, either.
        let elsewhere = judged(pauses(4, 280, 2_000));
        assert_eq!(elsewhere.explained_by, None);
        assert!(elsewhere.cause.contains("or this machine stopped"), "{elsewhere:?}");
        let hardly = judged(pauses(4, 30, 300));
        assert_eq!(hardly.explained_by, None);
        // Who waited for 96 % of the time waited in the stall, too.
        let mut run = stopped(sample::with_shares(0.01, 0.02), 30..40);
        sample::threads(&mut run)[0].waited_ns = 9_600_000_000;
        sample::processors(&mut run).user_ns = 19_900_000_000;
        sample::processors(&mut run).idle_ns = 0;
        sample::monitor(&mut run).heartbeat = Some(pauses(1, 30, 300));
        let findings = judge(&run).findings;
        let starved = findings.iter().find(|finding| finding.id == D07).unwrap();
        assert_eq!(starved.explained_by, Some(D13), "{findings:?}");
        assert!(hardly.cause.contains("this machine did not"), "{hardly:?}");
    }

    /// A hundred places, and responses in the first slices of each piece of so many alone.
    fn in_bursts(slices: usize, of: usize) -> Run {
        let mut run = sample::run();
        run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
        for (number, slice) in run.record.slices.slices.iter_mut().enumerate() {
            slice.responses = if number % of < slices { 100 } else { 0 };
        }
        run
    }

    /// A server that blocks for a second, works for 300 ms, and so on.
    #[test]
    fn a_server_that_stands_still_most_of_the_time_is_told_without_a_cause() {
        let mut run = in_bursts(3, 13);
        run.record.answered.total.record_many(1_020_000_000, 700);
        let found = on_run(&run).expect("D07");
        assert_eq!(found.severity, Severity::Note);
        assert!(found.evidence.contains("at least 1.00 s starting at 0.300 s"), "{found:?}");
        assert!(found.evidence.contains("at least 70 % of the run"), "{found:?}");
        assert_eq!(found.cause, EITHER);
        assert!(found.fix.starts_with("Run it at a rate (--rate), half"), "{found:?}");
        assert!(!found.evidence.contains("the rate would be"), "{found:?}");
        // What is due meanwhile does not come back either.
        sample::open_loop(&mut run, 500.0);
        run.record.in_flight_ns /= 2;
        let found = on_run(&run).expect("D07");
        assert_eq!(found.severity, Severity::Suspect);
        assert_ne!(found.cause, EITHER);
    }

    /// Its `-r` is ab's own.
    #[test]
    fn a_rate_is_advised_in_the_letters_of_the_caller() {
        let mut run = in_bursts(3, 13);
        run.record.answered.total.record_many(1_020_000_000, 700);
        sample::asked(&mut run, &[]);
        for front_end in sample::FRONT_ENDS {
            run.asked.as_mut().unwrap().front_end = front_end;
            let fix = on_run(&run).expect("D07").fix;
            let option = spelled(&run, Opt::Rate);
            assert!(fix.starts_with(&format!("Run it at a rate ({option}), half")), "{fix}");
        }
    }

    #[test]
    fn the_end_of_the_work_and_responses_in_bursts_are_no_stall() {
        assert_eq!(on_run(&sample::run()), None);
        assert_eq!(on_run(&frozen(90..100)), None, "nothing came after it");
        // Responses come all at once, every second, because each takes as long.
        let mut run = in_bursts(1, 10);
        run.record.answered.total.clear();
        run.record.answered.total.record_many(1_000_000_000, 1_000);
        assert_eq!(on_run(&run), None);
        // Nobody was late.
        let mut run = frozen(30..40);
        run.record.answered.total.clear();
        run.record.answered.total.record_many(500_000, 20_000);
        assert_eq!(on_run(&run), None);
    }
}

mod on_reports {
    use super::super::printed::on_report;
    use crate::finding::Severity;
    use crate::printed::{Connections, Report};
    use crate::rules::sample;

    /// A run in which some of 1,000,000 requests were frozen: the deviation by its definition.
    fn frozen(groups: &[(u64, f64)]) -> Report {
        let mut report = sample::ab();
        let squares: f64 = groups.iter().map(|(count, ms)| *count as f64 * ms.powi(2)).sum();
        let deviation = (squares / 999_999.0).sqrt();
        let longest = groups.iter().map(|(_, ms)| *ms).fold(0.0, f64::max);
        let deviation = (deviation * 10.0).round() / 10.0;
        report.total = Some(sample::times(12.0, 20.0, deviation, 20.0, 20.0 + longest));
        // 195 to 205 of 200 in flight: connections were idle for 2.5 of 100 s at most.
        report
    }

    #[test]
    fn all_in_flight_at_once_is_a_stall() {
        // 7.2 % of the time of 200 connections: that none of them had more than 2.5 / 0.928 of 7.2 s left at the end has the
        // chance (1 - 0.072 × (1 - 0.374))^200 = 0.0001.
        let finding = on_report(&frozen(&[(200, 7200.0)])).unwrap();
        // 7.2 of 100 s; 1,000,000 / 92.8 s.
        let said = &finding.evidence;
        assert!(said.contains("takes 7.20 s of 100.0 s (7.2 %)"), "{said}");
        assert!(said.contains("10,800/s") && said.contains("195.0 to 200.0 of 200"), "{said}");
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(!finding.cause.contains("the first request of each"), "{}", finding.cause);
        let mut kept = frozen(&[(200, 7200.0)]);
        kept.connections = Connections::Kept(Some(1_000_000));
        assert!(on_report(&kept).unwrap().cause.contains("the first request of each"));
    }

    #[test]
    fn two_stalls_are_told_apart() {
        let evidence = on_report(&frozen(&[(200, 6000.0), (200, 5000.0)])).unwrap().evidence;
        assert!(evidence.contains("of 6.00 s and about 5.01 s"), "{evidence}");
    }

    /// As many requests may have been slow, each for itself: nothing excludes it.
    #[test]
    fn what_requests_slow_one_by_one_would_leave_too_is_no_certain_stall() {
        let either = |report: &Report| {
            let finding = on_report(report).unwrap();
            assert_eq!(finding.severity, Severity::Note);
            assert!(finding.cause.starts_with("Either"), "{}", finding.cause);
            assert!(!finding.evidence.contains("without it"), "{}", finding.evidence);
            assert!(!finding.fix.contains("Exclude"), "{}", finding.fix);
        };
        // (1 - 0.036 × (1 - 0.72))^200 = 0.13.
        either(&frozen(&[(200, 3600.0)]));
        // 170 to 179 of 200 in flight: they were idle for 15 s.
        let mut idle = frozen(&[(200, 7200.0)]);
        idle.rate_per_s = Some(sample::printed(8_719.0, 0.01));
        either(&idle);
        // The time was up: nobody waited for the slow ones.
        let mut timed = frozen(&[(200, 7200.0)]);
        timed.complete = Some(999_983);
        either(&timed);
    }

    #[test]
    fn a_slow_tail_is_none() {
        // Half of those in flight, or many more than were.
        assert_eq!(on_report(&frozen(&[(100, 3600.0)])), None);
        assert_eq!(on_report(&frozen(&[(850, 3600.0)])), None);
        // Not outside of the bulk, whose 99 % are within 31 ms.
        assert_eq!(on_report(&frozen(&[(200, 130.0)])), None);
        // Two numbers fit, and it is not far outside.
        assert_eq!(on_report(&frozen(&[(200, 500.0), (200, 300.0)])), None);
        assert!(on_report(&frozen(&[(200, 500.0), (200, 500.0)])).is_some());
        assert_eq!(on_report(&sample::ab()), None);
    }
}
