//! From samples of stacks to something a person reads. [`symbols`] gives addresses their names,
//! [`folded`] makes stacks of names comparable (CPU time per request), [`hottest`] says where most of it
//! went, [`names`] shortens names that are too long to read, [`graph`] draws it and [`difference`] draws two of them against each other. [`recording`] takes the samples.
//! Feature `recording` has what takes samples and names them, `flame-graphs` what draws; without either, the figures of
//! profiles that others took can be read.

pub mod difference;
#[cfg(feature = "recording")]
mod endings;
pub mod folded;
pub mod graph;
pub mod hottest;
pub mod names;
#[cfg(feature = "recording")]
pub mod recording;
#[cfg(feature = "recording")]
pub mod symbols;
