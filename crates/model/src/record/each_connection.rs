//! What each connection of a run came to, as distributions over the connections.

use ablaze_stats::Latency;

/// Distributions with one value for each connection.
#[derive(Debug, Clone)]
pub struct EachConnection {
    /// From the first SYN to the first byte of the first response, ns.
    pub first_byte: Latency,
    /// Responses in 1000 s, from the first SYN to the end of the connection or the run.
    pub rates: Latency,
}

impl EachConnection {
    /// A connection that began at `opened_ns` and ended at `at` had so many responses.
    pub fn ended(&mut self, responses: u64, opened_ns: u64, at: u64) {
        if opened_ns > 0 && at > opened_ns {
            let rate = responses as f64 * 1e12 / (at - opened_ns) as f64;
            self.rates.record(rate as u64);
        }
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        let Self { first_byte, rates } = other;
        self.first_byte.merge(first_byte);
        self.rates.merge(rates);
    }
}

impl Default for EachConnection {
    fn default() -> Self {
        Self { first_byte: Latency::new(3), rates: Latency::new(4) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_kept_in_thousandths_and_added_up_over_workers() {
        let mut one = EachConnection::default();
        // 45 responses in 2 s.
        one.ended(45, 1_000_000_000, 3_000_000_000);
        // It never stood.
        one.ended(0, 0, 3_000_000_000);
        let mut other = EachConnection::default();
        other.ended(0, 1, 2);
        one.merge(&other);
        assert_eq!(
            (one.rates.count(), one.rates.min_ns(), one.rates.max_ns()),
            (2, Some(0), Some(22_500))
        );
    }
}
