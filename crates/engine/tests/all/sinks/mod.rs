//! Bodies as a sink sees them: every byte, in order, once, however it was framed and cut, over both
//! protocols, in plain and in TLS, over simulated and real sockets.

// Tests through and through; clippy knows only functions marked #[test] for such.
#![allow(clippy::unwrap_used, clippy::panic)]

mod broken;
mod checking;
mod far_ends;
mod http1_server;
mod http2_server;
mod simulated;
mod sockets;

use crate::simulated::plans;
