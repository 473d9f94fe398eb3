//! What the CPU quota of a control group has cost its processes: `cpu.stat` of version 2 and of
//! version 1 (admin-guide/cgroup-v2, scheduler/sched-bwc).

use std::fs;
use std::path::{Path, PathBuf};

use ablaze_model::monitor::Throttled;

use crate::proc_text::number_after;

/// The throttling of this process's group so far; `None` where no quota is counted.
pub(crate) fn throttled() -> Option<Throttled> {
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    candidates(Path::new("/sys/fs/cgroup"), &membership)
        .into_iter()
        .find_map(|file| parsed(&fs::read_to_string(file).ok()?))
}

/// Where `cpu.stat` may be: lines are `hierarchy:controllers:path`, version 2 is `0::path`.
/// Inside a container the path may name groups that are not visible; the mount then is the group.
fn candidates(root: &Path, membership: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let mounts = if controllers.is_empty() {
            vec![root.to_owned()]
        } else if controllers.split(',').any(|name| name == "cpu") {
            vec![root.join(controllers), root.join("cpu")]
        } else {
            continue;
        };
        for mount in mounts {
            files.push(mount.join(path.trim_start_matches('/')).join("cpu.stat"));
            files.push(mount.join("cpu.stat"));
        }
    }
    files
}

/// Version 2 counts `throttled_usec`, version 1 `throttled_time` in ns.
fn parsed(text: &str) -> Option<Throttled> {
    let time_ns = match number_after(text, "throttled_usec") {
        Some(microseconds) => microseconds.checked_mul(1000)?,
        None => number_after(text, "throttled_time")?,
    };
    Some(Throttled { periods: number_after(text, "nr_throttled")?, time_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_and_others_are_none() {
        let version_2 = "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 1500\n";
        assert_eq!(parsed(version_2), Some(Throttled { periods: 3, time_ns: 1_500_000 }));
        let version_1 = "nr_periods 9\nnr_throttled 2\nthrottled_time 777\n";
        assert_eq!(parsed(version_1), Some(Throttled { periods: 2, time_ns: 777 }));
        for text in ["", "usage_usec 5\n", "nr_throttled 2\n", "nr_throttled x\nthrottled_time 1\n"]
        {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn the_own_group_is_looked_at_before_the_mount() {
        let files = candidates(Path::new("/r"), "2:cpu,cpuacct:/a\n1:memory:/b\n0::/c\nnonsense\n");
        let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
        assert_eq!(files[0], "/r/cpu,cpuacct/a/cpu.stat");
        assert_eq!(files[2], "/r/cpu/a/cpu.stat");
        assert_eq!(files[4..], ["/r/c/cpu.stat", "/r/cpu.stat"]);
    }
}
