//! `ablaze serve` and `ablaze demo` as processes: when they are ready, how they stop, what they
//! refuse.

#![allow(clippy::unwrap_used)]

mod demo;
mod pages;
mod presets;
mod refusals;
mod reset_clients;
mod starting;
mod stopping;
pub mod support;
mod tls;
