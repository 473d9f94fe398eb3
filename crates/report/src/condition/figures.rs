//! Conditions on the figures that experiments keep of a run, which itself stays in its file.

use ablaze_model::Run;
use ablaze_model::experiment::{Figures, GroupFigures};

use super::scope::Scope;
use super::{Comparison, Condition, ConditionError, Metric, Unit};

/// The figures of a run as a whole, its groups, steps and journeys, under the names that conditions have for them.
pub fn groups_of(run: &Run) -> Vec<GroupFigures> {
    let names = super::scope::names(&groups_named(run), run.plan.journey.as_ref());
    let named = names.0.into_iter().chain(names.1).map(Some);
    std::iter::once(None).chain(named).filter_map(|name| of(run, name)).collect()
}

/// The groups of a record: a run that was read from a file has no others.
fn groups_named(run: &Run) -> ablaze_model::plan::groups::Groups {
    let names = run.record.groups.iter().map(|group| group.name.clone()).collect();
    ablaze_model::plan::groups::Groups { names, ..Default::default() }
}

fn of(run: &Run, name: Option<String>) -> Option<GroupFigures> {
    let scope = Scope::of(run, name.as_deref())?;
    let value = |metric| scope.value(metric);
    let whole = |metric| value(metric).map(|count| count as u64);
    let errors = whole(Metric::Errors).unwrap_or(0);
    Some(GroupFigures {
        is_journeys: matches!(scope, Scope::Journeys(..)),
        responses: scope.finished() as u64 - errors,
        errors,
        unexpected: whole(Metric::Unexpected),
        rate_per_s: value(Metric::Rate),
        mean_ns: value(Metric::Mean),
        percentiles_ns: GroupFigures::PERCENTILES.map(|percent| value(Metric::Percentile(percent))),
        max_ns: value(Metric::Max),
        name,
    })
}

impl Condition {
    /// The figure of this run as it is compared: ns, per second, percent or a number of requests; see
    /// [`Condition::judge_by_slowest`].
    pub fn compared(&self, run: &Run) -> Option<f64> {
        let value = self.value_or_slowest(run)?;
        let finished = Scope::of(run, self.name())?.finished();
        match self.in_percent {
            false => Some(value),
            true => (finished > 0.0).then(|| value / finished * 100.0),
        }
    }

    /// What a column of such figures is called: the metric with its unit, `p99_ns`, `errors_percent`.
    pub fn column(&self) -> String {
        let unit = match (self.metric.unit(), self.in_percent) {
            (Unit::Nanoseconds, _) => "_ns",
            (Unit::PerSecond, _) => "_per_s",
            (Unit::Percent, _) | (Unit::Requests, true) => "_percent",
            (Unit::Requests, false) => "",
        };
        format!("{}{unit}", self.metric_text())
    }

    /// Whether experiments keep such a figure.
    ///
    /// # Errors
    /// When they do not: the text has those that there are.
    pub fn check_kept(&self) -> Result<(), ConditionError> {
        let is_kept = match self.metric {
            Metric::Percentile(percent) => GroupFigures::PERCENTILES.contains(&percent),
            Metric::Lag | Metric::Status(_) => false,
            Metric::Checks | Metric::Cpu => self.name.is_none(),
            _ => true,
        };
        match is_kept {
            true => Ok(()),
            false => Err(ConditionError(format!(
                "`{}`: the figures of an experiment are rate, mean, p50, p90, p95, p99, p99.9, max, errors and unexpected, of \
                 a run, a group, a step or journeys, and checks and cpu of a run",
                self.text
            ))),
        }
    }

    /// What a run has of it, as the condition compares it: ns, per second, a number of requests or percent. The longest time stands
    /// for a percentile that too few values came for, if the condition is an upper limit.
    pub fn value_in(&self, run: &Figures) -> Option<f64> {
        let group = run.groups.iter().find(|group| group.name.as_deref() == self.name());
        let is_upper = matches!(self.comparison, Comparison::Below | Comparison::AtMost);
        let value = match self.metric {
            Metric::Checks => run.checks.map(|(passed, all)| passed as f64 / all as f64 * 100.0),
            Metric::Cpu => run.client_cpu_ns,
            Metric::Rate => group?.rate_per_s,
            Metric::Mean => group?.mean_ns,
            Metric::Max => group?.max_ns,
            Metric::Errors => Some(group?.errors as f64),
            Metric::Unexpected => group?.unexpected.map(|count| count as f64),
            Metric::Percentile(percent) => {
                group?.percentile_ns(percent).or(group?.max_ns.filter(|_| is_upper))
            }
            Metric::Lag | Metric::Status(_) => None,
        }?;
        let finished = group.map_or(0.0, GroupFigures::finished);
        match self.in_percent && self.metric != Metric::Checks {
            true if finished > 0.0 => Some(value / finished * 100.0),
            true => None,
            false => Some(value),
        }
    }

    /// Whether [`Condition::value_in`] is the longest time of this run, in place of a percentile.
    pub fn is_by_longest(&self, run: &Figures) -> bool {
        let Metric::Percentile(percent) = self.metric else { return false };
        let group = run.groups.iter().find(|group| group.name.as_deref() == self.name());
        self.value_in(run).is_some()
            && group.is_some_and(|group| group.percentile_ns(percent).is_none())
    }

    /// That [`Condition::figure`] is not what the condition is put on but the longest time, as there are too few values for it:
    /// `, the longest: p99 needs 368 values, and there are 50`. Empty where it is.
    pub fn stand_in(&self, run: &Run) -> String {
        match Scope::of(run, self.name.as_deref()) {
            Some(scope) if self.value(run).is_none() && self.value_or_slowest(run).is_some() => {
                format!(", the longest: {}", self.whose_needs(&scope.why_missing(self.metric)))
            }
            _ => String::new(),
        }
    }

    /// `it needs …` of a reason, as `p99 needs …`.
    fn whose_needs(&self, why: &str) -> String {
        why.replacen("it needs", &format!("{} needs", self.metric_text()), 1)
    }

    /// Whether such a value meets it.
    pub fn is_met_at(&self, value: f64) -> bool {
        self.compares(value)
    }

    /// Such a value with its unit.
    pub fn in_words(&self, value: f64) -> String {
        match self.in_percent {
            true => super::percent_from(value, self.limit),
            false => self.shown(value, 0.0),
        }
    }
}
