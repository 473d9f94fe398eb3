//! The processors that a run would have: how many, how fast, how soon awake.

use ablaze_verdict::words::{counted, decimal, grouped, listed, time};

use crate::doctor::check::Check;
use crate::doctor::facts::Facts;

const CPUS: &str = "cpus";
const QUOTA: &str = "cpu-quota";
const THROTTLING: &str = "throttling";
const GOVERNOR: &str = "governor";
const TURBO: &str = "turbo";
const IDLE: &str = "idle-states";
const WAKE_UPS: &str = "wake-ups";

/// Waking from states up to this is lost among the 50 µs of timer slack, µs.
const SHALLOW_US: u64 = 50;
/// Twice the timer slack and more: something else kept the processor, ns.
const LATE_NS: u64 = 250_000;
/// So late that an open loop of 1,000/s is a request behind, ns.
const TOO_LATE_NS: u64 = 1_000_000;

/// How many processors this process may use.
pub fn cpus(facts: &Facts) -> Option<Check> {
    let environment = &facts.preflight.environment;
    let Some(allowed) = environment.cpus_allowed.as_ref().map(|cpus| cpus.len() as u64) else {
        return Some(Check::unknown(CPUS, "the affinity mask of this process"));
    };
    let online = environment.cpus_online.map(u64::from);
    let figure = match online {
        Some(online) if online != allowed => {
            format!("{} allowed of {} online", counted(allowed, "CPU"), grouped(online))
        }
        _ => counted(allowed, "CPU"),
    };
    if allowed > 1 {
        return Some(Check::ok(CPUS, figure));
    }
    let effect = "ablaze and a server on this host share it: a run measures both together";
    let check = Check::note(CPUS, figure, effect);
    Some(match online {
        Some(online @ 2..) => check
            .advice("this shell is pinned to one CPU; to let it use all of them:")
            .command(format!("taskset -cp 0-{} $$", online - 1)),
        _ => {
            check.advice("run ablaze on another machine, or read the rate as that of both together")
        }
    })
}

/// Whether a control group grants less time than there are processors.
pub fn cpu_quota(facts: &Facts) -> Option<Check> {
    let environment = &facts.preflight.environment;
    let Some(quota) = environment.cpu_quota else {
        return Some(Check::ok(QUOTA, "none"));
    };
    let allowed = environment.cpus_allowed.as_ref().map(|cpus| cpus.len() as f64);
    let figure = format!("{} CPUs", decimal(quota, 2));
    if allowed.is_some_and(|allowed| quota >= allowed) {
        return Some(Check::ok(QUOTA, figure));
    }
    let effect = "when it is used up, every thread of the control group stops for the rest of a \
                  100 ms period, which shows as slow responses";
    let check = match quota {
        ..1.0 => Check::problem(QUOTA, figure, effect),
        _ => Check::note(QUOTA, figure, effect),
    };
    Some(check.advice(
        "start the container without a CPU limit (docker: no --cpus; Kubernetes: no CPU limit), or \
         pin it to whole CPUs (docker: --cpuset-cpus)",
    ))
}

/// Whether such a quota has been used up.
pub fn throttling(facts: &Facts) -> Option<Check> {
    let Some(since_start) = facts.preflight.throttled else {
        return Some(Check::ok(THROTTLING, "no quota in effect"));
    };
    let now = facts.preflight.sample.kernel.throttled.map_or(0, |throttled| throttled.periods);
    let figure = format!(
        "throttled in {}, {} in all, {} during the check",
        counted(since_start.periods, "period"),
        time(since_start.time_ns as f64 / 1e6),
        grouped(now)
    );
    let advice = "give the control group more CPU time, or reduce the load";
    Some(match (now, since_start.periods) {
        (0, 0) => Check::ok(THROTTLING, "never"),
        (0, _) => Check::note(
            THROTTLING,
            figure,
            "the control group has used up its CPU quota before, and may do so again during a run",
        )
        .advice(advice),
        _ => Check::problem(
            THROTTLING,
            figure,
            "the control group is using up its CPU quota now: threads stop for up to 100 ms",
        )
        .advice(advice),
    })
}

