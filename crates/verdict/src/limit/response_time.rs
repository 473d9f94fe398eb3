//! No thread is full: what each request took bounds the rate, as in a closed loop each waits for the one before it, and in an
//! open one for a connection.

use ablaze_model::Run;
use ablaze_model::plan::Load;

use super::{Limit, Limited, NO_THREAD, OTHERS_AT_WORK, asked};
use crate::live::figures::{self, Busy, of_a_core};
use crate::live::setup;
use crate::words::{amount, counted, grouped, percent, time};

/// The network round trip makes up this share of the time of a response.
const ROUND_TRIP: f64 = 0.8;
/// On average this share of the places of an open loop was in use: there was none to spare.
const IN_USE: f64 = 0.9;
/// Below this share of those in flight, what was answered is not what the run waited for.
const ANSWERED: f64 = 0.5;
/// Requests that got nothing for this share of the run are what it waited for.
const SILENT: f64 = 0.2;
/// Threads that together use this share of a core may take turns.
const TURNS: f64 = 0.5;
/// Another program that the server started is told from this share of a core on.
const HELPER: f64 = 0.05;
/// With fewer of the requests asked for in flight, what kept the others away bounded the rate.
const IN_FLIGHT: f64 = 0.5;

/// An open loop found all the connections in use that it may use: each response takes so long. More of them would carry more
/// only where the server does not keep them waiting, which one number of them does not show.
pub(super) fn of_open_loop(run: &Run) -> Option<Limited> {
    let Load::Open { connections, .. } = run.plan.load else { return None };
    let places = u64::from(connections) * u64::from(run.plan.places_per_connection());
    let places = places.saturating_sub(setup::users_out(run));
    let used = figures::in_flight(run)?;
    if used < IN_USE * places as f64 {
        return None;
    }
    let asked = run.requested_per_s()?;
    let service_ms = run.record.answered.total.mean_ns()? / 1e6;
    let evidence = format!(
        "{} of {} possible requests were in flight on average, a response took {}, and {} were requested; whether more \
         connections would carry more does not show",
        amount(used),
        grouped(places),
        time(service_ms),
        asked::per_s(run, asked)
    );
    Some(Limited { by: Limit::ResponseTime, evidence })
}

/// Users who walk so many journeys each without a pause: whoever is still there has a request in flight.
fn users_who_leave(run: &Run) -> Option<u64> {
    let users = &run.plan.journey.as_ref()?.users;
    let walked = run.record.journeys.as_ref()?;
    let never_pause = walked.pauses_ns == 0 && users.think_time.is_none() && users.ramp.is_none();
    let leave = users.iterations.is_some() && !run.plan.load.is_open();
    // Who rests behind a failure has nothing in flight, too.
    (leave && never_pause && run.record.failures_total() == 0).then(|| setup::users_left(run))
}

