//! D07: nothing at all came back for a while, although requests were in flight and came back
//! steadily before and after.

use ablaze_model::Run;

use super::d09_retransmission::after_timers;
use super::figures::{asked_in_flight, elapsed_s, in_flight, witness};
use super::{Rule, d13_shared_processors};
use crate::DiagnosisId::{D07, D13, D23};
use crate::finding::{Finding, Severity};
use crate::words::{amount, counted, grouped, listed, percent, time};

/// A slice without an answer means something only where slices have so many as a rule: with 20
/// expected, none is left to chance once in half a billion.
const FEWEST_USUAL: u64 = 20;
/// The requests that were frozen took at least so many times the median.
const OUTSIDE_THE_CROWD: f64 = 5.0;
/// Below this share of the run a stall is a note.
const LITTLE: f64 = 0.01;
/// More answers than so many times those that stalls can have frozen are not late by stalls.
const TIMES_THE_FROZEN: f64 = 2.0;
/// A pause of this process of at least so much of the stall can be its cause.
const OF_THE_STALL: f64 = 0.5;
/// So many stalls are named.
const NAMED: usize = 3;

/// A thread that waits for a processor for this share of the time stands still now and then.
const STARVED: f64 = 0.5;

pub const RULE: Rule = Rule { id: D07, check, seen };

fn check(run: &Run) -> Option<Finding> {
    let slices = &run.record.slices;
    let slice_s = slices.slice_ns as f64 / 1e9;
    let finished = finished(run);
    let usual = usual(&finished)?;
    let stalls = stalls(&finished);
    if are_of_timers(run, stalls.len()) {
        return None;
    }
    let lost_s = stalls.iter().map(|(_, length)| *length as f64).sum::<f64>() * slice_s;
    let longest_s = stalls.iter().map(|(_, length)| *length).max()? as f64 * slice_s;
    // Whoever was frozen shows it: an empty slice without late answers is the end of the work.
    let times = run.record.answered.latency();
    let (median_ns, max_ns) = (times.quantile_ns(0.5)? as f64, times.max_ns()? as f64);
    if max_ns < median_ns * OUTSIDE_THE_CROWD || max_ns < longest_s * 0.8e9 {
        return None;
    }
    // An open loop works off what came meanwhile: its rate is the asked one.
    let without = asked_in_flight(run).map_or(String::new(), |_| {
        let per_s = run.record.answers as f64 / (elapsed_s(run) - lost_s);
        format!(" Without it the rate would be about {}/s.", amount(per_s))
    });
    let named = stalls.iter().take(NAMED).map(|(at, length)| {
        format!(
            "{} from {} s on",
            time(*length as f64 * slice_s * 1e3),
            amount(*at as f64 * slice_s)
        )
    });
    let more = stalls.len().saturating_sub(NAMED);
    let more = match more as u64 {
        0 => String::new(),
        more => format!(", and {} more", counted(more, "time")),
    };
    let share = lost_s / elapsed_s(run);
    let evidence = format!(
        "Nothing came back for {}{more}, with {} requests in flight on average and {} answers in \
         a usual {} ms. That is {} of the run; the longest request took {}.{without}",
        listed(named),
        amount(in_flight(run)?),
        grouped(usual),
        slices.slice_ns / 1_000_000,
        percent(share),
        time(max_ns / 1e6)
    );
    let severity = if share < LITTLE { Severity::Note } else { Severity::Suspect };
    let finding = Finding::new(
        D07,
        severity,
        evidence,
        "The server, the tester, the machine under one of them or the network between them stood \
         still for that long. It is no property of single requests, and no slow tail.",
        "Leave the longest times out of every comparison, and run again while `vmstat 1` runs on both \
         machines: it shows which of them stops.",
    );
    let ran_on = own_pause_s(run).is_some_and(|gap_s| gap_s < longest_s * OF_THE_STALL);
    let finding = if ran_on { finding.not_explained_by(D23) } else { finding };
    // Whoever had a processor most of the time did not stand still for want of one.
    let starved = d13_shared_processors::waited(run) >= STARVED;
    Some(if starved { finding } else { finding.not_explained_by(D13) })
}

/// The longest time that this process stood still, in seconds. Where it is much shorter than the
/// stall, something else stood still.
fn own_pause_s(run: &Run) -> Option<f64> {
    let heartbeat = witness(run)?.heartbeat.as_ref().filter(|heartbeat| heartbeat.beats > 0)?;
    let longest_ns = heartbeat.longest.iter().map(|gap| gap.length_ns).max().unwrap_or(0);
    Some(longest_ns as f64 / 1e9)
}

fn seen(run: &Run) -> Option<String> {
    let slices = &run.record.slices;
    let usual = usual(&finished(run))?;
    let times = run.record.answered.latency();
    Some(format!(
        "{} finished in a usual {} ms; the longest took {}, the median is {}.",
        counted(usual, "request"),
        slices.slice_ns / 1_000_000,
        time(times.max_ns()? as f64 / 1e6),
        time(times.quantile_ns(0.5)? as f64 / 1e6)
    ))
}

