//! What the kernel's counters rose by while a run took place: network, softnet, sockets in
//! TIME_WAIT, pressure, processor times, throttling, suspension.

use std::collections::BTreeMap;
use std::fs;

use ablaze_model::monitor::{Kernel, Pressure, Processors, Softnet, TimeWait};

use crate::connection_tracking::{self, Tracked};
use crate::cpu_group::Quotas;
use crate::interrupts;
use crate::network_counters;
use crate::proc_text::ticks_ns;

/// All counters at one moment.
#[derive(Debug, Clone)]
pub struct Reading {
    network: Option<BTreeMap<String, u64>>,
    softnet: Option<Softnet>,
    time_wait: Option<u64>,
    pressure: Pressure,
    processors: Option<Processors>,
    quotas: Quotas,
    asleep_ns: Option<u64>,
    tracked: Option<Tracked>,
}

impl Reading {
    /// Reads them.
    pub fn now() -> Self {
        // It sends datagrams, which are none of the run's.
        let threads_include_interrupts = interrupts::are_in_threads();
        let text = |path: &str| fs::read_to_string(path).ok();
        let pressure =
            |name: &str, kind: &str| stalled_ns(&text(&format!("/proc/pressure/{name}"))?, kind);
        Self {
            network: network_counters::now(),
            softnet: text("/proc/net/softnet_stat").and_then(|text| softnet(&text)),
            time_wait: text("/proc/net/sockstat").and_then(|text| time_wait(&text)),
            pressure: Pressure {
                cpu_some_ns: pressure("cpu", "some"),
                memory_some_ns: pressure("memory", "some"),
                memory_full_ns: pressure("memory", "full"),
                io_some_ns: pressure("io", "some"),
                io_full_ns: pressure("io", "full"),
            },
            processors: text("/proc/stat")
                .and_then(|text| processors(&text))
                .map(|times| Processors { threads_include_interrupts, ..times }),
            quotas: Quotas::own(),
            asleep_ns: asleep_ns(),
            tracked: Tracked::now(),
        }
    }
}

/// What they rose by from one reading to a later one.
pub fn between(before: &Reading, after: &Reading) -> Kernel {
    Kernel {
        network: both(&before.network, &after.network)
            .map(|(before, after)| network_counters::risen(before, after)),
        softnet: both(&before.softnet, &after.softnet).map(|(before, after)| Softnet {
            processed: after.processed.saturating_sub(before.processed),
            dropped: after.dropped.saturating_sub(before.dropped),
            squeezed: after.squeezed.saturating_sub(before.squeezed),
        }),
        time_wait: both(&before.time_wait, &after.time_wait)
            .map(|(before, after)| TimeWait { before: *before, after: *after }),
        pressure: pressure_between(&before.pressure, &after.pressure),
        processors: both(&before.processors, &after.processors)
            .map(|(before, after)| processors_between(before, after)),
        throttled: before.quotas.until(&after.quotas),
        suspended_ns: both(&before.asleep_ns, &after.asleep_ns)
            .map(|(before, after)| after.saturating_sub(*before)),
        connection_tracking: both(&before.tracked, &after.tracked)
            .map(|(before, after)| connection_tracking::between(before, after)),
    }
}

fn both<'a, T>(before: &'a Option<T>, after: &'a Option<T>) -> Option<(&'a T, &'a T)> {
    before.as_ref().zip(after.as_ref())
}

fn pressure_between(before: &Pressure, after: &Pressure) -> Option<Pressure> {
    let risen = |field: fn(&Pressure) -> Option<u64>| {
        field(before).zip(field(after)).map(|(before, after)| after.saturating_sub(before))
    };
    let pressure = Pressure {
        cpu_some_ns: risen(|p| p.cpu_some_ns),
        memory_some_ns: risen(|p| p.memory_some_ns),
        memory_full_ns: risen(|p| p.memory_full_ns),
        io_some_ns: risen(|p| p.io_some_ns),
        io_full_ns: risen(|p| p.io_full_ns),
    };
    let known = pressure.cpu_some_ns.or(pressure.memory_some_ns).or(pressure.io_some_ns);
    known.map(|_| pressure)
}

fn processors_between(before: &Processors, after: &Processors) -> Processors {
    // Idle time can step back a little (proc(5)).
    let risen = |field: fn(&Processors) -> u64| field(after).saturating_sub(field(before));
    Processors {
        user_ns: risen(|p| p.user_ns),
        system_ns: risen(|p| p.system_ns),
        interrupts_ns: risen(|p| p.interrupts_ns),
        idle_ns: risen(|p| p.idle_ns),
        steal_ns: risen(|p| p.steal_ns),
        threads_include_interrupts: after.threads_include_interrupts,
    }
}

