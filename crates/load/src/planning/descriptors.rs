//! Makes sure before the run that every connection can have its descriptor.

use ablaze_sys::limits::raise_descriptor_limit;

use crate::Error;
use crate::planning::OptionNames;

/// Descriptors a worker needs besides its connections: ring or epoll, wakers, timers, and spare
/// ones.
const PER_WORKER: u64 = 8;

/// Descriptors of the process itself: standard streams, output files, what it inherited.
const PER_PROCESS: u64 = 32;

/// Descriptors beside those for as many connections again that are over and wait for the server to close (the engine's
/// `shares`): without them they would be closed from here, and this machine would keep their ports in TIME_WAIT.
const PER_SPARES: u64 = 128;

/// Raises the soft limit as far as the run needs, and further for connections that wait for the server to close, as
/// far as the hard limit permits.
///
/// # Errors
/// When the hard limit does not permit what it needs.
pub fn make_sure_of(connections: u32, workers: u32, names: &OptionNames) -> Result<(), Error> {
    let needed = needed(connections, workers);
    match raise_descriptor_limit(needed + u64::from(connections) + PER_SPARES).soft {
        Some(limit) if limit < needed => {
            Err(too_few(connections, needed, limit, names.connections))
        }
        _ => Ok(()),
    }
}

/// Most connections of an open loop: what its descriptors and a table of moderate size permit.
pub fn most_connections() -> u32 {
    const MOST: u64 = 16_384;
    let limit = raise_descriptor_limit(MOST + 1024).soft.unwrap_or(1024);
    permitted(limit, ablaze_sys::allowed_cpus().map_or(1, |cpus| cpus.len() as u64)).min(MOST)
        as u32
}

/// What this limit leaves for connections beside what up to so many workers take.
fn permitted(limit: u64, workers: u64) -> u64 {
    let others = workers * PER_WORKER + PER_PROCESS;
    limit.saturating_sub(others.max(1024.min(limit / 4))).max(1)
}

/// Descriptors that a run with this many connections and threads takes.
pub fn needed(connections: u32, workers: u32) -> u64 {
    u64::from(connections) + u64::from(workers) * PER_WORKER + PER_PROCESS
}

fn too_few(connections: u32, needed: u64, limit: u64, option: &str) -> Error {
    let fewer = match limit.saturating_sub(needed - u64::from(connections)) {
        0 => String::new(),
        fits => format!("lower {option} to {fits}, or "),
    };
    Error::machine(format!(
        "{} {needed} descriptors, but this process is limited to \
         {limit}: {fewer}raise the limit as root (`ulimit -Hn {needed}`)",
        match connections {
            1 => "one connection needs".to_owned(),
            more => format!("{more} connections need"),
        }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_number_of_connections_always_fits() {
        for limit in [64, 100, 256, 1024, 1 << 20] {
            for workers in [1, 2] {
                let connections = permitted(limit, workers);
                assert!(needed(connections as u32, workers as u32) <= limit, "{limit}");
            }
        }
        assert_eq!(permitted(10, 4), 1);
    }

    #[test]
    fn the_fix_names_a_number_of_connections_that_fits() {
        let needed_for_5000 = needed(5000, 2);
        let line = too_few(5000, needed_for_5000, 1024, "-c").to_string();
        let fits = 1024 - (needed_for_5000 - 5000);
        assert!(line.contains(&format!("-c to {fits},")), "{line}");
        assert_eq!(needed(fits as u32, 2), 1024);
        // No number of connections fits.
        let line = too_few(50, 90, 40, "-c").to_string();
        assert!(line.contains("limited to 40: raise the limit"), "{line}");
    }
}
