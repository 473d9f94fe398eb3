//! JUnit's XML for build servers: every condition, check and verdict as a test case.

use super::{Export, Exported, Exporter, Kind, unfit};
use crate::junit;

pub(super) const EXPORTER: &dyn Exporter = &Junit;

struct Junit;

impl Exporter for Junit {
    fn extensions(&self) -> &'static [&'static str] {
        &["xml"]
    }

    fn about(&self) -> &'static str {
        "JUnit"
    }

    fn fits(&self, kind: Kind) -> bool {
        kind != Kind::Runs
    }

    fn export(&self, what: &Exported<'_>, _stem: &str) -> Result<Export, String> {
        Ok(match what {
            Exported::Run { assessed, conditions, .. } => {
                junit::write(&[junit::of_run(assessed, conditions)])
            }
            Exported::Runs(_) => return Err(unfit()),
            Exported::Experiment(contents) => junit::write(&contents.suites),
        }
        .into())
    }
}
