//! `ablaze ab` from the outside, beside the real ab where that is installed: the request's bytes,
//! the report's shape, messages and exit statuses, and every quirk of docs/ab-compatibility.md
//! against small servers that misbehave.

mod messages;
mod misbehaving;
mod quirks;
mod report;
mod report_reader;
mod request;
mod support;
