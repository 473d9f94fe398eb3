//! `ablaze replay` and the experiments in `experiments/` as processes: what they keep, whether every
//! figure of their pages can be computed again from the runs, what they do without ab and nginx, and
//! whether the commands in docs/experiments.md are right. Nothing here depends on how fast this
//! machine is.
//!
//! A replay takes up to a minute, so one of the five is carried out: always the same, or the one in
//! `ABLAZE_REPLAY`. `ABLAZE_LONG_TESTS=1` carries out all of them.

#![allow(clippy::unwrap_used)]

mod document;
mod figures;
mod refusals;
mod replays;
mod support;
mod without_tools;
