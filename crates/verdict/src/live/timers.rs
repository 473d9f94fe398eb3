//! Crowds in a distribution of times: answers that a timer of TCP held up come all as late as that
//! timer, and stand apart from the others.

use ablaze_stats::Latency;

/// A crowd is that only with so many times the values of the strips beside it.
const APART: u64 = 4;

/// The values of a strip of a distribution, and those beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// In the strip.
    pub count: u64,
    /// In a strip of the same width before it and one behind it.
    pub beside: u64,
}

impl Crowd {
    /// The values above `from_ns`, up to `to_ns`.
    pub fn of(times: &Latency, from_ns: u64, to_ns: u64) -> Self {
        let between = |from_ns: u64, to_ns: u64| {
            times.count_at_most(to_ns).saturating_sub(times.count_at_most(from_ns))
        };
        let width_ns = to_ns - from_ns;
        let before = between(from_ns.saturating_sub(width_ns), from_ns);
        Self { count: between(from_ns, to_ns), beside: before + between(to_ns, to_ns + width_ns) }
    }

    /// Whether it stands apart.
    pub fn stands_out(&self) -> bool {
        self.count > 0 && self.count >= APART * self.beside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_stands_apart_from_what_is_beside_it() {
        let mut times = Latency::new(4);
        times.record_many(1_000_000, 1000);
        times.record_many(41_000_000, 8);
        assert_eq!(Crowd::of(&times, 38_000_000, 46_000_000), Crowd { count: 8, beside: 0 });
        times.record(35_000_000);
        times.record(50_000_000);
        assert!(Crowd::of(&times, 38_000_000, 46_000_000).stands_out());
        times.record(51_000_000);
        assert!(!Crowd::of(&times, 38_000_000, 46_000_000).stands_out());
        assert!(!Crowd::of(&times, 60_000_000, 70_000_000).stands_out(), "nobody is no crowd");
    }
}
