//! Which CPUs this process may use, and pinning a thread to one of them.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs the calling thread may run on, by number, ascending; `None` when the kernel does not
/// say.
pub fn allowed_cpus() -> Option<Vec<u32>> {
    let set = sched_getaffinity(None).ok()?;
    let cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32);
    Some(cpus.collect())
}

/// Pins the calling thread to one CPU.
///
/// # Errors
/// When the CPU does not exist or is not permitted to this process.
pub fn pin_thread(cpu: u32) -> io::Result<()> {
    keep_thread_on(&[cpu])
}

/// Keeps the calling thread on these CPUs, and what it starts from now on.
///
/// # Errors
/// When none of the CPUs is permitted to this process, or one cannot exist.
pub fn keep_thread_on(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        set.set(cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_may_use_that_cpu_alone() {
        std::thread::spawn(|| {
            let cpu = *allowed_cpus().unwrap().last().unwrap();
            pin_thread(cpu).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [cpu]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_an_error() {
        assert!(pin_thread(1023).is_err());
        assert!(pin_thread(1_000_000).is_err());
    }
}
