//! Requests to which nothing came, while others were answered: no failure, because the run ended before
//! their timeout.

use ablaze_model::Run;
use ablaze_model::record::Silent;

use super::stopped::{self, STOPPED};
use super::{opening, over_quic, queued, through, windows};
use crate::DiagnosisId::D02;
use crate::diagnosis::d08_connection_attempts_lost;
use crate::finding::{Finding, Severity};
use crate::live::figures;
use crate::live::options::{Opt, spelled};
use crate::words::{counted, grouped, percent, time};

/// So many times as long as any response took: else they may be slow ones, unless there are far too many of them.
const LONGER: u64 = 2;
/// So many times as many as requests as slow as those that ended leave at a moment, and at least so many.
const TIMES_EXPECTED: f64 = 5.0;
const FEWEST: u64 = 3;
/// Linux sends the first packet of a connection again after 1 s and 3 s.
const TIMERS_NS: u64 = 4_000_000_000;
/// The first of them is over by then, whatever it held up.
const FIRST_TIMER_NS: u64 = 2_500_000_000;
/// So many times as long as the 99 % time.
const TIMES_P99: u64 = 10;

const NOT_RESPONDED: &str = "The server had not responded to these requests when the run ended: the rate is that of the others.";

const ONLY_INTERIM: &str = "The server sent interim responses (1xx) to most of these requests, and no final ones until the run \
                            ended: the rate is that of the others.";

fn why_held(silent: &Silent) -> &'static str {
    if silent.interim * 2 > silent.count { ONLY_INTERIM } else { NOT_RESPONDED }
}

/// What had come for requests that hold a place.
fn what_came(silent: &Silent) -> String {
    match silent.interim {
        0 => "no byte of a response had come".to_owned(),
        all if all == silent.count => "only interim responses (1xx) had come".to_owned(),
        some => format!(
            "no byte of a response had come, or only interim responses (1xx, for {} of them),",
            grouped(some)
        ),
    }
}

/// The same of one that waits.
fn without(silent: &Silent) -> String {
    match silent.interim {
        0 => "without a byte of a response".to_owned(),
        some => format!(
            "without a byte of a final response (interim ones, 1xx, had come for {} of them)",
            grouped(some)
        ),
    }
}

/// A share of the places, or of the requests of an open loop, was held by requests that nothing came to.
pub(super) fn held(run: &Run) -> Option<Finding> {
    let silent = run.record.silent;
    let latency = run.record.answered.latency();
    let longest_answered_ns = latency.max_ns()?;
    let usual_ns = latency.quantile_ns(0.99)?.saturating_mul(TIMES_P99);
    let long = match are_too_many(run) {
        true => longest_answered_ns + 1,
        false => longest_answered_ns.saturating_mul(LONGER),
    };
    let of = of_what(run);
    let share = got_nothing(run) as f64 / of as f64;
    if share <= super::SHARE || silent.longest_ns < long.max(usual_ns) {
        return None;
    }
    let severity =
        if without_response(run) >= super::MOST { Severity::Invalid } else { Severity::Suspect };
    let of_warmup = match silent.of_warmup {
        0 => String::new(),
        count => format!("; {} of them were sent in the warm-up", grouped(count)),
    };
    let waited = time(silent.longest_ns as f64 / 1e6);
    let least = time(Silent::least_ns(run.elapsed_ns) as f64 / 1e6);
    let silence = match run.plan.load.is_open() && !is_full(run) {
        true => format!(
            "Of {} requests that were due, {} ({}) had waited for {least} to {waited} {} when the run ended",
            grouped(of),
            grouped(silent.count),
            percent(share),
            without(&silent)
        ),
        false => format!(
            "{} held {} of the {} places when the run ended{}: {} for up to {waited}",
            holders(run, &silent),
            percent(share),
            grouped(of),
            match run.record.never_sent {
                0 => String::new(),
                waiting => format!(", and {} that were due waited for one", grouped(waiting)),
            },
            match silent.count {
                0 => "they had been opening".to_owned(),
                _ => what_came(&silent),
            }
        ),
    };
    let mut evidence = format!(
        "{silence}, while other responses took at most {}{of_warmup}.",
        time(longest_answered_ns as f64 / 1e6)
    );
    if stopped::is_why(run, silent.longest_ns as f64 / 1e9, &mut evidence) {
        return Some(Finding::new(D02, severity, evidence, STOPPED.0, STOPPED.1));
    }
    if windows::are_why(run, &mut evidence) {
        return Some(Finding::new(D02, severity, evidence, windows::CAUSE, windows::FIX));
    }
    if let Some(silence) = over_quic::silence(run, silent.longest_ns as f64 / 1e9) {
        let evidence = format!("{evidence} {}", silence.evidence);
        return Some(Finding::new(D02, severity, evidence, silence.cause, silence.fix));
    }
    // What never opened is no connection that the server's process left in its queue.
    let unopened = silent.connecting * u64::from(run.plan.places_per_connection());
    if unopened <= silent.count
        && silent.interim < silent.count
        && let Some(queued) = queued::queued(run, silent.count.saturating_sub(silent.interim))
    {
        let evidence = format!("{evidence} {}", queued.evidence);
        return Some(Finding::new(D02, severity, evidence, queued.cause, queued.fix));
    }
    if unopened > silent.count {
        let cause = opening::why_they_held(run, silent.connecting, silent.count == 0);
        let fix = format!(
            "{} Or count them as failed with a time limit ({}) shorter than the run.",
            opening::fix(run, silent.connecting),
            spelled(run, Opt::Timeout)
        );
        return Some(Finding::new(D02, severity, evidence, cause, fix));
    }
    Some(Finding::new(
        D02,
        severity,
        evidence,
        through::of_both(run, why_held(&silent).to_owned()),
        format!(
            "See in the server's log what became of them. A run several times as long shows whether a response still comes; \
             with a time limit ({}) they count as failed.",
            spelled(run, Opt::Timeout)
        ),
    ))
}

