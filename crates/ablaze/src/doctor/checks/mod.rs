//! The checks: pure functions from facts to a line each. None of them reads anything itself.

mod interference;
mod kernel;
mod limits;
mod network;
mod ports;
mod processors;
mod surroundings;
mod target;

use super::check::Check;
use super::facts::Facts;

/// A check by its name; `None` when it does not apply to what was asked.
type Judge = fn(&Facts) -> Option<Check>;

/// Every check, in the order in which those that found the same are told.
pub const CHECKS: [(&str, Judge); 36] = [
    ("target", target::target),
    ("listen-backlog", target::listen_backlog),
    ("server-descriptors", target::server_descriptors),
    ("port-proxy", target::port_proxy),
    ("cpus-left", target::cpus_left),
    ("connection-rate", ports::connection_rate),
    ("neighbours", interference::neighbours),
    ("load-average", interference::load_average),
    ("steal", interference::steal),
    ("pressure", interference::pressure),
    ("memory", interference::memory),
    ("swap", interference::swap),
    ("cpus", processors::cpus),
    ("cpu-quota", processors::cpu_quota),
    ("throttling", processors::throttling),
    ("governor", processors::governor),
    ("turbo", processors::turbo),
    ("idle-states", processors::idle_states),
    ("wake-ups", processors::wake_ups),
    ("clock", kernel::clock),
    ("kernel", kernel::version),
    ("io_uring", kernel::io_uring),
    ("descriptors", limits::descriptors),
    ("local-ports", ports::local_ports),
    ("time-wait", ports::time_wait),
    ("time-wait-reuse", ports::time_wait_reuse),
    ("accept-queue", network::accept_queue),
    ("syn-queue", network::syn_queue),
    ("packet-queue", network::packet_queue),
    ("socket-buffers", network::socket_buffers),
    ("loopback", network::loopback),
    ("connection-tracking", network::connection_tracking),
    ("virtualisation", surroundings::virtualisation),
    ("container", surroundings::container),
    ("profiling", surroundings::profiling),
    ("programs", surroundings::programs),
];

/// What all checks that apply say.
pub fn judge(facts: &Facts) -> Vec<Check> {
    CHECKS.iter().filter_map(|(_, judge)| judge(facts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::check::State;
    use crate::doctor::sample::listening;

    #[test]
    fn each_check_calls_itself_as_the_table_does_and_finds_nothing_on_a_quiet_machine() {
        let mut facts = listening(4096, 65_536, 10);
        facts.load.connections = Some(50);
        facts.load.rate_per_s = Some(100.0);
        let checks = judge(&facts);
        let names: Vec<&str> = checks.iter().map(|check| check.name).collect();
        assert_eq!(names, CHECKS.map(|(name, _)| name));
        for check in checks {
            // Where this kernel has no PSI, made-up facts have none either.
            let expected = check.state == State::Ok || check.name == "pressure";
            assert!(expected, "{check:?}");
        }
    }

    #[test]
    fn the_page_for_users_has_a_paragraph_on_each_check_and_on_no_other() {
        let page = ablaze_testing::repository::file("docs/doctor.md");
        let mut headings: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
        let mut names = CHECKS.map(|(name, _)| name);
        headings.sort_unstable();
        names.sort_unstable();
        assert_eq!(headings, names);
    }
}
