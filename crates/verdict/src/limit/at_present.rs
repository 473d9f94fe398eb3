//! What bounds the rate while the run goes on, as far as its last second shows it. Said only of what needs no figure that
//! comes with the end.

use ablaze_model::finding::{Limit, Limited};

use super::processors::SHARED_FULL;
use super::{CLIENT_FULL, SERVER_FULL, asked};
use crate::live::figures::of_a_core;
use crate::words::{amount, counted, percent};

/// The last second of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LastSecond {
    /// Arrivals of an open loop that were due, per second.
    pub requested_per_s: Option<f64>,
    /// Responses per second.
    pub came_per_s: f64,
    /// The threads that send and receive, without what they watched for events, where they can be observed.
    pub client: Option<Part>,
    /// The server, with the interrupts of its packets, where it can be observed.
    pub server: Option<Part>,
    /// Processors of the machine that are online.
    pub processors: Option<u32>,
}

/// How busy one side was, in shares of a core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// A share that its busiest thread reached.
    pub busiest: f64,
    /// All its threads together, in cores, with whatever they watched.
    pub cores: f64,
    /// How many they are.
    pub threads: usize,
}

/// What bounds it, where that can be told by now.
pub fn at_present(last: &LastSecond) -> Option<Limited> {
    let LastSecond { requested_per_s, came_per_s, server, .. } = *last;
    if let Some(requested) = requested_per_s
        && requested > 0.0
        && came_per_s >= requested * asked::ASKED
    {
        let evidence =
            format!("{}/s requested, {} answered", amount(requested), amount(came_per_s));
        return Some(Limited { by: Limit::AskedRate, evidence });
    }
    if let Some(server) = server.filter(|server| server.busiest >= SERVER_FULL) {
        let evidence = format!("{} runs at {}", busiest_of(server), of_a_core(server.busiest));
        return Some(Limited { by: Limit::Server, evidence });
    }
    shared(last).or_else(|| full_client(last))
}

/// The two together use all processors that there are.
fn shared(last: &LastSecond) -> Option<Limited> {
    let (client, server, processors) = (last.client?, last.server?, last.processors?);
    if client.cores + server.cores < SHARED_FULL * f64::from(processors) {
        return None;
    }
    let evidence = format!(
        "of {} the server uses {}, the client {}",
        counted(u64::from(processors), "CPU"),
        amount(server.cores),
        amount(client.cores)
    );
    Some(Limited { by: Limit::SharedCpu, evidence })
}

/// The client works all the time, and the server does not.
fn full_client(last: &LastSecond) -> Option<Limited> {
    let client = last.client.filter(|client| client.busiest >= CLIENT_FULL)?;
    let server = match last.server {
        Some(server) if server.busiest >= CLIENT_FULL => return None,
        Some(server) => {
            format!("the server's busiest thread runs at {}", of_a_core(server.busiest))
        }
        None => "the server's CPUs cannot be observed".to_owned(),
    };
    let evidence =
        format!("{} works {} of the time; {server}", busiest_of(client), percent(client.busiest));
    Some(Limited { by: Limit::Client, evidence })
}

fn busiest_of(side: Part) -> String {
    match side.threads {
        1 => "its one thread".to_owned(),
        threads => format!("the busiest of its {threads} threads"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(busiest: f64, cores: f64) -> Option<Part> {
        Some(Part { busiest, cores, threads: 2 })
    }

    #[test]
    fn only_what_a_second_shows_is_said() {
        let by = |requested_per_s, came_per_s, server: f64| {
            let server = part(server, server);
            at_present(&LastSecond { requested_per_s, came_per_s, server, ..LastSecond::default() })
                .map(|limited| limited.by)
        };
        // An open loop that gets what it asks for is bounded by that, whatever it costs.
        assert_eq!(by(Some(2_000.0), 1_990.0, 0.99), Some(Limit::AskedRate));
        assert_eq!(by(Some(2_000.0), 1_500.0, 0.99), Some(Limit::Server));
        assert_eq!(by(None, 90_000.0, 0.96), Some(Limit::Server));
        assert_eq!(by(None, 90_000.0, 0.8), None);
        assert_eq!(by(Some(0.0), 0.0, 0.1), None);
    }

    #[test]
    fn a_client_that_works_all_the_time_is_the_limit_where_the_server_has_time_left() {
        let last = LastSecond {
            came_per_s: 90_000.0,
            client: part(0.93, 1.9),
            server: part(0.5, 0.9),
            processors: Some(8),
            ..LastSecond::default()
        };
        let limited = at_present(&last).unwrap();
        assert_eq!(limited.by, Limit::Client);
        assert_eq!(
            limited.evidence,
            "the busiest of its 2 threads works 93 % of the time; the server's busiest thread runs at 50 % of a core"
        );
        let by = |last: LastSecond| at_present(&last).map(|limited| limited.by);
        // A server on another machine is not seen, and the client's own thread is as full.
        assert_eq!(by(LastSecond { server: None, ..last }), Some(Limit::Client));
        // Watching for events is no work, and between two that are nearly full a second does not tell.
        assert_eq!(by(LastSecond { client: part(0.4, 2.0), ..last }), None);
        assert_eq!(by(LastSecond { server: part(0.9, 1.0), ..last }), None);
        // Where the two use all the machine has, each takes from the other.
        assert_eq!(by(LastSecond { processors: Some(3), ..last }), Some(Limit::SharedCpu));
    }
}
