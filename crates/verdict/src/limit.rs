//! What bounded the rate of a Run. A rate means something only with its limit: the server's own
//! capacity, the client's, or neither.

mod asked;
mod at_present;
mod of_fleet;
mod processors;
mod quota;
mod response_time;
mod thinking;
mod unqueued;

pub use ablaze_model::finding::{Limit, Limited};
use ablaze_model::plan::Load;
use ablaze_model::run::Ended;
use ablaze_model::{FailureKind, Run};
pub use at_present::{LastSecond, Part, at_present};

use crate::live::at_rest::{Restless, restless};
use crate::live::figures::{self, Busy, of_a_core};
use crate::live::{setup, whose};
use crate::words::{counted, grouped, listed, percent, time};

/// A thread of the server that uses this share of a core is at its limit.
pub(crate) const SERVER_FULL: f64 = figures::FULL;
/// A worker of the client that works for this share of its time is at its limit.
pub(crate) const CLIENT_FULL: f64 = 0.85;
/// TCP was blocked from sending for this share of its time.
const HELD_UP: f64 = 0.5;
/// Requests that nobody answered held this share of the time of all in flight.
const HELD: f64 = 0.5;
/// Other processes that use so many CPUs may have a thread at its limit.
const OTHERS_AT_WORK: f64 = 0.9;
/// The other kinds of failures are in the report.
const KINDS_NAMED: usize = 2;
/// In flight for so many times as long as the longest response: it is not just a slow one.
const LONGER: u64 = 2;
/// The clocks of CPUs and of the run are read at times of their own: in a shorter run their
/// quotient says nothing of how busy anybody was.
const SHORTEST_NS: u64 = 100_000_000;
/// What is known of all threads; others may have the CPUs for a part of the time.
const NO_THREAD: &str = "none of the client's and the server's threads was at its limit";
/// In a longer run there was time to read a process often enough: if it was not, the time was not what was missing.
const SHORT_NS: u64 = 1_000_000_000;

/// What bounded this Run's rate. The process at the other end of the connections may be a proxy's.
pub fn of(run: &Run) -> Limited {
    if let Some(fleet) = &run.fleet {
        return asked::rate(run).unwrap_or_else(|| of_fleet::limit(fleet));
    }
    let limited = in_part(run, of_those_who_ran(run, seen_from_here(run)));
    let is_seen = figures::server(run).is_some() && limited.by != Limit::Unknown;
    match &run.plan.target.proxy {
        Some(_) if is_seen => {
            // What the target was doing meanwhile nobody saw.
            let by = if limited.by == Limit::Server { Limit::Proxy } else { limited.by };
            let evidence = format!(
                "{}; the server whose process was watched is the proxy, and what the target did is not known",
                limited.evidence.replace("the server's", "the proxy's")
            );
            Limited { by, evidence }
        }
        _ => limited,
    }
}

/// Who failed in the setup has nothing in flight: the limit is that of the load of the others. A rate that was carried out is
/// what was asked for, whoever walks.
fn of_those_who_ran(run: &Run, limited: Limited) -> Limited {
    match setup::in_words(run).filter(|_| limited.by != Limit::AskedRate) {
        Some(out) => Limited { evidence: format!("{}; {out}", limited.evidence), ..limited },
        None => limited,
    }
}

/// What others of several servers did was not observed: neither their threads, nor how much of the CPUs' time was theirs.
fn in_part(run: &Run, limited: Limited) -> Limited {
    let rests_on_all = matches!(limited.by, Limit::ResponseTime | Limit::OtherProcesses);
    let rests_on_one =
        matches!(limited.by, Limit::Server | Limit::Client | Limit::SharedCpu | Limit::CpuQuota);
    match whose::observed_in_part(run) {
        Some(evidence) if rests_on_all => Limited { by: Limit::Unknown, evidence },
        Some(part) if rests_on_one => {
            Limited { evidence: format!("{}; {part}", limited.evidence), ..limited }
        }
        _ => limited,
    }
}

/// Whether the rate is the client's: an open loop, whose whole rate the server carried, whatever else was at its limit.
pub fn is_as_requested(run: &Run) -> bool {
    run.elapsed_ns > 0 && asked::rate(run).is_some()
}

/// Whether it was stopped in its warm-up, in its setup or while it connected: responses may have come, and were not counted.
pub(crate) fn ended_before_clock(run: &Run) -> bool {
    run.elapsed_ns == 0 && run.ended == Ended::Interrupted
}

