//! One load carried out by several machines. A fleet has a coordinator, which a person started, and workers, each an
//! `ablaze worker` that somebody's own launcher started elsewhere: ssh, Kubernetes, Slurm. They speak in lines of JSON over
//! the workers' standard input and output ([`message`], read by [`lines`]). This crate knows what is said and when
//! ([`coordinator`]), and how clocks are compared ([`clock`]); it opens no connection, starts no process and reads no clock.

pub mod clock;
pub mod coordinator;
pub mod lines;
pub mod message;

pub use clock::Clock;
pub use coordinator::{Action, Coordinator, Event, Lost, Outcome, Settings};
pub use message::{FromWorker, ToWorker};
