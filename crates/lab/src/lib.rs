//! Experiments: several runs, of several targets, under several loads, interleaved, and what
//! follows from them. [`target`] starts and stops what is loaded; [`experiment`] carries the runs
//! out and keeps each one on disk as soon as it has ended. Runs themselves are somebody else's: a
//! [`Runner`](experiment::Runner) turns words into one, and the tests of this crate have one that
//! needs no network.

mod aim;
pub mod beside;
pub mod charts;
pub mod check;
pub mod comparison;
pub mod csv;
pub mod curve;
pub mod experiment;
pub mod json;
pub mod page;
mod processors;
pub mod profiles;
pub mod saved;
pub mod search;
pub mod shards;
pub mod target;
pub mod text;

pub use experiment::{Experiment, Load};
pub use target::Target;
