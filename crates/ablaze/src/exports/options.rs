//! The options of what a run hands out while it lasts.

use clap::Args;

use crate::values;

/// What leaves a run while it lasts.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "While it runs")]
pub struct ExportOptions {
    /// Length of intervals: -o run.ndjson [default: 100ms]
    #[arg(long, value_name = "TIME", value_parser = interval_ns)]
    pub interval: Option<u64>,
}

impl ExportOptions {
    /// The option of these that was given, if one was: for what is no single run.
    pub fn given(&self) -> Option<&'static str> {
        self.interval.is_some().then_some("--interval")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_made_of_what_workers_hand_over() {
        assert_eq!(interval_ns("1s"), Ok(1_000_000_000));
        assert!(interval_ns("50ms").is_err() && interval_ns("150ms").is_err());
    }
}
