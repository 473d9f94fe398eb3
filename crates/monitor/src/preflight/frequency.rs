//! How fast the processors' clocks run, who decides that, and how deep idle ones sleep
//! (admin-guide/pm/cpufreq and cpuidle). Virtual machines seldom offer any of it.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::proc_text::line_of;

/// The processors' clocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Frequency {
    /// Who sets the frequency, each governor once; empty when the kernel does not.
    pub governors: BTreeSet<String>,
    /// What the governor works through, such as `intel_pstate`.
    pub driver: Option<String>,
    /// The slowest of these processors now, kHz.
    pub slowest_khz: Option<u64>,
    /// The fastest that the fastest of them may run, kHz.
    pub fastest_khz: Option<u64>,
    /// Whether they may exceed their nominal frequency while they are cool.
    pub turbo: Option<bool>,
}

/// The states that an idle processor may go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IdleStates {
    /// Those that are not disabled.
    pub states: Vec<IdleState>,
}

/// A state of an idle processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IdleState {
    /// Its name, such as `C6`.
    pub name: String,
    /// How long it takes to leave it, µs.
    pub exit_us: u64,
}

impl Frequency {
    pub(super) fn of(cpus: &[u32]) -> Self {
        Self::under(Path::new("/sys/devices/system/cpu"), cpus)
    }

    fn under(root: &Path, cpus: &[u32]) -> Self {
        let read = |path: String| line_of(root.join(path).to_str()?);
        let each = |file: &'static str| {
            cpus.iter().filter_map(move |cpu| read(format!("cpu{cpu}/cpufreq/{file}")))
        };
        let khz = |file: &'static str| each(file).filter_map(|line| line.parse().ok());
        let no_turbo = read("intel_pstate/no_turbo".to_owned());
        let boost = read("cpufreq/boost".to_owned());
        Self {
            governors: each("scaling_governor").collect(),
            driver: each("scaling_driver").next(),
            slowest_khz: khz("scaling_cur_freq").min(),
            fastest_khz: khz("cpuinfo_max_freq").max(),
            turbo: no_turbo.map(|line| line == "0").or(boost.map(|line| line == "1")),
        }
    }
}

impl IdleStates {
    pub(super) fn of(cpu: u32) -> Option<Self> {
        Self::under(Path::new(&format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle")))
    }

    fn under(directory: &Path) -> Option<Self> {
        let state = |number: u32| -> Option<(bool, IdleState)> {
            let read =
                |file: &str| line_of(directory.join(format!("state{number}/{file}")).to_str()?);
            let state = IdleState { name: read("name")?, exit_us: read("latency")?.parse().ok()? };
            Some((read("disable").is_none_or(|line| line == "0"), state))
        };
        let all: Vec<(bool, IdleState)> = (0..).map_while(state).collect();
        let states = || all.iter().filter(|(enabled, _)| *enabled).map(|(_, state)| state.clone());
        (!all.is_empty()).then(|| Self { states: states().collect() })
    }

    /// The one that takes longest to leave.
    pub fn deepest(&self) -> Option<&IdleState> {
        self.states.iter().max_by_key(|state| state.exit_us)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ablaze_testing::Scratch;

    use super::*;

    #[test]
    fn governors_and_frequencies_of_the_allowed_processors_are_read() {
        let root = Scratch::tree(
            "frequency",
            &[
                ("cpu0/cpufreq/scaling_governor", "powersave\n"),
                ("cpu1/cpufreq/scaling_governor", "performance\n"),
                ("cpu2/cpufreq/scaling_governor", "schedutil\n"),
                ("cpu0/cpufreq/scaling_cur_freq", "800000\n"),
                ("cpu1/cpufreq/scaling_cur_freq", "3000000\n"),
                ("cpu1/cpufreq/cpuinfo_max_freq", "4000000\n"),
                ("cpu0/cpufreq/scaling_driver", "intel_pstate\n"),
                ("intel_pstate/no_turbo", "1\n"),
            ],
        );
        let read = Frequency::under(&root, &[0, 1]);
        assert_eq!(read.governors, ["performance", "powersave"].map(str::to_owned).into());
        assert_eq!((read.slowest_khz, read.fastest_khz), (Some(800_000), Some(4_000_000)));
        assert_eq!((read.turbo, read.driver.as_deref()), (Some(false), Some("intel_pstate")));
        fs::write(root.join("intel_pstate/no_turbo"), "0\n").unwrap();
        assert_eq!(Frequency::under(&root, &[]).turbo, Some(true));
    }

    #[test]
    fn disabled_states_do_not_count() {
        let root = Scratch::tree(
            "idle",
            &[
                ("state0/name", "POLL\n"),
                ("state0/latency", "0\n"),
                ("state1/name", "C1\n"),
                ("state1/latency", "2\n"),
                ("state2/name", "C6\n"),
                ("state2/latency", "133\n"),
                ("state2/disable", "0\n"),
            ],
        );
        let deepest = |root: &Path| IdleStates::under(root).unwrap().deepest().cloned().unwrap();
        assert_eq!(deepest(&root), IdleState { name: "C6".to_owned(), exit_us: 133 });
        fs::write(root.join("state2/disable"), "1\n").unwrap();
        assert_eq!(deepest(&root).name, "C1");
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(IdleStates::under(&root), None);
        assert_eq!(Frequency::under(&root, &[0]), Frequency::default());
    }
}
