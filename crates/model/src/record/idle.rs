//! Reused connections that the far end ended before it responded on them, and how long they had been idle by then.

/// Connections that had responded before, and that the far end closed or reset without another byte of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndedIdle {
    /// Requests that failed because of it, as they may not be sent again: what a POST does might be done twice
    /// (RFC 9110, section 9.2.2), or none is to be. Idle until the request was sent; 0 where it was sent at once.
    pub failed: IdleTimes,
    /// How many of these connections were reset instead of closed.
    pub failed_by_reset: u64,
    /// Connections that ended while no request was on them. Idle until then.
    pub unused: IdleTimes,
}

/// How often, and how long each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IdleTimes {
    /// How many there were.
    pub count: u64,
    /// The sum of their idle times.
    pub total_ns: u64,
    /// The shortest of them; 0 where there was none.
    pub shortest_ns: u64,
    /// The longest of them.
    pub longest_ns: u64,
}

impl EndedIdle {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self { failed, failed_by_reset, unused } = other;
        self.failed.merge(failed);
        self.failed_by_reset += failed_by_reset;
        self.unused.merge(unused);
    }
}

impl IdleTimes {
    /// Counts one that had been idle for so long.
    pub fn note(&mut self, idle_ns: u64) {
        self.merge(Self { count: 1, total_ns: idle_ns, shortest_ns: idle_ns, longest_ns: idle_ns });
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        let Self { count, total_ns, shortest_ns, longest_ns } = other;
        self.shortest_ns = match (self.count, count) {
            (0, _) => shortest_ns,
            (_, 0) => self.shortest_ns,
            _ => self.shortest_ns.min(shortest_ns),
        };
        self.count += count;
        self.total_ns = self.total_ns.saturating_add(total_ns);
        self.longest_ns = self.longest_ns.max(longest_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_workers_come_to_what_one_would_have_counted() {
        let of = |idle_ns: &[u64]| {
            let mut times = IdleTimes::default();
            idle_ns.iter().for_each(|idle_ns| times.note(*idle_ns));
            times
        };
        for (here, there) in [(&[3, 5][..], &[4, 9][..]), (&[], &[7]), (&[7], &[])] {
            let mut merged = of(here);
            merged.merge(of(there));
            assert_eq!(merged, of(&[here, there].concat()));
        }
    }
}
