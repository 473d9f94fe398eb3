//! Figures for spreadsheets: of one run a row each, of an experiment a row for each run.

use super::{Export, Exported, Exporter, Kind, unfit};
use crate::csv;

pub(super) const EXPORTER: &dyn Exporter = &Csv;

struct Csv;

impl Exporter for Csv {
    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn fits(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Run | Kind::Experiment)
    }

    fn export(&self, what: &Exported<'_>, _stem: &str) -> Result<Export, String> {
        Ok(match what {
            Exported::Run { assessed, .. } => csv::write(&assessed.run),
            Exported::Runs(_) => return Err(unfit()),
            Exported::Experiment(contents) => contents.csv.clone().ok_or_else(unfit)?,
        }
        .into())
    }
}