/// Who decides how fast the processors run. `powersave` of intel_pstate and amd-pstate follows the
/// load as schedutil does; that of other drivers is the lowest frequency, always.
pub fn governor(facts: &Facts) -> Option<Check> {
    let frequency = &facts.preflight.frequency;
    if frequency.governors.is_empty() {
        return Some(Check::unknown(GOVERNOR, "cpufreq/scaling_governor"));
    }
    let mut figure = listed(&frequency.governors);
    if let Some(driver) = &frequency.driver {
        figure.push_str(&format!(" by {driver}"));
    }
    if let Some((now, most)) = frequency.slowest_khz.zip(frequency.fastest_khz) {
        let ghz = |khz: u64| decimal(khz as f64 / 1e6, 2);
        figure.push_str(&format!(", {} GHz now, at most {}", ghz(now), ghz(most)));
    }
    if frequency.governors.iter().all(|name| name == "performance") {
        return Some(Check::ok(GOVERNOR, figure));
    }
    let follows = frequency.driver.as_ref().is_some_and(|driver| driver.contains("pstate"));
    let lowest = !follows && frequency.governors.iter().any(|name| name == "powersave");
    let check = if lowest {
        let effect = "the processors stay at their lowest frequency under any load";
        Check::problem(GOVERNOR, figure, effect)
    } else {
        let effect = "the frequency follows the load: a half-idle server looks slower than a busy \
                      one, and the first second slower than the next";
        Check::note(GOVERNOR, figure, effect)
    };
    Some(check.command(
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    ))
}

/// Whether the processors may exceed their nominal frequency while they are cool.
pub fn turbo(facts: &Facts) -> Option<Check> {
    Some(match facts.preflight.frequency.turbo {
        None => Check::unknown(TURBO, "intel_pstate/no_turbo, cpufreq/boost"),
        Some(false) => Check::ok(TURBO, "off"),
        Some(true) => {
            let intel = facts.preflight.frequency.driver.as_deref() == Some("intel_pstate");
            let command = match intel {
                true => "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
                false => "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
            };
            let effect = "the frequency falls as the processors warm up: the later of two runs is \
                          slower, often by more than the change being measured";
            Check::note(TURBO, "on", effect)
                .advice("to compare differences of a few percent, turn it off:")
                .command(command)
        }
    })
}

/// How long an idle processor takes to wake up.
pub fn idle_states(facts: &Facts) -> Option<Check> {
    let Some(states) = &facts.preflight.idle_states else {
        return Some(Check::unknown(IDLE, "cpuidle"));
    };
    let Some(deepest) = states.deepest() else {
        return Some(Check::ok(IDLE, "all disabled"));
    };
    let figure =
        format!("the deepest, {}, takes {} µs to wake from", deepest.name, deepest.exit_us);
    if deepest.exit_us <= SHALLOW_US {
        return Some(Check::ok(IDLE, figure));
    }
    let effect = format!(
        "at low rates, processors sleep between requests: this adds up to {} µs to each latency, \
         on both sides, and vanishes under load",
        deepest.exit_us
    );
    Some(
        Check::note(IDLE, figure, effect)
            .command(format!("sudo cpupower idle-set -D {SHALLOW_US}")),
    )
}

/// How late a sleep of a millisecond ends.
pub fn wake_ups(facts: &Facts) -> Option<Check> {
    let Some(late) = facts.preflight.sample.lateness else {
        return Some(Check::unknown(WAKE_UPS, "how late a sleep ends"));
    };
    let ms = |ns: u64| time(ns as f64 / 1e6);
    let mut figure = format!(
        "{} of 1 ms overslept by {} (p50), {} (p99), {} at most",
        counted(late.sleeps, "sleep"),
        ms(late.p50_ns),
        ms(late.p99_ns),
        ms(late.max_ns)
    );
    if let Some(slack) = facts.preflight.timer_slack_ns {
        figure.push_str(&format!("; timer slack accounts for {}", ms(slack)));
    }
    let effect = "waiting threads, the server's too, find their processor busy: the slowest \
                  responses of a run are late by this much, whatever the server does";
    let advice = "see neighbours, steal and pressure; if those are fine, pin server and client to \
                  separate CPUs (--cpus, taskset)";
    Some(if late.p99_ns >= TOO_LATE_NS {
        Check::problem(WAKE_UPS, figure, effect).advice(advice)
    } else if late.p99_ns >= LATE_NS {
        Check::note(WAKE_UPS, figure, effect).advice(advice)
    } else {
        Check::ok(WAKE_UPS, figure)
    })
}

#[cfg(test)]
#[path = "processors_tests.rs"]
mod tests;
