//! The I/O seam of ablaze: everything that moves wire bytes, and nothing else.
//!
//! [`driver`] defines the seam: a [`Driver`] moves bytes for numbered slots, a [`Handler`] (the
//! engine's worker) reacts, an [`Io`] is what the handler may do. Behind it: [`epoll`], [`uring`]
//! and [`sim`] (a simulated network and clock for tests). [`endpoint`] says where connections
//! go and with which socket options; [`socket`] makes them. Protocols, statistics and
//! schedules live above, in the engine.

pub mod driver;
pub mod endpoint;
pub mod epoll;
mod leases;
mod low_water;
mod outbox;
pub mod sim;
pub mod socket;
mod udp;
pub mod uring;
pub mod waker;
mod watch;

pub use driver::{
    CloseHow, CloseReason, DatagramCounts, Datagrams, Driver, Handler, Io, OutBuffer, OutDatagrams,
    Outgoing, Receive, Slot, Traffic, Turn, Wait,
};
pub use endpoint::{Address, Endpoint, SocketOptions};
