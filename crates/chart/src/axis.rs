//! Axes: from values to places between 0 and 1, and the round numbers written beside them.

use crate::Unit;
use crate::number;

/// An axis as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is measured along it: `responses per second`. The unit is added where ticks need one.
    pub title: String,
    /// What the numbers are.
    pub unit: Unit,
    /// How they are laid out.
    pub scale: Scale,
}

/// How values are laid out along an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// Evenly, from 0 (or from the least value if that is below) to a round number.
    Linear,
    /// Evenly, from one value to another, not rounded: the time of a run.
    Between(f64, f64),
    /// By powers of ten. What is not above 0 has no place.
    Log,
    /// Ratios from one value to another, both above 0 and not rounded: twice lies as far from 1 as half.
    Ratio(f64, f64),
    /// Quantiles from 0 to 1 as HDR histograms draw them: by 1 / (1 − q), so that each further
    /// nine takes the same room (G. Tene's HdrHistogram plotter).
    Percentile,
    /// These values side by side, whatever lies between them: 1, 2, 5, 10 …
    Categories(Vec<f64>),
    /// Things with these names side by side; their values are 1, 2, 3 …
    Named(Vec<String>),
}

impl Scale {
    /// The values of an axis of categories.
    pub(crate) fn categories(&self) -> Option<Vec<f64>> {
        match self {
            Self::Categories(values) => Some(values.clone()),
            Self::Named(names) => Some((1..=names.len()).map(|at| at as f64).collect()),
            _ => None,
        }
    }
}

impl Axis {
    /// An axis from 0.
    pub fn linear(title: &str, unit: Unit) -> Self {
        Self { title: title.to_owned(), unit, scale: Scale::Linear }
    }

    /// An axis from one value to another.
    pub fn between(title: &str, unit: Unit, from: f64, to: f64) -> Self {
        Self { title: title.to_owned(), unit, scale: Scale::Between(from, to) }
    }

    /// An axis by powers of ten.
    pub fn log(title: &str, unit: Unit) -> Self {
        Self { title: title.to_owned(), unit, scale: Scale::Log }
    }

    /// HDR's axis of percentiles.
    pub fn percentile(title: &str) -> Self {
        Self { title: title.to_owned(), unit: Unit::Quantile, scale: Scale::Percentile }
    }

    /// Values side by side.
    pub fn categories(title: &str, unit: Unit, values: &[f64]) -> Self {
        Self { title: title.to_owned(), unit, scale: Scale::Categories(values.to_vec()) }
    }

    /// Things side by side that have names, no values.
    pub fn named(title: &str, names: Vec<String>) -> Self {
        Self { title: title.to_owned(), unit: Unit::Count, scale: Scale::Named(names) }
    }

    /// A value along it as a note or a table shows it.
    pub(crate) fn text(&self, value: f64) -> String {
        match &self.scale {
            Scale::Named(names) => names
                .get((value as usize).wrapping_sub(1))
                .cloned()
                .unwrap_or_else(|| self.unit.text(value)),
            _ => self.unit.text(value),
        }
    }

    /// Its title with the unit that its ticks are in: `latency, ms`; an axis on which distances are
    /// ratios says so.
    pub(crate) fn title_with(&self, unit: &str) -> String {
        let log = matches!(self.scale, Scale::Log | Scale::Ratio(..));
        let unit = if log { "log scale" } else { unit };
        match (self.title.as_str(), unit) {
            (title, "") => title.to_owned(),
            ("", unit) => unit.to_owned(),
            (title, unit) => format!("{title}, {unit}"),
        }
    }

    /// The axis laid out so that these values have a place on it, with about this many ticks.
    pub(crate) fn fitted(&self, values: impl Iterator<Item = f64>, ticks: usize) -> Fitted {
        let values = values.filter(|value| usable(*value));
        let ticks = ticks.clamp(2, 20);
        match &self.scale {
            Scale::Linear => linear(self.unit, values, ticks),
            Scale::Between(from, to) => between(self.unit, *from, *to, ticks),
            Scale::Log => log(self.unit, values, ticks),
            Scale::Ratio(from, to) => ratio(self.unit, *from, *to, ticks),
            Scale::Percentile => percentile(values),
            Scale::Categories(values) => categories(self.unit, values),
            Scale::Named(names) => named(names),
        }
    }
}

/// Whether a value can be drawn at all: a number, and of a size that leaves room to calculate.
pub(crate) fn usable(value: f64) -> bool {
    value.is_finite() && value.abs() <= 1e18
}

