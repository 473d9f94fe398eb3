//! D44: a worker of a fleet was lost, and with it a share of the load.

use ablaze_model::Run;
use ablaze_model::fleet::FleetWorker;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D44;
use crate::finding::{Finding, Severity};
use crate::live::UnderWay;
use crate::live::whose::without_fleet;
use crate::words::{counted, grouped, listed};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D44,
    shown_by: ShownBy::Run,
    severities: &[Severity::Suspect],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check, seen }),
        while_it_runs: Some(while_it_runs),
        ..Forms::NONE
    },
};

/// So many are told of; the others are counted.
const SHOWN: usize = 3;

fn check(run: &Run) -> Option<Finding> {
    let fleet = run.fleet.as_ref()?;
    let lost: Vec<&FleetWorker> =
        fleet.workers.iter().filter(|worker| worker.lost.is_some()).collect();
    if lost.is_empty() {
        return None;
    }
    let mut each: Vec<String> = lost.iter().take(SHOWN).map(|worker| in_words(worker)).collect();
    if lost.len() > SHOWN {
        each.push(format!("and {} more", grouped((lost.len() - SHOWN) as u64)));
    }
    let of = counted(fleet.workers.len() as u64, "worker");
    Some(Finding::new(
        D44,
        Severity::Suspect,
        format!("{} of {of} lost: {}.", grouped(lost.len() as u64), each.join("; ")),
        "Their share was not taken over by other workers. The figures are of what the others sent, and of what the lost ones \
         handed over; whether a lost one went on sending for a while is not known.",
        "Find out why they were lost, and measure again; the table of workers says what each had done until then.",
    ))
}

/// Nobody comes back.
fn while_it_runs(run: &UnderWay<'_>) -> Option<String> {
    (!run.lost.is_empty()).then(|| format!("lost: {}", listed(run.lost)))
}

fn in_words(worker: &FleetWorker) -> String {
    let why = worker.lost.as_deref().unwrap_or_default();
    format!("{} ({why})", worker.name)
}

fn seen(run: &Run) -> Option<String> {
    let Some(fleet) = &run.fleet else {
        return Some(without_fleet(run).to_owned());
    };
    let workers = fleet.workers.len() as u64;
    Some(format!("Of {} none was lost.", counted(workers, "worker")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn a_lost_worker_is_named_with_the_reason() {
        let mut run = sample::run();
        assert_eq!(check(&run), None);
        run.fleet = Some(Box::new(sample::fleet(3)));
        assert_eq!(check(&run), None);
        if let Some(fleet) = &mut run.fleet {
            fleet.workers[1].lost = Some("said nothing for 10 s".to_owned());
        }
        let finding = check(&run).unwrap();
        assert_eq!(finding.evidence, "1 of 3 workers lost: host-1 (said nothing for 10 s).");
        // One that is only cut off from the coordinator may still send.
        assert!(finding.cause.contains("went on sending for a while is not known"), "{finding:?}");
    }
}
