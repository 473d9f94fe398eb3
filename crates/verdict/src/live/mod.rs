//! Judges a Run by the diagnoses that can be seen in one ([`crate::diagnosis`]), with the figures that
//! several of them need: how busy each side was (`figures`), whether an open loop fell behind (`behind`), a command that repeats a request (`curl`), what its
//! header asks for (`headers`), Little's law (`little`), others on the same CPUs (`others`), CPU quotas (`quota`), users who failed in their setup (`setup`), what the server did
//! without a load (`at_rest`), whether it was stopped (`stopped`) and whether it was the one observed (`whose`), timers of TCP
//! (`timers`); and what can be found while it is under way (`under_way`).

pub(crate) mod at_rest;
pub(crate) mod behind;
pub(crate) mod curl;
pub(crate) mod figures;
pub(crate) mod headers;
pub(crate) mod little;
pub(crate) mod options;
pub(crate) mod others;
pub(crate) mod quota;
mod rooms;
pub(crate) mod setup;
pub(crate) mod stopped;
pub(crate) mod timers;
mod under_way;
mod unseen;
pub(crate) mod walk;
pub(crate) mod whose;

#[cfg(test)]
mod properties;
#[cfg(test)]
pub(crate) mod sample;

use ablaze_model::Run;
pub use ablaze_model::finding::{Assessed, Judged, Passed};
use ablaze_model::record::{GroupRecord, MalformedBy};
pub use under_way::{Asked, UnderWay, while_it_runs};

use crate::diagnosis::d02_no_response::Kinds;
use crate::diagnosis::{Diagnosis, DiagnosisId, OnRun, d02_no_response};
use crate::finding::{Verdict, settled};
use crate::limit;

/// Judges a Run and hands it on with what was found.
pub fn assessed(run: Run) -> Assessed {
    let judged = judge(&run);
    Assessed { run, judged }
}

/// Judges a Run.
pub fn judge(run: &Run) -> Judged {
    let (mut findings, mut passed) = (Vec::new(), Vec::new());
    for (id, form) in forms() {
        match (form.check)(run) {
            Some(finding) => findings.push(finding),
            None => passed.push(Passed { id, evidence: (form.seen)(run) }),
        }
    }
    let findings = settled(findings);
    Judged {
        verdict: Verdict::of(&findings),
        limited: limit::of(run),
        findings,
        unseen_because: unseen::why(run, &passed),
        passed,
        little: little::gap(run),
    }
}

/// Whether all connections were made to an address of this machine's loopback interface.
pub fn over_loopback(run: &Run) -> bool {
    whose::over_loopback(run)
}

/// Whether no connection stood from the beginning of the run to its end, as D02 sees it.
pub fn no_connection_opened(run: &Run) -> bool {
    crate::diagnosis::d02_no_response::begun::is_unopened(run)
}

/// Whether none did because the server's accept queue was full of others.
pub fn queue_was_full(run: &Run) -> bool {
    d02_no_response::is_full_of_others(run)
}

/// The option that says how long a request may take, as the front end of this Run spells it.
pub fn timeout_option(run: &Run) -> &'static str {
    options::spelled(run, options::Opt::Timeout)
}

/// The option that says how long the run takes.
pub fn duration_option(run: &Run) -> &'static str {
    options::spelled(run, options::Opt::Duration)
}

/// The option that says how many connections there are.
pub fn connections_option(run: &Run) -> &'static str {
    options::spelled(run, options::Opt::Connections)
}

/// The command that does once, and shows, what the run's requests did: curl with these flags, or the walk of a journey, whose
/// requests need what came before them.
pub fn request_shown(run: &Run, flags: &str) -> String {
    match run.plan.journey {
        Some(_) => format!("`{}`", walk::command(run, "")),
        None => {
            let failed = |group: &GroupRecord| group.failures.iter().sum();
            format!("`curl {flags} {}`", curl::arguments_where(run, failed))
        }
    }
}

