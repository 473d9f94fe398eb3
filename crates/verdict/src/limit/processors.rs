//! Limits that are CPUs: which of them client and server may use, what they and others used of these, and who waited for one.

use ablaze_model::Run;

use super::{CLIENT_FULL, Limit, Limited, SERVER_FULL};
use crate::live::at_rest::restless_with_helpers;
use crate::live::figures::{self, Busy, Machine, Room, of_a_core};
use crate::live::others;
use crate::words::{amount, counted, percent};

/// Client and server together use this share of all CPUs: the CPUs are the limit.
pub(super) const SHARED_FULL: f64 = 0.9;
/// Whoever used all but this share of the CPUs that it may use waited for itself.
const LEFT: f64 = 0.15;
/// Together as much as one core: one lock may let one of them run at a time.
const TAKES_TURNS: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// Only where client and server together waited for a CPU for this share of the time was it most of the time.
const WAITED_MOST: f64 = 0.5;
/// Who used less of full CPUs asked for next to nothing: what it waited for was mostly something else.
const AT_WORK: f64 = 0.25;

/// A process that the server started has a full thread, or one that would have been with what it waited for a CPU, and
/// requests may or may not wait for it.
pub(super) fn full_helper(run: &Run) -> Option<Limited> {
    let helper = figures::busiest_helper(run);
    let helper = helper.filter(|helper| helper.ran + helper.waited >= CLIENT_FULL)?;
    let waited = match helper.waited >= others::WAITED {
        true => format!(" that waited for a CPU for {} of the time", percent(helper.waited)),
        false => String::new(),
    };
    let evidence = format!(
        "{}, which the server started and which does not listen there, had a thread at {}{waited}: whether requests wait for \
         it does not show",
        helper.name,
        of_a_core(helper.ran)
    );
    Some(Limited { by: Limit::Unknown, evidence })
}

/// The CPUs are full, and client or server waited for one: for each other, or for others, where which of them shows.
pub(super) fn shared(run: &Run, server: Option<&Busy>, client: Option<&Busy>) -> Option<Limited> {
    let (server, client) = (server?, client?);
    let machine = figures::machine(run)?;
    let Machine { processors, busy, others, .. } = machine;
    let full = SHARED_FULL * processors;
    // The machine's own figure has interrupts too, which are on account of no process. What others
    // used limits only whoever waited for it.
    let rooms = figures::rooms(run);
    let open = || rooms.iter().filter(|room| room.left >= LEFT * room.processors);
    // It was most of the time, or with what it waited for a thread would have been at its limit.
    let of_full = open().any(|room| room.waited >= others::WAITED && room.wanting >= CLIENT_FULL);
    // A side that may use a part of the CPUs waits for these, whatever the others do.
    let is_starved = open().any(|room| {
        room.processors < processors && room.waited >= others::WAITED && room.wanting >= CLIENT_FULL
    });
    let waited = of_full || open().map(|room| room.waited).sum::<f64>() >= WAITED_MOST;
    // What only looks whether something has come makes room for whoever has work.
    let polling = server.polling + client.polling;
    let of_two = server.cores + client.cores - polling >= full || busy - others - polling >= full;
    let turns = server.threads > 1
        && server.busiest < SERVER_FULL
        && TAKES_TURNS.contains(&(server.cores - server.polling));
    let disturbed = others::disturbed(run);
    // Of full CPUs, too, that nobody waited for most of the time: it adds up over threads that run for a short time each.
    let in_part = busy - polling >= full
        && server.cores + client.cores - polling >= AT_WORK * processors
        && disturbed.is_some();
    let evidence = of_processors(&machine, server, client);
    let known = |by| Some(Limited { by, evidence: evidence.clone() });
    if of_two {
        return known(Limit::SharedCpu);
    }
    if !(waited && (turns || busy >= full) || is_starved || in_part) {
        return None;
    }
    let is_of_others = disturbed.as_ref().is_some_and(|room| {
        !others::wait_for_each_other(room) || others::have_most(&machine, room)
    });
    if is_of_others && !turns && (waited || is_starved) {
        return known(Limit::OtherProcesses);
    }
    // What a server does without a request, too, is in the way of whoever waits.
    let own = server.cores + client.cores - client.polling;
    let crowded = rooms.iter().any(others::wait_for_each_other);
    let is_own = crowded && !turns && busy >= full && own >= SHARED_FULL * (processors - others);
    if is_own && disturbed.is_none() {
        return known(Limit::SharedCpu);
    }
    Some(unclear(&evidence, server, &rooms))
}

