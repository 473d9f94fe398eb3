//! What the terminal shows.

use super::{Export, Exported, Exporter, Kind, unfit};
use crate::text::{self, Style};

pub(super) const EXPORTER: &dyn Exporter = &Text;

struct Text;

impl Exporter for Text {
    fn extensions(&self) -> &'static [&'static str] {
        &["txt"]
    }

    fn fits(&self, kind: Kind) -> bool {
        kind != Kind::Runs
    }

    fn export(&self, what: &Exported<'_>, _stem: &str) -> Result<Export, String> {
        Ok(match what {
            Exported::Run { assessed, explain, .. } => {
                text::write(assessed, &Style { explain: *explain, ..Style::default() })
            }
            Exported::Runs(_) => return Err(unfit()),
            Exported::Experiment(contents) => contents.text.clone(),
        }
        .into())
    }
}
