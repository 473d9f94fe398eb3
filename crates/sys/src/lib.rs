//! The operating system as ablaze sees it: the clock, this thread's CPU time, CPU affinity, limits, signals, facts about
//! the machine. Thin, safe functions; what the platform does not offer is `None`, never zero.

pub mod affinity;
pub mod clock;
pub mod entropy;
pub mod group;
pub mod inherited;
pub mod interfaces;
pub mod keeper;
pub mod limits;

pub mod local_time;
pub mod machine;
pub mod quota;
pub mod signals;
pub mod standard;
pub mod terminal;
pub mod timer_slack;
pub mod usage;

pub use affinity::{allowed_cpus, pin_thread};
pub use interfaces::is_local_address;
pub use usage::{RunDelay, ThreadUsage, peak_memory_bytes, thread_usage};