/// Threads waited for a CPU, and whoever had it meanwhile is not known.
fn unclear(evidence: &str, server: &Busy, rooms: &[Room]) -> Limited {
    let waited = rooms.iter().map(|room| room.waited).fold(0.0, f64::max);
    let threads = match server.threads {
        0 | 1 => String::new(),
        threads => format!(", the server's in {threads} threads"),
    };
    let evidence = format!(
        "{evidence}{threads}; a thread of the client or server waited for a CPU for {} of the time: what held them up, each other \
         or other processes, does not show",
        percent(waited)
    );
    Limited { by: Limit::Unknown, evidence }
}

fn of_processors(machine: &Machine, server: &Busy, client: &Busy) -> String {
    let others = if machine.others >= others::ANYBODY * machine.processors {
        format!(", other processes {}", amount(machine.others))
    } else {
        String::new()
    };
    format!(
        "of {} the server used {}, the client {}{others}",
        counted(machine.processors as u64, "CPU"),
        amount(server.cores),
        amount(client.cores)
    )
}

/// Client and server may use a part of the machine's CPUs, and used all of it.
pub(super) fn pinned(run: &Run, server: Option<&Busy>, client: Option<&Busy>) -> Option<Limited> {
    let (server, client) = (server?, client?);
    let (cpus, used) = figures::common_processors(run)?;
    if used - server.polling - client.polling < SHARED_FULL * cpus.len() as f64 {
        return None;
    }
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let evidence = format!(
        "of {} that the two may use ({}) the server used {}, the client {}",
        counted(cpus.len() as u64, "CPU"),
        list.join(", "),
        amount(server.cores),
        amount(client.cores)
    );
    Some(Limited { by: Limit::SharedCpu, evidence })
}

