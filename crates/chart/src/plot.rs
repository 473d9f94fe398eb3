//! A plot: series of points over two axes, and what is worth pointing at in them.

use crate::Axis;

/// Points over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// From left to right.
    pub x: Axis,
    /// From the bottom up.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// What is pointed at.
    pub marks: Vec<Mark>,
    /// Whether a table of the values stands under the axis, each column under its category. For
    /// an axis of categories.
    pub table: bool,
}

/// One line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it is called in legends and tables.
    pub name: String,
    /// Which colour, marker and dash it has, from 0. The same thing has the same number in all
    /// charts of a page.
    pub slot: usize,
    /// How it is drawn.
    pub look: Look,
    /// In the order of x. A y that is no number is a gap.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Points, joined by straight lines.
    Line,
    /// From each point level to the next one's x, filled: a histogram. The last point ends it.
    Steps,
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Along the first axis.
    pub x: f64,
    /// Along the second.
    pub y: f64,
    /// The ends of an interval around it, if it has one.
    pub interval: Option<(f64, f64)>,
}

/// Something worth pointing at.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where it stands on the axes.
    pub place: Place,
    /// What, in one or two words: `knee`, `stall`, `cliff`.
    pub text: String,
}

/// Where a [`Mark`] is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// At one value of x.
    At(f64),
    /// From one value of x to another.
    Between(f64, f64),
    /// At one value of y: what was asked for, or is permitted.
    Level(f64),
}

impl Plot {
    /// A plot with nothing in it yet.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, series: Vec::new(), marks: Vec::new(), table: false }
    }
}

impl Series {
    /// A line through points.
    pub fn line(name: &str, slot: usize, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| Point { x, y, interval: None });
        Self { name: name.to_owned(), slot, look: Look::Line, points: points.collect() }
    }

    /// The outline of a histogram: the left edge and the height of each bin; the last point's x is
    /// the right edge of the last bin.
    pub fn steps(name: &str, slot: usize, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { look: Look::Steps, ..Self::line(name, slot, points) }
    }

    /// A line through points of which each has its interval: x, y, low, high.
    pub fn with_intervals(
        name: &str,
        slot: usize,
        points: impl IntoIterator<Item = (f64, f64, f64, f64)>,
    ) -> Self {
        let points =
            points.into_iter().map(|(x, y, low, high)| Point { x, y, interval: Some((low, high)) });
        Self { name: name.to_owned(), slot, look: Look::Line, points: points.collect() }
    }
}

impl Mark {
    /// At one value of x.
    pub fn at(x: f64, text: &str) -> Self {
        Self { place: Place::At(x), text: text.to_owned() }
    }

    /// From one value of x to another.
    pub fn between(from: f64, to: f64, text: &str) -> Self {
        Self { place: Place::Between(from, to), text: text.to_owned() }
    }

    /// At one value of y.
    pub fn level(y: f64, text: &str) -> Self {
        Self { place: Place::Level(y), text: text.to_owned() }
    }
}
