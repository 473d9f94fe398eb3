//! One exporter per file: each turns a Run into text and does nothing else. A reporter never
//! measures.

pub mod ab;
pub mod gurl;
