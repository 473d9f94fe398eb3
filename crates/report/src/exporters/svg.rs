//! The main chart. Of several runs it is the first of their page: latency by percentile.

use ablaze_chart::Chart;

use super::{Export, Exported, Exporter, Kind, unfit};
use crate::page;

pub(super) const EXPORTER: &dyn Exporter = &Svg;

struct Svg;

impl Exporter for Svg {
    fn extensions(&self) -> &'static [&'static str] {
        &["svg"]
    }

    fn fits(&self, kind: Kind) -> bool {
        kind != Kind::Parts
    }

    fn export(&self, what: &Exported<'_>, stem: &str) -> Result<Export, String> {
        Ok(match what {
            Exported::Run { assessed, .. } => page::charts::main(&assessed.run).svg_file(),
            Exported::Runs(page) => {
                let first = page.markdown(stem).files.into_iter().next();
                first.map(|(_, svg)| svg).unwrap_or_default()
            }
            Exported::Experiment(contents) => {
                contents.chart.as_ref().map(Chart::svg_file).ok_or_else(unfit)?
            }
        }
        .into())
    }
}
