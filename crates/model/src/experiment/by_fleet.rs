//! Several machines that carry out each run of an experiment together.

use std::net::{IpAddr, Ipv4Addr};

use serde::{Deserialize, Serialize};

/// Who carries each run out, and how they reach the targets that are started here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByFleet {
    /// Where the workers are, in the words of `--fleet`.
    pub at: String,
    /// How many there are.
    pub workers: u32,
    /// Whether the others go on where a worker is lost. Else the run has failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// The address of this machine at which targets that are started here listen; `None` for 127.0.0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_address: Option<IpAddr>,
}

impl ByFleet {
    /// Where targets that are started here listen.
    pub fn listens(fleet: Option<&Self>) -> IpAddr {
        fleet.and_then(|fleet| fleet.target_address).unwrap_or(Ipv4Addr::LOCALHOST.into())
    }
}
