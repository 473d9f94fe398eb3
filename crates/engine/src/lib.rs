//! Turns a [`Plan`](ablaze_model::Plan) into a [`Run`](ablaze_model::Run): workers, their connections
//! and exchanges, their recorders.
//!
//! Reading order: `ablaze-model` (what is asked, what is kept, what comes out), [`launch`] (the threads),
//! `worker` (how it is done), `recorder` (how it is kept). The worker knows no system call; it acts through the
//! seam of `ablaze-net` and is tested against its simulated driver.

mod arrivals;
mod connection;
mod fault;
mod gate;
pub mod launch;
mod outbox;
mod recorder;
mod schedule;
pub mod transport;
mod worker;

pub use launch::{Control, LaunchError, Progress, run, run_simulated, run_simulated_at_once};
