//! Bars: one row per thing, its length its value; in parts that add up, or as a dot with an interval.

use crate::Unit;

/// Rows of bars or dots.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// What the length is: `CPU per request`.
    pub title: String,
    /// What the numbers are.
    pub unit: Unit,
    /// Bars or dots.
    pub look: Look,
    /// Names of the parts, in the order of each row's values. Empty or one name: bars of one part,
    /// each in the colour of its row.
    pub parts: Vec<String>,
    /// From the top down.
    pub rows: Vec<BarRow>,
    /// A value to compare with, and what it is: `1.0`, `no difference`.
    pub reference: Option<(f64, String)>,
}

/// How a row is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// From 0 to the value.
    Bars,
    /// A dot at the value with its interval; the axis need not begin at 0, and is one of ratios for them.
    Dots,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct BarRow {
    /// What it is called.
    pub name: String,
    /// Its colour where it has one part.
    pub slot: usize,
    /// Its parts; a missing or senseless one is left out.
    pub values: Vec<f64>,
    /// An interval around the sum.
    pub interval: Option<(f64, f64)>,
    /// What stands behind it; the sum, if this is `None`.
    pub text: Option<String>,
}

impl Bars {
    /// No rows yet.
    pub fn new(title: &str, unit: Unit, parts: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            unit,
            look: Look::Bars,
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
            rows: Vec::new(),
            reference: None,
        }
    }
}

impl Bars {
    /// The least and the largest of the values, the ends of intervals and what they are compared with; `None` where
    /// none can be drawn.
    pub(crate) fn extent(&self) -> Option<(f64, f64)> {
        let ends = |row: &BarRow| row.interval.map_or([f64::NAN; 2], |(low, high)| [low, high]);
        let values = self.rows.iter().flat_map(|row| row.sum().into_iter().chain(ends(row)));
        let values = values.chain(self.reference.iter().map(|(value, _)| *value));
        values.filter(|value| crate::axis::usable(*value)).fold(None, |extent, value| {
            let (low, high) = extent.unwrap_or((value, value));
            Some((value.min(low), value.max(high)))
        })
    }

    /// The ends of an axis of ratios; `None` where the rows are something else, or not all above 0.
    pub(crate) fn ratio_ends(&self) -> Option<(f64, f64)> {
        let (low, high) = self.extent()?;
        let ratios = self.look == Look::Dots && self.unit == Unit::Ratio && low > 0.0;
        // Something to see on both sides of equal figures.
        let pad = (high / low).powf(0.08).max(1.02);
        ratios.then(|| (low / pad, high * pad))
    }
}

impl Bars {
    /// What the length is, and on which scale it is drawn.
    pub(crate) fn drawn_title(&self) -> String {
        let scale = if self.ratio_ends().is_some() { ", log scale" } else { "" };
        format!("{}{scale}", self.title)
    }
}

impl BarRow {
    /// A row of these parts.
    pub fn new(name: &str, slot: usize, values: &[f64]) -> Self {
        let values = values.to_vec();
        Self { name: name.to_owned(), slot, values, interval: None, text: None }
    }

    /// The sum of its parts; `None` when there is none.
    pub(crate) fn sum(&self) -> Option<f64> {
        let usable = self.values.iter().copied().filter(|value| crate::axis::usable(*value));
        usable.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
    }

    /// What stands behind it.
    pub(crate) fn words(&self, unit: Unit) -> String {
        self.text.clone().unwrap_or_else(|| self.sum().map_or("-".to_owned(), |sum| unit.text(sum)))
    }
}
