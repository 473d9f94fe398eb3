//! The built command end to end, as people use it, in anger and by mistake: over both I/O
//! backends, against servers that misbehave or that count for themselves.
//!
//! What takes long or needs a quiet machine runs only with ABLAZE_LONG_TESTS=1, as .ci/full does.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod advised;
mod checks;
mod commands;
mod cookies;
mod counts;
mod doctor;
mod exports;
mod exports_metrics;
mod exports_otlp;
mod exports_prometheus;
mod feeds;
mod fleet;
mod forbidden_ring;
pub mod foreign;
mod forms;
mod groups;
mod hlog;
mod interruption;
mod journeys;
mod journeys_bad_input;
mod journeys_redirects;
mod latency;
mod lists;
mod live;
mod memory;
mod misbehaving;
mod misbehaving_ab;
mod nobody_reads;
mod observer;
mod outlets;
mod panics;
mod recording;
mod refusals;
mod reports;
mod secrets;
pub mod support;
mod users;
mod ways;
