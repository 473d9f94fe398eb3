//! What leaves a run by itself, beside its report: what build servers are told.

pub mod github;
