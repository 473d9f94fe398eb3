//! What a condition is put on: the run, one of its groups, or its journeys; with the figures that each has.

use ablaze_model::Run;
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::journey::PlannedJourney;
use ablaze_model::record::GroupRecord;
use ablaze_stats::{Latency, order};

use super::{ConditionError, Metric};
use crate::effort::Effort;
use crate::number::grouped;

/// The name of all journeys together.
const JOURNEYS: &str = "journey";

/// What has figures.
pub(super) enum Scope<'a> {
    Run(&'a Run),
    Group(&'a Run, &'a GroupRecord),
    Journeys(&'a Run, Walked<'a>),
}

/// Journeys, of one kind or all.
pub(super) struct Walked<'a> {
    whole: u64,
    failed: u64,
    duration: &'a Latency,
}

impl<'a> Scope<'a> {
    /// What is called so in a run: a group before a journey. `None` where nothing is.
    pub fn of(run: &'a Run, name: Option<&str>) -> Option<Self> {
        let Some(name) = name else { return Some(Self::Run(run)) };
        if let Some(group) = run.record.groups.iter().find(|group| group.name == name) {
            return Some(Self::Group(run, group));
        }
        let planned = run.plan.journey.as_ref()?;
        if planned.steps.len() == 1 && planned.steps[0] == name {
            // It is all there is.
            return Some(Self::Run(run));
        }
        let all = run.record.journeys.as_ref()?;
        if let Some(one) = all.each.iter().find(|one| one.name == name) {
            let walked = Walked { whole: one.whole, failed: one.failed, duration: &one.duration };
            return Some(Self::Journeys(run, walked));
        }
        let is_all = name == JOURNEYS || all.each.is_empty() && stem(&planned.name) == name;
        let walked = Walked { whole: all.whole, failed: all.failed, duration: &all.duration };
        is_all.then_some(Self::Journeys(run, walked))
    }

    /// The times that percentiles are of.
    pub fn latency(&self) -> &'a Latency {
        match self {
            Self::Run(run) => run.record.answered.latency(),
            Self::Group(_, group) => group.answered.latency(),
            Self::Journeys(_, walked) => walked.duration,
        }
    }

    /// What shares are of.
    pub fn finished(&self) -> f64 {
        match self {
            Self::Run(run) => run.record.finished() as f64,
            Self::Group(_, group) => group.finished() as f64,
            Self::Journeys(_, walked) => (walked.whole + walked.failed) as f64,
        }
    }

    /// Why there is no such figure.
    pub fn why_missing(&self, metric: Metric) -> String {
        let (Self::Group(run, _) | Self::Journeys(run, _) | Self::Run(run)) = self;
        let few = |percent: f64, count: u64| {
            let needed = order::count_needed(percent / 100.0, order::CONFIDENCE);
            format!("it needs {} values, and there are {}", grouped(needed), grouped(count))
        };
        match metric {
            Metric::Cpu => "no CPU time was measured".to_owned(),
            Metric::Checks if !has_checks(run) => "nothing is checked (--assert)".to_owned(),
            Metric::Checks => "no response was checked".to_owned(),
            Metric::Rate => "the run had zero length".to_owned(),
            Metric::Lag => match &run.record.answered.intended {
                Some(intended) if intended.lag.count() > 0 => few(99.0, intended.lag.count()),
                _ => "lag needs requests sent on a schedule (--rate)".to_owned(),
            },
            Metric::Percentile(percent) if self.latency().count() > 0 => {
                few(percent, self.latency().count())
            }
            _ if matches!(self, Self::Journeys(..)) => "no journey was whole".to_owned(),
            _ => "no request got a response".to_owned(),
        }
    }

    /// A figure, as [`Metric::value`] has it.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        let (Self::Group(run, _) | Self::Journeys(run, _) | Self::Run(run)) = self;
        let latency = self.latency();
        let per_s =
            |count: u64| (run.elapsed_ns > 0).then(|| count as f64 / (run.elapsed_ns as f64 / 1e9));
        match (metric, self) {
            (Metric::Mean, _) => latency.mean_ns(),
            (Metric::Percentile(percent), _) => {
                latency.supported_quantile_ns(percent / 100.0).map(|ns| ns as f64)
            }
            (Metric::Max, _) => latency.max_ns().map(|ns| ns as f64),
            (Metric::Rate, Self::Run(run)) => run.rate_per_s(),
            (Metric::Rate, Self::Group(_, group)) => per_s(group.responses),
            (Metric::Rate, Self::Journeys(_, walked)) => per_s(walked.whole),
            (Metric::Errors, Self::Run(run)) => Some(run.record.failures_total() as f64),
            (Metric::Errors, Self::Group(_, group)) => Some(group.failures_total() as f64),
            (Metric::Errors, Self::Journeys(_, walked)) => Some(walked.failed as f64),
            (Metric::Unexpected, Self::Run(run)) => Some(run.record.unexpected as f64),
            (Metric::Unexpected, Self::Group(_, group)) => Some(group.unexpected as f64),
            (Metric::Status(status), Self::Run(run)) => {
                Some(run.record.statuses.get(&status).copied().unwrap_or(0) as f64)
            }
            (Metric::Status(status), Self::Group(_, group)) => {
                Some(group.statuses.get(&status).copied().unwrap_or(0) as f64)
            }
            (Metric::Lag, Self::Run(run)) => {
                let intended = run.record.answered.intended.as_ref()?;
                intended.lag.supported_quantile_ns(0.99).map(|ns| ns as f64)
            }
            (Metric::Checks, Self::Run(run)) => {
                let passed = run.record.passed_checks();
                passed.map(|(passed, all)| passed as f64 / all as f64 * 100.0)
            }
            (Metric::Cpu, Self::Run(run)) => Effort::of(run).map(|effort| effort.work_ns()),
            (
                Metric::Lag | Metric::Checks | Metric::Cpu | Metric::Unexpected | Metric::Status(_),
                _,
            ) => None,
        }
    }
}