/// Where packets are lost all the time, now and then everybody waits to send one again at once (D09):
/// far more answers are late by exactly that timer than stalls of everybody would make.
fn are_of_timers(run: &Run, stalls: usize) -> bool {
    let frozen = in_flight(run).unwrap_or(0.0) * stalls as f64;
    let times = &run.record.answered.total;
    let late = times.quantile_ns(0.5).map_or(0, |median_ns| after_timers(times, median_ns));
    late as f64 > frozen * TIMES_THE_FROZEN
}

/// Requests finished in each slice.
fn finished(run: &Run) -> Vec<u64> {
    run.record.slices.slices.iter().map(|slice| slice.answers + slice.failures).collect()
}

/// How many a usual slice has: the median; `None` when they are too few to tell a stall by.
fn usual(finished: &[u64]) -> Option<u64> {
    let mut usual = finished.to_vec();
    usual.sort_unstable();
    usual.get(usual.len() / 2).copied().filter(|usual| *usual >= FEWEST_USUAL)
}

/// Runs of slices in which nothing was finished, with work before and after: begin and length.
fn stalls(finished: &[u64]) -> Vec<(usize, usize)> {
    let busy = |number: &u64| *number > 0;
    let (Some(first), Some(last)) =
        (finished.iter().position(busy), finished.iter().rposition(busy))
    else {
        return Vec::new();
    };
    let mut stalls: Vec<(usize, usize)> = Vec::new();
    for (at, number) in finished.iter().enumerate().take(last).skip(first) {
        if busy(number) {
            continue;
        }
        match stalls.last_mut() {
            Some((begin, length)) if *begin + *length == at => *length += 1,
            _ => stalls.push((at, 1)),
        }
    }
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{judge, sample};
    use ablaze_sys::witness::{Gap, Heartbeat};

    fn frozen(slices: std::ops::Range<usize>) -> Run {
        stopped(sample::run(), slices)
    }

    fn stopped(mut run: Run, slices: std::ops::Range<usize>) -> Run {
        let length_ns = slices.len() as u64 * 100_000_000;
        for slice in slices {
            run.record.slices.slices[slice].answers = 0;
        }
        run.record.answered.total.record_many(length_ns, 100);
        run
    }

    #[test]
    fn a_second_without_answers_is_found_with_its_place() {
        let finding = check(&frozen(30..40)).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(finding.evidence.contains("for 1.00 s from 3.00 s on"), "{}", finding.evidence);
        assert!(finding.evidence.contains("10.0 % of the run"), "{}", finding.evidence);
        assert!(
            finding.evidence.contains("the rate would be about 2,222/s"),
            "{}",
            finding.evidence
        );
        let mut open = frozen(30..40);
        sample::open_loop(&mut open, 2000.0);
        let evidence = check(&open).unwrap().evidence;
        assert!(!evidence.contains("the rate would be"), "{evidence}");
    }

    #[test]
    fn timers_that_run_for_everybody_at_once_are_no_stall() {
        let with = |late| {
            let mut run = frozen(30..32);
            // The stall froze 100 requests; so many waited for a packet to be sent again.
            run.record.in_flight_ns = 100 * u128::from(run.elapsed_ns);
            run.record.answered.total.record_many(204_000_000, late);
            check(&run)
        };
        assert!(with(90).is_some());
        assert_eq!(with(120), None);
    }

    #[test]
    fn who_waited_for_a_processor_most_of_the_time_stood_still_for_that() {
        let explained = |waited_ns: u64| {
            let mut run = stopped(sample::with_shares(0.3, 0.4), 30..40);
            sample::threads(&mut run)[0].waited_ns = waited_ns;
            sample::processors(&mut run).user_ns = 19_000_000_000;
            sample::processors(&mut run).idle_ns = 0;
            let findings = judge(&run).findings;
            findings.iter().find(|finding| finding.id == D07).unwrap().explained_by
        };
        assert_eq!(explained(6_500_000_000), Some(D13));
        assert_eq!(explained(2_000_000_000), None, "a little waiting stops nobody");
    }

    #[test]
    fn only_a_pause_as_long_as_the_stall_explains_it() {
        let explained = |pause_ms: u64| {
            let mut run = frozen(30..40);
            let gap = Gap { at_clock_ns: 5, length_ns: pause_ms * 1_000_000, waited_ns: Some(0) };
            sample::witness(&mut run).heartbeat = Some(Heartbeat {
                beats: 900,
                gaps: 1,
                gaps_ns: gap.length_ns,
                gaps_waited_ns: Some(0),
                longest: vec![gap],
            });
            let judged = judge(&run);
            judged.findings.iter().find(|finding| finding.id == D07).unwrap().explained_by
        };
        assert_eq!(explained(990), Some(D23));
        assert_eq!(explained(400), None);
    }

    #[test]
    fn the_end_of_the_work_and_answers_in_bursts_are_no_stall() {
        assert_eq!(check(&sample::run()), None);
        assert_eq!(check(&frozen(90..100)), None, "nothing came after it");
        // Answers come all at once, every second: the usual slice is empty.
        let mut run = frozen(30..40);
        for (number, slice) in run.record.slices.slices.iter_mut().enumerate() {
            slice.answers = if number % 10 == 0 { 100 } else { 0 };
        }
        assert_eq!(check(&run), None);
        // Nobody was late.
        let mut run = frozen(30..40);
        run.record.answered.total.clear();
        run.record.answered.total.record_many(500_000, 20_000);
        assert_eq!(check(&run), None);
    }
}
