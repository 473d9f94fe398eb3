//! Conditions such as `p99>50ms`, as `--fail-if` takes them: parsed before the run, judged on it.

use std::str::FromStr;

use ablaze_model::Run;
use ablaze_model::plan::groups::Groups;
use ablaze_model::plan::journey::PlannedJourney;

mod asked;
mod digits;
mod figures;
mod scope;

pub use self::asked::{Conditions, Judged};
pub use self::digits::told_from;
use self::digits::{percent_from, rate_from, time_from};
pub use self::figures::groups_of;
use self::scope::Scope;
use crate::number::grouped;

/// The names a condition may begin with, for help texts and errors.
pub const METRICS: &str = "rate mean p50 p90 p99 p99.9 (or another percentile) max errors unexpected status.NNN checks \
     lag cpu (the client's, per request)";

/// A figure of a Run that can be compared with a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// Responses per second.
    Rate,
    /// Mean total time of responses.
    Mean,
    /// Percentile of the total time of responses, between 0 and 100.
    Percentile(f64),
    /// Longest total time of a response.
    Max,
    /// 99th percentile of how late requests were sent, in open loop.
    Lag,
    /// Requests without a valid response.
    Errors,
    /// Responses outside the expected statuses.
    Unexpected,
    /// Responses of one status.
    Status(u16),
    /// The share of checks, and of asserts of journeys, that passed, percent.
    Checks,
    /// The client's CPU time per finished request, without busy polling.
    Cpu,
}

/// What a metric is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Nanoseconds,
    PerSecond,
    Requests,
    Percent,
}

/// How a figure compares with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// A condition: a metric, a comparison and a limit; in front of the metric the name of a group or a journey with a dot, if it is
/// not put on the whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The group or journey it is put on; `None` for the run.
    name: Option<String>,
    metric: Metric,
    comparison: Comparison,
    limit: f64,
    /// The limit is a percentage of all finished requests.
    in_percent: bool,
    text: String,
}

/// What became of a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It does not hold.
    NotMet,
    /// It holds. The text is for the user: the condition and the figure that met it.
    Met(String),
    /// There is no figure to judge, so nothing speaks against it; counts as met. The text says why.
    Unknown(String),
}

/// A condition that cannot be understood. The text names the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConditionError(String);

impl Condition {
    /// Judges the condition on a Run.
    pub fn judge(&self, run: &Run) -> Outcome {
        self.judge_value(run, self.value(run))
    }

    /// As [`Condition::judge`], with the slowest response, or the latest request, in place of a percentile that too few
    /// came for: whoever asks for at most some time is told no sooner that it holds.
    pub fn judge_by_slowest(&self, run: &Run) -> Outcome {
        self.judge_value(run, self.value_or_slowest(run))
    }

    fn value(&self, run: &Run) -> Option<f64> {
        Scope::of(run, self.name.as_deref())?.value(self.metric)
    }

    fn value_or_slowest(&self, run: &Run) -> Option<f64> {
        let scope = Scope::of(run, self.name.as_deref())?;
        scope.value(self.metric).or_else(|| match self.metric {
            Metric::Percentile(_) => scope.value(Metric::Max),
            Metric::Lag => {
                let intended = run.record.answered.intended.as_ref()?;
                intended.lag.max_ns().map(|ns| ns as f64)
            }
            _ => None,
        })
    }

    fn judge_value(&self, run: &Run, value: Option<f64>) -> Outcome {
        let Some(scope) = Scope::of(run, self.name.as_deref()) else {
            let name = self.name.as_deref().unwrap_or_default();
            return Outcome::Unknown(format!(
                "{}: cannot be evaluated, the run has no group `{name}`",
                self.text
            ));
        };
        let Some(value) = value else {
            if self.is_excluded(run) {
                return Outcome::NotMet;
            }
            let why = scope.why_missing(self.metric);
            return Outcome::Unknown(format!("{}: cannot be evaluated, {why}", self.text));
        };
        let finished = scope.finished();
        let compared = match (self.in_percent, finished > 0.0) {
            (false, _) => value,
            (true, true) => value / finished * 100.0,
            (true, false) => {
                return Outcome::Unknown(format!(
                    "{}: cannot be evaluated, no request finished",
                    self.text
                ));
            }
        };
        if !self.compares(compared) {
            return Outcome::NotMet;
        }
        Outcome::Met(format!("{} met: {}", self.text, self.shown(value, finished)))
    }

