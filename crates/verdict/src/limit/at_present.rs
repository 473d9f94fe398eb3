//! What bounds the rate while the run goes on, as far as its last second shows it. Said only of what needs no figure that
//! comes with the end: whether a full client worked or watched for events, its threads tell then.

use ablaze_model::finding::{Limit, Limited};

use super::{SERVER_FULL, asked};
use crate::live::figures::of_a_core;
use crate::words::amount;

/// The last second of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastSecond {
    /// Arrivals of an open loop that were due, per second.
    pub requested_per_s: Option<f64>,
    /// Responses per second.
    pub came_per_s: f64,
    /// The busiest thread of the server and how many it has, in shares of a core with the interrupts of its packets, where
    /// it can be observed.
    pub server: Option<(f64, usize)>,
}

/// What bounds it, where that can be told by now.
pub fn at_present(last: &LastSecond) -> Option<Limited> {
    let LastSecond { requested_per_s, came_per_s, server } = *last;
    if let Some(requested) = requested_per_s
        && requested > 0.0
        && came_per_s >= requested * asked::ASKED
    {
        let evidence =
            format!("{}/s requested, {} answered", amount(requested), amount(came_per_s));
        return Some(Limited { by: Limit::AskedRate, evidence });
    }
    let (busiest, threads) = server.filter(|(busiest, _)| *busiest >= SERVER_FULL)?;
    let of = match threads {
        1 => "its one thread".to_owned(),
        threads => format!("the busiest of its {threads} threads"),
    };
    let evidence = format!("{of} runs at {}", of_a_core(busiest));
    Some(Limited { by: Limit::Server, evidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_second_shows_is_said() {
        let by = |requested_per_s, came_per_s, server: f64| {
            let server = Some((server, 2));
            at_present(&LastSecond { requested_per_s, came_per_s, server })
                .map(|limited| limited.by)
        };
        // An open loop that gets what it asks for is bounded by that, whatever it costs.
        assert_eq!(by(Some(2_000.0), 1_990.0, 0.99), Some(Limit::AskedRate));
        assert_eq!(by(Some(2_000.0), 1_500.0, 0.99), Some(Limit::Server));
        assert_eq!(by(None, 90_000.0, 0.96), Some(Limit::Server));
        assert_eq!(by(None, 90_000.0, 0.8), None);
        assert_eq!(by(Some(0.0), 0.0, 0.1), None);
    }
}
