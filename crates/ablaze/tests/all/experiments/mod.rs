//! `ablaze compare`, `sweep`, `find`, `run` and `report` as processes: what they keep, what they
//! print, how they go on after Ctrl-C, and what a target that dies takes away. Nothing here depends
//! on how fast this machine is.

#![allow(clippy::unwrap_used)]

mod comparing;
mod dying;
mod files;
mod finding;
mod interrupting;
mod keeping;
mod saved;
pub mod support;
mod sweeping;
mod typed;
