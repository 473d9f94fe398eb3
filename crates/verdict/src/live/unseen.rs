//! Why some rules have nothing to go by in a Run: what was not asked for, and what was not seen.

use ablaze_model::Run;
use ablaze_model::finding::Passed;

use super::figures::{is_over_tcp, monitor, server, target, users_pause};
use crate::DiagnosisId::{self, *};

const NO_MONITOR: &str = "there was no monitor";
const AWAY: &str = "the server is on another machine";
const UNKNOWN: &str = "the run has no figures for it";

/// The rules that had nothing to go by, each with its own reason; those of one reason stand together.
pub(super) fn why(run: &Run, passed: &[Passed]) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for id in passed.iter().filter(|one| one.evidence.is_none()).map(|one| one.id) {
        let reason = reason(run, id);
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, ids)) => ids.push(id.to_string()),
            None => groups.push((reason, vec![id.to_string()])),
        }
    }
    let said = |(reason, ids): (&str, Vec<String>)| format!("{} ({reason})", ids.join(", "));
    groups.into_iter().map(said).collect::<Vec<_>>().join("; ")
}

fn reason(run: &Run, id: DiagnosisId) -> &'static str {
    let is_open = run.plan.load.is_open();
    let connections = &run.plan.connections;
    match id {
        D01 | D34 | D39 if is_open => "an open loop has no requested number in flight",
        D34 | D39 if run.record.users_out() > 0 => {
            "users failed in their setup, and have nothing in flight"
        }
        D01 | D34 | D39 if users_pause(run) => "users pause, and have nothing in flight meanwhile",
        D30 if !is_open => "in a closed loop no request is due at a time of its own",
        D12 | D24 | D25 | D26 | D27 | D28 => of_server(run, id),
        D13 | D22 | D23 | D38 | D58 if monitor(run).is_none() => NO_MONITOR,
        D49 if target(run).is_none() => of_server(run, id),
        D13 if target(run).is_some() && server(run).is_none() => of_server(run, D12),
        D13 | D22 | D23 => "the kernel's counters for it could not be read",
        _ if crate::limit::ended_before_clock(run) => "the clock had not started",
        _ if run.record.responses == 0 => "no response came",
        D18 | D19 if !connections.keep_alive => "keep-alive was off",
        D19 => "each connection was to end after a number of requests",
        D33 => "the address that was connected to is not known, or it is a Unix socket",
        D57 => of_times(run),
        D09 => of_timers(run),
        _ => UNKNOWN,
    }
}

/// What a rule lacks that goes by the server's processes.
fn of_server(run: &Run, id: DiagnosisId) -> &'static str {
    if monitor(run).is_none() {
        return NO_MONITOR;
    }
    let Some(target) = target(run) else { return AWAY };
    if target.processes.is_empty() {
        return "the server's process was not found";
    }
    match id {
        D12 if target.children_ended > 0 => {
            "the server starts processes, whose CPU time is not known once they end"
        }
        D24 => {
            "the debug data of the server's program tells nothing of how it was built, or there is none"
        }
        D25 => "it needs `ablaze serve` with an epoll model or --sndbuf",
        D26 => {
            "the server was not so busy that it was looked at without load, or may have had requests left then"
        }
        D27 => {
            "fewer than two threads of one kind served, or the load had fewer connections than those"
        }
        D28 if run.record.connections_opened < 1000 => "fewer than 1,000 connections were opened",
        D28 if run.record.responses > run.record.connections_opened.saturating_mul(2) => {
            "connections were kept for more than two responses each"
        }
        D28 => "no thread was seen to wait for connections with epoll",
        D49 => UNKNOWN,
        _ => "the server's process was not seen for long enough",
    }
}

/// What D57 lacks.
fn of_times(run: &Run) -> &'static str {
    let changes = !run.rate_changes.is_empty()
        || run.plan.connections.ramp_ns > 0
        || run.plan.journey.is_some()
        || run.record.groups.len() > 1;
    let slices = run.elapsed_ns.checked_div(run.record.slices.slice_ns).unwrap_or(0);
    if run.plan.load.is_open() && run.record.drain_ns.is_some_and(|drain_ns| drain_ns > 0) {
        return "all that was due had been sent, and was waited for";
    }
    match changes || users_pause(run) {
        true => "the load was not one and the same all through the run",
        false if slices < LEAST_SLICES => "the run was too short to be looked at in thirds",
        false => {
            "too few responses came in the thirds of the run, or its beginning ran at another rate"
        }
    }
}

/// Seven in each third.
const LEAST_SLICES: u64 = 21;

/// What D09 lacks.
fn of_timers(run: &Run) -> &'static str {
    let median_ns = run.record.answered.total.quantile_ns(0.5);
    match median_ns {
        Some(median_ns) if median_ns > 20_000_000 => {
            "responses took so long that 200 ms more would not stand out"
        }
        _ if monitor(run).is_none() => NO_MONITOR,
        _ if !is_over_tcp(run) => "the load did not go over TCP",
        _ => "nothing counted what was sent again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{judge, sample};

    #[test]
    fn each_rule_has_the_reason_of_its_own() {
        let mut run = sample::with_shares(0.5, 0.5);
        let why = |run: &Run| judge(run).unseen_because;
        let said = why(&run);
        for part in [
            "D25 (it needs `ablaze serve`",
            "D26 (the server was not so busy",
            "D27 (fewer than two threads",
            "D28 (fewer than 1,000 connections",
            "D30 (in a closed loop",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        run.record.connections_opened = 2_000;
        assert!(
            why(&run).contains("D28 (connections were kept for more than two"),
            "{}",
            why(&run)
        );
        sample::monitor(&mut run).target.on_this_host = false;
        assert!(why(&run).contains("D28 (the server is on another machine)"), "{}", why(&run));
        run.monitor = None;
        assert!(why(&run).contains("D28, D38, D58 (there was no monitor)"), "{}", why(&run));
        sample::open_loop(&mut run, 10.0);
        let open = why(&run);
        assert!(open.starts_with("D01, D34, D39 (an open loop has no requested"), "{open}");
        assert!(!open.contains("D30 (in a closed"), "{open}");
    }
}
