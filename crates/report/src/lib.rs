//! One exporter per file. A reporter never measures: it turns a Run into text.

pub mod ab;
