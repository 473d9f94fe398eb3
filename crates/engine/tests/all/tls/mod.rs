//! TLS over the simulated driver, against rustls's own server in the same process: no socket, no
//! clock, every byte split wherever it can be.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod authority;
mod bodies;
mod certificates;
mod farewell;
mod handshakes;
mod hostile;
mod peer;
mod pieces;
mod spoken;
mod tunnels;

use crate::simulated::plans;