/// Whether anything is checked in this Run.
fn has_checks(run: &Run) -> bool {
    run.record.checks.is_some() || run.record.journeys.is_some()
}

/// Whether there is what a condition is put on, and that has such a figure.
pub(super) fn check(
    name: &str,
    metric: Metric,
    text: &str,
    (groups, journey): (&Groups, Option<&PlannedJourney>),
) -> Result<(), ConditionError> {
    let (groups, journeys) = names(groups, journey);
    let is_group = groups.iter().any(|group| group == name);
    let is_journey = journeys.iter().any(|journey| journey == name);
    let refuse = |why: String| Err(ConditionError(format!("`{text}`: {why}")));
    match metric {
        _ if !is_group && !is_journey => {
            let all: Vec<String> = groups.into_iter().chain(journeys).collect();
            refuse(match all.is_empty() {
                true => format!(
                    "there is no group `{name}`: this run has none (fix: --urls, or --journey)"
                ),
                false => format!("there is no group `{name}`; there are: {}", all.join(", ")),
            })
        }
        Metric::Lag | Metric::Checks | Metric::Cpu => refuse(
            "lag, checks and cpu are figures of the whole run: leave the name out".to_owned(),
        ),
        Metric::Unexpected | Metric::Status(_) if !is_group => {
            refuse("a journey has rate, mean, percentiles, max and errors".to_owned())
        }
        _ => Ok(()),
    }
}

/// What stands in front of the comparison: a metric, or a name, a dot and a metric. Names and metrics may have dots in them
/// (`browse.item.p99.9`): the longest metric counts.
pub(super) fn named(text: &str) -> Result<(Option<String>, Metric), ConditionError> {
    if let Ok(metric) = text.parse() {
        return Ok((None, metric));
    }
    for (at, _) in text.match_indices('.').filter(|(at, _)| *at > 0) {
        if let Ok(metric) = text[at + 1..].parse() {
            return Ok((Some(text[..at].to_owned()), metric));
        }
    }
    text.parse().map(|metric| (None, metric))
}

/// The names that conditions can have: of groups, and of journeys.
pub(super) fn names(
    groups: &Groups,
    journey: Option<&PlannedJourney>,
) -> (Vec<String>, Vec<String>) {
    let groups = &groups.names;
    let Some(planned) = journey else { return (groups.clone(), Vec::new()) };
    let groups = if groups.is_empty() { planned.steps.clone() } else { groups.clone() };
    let mut journeys: Vec<String> =
        planned.users.journeys.iter().map(|one| one.name.clone()).collect();
    if journeys.is_empty() {
        journeys.push(stem(&planned.name).to_owned());
    }
    journeys.push(JOURNEYS.to_owned());
    (groups, journeys)
}

/// A file without folder and ending.
fn stem(file: &str) -> &str {
    let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or(file)
}
