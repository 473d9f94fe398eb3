//! What bounded the rate of a Run. A rate means something only with its limit: the server's own
//! capacity, the client's, or neither.

use ablaze_model::Run;
pub use ablaze_model::finding::{Limit, Limited};
use ablaze_model::plan::Load;

use crate::live::figures::{self, Busy, Machine, of_a_core};
use crate::words::{amount, counted, grouped, percent, time};

/// A thread of the server that uses this share of a core is at its limit.
pub(crate) const SERVER_FULL: f64 = 0.95;
/// A worker of the client that works for this share of its time is at its limit.
pub(crate) const CLIENT_FULL: f64 = 0.85;
/// Client and server together use this share of all CPUs: the CPUs are the limit.
const SHARED_FULL: f64 = 0.9;
/// Reaching this share of the requested rate counts as reaching all of it.
const ASKED: f64 = 0.98;
/// The network round trip makes up this share of the time of a response.
const ROUND_TRIP: f64 = 0.8;
/// TCP was blocked from sending for this share of its time.
const HELD_UP: f64 = 0.5;
/// On average this share of the places of an open loop was in use: there was none to spare.
const IN_USE: f64 = 0.9;
/// A thread that waited for a CPU for this share of the time was held up by whoever had it.
const WAITED: f64 = 0.1;
/// The clocks of CPUs and of the run are read at times of their own: in a shorter run their
/// quotient says nothing of how busy anybody was.
const SHORTEST_NS: u64 = 100_000_000;

/// What bounded this Run's rate. The process at the other end of the connections may be a proxy's.
pub fn of(run: &Run) -> Limited {
    let limited = seen_from_here(run);
    let is_seen = figures::server(run).is_some() && limited.by != Limit::Unknown;
    match &run.plan.target.proxy {
        Some(_) if is_seen => {
            let evidence =
                format!("{}; the process is the proxy's, not the target's", limited.evidence);
            Limited { evidence, ..limited }
        }
        _ => limited,
    }
}

fn seen_from_here(run: &Run) -> Limited {
    let unknown = |evidence: &str| Limited { by: Limit::Unknown, evidence: evidence.to_owned() };
    if run.record.responses == 0 || run.elapsed_ns == 0 {
        return unknown("no response came");
    }
    let (client, server) = (figures::client(run), figures::server(run));
    // What was given out exactly as planned was bounded by the plan, whatever it cost.
    if let Some(limited) = asked_rate(run) {
        return limited;
    }
    if run.elapsed_ns < SHORTEST_NS {
        let length = time(run.elapsed_ns as f64 / 1e6);
        return unknown(&format!("a run of {length} is too short to show it"));
    }
    full_server(server.as_ref(), client.as_ref())
        .or_else(|| shared(run, server.as_ref(), client.as_ref()))
        .or_else(|| full_client(run, server.as_ref(), client.as_ref()))
        .or_else(|| network(run))
        .or_else(|| connections(run))
        .or_else(|| round_trip(run, server.as_ref(), client.as_ref()))
        .unwrap_or_else(|| {
            let client = client.map_or(String::new(), |client| {
                format!("; the client's busiest thread worked {}", percent(client.busiest))
            });
            let why = match &run.monitor {
                None => "the server cannot be observed without a monitor",
                Some(monitor) if !monitor.target.on_this_host => {
                    "the server is on another machine, where its CPUs cannot be observed"
                }
                Some(_) if server.is_none() => server_unseen(run),
                Some(_) => "nothing was at its limit",
            };
            unknown(&format!("{why}{client}"))
        })
}

/// Why there are no figures of a server on this host: nothing is to be seen of it, or it was seen too
/// few times.
fn server_unseen(run: &Run) -> &'static str {
    let seen = figures::target(run).is_some_and(|target| !target.processes.is_empty());
    if seen {
        "the run was too short to measure the server's CPU"
    } else {
        "the server's process cannot be observed"
    }
}

