//! The built command, from the outside.

mod refusals;
mod runs;
mod support;
