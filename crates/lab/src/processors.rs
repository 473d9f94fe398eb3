//! Whether an experiment's threads have the processors that their rows stand for: "1, 2 and 4 threads"
//! on one processor are the same thing three times.

use ablaze_model::experiment::Experiment;
use ablaze_report::number::counted;
use ablaze_verdict::several::Several;
use ablaze_verdict::{DiagnosisId, Finding, Severity};

const CAUSE: &str = "Threads that share a processor take turns on it: adding threads does not add \
    throughput.";

/// Adds a finding where threads have fewer processors than there are of them.
pub(crate) fn add_finding(experiment: &Experiment, several: &mut Several) {
    let Some((evidence, most)) = too_few(experiment) else { return };
    let findings = several.findings_mut();
    let fix = format!("Use a machine with at least {most} processors for each side.");
    findings.push(Finding::new(DiagnosisId::D13, Severity::Note, evidence, CAUSE, fix));
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// What there is too little of, and the most threads of either side. The number of processors is the
/// one that the experiment had.
fn too_few(experiment: &Experiment) -> Option<(String, u32)> {
    let placement = &experiment.placement;
    let under_loads = (0..experiment.loads.len()).flat_map(|load| experiment.targets_under(load));
    let started = under_loads.filter(|target| target.is_started_here());
    let targets: Vec<u32> = started.map(|target| target.threads(placement.allowed)).collect();
    let clients: Vec<u32> =
        experiment.loads.iter().filter_map(|load| load.spec.workers.threads).collect();
    let sides =
        [("Targets", targets, placement.of_target()), ("Loads", clients, placement.of_client())];
    let mut evidence = Vec::new();
    let mut most = 0;
    for (side, mut threads, processors) in sides {
        threads.sort_unstable();
        threads.dedup();
        let Some(&highest) = threads.last().filter(|most| processors > 0 && **most > processors)
        else {
            continue;
        };
        most = most.max(highest);
        let numbers: Vec<String> = threads.iter().map(u32::to_string).collect();
        let end = match threads.iter().filter(|threads| **threads >= processors).count() {
            1 => "more threads cannot make a difference",
            _ => "the rows cannot differ by number of threads",
        };
        evidence.push(format!(
            "{side} of {} threads had {}: {end}.",
            numbers.join(", "),
            counted(u64::from(processors), "CPU")
        ));
    }
    (!evidence.is_empty()).then(|| (evidence.join("\n"), most))
}

#[cfg(test)]
mod tests {
    use ablaze_model::spec::server::values::Threads;
    use ablaze_model::spec::{ModelSpec, TargetSpec};

    use super::*;
    use ablaze_model::experiment::{Placement, Target};
    use ablaze_testing::experiments;

    fn experiment(threads: &[u32], allowed: &[u32]) -> Experiment {
        let target = |threads: &u32| {
            let threads_spec = Some(Threads::Exactly(*threads));
            let model = ModelSpec { threads: threads_spec, ..ModelSpec::default() };
            Target::new(threads.to_string(), TargetSpec::Model(model))
        };
        let most = *threads.iter().max().unwrap();
        Experiment {
            targets: threads.iter().map(target).collect(),
            placement: Placement::of(allowed, most),
            ..experiments::experiment()
        }
    }

    #[test]
    fn rows_of_1_2_and_4_threads_on_one_processor_are_said_to_be_the_same() {
        let (evidence, most) = too_few(&experiment(&[1, 2, 4], &[0, 1])).unwrap();
        let same = "Targets of 1, 2, 4 threads had 1 CPU: the rows cannot differ by number of \
            threads.";
        assert_eq!((evidence.as_str(), most), (same, 4));
        assert_eq!(too_few(&experiment(&[1, 2], &[0, 1, 2, 3])), None);
        let (evidence, _) = too_few(&experiment(&[2], &[0, 1])).unwrap();
        let end = "had 1 CPU: more threads cannot make a difference.";
        assert!(evidence.ends_with(end), "{evidence}");
    }

    #[test]
    fn threads_of_the_client_count_too() {
        let mut experiment = experiment(&[1], &[0, 1]);
        let mut load = experiment.loads[0].clone();
        load.spec.workers.threads = Some(4);
        experiment.placement = experiment.placement.for_loads([&load.spec]);
        experiment.loads.push(load);
        let (evidence, _) = too_few(&experiment).unwrap();
        let end = "Loads of 4 threads had 2 CPUs: more threads cannot make a difference.";
        assert_eq!(evidence, end);
    }
}
