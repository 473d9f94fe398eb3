//! What client and server may use of the CPUs, what was left there to others, and how long they waited.

use std::collections::BTreeSet;

use ablaze_model::Run;

use super::figures::{Busy, client, monitor, of_threads, processors, processors_allowed, server};

/// What a side may use of the CPUs.
pub(crate) struct Room {
    /// The CPUs that it may use.
    pub processors: f64,
    /// How much of these was left to others, and how much both sides used that run there, in cores.
    pub left: f64,
    pub used: f64,
    /// For how much of the time the thread of it that waited longest waited for one, and all of its threads together, in cores.
    pub waited: f64,
    pub waited_together: f64,
    /// For how much of the time a thread of it worked or waited for one.
    pub wanting: f64,
    /// The threads that worked there, of both sides.
    pub threads: usize,
}

/// The room of the client and of the server, as far as each is seen.
pub(crate) fn rooms(run: &Run) -> Vec<Room> {
    let Some(all) = processors(run) else { return Vec::new() };
    let (of_client, of_server) = processors_allowed(run).unwrap_or_default();
    let times = monitor(run).and_then(|monitor| monitor.kernel.processors);
    let (client, server) = (client(run), server(run));
    let room =
        |own: &BTreeSet<u32>, side: &Option<Busy>, other: &BTreeSet<u32>, beside: &Option<Busy>| {
            let side = side.as_ref()?;
            let is_all = own.is_empty() || own.len() as f64 >= all;
            // Whoever may use others as well need not have been here.
            let is_here = is_all || !other.is_empty() && other.is_subset(own);
            let beside = beside.as_ref().filter(|_| is_here);
            let used = (side.cores + beside.map_or(0.0, |busy| busy.cores)) / of_threads(times);
            let (processors, left) = match is_all {
                true => (all, all),
                false => (own.len() as f64, (own.len() as f64 - used).max(0.0)),
            };
            Some(Room {
                processors,
                left,
                used,
                waited: side.waited,
                waited_together: side.waited_together,
                wanting: side.wanting,
                threads: side.threads + beside.map_or(0, |busy| busy.threads),
            })
        };
    let rooms = [
        room(&of_client, &client, &of_server, &server),
        room(&of_server, &server, &of_client, &client),
    ];
    rooms.into_iter().flatten().collect()
}
