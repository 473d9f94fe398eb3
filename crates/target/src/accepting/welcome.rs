//! What is done to a single connection's socket, whatever model serves it.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::{getpeername, getsockname, sockopt};

use crate::conditions::PerAccept;

/// Does with a new connection what the options ask for besides serving it. Every model calls it
/// once per connection.
#[inline]
pub fn welcome(connection: impl AsFd, per_accept: PerAccept) {
    if per_accept == PerAccept::Sylar {
        as_sylar_does(connection);
    }
}

/// Closing the socket from now on sends a reset: what it holds is dropped (socket(7), SO_LINGER).
pub fn reset_on_close(connection: impl AsFd) {
    // If it fails, the client sees an ordinary close; there is nothing else to be done.
    let _ = sockopt::set_socket_linger(connection, Some(Duration::ZERO));
}

/// Four system calls whose results nobody needs: that is what is measured.
#[cold]
fn as_sylar_does(connection: impl AsFd) {
    let connection = connection.as_fd();
    let _ = sockopt::set_socket_reuseaddr(connection, true);
    let _ = sockopt::set_tcp_nodelay(connection, true);
    let _ = getsockname(connection);
    let _ = getpeername(connection);
}
