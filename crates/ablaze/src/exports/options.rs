//! The options of what a run hands out while it lasts.

use std::net::SocketAddr;

use clap::Args;

use crate::error::note;
use crate::values;
use crate::web::WebOptions;

/// The port of `--prometheus` alone, which OpenTelemetry's exporters for Prometheus have, too.
const PORT: &str = "9464";

/// Where collectors listen unless told otherwise (OTLP specification, "OTLP/HTTP Default Port").
const COLLECTOR: &str = "http://localhost:4318";

/// What leaves a run while it lasts.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "While it runs")]
pub struct ExportOptions {
    /// Length of intervals [default: 100ms; 10s for --otlp]
    #[arg(long, value_name = "TIME", value_parser = interval_ns)]
    pub interval: Option<u64>,
    /// Serve metrics to Prometheus at /metrics [default: 127.0.0.1:9464]
    #[arg(long, value_name = "ADDRESS", value_parser = address, num_args = 0..=1,
          require_equals = true, default_missing_value = PORT)]
    pub prometheus: Option<SocketAddr>,
    /// Send metrics to a collector by OTLP [default: http://localhost:4318]
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true,
          default_missing_value = COLLECTOR)]
    pub otlp: Option<String>,
    /// The page in browsers.
    #[command(flatten)]
    pub web: WebOptions,
    /// Wait so long at the end for the final figures to be fetched
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    pub linger: Option<u64>,
}

impl ExportOptions {
    /// The option of these that was given, if one was: for what is no single run.
    pub fn given(&self) -> Option<&'static str> {
        let Self { interval, prometheus, otlp, web, linger } = self;
        let given = [
            ("--interval", interval.is_some()),
            ("--prometheus", prometheus.is_some()),
            ("--otlp", otlp.is_some()),
            ("--web", web.web.is_some()),
            ("--linger", linger.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Says that a command with another tool's words hands nothing out while it runs, if it was asked to.
    pub fn note_no_effect(&self) {
        if let Some(option) = self.given() {
            note(&format!("{option} has no effect with another tool's options: use `ablaze load`"));
        }
    }
}

/// An interval, in ns: workers hand over what happened every 100 ms.
fn interval_ns(text: &str) -> Result<u64, String> {
    match values::duration_ns(text)? {
        ns if ns < 100_000_000 => Err("the shortest interval is 100ms".to_owned()),
        ns if ns % 100_000_000 != 0 => Err("use a multiple of 100ms".to_owned()),
        ns => Ok(ns),
    }
}

/// `9464`, `:9464` or `0.0.0.0:9464`.
fn address(text: &str) -> Result<SocketAddr, String> {
    values::listening(text, PORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_this_machine() {
        let shown = |text| address(text).map(|address| address.to_string());
        assert_eq!(shown("9464").as_deref(), Ok("127.0.0.1:9464"));
        assert_eq!(shown(":0").as_deref(), Ok("127.0.0.1:0"));
        assert_eq!(shown("localhost:1").as_deref(), Ok("127.0.0.1:1"));
        assert_eq!(shown("0.0.0.0:1").as_deref(), Ok("0.0.0.0:1"));
        assert_eq!(shown("[::1]:1").as_deref(), Ok("[::1]:1"));
        assert!(shown("http://x/").is_err() && shown("70000").is_err());
    }

    #[test]
    fn intervals_are_made_of_what_workers_hand_over() {
        assert_eq!(interval_ns("1s"), Ok(1_000_000_000));
        assert!(interval_ns("50ms").is_err() && interval_ns("150ms").is_err());
    }
}
