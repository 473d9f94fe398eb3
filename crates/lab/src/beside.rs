//! The runs of an experiment beside each other: whether they did the same work, how far repeats lie
//! apart, what shape the curves have. The rules are those of `ablaze explain`.

use ablaze_model::experiment::{Experiment, Figures, JudgedTogether, Results, SKIPPED, Unequal};
use ablaze_report::experiment::curve::worst;
use ablaze_verdict::rules::Member;
use ablaze_verdict::several::{Several, beside_each_other, member};
use ablaze_verdict::{DiagnosisId, Severity, Verdict};

use crate::experiment::{Folder, FolderError};
use crate::{processors, saved};

/// What was found in the runs together, the gravest first, and whether they are to be believed.
///
/// # Errors
/// When a kept run cannot be read back.
pub fn judged(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
) -> Result<JudgedTogether, FolderError> {
    let by_load = members(experiment, folder, results)?;
    let unequal = unequal(experiment, &by_load);
    let by_load: Vec<Vec<Member>> = by_load
        .into_iter()
        .map(|members| members.into_iter().map(|(_, member)| member).collect())
        .collect();
    let several = several(experiment, results, &by_load);
    let runs: Vec<&Figures> = results.measured().map(|(_, figures)| figures).collect();
    let together = several.as_ref().map_or(Verdict::Valid, Several::verdict);
    let verdict = match runs.is_empty() {
        // Nothing speaks against runs that were not made, and nothing for them.
        true => Verdict::Invalid,
        false => {
            let found = worst(&runs).max(saved::doubt(experiment, results)).max(together);
            found.max(of_failed(results))
        }
    };
    Ok(JudgedTogether {
        verdict,
        findings: several.map_or_else(Vec::new, |several| several.findings().to_vec()),
        unequal,
    })
}

/// Runs of a target that failed are missing from its figures, which are those of the others.
fn of_failed(results: &Results) -> Verdict {
    let mut failed = results.failed().filter(|(_, why)| !why.starts_with(SKIPPED));
    failed.next().map_or(Verdict::Valid, |_| Verdict::Suspect)
}

/// The runs under each load, each with the place of its target.
fn members(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
) -> Result<Vec<Vec<(usize, Member)>>, FolderError> {
    let several_loads = experiment.loads.len() > 1;
    let mut by_load: Vec<Vec<(usize, Member)>> = vec![Vec::new(); experiment.loads.len()];
    for (trial, figures) in results.measured() {
        let target = &experiment.targets[trial.target].name;
        let version = Some(env!("CARGO_PKG_VERSION"));
        let member = match folder.run(experiment, trial)? {
            Some(run) => member(&run, &figures.findings, target, target, version),
            None => folder.printed(experiment, trial)?.and_then(|run| run.member(target)),
        };
        let Some(mut member) = member else { continue };
        if several_loads {
            // Runs with other options of the load are no repeats of each other.
            member.identity = format!("{target} {}", experiment.loads[trial.load].label);
        }
        by_load[trial.load].push((trial.target, member));
    }
    Ok(by_load)
}

