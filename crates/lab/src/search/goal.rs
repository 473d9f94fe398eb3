//! What has to hold at a rate: conditions such as `p99<20ms,errors<0.1%`, and how a run is held
//! against them. A rate holds when it was answered, not only taken, and every condition holds.

use std::str::FromStr;

use ablaze_model::finding::{Judged as Verdicts, Limit, Severity};
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::journey::PlannedJourney;
use ablaze_model::plan::{Arrivals, Load};
use ablaze_model::printable::printable;
use ablaze_model::{Assessed, FailureKind, Run};
use ablaze_report::condition::{Condition, ConditionError, Metric, Outcome};
use ablaze_report::number::{counted, grouped, percent, rate, time};
use ablaze_stats::rate_search::Trial;

use super::{journeys, unsuccessful};

/// This share of the asked rate has to come back.
pub(super) const ANSWERED: f64 = 0.98;
/// A client that waited for a processor for this share of the time was starved.
const STARVED: f64 = 0.5;
/// Of fewer requests nothing can be said: one that was slow is not a rate that does not hold.
const FEWEST_REQUESTS: u64 = 10;
/// A stage has as many requests as this if it can: of fewer, one that is missing is much.
const USUAL_REQUESTS: u64 = 100;
/// A request without a response for this many times what 99 % of the others took is one that gets none.
const LOST: u64 = 10;
/// An even schedule puts at most this many requests on either side of a boundary.
const EVEN_CHANCE: f64 = 2.0;

/// Conditions that all have to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    conditions: Vec<Condition>,
}

/// How a run stands to a goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Whether the rate holds, does not, or could not be offered.
    pub trial: Trial,
    /// What does not hold, with its figure, or what kept the client from offering the rate.
    pub why: Option<String>,
    /// The figure of each condition, in their order; `None` where the run has none.
    pub figures: Vec<Option<String>>,
    /// The same as numbers.
    pub values: Vec<Option<f64>>,
    /// Whether there were too few requests to tell.
    pub undecided: bool,
    /// Responses per second in the second half of the run.
    pub answered_per_s: f64,
}

impl FromStr for Goal {
    type Err = ConditionError;

    /// Reads conditions with commas between them.
    ///
    /// ```
    /// use ablaze_lab::search::Goal;
    ///
    /// let goal: Goal = "p99<20ms, errors<0.1%".parse().unwrap();
    /// assert_eq!(goal.texts(), ["p99<20ms", "errors<0.1%"]);
    /// assert!("p99".parse::<Goal>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let conditions = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { conditions })
    }
}

impl Goal {
    /// The conditions as they were written.
    pub fn texts(&self) -> Vec<&str> {
        self.conditions.iter().map(Condition::text).collect()
    }

    /// Whether runs with these groups and journeys have the figures that it is about.
    ///
    /// # Errors
    /// When they do not: the text has the names that there are.
    pub fn check(
        &self,
        groups: &Groups,
        journey: Option<&PlannedJourney>,
    ) -> Result<(), ConditionError> {
        self.conditions.iter().try_for_each(|condition| condition.check(groups, journey))
    }

    /// The longest time that a condition puts a limit on, ns.
    pub fn longest_limit_ns(&self) -> Option<f64> {
        self.conditions.iter().filter_map(Condition::limit_ns).reduce(f64::max)
    }

    /// Requests that a stage should have, to be judged by: more where a condition on a share needs more.
    pub fn requests_wanted(&self) -> u64 {
        let needed = self.needed().max(USUAL_REQUESTS);
        // Random arrivals may be fewer than expected, and an even schedule's last may be due at the end.
        needed + 3 * needed.isqrt()
    }

    /// Requests without which a rate cannot hold.
    fn needed(&self) -> u64 {
        let of_shares = self.conditions.iter().filter_map(Condition::requests_needed);
        of_shares.fold(FEWEST_REQUESTS, u64::max)
    }

    /// Lower rates need not be tried: they cannot meet `rate>100`, whatever the target does. 0 where nothing is asked
    /// of the rate; `None` where not even the highest rate could meet it.
    pub fn lowest_per_s(&self, highest_per_s: f64) -> Option<f64> {
        let least = self.conditions.iter().filter_map(Condition::least_rate).fold(0.0, f64::max);
        // A rate holds of which this share is answered.
        (least <= highest_per_s).then(|| (least / ANSWERED).min(highest_per_s))
    }