/// Whether one had waited for most of the run, and many more for so long than requests like those that ended would have: of a
/// request that takes T, a place is in a wait of at least t for T − t. Where connection attempts are lost, timers make stragglers
/// that are longer each time, but not most of the requests.
fn are_too_many(run: &Run) -> bool {
    let (record, least_ns) = (&run.record, Silent::least_ns(run.elapsed_ns));
    let ended = record.answered.total.recorded().chain(record.failed.total.recorded());
    let waited_ns: f64 =
        ended.map(|(took_ns, count)| took_ns.saturating_sub(least_ns) as f64 * count as f64).sum();
    let expected = waited_ns / run.elapsed_ns.max(1) as f64;
    record.silent.longest_ns >= run.elapsed_ns / 2
        && (outlast_timers(run) || d08_connection_attempts_lost::on_run(run).is_none())
        && got_nothing(run) >= FEWEST
        && got_nothing(run) as f64 >= expected * TIMES_EXPECTED
}

/// Whether most of the places got nothing for longer than the first timers of lost packets hold one up, or for nearly all of
/// a shorter run.
fn outlast_timers(run: &Run) -> bool {
    got_nothing(run) * 2 >= of_what(run)
        && run.record.silent.longest_ns
            >= TIMERS_NS.min(FIRST_TIMER_NS.max(run.elapsed_ns / 10 * 9))
}

/// How many of [`of_what`] got nothing.
fn got_nothing(run: &Run) -> u64 {
    match run.plan.load.is_open() && !is_full(run) {
        true => run.record.silent.count,
        false => held_places(run),
    }
}

/// Places that are held by requests to which nothing comes, and by connections that do not open.
fn held_places(run: &Run) -> u64 {
    let silent = run.record.silent;
    silent.count + silent.connecting * u64::from(run.plan.places_per_connection())
}

/// `3 requests, and 7 connections that had not opened,`
fn holders(run: &Run, silent: &Silent) -> String {
    let requests = counted(silent.count, "request");
    let unopened = opening::named(run, silent.connecting);
    match (silent.count, silent.connecting) {
        (_, 0) => requests,
        (0, _) => unopened,
        (_, _) => format!("{requests}, and {unopened},"),
    }
}

/// Whether an open loop had as many connections as it may at the end, and requests that were due waited for one: its places
/// are then what requests that hang hold, as in a closed loop.
pub(super) fn is_full(run: &Run) -> bool {
    run.plan.load.is_open() && run.record.never_sent > 0 && held_places(run) * 2 >= places(run)
}

