//! The frame of a plot: its axes laid out for what is drawn, and the space that is left around it.

use super::writer::width_of;
use super::{SMALL_SIZE, TEXT_SIZE, Width};
use crate::axis::Fitted;
use crate::{Look, Place, Plot, Scale};

/// More lines than this have a legend instead of labels at their ends.
const MOST_LABELS: usize = 8;
/// Space for the marker in front of a name.
pub(super) const KEY: f64 = 30.0;

/// The axes of a plot and how it is labelled.
#[derive(Debug)]
pub(super) struct Fits {
    pub x: Fitted,
    pub y: Fitted,
    /// Names stand at the ends of the lines.
    pub labels: bool,
    /// The table stands under the axis.
    pub table: bool,
    margins: Margins,
}

/// Space left and right of the area in which the values are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Margins {
    pub left: f64,
    pub right: f64,
}

/// The area in which the values are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Fits {
    /// Lays the axes out for every value of the plot.
    pub fn of(plot: &Plot, width: Width) -> Self {
        let wide = width == Width::Wide;
        let points = || plot.series.iter().flat_map(|series| &series.points);
        let levels = plot.marks.iter().filter_map(|mark| match mark.place {
            Place::Level(y) => Some(y),
            _ => None,
        });
        let ends = points().filter_map(|point| point.interval).flat_map(|(low, high)| [low, high]);
        let y = plot.y.fitted(points().map(|point| point.y).chain(ends).chain(levels), 5);
        let x = plot.x.fitted(points().map(|point| point.x), if wide { 10 } else { 5 });
        let lines = plot.series.iter().all(|series| series.look == Look::Line);
        let labels = wide && lines && (2..=MOST_LABELS).contains(&plot.series.len());
        let table =
            wide && plot.table && matches!(plot.x.scale, Scale::Categories(_) | Scale::Named(_));
        let names = plot.series.iter().map(|series| width_of(&series.name, TEXT_SIZE));
        let longest = names.fold(0.0, f64::max);
        let ticks = y.ticks.iter().map(|tick| width_of(&tick.text, SMALL_SIZE)).fold(0.0, f64::max);
        let first_tick = x.ticks.first().map_or(0.0, |tick| width_of(&tick.text, SMALL_SIZE) / 2.0);
        let last_tick = x.ticks.last().map_or(0.0, |tick| width_of(&tick.text, SMALL_SIZE) / 2.0);
        let most = width.pixels() * 0.24;
        let margins = Margins {
            left: if table {
                (longest + KEY).max(width_of(&plot.x.title, SMALL_SIZE)).min(most) + 10.0
            } else {
                ticks + 8.0
            }
            .max(ticks + 8.0)
            .max(first_tick),
            right: if labels { longest.min(most) + KEY } else { last_tick.max(6.0) },
        };
        Self { x, y, labels, table, margins }
    }
}

impl Margins {
    /// Enough for all of them, so that areas below each other line up.
    pub fn widest<'a>(all: impl Iterator<Item = &'a Fits>) -> Self {
        all.fold(Self { left: 0.0, right: 0.0 }, |widest, fits| Self {
            left: widest.left.max(fits.margins.left),
            right: widest.right.max(fits.margins.right),
        })
    }
}

impl Area {
    /// Where a share of the width lies; `None` outside of the area.
    pub fn x(&self, at: Option<f64>) -> Option<f64> {
        inside(at).map(|at| self.left + at * self.width)
    }

    /// Where a share of the height lies, from the bottom up.
    pub fn y(&self, at: Option<f64>) -> Option<f64> {
        inside(at).map(|at| self.top + (1.0 - at) * self.height)
    }

    /// Its right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Its lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

fn inside(at: Option<f64>) -> Option<f64> {
    at.filter(|at| (-1e-6..=1.0 + 1e-6).contains(at))
}
