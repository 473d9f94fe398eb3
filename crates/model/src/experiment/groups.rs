//! The figures of a run as a whole and of each of its groups, steps and journeys, for conditions and for tables that show them
//! side by side.

/// What was measured of a run, a group or journeys.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupFigures {
    /// The name of the group, the step or the journeys; `None` is the run as a whole.
    pub name: Option<String>,
    /// Whether it is journeys: then whole journeys are counted, and not responses.
    pub is_journeys: bool,
    /// Complete responses.
    pub responses: u64,
    /// Exchanges that ended without a valid response.
    pub errors: u64,
    /// Responses outside the expected statuses; of journeys there are none.
    pub unexpected: Option<u64>,
    /// Responses per second.
    pub rate_per_s: Option<f64>,
    /// Mean time, ns.
    pub mean_ns: Option<f64>,
    /// The times below which [`GroupFigures::PERCENTILES`] of them stayed, ns; `None` where there are too few to tell.
    pub percentiles_ns: [Option<f64>; 5],
    /// The longest time, ns.
    pub max_ns: Option<f64>,
}

impl GroupFigures {
    /// The percentiles that are kept.
    pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

    /// One of these, ns.
    pub fn percentile_ns(&self, percent: f64) -> Option<f64> {
        let at = Self::PERCENTILES.iter().position(|kept| *kept == percent)?;
        self.percentiles_ns[at]
    }

    /// What shares are of.
    pub fn finished(&self) -> f64 {
        (self.responses + self.errors) as f64
    }
}
