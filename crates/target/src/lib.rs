//! Servers to load.
//!
//! Reading order: [`handler`] (what a request is answered with) and [`routes`] (the answers of
//! `ablaze serve`); [`protocol`] (what a connection speaks, without I/O: [`http1`], [`http2`], and
//! [`tls`] around them); [`models`], the I/O models that serve it, by what they share
//! ([`event_loop`]; [`conversation`] for [`blocking`] and [`fibers`]); [`accepting`], how
//! connections come to the workers; [`server`] puts it together. [`conditions`] make a server slow or faulty on purpose;
//! [`own_pages`] tell what it does.
//!
//! The built-in server:
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
//!
//! A server of one's own, under the model of one's choice, with `/_/status`, delays and faults
//! (`examples/own_server.rs` takes the model from the command line):
//!
//! ```
//! use ablaze_target::handler::{Answer, Handler, Reply, Request};
//! use ablaze_target::{Model, Options, Server};
//!
//! struct Greeter;
//!
//! impl Handler for Greeter {
//!     fn reply<'a>(&'a self, request: &Request<'a>) -> Reply<'a> {
//!         match request.path {
//!             b"/greet" => Answer::text(200, "hello\n").into(),
//!             _ => Answer::text(404, "ask for /greet\n").into(),
//!         }
//!     }
//! }
//!
//! let address = "127.0.0.1:0".parse()?;
//! let model = Model::from_name("epoll-et").ok_or("there is no such model")?;
//! let server = Server::start_with(Options { address, model, ..Options::default() }, Greeter)?;
//! # use std::io::{Read, Write};
//! # let mut client = std::net::TcpStream::connect(server.address())?;
//! # client.write_all(b"GET /greet HTTP/1.0\r\n\r\n")?;
//! # let mut answer = String::new();
//! # client.read_to_string(&mut answer)?;
//! # assert!(answer.ends_with("\r\n\r\nhello\n"));
//! server.stop()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Answers that are always the same are built before, with [`answer::FixedAnswer`], and cost no
//! allocation; bodies that are made as they leave are [`handler::Stream`]s.

pub mod accepting;
pub mod blocking;
pub mod conditions;
pub mod conversation;
pub mod counters;
pub mod event_loop;
pub mod fibers;
pub mod handler;
pub mod http1;
pub mod http2;
pub mod listener;
pub mod models;
pub mod options;
pub mod own_pages;
pub mod protocol;
pub mod registry;
pub mod routes;
mod sending;
pub mod server;
pub mod service;
pub mod tls;

pub use counters::Counts;
pub use http1::{answer, filler};
pub use models::Model;
pub use options::Options;
pub use server::{Running, Server, StartError};
