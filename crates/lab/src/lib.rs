//! Experiments over several runs are carried out here: several targets, under several loads, interleaved. What an
//! experiment is and what came of it is data of [`ablaze_model::experiment`], and `ablaze-report` shows it. [`target`]
//! starts and stops what is loaded; [`experiment`] carries the runs out and keeps each one on disk as soon as it has
//! ended. Runs themselves are somebody else's: a [`Runner`](experiment::Runner) turns a load into one, and the tests of
//! this crate have one that needs no network.

mod aim;
pub mod beside;
pub mod check;
pub mod experiment;
mod processors;
pub mod profiles;
pub mod saved;
pub mod search;
pub mod shards;
pub mod target;
