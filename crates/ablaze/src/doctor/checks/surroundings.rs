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
    let Some(kind) = &facts.preflight.environment.virtualisation else {
        return Some(Check::ok(VIRTUALISATION, "none detected"));
    };
    if facts.preflight.container.kind.as_ref() == Some(kind) {
        return Some(Check::unknown(VIRTUALISATION, "what the container runs on"));
    }
    let effect = "interrupts, timers and wake-ups cost more than on bare metal, and other guests \
                  may interfere: compare figures only with others from this machine";
    Some(Check::note(VIRTUALISATION, format!("in {kind}"), effect))
}

/// Whether this process is in a container.
pub fn container(facts: &Facts) -> Option<Check> {
    let container = &facts.preflight.container;
    let figure = match (&container.kind, container.overlay_root) {
        (Some(kind), Some(true)) => format!("in {kind}, on an overlay file system"),
        (Some(kind), _) => format!("in {kind}"),
        (None, Some(true)) => "in a container, judging by its overlay file system".to_owned(),
        (None, Some(false)) => return Some(Check::ok(CONTAINER, "none")),
        (None, None) => return Some(Check::unknown(CONTAINER, "/proc/self/mountinfo")),
    };
    let effect = "ports, net.* sysctls and limits are the container's own; a server outside is \
                  reached through a bridge and address translation";
    Some(Check::note(CONTAINER, figure, effect).advice(
        "for a server on the host, start the container with --network host; to measure the server \
         alone, run both outside",
    ))
}

/// Whether profiles may be taken: an event was opened.
pub fn profiling(facts: &Facts) -> Option<Check> {
    const SETTING: &str = "kernel.perf_event_paranoid";
    let fix = format!("sudo sysctl -w {SETTING}=1");
    Some(match &facts.samples {
        Ok(permitted) if permitted.kernel => {
            Check::ok(PROFILING, format!("samples with {}, kernel included", permitted.event))
        }
        Ok(permitted) => {
            let figure = format!("samples with {}, without the kernel", permitted.event);
            let effect = "--profile sees user code but not the kernel, where most time of a small \
                          request is spent; runs without --profile are not affected";
            Check::note(PROFILING, figure, effect).command(fix)
        }
        Err(refused) => {
            let effect = "--profile cannot make flame graphs; runs without --profile are not \
                affected";
            let check = Check::note(PROFILING, &refused.reason, effect);
            match refused.fix.contains(SETTING) {
                true => check.command(fix),
                false => check.advice(&refused.fix),
            }
        }
    })
}

/// Whether the programs are here that comparisons, replays and profiles would want.
pub fn programs(facts: &Facts) -> Option<Check> {
    let (here, missing): (Vec<_>, Vec<_>) =
        facts.preflight.programs.iter().partition(|(_, path)| path.is_some());
    let names = |programs: &[(&String, &Option<String>)]| {
        listed(programs.iter().map(|(name, _)| name.as_str()))
    };
    if missing.is_empty() {
        return Some(Check::ok(PROGRAMS, format!("{} installed", names(&here))));
    }
    let packages: Vec<&str> = missing.iter().map(|(name, _)| package(name)).collect();
    let effect = "comparisons and replays skip them; runs are not affected";
    Some(
        Check::note(PROGRAMS, format!("not installed: {}", names(&missing)), effect)
            .advice("on Debian (on Ubuntu, perf is in linux-tools-generic):")
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
    use crate::doctor::sample::quiet;
    use ablaze_profile::recording::{Permitted, refusal};

    #[test]
    fn a_virtual_machine_is_noted_and_a_container_hides_it() {
        let facts = &mut quiet();
        assert_eq!(virtualisation(facts).unwrap().state, State::Ok);
        facts.preflight.environment.virtualisation = Some("QEMU Standard PC".to_owned());
        assert_eq!(virtualisation(facts).unwrap().state, State::Note);
        facts.preflight.environment.virtualisation = Some("docker".to_owned());
        facts.preflight.container.kind = Some("docker".to_owned());
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
            facts.preflight.container.kind = kind.map(str::to_owned);
            facts.preflight.container.overlay_root = overlay;
            assert_eq!(container(facts).unwrap().state, state, "{kind:?} {overlay:?}");
        }
    }

    #[test]
    fn profiles_want_samples_of_the_kernel_too() {
        let facts = &mut quiet();
        assert_eq!(profiling(facts).unwrap().state, State::Ok);
        facts.samples = Ok(Permitted { event: "cpu-clock", kernel: false });
        let check = profiling(facts).unwrap();
        assert_eq!(check.state, State::Note);
        assert!(check.command.unwrap().ends_with("kernel.perf_event_paranoid=1"));
        // 13 is EACCES, 38 is ENOSYS.
        facts.samples = Err(refusal(13, Some(4)));
        assert!(profiling(facts).unwrap().command.unwrap().contains("perf_event_paranoid=1"));
        facts.samples = Err(refusal(38, Some(2)));
        let check = profiling(facts).unwrap();
        assert!(check.command.is_none() && check.advice.unwrap().contains("seccomp"));
    }

    #[test]
    fn programs_that_are_missing_come_with_their_packages() {
        let facts = &mut quiet();
        assert_eq!(programs(facts).unwrap().state, State::Ok);
        for name in ["ab", "wrk"] {
            facts.preflight.programs.insert(name.to_owned(), None);
        }
        let check = programs(facts).unwrap();
        assert_eq!(
            (check.state, check.figure.as_str()),
            (State::Note, "not installed: ab and wrk")
        );
        assert_eq!(check.command.as_deref(), Some("sudo apt-get install apache2-utils wrk"));
    }
}
