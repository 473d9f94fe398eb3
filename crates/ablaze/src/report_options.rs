//! The options that say how a run is judged and what becomes of its report. They are the same for all who take native
//! options, for `ablaze report` and for what writes reports.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::profile::{self, Sides};
use crate::values;

/// Judging and reporting.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Report")]
pub struct ReportOptions {
    /// Expected statuses [default: 2xx,3xx]
    #[arg(long, value_name = "STATUSES", value_parser = statuses)]
    pub expect: Option<StatusList>,
    /// Save the report to a file, in the format of its extension. Repeatable
    #[arg(short, long = "output", value_name = "FILE")]
    pub outputs: Vec<PathBuf>,
    /// Format of `-o -`, which prints that instead of the report
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    /// Exit with status 3 if this holds, such as 'p99>50ms'. Repeatable
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    /// Status 3 unless these hold, such as 'login.p99<300ms,errors<1%'
    #[arg(long, value_name = "CONDITIONS")]
    pub slo: Vec<String>,
    /// Exit with status 4 if the verdict is INVALID
    #[arg(long, action = ArgAction::SetTrue)]
    pub strict: bool,
    /// Show the evidence of rules that found nothing, too
    #[arg(long, action = ArgAction::SetTrue)]
    pub explain: bool,
    /// Print no progress
    #[arg(long, action = ArgAction::SetTrue)]
    pub quiet: bool,
    /// Show the run on the whole terminal [default: from 80×24 on]
    #[arg(long, action = ArgAction::SetTrue, conflicts_with_all = ["no_live", "quiet"])]
    pub live: bool,
    /// Show progress as one line
    #[arg(long, action = ArgAction::SetTrue)]
    pub no_live: bool,
    /// Run once more and profile target, client or both: flame graphs
    #[arg(long, value_name = "WHOM", value_parser = profile::sides, num_args = 0..=1,
          require_equals = true, default_missing_value = "target")]
    pub profile: Option<Sides>,
}

/// Statuses from one option.
#[derive(Debug, Clone)]
pub struct StatusList(pub Vec<RangeInclusive<u16>>);

fn statuses(text: &str) -> Result<StatusList, String> {
    values::statuses(text).map(StatusList)
}
