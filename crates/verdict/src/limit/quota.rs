//! The limit of a Run in which a control group used up its CPU quota in most periods.

use ablaze_model::Run;

use super::{Limit, Limited};
use crate::live::quota;
use crate::words::listed;

/// That of the client's group bounds the server, too, where both are in it.
pub(super) fn limit(run: &Run) -> Option<Limited> {
    let sides = [("client", quota::of_client(run)), ("server", quota::of_server(run))];
    let bound = sides.into_iter().filter_map(|(side, throttled)| {
        let often = quota::how_often(throttled.filter(|throttled| quota::bounds(*throttled))?);
        Some(format!("the {side}'s control group used it up in {often}"))
    });
    let bound: Vec<String> = bound.collect();
    let evidence = (!bound.is_empty()).then(|| listed(bound))?;
    Some(Limited { by: Limit::CpuQuota, evidence })
}
