//! A run as data: what was asked for ([`LoadSpec`]), what it does ([`Plan`]), what its workers kept
//! ([`Record`]) and what came out ([`Run`]), with their merge, and what was found of it ([`finding`]);
//! and several runs of several targets ([`experiment`]). Nothing here opens a socket or reads a
//! clock: the engine fills these types, the verdict judges them, reports show them.

#[doc(hidden)]
pub mod by_hand;
pub mod certificate;
pub mod experiment;
pub mod failure;
pub mod finding;
pub mod fleet;
pub mod json_error;
pub mod moment;
pub mod monitor;
pub mod plan;
pub mod profiling;
pub mod progress;
pub mod rate_change;
pub mod record;
pub mod run;
pub mod saved;
pub mod spec;

/// The orders in which requests take the rows of a feed.
pub use ablaze_feed as feed;
pub use ablaze_wire::printable;
pub use failure::FailureKind;
pub use finding::Assessed;
pub use plan::Plan;
pub use progress::Progress;
pub use record::{Phases, Record};
pub use run::Run;
pub use spec::LoadSpec;
