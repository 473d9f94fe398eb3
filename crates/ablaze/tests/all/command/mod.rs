//! The built command, from the outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

pub mod beside;
mod completions;
mod explain;
mod guides;
mod h2load;
mod hey;
mod import;
mod man;
mod oha;
mod own_texts;
mod readme;
mod refusals;
mod runs;
mod say;
pub mod support;
mod vegeta;
mod verdict;
mod wrk;
mod wrk_scripts;
