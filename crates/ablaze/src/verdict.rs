//! The verdict of a run that ended here or was read from a file, and where the report has no place for it: on stderr beside ab's and gurl's reports, and
//! in the exit status under `--strict`.

use std::io::{IsTerminal, Write};

use ablaze_model::finding::{Finding, Judged, Limit, Limited, Severity, Verdict};
use ablaze_model::{Assessed, Run};
use ablaze_verdict::live;

use crate::error::note;
use crate::outlets;
use crate::terminal::paragraph;

/// Judges a Run, once: what goes on to reporters. A rule that panics takes no report with it: its fault is
/// told, and the run goes on as one that nothing is known of.
pub fn assessed(run: Run) -> Assessed {
    let mut judged = Judged {
        verdict: Verdict::Suspect,
        limited: Limited { by: Limit::Unknown, evidence: "the run was not judged".to_owned() },
        findings: Vec::new(),
        passed: Vec::new(),
        unseen_because: String::new(),
        little: None,
    };
    outlets::attempt("the verdict", || {
        judged = live::judge(&run);
        Ok(())
    });
    Assessed { run, judged }
}

/// Whether the number is not to be believed.
pub fn is_invalid(assessed: &Assessed) -> bool {
    assessed.judged.verdict == Verdict::Invalid
}

/// Says on stderr what makes the number doubtful, one line per finding, on a terminal wrapped at words; nothing
/// when it is VALID, unless `explain` asks for everything that the rules looked at. `quiet` leaves what makes it
/// INVALID.
pub fn say(Assessed { judged, .. }: &Assessed, explain: bool, quiet: bool) {
    // Findings are of figures that nobody has seen then.
    if outlets::stdout_failed() {
        return;
    }
    if explain {
        note(&format!("{}, {}", judged.verdict, judged.limited));
    }
    let roots = judged.with_explained().map(|(root, _)| root);
    let said = roots.filter(|root| !quiet || explain || root.severity == Severity::Invalid);
    said.for_each(|root| tell(&line(root)));
    if explain {
        judged.notes().for_each(|finding| tell(&line(finding)));
        for passed in &judged.passed {
            if let Some(evidence) = &passed.evidence {
                note(&format!("{} passed {}: {evidence}", passed.id, passed.id.name()));
            }
        }
        judged.unseen().iter().for_each(|text| note(text));
    }
}

/// Says on stderr how the checks of `--assert` went, a line each, below a report of another tool that has no place for them;
/// `quiet` leaves those that failed.
pub fn say_checks(run: &Run, quiet: bool) {
    if outlets::stdout_failed() {
        return;
    }
    let each = run.record.checks.iter().flat_map(|checks| &checks.each);
    for (text, check) in ablaze_report::checks::in_words(run).into_iter().zip(each) {
        if !quiet || check.failed > 0 {
            tell(&format!("check {text}"));
        }
    }
}

/// A line that may be long. Where it goes to a program or a file it stays one, for `grep`.
fn tell(line: &str) {
    if !std::io::stderr().is_terminal() {
        return note(line);
    }
    // With stderr closed there is no one left to tell.
    let _ = std::io::stderr().write_all(paragraph("ablaze: ", line).as_bytes());
}

/// `D02 INVALID no response: 0 of 10 …`: what was seen, why, and what to do, in one line.
fn line(finding: &Finding) -> String {
    format!(
        "{} {} {}: {} {} {}",
        finding.id,
        finding.severity,
        finding.id.name(),
        finding.evidence,
        finding.cause,
        finding.fix
    )
}
