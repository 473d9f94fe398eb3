//! What a worker has done, for others to read while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one worker, alone on their cache lines. Only their worker writes them, so a plain
/// load and store is an addition.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Counters {
    requests: AtomicU64,
    connections: AtomicU64,
}

impl Counters {
    /// Requests were answered. For the worker only.
    #[inline]
    pub fn add_requests(&self, requests: u64) {
        add(&self.requests, requests);
    }

    /// Connections were accepted. For the worker only.
    #[inline]
    pub fn add_connections(&self, connections: u64) {
        add(&self.connections, connections);
    }

    /// What was served so far.
    pub fn read(&self) -> Served {
        Served {
            requests: self.requests.load(Ordering::Relaxed),
            connections: self.connections.load(Ordering::Relaxed),
        }
    }
}

#[inline]
fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

/// What a server has served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Served {
    /// Requests answered, refused ones included.
    pub requests: u64,
    /// Connections accepted.
    pub connections: u64,
}

impl std::ops::Add for Served {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            connections: self.connections + other.connections,
        }
    }
}
