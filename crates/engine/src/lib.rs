//! Turns a [`Plan`](ablaze_model::Plan) into a [`Run`](ablaze_model::Run): workers, their connections
//! and exchanges, their recorders.
//!
//! Reading order: `ablaze-model` (what is asked, what is kept, what comes out), [`launch`] (the threads),
//! `control` (the handle on them) and `following` (what they hand over while they run), `worker` (slots, schedule, exchanges), `protocol` (what is said on
//! connections), [`sink`] (who sees bodies), [`walk`] (who says what is sent),
//! [`journey`] (the walk over a file of steps), `checking` (the one that checks responses), `listed` (the one over a list to several hosts), [`transport`] (what lies between), `recorder` (how it is kept). The
//! worker knows no system call; it acts through the seam of `ablaze-net` and is tested against its
//! simulated driver.

mod arrivals;
mod checking;
mod connection;
mod control;
mod endpoints;
mod fault;
mod following;
mod gate;
mod hold;
pub mod journey;
pub mod launch;
mod listed;
mod merging;
mod outbox;
mod protocol;
mod recorder;
mod sampling;
mod schedule;
mod shares;
pub mod sink;
pub mod transport;
pub mod walk;
mod worker;

pub use ablaze_model::Progress;
pub use control::Control;
pub use launch::{
    LaunchError, run, run_simulated, run_simulated_at_once, run_simulated_with_sinks,
    run_with_sinks,
};
