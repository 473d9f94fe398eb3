//! Servers to load.
//!
//! Reading order: [`handler`] (what a request is answered with) and [`routes`] (the answers of
//! `ablaze serve`); [`http1`] (one connection's protocol, without I/O); [`models`], the I/O models
//! that serve it, by what they share ([`event_loop`]); [`accepting`], how connections come to the
//! workers; [`server`] puts it together. [`conditions`] make a server slow or faulty on purpose;
//! [`hostile`] misbehaves in every way there is, for tests of clients.
//!
//! ```
//! use ablaze_target::{Options, Server};
//!
//! let options = Options { address: "127.0.0.1:0".parse()?, ..Options::default() };
//! let server = Server::start(options)?;
//! println!("http://{}/", server.address());
//! let served = server.stop()?;
//! assert_eq!(served.requests, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accepting;
pub mod conditions;
pub mod counters;
pub mod event_loop;
pub mod handler;
pub mod hostile;
pub mod http1;
pub mod listener;
pub mod models;
pub mod options;
pub mod own_pages;
pub mod registry;
pub mod routes;
pub mod server;
pub mod service;

pub use counters::Counts;
pub use http1::{answer, filler};
pub use models::Model;
pub use options::Options;
pub use server::{Running, Server, StartError};
