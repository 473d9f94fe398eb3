//! What the CPU quotas of control groups have cost their processes: `cpu.stat` of version 2 and of
//! version 1 (admin-guide/cgroup-v2, scheduler/sched-bwc).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ablaze_model::monitor::Throttled;

use crate::proc_text::number_after;

/// Throttling so far, by the file that counts it: that of a process's own group and those of the groups above it, whose
/// quotas stop it, too. Empty where no quota is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Quotas(BTreeMap<PathBuf, Throttled>);

impl Quotas {
    /// Those that this process is under.
    pub(crate) fn own() -> Self {
        Self::at(fs::read_to_string("/proc/self/cgroup").ok())
    }

    /// Those that any of these processes is under, as far as their groups can be seen from here.
    pub(crate) fn of(pids: impl Iterator<Item = u32>) -> Self {
        Self::at(pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()))
    }

    fn at(memberships: impl IntoIterator<Item = String>) -> Self {
        let root = Path::new("/sys/fs/cgroup");
        let files = memberships.into_iter().flat_map(|membership| candidates(root, &membership));
        let counted = |file: PathBuf| {
            let throttled = parsed(&fs::read_to_string(&file).ok()?)?;
            Some((file, throttled))
        };
        Self(files.filter_map(counted).collect())
    }

    /// Those that `other` is not under.
    pub(crate) fn without(mut self, other: &Self) -> Self {
        self.0.retain(|file, _| !other.0.contains_key(file));
        self
    }

    /// The same groups now. One that is gone is left out.
    pub(crate) fn again(&self) -> Self {
        let now = |file: &PathBuf| Some((file.clone(), parsed(&fs::read_to_string(file).ok()?)?));
        Self(self.0.keys().filter_map(now).collect())
    }

    /// The one that has cost the most time.
    pub(crate) fn most(&self) -> Option<Throttled> {
        self.0.values().copied().max_by_key(|throttled| throttled.time_ns)
    }

    /// What they cost from then to `later`; of several the one that cost the most time.
    pub(crate) fn until(&self, later: &Self) -> Option<Throttled> {
        let risen = |(file, after): (&PathBuf, &Throttled)| {
            let before = self.0.get(file)?;
            let of_periods = before.of_periods.zip(after.of_periods);
            Some(Throttled {
                periods: after.periods.saturating_sub(before.periods),
                of_periods: of_periods.map(|(before, after)| after.saturating_sub(before)),
                time_ns: after.time_ns.saturating_sub(before.time_ns),
            })
        };
        later.0.iter().filter_map(risen).max_by_key(|throttled| throttled.time_ns)
    }
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
            // `..` leads out of what can be seen: a group beside this container's.
            if path.split('/').any(|part| part == "..") {
                continue;
            }
            let group = mount.join(path.trim_start_matches('/'));
            let above = group.ancestors().take_while(|group| group.starts_with(&mount));
            files.extend(above.map(|group| group.join("cpu.stat")));
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
    let of_periods = number_after(text, "nr_periods");
    Some(Throttled { periods: number_after(text, "nr_throttled")?, of_periods, time_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttled(periods: u64, of_periods: u64, time_ns: u64) -> Throttled {
        Throttled { periods, of_periods: Some(of_periods), time_ns }
    }

    #[test]
    fn both_versions_are_read_and_others_are_none() {
        let version_2 = "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 1500\n";
        assert_eq!(parsed(version_2), Some(throttled(3, 9, 1_500_000)));
        let version_1 = "nr_periods 9\nnr_throttled 2\nthrottled_time 777\n";
        assert_eq!(parsed(version_1), Some(throttled(2, 9, 777)));
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
    #[test]
    fn groups_above_are_looked_at_and_those_beside_are_not() {
        let files = candidates(Path::new("/r"), "0::/pod/container\n");
        let expected = ["/r/pod/container/cpu.stat", "/r/pod/cpu.stat", "/r/cpu.stat"];
        assert_eq!(files, expected.map(PathBuf::from));
        // As a container sees a process of another one.
        assert_eq!(candidates(Path::new("/r"), "0::/../other\n"), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_group_that_cost_most_meanwhile_is_the_one() {
        let quotas = |own: u64, above: u64| {
            let files = [("/r/a/cpu.stat", own), ("/r/cpu.stat", above)];
            let counted =
                |(file, time_ns)| (PathBuf::from(file), throttled(time_ns / 5, 100, time_ns));
            Quotas(files.map(counted).into())
        };
        // The one above has cost more before.
        let (before, after) = (quotas(0, 1000), quotas(50, 1005));
        assert_eq!(before.until(&after), Some(throttled(10, 0, 50)));
        assert_eq!(after.most().unwrap().time_ns, 1005);
        // Who is in the same group is stopped with it.
        assert_eq!(after.clone().without(&before), Quotas::default());
        assert_eq!(Quotas::default().until(&after), None);
    }
}
