//! A condition on the ratio of two targets. It is judged by the interval of the ratio, never by the ratio alone: what these runs do
//! not show fails nothing.

use std::fmt;
use std::str::FromStr;

use ablaze_model::experiment::{Experiment, Figures, Results, Unequal};
use ablaze_model::printable::printable;
use ablaze_report::condition::told_from;
use ablaze_report::experiment::comparison::{Comparison, Metric, NoInterval, ratio_of};
use ablaze_report::experiment::curve::is_most;
use ablaze_report::number::{amount, decimal};
use ablaze_stats::compare::MIN_PAIRS;
use ablaze_verdict::{DiagnosisId, Severity};

use super::{Answer, Became, CheckError, Standing, at_load, place_of};

/// A target, what it is held against, a metric, and a limit for the ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioCheck {
    target: String,
    control: String,
    metric: Metric,
    sign: Sign,
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl FromStr for RatioCheck {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<Self, CheckError> {
        let refuse = |why: &str| CheckError(format!("`{text}`: {why}"));
        let at = text.find(['<', '>']).ok_or_else(|| {
            refuse(
                "has neither < nor >: expected A / B METRIC < LIMIT, such as 'mine / nginx rate < \
                0.95'",
            )
        })?;
        let (left, right) = (text[..at].trim(), &text[at..]);
        let (sign, limit) = sign(right);
        let limit: f64 = limit
            .trim()
            .parse()
            .ok()
            .filter(|limit: &f64| limit.is_finite() && *limit > 0.0)
            .ok_or_else(|| {
                refuse(
                    "the limit of a ratio must be a number above 0, such as 0.95 or \
                1.15",
                )
            })?;
        let (targets, metric) = left.rsplit_once(char::is_whitespace).unwrap_or(("", left));
        let metric = metric_of(metric).ok_or_else(|| {
            refuse("the metric before < or > must be one of rate, p50, p99, CPU/request")
        })?;
        let (target, control) = targets.trim().split_once(" / ").ok_or_else(|| {
            refuse("expected two targets separated by ` / `, such as `mine / nginx rate`")
        })?;
        let (target, control) = (target.trim().to_owned(), control.trim().to_owned());
        Ok(Self { target, control, metric, sign, limit })
    }
}

fn sign(text: &str) -> (Sign, &str) {
    for (sign, written) in
        [(Sign::AtMost, "<="), (Sign::AtLeast, ">="), (Sign::Below, "<"), (Sign::Above, ">")]
    {
        if let Some(rest) = text.strip_prefix(written) {
            return (sign, rest);
        }
    }
    (Sign::Below, text)
}

fn metric_of(text: &str) -> Option<Metric> {
    if text.eq_ignore_ascii_case("cpu") {
        return Some(Metric::ServerCpu);
    }
    Metric::ALL.into_iter().find(|metric| metric.name().eq_ignore_ascii_case(text))
}

impl fmt::Display for RatioCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.sign {
            Sign::Below => "<",
            Sign::AtMost => "<=",
            Sign::Above => ">",
            Sign::AtLeast => ">=",
        };
        let (metric, limit) = (self.metric.name(), self.limit);
        write!(f, "{} / {} {metric} {sign} {limit}", self.target, self.control)
    }
}

impl RatioCheck {
    /// Whether both targets are of this experiment.
    ///
    /// # Errors
    /// When one is not.
    pub fn fits(&self, experiment: &Experiment) -> Result<(), CheckError> {
        self.places(experiment).map(drop)
    }

    fn places(&self, experiment: &Experiment) -> Result<(usize, usize), CheckError> {
        let place = |name: &str| place_of(name, experiment, &self.to_string());
        let (target, control) = (place(&self.target)?, place(&self.control)?);
        if target == control {
            return Err(CheckError(format!("`{self}`: a target cannot be compared with itself")));
        }
        Ok((target, control))
    }

    /// What the runs say, once for each load. `unequal` says which targets did other work under which load: then there is
    /// no ratio of the same thing.
    pub fn judge(
        &self,
        experiment: &Experiment,
        results: &Results,
        unequal: &[Unequal],
    ) -> Vec<Standing> {
        let Ok((target, control)) = self.places(experiment) else { return Vec::new() };
        let standing = |load: usize| {
            let label = at_load(experiment, load);
            let what = format!("{self}{label}");
            let became = [target, control].map(|of| (of, Became::of(results, of, load)));
            let unusable = |why: fn(&Became) -> Option<String>| {
                let of = |(of, became): &(usize, Became)| {
                    Some(format!("{}: {}", printable(&experiment.targets[*of].name), why(became)?))
                };
                became.iter().find_map(of)
            };
            let both = (target.min(control), target.max(control));
            let differs = || {
                let mut pairs = unequal.iter();
                let of_these = pairs.find(|pair| pair.load == load && pair.targets == both)?;
                Some(of_these.evidence.clone())
            };
            // Work may differ because runs failed, and runs may be INVALID because work differs.
            let why_not = unusable(Became::failed).or_else(differs);
            if let Some(why) = why_not.or_else(|| unusable(Became::invalid)) {
                let text = format!("{what}: cannot be judged, {why}");
                return Standing { what, text, answer: Answer::Unknown };
            }
            let (text, answer) = match results.paired(experiment, load, (target, control)) {
                Some(pairs) => self.of_pairs(&pairs, &label),
                None => self.of_medians(experiment, results, load, (target, control)),
            };
            let runs = [target, control].map(|target| results.of(target, load)).concat();
            match noise(&runs).filter(|_| answer != Answer::Unknown) {
                Some(noise) => {
                    let text = format!("{text}, but {noise}");
                    Standing { what, text, answer: Answer::NotShown }
                }
                None => Standing { what, text, answer },
            }
        };
        (0..experiment.loads.len()).map(standing).collect()
    }

