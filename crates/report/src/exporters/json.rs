//! Everything, to keep and to read back.

use super::{Export, Exported, Exporter, Kind, unfit};
use crate::json;

pub(super) const EXPORTER: &dyn Exporter = &Json;

struct Json;

impl Exporter for Json {
    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn fits(&self, kind: Kind) -> bool {
        kind != Kind::Runs
    }

    fn export(&self, what: &Exported<'_>, _stem: &str) -> Result<Export, String> {
        Ok(match what {
            Exported::Run { assessed, .. } => json::write(assessed),
            Exported::Runs(_) => return Err(unfit()),
            Exported::Experiment(contents) => contents.json.clone(),
        }
        .into())
    }
}