    /// Percentiles for which this run has too few responses: there they are its slowest ones.
    pub fn unsupported(&self, run: &Run) -> Vec<&str> {
        let latency = run.record.answered.latency();
        let unsupported = |condition: &&Condition| match condition.metric() {
            Metric::Percentile(percent) => {
                latency.count() > 0 && latency.supported_quantile_ns(percent / 100.0).is_none()
            }
            Metric::Lag => run.record.answered.intended.as_ref().is_some_and(|intended| {
                intended.lag.count() > 0 && intended.lag.supported_quantile_ns(0.99).is_none()
            }),
            _ => false,
        };
        self.conditions.iter().filter(unsupported).map(Condition::text).collect()
    }

    /// Holds a run at `asked_per_s` against the goal.
    pub fn judge(&self, assessed: &Assessed, asked_per_s: f64) -> Judged {
        let run = &assessed.run;
        let answered_per_s = answered_per_s(run);
        let mut why: Vec<String> = Vec::new();
        let behind = least_per_s(run, asked_per_s);
        if answered_per_s < behind {
            let [answered, asked] = [answered_per_s, asked_per_s].map(rate);
            let what = if run.record.journeys.is_some() { "begun" } else { "answered" };
            why.push(format!("only {answered}/s of {asked}/s {what}"));
        } else if let Some(piled_up) = piled_up(run, asked_per_s) {
            why.push(piled_up);
        } else if let Some(unanswered) = unanswered(run) {
            why.push(unanswered);
        }
        let lost = lost(run);
        why.extend(self.conditions.iter().filter_map(|condition| {
            match condition.judge_by_slowest(run) {
                Outcome::Met(_) if condition.metric() == Metric::Errors && lost > 0 => {
                    let (errors, due) = (run.record.failures_total() + lost, due(run));
                    (!condition.is_met_by(errors, due)).then(|| never_answered(run, lost))
                }
                Outcome::Met(_) => None,
                Outcome::Unknown(text) => Some(text),
                Outcome::NotMet => {
                    let figure = condition.figure(run).unwrap_or_default();
                    let stand_in = condition.stand_in(run);
                    Some(match stand_in.is_empty() {
                        true => format!("{} was {figure}", condition.metric_text()),
                        // The row says that it does not hold.
                        false => format!("{}: {figure}{stand_in}", condition.text()),
                    })
                }
            }
        }));
        if why.is_empty() {
            let invalid = invalid(&assessed.judged);
            why.extend(invalid.or_else(|| unsuccessful::why(run, &self.conditions)));
        }
        let figures = self.conditions.iter().map(|condition| condition.figure(run)).collect();
        let values = self.conditions.iter().map(|condition| condition.compared(run)).collect();
        let needed = if why.is_empty() { self.needed() } else { FEWEST_REQUESTS };
        let undecided = due(run) < needed;
        let (trial, why) = match (why.is_empty(), client_is_the_limit(assessed)) {
            _ if undecided => (Trial::Fails, Some(too_few(run, needed))),
            (true, _) => (Trial::Holds, None),
            (false, Some(client)) => (Trial::LimitedByClient, Some(client)),
            (false, None) => (Trial::Fails, Some(why.join("; "))),
        };
        Judged { trial, why, figures, values, undecided, answered_per_s }
    }
}

/// What makes the figures of a run those of something else than what was asked for, whatever they
/// are: error pages are fast.
fn invalid(judged: &Verdicts) -> Option<String> {
    let roots = judged.with_explained().map(|(root, _)| root);
    let grave = roots.filter(|root| root.severity == Severity::Invalid);
    let named: Vec<String> = grave.map(|root| format!("{} {}", root.id, root.id.name())).collect();
    (!named.is_empty()).then(|| format!("INVALID: {}", named.join(", ")))
}

fn due(run: &Run) -> u64 {
    run.record.finished() + run.record.unfinished
}

