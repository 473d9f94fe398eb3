//! What an experiment, a search, or several experiments give to be exported.

use ablaze_chart::Chart;

use crate::junit::Suite;
use crate::page::Page;

/// The parts that formats are made of.
#[derive(Debug, Clone)]
pub struct Contents {
    /// Its page, or why there is none: a kept run cannot be read back.
    pub page: Result<Page, String>,
    /// Its one chart; what is several experiments has several.
    pub chart: Option<Chart>,
    /// Its figures as JSON.
    pub json: String,
    /// Its runs as CSV; none of several experiments.
    pub csv: Option<String>,
    /// Its report in words.
    pub text: String,
    /// What had to hold of it, as the cases of a test: a suite for each experiment.
    pub suites: Vec<Suite>,
}

impl Contents {
    /// Its page.
    ///
    /// # Errors
    /// When there is no page: the reason.
    pub fn page(&self) -> Result<&Page, String> {
        self.page.as_ref().map_err(Clone::clone)
    }
}