    /// Whether it certainly does not hold: a percentile that too few values came for lies between the shortest and the
    /// longest all the same.
    fn is_excluded(&self, run: &Run) -> bool {
        let times = match (self.metric, &run.record.answered.intended) {
            (Metric::Percentile(_), _) => match Scope::of(run, self.name.as_deref()) {
                Some(scope) => scope.latency(),
                None => return false,
            },
            (Metric::Lag, Some(intended)) => &intended.lag,
            _ => return false,
        };
        let ends = times.min_ns().zip(times.max_ns());
        ends.is_some_and(|(least, most)| {
            !self.compares(least as f64) && !self.compares(most as f64)
        })
    }

    fn compares(&self, value: f64) -> bool {
        match self.comparison {
            Comparison::Above => value > self.limit,
            Comparison::AtLeast => value >= self.limit,
            Comparison::Below => value < self.limit,
            Comparison::AtMost => value <= self.limit,
        }
    }

    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What its limit is put on, as it was written: `p99` of `p99<20ms`.
    pub fn metric_text(&self) -> &str {
        self.text.split(['<', '>']).next().unwrap_or_default().trim_end()
    }

    /// What its limit is put on.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The group or the journey that it is put on; `None` for the run.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether runs with these groups and journeys have the figure.
    ///
    /// # Errors
    /// When there is no such group or journey, or those have no such figure: the text has the names that there are.
    pub fn check(
        &self,
        groups: &Groups,
        journey: Option<&PlannedJourney>,
    ) -> Result<(), ConditionError> {
        match &self.name {
            None => Ok(()),
            Some(name) => scope::check(name, self.metric, &self.text, (groups, journey)),
        }
    }

    /// The limit, ns, of a condition on times.
    pub fn limit_ns(&self) -> Option<f64> {
        (self.metric.unit() == Unit::Nanoseconds).then_some(self.limit)
    }

    /// Whether it is about how fast responses came, or what they cost: not about which came.
    pub fn is_of_speed(&self) -> bool {
        self.metric.unit() == Unit::Nanoseconds || self.metric == Metric::Rate
    }

    /// Requests that it takes to show that a share is kept to: of fewer than 100, `errors<1%` permits none.
    pub fn requests_needed(&self) -> Option<u64> {
        let upper = matches!(self.comparison, Comparison::Below | Comparison::AtMost);
        (self.in_percent && upper && self.limit > 0.0).then(|| (100.0 / self.limit).ceil() as u64)
    }

    /// The rate that has to be exceeded, or reached, per second: that of `rate>100`.
    pub fn least_rate(&self) -> Option<f64> {
        let lower = matches!(self.comparison, Comparison::Above | Comparison::AtLeast);
        (self.metric == Metric::Rate && lower).then_some(self.limit)
    }

    /// Whether so many of this number of requests would meet it.
    pub fn is_met_by(&self, count: u64, requests: u64) -> bool {
        let share = count as f64 / requests.max(1) as f64 * 100.0;
        self.compares(if self.in_percent { share } else { count as f64 })
    }

    /// The figure of this Run, with its unit, whether or not the condition holds; see
    /// [`Condition::judge_by_slowest`].
    pub fn figure(&self, run: &Run) -> Option<String> {
        let value = self.value_or_slowest(run)?;
        let finished = Scope::of(run, self.name.as_deref())?.finished();
        Some(self.shown(value, finished))
    }

    fn shown(&self, value: f64, finished: f64) -> String {
        match self.metric.unit() {
            Unit::Nanoseconds => time_from(value, self.limit),
            Unit::PerSecond => format!("{}/s", rate_from(value, self.limit)),
            Unit::Requests if self.in_percent && finished > 0.0 => {
                let share = percent_from(value / finished * 100.0, self.limit);
                format!("{} ({share})", grouped(value as u64))
            }
            Unit::Requests => grouped(value as u64),
            Unit::Percent => percent_from(value, self.limit),
        }
    }
}

impl Metric {
    /// The figure: ns, responses per second, or a number of requests. `None` when the Run has none, or
    /// too few values to tell a percentile by.
    pub fn value(self, run: &Run) -> Option<f64> {
        Scope::Run(run).value(self)
    }

    fn unit(self) -> Unit {
        match self {
            Self::Rate => Unit::PerSecond,
            Self::Mean | Self::Percentile(_) | Self::Max | Self::Lag | Self::Cpu => {
                Unit::Nanoseconds
            }
            Self::Errors | Self::Unexpected | Self::Status(_) => Unit::Requests,
            Self::Checks => Unit::Percent,
        }
    }
}