fn too_few(run: &Run, needed: u64) -> String {
    let requests = counted(due(run), "request");
    let fix = match run.plan.requests.data.as_ref().filter(|data| data.ended(run)) {
        Some(data) => format!(
            "give `{}` more rows, each of which is used once, or leave out --feed-order unique",
            printable(&data.name)
        ),
        None => "use a longer -d".to_owned(),
    };
    format!("{requests} at this rate: too few to judge it, which takes {}; {fix}", grouped(needed))
}

/// Requests at the end that would not have been answered later either: the oldest waits for much longer than
/// others did, and there are more than are under way at any time. How old the others are is not known; one is.
fn lost(run: &Run) -> u64 {
    let record = &run.record;
    let Some(p99_ns) = record.answered.latency().quantile_ns(0.99) else { return 0 };
    if record.unfinished == 0 || record.unfinished_oldest_ns <= p99_ns.saturating_mul(LOST) {
        return 0;
    }
    let per_ns = due(run) as f64 / run.elapsed_ns.max(1) as f64;
    let under_way = per_ns * p99_ns as f64;
    record.unfinished.saturating_sub((under_way + EVEN_CHANCE).ceil() as u64).max(1)
}

fn never_answered(run: &Run, lost: u64) -> String {
    let record = &run.record;
    let p99_ns = record.answered.latency().quantile_ns(0.99).unwrap_or(0);
    format!(
        "{} at the end without a response, the oldest for {} where 99 % of the responses took {}",
        counted(lost, "request"),
        time(record.unfinished_oldest_ns as f64),
        time(p99_ns as f64)
    )
}

/// Whether more than the share that may be missing failed or waited in vain: of few requests, too.
fn unanswered(run: &Run) -> Option<String> {
    let (due, lost) = (due(run), lost(run));
    let missing = run.record.failures_total() + lost;
    let too_many = missing as f64 > due as f64 * (1.0 - ANSWERED);
    too_many.then(|| {
        let waiting =
            if lost > 0 { format!(" ({})", never_answered(run, lost)) } else { String::new() };
        let share = percent(missing as f64, due as f64);
        format!(
            "{} of {} requests were not answered, {share}{waiting}",
            grouped(missing),
            grouped(due)
        )
    })
}

/// The second half of the measured time as whole slices: how many responses came in it, and its
/// length. By then as many responses come as requests are sent, however long each takes, if the target
/// keeps up; otherwise its capacity comes.
fn second_half(run: &Run) -> Option<(u64, f64)> {
    let slices = &run.record.slices;
    let whole = usize::try_from(run.elapsed_ns / slices.slice_ns.max(1)).ok()?;
    let half = slices.slices.get(whole / 2..whole)?;
    let responses = half.iter().map(|slice| slice.responses).sum();
    let length_s = half.len() as f64 * slices.slice_ns as f64 / 1e9;
    (length_s > 0.0).then_some((responses, length_s))
}

fn answered_per_s(run: &Run) -> f64 {
    if let Some(per_s) = journeys::begun_per_s(run) {
        return per_s;
    }
    match second_half(run) {
        Some((responses, length_s)) => responses as f64 / length_s,
        None if run.elapsed_ns == 0 => 0.0,
        None => run.record.responses as f64 / (run.elapsed_ns as f64 / 1e9),
    }
}

/// What is at least answered of a rate that a target keeps up with: the share, less what chance takes away from
/// a count. An even schedule is off by at most two; of random arrivals the count is Poisson
/// distributed, and three deviations leave one in a thousand outside. Of what comes in batches one may be missing.
fn least_per_s(run: &Run, asked_per_s: f64) -> f64 {
    let whole = second_half(run).filter(|_| run.record.journeys.is_none());
    let length_s = whole.map_or(run.elapsed_ns as f64 / 1e9, |(_, length_s)| length_s);
    let expected = asked_per_s * length_s;
    let chance = match run.plan.load {
        Load::Open { arrivals: Arrivals::Poisson, .. } => 3.0 * expected.sqrt(),
        _ => EVEN_CHANCE,
    };
    (expected * ANSWERED - chance - at_boundaries(run, asked_per_s))
        / length_s.max(f64::MIN_POSITIVE)
}

