//! The log of the HDR histogram: every value of the distributions of one run.

use super::{Export, Exported, Exporter, Kind, unfit};
use crate::hlog;

pub(super) const EXPORTER: &dyn Exporter = &Hlog;

struct Hlog;

impl Exporter for Hlog {
    fn extensions(&self) -> &'static [&'static str] {
        &["hlog"]
    }

    fn fits(&self, kind: Kind) -> bool {
        kind == Kind::Run
    }

    fn of_each_run(&self) -> &'static str {
        "those of the runs are in the results folder"
    }

    fn export(&self, what: &Exported<'_>, _stem: &str) -> Result<Export, String> {
        Ok(match what {
            Exported::Run { assessed, .. } => hlog::write(&assessed.run),
            Exported::Runs(_) | Exported::Experiment(_) => return Err(unfit()),
        }
        .into())
    }
}
