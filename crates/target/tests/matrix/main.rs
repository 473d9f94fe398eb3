//! What every I/O model has to do alike, under every accept mode it can be combined with: a model
//! that joins `Model::ALL` is judged here at once, without a line of its own.
//!
//! `serving`: the same bytes in every cell of the matrix of `cells`. `timing`: delays, timeouts,
//! limits, the stop. `faults`: that each is counted. `storms`: clients that misbehave, against a `child` process whose
//! descriptors and memory are watched; `stillness`: that waiting costs nothing. `traced`: the
//! counters against strace; `truths`: what they have to say about the models.
//! ABLAZE_LONG_TESTS=1 runs all cells instead of a choice.

#![allow(clippy::unwrap_used)]

mod cells;
mod child;
mod client;
mod faults;
mod models;
mod serving;
mod stillness;
mod storms;
mod timing;
mod traced;
mod truths;
