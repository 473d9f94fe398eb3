//! The options of a load that several machines carry out.

use ablaze_fleet::Lost;
use clap::Args;

use super::Place;

/// Who carries the load out.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Fleet")]
pub struct FleetOptions {
    /// Share the load: ssh:a,b, k8s,image=I, docker:a,image=I, slurm:3, exec:3
    #[arg(long, value_name = "WHERE", value_parser = Place::parse)]
    pub fleet: Option<Place>,
    /// When a worker is lost: fail or go-on [default: fail]
    #[arg(long, value_name = "WHAT", value_parser = lost, requires = "fleet")]
    pub lost: Option<Lost>,
}

impl FleetOptions {
    /// Why another tool's command line cannot be shared among machines, where that was asked for.
    pub fn refused(&self) -> Option<&'static str> {
        let asked = self.fleet.is_some();
        asked.then_some("--fleet is an option of `ablaze load`, compare, sweep, find and run, not of this command")
    }
}

/// What becomes of a run of which a worker is lost.
///
/// # Errors
/// When it is neither.
pub fn lost(text: &str) -> Result<Lost, String> {
    match text {
        "fail" => Ok(Lost::Fail),
        "go-on" => Ok(Lost::GoOn),
        _ => Err("use fail or go-on".to_owned()),
    }
}
