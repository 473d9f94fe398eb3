//! Sampling the stacks of processes with perf_event_open(2): who ran on a processor, how often, and in
//! what function. A [`Recording`] is begun before a run and ended with the run's window, so that what it
//! gives is of exactly the measured time: samples carry CLOCK_MONOTONIC. It knows addresses and
//! mappings; names are given to them by the crate `profile`.

mod event;
mod maps;
mod profile;
mod record;
mod recording;
mod refusal;
mod ring;
mod unwind;

pub use maps::{Mapping, Maps, file_of};
pub use profile::{NotProfiled, Profile, ProfiledRun, Profiling, Stack, Whom};
pub use recording::{Chain, Recorded, Recording, Request};
pub use refusal::{Refused, refusal};
pub use unwind::STACK_BYTES;

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
