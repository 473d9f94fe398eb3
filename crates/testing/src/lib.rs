//! What the tests of several crates share. Nothing but tests depends on it, and it is never published: a
//! crate names it as a dev-dependency by its path alone.
//!
//! Reading order: [`process`] (programs that are started with known signals, bounded, and ended), [`scratch`]
//! (files and folders of a test's own), [`ports`] (for servers), [`repository`] (its documents and saved runs),
//! [`skip`] (what cannot be tested here is listed by name and reason), [`allocations`] (an allocator that counts), [`client`] (a connection that judges nothing), [`experiments`] (a
//! small one, with figures), [`hostile`] (a server that misbehaves in every way there is, for
//! tests of clients). `tests/tidy.rs` enforces the rules of CONTRIBUTING.md that a program can check.

// A test that cannot go on panics, and so does what it calls.
#![allow(clippy::unwrap_used)]

pub mod allocations;
pub mod browser;
pub mod client;
pub mod driven_browser;
pub mod experiments;
pub mod hostile;
pub mod ports;
pub mod process;
pub mod repository;
pub mod scratch;
pub mod skip;

pub use driven_browser::DrivenBrowser;
pub use process::{Bounded, Ran, Running};
pub use scratch::{Scratch, ScratchFile};