fn asked_rate(run: &Run) -> Option<Limited> {
    let Load::Open { rate, .. } = run.plan.load else { return None };
    let asked = (rate.from_per_s + rate.to_per_s) / 2.0;
    let came = run.record.responses as f64 / figures::elapsed_s(run);
    if came < asked * ASKED || run.record.never_sent > 0 {
        return None;
    }
    let evidence = format!("{}/s requested, {}/s answered", amount(asked), amount(came));
    Some(Limited { by: Limit::AskedRate, evidence })
}

fn full_server(server: Option<&Busy>, client: Option<&Busy>) -> Option<Limited> {
    let server = server.filter(|server| server.busiest >= SERVER_FULL)?;
    Some(Limited { by: Limit::Server, evidence: beside(&of_server(server), client) })
}

/// The client is full; between two sides that are nearly full the fuller one is the limit.
fn full_client(run: &Run, server: Option<&Busy>, client: Option<&Busy>) -> Option<Limited> {
    let near = server.filter(|server| server.busiest >= CLIENT_FULL);
    let full = client.filter(|client| client.busiest >= CLIENT_FULL);
    match (near, full) {
        (Some(server), Some(client)) if server.busiest < client.busiest => {}
        (Some(server), _) => {
            let evidence = beside(&of_server(server), client);
            return Some(Limited { by: Limit::Server, evidence });
        }
        (None, Some(_)) => {}
        (None, None) => return None,
    }
    let client = full?;
    let workers = if client.threads == 1 { "its one thread" } else { "its busiest thread" };
    let server = match server {
        Some(server) => format!("the server's busiest thread ran at {}", of_a_core(server.busiest)),
        None if figures::target(run).is_some() => server_unseen(run).to_owned(),
        None => "the server's CPUs cannot be observed".to_owned(),
    };
    let evidence = format!("{workers} worked {} of the time; {server}", percent(client.busiest));
    Some(Limited { by: Limit::Client, evidence })
}

fn shared(run: &Run, server: Option<&Busy>, client: Option<&Busy>) -> Option<Limited> {
    let (server, client) = (server?, client?);
    let machine = figures::machine(run)?;
    let Machine { processors, busy, others, .. } = machine;
    let full = SHARED_FULL * processors;
    // The machine's own figure has interrupts too, which are on account of no process. What others
    // used limits only whoever waited for it.
    let waited = [server, client].into_iter().any(|side| side.wanting - side.busiest >= WAITED);
    let of_two = server.cores + client.cores >= full || busy - others >= full;
    let by = match of_two {
        true => Limit::SharedCpu,
        false if waited && busy >= full => Limit::OtherProcesses,
        false => return None,
    };
    let others = if others >= 0.05 * processors {
        format!(", other processes {}", amount(others))
    } else {
        String::new()
    };
    let evidence = format!(
        "of {} the server used {}, the client {}{others}",
        counted(processors as u64, "CPU"),
        amount(server.cores),
        amount(client.cores)
    );
    Some(Limited { by, evidence })
}

fn network(run: &Run) -> Option<Limited> {
    let monitor = run.monitor.as_ref().filter(|monitor| !monitor.target.on_this_host)?;
    let seen = monitor.connections.as_ref()?.last;
    let busy_ns = seen.busy_ns.filter(|busy_ns| *busy_ns > 0)?;
    let held_ns = seen.window_limited_ns? + seen.send_buffer_limited_ns?;
    let share = held_ns as f64 / busy_ns as f64;
    (share >= HELD_UP).then(|| Limited {
        by: Limit::Network,
        evidence: format!(
            "for {} of the time in which there was data to send, a full window or a full buffer \
             blocked it",
            percent(share)
        ),
    })
}

/// An open loop found all the connections in use that it may use: each response takes so long.
fn connections(run: &Run) -> Option<Limited> {
    let Load::Open { rate, connections, .. } = run.plan.load else { return None };
    let places = u64::from(connections) * u64::from(run.plan.places_per_connection());
    let used = figures::in_flight(run)?;
    if used < IN_USE * places as f64 {
        return None;
    }
    let asked = (rate.from_per_s + rate.to_per_s) / 2.0;
    let service_ms = run.record.answered.total.mean_ns()? / 1e6;
    let evidence = format!(
        "{} of {} possible requests were in flight on average, each took {}, and {}/s were requested",
        amount(used),
        grouped(places),
        time(service_ms),
        amount(asked)
    );
    Some(Limited { by: Limit::Connections, evidence })
}

