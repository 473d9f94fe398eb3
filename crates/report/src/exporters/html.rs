//! A page that opens in a browser without a network.

use super::{Export, Exported, Exporter, Kind};
use crate::page;

pub(super) const EXPORTER: &dyn Exporter = &Html;

struct Html;

impl Exporter for Html {
    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm"]
    }

    fn about(&self) -> &'static str {
        "a page with charts"
    }

    fn fits(&self, _kind: Kind) -> bool {
        true
    }

    fn export(&self, what: &Exported<'_>, _stem: &str) -> Result<Export, String> {
        Ok(match what {
            Exported::Run { assessed, .. } => page::of_run(assessed).html(),
            Exported::Runs(page) => page.html(),
            Exported::Experiment(contents) => contents.page()?.html(),
        }
        .into())
    }
}
