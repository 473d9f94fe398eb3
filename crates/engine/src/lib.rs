//! Turns a [`Plan`] into a [`Run`]: workers, their connections and exchanges, their recorders.
//!
//! Reading order: [`plan`] (what is asked), `worker` (how it is done), [`record`] (what is
//! kept of it), [`mod@run`] (what comes out). The worker knows no system call; it acts through the
//! seam of `ablaze-net` and is tested against its simulated driver.

mod arrivals;
mod connection;
pub mod failure;
mod gate;
pub mod launch;
mod outbox;
pub mod plan;
pub mod record;
mod recorder;
pub mod run;
mod schedule;
pub mod transport;
mod worker;

pub use failure::FailureKind;
pub use launch::{Control, LaunchError, Progress, run, run_simulated, run_simulated_at_once};
pub use plan::Plan;
pub use record::{Phases, Record};
pub use run::Run;
