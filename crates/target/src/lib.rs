//! HTTP servers to load, under one handler and several I/O models.
//!
#![doc = include_str!("../README.md")]
//!
//! Responses that are always the same are built before, with [`response::FixedResponse`], and cost no
//! allocation; bodies that are made as they leave are [`handler::Stream`]s. [`Options`] has everything that a server
//! can be told, [`conditions`] what makes it slow or faulty on purpose. Every server tells what it does under `/_/status` and
//! how it is set up under `/_/config`, whatever its handler.
//!
//! Modules that are not listed are for this workspace and change without notice.

// Inside, reading order: `handler` and `routes` (the responses of `ablaze serve`); `protocol` (what a connection speaks,
// without I/O: `http1`, `http2`, and `tls` around them; `http3`, which has datagrams, beside it); `models`, the I/O models that serve it, by what they share
// (`event_loop`; `conversation` for `blocking` and `fibers`); `accepting`, how connections come to the workers; `server`
// puts it together.

pub mod accepting;
#[doc(hidden)]
pub mod blocking;
pub mod conditions;
#[doc(hidden)]
pub mod conversation;
pub mod counters;
#[doc(hidden)]
pub mod event_loop;
#[doc(hidden)]
pub mod fibers;
pub mod handler;
pub mod health;
#[doc(hidden)]
pub mod http1;
#[doc(hidden)]
pub mod http2;
#[doc(hidden)]
pub mod http3;
#[doc(hidden)]
pub mod listener;
#[doc(hidden)]
pub mod models;
pub mod options;
#[doc(hidden)]
pub mod own_pages;
#[doc(hidden)]
pub mod protocol;
#[doc(hidden)]
pub mod registry;
#[doc(hidden)]
pub mod routes;
mod sending;
pub mod server;
#[doc(hidden)]
pub mod service;
mod stop;
pub mod tls;
mod udp;

pub use counters::Counts;
pub use health::Health;
pub use http1::{filler, response};
pub use models::Model;
pub use options::Options;
pub use server::{Running, Server, StartError};
