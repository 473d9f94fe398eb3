//! TLS over the simulated driver, against rustls's own server in the same process: no socket, no
//! clock, every byte split wherever it can be. `sockets` is over those of this machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bodies;
mod certificates;
mod close_notify;
mod handshakes;
mod hostile;
mod pieces;
mod sockets;
mod spoken;
mod tunnels;
mod whole_requests;

use crate::simulated::plans;
