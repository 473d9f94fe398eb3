//! The machine as it was before the run: what a reader of the report needs to judge the number,
//! and what rules compare it with.

use std::collections::BTreeMap;
use std::fs;

use crate::proc_text::{line_of, number_after};
use ablaze_model::monitor::{DescriptorLimits, Environment};
use ablaze_sys::{affinity, limits, machine, quota, timer_slack};

/// Settings of the kernel that a diagnosis or its reader needs.
const SETTINGS: [&str; 17] = [
    "kernel.sched_autogroup_enabled",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syn_linear_timeouts",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
];

/// Reads it, in some hundred microseconds.
pub fn of_this_machine() -> Environment {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let limit = limits::descriptor_limit();
    let load = line_of("/proc/loadavg");
    Environment {
        kernel: machine::kernel_release(),
        architecture: std::env::consts::ARCH.to_owned(),
        cpu_model: machine::cpu_model(),
        cpus_online: cpus_online(),
        cpus_allowed: affinity::allowed_cpus(),
        cpu_quota: quota::cpu_quota(),
        memory_limit_bytes: quota::memory_limit_bytes(),
        timer_slack_ns: timer_slack::timer_slack_ns(),
        client_build: Some(
            if cfg!(debug_assertions) { "development" } else { "release" }.to_owned(),
        ),
        governor: line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualisation: virtualisation(),
        memory_bytes: machine::memory_bytes(),
        memory_available_bytes: number_after(&memory, "MemAvailable")
            .and_then(|kibibytes| kibibytes.checked_mul(1024)),
        load_average: load.and_then(|line| line.split(' ').next()?.parse().ok()),
        clock_source: line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        descriptors: DescriptorLimits { soft: limit.soft, hard: limit.hard },
        settings: settings(),
    }
}

/// Processors that are online.
pub(crate) fn cpus_online() -> Option<u32> {
    line_of("/sys/devices/system/cpu/online").and_then(|list| count(&list))
}

fn settings() -> BTreeMap<String, String> {
    SETTINGS
        .into_iter()
        .filter_map(|name| {
            let value = line_of(&format!("/proc/sys/{}", name.replace('.', "/")))?;
            let words: Vec<&str> = value.split_whitespace().collect();
            Some((name.to_owned(), words.join(" ")))
        })
        .collect()
}

/// How many numbers a list like `0-3,8` has.
fn count(list: &str) -> Option<u32> {
    let mut count = 0;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count += last.checked_sub(first)? + 1;
    }
    Some(count)
}

/// By name where the firmware or the kernel gives one, else by the CPU's own flag.
fn virtualisation() -> Option<String> {
    if std::path::Path::new("/.dockerenv").exists() {
        return Some("docker".to_owned());
    }
    let product = line_of("/sys/class/dmi/id/product_name").unwrap_or_default();
    let vendor = line_of("/sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let hypervisor = line_of("/sys/hypervisor/type");
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    named(&vendor, &product).or(hypervisor).or_else(|| {
        let flags = cpuinfo.lines().find(|line| line.starts_with("flags"))?;
        flags.split_whitespace().any(|flag| flag == "hypervisor").then(|| "a hypervisor".to_owned())
    })
}

/// The name of a virtual machine by what its firmware claims to be; `None` for real hardware.
fn named(vendor: &str, product: &str) -> Option<String> {
    const VIRTUAL: [&str; 10] = [
        "QEMU",
        "KVM",
        "VMware",
        "VirtualBox",
        "Xen",
        "Bochs",
        "Amazon EC2",
        "Google Compute Engine",
        "Parallels",
        "Virtual Machine",
    ];
    let firmware = format!("{vendor} {product}");
    // A rented machine of bare metal says so: `Amazon EC2 m5.metal`.
    let is_virtual = VIRTUAL.iter().any(|name| firmware.contains(name));
    (is_virtual && !firmware.contains(".metal")).then(|| firmware.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(count("0-3,8"), Some(5));
        assert_eq!(count("0"), Some(1));
        for list in ["", "0-", "3-1", "a", "0,,1"] {
            assert_eq!(count(list), None, "{list}");
        }
    }

    #[test]
    fn virtual_machines_are_known_by_their_firmware() {
        assert_eq!(named("QEMU", "Standard PC").unwrap(), "QEMU Standard PC");
        assert!(named("Amazon EC2", "m5.large").is_some());
        assert_eq!(named("Amazon EC2", "m5.metal"), None);
        assert_eq!(named("LENOVO", "20L5"), None);
        assert_eq!(named("", ""), None);
    }

    #[test]
    fn this_machine_is_known() {
        let here = of_this_machine();
        assert!(here.cpus_online.unwrap() >= here.cpus_allowed.unwrap().len() as u32);
        let range = &here.settings["net.ipv4.ip_local_port_range"];
        assert_eq!(range.split(' ').count(), 2, "{range:?}");
        assert!(here.memory_available_bytes <= here.memory_bytes);
    }
}
