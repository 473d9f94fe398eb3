//! D57: in a closed loop responses took twice as long, or longer, in the last third of the run as in its first, or from some
//! moment on until its end: how fast the server seems depends on how long it was measured. In an open loop: more was due than
//! came back, to the end, so that what waits grows; or as much came, and responses took twice as long all the same.

use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_model::record::Slice;

use super::d14_too_short::has_beginning;
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D02, D07, D08, D11, D29, D30, D57};
use crate::finding::{Finding, Severity};
use crate::live::behind;
use crate::live::figures::users_pause;
use crate::live::options::{Opt, spelled};
use crate::words::{amount, counted, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D57,
    shown_by: ShownBy::Run,
    severities: &[Severity::Suspect],
    // Connections whose first packet was lost join later, and more requests wait for each other.
    explained_by: &[D02, D07, D08, D11, D29, D30],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

/// The median of a usual slice of the last third over that of one of the first.
const SLOWER: f64 = 2.0;
/// In each third, so that one disturbance is not what they differ by.
const FEWEST_SLICES: usize = 7;
/// What is slow until the end is slow for one of so many parts of the run at least: less may be a disturbance.
const SHORTEST_PART: usize = 5;
/// The median of fewer responses is chance.
const FEWEST_RESPONSES: u64 = 10;
/// So many slices of a third may lie outside: one of ten.
const OUTLIERS: f64 = 0.1;

const CAUSE: &str = "The rate and the percentiles are those of a run of this length: what a response takes depended on when it was \
                     asked for. Why, this run does not show: the server's work may grow with what it has served, later requests \
                     may ask more of it where they are not alike, or one of the machines or the network may have become slower.";
const CAUSE_AT_A_RATE: &str = "The percentiles are those of a run of this length: what a response takes depended on when it was asked \
                               for. Why, this run does not show: the server's work may grow with what it has served, what waits \
                               may grow where a little more is asked for than is carried, or one of the machines or the network \
                               may have become slower.";
const FIX: &str = "Run it again for twice as long, with the server started anew, to see whether it goes on; and watch what grows \
                   in the server meanwhile: memory, a table, a queue, a log.";

fn check(run: &Run) -> Option<Finding> {
    match run.plan.load.is_open() {
        true => falls_behind(run).or_else(|| slower_at_its_rate(run)),
        // What explains a server that falls behind explains none that becomes slower.
        false => slower(run).map(|finding| {
            [D02, D07, D11, D29, D30].into_iter().fold(finding, Finding::not_explained_by)
        }),
    }
}

/// An open loop whose requests pile up.
fn falls_behind(run: &Run) -> Option<Finding> {
    let behind = behind::behind(run).filter(|behind| behind.is_shown)?;
    let [before_ns, after_ns] = behind.medians_ns;
    if !behind.is_slower {
        let evidence = format!(
            "In the last third of the run {}/s were due and {}/s came back. {} had no response when the run ended.",
            amount(behind.due_per_s),
            amount(behind.came_per_s),
            counted(run.record.unfinished, "request")
        );
        let cause = "What waits grew as the run went on: more is asked for than is carried, or a part of the requests is not \
                     answered. The times are those of the requests that got a response.";
        let fix = format!(
            "Run it again at a lower rate ({}): if all that is due comes back then, it was the rate (`ablaze find` looks for the \
             highest that is carried).",
            spelled(run, Opt::Rate)
        );
        let found = Finding::new(D57, Severity::Suspect, evidence, cause, fix);
        return Some(found.not_explained_by(D08));
    }
    let evidence = format!(
        "In the last third of the run {}/s were due and {}/s came back; the median per {} ms was typically {} in the first third and \
         {} in the last. {} had no response when the run ended.",
        amount(behind.due_per_s),
        amount(behind.came_per_s),
        run.record.slices.slice_ns / 1_000_000,
        time(before_ns as f64 / 1e6),
        time(after_ns as f64 / 1e6),
        counted(run.record.unfinished, "request")
    );
    let cause = "What waits grew as the run went on: more is asked for than is carried, or the server took longer for each request \
                 the longer it ran, which one rate does not tell apart. The times are those of a run of this length, and of the \
                 requests that got a response within it.";
    let fix = format!(
        "Run it again at a lower rate ({}): if all that is due comes back then, it was the rate (`ablaze find` looks for the highest \
         that is carried); if times grow as before, the server becomes slower.",
        spelled(run, Opt::Rate)
    );
    // A queue that is full because of that is no reason for it.
    Some(Finding::new(D57, Severity::Suspect, evidence, cause, fix).not_explained_by(D08))
}

/// An open loop that gets what it asks for, later and later.
fn slower_at_its_rate(run: &Run) -> Option<Finding> {
    let (first, last) = thirds(run).filter(|(first, last)| takes_longer(first, last))?;
    let evidence = format!(
        "Responses became slower as the run went on, at the same requested rate: the median per {} ms was typically {} in its first \
         third and {} in its last.",
        run.record.slices.slice_ns / 1_000_000,
        time(first.median_ns() as f64 / 1e6),
        time(last.median_ns() as f64 / 1e6),
    );
    let fix = format!(
        "Run it again for twice as long, with the server started anew, to see whether it goes on, and at a lower rate ({}): if times \
         grow as before, the server becomes slower.",
        spelled(run, Opt::Rate)
    );
    let found = Finding::new(D57, Severity::Suspect, evidence, CAUSE_AT_A_RATE, fix);
    // What waits for a connection does so because responses take longer.
    Some([D08, D30].into_iter().fold(found, Finding::not_explained_by))
}

fn slower(run: &Run) -> Option<Finding> {
    let (first, last) = thirds(run)?;
    if !are_apart(&first, &last) {
        return from_a_moment_on(run);
    }
    let [(before_ns, before_per_s), (after_ns, after_per_s)] =
        [&first, &last].map(|third| (third.median_ns(), third.rate_per_s()));
    let evidence = format!(
        "Responses became slower as the run went on: the median per {} ms was typically {} in its first third and {} in its \
         last, at {}/s and {}/s.",
        run.record.slices.slice_ns / 1_000_000,
        time(before_ns as f64 / 1e6),
        time(after_ns as f64 / 1e6),
        amount(before_per_s),
        amount(after_per_s)
    );
    Some(Finding::new(D57, Severity::Suspect, evidence, CAUSE, FIX))
}

fn seen(run: &Run) -> Option<String> {
    if run.plan.load.is_open() {
        let behind = behind::behind(run)?;
        return Some(format!(
            "In the last third of the run {}/s were due and {}/s came back.",
            amount(behind.due_per_s),
            amount(behind.came_per_s)
        ));
    }
    let (first, last) = thirds(run)?;
    Some(format!(
        "The median per {} ms was typically {} in the first third of the run and {} in its last.",
        run.record.slices.slice_ns / 1_000_000,
        time(first.median_ns() as f64 / 1e6),
        time(last.median_ns() as f64 / 1e6)
    ))
}

/// Slow until the end, but not for a third of the run.
fn from_a_moment_on(run: &Run) -> Option<Finding> {
    let slices = whole_slices(run)?;
    let slice_ns = run.record.slices.slice_ns;
    let apart = |at: &usize| {
        let (before, after) = slices.split_at(*at);
        Some((Part::of(before, slice_ns)?, Part::of(after, slice_ns)?))
            .filter(|(before, after)| are_apart_at_a_moment(before, after))
    };
    let ends = slices.len() - slices.len() / SHORTEST_PART;
    let at = (slices.len() / 2..=ends).filter(|at| apart(at).is_some()).max_by_key(|at| {
        let (before, after) = slices.split_at(*at);
        let limit_ns = apart(at).map_or(0, |(before, after)| between(&before, &after));
        before.iter().filter(|slice| slice.p50_ns < limit_ns).count()
            + after.iter().filter(|slice| slice.p50_ns >= limit_ns).count()
    })?;
    let (before, after) = apart(&at)?;
    let evidence = format!(
        "Responses were slower from {} on, until the run ended at {}: the median per {} ms was typically {} before and {} from \
         then on, at {}/s and {}/s.",
        time((at as u64 * slice_ns) as f64 / 1e6),
        time(run.elapsed_ns as f64 / 1e6),
        slice_ns / 1_000_000,
        time(before.median_ns() as f64 / 1e6),
        time(after.median_ns() as f64 / 1e6),
        amount(before.rate_per_s()),
        amount(after.rate_per_s())
    );
    Some(Finding::new(D57, Severity::Suspect, evidence, CAUSE, FIX))
}

/// The same as [`are_apart`], of parts that are not equally long.
fn are_apart_at_a_moment(before: &Part, after: &Part) -> bool {
    takes_longer(before, after) && after.rate_per_s() < before.rate_per_s()
}

/// Half-way between two medians, by factors.
fn between(before: &Part, after: &Part) -> u64 {
    (before.median_ns() as f64 * after.median_ns() as f64).sqrt() as u64
}

/// A part of the run: its slices' medians in order, and its responses.
struct Part {
    medians_ns: Vec<u64>,
    responses: u64,
    length_s: f64,
}

impl Part {
    fn of(slices: &[Slice], slice_ns: u64) -> Option<Self> {
        let enough = slices.iter().all(|slice| slice.responses >= FEWEST_RESPONSES);
        let mut medians_ns: Vec<u64> = slices.iter().map(|slice| slice.p50_ns).collect();
        medians_ns.sort_unstable();
        (enough && slices.len() >= FEWEST_SLICES).then(|| Self {
            medians_ns,
            responses: slices.iter().map(|slice| slice.responses).sum(),
            length_s: slices.len() as f64 * slice_ns as f64 / 1e9,
        })
    }

    fn at(&self, share: f64) -> u64 {
        self.medians_ns[((self.medians_ns.len() - 1) as f64 * share).round() as usize]
    }

    /// Of a usual slice: the middle one of their medians.
    fn median_ns(&self) -> u64 {
        self.at(0.5)
    }

    fn rate_per_s(&self) -> f64 {
        self.responses as f64 / self.length_s
    }
}

/// Nine of ten slices of the last are slower than nine of ten of the first, and in the middle twice as slow; fewer came in it.
fn are_apart(first: &Part, last: &Part) -> bool {
    takes_longer(first, last) && last.responses < first.responses
}

fn takes_longer(first: &Part, last: &Part) -> bool {
    last.median_ns() as f64 >= SLOWER * first.median_ns() as f64
        && last.at(OUTLIERS) > first.at(1.0 - OUTLIERS)
}

/// The first and the last third of a run in which as much was asked of the server all the time, and alike: not where its
/// rate changes; nor where connections are opened meanwhile, users pause, or have several steps.
fn thirds(run: &Run) -> Option<(Part, Part)> {
    let whole = whole_slices(run)?;
    let third = whole.len() / 3;
    let of = |slices| Part::of(slices, run.record.slices.slice_ns);
    Some((of(&whole[..third])?, of(&whole[whole.len() - third..])?))
}

/// Whether as much is asked for all the time.
fn asks_evenly(load: &Load) -> bool {
    match load {
        Load::Open { rate, .. } => rate.is_constant(),
        Load::Closed { .. } => true,
    }
}

/// The slices of such a run.
fn whole_slices(run: &Run) -> Option<&[Slice]> {
    let varies = !asks_evenly(&run.plan.load) || users_pause(run) || run.record.groups.len() > 1;
    let grows = run.plan.connections.ramp_ns > 0 || run.plan.journey.is_some();
    if varies || grows || !run.rate_changes.is_empty() || has_beginning(run) {
        return None;
    }
    let slices = &run.record.slices;
    // The last one may be cut short.
    let whole = run.elapsed_ns.checked_div(slices.slice_ns)? as usize;
    slices.slices.get(..whole)
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::GroupRecord;

    use super::*;
    use crate::live::sample;

    /// Its 100 slices with these times, in the order of the run; a closed loop gets through as many as that permits.
    fn with_times(ns: impl Fn(usize) -> u64) -> Run {
        let mut run = sample::run();
        for (at, slice) in run.record.slices.slices.iter_mut().enumerate() {
            (slice.p50_ns, slice.responses) = (ns(at), 100_000_000 / ns(at));
        }
        run
    }

    #[test]
    fn a_server_that_becomes_slower_is_suspect() {
        // From 1 ms to 5 ms.
        let finding = check(&with_times(|at| 1_000_000 + 40_404 * at as u64)).unwrap();
        assert_eq!(finding.severity, Severity::Suspect);
        let said = "the median per 100 ms was typically 1.65 ms in its first third and 4.35 ms in its last, at 639/s and 227/s";
        assert!(finding.evidence.contains(said), "{finding:?}");
    }

    #[test]
    fn an_open_loop_whose_requests_pile_up_is_suspect() {
        // 330/s of 2,000/s.
        let mut run = with_times(|at| 16_700_000 * (at as u64 + 1));
        sample::open_loop(&mut run, 2_000.0);
        run.record.slices.slices.iter_mut().for_each(|slice| slice.responses = 33);
        (run.record.responses, run.record.unfinished) = (3_300, 16_700);
        let found = check(&run).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let said = "In the last third of the run 2,000/s were due and 330/s came back";
        assert!(found.evidence.starts_with(said), "{found:?}");
        assert!(
            found.evidence.ends_with("16,700 requests had no response when the run ended."),
            "{found:?}"
        );
        assert!(found.fix.contains("--rate"), "{found:?}");
    }

    /// Each response takes longer than the one before, and all that is due comes back.
    #[test]
    fn an_open_loop_that_is_carried_later_and_later_is_suspect() {
        let carried = |ns: &dyn Fn(usize) -> u64| {
            let mut run = with_times(ns);
            sample::open_loop(&mut run, 2_000.0);
            run.record.slices.slices.iter_mut().for_each(|slice| slice.responses = 200);
            check(&run)
        };
        let found = carried(&|at| 1_000_000 + 200_000 * at as u64).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let said = "at the same requested rate: the median per 100 ms was typically 4.20 ms in its first third and 17.6 ms";
        assert!(found.evidence.contains(said), "{found:?}");
        assert!(found.cause.contains("does not show") && found.fix.contains("--rate"), "{found:?}");
        assert_eq!(carried(&|at| 1_000_000 + 8_000 * at as u64), None);
    }

    #[test]
    fn one_that_is_slower_from_a_moment_on_is_suspect() {
        let from = |slice: usize| {
            move |at: usize| {
                if at >= slice { 4_000_000 } else { 1_000_000 + at as u64 % 3 * 50_000 }
            }
        };
        let found = check(&with_times(from(76))).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        let said = "slower from 7.60 s on, until the run ended at 10.0 s: the median per 100 ms was typically 1.05 ms before and \
                    4.00 ms from then on";
        assert!(found.evidence.contains(said), "{found:?}");
        // A disturbance of the last second, and one that was over before the end.
        assert_eq!(check(&with_times(from(90))), None);
        let over = |at: usize| if (60..80).contains(&at) { 4_000_000 } else { 1_000_000 };
        assert_eq!(check(&with_times(over)), None);
    }

    #[test]
    fn noise_single_stalls_and_a_little_more_are_not_told() {
        assert_eq!(check(&sample::run()), None);
        // Ten times as slow now and then, in the last third more often.
        let stalls = |at: usize| {
            if at.is_multiple_of(9) || at > 80 && at.is_multiple_of(2) {
                10_000_000
            } else {
                1_000_000
            }
        };
        assert_eq!(check(&with_times(stalls)), None);
        assert_eq!(check(&with_times(|at| 1_000_000 + 8_000 * at as u64)), None);
        // Faster and faster.
        assert_eq!(check(&with_times(|at| 5_000_000 - 40_000 * at as u64)), None);
        // Alternating, with half of the last as fast as the first.
        let mixed = |at: usize| if at > 66 && at.is_multiple_of(2) { 9_000_000 } else { 1_000_000 };
        assert_eq!(check(&with_times(mixed)), None);
    }

    #[test]
    fn a_third_of_few_slices_or_responses_says_nothing() {
        let mut run = with_times(|at| 1_000_000 + 40_000 * at as u64);
        run.record.slices.slices.truncate(20);
        run.elapsed_ns = 2_000_000_000;
        assert!(thirds(&run).is_none());
        let slow = with_times(|at| if at > 66 { 12_000_000 } else { 1_000_000 });
        assert!(thirds(&slow).is_none());
    }

    #[test]
    fn where_the_load_grows_by_itself_nothing_is_said() {
        let slower = || with_times(|at| 1_000_000 + 40_000 * at as u64);
        assert!(thirds(&slower()).is_some());
        let mut run = slower();
        sample::open_loop(&mut run, 2_000.0);
        assert!(thirds(&run).is_some());
        if let Load::Open { rate, .. } = &mut run.plan.load {
            rate.to_per_s = 4_000.0;
        }
        assert!(thirds(&run).is_none());
        let mut run = slower();
        run.plan.connections.ramp_ns = 1_000_000;
        assert!(thirds(&run).is_none());
        let mut run = slower();
        run.record.groups = vec![GroupRecord::new("a", false), GroupRecord::new("b", false)];
        assert!(thirds(&run).is_none());
    }
}
