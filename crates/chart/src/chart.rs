//! A chart: a title, what it shows in words, and one or more panels below each other.

use crate::{Bars, Plot};

/// One drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// What it shows, in a sentence, for those who do not see it.
    pub description: String,
    /// Below each other; plots with the same x axis line up.
    pub panels: Vec<Panel>,
}

/// One part of a chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// Points over two axes.
    Plot(Plot),
    /// Rows of bars.
    Bars(Bars),
}

impl From<Plot> for Panel {
    fn from(plot: Plot) -> Self {
        Self::Plot(plot)
    }
}

impl From<Bars> for Panel {
    fn from(bars: Bars) -> Self {
        Self::Bars(bars)
    }
}

impl Chart {
    /// A chart of one panel.
    pub fn of(title: &str, panel: impl Into<Panel>) -> Self {
        Self { title: title.to_owned(), description: String::new(), panels: vec![panel.into()] }
    }

    /// The same with a description.
    pub fn described(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    /// The same with one more panel below.
    pub fn above(mut self, panel: impl Into<Panel>) -> Self {
        self.panels.push(panel.into());
        self
    }
}
