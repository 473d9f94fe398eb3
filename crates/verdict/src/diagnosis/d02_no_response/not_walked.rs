//! Nothing was sent because the journeys, or the users before them, had failed: the time was not too short.

use ablaze_model::Run;
use ablaze_model::printable::printable;
use ablaze_model::record::FirstMessage;

use crate::DiagnosisId::D02;
use crate::finding::{Finding, Severity};
use crate::live::walk;
use crate::words::counted;

const CAUSE: &str = "Nothing was left to be sent: the run measured nothing.";

/// Of a run that sent nothing: what failed before the first request.
pub(super) fn found(run: &Run) -> Option<Finding> {
    of_setup(run).or_else(|| of_journeys(run))
}

fn of_setup(run: &Run) -> Option<Finding> {
    let setup = run.record.journeys.as_ref()?.setup.as_ref()?;
    let file = printable(run.plan.journey.as_ref()?.users.setup.as_deref()?).into_owned();
    let first = setup.first.as_ref().filter(|_| setup.failed > 0 && setup.failed == setup.begun)?;
    let evidence = format!(
        "{} failed in the setup {file}, {}.",
        every(setup.failed, "user"),
        reason(setup.failed, first)
    );
    let fix =
        format!("Walk it once with `{}`, and measure when it passes.", walk::command_of_setup(run));
    Some(Finding::new(D02, Severity::Invalid, evidence, CAUSE, fix))
}

fn of_journeys(run: &Run) -> Option<Finding> {
    let journeys = run.record.journeys.as_ref().filter(|journeys| journeys.failed > 0)?;
    let (step, first) =
        journeys.steps.iter().find_map(|step| Some((&step.name, step.first.as_ref()?)))?;
    let evidence = format!(
        "{} failed before the first request was sent, in {}, {}.",
        every(journeys.failed, "journey"),
        printable(step),
        reason(journeys.failed, first)
    );
    let command = walk::command(run, "");
    let fix = format!("Walk the journey once with `{command}`, and measure when it passes.");
    Some(Finding::new(D02, Severity::Invalid, evidence, CAUSE, fix))
}

/// All of them, also where there is one.
fn every(count: u64, what: &str) -> String {
    if count == 1 { format!("The one {what}") } else { format!("All {}", counted(count, what)) }
}

fn reason(count: u64, first: &FirstMessage) -> String {
    let text = printable(&first.text);
    let text = text.trim_end_matches('.');
    if count == 1 { text.to_owned() } else { format!("the first at {text}") }
}
