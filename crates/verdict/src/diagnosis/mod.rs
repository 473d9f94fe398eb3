//! The diagnoses: each is one file with its name, its thresholds, its sentences and its forms (on a
//! Run, on a printed report, on several beside each other), and one line of the list below. Live runs
//! and printed reports are judged by this one table ([`crate::live`], [`crate::rules`]);
//! docs/diagnoses.md explains it to users, and a test holds the two together.

use std::fmt;

use ablaze_model::Run;
use serde::{Serialize, Serializer};

use crate::finding::{Finding, Severity};
use crate::printed::{Abort, Command, Report};
use crate::rules::{Comparison, Curves};

/// Declares a module for each diagnosis, its number, and the table, in the order given.
macro_rules! diagnoses {
    ($($id:ident $module:ident;)*) => {
        $(pub(crate) mod $module;)*

        /// The number of a diagnosis. Numbers are for ever: scripts and documents refer to them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DiagnosisId {
            $(#[doc = concat!("See `", stringify!($module), "`.")] $id,)*
        }

        static TABLE: &[Diagnosis] = &[$($module::DIAGNOSIS,)*];
    };
}

diagnoses! {
    D01 d01_concurrency_not_reached;
    D02 d02_no_response;
    D03 d03_echoed_request;
    D04 d04_error_pages;
    D05 d05_unequal_comparison;
    D06 d06_too_coarse;
    D07 d07_global_stall;
    D08 d08_connection_attempts_lost;
    D09 d09_retransmission;
    D10 d10_delayed_acknowledgement;
    D11 d11_tester_at_its_limit;
    D12 d12_server_at_its_limit;
    D13 d13_shared_processors;
    D14 d14_too_short;
    D15 d15_noise;
    D16 d16_impossible_speed_up;
    D17 d17_cliff;
    D18 d18_connections_cut;
    D19 d19_keep_alive_refused;
    D20 d20_out_of_local_ports;
    D21 d21_out_of_descriptors;
    D22 d22_kernel_queue_overflow;
    D23 d23_machine_paused;
    D24 d24_unoptimised_target;
    D25 d25_path_not_exercised;
    D26 d26_busy_loop;
    D27 d27_uneven_threads;
    D28 d28_thundering_herd;
    D29 d29_stuck_connection;
    D30 d30_late_sending;
    D31 d31_units;
    D32 d32_counter_wrapped;
    D33 d33_several_addresses;
    D34 d34_edges_of_the_run;
    D35 d35_read_size;
    D36 d36_not_from_that_command;
    D37 d37_lengths_differ;
    D38 d38_observed_by_a_profiler;
    D39 d39_bound_by_the_round_trip;
    D40 d40_streams_limited;
    D41 d41_window_stalls;
    D42 d42_client_fault;
}

/// What it takes to see a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownBy {
    /// A printed report is enough.
    Text,
    /// Only a run itself knows: counters of the tester, of the kernel or of the server.
    Run,
}

/// What is fixed about a diagnosis.
#[derive(Debug, Clone, Copy)]
pub struct Diagnosis {
    /// Its number.
    pub id: DiagnosisId,
    /// Its name, in the words a report uses: `no response`.
    pub name: &'static str,
    /// Where it can be seen.
    pub shown_by: ShownBy,
    /// What it may be raised as, mildest first. The evidence decides between them.
    pub severities: &'static [Severity],
    /// Diagnoses that, found in the same run, explain this one: it is then listed under the first
    /// of them that was found and does not count.
    pub explained_by: &'static [DiagnosisId],
    /// How it is looked for.
    pub(crate) forms: Forms,
}

/// How a diagnosis is looked for, in each kind of thing that is judged. Pure functions; those that
/// are not there cannot see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forms {
    /// In a Run.
    pub run: Option<OnRun>,
    /// In a Run that was kept in a file, besides.
    pub saved_run: Option<fn(&Run) -> Option<Finding>>,
    /// In a printed report.
    pub report: Option<fn(&Report) -> Option<Finding>>,
    /// In a run of ab that ended without a report.
    pub abort: Option<fn(&Abort) -> Option<Finding>>,
    /// In rates beside each other.
    pub comparison: Option<InText<Comparison>>,
    /// In rates over concurrency.
    pub curves: Option<fn(&Curves<'_>) -> Option<Finding>>,
    /// In a command without figures.
    pub command: Option<InText<Command>>,
}

