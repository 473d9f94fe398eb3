//! The option of the page.

use std::net::SocketAddr;

use clap::Args;

use crate::values;

/// Whether there is a page, and where.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct WebOptions {
    /// Show it in a browser while it runs [default: a port of 127.0.0.1]
    #[arg(long, value_name = "ADDRESS", value_parser = address, num_args = 0..=1,
          require_equals = true, default_missing_value = "0", help_heading = "While it runs")]
    pub web: Option<SocketAddr>,
}

/// `8089`, `:8089` or `0.0.0.0:8089`; without a host only this machine can come.
fn address(text: &str) -> Result<SocketAddr, String> {
    values::listening(text, "8089")
}