/// Nothing is full, and each request waits for the one before.
fn round_trip(run: &Run, server: Option<&Busy>, client: Option<&Busy>) -> Option<Limited> {
    let in_flight = figures::asked_in_flight(run)?;
    let mean_ms = run.record.answered.total.mean_ns()? / 1e6;
    let requests = match in_flight {
        1 => format!("the one request in flight took {}", time(mean_ms)),
        many => format!("each of the {many} requests in flight took {}", time(mean_ms)),
    };
    let client = client
        .map_or(String::new(), |client| format!(", the client's {}", of_a_core(client.busiest)));
    if let Some(server) = server {
        let evidence = format!(
            "{requests}, and nothing was at its limit: the server's busiest thread ran at {}{client}",
            of_a_core(server.busiest)
        );
        return Some(Limited { by: Limit::RoundTrip, evidence });
    }
    let monitor = run.monitor.as_ref().filter(|monitor| !monitor.target.on_this_host)?;
    let wire_ms = monitor.connections.as_ref()?.last.shortest_round_trip?.median_ns as f64 / 1e6;
    (wire_ms >= ROUND_TRIP * mean_ms).then(|| Limited {
        by: Limit::RoundTrip,
        evidence: format!("{requests}, of which the network took {}", time(wire_ms)),
    })
}

fn of_server(server: &Busy) -> String {
    let share = of_a_core(server.busiest);
    match server.threads {
        1 => format!("its one thread ran at {share}"),
        threads => format!("the busiest of its {threads} threads ran at {share}"),
    }
}