impl FromStr for Metric {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let unknown = || ConditionError(format!("unknown metric `{text}`: use one of {METRICS}"));
        match text {
            "rate" => return Ok(Self::Rate),
            "mean" => return Ok(Self::Mean),
            "max" => return Ok(Self::Max),
            "errors" => return Ok(Self::Errors),
            "unexpected" => return Ok(Self::Unexpected),
            "checks" => return Ok(Self::Checks),
            "cpu" => return Ok(Self::Cpu),
            "lag" => return Ok(Self::Lag),
            _ => {}
        }
        if let Some(digits) = text.strip_prefix("status.") {
            return match digits.parse() {
                Ok(status) if digits.len() == 3 && (100..=999).contains(&status) => {
                    Ok(Self::Status(status))
                }
                _ => Err(ConditionError(format!(
                    "`{text}`: a status has three digits, such as status.500"
                ))),
            };
        }
        let digits = text.strip_prefix('p').ok_or_else(unknown)?;
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(unknown());
        }
        match digits.parse::<f64>() {
            Ok(percent) if 0.0 < percent && percent < 100.0 => Ok(Self::Percentile(percent)),
            Ok(_) => Err(ConditionError(format!(
                "`{text}`: a percentile is between 0 and 100, such as p99.9"
            ))),
            Err(_) => Err(unknown()),
        }
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let at = text.find(['<', '>']).ok_or_else(|| {
            ConditionError(format!(
                "`{text}` has no comparison: write a metric, < or >, and a limit, such as p99>50ms"
            ))
        })?;
        let (name, metric) = scope::named(text[..at].trim())?;
        let rest = &text[at + 1..];
        let (or_equal, limit) = match rest.strip_prefix('=') {
            Some(limit) => (true, limit.trim()),
            None => (false, rest.trim()),
        };
        let comparison = match (text.as_bytes()[at], or_equal) {
            (b'>', false) => Comparison::Above,
            (b'>', true) => Comparison::AtLeast,
            (_, false) => Comparison::Below,
            (_, true) => Comparison::AtMost,
        };
        let is_number = limit.parse::<f64>().is_ok_and(f64::is_finite);
        if metric.unit() == Unit::Nanoseconds && is_number {
            return Err(ConditionError(format!(
                "`{text}`: a time needs a unit; {limit} of what? fix: `{text}ms` for milliseconds, \
                 `{text}s` for seconds",
                text = text.trim()
            )));
        }
        let (limit, in_percent) = parse_limit(metric.unit(), limit).ok_or_else(|| {
            let examples = match metric.unit() {
                Unit::Nanoseconds => "a time such as 50ms, 1.5s or 200us",
                Unit::PerSecond => "a rate such as 1000, 10k or 10/ms",
                Unit::Percent => "a share such as 99%",
                Unit::Requests => "a number such as 0 or 10k, or a share such as 0.1%",
            };
            ConditionError(format!("`{text}`: invalid limit `{limit}`: use {examples}"))
        })?;
        Ok(Self { name, metric, comparison, limit, in_percent, text: text.trim().to_string() })
    }
}

/// The limit in the unit of its metric, and whether it is a percentage.
fn parse_limit(unit: Unit, text: &str) -> Option<(f64, bool)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let factor = match (unit, text[end..].trim()) {
        // A bare number is per second for rates; of a time it is refused, for some would mean milliseconds.
        (Unit::Nanoseconds, "s") => 1e9,
        (Unit::Nanoseconds, "ms") => 1e6,
        (Unit::Nanoseconds, "us" | "µs" | "μs") => 1e3,
        (Unit::Nanoseconds, "ns") => 1.0,
        (Unit::Nanoseconds, "m" | "min") => 60e9,
        (Unit::Nanoseconds, "h") => 3600e9,
        (Unit::PerSecond, "" | "/s") | (Unit::Requests, "") => 1.0,
        (Unit::PerSecond, "k" | "k/s") | (Unit::Requests, "k") => 1e3,
        (Unit::PerSecond, "M" | "M/s") | (Unit::Requests, "M") => 1e6,
        (Unit::PerSecond, "/ms") => 1e3,
        (Unit::PerSecond, "/m" | "/min") => 1.0 / 60.0,
        (Unit::Percent, "%") => return (number <= 100.0).then_some((number, false)),
        (Unit::Requests, "%") => return (number <= 100.0).then_some((number, true)),
        _ => return None,
    };
    Some((number * factor, false))
}

#[cfg(test)]
mod tests;
