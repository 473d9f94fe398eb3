//! Which way connections go to the server, if not straight to its address.

use std::path::PathBuf;

use ablaze_model::spec::ConnectTo;
use clap::Args;

use crate::values::{self, ProxyAsked};

/// Another address, a Unix socket or a proxy.
#[derive(Debug, Default, Args)]
pub struct WayOptions {
    /// Connect elsewhere: ADDR:PORT or HOST:PORT:ADDR:PORT. Repeatable
    #[arg(long, value_name = "WHERE", value_parser = values::connect_to)]
    pub connect_to: Vec<ConnectTo>,
    /// Connect to this Unix socket
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<PathBuf>,
    /// The HTTP proxy to go through.
    #[arg(long, help = "Use this HTTP proxy: [http://][NAME:PASSWORD@]HOST:PORT", value_name = "PROXY", value_parser = values::proxy,
          conflicts_with_all = ["unix_socket", "connect_to"])]
    pub proxy: Option<ProxyAsked>,
}
