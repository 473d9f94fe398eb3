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
/// Times that grew by so many times what nearly every response took in all, from when its request left, grew before that.
const OF_WAITING: u64 = 2;
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
    let found = found.not_explained_by(D08);
    // What waits for a connection does so because responses take longer, unless it is the waiting alone that grew.
    let grew_ns = last.median_ns() - first.median_ns();
    let is_of_waiting = longest_service_ns(run).is_some_and(|ns| grew_ns >= OF_WAITING * ns);
    Some(if is_of_waiting { found } else { found.not_explained_by(D30) })
}

/// How long nearly every response took from when its request left.
fn longest_service_ns(run: &Run) -> Option<u64> {
    run.record.answered.total.supported_quantile_ns(0.99)
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
mod tests;
