//! CPU quotas of control groups, which the tests make where they may (root, and a hierarchy that can be written to).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ablaze_testing::skip::skip;

use crate::alone;
use crate::controls::support::{Loading, Server, load};

/// A fifth of a CPU: 20 ms of each 100 ms.
const QUOTA_US: u32 = 20_000;
const PERIOD_US: u32 = 100_000;

/// A control group with that quota, gone when the test is done with it.
struct Group(PathBuf);

impl Group {
    /// `None` where there may be none; that is told.
    fn new(name: &str) -> Option<Self> {
        let group = Self::made(&format!("ablaze-test-{name}-{}", std::process::id()));
        if group.is_none() {
            skip("no control group with a CPU quota can be made here");
        }
        group
    }

    fn made(name: &str) -> Option<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let controllers =
            fs::read_to_string(root.join("cgroup.subtree_control")).unwrap_or_default();
        let version_2 = controllers.split_whitespace().any(|controller| controller == "cpu");
        let parent = if version_2 { root.to_owned() } else { root.join("cpu") };
        // Without the controller a folder could be made, which is no group.
        if !version_2
            && !parent.join("cpu.cfs_quota_us").exists()
            && !parent.join("cpu.shares").exists()
        {
            return None;
        }
        let group = Self(parent.join(name));
        fs::create_dir(&group.0).ok()?;
        let written = match version_2 {
            true => fs::write(group.0.join("cpu.max"), format!("{QUOTA_US} {PERIOD_US}")),
            false => fs::write(group.0.join("cpu.cfs_period_us"), PERIOD_US.to_string())
                .and_then(|()| fs::write(group.0.join("cpu.cfs_quota_us"), QUOTA_US.to_string())),
        };
        written.ok().map(|()| group)
    }

    /// A command that starts another one in it.
    fn starter(&self) -> [String; 4] {
        let words = ["sh", "-c", "echo $$ >\"$0\" && exec \"$@\""].map(str::to_owned);
        let [shell, option, script] = words;
        [shell, option, script, self.0.join("cgroup.procs").display().to_string()]
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Those who were in it have just ended: the kernel takes a moment.
        let begun = Instant::now();
        while fs::remove_dir(&self.0).is_err() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_client_that_its_quota_stops_is_told() {
    let _alone = alone();
    let Some(group) = Group::new("client") else { return };
    let server = Server::start(&[]);
    let starter = group.starter();
    let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
    let report = Loading::start_by(&starter, &[&server.url("/"), "-c20", "-d3s"]).report();
    report.assert_root("D58", "suspect");
    assert_eq!(report.limited_by(), "cpu-quota", "{}", report.in_short());
    // In most of its periods, four fifths of each.
    assert!(report.number("/monitor/kernel/throttled/time_ns") > 1e9);
    let others = report.found("D23").filter(|found| found["explained_by"].is_null());
    assert!(others.is_none() && report.found("D13").is_none(), "{}", report.in_short());
}

#[test]
fn a_server_that_its_quota_stops_is_told() {
    let _alone = alone();
    let Some(group) = Group::new("server") else { return };
    let starter = group.starter();
    let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
    let server = Server::start_by(&starter, &[]);
    let report = load(&[&server.url("/"), "-c20", "-d3s"]);
    let found = report.found("D58").unwrap_or_else(|| panic!("{}", report.in_short()));
    assert_eq!(found["severity"], "note", "{}", report.in_short());
    assert_eq!(report.limited_by(), "cpu-quota", "{}", report.in_short());
    assert!(report.number("/monitor/target/throttled/time_ns") > 1e9);
    assert_eq!(report.known("/monitor/kernel/throttled/time_ns").unwrap_or(0.0), 0.0);
    drop(server);
}