fn beside(server: &str, client: Option<&Busy>) -> String {
    match client {
        Some(client) => format!("{server}, the client at {:.0} %", client.busiest * 100.0),
        None => server.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    fn limit(run: &Run) -> Limit {
        of(run).by
    }

    #[test]
    fn the_side_that_is_full_is_the_limit() {
        let run = sample::run();
        let limited = of(&run);
        assert_eq!(limited.by, Limit::Server);
        assert_eq!(
            limited.to_string(),
            "limited by the server: its one thread ran at 96 % of a core, the client at 75 %"
        );
        let run = sample::with_shares(0.60, 0.90);
        assert_eq!(limit(&run), Limit::Client);
        assert!(of(&run).evidence.contains("worked 90 % of the time; the server's busiest thread"));
        // Both nearly full: the fuller one.
        assert_eq!(limit(&sample::with_shares(0.88, 0.86)), Limit::Server);
        assert_eq!(limit(&sample::with_shares(0.86, 0.88)), Limit::Client);
    }

    #[test]
    fn interrupts_belong_to_whoever_causes_them() {
        let mut run = sample::with_shares(0.78, 0.4);
        assert_eq!(limit(&run), Limit::RoundTrip);
        // A fifth of the busy time went to interrupts: 0.78 / 0.8 is more than 95 %.
        sample::processors(&mut run).interrupts_ns = 2_950_000_000;
        assert_eq!(limit(&run), Limit::Server);
    }

    #[test]
    fn two_processors_can_be_full_before_either_side_is() {
        assert_eq!(limit(&sample::with_shares(0.93, 0.90)), Limit::SharedCpu);
        // Others had the processors that the server's thread waited for.
        let mut run = sample::with_shares(0.5, 0.4);
        sample::threads(&mut run)[0].waited_ns = 4_800_000_000;
        sample::processors(&mut run).user_ns = 14_000_000_000;
        sample::processors(&mut run).idle_ns = 0;
        let limited = of(&run);
        assert_eq!(limited.by, Limit::OtherProcesses);
        assert!(limited.evidence.contains("other processes"), "{limited}");
    }

    #[test]
    fn others_on_the_cpus_limit_nobody_who_wants_none() {
        // The server sleeps, the client waits, and somebody else keeps both CPUs busy.
        let mut run = sample::with_shares(0.0, 0.004);
        sample::processors(&mut run).user_ns = 19_900_000_000;
        sample::processors(&mut run).idle_ns = 0;
        let limited = of(&run);
        assert_eq!(limited.by, Limit::RoundTrip, "{limited}");
        // Interrupts that carry our packets are ours.
        let mut run = sample::with_shares(0.7, 0.7);
        sample::processors(&mut run).interrupts_ns = 5_000_000_000;
        sample::processors(&mut run).idle_ns = 1_000_000_000;
        assert_ne!(limit(&run), Limit::RoundTrip);
    }

    #[test]
    fn a_moment_shows_no_limit() {
        let mut run = sample::with_shares(0.5, 0.9);
        run.elapsed_ns = 309_000;
        run.workers[0].window_ns = 309_000;
        run.workers[0].busy_ns = 640_000;
        run.monitor = None;
        let limited = of(&run);
        assert_eq!(limited.by, Limit::Unknown);
        assert_eq!(limited.evidence, "a run of 309 µs is too short to show it");
        // Clocks of CPUs and of the window are read at times of their own: nobody works for 207 %.
        assert!(figures::client(&run).unwrap().busiest <= 1.0);
    }

    #[test]
    fn a_server_that_was_seen_too_briefly_is_not_called_unobservable() {
        let mut run = sample::with_shares(0.5, 0.2);
        run.elapsed_ns = 300_000_000;
        sample::monitor(&mut run).target.processes[0].readings = 1;
        assert_eq!(
            of(&run).evidence,
            "the run was too short to measure the server's CPU; the client's busiest thread \
             worked 20 %"
        );
        sample::monitor(&mut run).target.processes.clear();
        assert!(of(&run).evidence.starts_with("the server's process cannot be observed"));
    }

    #[test]
    fn nothing_full_is_the_round_trip_in_closed_loop_and_the_rate_in_open_loop() {
        let mut run = sample::with_shares(0.3, 0.2);
        let limited = of(&run);
        assert_eq!(limited.by, Limit::RoundTrip);
        assert!(limited.evidence.starts_with("each of the 100 requests in flight took"));
        sample::open_loop(&mut run, 2_000.0);
        assert_eq!(limit(&run), Limit::AskedRate);
        sample::open_loop(&mut run, 4_000.0);
        assert_eq!(limit(&run), Limit::Unknown);
        // All of its 100 connections were in use: each response takes 50 ms.
        run.record.in_flight_ns = 99 * u128::from(run.elapsed_ns);
        assert_eq!(limit(&run), Limit::Connections);
    }

    #[test]
    fn what_is_not_seen_is_not_guessed() {
        let mut run = sample::with_shares(0.96, 0.2);
        sample::monitor(&mut run).target.on_this_host = false;
        assert_eq!(limit(&run), Limit::Unknown);
        assert!(of(&run).evidence.contains("cannot be observed"));
        run.monitor = None;
        assert_eq!(limit(&run), Limit::Unknown);
        run.record.responses = 0;
        assert_eq!(of(&run).evidence, "no response came");
    }

    #[test]
    fn a_remote_target_can_be_as_far_away_as_its_responses_take() {
        let mut run = sample::with_shares(0.96, 0.2);
        let monitor = sample::monitor(&mut run);
        monitor.target.on_this_host = false;
        let mut seen = sample::connections();
        seen.last.shortest_round_trip.as_mut().unwrap().median_ns = 48_000_000;
        monitor.connections = Some(seen);
        run.record.answered.total.clear();
        run.record.answered.total.record_many(50_000_000, 20_000);
        assert_eq!(limit(&run), Limit::RoundTrip);
        let last = &mut sample::monitor(&mut run).connections.as_mut().unwrap().last;
        last.busy_ns = Some(100);
        last.window_limited_ns = Some(60);
        assert_eq!(limit(&run), Limit::Network);
    }
}
