//! Loads a URL from a Rust program or test, reports the figures, and says whether they are valid.
//!
#![doc = include_str!("../README.md")]
//!
//! # What is measured
//!
//! A run is a closed loop of [`connections`](Load::connections), each of which waits for its response before it
//! sends the next request, or with [`rate_per_s`](Load::rate_per_s) an open loop on a schedule, whose latencies count
//! from the moment at which each request was due. It ends after [`duration`](Load::duration) or
//! [`requests`](Load::requests), whichever comes first; with neither, after 10 s.
//!
//! An **error** is a request without a valid response: refused, reset, timeout, malformed. A response with a status outside
//! [`expect`](Load::expect) is **unexpected**, but not an error. A run that got no response at all is a [`Run`] whose
//! verdict is INVALID; [`Error`] is for loads that were not run.
//!
//! ```
//! use ablaze_load::{Error, Load};
//!
//! let refused = Load::url("ftp://127.0.0.1/").run().unwrap_err();
//! assert!(matches!(refused, Error::Usage(_)));
//! assert_eq!(refused.to_string(), "unsupported scheme ftp://: use http:// or https://");
//! ```
//!
//! # What a run does to the process
//!
//! It starts its own threads and ends them. It prints nothing, installs no signal handler and never ends the process; a
//! program that wants Ctrl-C to stop it early has a thread that waits for the signal and calls [`Stop::now`] (which locks, and so is
//! not for a signal handler itself). It **raises the soft limit of
//! open files** (`RLIMIT_NOFILE`) as far as the connections need, within the hard limit, and leaves it there. Beside the
//! run, a thread reads `/proc` and the kernel's counters of connections, so that the verdict can say what limited the
//! rate; [`monitored(false)`](Load::monitored) does without.
//!
//! Linux only: the engine waits with io_uring or epoll.

#[doc(hidden)]
pub mod carry_out;
mod error;
mod load;
#[doc(hidden)]
pub mod planning;
mod run;
mod server_words;
mod stop;

pub use ablaze_model::spec::HttpVersion;
pub use ablaze_report::file::FileError;
pub use ablaze_verdict::{DiagnosisId, Finding, Limit, Limited, Severity, Verdict};
pub use error::Error;
pub use load::Load;
pub use run::{LoadError, Run};
pub use stop::Stop;

/// The types below this crate, for what it does not show itself: a load as data that can be saved and shared out to
/// machines, and everything that a run recorded. They change more often than this crate does.
pub mod model {
    pub use ablaze_model::spec::{LoadSpec, Secrets};
    pub use ablaze_model::{Record, Run};
}

/// The example of docs/library.md is compiled as those of this crate are.
#[cfg(doctest)]
#[doc = include_str!("../library.md")]
struct Guide;
