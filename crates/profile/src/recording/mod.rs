//! Sampling the stacks of processes with perf_event_open(2): who ran on a processor, how often, and in
//! what function. A [`Recording`] is begun before a run and ended with the run's window, so that what it
//! gives is of exactly the measured time: samples carry CLOCK_MONOTONIC. It knows addresses and
//! mappings; [`symbols`](crate::symbols) gives them names.

mod event;
mod maps;
mod record;
mod refusal;
mod ring;
mod sampling;
mod unwind;

use ablaze_model::profiling::Refused;
pub use maps::{Mapping, Maps, file_of};
pub use refusal::refusal;
pub use sampling::{Chain, Recorded, Recording, Request};
pub(crate) use unwind::Tables;

/// Whether samples of this process can be taken, and with kernel stacks; opens an event and closes it.
///
/// # Errors
/// When the kernel forbids it.
pub fn permitted() -> Result<Permitted, Refused> {
    event::permitted()
}

/// What can be sampled here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permitted {
    /// The event that samples are taken by.
    pub event: &'static str,
    /// Whether samples have the kernel's part of the stack.
    pub kernel: bool,
}