    /// Of saved runs that nothing pairs: by the plain ratio, since there is nothing else.
    fn of_medians(
        &self,
        experiment: &Experiment,
        results: &Results,
        load: usize,
        (target, control): (usize, usize),
    ) -> (String, Answer) {
        let comparison = Comparison::of(experiment, results, load, control);
        let against = comparison.against.iter().find(|against| against.target == target);
        let metrics = against.into_iter().flat_map(|against| &against.metrics);
        let mut of_metric = metrics.filter(|compared| compared.metric == self.metric);
        let (plain, one_each) = match of_metric.next().map(|compared| compared.ratio) {
            Some(Err(NoInterval::AsRequested)) => return self.as_requested(""),
            Some(Err(NoInterval::NotInTurns { plain, one_each })) => (plain, one_each),
            _ => (None, false),
        };
        let Some(plain) = plain else {
            let why = format!("{} was not measured in every run", self.metric.name());
            let text = format!("{self}: cannot be judged, {why}");
            return (text, Answer::Unknown);
        };
        let answer = if self.meets(plain) { Answer::Met } else { Answer::NotMet };
        let text = format!(
            "{self}: it was {}, without an interval: {}",
            self.told(plain),
            if one_each { "there is one run of each" } else { "the runs were not interleaved" }
        );
        (text, answer)
    }

    /// Both carried the whole rate of an open loop: as far as the rate goes they are equal.
    fn as_requested(&self, label: &str) -> (String, Answer) {
        let text = format!("{self}{label}: the rate was as requested in both");
        let answer = if self.meets(1.0) { Answer::Met } else { Answer::NotMet };
        (text, answer)
    }

    /// A ratio with as many digits as tell it from the limit.
    fn told(&self, ratio: f64) -> String {
        told_from((ratio, self.limit), amount, decimal)
    }

    fn meets(&self, value: f64) -> bool {
        match self.sign {
            Sign::Below => value < self.limit,
            Sign::AtMost => value <= self.limit,
            Sign::Above => value > self.limit,
            Sign::AtLeast => value >= self.limit,
        }
    }

    fn of_pairs(&self, pairs: &[(&Figures, &Figures)], label: &str) -> (String, Answer) {
        let cannot = |why: String| format!("{self}{label}: cannot be judged, {why}");
        let ratio = match ratio_of(self.metric, pairs) {
            Some(Ok((ratio, _))) => ratio,
            Some(Err(NoInterval::AsRequested)) => return self.as_requested(label),
            Some(Err(why @ NoInterval::Missing { .. })) => {
                // The runs are there, and what a few of them lack is not the fault of what was changed.
                let text = cannot(format!("{} is {why}", self.metric.name()));
                let answer = match pairs.len() < MIN_PAIRS {
                    true => Answer::Unknown,
                    false => Answer::NotShown,
                };
                return (text, answer);
            }
            Some(Err(why)) => {
                return (cannot(why.to_string()), Answer::Unknown);
            }
            None => {
                let why = format!("{} was not measured in any pair of runs", self.metric.name());
                return (cannot(why), Answer::Unknown);
            }
        };
        let answer = match (self.meets(ratio.low), self.meets(ratio.high)) {
            (true, true) => Answer::Met,
            (false, false) => Answer::NotMet,
            _ => Answer::NotShown,
        };
        let [middle, low, high] =
            [ratio.ratio, ratio.low, ratio.high].map(|ratio| self.told(ratio));
        let text = format!("{self}{label}: it was {middle} [{low}, {high}]");
        (text, answer)
    }
}

/// What others did to most of these runs: then their figures are not those of the targets alone, and decide
/// nothing.
fn noise(runs: &[&Figures]) -> Option<String> {
    const OF_THE_MACHINE: [DiagnosisId; 2] = [DiagnosisId::D13, DiagnosisId::D23];
    let disturbed = |run: &&&Figures| {
        let doubts = run.findings.iter().filter(|finding| finding.severity > Severity::Note);
        doubts
            .filter(|finding| finding.explained_by.is_none())
            .any(|finding| OF_THE_MACHINE.contains(&finding.id))
    };
    let count = runs.iter().filter(disturbed).count();
    is_most(count, runs.len()).then(|| {
        format!("others used the machine during {count} of {} runs (D13, D23)", runs.len())
    })
}