/// One line of hexadecimal columns per CPU; the first three are processed, dropped, squeezed
/// (net/core/net-procfs.c).
fn softnet(text: &str) -> Option<Softnet> {
    let mut sum = Softnet { processed: 0, dropped: 0, squeezed: 0 };
    for line in text.lines() {
        let mut columns = line.split_whitespace().map(|column| u64::from_str_radix(column, 16));
        let mut next = || columns.next()?.ok();
        sum.processed += next()?;
        sum.dropped += next()?;
        sum.squeezed += next()?;
    }
    (!text.trim().is_empty()).then_some(sum)
}

/// The `tw` of `TCP: inuse 5 orphan 0 tw 19399 alloc 5 mem 250`.
fn time_wait(sockstat: &str) -> Option<u64> {
    let line = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

/// The `total` of the line that begins with `kind`, which is in µs.
fn stalled_ns(pressure: &str, kind: &str) -> Option<u64> {
    let line = pressure.lines().find_map(|line| line.strip_prefix(kind))?;
    let total = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1000)
}

/// `cpu user nice system idle iowait irq softirq steal guest guest_nice`, in clock ticks. Guest
/// times are in user and nice already.
fn processors(stat: &str) -> Option<Processors> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let columns: Vec<u64> = line
        .split_whitespace()
        .map(|column| column.parse().map(ticks_ns))
        .collect::<Result<_, _>>()
        .ok()?;
    let [user, nice, system, idle, waiting, hard, soft, steal, ..] = columns[..] else {
        return None;
    };
    Some(Processors {
        user_ns: user + nice,
        system_ns: system,
        interrupts_ns: hard + soft,
        idle_ns: idle + waiting,
        steal_ns: steal,
        threads_include_interrupts: None,
    })
}

/// CLOCK_BOOTTIME goes on while the machine is suspended, CLOCK_MONOTONIC does not.
fn asleep_ns() -> Option<u64> {
    let boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let boot_ns = boot.tv_sec as u64 * 1_000_000_000 + boot.tv_nsec as u64;
    // Whole milliseconds: the two are not read at the same moment.
    Some(boot_ns.saturating_sub(crate::clock::monotonic_ns()) / 1_000_000 * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softnet_sums_over_the_cpus_in_hexadecimal() {
        let text = "0dd16b9d 00002c8e 00000040 00000000\n00000002 00000001 00000003 00000000\n";
        let sum = softnet(text).unwrap();
        assert_eq!((sum.processed, sum.dropped, sum.squeezed), (0x0dd1_6b9f, 0x2c8f, 0x43));
        for text in ["", "xyz", "00000001 00000002", "00000001 00000002 0000000g"] {
            assert_eq!(softnet(text), None, "{text}");
        }
    }

    #[test]
    fn sockets_and_pressure_are_found_by_name() {
        let text = "sockets: used 43\nTCP: inuse 5 orphan 0 tw 19399 alloc 5 mem 250\n";
        assert_eq!(time_wait(text), Some(19_399));
        assert_eq!(time_wait("TCP: inuse 5"), None);
        assert_eq!(time_wait("TCP: tw many"), None);
        let text = "some avg10=98.48 avg60=94.68 avg300=89.19 total=5773323277\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(stalled_ns(text, "some"), Some(5_773_323_277_000));
        assert_eq!(stalled_ns(text, "full"), Some(7000));
        assert_eq!(stalled_ns("some avg10=1", "some"), None);
        assert_eq!(stalled_ns("some total=99999999999999999999", "some"), None);
    }

    #[test]
    fn processor_times_are_all_there_or_none() {
        let tick = ticks_ns(1);
        let times = processors("cpu  10 20 30 40 5 6 7 8 0 0\ncpu0 1 1 1\n").unwrap();
        assert_eq!(times.user_ns, 30 * tick);
        assert_eq!((times.interrupts_ns, times.idle_ns), (13 * tick, 45 * tick));
        assert_eq!(times.total_ns(), 126 * tick);
        for text in ["", "cpu  1 2 3\n", "cpu  1 2 3 x 5 6 7 8\n", "cpu0 1 2 3 4 5 6 7 8\n"] {
            assert_eq!(processors(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_unknown_before_or_after_is_unknown() {
        let mut before = Reading::now();
        before.softnet = None;
        before.pressure.cpu_some_ns = None;
        let delta = between(&before, &Reading::now());
        assert_eq!(delta.softnet, None);
        assert!(delta.pressure.is_none_or(|pressure| pressure.cpu_some_ns.is_none()));
        let processors = delta.processors.unwrap();
        assert!(processors.total_ns() < 60_000_000_000 * 64, "{processors:?}");
        assert_eq!(delta.suspended_ns, Some(0));
    }
}