fn seen_from_here(run: &Run) -> Limited {
    let unknown = |evidence: &str| Limited { by: Limit::Unknown, evidence: evidence.to_owned() };
    if ended_before_clock(run) {
        return unknown("it was stopped before the clock started");
    }
    if run.record.responses == 0 || run.elapsed_ns == 0 {
        return unknown("no response came");
    }
    let (client, server) = (figures::client(run), figures::server(run));
    // What was given out exactly as planned was bounded by the plan, whatever it cost.
    if let Some(limited) = asked::rate(run) {
        return limited;
    }
    if run.elapsed_ns < SHORTEST_NS {
        let length = time(run.elapsed_ns as f64 / 1e6);
        return unknown(&format!("a run of {length} is too short to show it"));
    }
    if figures::server_ended(run) && run.record.failures_total() > 0 {
        return unknown("the server's process ended during the run");
    }
    let streamless = run.record.without_stream();
    if run.record.streams_permitted() == Some(0) && streamless.total() > 0 {
        let waited = counted(streamless.total(), "request");
        return unknown(&format!("the server permitted no streams, for which {waited} waited"));
    }
    unanswered(run)
        .or_else(|| processors::pinned(run, server.as_ref(), client.as_ref()))
        .or_else(|| full_server(run, server.as_ref(), client.as_ref()))
        .or_else(|| processors::full_helper(run))
        .or_else(|| quota::limit(run))
        .or_else(|| processors::confined(run, server.as_ref()))
        .or_else(|| processors::shared(run, server.as_ref(), client.as_ref()))
        .or_else(|| full_client(run, server.as_ref(), client.as_ref()))
        .or_else(|| network(run))
        .or_else(|| response_time::of_open_loop(run))
        .or_else(|| thinking::limit(run))
        .or_else(|| response_time::of_closed_loop(run, server.as_ref(), client.as_ref()))
        .unwrap_or_else(|| {
            // Less than the clocks of CPUs show is nothing to say.
            let client = client.filter(|client| client.busiest > 0.0).map_or(String::new(), |client| {
                format!("; the client's busiest thread worked {}", percent(client.busiest))
            });
            let why = match &run.monitor {
                // As the merge writes it.
                None if run.plan.workers.count_reason.ends_with(" shards") => {
                    "what the monitors of merged runs saw is with each of them"
                }
                None => "the server cannot be observed without a monitor",
                Some(monitor) if !monitor.target.on_this_host => {
                    "the server is on another machine, where its CPUs cannot be observed"
                }
                Some(_) if whose::observed_elsewhere(run).is_some() => {
                    "what listens at the target's first address was observed, and connections went to another"
                }
                Some(_) if server.is_none() => server_unseen(run),
                Some(_) if figures::users_pause(run) => {
                    "users had nothing in flight for a part of the time, and none of the client's and the server's threads was at its limit"
                }
                Some(_) => NO_THREAD,
            };
            unknown(&format!("{why}{client}"))
        })
}

/// Why there are no figures of a server on this host: nothing is to be seen of it, or it was seen too
/// few times.
fn server_unseen(run: &Run) -> &'static str {
    if figures::target(run).is_some_and(|target| target.children_ended > 0) {
        return "the server starts processes, whose CPU time cannot be observed once they end";
    }
    let seen = figures::target(run).is_some_and(|target| !target.processes.is_empty());
    if !seen {
        "the server's process cannot be observed"
    } else if run.elapsed_ns < SHORT_NS {
        "the run was too short to measure the server's CPU"
    } else {
        "the server's process was read too few times to measure its CPU"
    }
}

