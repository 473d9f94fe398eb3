//! `--profile`: the same load once more, with samples of stacks taken of the server, of this program, or
//! of both. The run that is reported stays as it was; what the profiler costs is the difference between
//! the two.

use ablaze_model::profiling::{NotProfiled, Profile, ProfiledRun, Profiling, Refused, Whom};
use ablaze_model::run::Ended;
use ablaze_model::saved::shown;
use ablaze_model::{LoadSpec, Plan, Run};
use ablaze_monitor::Destination;
use ablaze_profile::recording::{Recorded, Recording, Request};
use ablaze_profile::symbols;
use ablaze_report::effort::{self, Effort};

use crate::CommandError;
use crate::carry_out::{Watcher, destination, interrupted, timed};

/// Samples per second of CPU time where there is time for many. Not 1000: a timer of the server's own
/// would be hit always or never.
const FREQUENCY_HZ: f64 = 999.0;
/// The most: each costs some microseconds and 9 kB.
const HIGHEST_FREQUENCY_HZ: f64 = 5_999.0;
/// The number of samples to aim at: a share of one half is then known to 1.1 points (1.96 √(0.25 / 8,000)).
const SAMPLES: f64 = 8_000.0;

/// Whose CPU time is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides(pub Vec<Whom>);

/// Reads the value of `--profile`.
///
/// # Errors
/// When it names neither side.
pub fn sides(text: &str) -> Result<Sides, String> {
    match text {
        "target" => Ok(Sides(vec![Whom::Target])),
        // What it was called before.
        "client" | "tester" => Ok(Sides(vec![Whom::Client])),
        "both" => Ok(Sides(vec![Whom::Target, Whom::Client])),
        _ => Err("expected target, client or both".to_owned()),
    }
}

/// Runs the Plan of a Run once more under the profiler, and adds the profiles to the Run.
///
/// # Errors
/// When the second run could not take place.
pub fn add(
    run: &mut Run,
    plan: Plan,
    sides: &Sides,
    watcher: &mut dyn Watcher,
) -> Result<(), CommandError> {
    if run.ended != Ended::Complete || run.record.responses == 0 || interrupted() {
        return Ok(());
    }
    let mut profiling = Profiling { run: None, profiles: Vec::new(), refused: Vec::new() };
    let mut recordings = Vec::new();
    for &of in &sides.0 {
        match begun(of, &destination(&plan), run) {
            Ok((pids, recording)) => recordings.push((of, pids, recording)),
            Err(why) => profiling.refused.push(NotProfiled { of, why }),
        }
    }
    if !recordings.is_empty() {
        let asked = LoadSpec { monitored: run.monitor.is_some(), ..LoadSpec::default() };
        let (profiled, window_ns) = timed(plan, &asked, watcher)?;
        // All recordings end before the first is looked through, which takes CPU time itself.
        let recorded: Vec<_> = recordings
            .into_iter()
            .map(|(of, pids, recording)| (of, pids, recording.end(window_ns)))
            .collect();
        let profiles =
            recorded.iter().map(|(of, pids, of_them)| profile(*of, pids, of_them, &profiled, run));
        profiling.profiles = profiles.collect();
        profiling.run = Some(ProfiledRun {
            elapsed_ns: profiled.elapsed_ns,
            requests: profiled.record.finished(),
            rate_per_s: profiled.rate_per_s().unwrap_or(0.0),
            server_cpu_ns: effort::of_the_server(&profiled).map(|(ns, _)| ns),
            client_cpu_ns: Effort::of(&profiled).map(|effort| effort.cpu_ns),
        });
    }
    run.profiling = Some(shown(profiling));
    Ok(())
}

/// A recording of one side that is under way, and the processes it is of.
fn begun(of: Whom, target: &Destination, run: &Run) -> Result<(Vec<u32>, Recording), Refused> {
    let pids = match of {
        Whom::Client => vec![std::process::id()],
        Whom::Target => processes_of(target)?,
    };
    let request = Request { pids, frequency_hz: frequency_hz(cpu_ns(of, run)) };
    Recording::begin(&request).map(|recording| (request.pids, recording))
}

