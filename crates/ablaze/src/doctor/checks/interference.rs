//! Who else uses this machine: other processes, other guests of the same host, memory that is
//! short.

use ablaze_report::number::bytes;
use ablaze_verdict::words::{decimal, listed, percent};

use crate::doctor::check::Check;
use crate::doctor::facts::Facts;

const NEIGHBOURS: &str = "neighbours";
const LOAD: &str = "load-average";
const STEAL: &str = "steal";
const PRESSURE: &str = "pressure";
const MEMORY: &str = "memory";
const SWAP: &str = "swap";

/// Cores that others use: from here a measurement feels them, and from there it is about them.
const FELT_CORES: f64 = 0.1;
const TOO_MANY_CORES: f64 = 0.5;
/// Those that no process in sight accounts for; the kernel counts them in ticks, coarsely.
const UNSEEN_CORES: f64 = 0.5;
/// At most this many neighbours are listed.
const NAMED: usize = 5;

const MEBIBYTE: u64 = 1 << 20;

/// The processes that use the processors now, the target's own aside.
pub fn neighbours(facts: &Facts) -> Option<Check> {
    let sample = &facts.preflight.sample;
    let length_ns = sample.length_ns.max(1) as f64;
    let busy = sample.kernel.processors.map(|times| times.busy_ns() as f64 / length_ns);
    let Some(all) = &sample.neighbours else {
        return Some(Check::unknown(NEIGHBOURS, "other processes in /proc"));
    };
    let holders = facts.target.as_ref().map_or(&[][..], |target| &target.server.holders);
    let others: Vec<_> =
        all.iter().filter(|one| holders.iter().all(|holder| holder.pid != one.pid)).collect();
    let cores: f64 = others.iter().map(|one| one.share(sample.length_ns)).sum();
    let seen: f64 = all.iter().map(|one| one.share(sample.length_ns)).sum();
    let unseen = busy.map_or(0.0, |busy| busy - seen);
    let named = others.iter().take(NAMED).map(|one| {
        format!("{} (pid {}) {}", one.name, one.pid, percent(one.share(sample.length_ns)))
    });
    let mut figure = match others.is_empty() {
        true => "none".to_owned(),
        false => format!("{} cores busy: {}", decimal(cores, 2), listed(named)),
    };
    let hidden = unseen >= UNSEEN_CORES;
    if hidden {
        figure.push_str(&format!(
            "; {} more cores by processes that exited meanwhile or are not visible from here",
            decimal(unseen, 1)
        ));
    }
    let effect = "they compete with the server and with ablaze: they lower the rate and raise the \
                  latency, differently in each run";
    let advice = "stop them or wait until they finish, and check again";
    Some(match cores {
        TOO_MANY_CORES.. => Check::problem(NEIGHBOURS, figure, effect).advice(advice),
        FELT_CORES.. => Check::note(NEIGHBOURS, figure, effect).advice(advice),
        _ if hidden => Check::note(NEIGHBOURS, figure, effect).advice(advice),
        _ => Check::ok(NEIGHBOURS, figure),
    })
}

/// Whether the minute before was busy.
pub fn load_average(facts: &Facts) -> Option<Check> {
    let Some((load, cpus)) = facts.preflight.environment.load_average.zip(facts.usable_cpus())
    else {
        return Some(Check::unknown(LOAD, "/proc/loadavg"));
    };
    let figure = format!("{} over the last minute, {} CPUs", decimal(load, 2), decimal(cpus, 0));
    if load <= cpus {
        return Some(Check::ok(LOAD, figure));
    }
    let effect = "there was more work than processors: the cause may return during a run";
    Some(
        Check::note(LOAD, figure, effect)
            .advice("find the cause, or wait a minute:")
            .command("top -o %CPU"),
    )
}

