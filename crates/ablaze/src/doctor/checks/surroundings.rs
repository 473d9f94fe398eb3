//! What is around this process: a virtual machine, a container, programs to compare and profile
//! with.

use ablaze_verdict::words::listed;

use crate::doctor::check::Check;
use crate::doctor::facts::Facts;

const VIRTUALISATION: &str = "virtualisation";
const CONTAINER: &str = "container";
const PROFILING: &str = "profiling";
const PROGRAMS: &str = "programs";

/// Whether the machine is virtual.
pub fn virtualisation(facts: &Facts) -> Option<Check> {
    let Some(kind) = &facts.survey.environment.virtualisation else {
        return Some(Check::ok(VIRTUALISATION, "none is to be seen"));
    };
    if facts.survey.container.kind.as_ref() == Some(kind) {
        return Some(Check::unknown(VIRTUALISATION, "what the container runs on"));
    }
    let effect = "interrupts, timers and wake-ups cost more than on bare metal, and other guests \
                  may be felt: compare figures of this machine with its own only";
    Some(Check::note(VIRTUALISATION, format!("in {kind}"), effect))
}

/// Whether this process is in a container.
pub fn container(facts: &Facts) -> Option<Check> {
    let container = &facts.survey.container;
    let figure = match (&container.kind, container.overlay_root) {
        (Some(kind), Some(true)) => format!("in {kind}, on an overlay file system"),
        (Some(kind), _) => format!("in {kind}"),
        (None, Some(true)) => "in a container, by its overlay file system".to_owned(),
        (None, Some(false)) => return Some(Check::ok(CONTAINER, "none")),
        (None, None) => return Some(Check::unknown(CONTAINER, "/proc/self/mountinfo")),
    };
    let effect = "ports, sysctls of net.* and limits are the container's own; a server outside is \
                  reached through a bridge and address translation";
    Some(Check::note(CONTAINER, figure, effect).advice(
        "for a server on the host start it with --network host; for a figure of the server alone \
         run both outside",
    ))
}

/// Whether profiles may be taken.
pub fn profiling(facts: &Facts) -> Option<Check> {
    const SETTING: &str = "kernel.perf_event_paranoid";
    let Some(level) = facts.setting(SETTING).and_then(|text| text.parse::<i64>().ok()) else {
        return Some(Check::unknown(PROFILING, SETTING));
    };
    let figure = format!("{SETTING} = {level}");
    let effect = match level {
        ..=1 => return Some(Check::ok(PROFILING, figure)),
        2 => {
            "perf sees user code but not the kernel, where most of a small request goes; no \
              matter to a run"
        }
        _ => "perf sees nothing without root; no matter to a run",
    };
    Some(Check::note(PROFILING, figure, effect).command(format!("sudo sysctl -w {SETTING}=1")))
}

/// Whether the programs are here that comparisons, replays and profiles would want.
pub fn programs(facts: &Facts) -> Option<Check> {
    let (here, missing): (Vec<_>, Vec<_>) =
        facts.survey.programs.iter().partition(|(_, path)| path.is_some());
    let names = |programs: &[(&String, &Option<String>)]| {
        listed(programs.iter().map(|(name, _)| name.as_str()))
    };
    if missing.is_empty() {
        return Some(Check::ok(PROGRAMS, format!("{} are here", names(&here))));
    }
    let packages: Vec<&str> = missing.iter().map(|(name, _)| package(name)).collect();
    let effect = "comparisons and replays leave them out; no matter to a run";
    Some(
        Check::note(PROGRAMS, format!("not here: {}", names(&missing)), effect)
            .advice("on Debian (the package of perf is linux-tools-generic on Ubuntu):")
            .command(format!("sudo apt-get install {}", packages.join(" "))),
    )
}

/// The package of Debian that has a program.
fn package(program: &str) -> &str {
    match program {
        "ab" => "apache2-utils",
        "perf" => "linux-perf",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::check::State;
    use crate::doctor::sample::{quiet, set, unset};

    #[test]
    fn a_virtual_machine_is_noted_and_a_container_hides_it() {
        let facts = &mut quiet();
        assert_eq!(virtualisation(facts).unwrap().state, State::Ok);
        facts.survey.environment.virtualisation = Some("QEMU Standard PC".to_owned());
        assert_eq!(virtualisation(facts).unwrap().state, State::Note);
        facts.survey.environment.virtualisation = Some("docker".to_owned());
        facts.survey.container.kind = Some("docker".to_owned());
        assert_eq!(virtualisation(facts).unwrap().state, State::Unknown);
    }

    #[test]
    fn containers_are_noted_by_mark_or_file_system() {
        let facts = &mut quiet();
        for (kind, overlay, state) in [
            (None, Some(false), State::Ok),
            (None, Some(true), State::Note),
            (Some("podman"), None, State::Note),
            (None, None, State::Unknown),
        ] {
            facts.survey.container.kind = kind.map(str::to_owned);
            facts.survey.container.overlay_root = overlay;
            assert_eq!(container(facts).unwrap().state, state, "{kind:?} {overlay:?}");
        }
    }

    #[test]
    fn profiles_need_a_permission_that_can_be_negative() {
        let facts = &mut quiet();
        let setting = "kernel.perf_event_paranoid";
        for (level, state) in
            [("-1", State::Ok), ("1", State::Ok), ("2", State::Note), ("4", State::Note)]
        {
            set(facts, setting, level);
            assert_eq!(profiling(facts).unwrap().state, state, "{level}");
        }
        unset(facts, setting);
        assert_eq!(profiling(facts).unwrap().state, State::Unknown);
    }

    #[test]
    fn programs_that_are_missing_come_with_their_packages() {
        let facts = &mut quiet();
        assert_eq!(programs(facts).unwrap().state, State::Ok);
        for name in ["ab", "wrk"] {
            facts.survey.programs.insert(name.to_owned(), None);
        }
        let check = programs(facts).unwrap();
        assert_eq!((check.state, check.figure.as_str()), (State::Note, "not here: ab and wrk"));
        assert_eq!(check.command.as_deref(), Some("sudo apt-get install apache2-utils wrk"));
    }
}