/// Most of the time in flight was that of requests that failed, or had waited for very long at the end: the rate
/// is what the other places did.
fn unanswered(run: &Run) -> Option<Limited> {
    let record = &run.record;
    let in_flight_ns = record.in_flight_ns as f64;
    let longest_ns = record.answered.total.max_ns()?;
    let timeouts = record.failures_of(FailureKind::Timeout) * 2 > record.failures_total();
    let failed = record.failed.total.sum_ns() as f64 >= HELD * in_flight_ns;
    let hang = record.unfinished > record.never_sent
        && record.unfinished_oldest_ns > longest_ns.saturating_mul(LONGER);
    // Of those in flight at the end a response may only not have come yet, unless they hang.
    let not_answered_ns = in_flight_ns - record.answered.total.sum_ns() as f64;
    let theirs_ns = match hang {
        true => not_answered_ns,
        false => not_answered_ns.min(record.failed.total.sum_ns() as f64),
    };
    let held = theirs_ns / in_flight_ns.max(1.0);
    // Who has no bound on connections and has sent all that was due was not held up by them.
    let unbounded = matches!(run.plan.load, Load::Open { bounded: false, .. });
    if unbounded && record.never_sent == 0 {
        return None;
    }
    if in_flight_ns == 0.0 || held < HELD || !(timeouts || failed || hang) {
        return None;
    }
    let mut evidence = format!("{} of the time in flight was theirs", percent(held));
    let mut kinds: Vec<(u64, FailureKind)> =
        FailureKind::ALL.iter().map(|kind| (record.failures_of(*kind), *kind)).collect();
    kinds.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let mut parts: Vec<String> = kinds
        .iter()
        .take_while(|(count, _)| *count > 0)
        .take(KINDS_NAMED)
        .map(|(count, kind)| format!("{} {}", grouped(*count), kind.of_a_count()))
        .collect();
    if hang && !failed {
        parts.push(of_those_in_flight(run));
    }
    if !parts.is_empty() {
        evidence.push_str(&format!(": {}", listed(parts)));
    }
    Some(Limited { by: Limit::Unanswered, evidence })
}

/// `3 of 40 in flight at the end`: those that hang, where they are known; the others are ordinary ones.
fn of_those_in_flight(run: &Run) -> String {
    let record = &run.record;
    let all = record.unfinished.saturating_sub(record.never_sent);
    let silent = record.silent.count.saturating_sub(record.silent.of_warmup);
    let which = match (silent + record.stopped.unfinished).min(all) {
        0 => format!("one or more of {}", grouped(all)),
        hang if hang == all => grouped(all),
        hang => format!("{} of {}", grouped(hang), grouped(all)),
    };
    format!("{which} in flight at the end")
}

fn full_server(run: &Run, server: Option<&Busy>, client: Option<&Busy>) -> Option<Limited> {
    let server = server.filter(|server| server.busiest >= SERVER_FULL)?;
    if let Some(at_rest) = restless(run) {
        return Some(full_without_load(server, &at_rest));
    }
    let by_it = || Limited { by: Limit::Server, evidence: beside(&of_server(server), client) };
    Some(unqueued::found(run, server).unwrap_or_else(by_it))
}

/// A server some of whose threads are busy without a load, too: full or idle, these look the same.
fn full_without_load(server: &Busy, at_rest: &Restless) -> Limited {
    if server.full > at_rest.threads {
        let evidence = format!(
            "{} of its threads ran at {} or more, and {} ran without a load, too",
            grouped(server.full as u64),
            of_a_core(SERVER_FULL),
            at_rest.threads
        );
        return Limited { by: Limit::Server, evidence };
    }
    let without = match at_rest.busiest >= 0.5 {
        true => format!("one for {} of the time", percent(at_rest.busiest)),
        false => format!("all together for {} of the time", percent(at_rest.cores)),
    };
    let busiest = of_a_core(server.busiest);
    let evidence = format!(
        "the busiest of the server's threads ran at {busiest}, and without a load {without} ran or was ready to"
    );
    Limited { by: Limit::Unknown, evidence }
}

/// The client is full; between two sides that are nearly full the fuller one is the limit.
fn full_client(run: &Run, server: Option<&Busy>, client: Option<&Busy>) -> Option<Limited> {
    let near = server.filter(|server| server.busiest >= CLIENT_FULL && restless(run).is_none());
    let full = client.filter(|client| client.busiest >= CLIENT_FULL);
    match (near, full) {
        (Some(server), Some(client)) if server.busiest < client.busiest => {}
        (Some(server), _) => {
            let evidence = beside(&of_server(server), client);
            let by_it = || Limited { by: Limit::Server, evidence };
            return Some(unqueued::found(run, server).unwrap_or_else(by_it));
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

fn of_server(server: &Busy) -> String {
    let share = of_a_core(server.busiest);
    match server.threads {
        1 if server.idle == 0 => format!("its one thread ran at {share}"),
        1 => format!("its one thread that worked ran at {share}"),
        threads => format!("the busiest of its {threads} threads that worked ran at {share}"),
    }
}

fn beside(server: &str, client: Option<&Busy>) -> String {
    match client {
        Some(client) => format!("{server}, the client at {:.0} %", client.busiest * 100.0),
        None => server.to_owned(),
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod users_tests;
