//! The facade as a program uses it: loads of servers in this process, and a program of its own outside of the
//! workspace.

#![allow(clippy::unwrap_used)]

mod dependencies;
mod figures;
mod handler;
mod outside;
mod refused;

use ablaze_target::{Options, Running, Server};

/// A built-in server on a free port, and a URL of it.
fn server(options: Options) -> (Running, String) {
    let address = "127.0.0.1:0".parse().unwrap();
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let server = Server::start(Options { address, threads: 1, ..options }).unwrap();
    let url = format!("{scheme}://{}", server.address());
    (server, url)
}
