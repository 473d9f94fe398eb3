//! The CPU time and the memory that a control group grants: version 2 (`cpu.max`, `memory.max`) and
//! version 1 (`cpu.cfs_quota_us`, `memory.limit_in_bytes`). A container with 64 CPUs in sight and a
//! quota of 2 has 2.

use std::fs;
use std::path::Path;

/// The smallest CPU quota of this process's control group and the groups above it, in CPUs;
/// `None` when there is none.
pub fn cpu_quota() -> Option<f64> {
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    quota_under(Path::new(MOUNT), &membership)
}

/// The smallest limit on memory of this process's control group and the groups above it, bytes;
/// `None` when there is none.
pub fn memory_limit_bytes() -> Option<u64> {
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    memory_limit_under(Path::new(MOUNT), &membership)
}

const MOUNT: &str = "/sys/fs/cgroup";

fn quota_under(root: &Path, membership: &str) -> Option<f64> {
    smallest_of(root, membership, "cpu", version_2, version_1)
}

fn memory_limit_under(root: &Path, membership: &str) -> Option<u64> {
    let number = |group: &Path, name: &str| -> Option<f64> {
        fs::read_to_string(group.join(name)).ok()?.trim().parse().ok()
    };
    let limit = smallest_of(
        root,
        membership,
        "memory",
        // `max` is no number.
        |group| number(group, "memory.max"),
        // No limit is the largest number of pages: 8 EiB less one page.
        |group| number(group, "memory.limit_in_bytes").filter(|bytes| *bytes < 9e18),
    );
    limit.map(|bytes| bytes as u64)
}

/// The smallest figure of the groups that this process is in, for one controller.
fn smallest_of(
    root: &Path,
    membership: &str,
    controller: &str,
    version_2: impl Fn(&Path) -> Option<f64>,
    version_1: impl Fn(&Path) -> Option<f64>,
) -> Option<f64> {
    // Lines are `hierarchy:controllers:path`; version 2 is `0::path` (cgroups(7)).
    let figures = membership.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        if controllers.is_empty() {
            smallest(root, path, &version_2)
        } else if controllers.split(',').any(|name| name == controller) {
            let own = root.join(controllers);
            let mount = if own.is_dir() { own } else { root.join(controller) };
            smallest(&mount, path, &version_1)
        } else {
            None
        }
    });
    figures.reduce(f64::min)
}

/// The smallest figure from the group at `path` up to the mount itself. Inside a container the
/// path may name groups that are not visible; the mount then is the group itself.
fn smallest(mount: &Path, path: &str, read: impl Fn(&Path) -> Option<f64>) -> Option<f64> {
    let group = mount.join(path.trim_start_matches('/'));
    group.ancestors().take_while(|group| group.starts_with(mount)).filter_map(read).reduce(f64::min)
}

/// `cpu.max`: "quota period" in microseconds, or "max period".
fn version_2(group: &Path) -> Option<f64> {
    let text = fs::read_to_string(group.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    cpus(quota.parse().ok()?, period.parse().ok()?)
}

fn version_1(group: &Path) -> Option<f64> {
    let number =
        |name| -> Option<f64> { fs::read_to_string(group.join(name)).ok()?.trim().parse().ok() };
    // A quota of -1 means none.
    cpus(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
}

fn cpus(quota_us: f64, period_us: f64) -> Option<f64> {
    (quota_us > 0.0 && period_us > 0.0).then(|| quota_us / period_us)
}

#[cfg(test)]
mod tests {
    use ablaze_testing::Scratch;

    use super::*;

    #[test]
    fn version_2_takes_the_smallest_of_the_path() {
        let root = Scratch::tree(
            "v2",
            &[("a/cpu.max", "150000 100000\n"), ("a/b/cpu.max", "400000 100000\n")],
        );
        assert_eq!(quota_under(&root, "0::/a/b\n"), Some(1.5));
        assert_eq!(quota_under(&root, "0::/\n"), None);
    }

    #[test]
    fn version_2_without_a_limit_says_so() {
        let root = Scratch::tree("max", &[("cpu.max", "max 100000\n")]);
        assert_eq!(quota_under(&root, "0::/elsewhere/not/visible\n"), None);
    }

    #[test]
    fn version_1_reads_quota_and_period() {
        let files = [("cpu/x/cpu.cfs_quota_us", "200000"), ("cpu/x/cpu.cfs_period_us", "100000")];
        let root = Scratch::tree("v1", &files);
        assert_eq!(quota_under(&root, "4:cpu,cpuacct:/x\n2:memory:/x\n"), Some(2.0));
        fs::write(root.join("cpu/x/cpu.cfs_quota_us"), "-1").unwrap();
        assert_eq!(quota_under(&root, "4:cpu,cpuacct:/x\n"), None);
    }

    #[test]
    fn memory_has_limits_of_its_own() {
        let root = Scratch::tree(
            "memory",
            &[("a/memory.max", "1000000\n"), ("a/b/memory.max", "max\n"), ("a/b/cpu.max", "1 1\n")],
        );
        assert_eq!(memory_limit_under(&root, "0::/a/b\n"), Some(1_000_000));
        let none = "9223372036854771712\n";
        let root = Scratch::tree(
            "memory-v1",
            &[("memory/memory.limit_in_bytes", none), ("memory/a/memory.limit_in_bytes", "5000\n")],
        );
        assert_eq!(memory_limit_under(&root, "4:memory:/a\n"), Some(5000));
        assert_eq!(memory_limit_under(&root, "4:memory:/\n"), None);
    }
}
