//! How a load's connections are divided among its workers, and how many slots stand beside them.

use ablaze_model::plan::{Close, Plan};

/// The fewest connections that may wait for the server to close.
const SPARES: u32 = 16;
/// Descriptors of the process and its workers besides connections.
const DESCRIPTORS_BESIDE: u64 = 128;

/// Slots beside those of the load, for connections that wait for the server to close: as many where
/// every response ends one, some where a server may end them now and then. HTTP/2 and HTTP/3 announce no close.
pub(crate) fn spares(plan: &Plan) -> u32 {
    let connections = plan.load.connections();
    let wanted = match plan.connections.close {
        _ if plan.streams().is_some() => 0,
        Close::Await if !plan.connections.keep_alive => connections.max(SPARES),
        Close::Await => SPARES,
        Close::Fin | Close::Reset => 0,
    };
    // Each may take a descriptor, and one that the load needs must not be missing for it.
    let limit = ablaze_sys::limits::descriptor_limit().soft.unwrap_or(u64::MAX);
    let in_use = u64::from(connections) * u64::from(plan.origins());
    let left = limit.saturating_sub(in_use + DESCRIPTORS_BESIDE);
    wanted.min(u32::try_from(left).unwrap_or(u32::MAX))
}

/// Worker `worker`'s share of `total` among `count`: the first ones take what is left over.
pub(crate) fn share(total: u32, count: u32, worker: u32) -> u32 {
    total / count + u32::from(worker < total % count)
}