/// No CPU is full, and each request waits for the one before: for the network where that takes most of the time.
/// What a server waits for itself (a lock, a pool of workers, a sleep) no CPU shows.
pub(super) fn of_closed_loop(
    run: &Run,
    server: Option<&Busy>,
    client: Option<&Busy>,
) -> Option<Limited> {
    let leaving = users_who_leave(run);
    let asked =
        figures::asked_in_flight(run).or(leaving).or_else(|| setup::in_flight_of_others(run))?;
    let mean_ms = run.record.answered.total.mean_ns()? / 1e6;
    let reached = figures::in_flight(run)?;
    // Where most of those in flight were to fail, the time of responses is not what the others waited for.
    let answered = run.record.answered.total.sum_ns() as f64 / run.elapsed_ns.max(1) as f64;
    if answered < reached * ANSWERED {
        return None;
    }
    let silent = run.record.silent;
    let held = silent.count.saturating_sub(silent.of_warmup);
    if held * 2 >= asked && silent.longest_ns as f64 >= SILENT * run.elapsed_ns as f64 {
        return Some(Limited {
            by: Limit::Unknown,
            evidence: format!(
                "{} of the {} requests in flight had got no byte of a final response for up to {} when the run ended",
                grouped(held),
                grouped(asked),
                time(silent.longest_ns as f64 / 1e6)
            ),
        });
    }
    if figures::held_by_rest(run) {
        let early = run.record.answered_early;
        return Some(Limited {
            by: Limit::Unknown,
            evidence: format!(
                "{} came before the server had taken the whole request, and connections waited {} in total for the rest to leave",
                counted(early.count, "response"),
                time(early.waited_ns as f64 / 1e6)
            ),
        });
    }
    if leaving.is_some() && reached < asked as f64 * IN_FLIGHT {
        return Some(Limited {
            by: Limit::Unknown,
            evidence: format!(
                "of {} users {} had a request in flight on average: those who had walked all of their journeys had none left to send",
                grouped(asked),
                amount(reached)
            ),
        });
    }
    let drain_ns = run.record.drain_ns.unwrap_or(0);
    let away =
        run.record.failures_total() > 0 || drain_ns as f64 >= IN_FLIGHT * run.elapsed_ns as f64;
    if away && reached < asked as f64 * IN_FLIGHT {
        return Some(Limited {
            by: Limit::Unknown,
            evidence: format!(
                "{} of {} requests were in flight on average, a response took {}",
                amount(reached),
                grouped(asked),
                time(mean_ms)
            ),
        });
    }
    let requests = match asked {
        1 => format!("the one request in flight took {} on average", time(mean_ms)),
        many if reached >= many as f64 * IN_USE => format!(
            "with {} requests in flight a response took {} on average",
            grouped(many),
            time(mean_ms)
        ),
        _ => format!(
            "with {} requests in flight on average a response took {}",
            amount(reached),
            time(mean_ms)
        ),
    };
    let client = client
        .map_or(String::new(), |client| format!(", the client's {}", of_a_core(client.busiest)));
    if let Some(server) = server {
        // Threads that take turns, as those of an interpreter with one lock do: none is at its limit.
        let helper = figures::busiest_helper(run);
        let serving = server.cores - figures::cores_of_helpers(run);
        let together = match serving >= TURNS && serving >= 2.0 * server.busiest {
            true => format!(", all of its threads together at {}", of_a_core(serving)),
            false => String::new(),
        };
        let helper = match helper.filter(|helper| helper.cores >= HELPER) {
            Some(helper) => format!(
                "; {}, which it started and which does not listen there, used {}",
                helper.name,
                of_a_core(helper.cores)
            ),
            None => String::new(),
        };
        // One of them may be full, and what the server waits for: a backend, a database.
        let others = figures::machine(run).map_or(0.0, |machine| machine.others);
        let others = match others >= OTHERS_AT_WORK {
            true => format!(
                "; other processes used {} CPUs: whether the server waits for them does not show",
                amount(others)
            ),
            false => String::new(),
        };
        let at_rest = match server.polling > 0.0 {
            true => {
                format!(
                    "; without a load its threads ran, or were ready to, for {} of the time",
                    percent(server.polling)
                )
            }
            false => String::new(),
        };
        let evidence = format!(
            "{requests}, and {NO_THREAD}: the server's busiest thread ran at {}{together}{client}{helper}{at_rest}{others}",
            of_a_core(server.busiest)
        );
        return Some(Limited { by: Limit::ResponseTime, evidence });
    }
    let monitor = run.monitor.as_ref().filter(|monitor| !monitor.target.on_this_host)?;
    let wire_ms = monitor.connections.as_ref()?.last.shortest_round_trip?.median_ns as f64 / 1e6;
    (wire_ms >= ROUND_TRIP * mean_ms).then(|| Limited {
        by: Limit::RoundTrip,
        evidence: format!("{requests}, of which the network took {}", time(wire_ms)),
    })
}
