//! D57: in a closed loop responses took twice as long, or longer, in the last third of the run as in its first: how fast the
//! server seems depends on how long it was measured.

use ablaze_model::Run;
use ablaze_model::record::Slice;

use super::d14_too_short::has_beginning;
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::{D08, D57};
use crate::finding::{Finding, Severity};
use crate::live::figures::users_pause;
use crate::words::{amount, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D57,
    shown_by: ShownBy::Run,
    severities: &[Severity::Suspect],
    // Connections whose first packet was lost join later, and more requests wait for each other.
    explained_by: &[D08],
    forms: Forms { run: Some(OnRun { check, seen }), ..Forms::NONE },
};

/// The median of a usual slice of the last third over that of one of the first.
const SLOWER: f64 = 2.0;
/// In each third, so that one disturbance is not what they differ by.
const FEWEST_SLICES: usize = 7;
/// The median of fewer responses is chance.
const FEWEST_RESPONSES: u64 = 10;
/// So many slices of a third may lie outside: one of ten.
const OUTLIERS: f64 = 0.1;

const CAUSE: &str = "The rate and the percentiles are those of a run of this length: what a response takes depended on when it was \
                     asked for. Why, this run does not show: the server's work may grow with what it has served, later requests \
                     may ask more of it where they are not alike, or one of the machines or the network may have become slower.";
const FIX: &str = "Run it again for twice as long, with the server started anew, to see whether it goes on; and watch what grows \
                   in the server meanwhile: memory, a table, a queue, a log.";

fn check(run: &Run) -> Option<Finding> {
    let (first, last) = thirds(run)?;
    if !are_apart(&first, &last) {
        return None;
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
    let (first, last) = thirds(run)?;
    Some(format!(
        "The median per {} ms was typically {} in the first third of the run and {} in its last.",
        run.record.slices.slice_ns / 1_000_000,
        time(first.median_ns() as f64 / 1e6),
        time(last.median_ns() as f64 / 1e6)
    ))
}

/// A third of the run: its slices' medians in order, and its responses.
struct Third {
    medians_ns: Vec<u64>,
    responses: u64,
    length_s: f64,
}

impl Third {
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
fn are_apart(first: &Third, last: &Third) -> bool {
    last.median_ns() as f64 >= SLOWER * first.median_ns() as f64
        && last.at(OUTLIERS) > first.at(1.0 - OUTLIERS)
        && last.responses < first.responses
}

/// The first and the last third of a run in which as much was asked of the server all the time, and alike: not in an open
/// loop, where what has to wait grows with the time; nor where connections are opened meanwhile, users pause, or have several steps.
fn thirds(run: &Run) -> Option<(Third, Third)> {
    let varies = run.plan.load.is_open() || users_pause(run) || run.record.groups.len() > 1;
    let grows = run.plan.connections.ramp_ns > 0 || run.plan.journey.is_some();
    if varies || grows || !run.rate_changes.is_empty() || has_beginning(run) {
        return None;
    }
    let slices = &run.record.slices;
    // The last one may be cut short.
    let whole = run.elapsed_ns.checked_div(slices.slice_ns)? as usize;
    let whole = slices.slices.get(..whole)?;
    let third = whole.len() / 3;
    let of = |slices| Third::of(slices, run.record.slices.slice_ns);
    Some((of(&whole[..third])?, of(&whole[whole.len() - third..])?))
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::Load;
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
        assert!(matches!(run.plan.load, Load::Open { .. }) && thirds(&run).is_none());
        let mut run = slower();
        run.plan.connections.ramp_ns = 1_000_000;
        assert!(thirds(&run).is_none());
        let mut run = slower();
        run.record.groups = vec![GroupRecord::new("a", false), GroupRecord::new("b", false)];
        assert!(thirds(&run).is_none());
    }
}