/// An axis that knows where its values lie.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fitted {
    /// Round values, where they lie (0 to 1) and how they are written.
    pub ticks: Vec<Tick>,
    /// The unit that the written ticks are in; empty when they say it themselves.
    pub unit_name: &'static str,
    place: Placing,
}

/// A round value on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Placing {
    Linear { low: f64, high: f64 },
    Log { low: f64, high: f64 },
    Percentile { nines: f64 },
    Categories(Vec<f64>),
}

impl Fitted {
    /// Where a value lies, 0 to 1 for those that the axis was made for; `None` for one that has no
    /// place on it.
    pub fn at(&self, value: f64) -> Option<f64> {
        if !usable(value) {
            return None;
        }
        let at = match &self.place {
            Placing::Linear { low, high } => (value - low) / (high - low),
            Placing::Log { low, high } if value > 0.0 => (value.log10() - low) / (high - low),
            Placing::Percentile { nines } if (0.0..1.0).contains(&value) => {
                -(1.0 - value).log10() / nines
            }
            Placing::Log { .. } | Placing::Percentile { .. } => return None,
            Placing::Categories(values) => {
                let index = values.iter().position(|category| *category == value)?;
                (index as f64 + 0.5) / values.len() as f64
            }
        };
        at.is_finite().then_some(at)
    }

    /// Where the axis's own beginning lies: what bars and filled areas stand on.
    pub fn base(&self) -> f64 {
        match &self.place {
            Placing::Linear { .. } => self.at(0.0).unwrap_or(0.0).clamp(0.0, 1.0),
            _ => 0.0,
        }
    }
}