/// The median of the best slice, when nothing had piled up yet, and how much longer others took in it: no more than by that much is
/// taken for the wait of a server that answers in batches, where times lie evenly from none to twice the median.
fn best_ns(run: &Run) -> (u64, u64) {
    let slices = run.record.slices.slices.iter().filter(|slice| slice.responses > 0);
    let best = slices.min_by_key(|slice| slice.p50_ns);
    best.map_or((0, 0), |best| {
        (best.p50_ns, best.p99_ns.saturating_sub(best.p50_ns).min(best.p50_ns))
    })
}

/// How many responses of a batch may lie on the other side of a boundary: as many as come in the time in which it is filled.
fn at_boundaries(run: &Run, asked_per_s: f64) -> f64 {
    asked_per_s * 2.0 * best_ns(run).1 as f64 / 1e9
}

/// Whether requests piled up: more were unanswered at the end than are under way at any time, by more
/// than the share that may be missing. Under way are, by Little's law, rate × latency, with
/// the time taken from the best slice, when nothing had piled up yet, and for the last of a batch the longer time in it; of random
/// arrivals that number is Poisson distributed, and three deviations leave one in a thousand outside.
fn piled_up(run: &Run, asked_per_s: f64) -> Option<String> {
    let record = &run.record;
    if let Some(own) = &record.journeys {
        let spare = own.begun as f64 * (1.0 - ANSWERED) + EVEN_CHANCE;
        return journeys::piled_up(own, asked_per_s, spare);
    }
    let (usual_ns, longer_ns) = best_ns(run);
    let under_way = asked_per_s * (usual_ns + longer_ns) as f64 / 1e9;
    let due = record.finished() + record.unfinished;
    let permitted =
        due as f64 * (1.0 - ANSWERED) + under_way + 3.0 * under_way.sqrt() + EVEN_CHANCE;
    (record.unfinished as f64 > permitted).then(|| {
        let (unfinished, due) = (grouped(record.unfinished), grouped(due));
        format!("{unfinished} of {due} requests were unanswered at the end: they pile up")
    })
}

/// What shows that the client could not offer the rate.
fn client_is_the_limit(Assessed { run, judged }: &Assessed) -> Option<String> {
    let limited = &judged.limited;
    if limited.by == Limit::Client {
        return Some(format!("the client was the limit: {}", limited.evidence));
    }
    let record = &run.record;
    let without = |kind: FailureKind, what: &str| {
        let count = record.failures_of(kind);
        (count > 0)
            .then(|| format!("the client had no {what} left for {} requests", grouped(count)))
    };
    without(FailureKind::LocalPorts, "local port")
        .or_else(|| without(FailureKind::LocalDescriptors, "descriptor"))
        .or_else(|| sent_late(run))
}

/// Whether half of the requests were sent late although a connection could have been had: nothing
/// but the client itself was waited for. What was never sent may have waited for a target that does
/// not accept, unless the client had no processor to send it with.
fn sent_late(run: &Run) -> Option<String> {
    let intended = run.record.answered.intended.as_ref()?;
    let Load::Open { connections, .. } = run.plan.load else { return None };
    let starved = waited(run).filter(|share| *share >= STARVED);
    let waited_for_a_connection = run.record.never_sent > 0 && starved.is_none()
        || run.record.connections_opened >= u64::from(connections);
    let (lag, response) = (intended.lag.quantile_ns(0.5)?, intended.response.quantile_ns(0.5)?);
    let late = !waited_for_a_connection && lag > response / 2;
    let (lag, response) = (time(lag as f64), time(response as f64));
    let waited = starved.map_or(String::new(), |share| {
        format!("waited {} of the time for a processor and ", percent(share, 1.0))
    });
    late.then(|| {
        format!(
            "the client {waited}sent late: half of the requests by {lag} of their {response} \
            latency"
        )
    })
}

/// The share of the time for which the client's thread that waited longest for a processor did so.
fn waited(run: &Run) -> Option<f64> {
    let client = run.monitor.as_ref()?.client.as_ref()?;
    let workers = client.threads.iter().filter(|thread| thread.name.starts_with("worker-"));
    let longest_ns = workers.map(|thread| thread.waited_ns).max()?;
    (client.watched_ns > 0).then(|| longest_ns as f64 / client.watched_ns as f64)
}