fn processes_of(target: &Destination) -> Result<Vec<u32>, Refused> {
    let pids = target.processes();
    if !pids.is_empty() {
        return Ok(pids);
    }
    Err(match target.is_on_this_host() {
        false => Refused::new(
            "the target is on another host",
            "run ablaze on that host, against its loopback address",
        ),
        true => Refused::new(
            "the listening process is not visible: it belongs to another user or container",
            "run ablaze as the user of the server, or as root",
        ),
    })
}

/// CPU time that a side took in a run, ns; where it was not seen, all of the run's time.
fn cpu_ns(of: Whom, run: &Run) -> f64 {
    let per_request = match of {
        Whom::Target => effort::of_the_server(run).map(|(ns, _)| ns),
        Whom::Client => Effort::of(run).map(|effort| effort.cpu_ns),
    };
    per_request.map_or(run.elapsed_ns as f64, |ns| ns * run.record.finished() as f64)
}

/// Often enough for [`SAMPLES`] of so much CPU time, within bounds.
fn frequency_hz(cpu_ns: f64) -> u32 {
    (SAMPLES * 1e9 / cpu_ns.max(1.0)).clamp(FREQUENCY_HZ, HIGHEST_FREQUENCY_HZ) as u32
}

/// What was recorded of one side in the profiled run. All samples together stand for the CPU time per
/// request of the run that is reported: that has nothing of the profiler in it.
fn profile(of: Whom, pids: &[u32], recorded: &Recorded, profiled: &Run, reported: &Run) -> Profile {
    let symbols::Named { stacks, broken, broken_ends } = symbols::named(recorded);
    let weight: u64 = stacks.iter().map(|stack| stack.weight).sum();
    let samples: u64 = stacks.iter().map(|stack| stack.samples).sum();
    // Cycles are no time: there the frequency stands for it.
    let cpu_ns = match recorded.event {
        "cpu-clock" => weight,
        _ => (samples as f64 * 1e9 / f64::from(recorded.frequency_hz)) as u64,
    };
    let requests = profiled.record.finished();
    let sampled_ns = cpu_ns as f64 / requests.max(1) as f64;
    Profile {
        of,
        name: name_of(pids.first().copied().unwrap_or(0)),
        pids: pids.to_vec(),
        event: recorded.event.to_owned(),
        frequency_hz: recorded.frequency_hz,
        kernel: recorded.kernel,
        samples,
        lost: recorded.lost,
        broken,
        broken_ends: Some(broken_ends),
        requests,
        cpu_ns,
        cpu_per_request_ns: accounted_ns(of, recorded.kernel, reported).unwrap_or(sampled_ns),
        stacks,
    }
}

/// CPU time per request as the kernel accounts for it, ns: of user mode alone where samples are.
fn accounted_ns(of: Whom, kernel: bool, run: &Run) -> Option<f64> {
    match of {
        Whom::Client => {
            Effort::of(run).map(|effort| if kernel { effort.cpu_ns } else { effort.user_ns })
        }
        Whom::Target => {
            let (whole_ns, _) = effort::of_the_server(run)?;
            let processes = &run.monitor.as_ref()?.target.processes;
            let user_ns: u64 = processes.iter().map(|process| process.user_ns).sum();
            let all_ns: u64 = processes.iter().map(|process| process.cpu_ns()).sum();
            let user_share = user_ns as f64 / all_ns.max(1) as f64;
            Some(if kernel { whole_ns } else { whole_ns * user_share })
        }
    }
}

fn name_of(pid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_windows_are_sampled_more_often() {
        assert_eq!(frequency_hz(20e9), 999);
        assert_eq!(frequency_hz(4e9), 2_000);
        assert_eq!(frequency_hz(1e9), 5_999, "5,000 samples need 0.84 s of CPU time");
        assert_eq!(frequency_hz(0.0), 5_999);
    }

    #[test]
    fn the_sides_are_read() {
        assert_eq!(sides("target").unwrap().0, [Whom::Target]);
        assert_eq!(sides("both").unwrap().0, [Whom::Target, Whom::Client]);
        assert!(sides("server").unwrap_err().contains("client"));
    }

    #[test]
    fn a_target_elsewhere_is_refused_with_a_fix() {
        let there = Destination::Tcp(vec!["192.0.2.1:80".parse().unwrap()]);
        assert!(processes_of(&there).unwrap_err().reason.contains("another host"));
    }
}