/// Whether the hypervisor gives this machine's processors to others.
pub fn steal(facts: &Facts) -> Option<Check> {
    let times = facts.preflight.sample.kernel.processors.filter(|times| times.total_ns() > 0);
    let Some(times) = times else { return Some(Check::unknown(STEAL, "/proc/stat")) };
    let share = times.steal_ns as f64 / times.total_ns() as f64;
    let figure = format!("{} of the processors' time", percent(share));
    let effect = "the host runs other guests instead of this one, which distorts every run";
    let advice = "measure at another time or on a machine with dedicated processors; compare only \
                  interleaved runs";
    Some(match share {
        0.1.. => Check::problem(STEAL, figure, effect).advice(advice),
        0.02.. => Check::note(STEAL, figure, effect).advice(advice),
        _ => Check::ok(STEAL, figure),
    })
}

/// Whether tasks wait for processors, memory or disks now.
pub fn pressure(facts: &Facts) -> Option<Check> {
    let sample = &facts.preflight.sample;
    let Some(pressure) = sample.kernel.pressure else {
        return Some(Check::unknown(PRESSURE, "/proc/pressure"));
    };
    let share = |ns: Option<u64>| ns.map(|ns| ns as f64 / sample.length_ns.max(1) as f64);
    let waits = [
        ("processors", share(pressure.cpu_some_ns), 0.25),
        ("memory", share(pressure.memory_some_ns), 0.01),
        ("disks", share(pressure.io_some_ns), 0.25),
    ];
    let told =
        |name: &str, share: f64| format!("{} of the time for {name}", percent(share.min(1.0)));
    let known = waits.iter().filter_map(|(name, share, _)| Some(told(name, (*share)?)));
    let figure = format!("tasks waited {}", listed(known));
    let over: Vec<&str> = waits
        .iter()
        .filter(|(_, share, most)| share.is_some_and(|share| share > *most))
        .map(|(name, ..)| *name)
        .collect();
    if over.is_empty() {
        return Some(Check::ok(PRESSURE, figure));
    }
    let effect = format!("a server that shares the {} waits, too", listed(&over));
    let advice = "see neighbours and memory; measure when the machine is quiet";
    Some(match over.contains(&"memory") {
        true => Check::problem(PRESSURE, figure, effect).advice(advice),
        false => Check::note(PRESSURE, figure, effect).advice(advice),
    })
}

/// Whether memory is short.
pub fn memory(facts: &Facts) -> Option<Check> {
    let environment = &facts.preflight.environment;
    let known = environment.memory_available_bytes.zip(environment.memory_bytes);
    let Some((available, total)) = known else {
        return Some(Check::unknown(MEMORY, "/proc/meminfo"));
    };
    let share = available as f64 / total.max(1) as f64;
    let figure = format!("{} of {} available", bytes(available as f64), bytes(total as f64));
    let effect = "the kernel drops caches and swaps during a run: pauses of milliseconds or more, \
                  in the server, too";
    let advice = "stop what uses it; the largest processes come first in:";
    let command = "ps -eo pid,rss,comm --sort=-rss | head";
    Some(if share < 0.05 || available < 128 * MEBIBYTE {
        Check::problem(MEMORY, figure, effect).advice(advice).command(command)
    } else if share < 0.1 || available < 512 * MEBIBYTE {
        Check::note(MEMORY, figure, effect).advice(advice).command(command)
    } else {
        Check::ok(MEMORY, figure)
    })
}

/// Whether memory of processes was swapped out.
pub fn swap(facts: &Facts) -> Option<Check> {
    let Some((used, total)) = facts.preflight.swap_used_bytes.zip(facts.preflight.swap_bytes)
    else {
        return Some(Check::unknown(SWAP, "/proc/meminfo"));
    };
    if total == 0 {
        return Some(Check::ok(SWAP, "none"));
    }
    let figure = format!("{} of {} in use", bytes(used as f64), bytes(total as f64));
    if used < 64 * MEBIBYTE {
        return Some(Check::ok(SWAP, figure));
    }
    let effect = "a server that was idle reads its pages back from disk on its first requests: \
                  milliseconds each";
    let fits =
        facts.preflight.environment.memory_available_bytes.is_some_and(|free| free > 2 * used);
    let check = Check::note(SWAP, figure, effect);
    Some(match fits {
        true => check
            .advice("it fits into memory; to read it back:")
            .command("sudo swapoff -a && sudo swapon -a"),
        false => check.advice("free memory first, or exclude the first seconds with --warmup"),
    })
}

#[cfg(test)]
#[path = "interference_tests.rs"]
mod tests;
