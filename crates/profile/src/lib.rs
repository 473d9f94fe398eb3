//! From samples of stacks to something a person reads. [`symbols`] gives addresses their names,
//! [`folded`] makes stacks of names comparable (CPU time per request), [`hottest`] says where most of it
//! went, [`names`] shortens names that are too long to read, [`graph`] draws it and [`difference`] draws two of them against each other. [`recording`] takes the samples.

pub mod difference;
pub mod folded;
pub mod graph;
pub mod hottest;
pub mod names;
pub mod recording;
pub mod symbols;
