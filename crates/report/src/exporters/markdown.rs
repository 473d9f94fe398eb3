//! Markdown for code-hosting pages, with its charts as files beside it.

use super::{Export, Exported, Exporter, Kind};
use crate::page;

pub(super) const EXPORTER: &dyn Exporter = &Markdown;

struct Markdown;

impl Exporter for Markdown {
    fn extensions(&self) -> &'static [&'static str] {
        &["md"]
    }

    fn fits(&self, _kind: Kind) -> bool {
        true
    }

    fn beside(&self) -> &'static [&'static str] {
        &["svg"]
    }

    fn export(&self, what: &Exported<'_>, stem: &str) -> Result<Export, String> {
        let page::Markdown { text, files } = match what {
            Exported::Run { assessed, .. } => page::markdown_of_run(assessed, stem),
            Exported::Runs(page) => page.markdown(stem),
            Exported::Experiment(contents) => contents.page()?.markdown(stem),
        };
        Ok(Export { text, beside: files })
    }
}
