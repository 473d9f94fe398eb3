//! Times of a driver as those that quinn-proto wants: nanoseconds behind an `Instant` that stands for 0. So simulated time
//! works as well as the machine's.

use std::time::{Duration, Instant};

/// The `Instant` of time 0.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// Times are told in relation to now, whatever they are.
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// The time of this many nanoseconds.
    #[inline]
    pub fn instant(self, ns: u64) -> Instant {
        self.0 + Duration::from_nanos(ns)
    }

    /// Nanoseconds of a time; 0 if it is before all others.
    #[inline]
    pub fn ns(self, instant: Instant) -> u64 {
        // 2^64 ns are 584 years.
        instant.saturating_duration_since(self.0).as_nanos() as u64
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}
