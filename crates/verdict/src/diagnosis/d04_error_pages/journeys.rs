//! Journeys that failed by what came back: an assert, a status that a step does not name, a capture of what was not there. Their
//! responses may all be successes.

use ablaze_model::Run;
use ablaze_model::printable::printable;

use super::{MOST, SHARE};
use crate::DiagnosisId::D04;
use crate::finding::{Finding, Severity};
use crate::live::walk;
use crate::words::{counted, grouped, listed, percent};

/// So many steps are named.
const STEPS_NAMED: usize = 3;

const CAUSE: &str = "A journey ends at the step that fails, unless it was told to go on: the rates and times are not those of users \
                     who get through.";

/// What is found where the statuses of the responses were all right, or few were not.
pub(super) fn failed(run: &Run) -> Option<Finding> {
    let journeys = run.record.journeys.as_ref()?;
    let ended = journeys.whole + journeys.failed;
    // Those for which no response came are another finding's.
    let by_responses = journeys.failed.saturating_sub(run.record.failures_total());
    let share = by_responses as f64 / ended.max(1) as f64;
    if share <= SHARE {
        return None;
    }
    let mut steps: Vec<_> = journeys.steps.iter().filter(|step| step.failed > 0).collect();
    steps.sort_by_key(|step| std::cmp::Reverse(step.failed));
    let named = steps.iter().take(STEPS_NAMED);
    let named = named.map(|step| format!("{} ({}×)", printable(&step.name), grouped(step.failed)));
    let evidence = format!(
        "{} of {} that ended ({}) failed, most of them in {}.",
        grouped(journeys.failed),
        counted(ended, "journey"),
        percent(journeys.failed as f64 / ended as f64),
        listed(named)
    );
    let fix = format!(
        "Walk one with `{}` to see what fails, and correct the journey, its data or the server.",
        walk::command(run, "")
    );
    let severity = if share >= MOST { Severity::Invalid } else { Severity::Suspect };
    Some(Finding::new(D04, severity, evidence, CAUSE, fix))
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::Journeys;

    use super::*;
    use crate::live::sample;

    fn with(whole: u64, failed: u64) -> Run {
        let mut run = sample::run();
        let mut journeys = Journeys::new(&["login".to_owned(), "buy".to_owned()]);
        (journeys.begun, journeys.whole) = (whole + failed, whole);
        (0..failed)
            .for_each(|_| journeys.fails(1, 5, || "line 3: the status is 201, not 200".into()));
        run.record.journeys = Some(Box::new(journeys));
        run
    }

    #[test]
    fn journeys_that_fail_by_what_came_back_are_a_doubt_and_half_of_them_more() {
        assert_eq!(failed(&sample::run()), None);
        assert_eq!(failed(&with(2000, 2)), None);
        let some = failed(&with(90, 10)).unwrap();
        assert_eq!(some.severity, Severity::Suspect);
        let evidence = "10 of 100 journeys that ended (10 %) failed, most of them in buy (10×).";
        assert_eq!(some.evidence, evidence);
        assert_eq!(failed(&with(0, 400)).unwrap().severity, Severity::Invalid);
        // Each failed at the last of 50 redirects, which nobody follows.
        let mut redirected = with(0, 400);
        redirected.record.statuses = [(200, 19_600), (302, 400)].into();
        let found = super::super::on_run(&redirected).unwrap();
        assert_eq!(found.severity, Severity::Invalid);
        assert!(found.evidence.starts_with("400 of 400 journeys"), "{found:?}");
    }

    #[test]
    fn those_without_a_response_are_another_finding_s() {
        let mut run = with(90, 10);
        run.record.failures[ablaze_model::FailureKind::Reset as usize] = 10;
        assert_eq!(failed(&run), None);
    }
}
