//! Who works in a server and since when: what `/_/status` and the report at the end are made of.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::counters::{Counters, Counts};
use crate::routes::shop::counts::RouteCounts;

/// The threads of a server with their counters.
#[derive(Debug)]
pub struct Registry {
    started: Instant,
    workers: OnceLock<Vec<Entry>>,
    routes: OnceLock<Arc<RouteCounts>>,
}

/// One thread of the server.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name: `serve-0`, or `accept` for the accepting thread.
    pub name: String,
    /// The counters of the thread.
    pub counters: Arc<Counters>,
}

impl Default for Registry {
    fn default() -> Self {
        Self { started: Instant::now(), workers: OnceLock::new(), routes: OnceLock::new() }
    }
}

impl Registry {
    /// Names the threads, once, before any of them runs.
    pub fn set(&self, workers: Vec<Entry>) {
        // Set once, by the server's start.
        let _ = self.workers.set(workers);
    }

    /// The threads.
    pub fn workers(&self) -> &[Entry] {
        self.workers.get().map_or(&[], Vec::as_slice)
    }

    /// Names what an application counts, once.
    pub fn set_routes(&self, routes: Arc<RouteCounts>) {
        // Set once, by the server's start.
        let _ = self.routes.set(routes);
    }

    /// How often the routes of an application were answered; nothing without one.
    pub fn routes(&self) -> Option<&RouteCounts> {
        self.routes.get().map(Arc::as_ref)
    }

    /// How long the server has been up, ns.
    pub fn uptime_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// The sum over all threads.
    pub fn total(&self) -> Counts {
        let read = self.workers().iter().map(|worker| worker.counters.read());
        read.fold(Counts::default(), |sum, counts| sum + counts)
    }
}