/// What requests hold one of.
pub(super) fn places(run: &Run) -> u64 {
    u64::from(run.plan.load.connections()) * u64::from(run.plan.places_per_connection())
}

/// What a request that hangs holds one of: a place of a closed loop, or one of the requests that an open loop had to send.
fn of_what(run: &Run) -> u64 {
    let of = match run.plan.load.is_open() {
        true if is_full(run) => places(run),
        true => run.record.finished() + run.record.unfinished,
        false => figures::asked_in_flight(run).unwrap_or(run.plan.load.connections().into()),
    };
    of.max(1)
}

/// The share that makes the rate none of responses. Of an open loop all in flight at the end count: younger ones wait for the
/// same server, for a shorter time.
fn without_response(run: &Run) -> f64 {
    let record = &run.record;
    if is_full(run) {
        return record.unfinished as f64 / (record.finished() + record.unfinished) as f64;
    }
    let of = of_what(run);
    let without = match run.plan.load.is_open() {
        true => record.unfinished.saturating_sub(record.never_sent).max(record.silent.count),
        false => held_places(run),
    };
    without as f64 / of as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    fn with(count: u64, of_warmup: u64, longest_ns: u64) -> Run {
        let mut run = sample::run();
        run.record.silent = Silent { count, of_warmup, longest_ns, ..Silent::default() };
        run
    }

    #[test]
    fn requests_that_hang_are_found_by_their_share_of_the_places() {
        let severity = |count| held(&with(count, 0, 9_000_000_000)).map(|found| found.severity);
        assert_eq!(severity(1), None);
        assert_eq!(severity(2), Some(Severity::Suspect));
        assert_eq!(severity(50), Some(Severity::Invalid));
        let evidence = held(&with(90, 90, 9_000_000_000)).unwrap().evidence;
        assert!(evidence.starts_with("90 requests held 90 % of the 100 places"), "{evidence}");
        assert!(evidence.ends_with("90 of them were sent in the warm-up."), "{evidence}");
    }

    /// An open loop has no places: its server fell silent for the last seven tenths of the run.
    #[test]
    fn an_open_loop_whose_server_fell_silent_is_not_valid() {
        let mut run = with(200, 0, 700_000_000);
        sample::open_loop(&mut run, 1_000.0);
        run.record.responses = 300;
        run.record.unfinished = 700;
        run.record.answered.total.clear();
        run.record.answered.total.record_many(3_000_000, 300);
        let found = held(&run).expect("D02");
        assert_eq!(found.severity, Severity::Invalid);
        assert!(
            found.evidence.starts_with("Of 1,000 requests that were due, 200 (20 %)"),
            "{found:?}"
        );
        // Those of a stopped process are told as its.
        let process = &mut sample::monitor(&mut run).target.processes[0];
        (process.readings, process.stopped_readings) = (9, 6);
        assert_eq!(held(&run).unwrap().cause, STOPPED.0);
        // One that hangs among others in flight is no such thing.
        run.record.silent.count = 1;
        assert_eq!(held(&run), None);
    }

    /// All ten connections that it may have hang, and what was due waits for one.
    #[test]
    fn an_open_loop_whose_connections_all_hang_is_not_valid() {
        let mut run = with(10, 0, 3_000_000_000);
        sample::open_loop(&mut run, 1_000.0);
        let ablaze_model::plan::Load::Open { connections, bounded, .. } = &mut run.plan.load else {
            unreachable!("made an open loop above")
        };
        (*connections, *bounded) = (10, true);
        run.record.responses = 3_000;
        (run.record.unfinished, run.record.never_sent) = (7_000, 6_990);
        let found = held(&run).expect("D02");
        assert_eq!(found.severity, Severity::Invalid);
        assert!(
            found.evidence.starts_with(
                "10 requests held 100 % of the 10 places when the run ended, and 6,990 that were due waited for one: no \
                 byte of a response had come for up to 3.00 s"
            ),
            "{found:?}"
        );
        // One that hangs holds up nobody.
        run.record.silent.count = 1;
        assert_eq!(held(&run), None);
    }

    /// Eleven of twenty connections are never served, and one of the others took more than half as long once.
    #[test]
    fn one_straggler_hides_no_silence() {
        let mut run = with(11, 0, 9_000_000_000);
        run.record.answered.total.record(6_000_000_000);
        assert!(held(&run).is_some());
        // Of those that took six seconds, so many leave as many.
        run.record.answered.total.record_many(6_000_000_000, 10);
        assert_eq!(held(&run), None);
    }

    /// A server that serves one connection of ten, with two in its accept queue.
    #[test]
    fn connections_that_do_not_open_hold_places() {
        let mut run = with(20, 0, 9_000_000_000);
        run.record.silent.connecting = 70;
        let found = held(&run).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        let said = "20 requests, and 70 connections that had not opened, held 90 % of the 100 places when the run ended: no byte";
        assert!(found.evidence.starts_with(said), "{found:?}");
        // The two that the queue holds are not what most of them wait for.
        let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
        (listener.waiting, listener.backlog) = (Some(2), Some(1));
        let found = held(&run).unwrap();
        assert!(found.cause.starts_with("Most of these places had a connection"), "{found:?}");
        run.record.silent.count = 0;
        let found = held(&run).unwrap();
        let said = "70 connections that had not opened held 70 % of the 100 places when the run ended: they had been opening \
                    for up to 9.00 s";
        assert!(found.evidence.starts_with(said), "{found:?}");
        assert!(found.cause.contains("did not open"), "{found:?}");
        // Of an open loop that found others free nothing waited for them.
        sample::open_loop(&mut run, 2_000.0);
        assert_eq!(held(&run), None);
    }

    /// Timers of connections that were lost hold up a few requests, and not most of them.
    #[test]
    fn lost_connection_attempts_hide_no_silence_of_most() {
        let lost = |held_by| {
            let mut run = with(held_by, 0, 9_000_000_000);
            run.record.answered.total.record(6_000_000_000);
            sample::counter(&mut run, "TcpExtListenOverflows", 994);
            let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
            listener.longest_queue = Some(511);
            assert!(d08_connection_attempts_lost::on_run(&run).is_some());
            held(&run)
        };
        assert_eq!(lost(11), None);
        assert_eq!(lost(64).unwrap().severity, Severity::Invalid);
    }

    /// A run that the first timer outlasts says nothing of the others.
    #[test]
    fn the_first_timer_of_a_short_run_is_no_silence_of_most() {
        let mut run = with(64, 0, 1_200_000_000);
        run.elapsed_ns = 1_200_000_000;
        run.record.answered.total.record(860_000_000);
        sample::counter(&mut run, "TcpExtListenOverflows", 994);
        let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
        listener.longest_queue = Some(511);
        assert!(d08_connection_attempts_lost::on_run(&run).is_some());
        assert_eq!(held(&run), None);
    }

    /// In four seconds no timer but the first ones runs out, and one straggler took most of them.
    #[test]
    fn a_straggler_hides_no_silence_of_nearly_the_whole_run() {
        let mut run = with(16, 0, 3_990_000_000);
        run.plan.load = ablaze_model::plan::Load::Closed { connections: 20, pipeline: 1 };
        run.elapsed_ns = 4_000_000_000;
        run.record.answered.total.record(2_680_000_000);
        sample::counter(&mut run, "TcpExtListenOverflows", 994);
        let listener = sample::monitor(&mut run).target.listener.as_mut().unwrap();
        listener.longest_queue = Some(511);
        assert!(d08_connection_attempts_lost::on_run(&run).is_some());
        assert_eq!(held(&run).unwrap().severity, Severity::Invalid);
    }

    /// An interim response says that the server is there, and ends no wait.
    #[test]
    fn interim_responses_alone_hold_places_too() {
        let said = |interim| {
            let mut run = with(4, 0, 9_000_000_000);
            run.record.silent.interim = interim;
            let found = held(&run).unwrap();
            format!("{} {}", found.evidence, found.cause)
        };
        let all = said(4);
        assert!(all.contains("only interim responses (1xx) had come for up to 9.00 s"), "{all}");
        assert!(all.contains("sent interim responses") && !all.contains("no byte"), "{all}");
        let one = said(1);
        assert!(one.contains("or only interim responses (1xx, for 1 of them), for up to"), "{one}");
        assert!(one.contains("had not responded"), "{one}");
    }

    #[test]
    fn slow_responses_are_no_silence() {
        let mut run = with(90, 0, 1_500_000_000);
        run.record.answered.total.record(1_000_000_000);
        assert_eq!(held(&run), None);
    }
}
