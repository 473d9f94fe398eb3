//! The built command, from the outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod completions;
mod explain;
mod guides;
mod import;
mod man;
mod own_texts;
mod readme;
mod refusals;
mod runs;
pub mod support;
mod verdict;
mod wrk;
mod wrk_scripts;
