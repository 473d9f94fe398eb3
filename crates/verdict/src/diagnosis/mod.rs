//! The diagnoses: each is one file with its thresholds, its sentences and its forms (on a Run, on a
//! printed report, on several beside each other), and one line of the list in
//! `crates/model/src/finding/diagnoses.rs`, which has its number and its name. Live runs and printed reports are judged by this one table ([`crate::live`], [`crate::rules`]);
//! docs/diagnoses.md explains it to users, and a test holds the two together.

use ablaze_model::Run;
pub use ablaze_model::finding::DiagnosisId;

use crate::finding::{Finding, Severity};
use crate::live::UnderWay;
use crate::printed::{Abort, Command, Report};
use crate::rules::{Comparison, Curves};

/// Declares a module for each diagnosis, and the table, in the order given.
macro_rules! files {
    ($($id:ident $module:ident $name:literal;)*) => {
        $(pub(crate) mod $module;)*

        static TABLE: &[Diagnosis] = &[$($module::DIAGNOSIS,)*];
    };
}

ablaze_model::diagnoses!(files);

/// What it takes to see a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownBy {
    /// A printed report is enough.
    Text,
    /// Only a run itself knows: counters of the client, of the kernel or of the server.
    Run,
}

/// What is fixed about a diagnosis.
#[derive(Debug, Clone, Copy)]
pub struct Diagnosis {
    /// Its number.
    pub id: DiagnosisId,
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
    /// In a Run that is under way: only those whose evidence is complete by then, so that the
    /// whole Run has the finding too unless what comes behind it outweighs it. Gives the evidence.
    pub while_it_runs: Option<fn(&UnderWay<'_>) -> Option<String>>,
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
        while_it_runs: None,
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

impl Diagnosis {
    /// All of them, in the order of their numbers.
    pub fn all() -> &'static [Diagnosis] {
        TABLE
    }

    /// The one with this number.
    pub fn of(id: DiagnosisId) -> &'static Diagnosis {
        &TABLE[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_own_row() {
        for (index, diagnosis) in Diagnosis::all().iter().enumerate() {
            assert_eq!(diagnosis.id as usize, index);
            let before = index.checked_sub(1).map(|index| Diagnosis::all()[index].id.to_string());
            assert!(before < Some(diagnosis.id.to_string()), "{}", diagnosis.id);
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
            let direct = Diagnosis::of(id).explained_by;
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
            let heading = format!("## {id} {}\n", id.name());
            assert!(page.contains(&heading), "no heading {heading:?}");
            let severities: Vec<String> =
                diagnosis.severities.iter().map(Severity::to_string).collect();
            let causes: Vec<String> =
                diagnosis.explained_by.iter().map(DiagnosisId::to_string).collect();
            let row = format!(
                "| [{id}](#{}) | {} | {} | {} | {} |",
                id.anchor(),
                id.name(),
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
