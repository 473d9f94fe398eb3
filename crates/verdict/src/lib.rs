//! Whether a measurement is to be believed. [`diagnosis`] is the table of everything that can be
//! wrong with one; [`finding`] is one of them found, with its evidence. [`printed`] reads what
//! load testers print, and [`rules`] judges it; [`live`] judges a Run, and [`limit`] says what
//! bounded its rate; [`saved`] judges one that was kept in a
//! file, and [`several`] what stands beside each other. Pure functions: nothing here measures, reads a file or prints.

pub mod diagnosis;
pub mod finding;
pub mod limit;
pub mod live;
pub mod printed;
pub mod rules;
pub mod saved;
pub mod several;
pub mod words;

pub use ablaze_model::finding::{DiagnosisId, Finding, Limit, Limited, Severity, Verdict};
pub use diagnosis::Diagnosis;
