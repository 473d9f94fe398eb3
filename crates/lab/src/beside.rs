//! The runs of an experiment beside each other: whether they did the same work, how far repeats lie
//! apart, what shape the curves have. The rules are those of `ablaze explain`.

use ablaze_verdict::several::{Several, beside_each_other, member};
use ablaze_verdict::{DiagnosisId, Finding, Severity};

use crate::experiment::{Experiment, Folder, FolderError, Results};
use crate::saved;

/// What was found in the runs together, the gravest first; `None` for fewer than two.
///
/// # Errors
/// When a kept run cannot be read back.
pub fn judged(
    experiment: &Experiment,
    folder: &Folder,
    results: &Results,
) -> Result<Option<Several>, FolderError> {
    let mut members = Vec::new();
    // Concurrencies are told apart by themselves.
    let by_connections = experiment.loads.len() == 1 || experiment.loads[0].label.starts_with("c=");
    for (trial, _) in results.measured() {
        let target = &experiment.subjects[trial.subject].name;
        let Some(run) = folder.run(experiment, trial)? else {
            let run = folder.printed(experiment, trial)?;
            members.extend(run.and_then(|run| run.member(target)));
            continue;
        };
        let version = Some(env!("CARGO_PKG_VERSION"));
        members.extend(member(&run, target, target, version).map(|mut member| {
            if !by_connections {
                // Runs with other options of the load are no repeats of each other.
                member.identity = format!("{target} {}", experiment.loads[trial.load].label);
            }
            member
        }));
    }
    let mut several = beside_each_other(members, None);
    if let Some(several) = &mut several {
        saved::add_doubt(experiment, results, several);
    }
    Ok(several)
}

/// The differences in the work that forbid a ranking.
pub fn unequal_work(several: &Several) -> Vec<&Finding> {
    let grave =
        |finding: &&Finding| finding.id == DiagnosisId::D05 && finding.severity > Severity::Note;
    several.findings().iter().filter(grave).collect()
}

/// Everything else that was found.
pub fn other_findings(several: &Several) -> Vec<&Finding> {
    let unequal = unequal_work(several);
    several.findings().iter().filter(|finding| !unequal.contains(finding)).collect()
}