/// Whether requests got no response because their bodies waited for its windows.
pub fn bodies_were_held(run: &Run) -> bool {
    d02_no_response::held_bodies(run).is_some()
}

/// Whether the first response of the run has no length, so that its end is that of the connection.
pub fn have_no_length(run: &Run) -> bool {
    d02_no_response::without_end(run)
}

/// What nearly all malformed responses of a run are, or the first of them where no other was looked at; `None` where they
/// differ.
pub fn malformed_alike(run: &Run) -> Option<MalformedBy> {
    match d02_no_response::kinds(run) {
        Kinds::Nearly(by) | Kinds::First(by) => Some(by),
        Kinds::Several => None,
    }
}

/// What they are, with their numbers.
pub fn malformed_told_apart(run: &Run) -> String {
    d02_no_response::told_apart(run, None)
}

/// The diagnoses that can be seen in a Run.
fn forms() -> impl Iterator<Item = (DiagnosisId, OnRun)> {
    Diagnosis::all().iter().filter_map(|diagnosis| Some((diagnosis.id, diagnosis.forms.run?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosisId::*;

    #[test]
    fn an_ordinary_run_is_valid() {
        let judged = judge(&sample::run());
        assert_eq!(judged.verdict, Verdict::Valid, "{:?}", judged.findings);
        assert!(judged.with_explained().next().is_none());
        let notes: Vec<_> = judged.notes().map(|finding| finding.id).collect();
        assert_eq!(notes, [D12]);
    }

    /// Rules that the sample, a closed loop with a monitor, has nothing for, and why.
    const NOTHING_TO_GO_BY: [(DiagnosisId, &str); 6] = [
        (D24, "nothing tells how the server was built"),
        (D25, "the server is none of ours that waits by level or edge"),
        (D26, "it is looked at only behind a server that was full"),
        (D27, "the server has one thread"),
        (D28, "the server has one thread"),
        (D30, "in a closed loop no request is due at a time of its own"),
    ];

    #[test]
    fn every_rule_says_what_it_went_by() {
        let mut run = sample::with_shares(0.5, 0.5);
        let judged = judge(&run);
        assert_eq!(judged.findings, []);
        assert_eq!(judged.passed.len(), forms().count());
        // Each has its figures in it, or a reason to have none.
        for passed in &judged.passed {
            let excused = NOTHING_TO_GO_BY.iter().any(|(id, _)| *id == passed.id);
            match &passed.evidence {
                Some(evidence) => assert!(evidence.ends_with('.') && !excused, "{passed:?}"),
                None => assert!(excused, "{passed:?}"),
            }
        }
        let unseen = judged.unseen().unwrap();
        assert!(unseen.starts_with("not observable here: D24 (the debug data"), "{unseen}");
        // What was not asked for or seen is said to be so.
        sample::open_loop(&mut run, 2_000.0);
        run.monitor = None;
        let unseen = judge(&run).unseen().unwrap();
        for id in ["D01", "D12", "D13", "D22", "D23"] {
            assert!(unseen.contains(id), "{id}: {unseen}");
        }
    }

    #[test]
    fn a_run_without_anything_has_little_to_say() {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        run.record.setup_connect.clear();
        run.workers.clear();
        run.elapsed_ns = 0;
        for (_, form) in forms() {
            let said = (form.seen)(&run).unwrap_or_default();
            assert!(!said.contains("NaN") && !said.contains("inf "), "{said}");
        }
    }

    #[test]
    fn without_a_monitor_nothing_is_made_up() {
        let mut run = sample::run();
        run.monitor = None;
        let judged = judge(&run);
        assert_eq!((judged.verdict, judged.findings.len()), (Verdict::Valid, 0));
    }

    #[test]
    fn what_a_root_explains_is_listed_under_it() {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        let judged = judge(&run);
        assert_eq!(judged.verdict, Verdict::Invalid);
        let (root, _) = judged.with_explained().next().unwrap();
        assert_eq!(root.id, D02);
    }
}
