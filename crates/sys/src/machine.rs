//! Facts about this machine, for reports.

use std::fs;

/// Release of the running kernel, as `uname -r` prints it.
pub fn kernel_release() -> Option<String> {
    let release = rustix::system::uname().release().to_str().ok()?.to_owned();
    (!release.is_empty()).then_some(release)
}

/// Model of the first CPU.
pub fn cpu_model() -> Option<String> {
    model_in(&fs::read_to_string("/proc/cpuinfo").ok()?)
}

/// Memory of the machine, bytes.
pub fn memory_bytes() -> Option<u64> {
    memory_in(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn model_in(cpuinfo: &str) -> Option<String> {
    // x86 says "model name"; some ARM kernels say "Model" or "Hardware", many nothing at all.
    ["model name", "Model", "Hardware"].iter().find_map(|name| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == *name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    })
}

fn memory_in(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_from_the_kernels_files() {
        assert_eq!(model_in("processor\t: 0\nmodel name\t: A 1: B\n"), Some("A 1: B".into()));
        assert_eq!(model_in("processor\t: 0\n"), None);
        assert_eq!(memory_in("MemTotal:        8000 kB\nMemFree: 1 kB\n"), Some(8_192_000));
        assert_eq!(memory_in("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn this_machine_has_a_kernel_and_memory() {
        assert!(kernel_release().unwrap().contains('.'));
        assert!(memory_bytes().unwrap() > 1 << 20);
    }
}