fn linear(unit: Unit, values: impl Iterator<Item = f64>, ticks: usize) -> Fitted {
    let (low, high) = values.fold((0.0f64, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
    let high = if high - low < 1e-12 { low + 1.0 } else { high };
    let step = round_step((high - low) / ticks as f64);
    // A value just above a round number stays below the line of the next one.
    let low = (low / step + 1e-9).floor() * step;
    let high = (high / step - 1e-9).ceil() * step;
    even(unit, low, high, step)
}

fn between(unit: Unit, from: f64, to: f64, ticks: usize) -> Fitted {
    let (from, to) = (if usable(from) { from } else { 0.0 }, if usable(to) { to } else { 1.0 });
    let to = if to - from < 1e-12 { from + 1.0 } else { to };
    even(unit, from, to, round_step((to - from) / ticks as f64))
}

/// Ticks at the multiples of `step` from `low` to `high`.
fn even(unit: Unit, low: f64, high: f64, step: f64) -> Fitted {
    let (length, unit_name) = unit.scale_for(low.abs().max(high.abs()));
    let decimals = (-(step / length).log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    let first = (low / step - 1e-9).ceil() as i64;
    let ticks = (first..first.saturating_add(100))
        .map(|number| number as f64 * step)
        .take_while(|value| *value <= high + step * 1e-9)
        .map(|value| Tick {
            at: (value - low) / (high - low),
            text: with_decimals(value / length, decimals),
        });
    Fitted { ticks: ticks.collect(), unit_name, place: Placing::Linear { low, high } }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `least`: after P. Heckbert, "Nice
/// Numbers for Graph Labels", Graphics Gems, 1990, rounded up so that ticks never come out too
/// dense.
pub(crate) fn round_step(least: f64) -> f64 {
    if !(least.is_finite() && least > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(least.log10().floor());
    let fraction = least / power;
    let round = [1.0, 2.0, 5.0].into_iter().find(|round| fraction <= round + 1e-9);
    round.unwrap_or(10.0) * power
}

fn with_decimals(value: f64, decimals: usize) -> String {
    let text = number::decimal(value.abs(), decimals);
    let sign =
        if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) { "−" } else { "" };
    format!("{sign}{text}")
}

/// Whole powers of ten around the values, with 2 and 5 between them where there is room.
fn log(unit: Unit, values: impl Iterator<Item = f64>, ticks: usize) -> Fitted {
    let positive = values.filter(|value| *value > 1e-18);
    let (low, high) =
        positive.fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
    let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
    let series: &[f64] = match (high / low).log10() {
        decades if decades * 3.0 <= ticks as f64 + 1.0 => &[1.0, 2.0, 5.0],
        decades if decades * 2.0 <= ticks as f64 + 1.0 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let from = low.log10().floor() as i32;
    let to = high.log10().ceil() as i32 + 1;
    let stride = ((to - from) as usize / ticks).max(1);
    let round = (from..=to)
        .step_by(stride)
        .flat_map(|power| series.iter().map(move |first| first * 10f64.powi(power)));
    let round: Vec<f64> = round.collect();
    let first = round.iter().rposition(|value| *value <= low * (1.0 + 1e-9)).unwrap_or(0);
    let last = round.iter().position(|value| *value >= high * (1.0 - 1e-9));
    let last = last.unwrap_or(round.len() - 1).max(first + 1).min(round.len() - 1);
    let (low, high) = (round[first].log10(), round[last].log10());
    let ticks = round[first..=last].iter().map(|value| Tick {
        at: (value.log10() - low) / (high - low),
        text: round_text(unit, *value),
    });
    Fitted { ticks: ticks.collect(), unit_name: "", place: Placing::Log { low, high } }
}

/// Round ratios between two values: even steps where these lie near each other, else 1, 2, 5 times powers of ten.
fn ratio(unit: Unit, from: f64, to: f64, ticks: usize) -> Fitted {
    let sensible = usable(from) && usable(to) && from > 1e-18 && to > from * (1.0 + 1e-12);
    let (from, to) = if sensible { (from, to) } else { (0.5, 2.0) };
    let (low, high) = (from.log10(), to.log10());
    let round: Vec<f64> = if to / from < 4.0 {
        let step = round_step((to - from) / ticks as f64);
        let first = (from / step - 1e-9).ceil() as i64;
        (first..first.saturating_add(100)).map(|number| number as f64 * step).collect()
    } else {
        let wanted: &[f64] = match high - low {
            decades if decades * 3.0 <= ticks as f64 + 2.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let powers = low.floor() as i32..=high.ceil() as i32;
        let stride = (powers.clone().count() / (ticks + 2)).max(1);
        // Powers are counted from 1, which always has its tick.
        powers
            .filter(|power| power.rem_euclid(stride as i32) == 0)
            .flat_map(|power| wanted.iter().map(move |first| first * 10f64.powi(power)))
            .collect()
    };
    let inside = |value: &f64| *value >= from * (1.0 - 1e-9) && *value <= to * (1.0 + 1e-9);
    let ticks = round
        .into_iter()
        .filter(inside)
        .map(|value| Tick { at: (value.log10() - low) / (high - low), text: trimmed(unit, value) });
    Fitted { ticks: ticks.collect(), unit_name: "", place: Placing::Log { low, high } }
}

/// A value with as many digits as it needs: `0.95`, `1`, `20`.
fn trimmed(unit: Unit, value: f64) -> String {
    let text = unit.text(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A round value with its unit and no digits that say nothing: `100 µs`, `1 ms`.
fn round_text(unit: Unit, value: f64) -> String {
    let (length, name) = match unit {
        Unit::TimeNs => number::time_unit(value),
        _ => unit.scale_for(value),
    };
    let scaled = value / length;
    let decimals = (-scaled.log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    let space = if name.is_empty() { "" } else { " " };
    format!("{}{space}{name}", with_decimals(scaled, decimals))
}

/// Up to one nine more than the highest quantile has, and at least to p90.
fn percentile(values: impl Iterator<Item = f64>) -> Fitted {
    let highest = values.filter(|q| (0.0..1.0).contains(q)).fold(0.0, f64::max);
    let nines = (-(1.0 - highest).log10()).clamp(1.0, 12.0);
    let places = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
    let ticks = places
        .into_iter()
        .map(|q: f64| (q, -(1.0 - q).log10() / nines))
        .filter(|(_, at)| *at <= 1.0 + 1e-9)
        .map(|(q, at)| Tick {
            at,
            text: Unit::Quantile.text(q).trim_start_matches('p').to_owned(),
        });
    Fitted { ticks: ticks.collect(), unit_name: "%", place: Placing::Percentile { nines } }
}

fn categories(unit: Unit, values: &[f64]) -> Fitted {
    let values: Vec<f64> = values.iter().copied().filter(|value| usable(*value)).collect();
    let count = values.len() as f64;
    let ticks = values.iter().enumerate().map(|(index, value)| Tick {
        at: (index as f64 + 0.5) / count,
        text: match unit {
            Unit::TimeNs => unit.text(*value),
            _ => unit.bare_text(*value),
        },
    });
    Fitted { ticks: ticks.collect(), unit_name: "", place: Placing::Categories(values) }
}

fn named(names: &[String]) -> Fitted {
    let count = names.len() as f64;
    let place = |index: usize| (index as f64 + 0.5) / count;
    let tick = |(index, name): (usize, &String)| Tick { at: place(index), text: name.clone() };
    let values = (1..=names.len()).map(|at| at as f64).collect();
    let ticks = names.iter().enumerate().map(tick).collect();
    Fitted { ticks, unit_name: "", place: Placing::Categories(values) }
}

#[cfg(test)]
#[path = "axis_tests.rs"]
mod tests;
