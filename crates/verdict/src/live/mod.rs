//! The rules on a Run: one file per diagnosis, each a pure function from what was recorded and
//! witnessed to a finding. The table in [`crate::diagnosis`] is the same as for printed reports.

pub(crate) mod figures;

mod d01_concurrency_not_reached;
mod d02_no_response;
mod d03_echoed_request;
mod d04_error_pages;
mod d07_global_stall;
mod d08_connection_attempts_lost;
mod d09_retransmission;
mod d10_delayed_acknowledgement;
mod d11_tester_at_its_limit;
mod d12_server_at_its_limit;
mod d13_shared_processors;
mod d14_too_short;
mod d18_connections_cut;
mod d19_keep_alive_refused;
mod d20_out_of_local_ports;
mod d21_out_of_descriptors;
mod d22_kernel_queue_overflow;
mod d23_machine_paused;
mod d24_unoptimised_target;
mod d25_path_not_exercised;
mod d26_busy_loop;
mod d27_uneven_threads;
mod d28_thundering_herd;
mod d29_stuck_connection;
mod d30_late_sending;
mod d33_several_addresses;
mod d34_edges_of_the_run;
mod d37_lengths_differ;
mod d38_observed_by_a_profiler;
mod d39_bound_by_the_round_trip;
mod d40_streams_limited;
mod d41_window_stalls;
mod little;
mod timers;
mod unseen;

#[cfg(test)]
pub(crate) mod sample;

pub(crate) use d25_path_not_exercised::outgrows_its_buffer;

use ablaze_model::Run;

use crate::DiagnosisId;
use crate::finding::{Finding, Severity, Verdict, settled};
use crate::limit::{self, Limited};
pub use little::LittleGap;

/// One diagnosis, looked for in a Run.
struct Rule {
    /// Which.
    id: DiagnosisId,
    /// What was found, if anything.
    check: fn(&Run) -> Option<Finding>,
    /// The figures that it goes by, as a sentence: what is shown of a rule that found nothing.
    /// `None` where this Run does not have them.
    seen: fn(&Run) -> Option<String>,
}

const RULES: &[Rule] = &[
    d01_concurrency_not_reached::RULE,
    d02_no_response::RULE,
    d03_echoed_request::RULE,
    d04_error_pages::RULE,
    d07_global_stall::RULE,
    d08_connection_attempts_lost::RULE,
    d09_retransmission::RULE,
    d10_delayed_acknowledgement::RULE,
    d11_tester_at_its_limit::RULE,
    d12_server_at_its_limit::RULE,
    d13_shared_processors::RULE,
    d14_too_short::RULE,
    d18_connections_cut::RULE,
    d19_keep_alive_refused::RULE,
    d20_out_of_local_ports::RULE,
    d21_out_of_descriptors::RULE,
    d22_kernel_queue_overflow::RULE,
    d23_machine_paused::RULE,
    d24_unoptimised_target::RULE,
    d25_path_not_exercised::RULE,
    d26_busy_loop::RULE,
    d27_uneven_threads::RULE,
    d28_thundering_herd::RULE,
    d29_stuck_connection::RULE,
    d30_late_sending::RULE,
    d33_several_addresses::RULE,
    d34_edges_of_the_run::RULE,
    d37_lengths_differ::RULE,
    d38_observed_by_a_profiler::RULE,
    d39_bound_by_the_round_trip::RULE,
    d40_streams_limited::RULE,
    d41_window_stalls::RULE,
];

/// Whether a Run's number is to be believed, and what it is the number of.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The worst root finding.
    pub verdict: Verdict,
    /// What bounded the rate.
    pub limited: Limited,
    /// The gravest first.
    pub findings: Vec<Finding>,
    /// The rules that found nothing, in the order of their numbers.
    pub passed: Vec<Passed>,
}

/// A diagnosis that was looked for and not found.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    /// Which.
    pub id: DiagnosisId,
    /// The figures that show it, as a sentence; `None` where this Run does not have them, and
    /// nothing was looked at.
    pub evidence: Option<String>,
}

impl Judged {
    /// The findings that the verdict stands on, each followed by those that it explains.
    pub fn with_explained(&self) -> impl Iterator<Item = (&Finding, Vec<&Finding>)> {
        let grave = |finding: &&Finding| {
            finding.explained_by.is_none() && finding.severity > Severity::Note
        };
        self.findings.iter().filter(grave).map(|root| {
            let explained =
                self.findings.iter().filter(|other| other.explained_by == Some(root.id));
            (root, explained.collect())
        })
    }

    /// The rules that could look at nothing, and why, in a line: `not to be seen here: D12, D13
    /// (there was no witness)`; `None` when all of them could.
    pub fn unseen(&self, run: &Run) -> Option<String> {
        let unseen = self.passed.iter().filter(|passed| passed.evidence.is_none());
        let ids: Vec<String> = unseen.map(|passed| passed.id.to_string()).collect();
        (!ids.is_empty())
            .then(|| format!("not to be seen here: {} ({})", ids.join(", "), unseen::why(run)))
    }

    /// Root findings that take nothing away from the number.
    pub fn notes(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.severity == Severity::Note && finding.explained_by.is_none())
    }
}

/// Judges a Run.
pub fn judge(run: &Run) -> Judged {
    let (mut findings, mut passed) = (Vec::new(), Vec::new());
    for rule in RULES {
        match (rule.check)(run) {
            Some(finding) => findings.push(finding),
            None => passed.push(Passed { id: rule.id, evidence: (rule.seen)(run) }),
        }
    }
    let findings = settled(findings);
    Judged { verdict: Verdict::of(&findings), limited: limit::of(run), findings, passed }
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

    /// Rules that the sample, a closed loop with a witness, has nothing for, and why.
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
        assert_eq!(judged.passed.len(), RULES.len());
        // Each has its figures in it, or a reason to have none.
        for passed in &judged.passed {
            let excused = NOTHING_TO_GO_BY.iter().any(|(id, _)| *id == passed.id);
            match &passed.evidence {
                Some(evidence) => assert!(evidence.ends_with('.') && !excused, "{passed:?}"),
                None => assert!(excused, "{passed:?}"),
            }
        }
        let unseen = judged.unseen(&run).unwrap();
        assert!(
            unseen
                .starts_with("not to be seen here: D24, D25, D26, D27, D28, D30 (in a closed loop"),
            "{unseen}"
        );
        // What was not asked for or seen is said to be so.
        sample::open_loop(&mut run, 2_000.0);
        run.witness = None;
        let unseen = judge(&run).unseen(&run).unwrap();
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
        for rule in RULES {
            let said = (rule.seen)(&run).unwrap_or_default();
            assert!(!said.contains("NaN") && !said.contains("inf "), "{said}");
        }
    }

    #[test]
    fn without_a_witness_nothing_is_made_up() {
        let mut run = sample::run();
        run.witness = None;
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
