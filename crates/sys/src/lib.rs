//! The operating system as ablaze sees it: the clock, this thread's CPU time, CPU affinity,
//! limits and facts about the machine. Thin, safe functions; what the platform does not offer is
//! `None`, never zero.

pub mod clock;
pub mod local_time;
