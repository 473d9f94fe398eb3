//! Clusters in a distribution of times: responses that a timer of TCP held up come all as late as that
//! timer, and stand apart from the others.

use ablaze_stats::Latency;

/// So many times the values of the strip before it: a timer never ends early.
const TIMES_BEFORE: u64 = 4;
/// So many times the values of the strip behind it: who was held up by a timer may then have to wait
/// for a processor too.
const TIMES_BEHIND: u64 = 2;

/// The values of a strip of a distribution, and those of as wide a strip on each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// In the strip.
    pub count: u64,
    /// Before it.
    pub before: u64,
    /// Behind it.
    pub behind: u64,
}

impl Cluster {
    /// The values above `from_ns`, up to `to_ns`.
    pub fn of(times: &Latency, from_ns: u64, to_ns: u64) -> Self {
        let between = |from_ns: u64, to_ns: u64| {
            times.count_at_most(to_ns).saturating_sub(times.count_at_most(from_ns))
        };
        let width_ns = to_ns - from_ns;
        Self {
            count: between(from_ns, to_ns),
            before: between(from_ns.saturating_sub(width_ns), from_ns),
            behind: between(to_ns, to_ns + width_ns),
        }
    }

    /// Those on both sides.
    pub fn beside(&self) -> u64 {
        self.before + self.behind
    }

    /// Whether it stands apart.
    pub fn stands_out(&self) -> bool {
        self.count > 0
            && self.count >= TIMES_BEFORE * self.before
            && self.count >= TIMES_BEHIND * self.behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_stands_apart_from_what_is_beside_it() {
        let mut times = Latency::new(4);
        times.record_many(1_000_000, 1000);
        times.record_many(41_000_000, 8);
        let cluster = |times: &Latency| Cluster::of(times, 38_000_000, 46_000_000);
        assert_eq!(cluster(&times), Cluster { count: 8, before: 0, behind: 0 });
        times.record_many(35_000_000, 2);
        times.record_many(50_000_000, 4);
        assert_eq!(cluster(&times), Cluster { count: 8, before: 2, behind: 4 });
        assert!(cluster(&times).stands_out());
        let mut more = times.clone();
        more.record(35_000_000);
        assert!(!cluster(&more).stands_out());
        times.record(50_000_000);
        assert!(!cluster(&times).stands_out());
        assert!(!Cluster::of(&times, 60_000_000, 70_000_000).stands_out(), "nobody is no cluster");
    }
}
