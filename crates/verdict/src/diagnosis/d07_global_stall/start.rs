//! A run in whose first moments nothing finished, although the requests were on their way, those of the warm-up among them, and
//! whose responses came steadily afterwards. No cause is stated: a server that is not ready yet, connections that each begin slowly and a machine that
//! stopped look the same from here.

use ablaze_model::Run;

use super::{HERE, LITTLE, OUTSIDE_THE_BULK, gravity, is_idle, pauses};
use crate::DiagnosisId::{D07, D13, D23};
use crate::diagnosis::d02_no_response::STOPPED;
use crate::finding::Finding;
use crate::live::figures::{asked_in_flight, elapsed_s, in_flight, server_stopped};
use crate::live::options::{Opt, spelled};
use crate::words::{amount, counted, grouped, percent, time};

/// A shorter silence behind a warm-up is a moment.
const LEAST_BEHIND_WARMUP_NS: u64 = 200_000_000;
/// It is longer than so many of the others, one behind the other.
const TIMES_OTHERS: u64 = 2;
/// As many requests as are in flight wait in the beginning, and some of those that follow them.
const TIMES_THE_FIRST: f64 = 1.5;
/// Requests that took so much of the silence waited for its end.
const OF_THE_SILENCE: f64 = 0.8;

/// Requests `finished` in each slice, of which a `usual` one has so many.
pub(super) fn found(run: &Run, finished: &[u64], usual: u64) -> Option<Finding> {
    let slices = &run.record.slices;
    let first = finished.iter().position(|number| *number > 0)?;
    let silent_ns = first as u64 * slices.slice_ns;
    let times = run.record.answered.latency();
    let (median_ns, max_ns) = (times.quantile_ns(0.5)?, times.max_ns()?);
    // Before its connection stands, with TLS, a request waits for that.
    let processing_ns = run.record.answered.processing.max_ns().unwrap_or(0);
    let places =
        u64::from(run.plan.load.connections()) * u64::from(run.plan.places_per_connection());
    // One slow request out of one is all of them.
    let own_waited = processing_ns as f64 >= silent_ns as f64 * OF_THE_SILENCE;
    if first > 0 && places > 1 && run.plan.limits.warmup_ns > 0 && !own_waited {
        return of_warmup(run, silent_ns, usual);
    }
    if first == 0
        || places == 1
        || !own_waited
        || (max_ns as f64) < median_ns as f64 * OUTSIDE_THE_BULK
        || run.was_paused_between(0, silent_ns)
        || is_idle(run, 0, silent_ns)
        || run.record.failures_total() > 0
    {
        return None;
    }
    let silent_s = silent_ns as f64 / 1e9;
    let share = silent_s / elapsed_s(run);
    let waited_ns = (silent_ns as f64 * OF_THE_SILENCE) as u64;
    let waited = run.record.answered.total.recorded().filter(|(took_ns, _)| *took_ns >= waited_ns);
    let waited: u64 = waited.map(|(_, count)| count).sum();
    // Where many more took as long, the beginning is not what made them slow.
    let of_the_beginning = match asked_in_flight(run) {
        Some(places) => places as f64,
        None => run.record.responses as f64 / elapsed_s(run) * silent_s + in_flight(run)?,
    };
    if waited == 0 || waited as f64 > TIMES_THE_FIRST * of_the_beginning {
        return None;
    }
    let without = asked_in_flight(run).map_or(String::new(), |_| {
        let per_s = run.record.responses as f64 / (elapsed_s(run) - silent_s);
        format!(" Without that time the rate would be at least {}/s.", amount(per_s))
    });
    let stopped = server_stopped(run);
    let evidence = format!(
        "No request finished in the first {} of the run ({}), and later a median of {} per {} ms. {} took {} or more, the \
         longest {}.{without}{}",
        time(silent_s * 1e3),
        percent(share),
        grouped(usual),
        slices.slice_ns / 1_000_000,
        counted(waited, "request"),
        time(waited_ns as f64 / 1e6),
        time(max_ns as f64 / 1e6),
        stopped.as_ref().map_or(String::new(), |stopped| format!(" {}", stopped.said))
    );
    let covered = pauses::own(run, silent_s).is_some_and(|own| own.cover(silent_s, silent_s));
    let is_stopped = stopped.is_some_and(|stopped| stopped.all_lasted(silent_s));
    let (cause, fix) = match (is_stopped, covered) {
        (true, _) => (STOPPED.0, STOPPED.1.to_owned()),
        (false, true) => (HERE.0, HERE.1.to_owned()),
        (false, false) => (
            "The first requests waited, and nothing else is known of it: a server that is not ready yet (starting, \
             compiling, filling its caches), connections or processes of it that each begin slowly, and one that stood \
             still look the same.",
            match share < LITTLE {
                true => "Exclude the longest times from every comparison.".to_owned(),
                false => format!(
                    "Let it answer for some time before the measurement begins ({}), and measure again: what only the \
                     beginning has is left out then.",
                    spelled(run, Opt::Warmup)
                ),
            },
        ),
    };
    let finding = Finding::new(D07, gravity(share), evidence, cause, fix);
    let finding = if covered { finding } else { finding.not_explained_by(D23) };
    Some(finding.not_explained_by(D13))
}

/// Nothing came in the first moments behind a warm-up, in which connections had been opened and used: what held the places had
/// been sent before, and is in no figure.
fn of_warmup(run: &Run, silent_ns: u64, usual: u64) -> Option<Finding> {
    let slices = &run.record.slices;
    // What the warm-up sent may be as slow as others, and so is the first that follows it on each place.
    let longest_ns = run.record.answered.latency().max_ns()?;
    if silent_ns < LEAST_BEHIND_WARMUP_NS
        || silent_ns < TIMES_OTHERS * longest_ns + 2 * slices.slice_ns
        || run.was_paused_between(0, silent_ns)
        || is_idle(run, 0, silent_ns)
        || slices.slices[..(silent_ns / slices.slice_ns) as usize]
            .iter()
            .any(|slice| slice.failures > 0)
    {
        return None;
    }
    let silent_s = silent_ns as f64 / 1e9;
    let share = silent_s / elapsed_s(run);
    let stopped = server_stopped(run);
    let evidence = format!(
        "No request finished in at least the first {} behind the warm-up ({} of the run), and later a median of {} per {} ms. What the \
         warm-up had sent is in no figure, however long it took; the longest other request took {}.{}",
        time(silent_s * 1e3),
        percent(share),
        grouped(usual),
        slices.slice_ns / 1_000_000,
        time(longest_ns as f64 / 1e6),
        stopped.as_ref().map_or(String::new(), |stopped| format!(" {}", stopped.said))
    );
    let covered = pauses::own(run, silent_s).is_some_and(|own| own.cover(silent_s, silent_s));
    let is_stopped = stopped.is_some_and(|stopped| stopped.all_lasted(silent_s));
    let (cause, fix) = match (is_stopped, covered) {
        (true, _) => STOPPED,
        (false, true) => HERE,
        (false, false) => (
            "Requests of the warm-up held the places for that long: the server, a machine or the network stood still, or all of \
             these requests were slow, and it had begun before the measured time. The rate has that time in it, and \
             no percentile has these requests.",
            "See in the server's log what it did then, and measure again.",
        ),
    };
    let finding = Finding::new(D07, gravity(share), evidence, cause, fix);
    let finding = if covered { finding } else { finding.not_explained_by(D23) };
    Some(finding.not_explained_by(D13))
}