/// A form that also goes by the line of the text that says that the best of several runs is shown, if
/// one does.
type InText<T> = fn(&T, Option<usize>) -> Option<Finding>;

impl Forms {
    /// None at all: what a diagnosis does not name.
    pub const NONE: Self = Self {
        run: None,
        saved_run: None,
        report: None,
        abort: None,
        comparison: None,
        curves: None,
        command: None,
    };
}

/// A diagnosis, looked for in a Run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnRun {
    /// What was found, if anything.
    pub check: fn(&Run) -> Option<Finding>,
    /// The figures that it goes by, as a sentence: what is shown of a diagnosis that was not found.
    /// `None` where this Run does not have them.
    pub seen: fn(&Run) -> Option<String>,
}

impl DiagnosisId {
    /// What is fixed about it.
    pub fn diagnosis(self) -> &'static Diagnosis {
        &TABLE[self as usize]
    }

    /// Its name: `no response`.
    pub fn name(self) -> &'static str {
        self.diagnosis().name
    }

    /// Where docs/diagnoses.md explains it: `d02-no-response`.
    pub fn anchor(self) -> String {
        format!("{self} {}", self.name()).to_lowercase().replace(' ', "-")
    }
}

impl Diagnosis {
    /// All of them, in the order of their numbers.
    pub fn all() -> &'static [Diagnosis] {
        TABLE
    }
}

impl fmt::Display for DiagnosisId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Serialize for DiagnosisId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_own_row() {
        for (index, diagnosis) in Diagnosis::all().iter().enumerate() {
            assert_eq!(diagnosis.id as usize, index);
            assert_eq!(diagnosis.id.to_string(), format!("D{:02}", index + 1));
            assert!(!diagnosis.severities.is_empty() && diagnosis.severities.is_sorted());
        }
    }

    /// What a printed text is enough for has a form on one.
    #[test]
    fn where_it_is_shown_agrees_with_its_forms() {
        for Diagnosis { id, shown_by, forms, .. } in Diagnosis::all() {
            let of_one = forms.report.is_some() || forms.abort.is_some() || forms.command.is_some();
            let of_several = forms.comparison.is_some() || forms.curves.is_some();
            match shown_by {
                ShownBy::Text => assert!(of_one || of_several, "{id}"),
                ShownBy::Run => assert!(!of_one, "{id}"),
            }
        }
    }

    #[test]
    fn no_diagnosis_explains_itself_however_far_round() {
        fn causes(id: DiagnosisId, depth: usize) -> Vec<DiagnosisId> {
            assert!(depth < Diagnosis::all().len(), "{id} leads back to itself");
            let direct = id.diagnosis().explained_by;
            direct
                .iter()
                .flat_map(|cause| [vec![*cause], causes(*cause, depth + 1)].concat())
                .collect()
        }
        for diagnosis in Diagnosis::all() {
            assert!(!causes(diagnosis.id, 0).contains(&diagnosis.id));
        }
    }

    /// docs/diagnoses.md is where a finding sends its reader: the heading must be there, and what
    /// it says on severity and explanation must be what happens.
    #[test]
    fn the_page_for_users_agrees_with_the_table() {
        let page = &ablaze_testing::repository::file("docs/diagnoses.md");
        for diagnosis in Diagnosis::all() {
            let id = diagnosis.id;
            let heading = format!("## {id} {}\n", diagnosis.name);
            assert!(page.contains(&heading), "no heading {heading:?}");
            let severities: Vec<String> =
                diagnosis.severities.iter().map(Severity::to_string).collect();
            let causes: Vec<String> =
                diagnosis.explained_by.iter().map(DiagnosisId::to_string).collect();
            let row = format!(
                "| [{id}](#{}) | {} | {} | {} | {} |",
                id.anchor(),
                diagnosis.name,
                severities.join(", "),
                causes.join(", "),
                if diagnosis.shown_by == ShownBy::Text { "✓" } else { "" }
            );
            let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(page.lines().any(|line| squeezed(line) == squeezed(&row)), "no row {row}");
        }
        assert_eq!(page.matches("\n## D").count(), Diagnosis::all().len());
    }
}