/// The server may use a part of the machine's CPUs, and used all of it with more threads than one.
pub(super) fn confined(run: &Run, server: Option<&Busy>) -> Option<Limited> {
    let server = server.filter(|server| server.threads > 1)?;
    let (allowed, used) = figures::processors_of_server(run)?;
    if used < CLIENT_FULL * allowed as f64 || restless_with_helpers(run).is_some() {
        return None;
    }
    let evidence = format!(
        "its {} threads used {} of the {} that they may use",
        server.threads,
        amount(server.cores),
        counted(allowed as u64, "CPU")
    );
    Some(Limited { by: Limit::Server, evidence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;
    use crate::limit::of;
    use crate::live::{self, sample};
    use ablaze_model::monitor::AtRest;

    /// Two CPUs with no time left: so many threads of a server use so much, the client a half of one, others the rest; each thread
    /// of the server and the client waited for so much of the time.
    fn full(threads: usize, server: f64, others: f64, waited: f64) -> Run {
        let each = server / threads as f64;
        let mut run = sample::with_shares(each, 0.5);
        let ns = |share: f64| (share * run.elapsed_ns as f64) as u64;
        let (waited_ns, all_ns, used_ns) = (ns(waited), ns(server), ns(server + 0.5 + others));
        let idle_ns = ns(2.0).saturating_sub(used_ns);
        for thread in &mut sample::monitor(&mut run).client.as_mut().unwrap().threads {
            thread.waited_ns = waited_ns;
        }
        let own = sample::threads(&mut run);
        own[0].waited_ns = waited_ns;
        *own = vec![own[0].clone(); threads];
        let process = &mut sample::monitor(&mut run).target.processes[0];
        (process.user_ns, process.system_ns) = (all_ns, 0);
        let times = sample::processors(&mut run);
        (times.user_ns, times.system_ns, times.idle_ns) = (used_ns, 0, idle_ns);
        (times.interrupts_ns, times.steal_ns) = (0, 0);
        run
    }

    #[test]
    fn others_are_the_limit_only_where_they_are_large_enough_to_be_it() {
        // Five threads of the server and one of the client fill what others leave of two CPUs.
        let limited = of(&full(5, 1.28, 0.15, 0.45));
        assert_eq!(limited.by, Limit::SharedCpu, "{limited}");
        assert!(limited.evidence.ends_with("other processes 0.150"), "{limited}");
        // They had as much as client and server, or client and server had a CPU for each thread.
        for run in [full(5, 0.5, 1.0, 0.5), full(1, 0.6, 0.9, 0.4)] {
            let limited = of(&run);
            assert_eq!(limited.by, Limit::OtherProcesses, "{limited}");
            let doubts = live::judge(&run).findings.into_iter();
            let stands = doubts
                .filter(|finding| finding.severity == Severity::Suspect)
                .any(|finding| finding.id == crate::DiagnosisId::D13);
            assert!(stands, "never with a run that is valid");
        }
        // Others took a part, and more threads than CPUs waited for each other, too.
        let limited = of(&full(5, 0.8, 0.6, 0.5));
        assert_eq!(limited.by, Limit::Unknown, "{limited}");
        assert!(limited.evidence.contains("each other or other processes, does not show"));
    }

    #[test]
    fn threads_that_run_without_a_load_are_in_the_way_and_not_others() {
        let mut run = full(5, 1.36, 0.1, 0.4);
        sample::monitor(&mut run).target.processes[0].at_rest = Some(AtRest {
            settled_ns: 600_000_000,
            watched_ns: 35_000_000,
            busiest_share: 0.91,
            cores: 0.91,
            busy_threads: 1,
        });
        let limited = of(&run);
        assert_eq!(limited.by, Limit::SharedCpu, "{limited}");
    }

    #[test]
    fn full_cpus_for_which_threads_waited_are_not_the_response_time() {
        let run = full(16, 0.95, 0.5, 0.2);
        let limited = of(&run);
        assert_eq!(limited.by, Limit::Unknown, "{limited}");
        assert!(limited.evidence.contains("for 20 % of the time"), "{limited}");
    }

    #[test]
    fn a_helper_that_waits_for_a_cpu_is_named_and_not_among_the_servers_threads() {
        let mut run = sample::with_shares(0.02, 0.1);
        sample::serving(&mut run);
        let mut child = sample::monitor(&mut run).target.processes[0].clone();
        (child.pid, child.name, child.serving) = (4_712, "worker".to_owned(), None);
        (child.user_ns, child.system_ns) = (6_800_000_000, 0);
        child.threads[0].cpu_ns = 6_800_000_000;
        sample::monitor(&mut run).target.processes.push(child);
        let limited = of(&run);
        assert_eq!(limited.by, Limit::ResponseTime);
        assert!(!limited.evidence.contains("together"), "{limited}");
        let named = "worker, which it started and which does not listen there, used 68 % of a core";
        assert!(limited.evidence.contains(named), "{limited}");
        let child = &mut sample::monitor(&mut run).target.processes[1];
        child.threads[0].waited_ns = 3_000_000_000;
        let limited = of(&run);
        assert_eq!(limited.by, Limit::Unknown, "{limited}");
        let said = "had a thread at 68 % of a core that waited for a CPU for 30 % of the time";
        assert!(limited.evidence.contains(said), "{limited}");
    }
}