/// What forbids the ratio of two targets under one load: differences between others, or under another load, do not.
fn unequal(experiment: &Experiment, by_load: &[Vec<(usize, Member)>]) -> Vec<Unequal> {
    let targets = 0..experiment.targets.len();
    let pairs =
        targets.clone().flat_map(|one| (one + 1..targets.end).map(move |other| (one, other)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let of_load = |(load, members): (usize, &Vec<(usize, Member)>)| {
        let of_pair = |&(one, other): &(usize, usize)| {
            let both = members.iter().filter(|(target, _)| [one, other].contains(target));
            let both = both.map(|(_, member)| member.clone()).collect();
            let several = beside_each_other(both, None)?;
            let mut findings = several.findings().iter();
            let differs = findings.find(|finding| {
                finding.id == DiagnosisId::D05 && finding.severity > Severity::Note
            })?;
            let evidence = differs.evidence.replace('\n', " ");
            Some(Unequal { load, targets: (one, other), evidence })
        };
        pairs.iter().filter_map(of_pair).collect::<Vec<_>>()
    };
    by_load.iter().enumerate().flat_map(of_load).collect()
}

/// The runs beside each other; `None` for fewer than two.
fn several(experiment: &Experiment, results: &Results, by_load: &[Vec<Member>]) -> Option<Several> {
    let mut several = of_slices(experiment, by_load);
    if let Some(several) = &mut several {
        saved::add_doubt(experiment, results, several);
        processors::add_finding(experiment, several);
    }
    several
}

/// Each value of a second axis by itself, where the loads of one make curves: runs of equal concurrency under
/// different values are no repeats, and their medians are points of no curve.
fn of_slices(experiment: &Experiment, by_load: &[Vec<Member>]) -> Option<Several> {
    let slices = experiment.slices();
    let judged = slices.iter().map(|slice| {
        let loads = slice.loads.clone();
        beside_each_other(by_load[loads].concat(), None)
    });
    let judged: Vec<Option<Several>> = judged.collect();
    let are_curves = judged.iter().any(|slice| matches!(slice, Some(Several::Curves(_))));
    if slices.len() == 1 || !are_curves {
        let mut all = beside_each_other(by_load.concat(), None)?;
        if experiment.loads.len() > 1 {
            within_each_load(experiment, 0, by_load, &mut all);
        }
        return Some(all);
    }
    let mut together: Option<Several> = None;
    for (slice, judged) in slices.iter().zip(judged) {
        let Some(mut judged) = judged else { continue };
        within_each_load(experiment, slice.loads.start, &by_load[slice.loads.clone()], &mut judged);
        if let (Several::Curves(_), Some(label)) = (&judged, &slice.label) {
            for finding in judged.findings_mut() {
                finding.evidence = labelled(label, &finding.evidence);
            }
        }
        match &mut together {
            None => together = Some(judged),
            Some(together) => together.findings_mut().append(judged.findings_mut()),
        }
    }
    if let Some(together) = &mut together {
        together.findings_mut().sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    }
    together
}

/// Whether targets did the same work, and how far their rates lie apart, is asked of runs under the same
/// load: that a target does other work, at another rate, under another is what an experiment of several
/// loads is for. `first` is the place of the first of these loads.
fn within_each_load(
    experiment: &Experiment,
    first: usize,
    by_load: &[Vec<Member>],
    several: &mut Several,
) {
    const OF_EQUAL_LOADS: [DiagnosisId; 3] = [DiagnosisId::D05, DiagnosisId::D15, DiagnosisId::D25];
    let Several::Comparison(judged) = several else { return };
    judged.findings.retain(|finding| !OF_EQUAL_LOADS.contains(&finding.id));
    for (load, members) in experiment.loads[first..].iter().zip(by_load) {
        let Some(of_load) = beside_each_other(members.clone(), None) else { continue };
        let findings = of_load.findings().iter();
        let findings = findings.filter(|finding| OF_EQUAL_LOADS.contains(&finding.id)).cloned();
        judged.findings.extend(findings.map(|mut finding| {
            finding.evidence = labelled(&load.label, &finding.evidence);
            finding
        }));
    }
    judged.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// The evidence with the load that it is of, said once.
fn labelled(label: &str, evidence: &str) -> String {
    format!("At {label}: {evidence}")
}

#[cfg(test)]
mod tests {
    use ablaze_model::experiment::{Outcome, Trial};
    use ablaze_testing::{Scratch, experiments};

    use super::*;

    /// Whatever failed: the figures of no run can be believed.
    #[test]
    fn an_experiment_that_measured_nothing_is_invalid() {
        let scratch = Scratch::new("nothing");
        let experiment = experiments::experiment();
        let folder = Folder::numbered(&scratch.join("x"), &experiment).unwrap();
        let refused = |target| {
            let trial = Trial { repeat: 0, load: 0, target };
            (trial, Outcome::Failed("refused the connection".to_owned()))
        };
        for trials in [vec![], vec![refused(0), refused(1)]] {
            let results = Results { trials, ..Results::default() };
            let judged = judged(&experiment, &folder, &results).unwrap();
            assert_eq!(judged.verdict, Verdict::Invalid);
        }
    }

    /// A repeat that failed is missing from the figures; a target whose program is not installed was left out of all.
    #[test]
    fn failed_repeats_make_the_others_suspect() {
        let scratch = Scratch::new("failed");
        let experiment = experiments::experiment();
        let folder = Folder::numbered(&scratch.join("x"), &experiment).unwrap();
        let measured = || Outcome::Measured(Box::new(experiments::figures(1e3)));
        let verdict = |last: Outcome| {
            let trial = |repeat, target| Trial { repeat, load: 0, target };
            let trials = vec![(trial(0, 0), measured()), (trial(0, 1), last)];
            let results = Results { trials, ..Results::default() };
            judged(&experiment, &folder, &results).unwrap().verdict
        };
        assert_eq!(verdict(measured()), Verdict::Valid);
        let skipped = format!("{SKIPPED}install nginx");
        assert_eq!(verdict(Outcome::Failed(skipped)), Verdict::Valid);
        assert_eq!(verdict(Outcome::Failed("the server ended".to_owned())), Verdict::Suspect);
    }

    #[test]
    fn evidence_names_its_load_once() {
        let said = super::labelled("-c 50", "6 runs of a.\nThe medians of a and b.");
        assert_eq!(said, "At -c 50: 6 runs of a.\nThe medians of a and b.");
    }
}
