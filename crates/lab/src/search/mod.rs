//! The highest rate at which a target still meets the conditions: stages in open loop, each a
//! run, the next rate chosen from how the last ones went
//! ([`RateSearch`](ablaze_stats::RateSearch)). Every stage is kept, and how it went is judged from
//! what is kept: a search that was interrupted goes the same way again up to there.

mod folder;
mod goal;
mod journeys;
pub(crate) mod recovery;
mod running;
mod unsuccessful;

pub use folder::StageFolder;
pub use goal::{Goal, Judged};
pub use running::{Setting, Watch, run};
