//! `ablaze ab` from the outside, beside the real ab where that is installed: the request's bytes,
//! the report's shape, messages and exit statuses, and every quirk of docs/ab-compatibility.md
//! against small servers that misbehave.

// Helpers of tests are no tests to clippy; here, too, a panic is the way to fail.
#![allow(clippy::unwrap_used)]

mod beside;
mod document;
mod messages;
mod misbehaving;
mod quirks;
mod report;
mod report_reader;
mod request;
mod support;
mod verdict;
