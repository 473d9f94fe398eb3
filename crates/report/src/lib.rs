//! One exporter per file: each turns a Run into text and does nothing else.

pub mod gurl;
