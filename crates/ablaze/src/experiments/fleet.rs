//! Experiments whose runs several machines carry out together: the options, the keys of a file, and what of the rest has
//! to fit.

use std::net::IpAddr;

use ablaze_fleet::Lost;
use ablaze_model::LoadSpec;
use ablaze_model::experiment::{ByFleet, Placement, Target, Tool};
use clap::Args;

use crate::CommandError;
use crate::fleet::{self, Place, Session};

/// Who carries each run out.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Fleet")]
pub struct FleetOptions {
    /// Share each run: ssh:a,b, slurm:3, exec:3, k8s or docker
    #[arg(long, value_name = "WHERE", value_parser = is_place)]
    pub fleet: Option<String>,
    /// When a worker is lost: fail (the run) or go-on [default: fail]
    #[arg(long, value_name = "WHAT", value_parser = fleet::lost)]
    pub lost: Option<Lost>,
    /// Address at which workers reach targets started here
    #[arg(long, value_name = "ADDRESS")]
    pub target_address: Option<IpAddr>,
}

/// The text, if it says where workers are.
///
/// # Errors
/// When it does not: what it can be.
pub fn is_place(text: &str) -> Result<String, String> {
    Place::parse(text).map(|_| text.to_owned())
}

impl FleetOptions {
    /// The fleet that is asked for.
    ///
    /// # Errors
    /// When the file with its hosts cannot be read, or an option is about a fleet that is not asked for.
    pub fn asked(&self) -> Result<Option<ByFleet>, CommandError> {
        let Some(at) = &self.fleet else {
            let idle = self.lost.map(|_| "--lost");
            return match idle.or(self.target_address.map(|_| "--target-address")) {
                Some(option) => Err(CommandError::usage(format!(
                    "{option} has no effect without --fleet: add --fleet, or remove it"
                ))),
                None => Ok(None),
            };
        };
        let workers = place(at)?.count()? as u32;
        let goes_on = self.lost == Some(Lost::GoOn);
        let target_address = self.target_address;
        Ok(Some(ByFleet { at: at.clone(), workers, goes_on, target_address }))
    }

    /// The same, with what is not asked for here as a file says it.
    #[must_use]
    pub fn or(&self, file: &Self) -> Self {
        Self {
            fleet: self.fleet.clone().or_else(|| file.fleet.clone()),
            lost: self.lost.or(file.lost),
            target_address: self.target_address.or(file.target_address),
        }
    }
}

fn place(at: &str) -> Result<Place, CommandError> {
    Place::parse(at).map_err(|why| CommandError::usage(format!("--fleet {at}: {why}")))
}

/// Workers for the runs of an experiment, none of which is started yet.
///
/// # Errors
/// When it does not say where they are.
pub fn session(fleet: &ByFleet) -> Result<Session, CommandError> {
    let lost = if fleet.goes_on { Lost::GoOn } else { Lost::Fail };
    Ok(Session::new(place(&fleet.at)?, lost))
}

/// Whether a fleet can carry these loads out on these targets.
///
/// # Errors
/// When there is less of something than there are workers, or a target that they cannot reach or load.
pub fn fits<'a>(
    fleet: &ByFleet,
    targets: impl IntoIterator<Item = &'a Target>,
    loads: impl IntoIterator<Item = &'a LoadSpec>,
) -> Result<(), CommandError> {
    let is_here = place(&fleet.at)?.is_this_machine();
    for target in targets {
        let name = &target.name;
        if target.client != Tool::Ablaze {
            let tool = target.client.name();
            return Err(CommandError::usage(format!(
                "{name} is loaded by {tool}, which --fleet cannot do: remove one of them"
            )));
        }
        if target.is_started_here() && !is_here && fleet.target_address.is_none() {
            return Err(CommandError::usage(format!(
                "{name} is started on this machine, and workers elsewhere cannot reach 127.0.0.1 of it: say with \
                 --target-address at which of its addresses they can"
            )));
        }
    }
    loads.into_iter().try_for_each(|load| fleet::check(load, fleet.workers))
}

/// The processors of targets alone: numbers of this machine's mean nothing on others, and several workers on one machine
/// would all be put on the same.
pub fn placement(placement: Placement, fleet: Option<&ByFleet>) -> Placement {
    match fleet {
        Some(_) => Placement { client: Vec::new(), ..placement },
        None => placement,
    }
}
