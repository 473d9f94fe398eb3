//! Servers to load.
//!
//! Reading order: [`handler`] (what a request is answered with) and [`routes`] (the answers of
//! `ablaze serve`), [`protocol`] (one connection's HTTP/1 without I/O, with [`upload`],
//! [`rendering`], [`answer`] and [`output`]), then one I/O model, epoll: [`connection`], [`event_loop`],
//! [`listener`], [`timers`]; [`server`] puts it together. [`hostile`] misbehaves on purpose, for
//! tests of clients.
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

pub mod answer;
pub mod connection;
pub mod counters;
pub mod date;
pub mod event_loop;
pub mod filler;
pub mod handler;
pub mod hostile;
pub mod listener;
pub mod options;
pub mod output;
pub mod protocol;
pub mod rendering;
pub mod routes;
pub mod server;
pub mod service;
mod slots;
pub mod timers;
pub mod upload;

pub use counters::Served;
pub use options::Options;
pub use server::{Running, Server, StartError};
