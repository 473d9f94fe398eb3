//! HTTP/3 as a server has it, sans I/O: an [`Endpoint`] takes the datagrams of one socket and has those that are to leave; its
//! [`Connection`]s tell what came on their streams and take what is to be sent. What requests mean and how they are
//! answered is a [`Conversation`], which the owner brings.
//!
//! Several endpoints behind one port share their [`Settings`]: a token of a Retry and a stateless reset that one of them
//! made are good for all (RFC 9000, 8.1.2 and 10.3).

mod connection;
mod datagrams;
mod endpoint;
mod settings;
mod timers;

pub use connection::{Connection, Event};
pub use datagrams::{Datagram, Transmit};
pub use endpoint::{Conversation, Counts, Endpoint};
pub use settings::{Settings, SettingsError};
