//! What this kernel offers: its version, io_uring, and a clock that is cheap to read.

use ablaze_verdict::words::{amount, percent};

use crate::doctor::check::Check;
use crate::doctor::facts::Facts;

const KERNEL: &str = "kernel";
const IO_URING: &str = "io_uring";
const CLOCK: &str = "clock";

/// Deferred task work on a ring, and all else that the driver on io_uring needs.
const RING: (u32, u32) = (6, 1);
/// epoll_pwait2, which waits to the nanosecond.
const EXACT_WAITS: (u32, u32) = (5, 11);

/// Reading a clock in the vDSO takes 20 to 60 ns, a system call and a slow timer several times
/// that, ns.
const SLOW_CLOCK_NS: f64 = 200.0;
/// Times that the clock is read for a request, at most: sent, first byte, last byte.
const READINGS: f64 = 3.0;

/// Whether the kernel has what ablaze makes use of.
pub fn version(facts: &Facts) -> Option<Check> {
    let release = facts.preflight.environment.kernel.as_deref();
    let Some((release, version)) = release.and_then(|text| Some((text, numbers(text)?))) else {
        return Some(Check::unknown(KERNEL, "the kernel version"));
    };
    let figure = format!("Linux {release}");
    let (wanted, effect) = match version {
        version if version < EXACT_WAITS => (
            RING,
            "no io_uring (needs 6.1) and no exact waits (epoll_pwait2, needs 5.11): ablaze uses \
             more CPU per request, and wakes up to a millisecond early to busy-wait",
        ),
        version if version < RING => (
            RING,
            "io_uring as ablaze uses it needs 6.1: ablaze falls back to epoll, with more system \
             calls per request",
        ),
        _ => return Some(Check::ok(KERNEL, figure)),
    };
    let advice =
        format!("use Linux {}.{} or newer where the client may be the limit", wanted.0, wanted.1);
    Some(Check::note(KERNEL, figure, effect).advice(advice))
}

/// Major and minor number of a release such as `6.1.0-18-amd64`.
fn numbers(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|letter: char| !letter.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Whether io_uring may be used.
pub fn io_uring(facts: &Facts) -> Option<Check> {
    let Err(reason) = &facts.ring else {
        return Some(Check::ok(IO_URING, "available"));
    };
    let effect = "ablaze falls back to epoll, which needs a send, a receive and a wait per request \
                  instead of one call for many, and reaches its own limit sooner";
    let check = Check::note(IO_URING, reason, effect);
    let disabled = facts.number("kernel.io_uring_disabled").is_some_and(|level| level > 0);
    Some(if disabled {
        check.command("sudo sysctl -w kernel.io_uring_disabled=0")
    } else if reason.contains("RLIMIT_MEMLOCK") {
        check.command("sudo prlimit --pid $$ --memlock=unlimited:unlimited")
    } else if reason.contains("6.1") {
        check.advice("use Linux 6.1 or newer")
    } else {
        check.advice(
            "in a container, use a seccomp profile that allows io_uring_setup, io_uring_enter and \
             io_uring_register (docker: --security-opt seccomp=PROFILE.json); elsewhere ignore it: \
             epoll measures the same",
        )
    })
}

/// Whether the clock is read without a system call.
pub fn clock(facts: &Facts) -> Option<Check> {
    let source = facts.preflight.environment.clock_source.as_deref();
    let cost_ns = facts.preflight.clock_read_ns;
    let cost = format!("{} ns per reading", amount(cost_ns));
    let figure = source.map_or_else(|| cost.clone(), |source| format!("{source}, {cost}"));
    if cost_ns <= SLOW_CLOCK_NS {
        return Some(Check::ok(CLOCK, figure));
    }
    let effect = format!(
        "at 100,000 requests a second, with up to {READINGS} readings each, the clock takes {} of \
         a core from ablaze, and as much from a server that logs times",
        percent(cost_ns * READINGS * 1e5 / 1e9)
    );
    let file = "/sys/devices/system/clocksource/clocksource0";
    Some(
        Check::problem(CLOCK, figure, effect)
            .advice(format!("if {file}/available_clocksource lists tsc:"))
            .command(format!("echo tsc | sudo tee {file}/current_clocksource")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::check::State;
    use crate::doctor::sample::{quiet, set};

    #[test]
    fn old_kernels_are_told_what_they_lack() {
        let facts = &mut quiet();
        for (release, state) in [
            (Some("6.1.0-18-amd64"), State::Ok),
            (Some("10.0"), State::Ok),
            (Some("5.15.167.4-microsoft"), State::Note),
            (Some("4.18.0"), State::Note),
            (Some("unknown"), State::Unknown),
            (None, State::Unknown),
        ] {
            facts.preflight.environment.kernel = release.map(str::to_owned);
            assert_eq!(version(facts).unwrap().state, state, "{release:?}");
        }
    }

    #[test]
    fn the_fix_for_io_uring_permits_it_where_it_was_forbidden() {
        let facts = &mut quiet();
        assert_eq!(io_uring(facts).unwrap().state, State::Ok);
        facts.ring = Err("io_uring is forbidden here (io_uring_setup: EPERM)".to_owned());
        let check = io_uring(facts).unwrap();
        assert_eq!(check.state, State::Note);
        assert!(check.figure.contains("EPERM") && check.advice.unwrap().contains("seccomp"));
        set(facts, "kernel.io_uring_disabled", "2");
        let command = io_uring(facts).unwrap().command;
        assert_eq!(command.as_deref(), Some("sudo sysctl -w kernel.io_uring_disabled=0"));
    }

    #[test]
    fn a_clock_behind_a_system_call_is_a_problem() {
        let facts = &mut quiet();
        assert_eq!(clock(facts).unwrap().state, State::Ok);
        facts.preflight.clock_read_ns = 1000.0;
        facts.preflight.environment.clock_source = Some("hpet".to_owned());
        let check = clock(facts).unwrap();
        assert_eq!(
            (check.state, check.figure.as_str()),
            (State::Problem, "hpet, 1,000 ns per reading")
        );
        // 3 readings of 1 µs for each of 100,000 requests are 300 ms of a second.
        assert!(check.effect.unwrap().contains("30 %"));
        facts.preflight.environment.clock_source = None;
        assert_eq!(clock(facts).unwrap().figure, "1,000 ns per reading");
    }
}
