//! The one table of diagnoses: what each is called, how grave it may be, and which other may
//! explain it. Live runs and printed reports are judged by the same table; docs/diagnoses.md
//! explains it to users, and a test holds the two together.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::finding::Severity::{self, Invalid, Note, Suspect};

/// The number of a diagnosis. Numbers are for ever: scripts and documents refer to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the table below says what each one is")]
#[rustfmt::skip]
pub enum DiagnosisId {
    D01, D02, D03, D04, D05, D06, D07, D08, D09, D10, D11, D12, D13,
    D14, D15, D16, D17, D18, D19, D20, D21, D22, D23, D24, D25, D26,
    D27, D28, D29, D30, D31, D32, D33, D34, D35, D36, D37, D38, D39,
    D40, D41,
}

use DiagnosisId::*;

/// What it takes to see a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownBy {
    /// A printed report is enough.
    Text,
    /// Only a run itself knows: counters of the tester, of the kernel or of the server.
    Run,
}

use ShownBy::{Run, Text};

/// What is fixed about a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagnosis {
    /// Its number.
    pub id: DiagnosisId,
    /// Where it can be seen.
    pub shown_by: ShownBy,
    /// Its name, in the words a report uses: `no response`.
    pub name: &'static str,
    /// What it may be raised as, mildest first. The evidence decides between them.
    pub severities: &'static [Severity],
    /// Diagnoses that, found in the same run, explain this one: it is then listed under the first
    /// of them that was found and does not count.
    pub explained_by: &'static [DiagnosisId],
}

#[rustfmt::skip]
const TABLE: [Diagnosis; 41] = [
    row(D01, Text, "concurrency not reached",  &[Suspect, Invalid],       &[D02, D20, D21, D29, D40]),
    row(D02, Text, "no response",              &[Suspect, Invalid],       &[D03]),
    row(D03, Text, "echoed request",           &[Invalid],                &[]),
    row(D04, Text, "error pages",              &[Suspect, Invalid],       &[D03]),
    row(D05, Text, "unequal comparison",       &[Note, Suspect, Invalid], &[]),
    row(D06, Text, "too coarse",               &[Note, Suspect],          &[]),
    row(D07, Text, "global stall",             &[Note, Suspect],          &[D13, D22, D23]),
    row(D08, Text, "connection attempts lost", &[Suspect],                &[D07, D21, D22]),
    row(D09, Text, "retransmission",           &[Note, Suspect],          &[D07, D08, D22, D23]),
    row(D10, Run,  "delayed acknowledgement",  &[Note, Suspect],          &[]),
    row(D11, Run,  "tester at its limit",      &[Note, Suspect],          &[D13, D20, D21, D23]),
    row(D12, Run,  "server at its limit",      &[Note],                   &[D26]),
    row(D13, Run,  "shared processors",        &[Note, Suspect],          &[]),
    row(D14, Text, "too short",                &[Note, Suspect],          &[]),
    row(D15, Text, "noise",                    &[Note, Suspect],          &[]),
    row(D16, Text, "impossible speed-up",      &[Suspect],                &[]),
    row(D17, Text, "cliff",                    &[Note],                   &[D08, D11, D20]),
    row(D18, Text, "connections cut",          &[Note, Suspect],          &[]),
    row(D19, Text, "keep-alive refused",       &[Suspect],                &[D02, D03]),
    row(D20, Text, "out of local ports",       &[Suspect, Invalid],       &[D03]),
    row(D21, Text, "out of descriptors",       &[Suspect, Invalid],       &[]),
    row(D22, Run,  "kernel queue overflow",    &[Note, Suspect],          &[]),
    row(D23, Run,  "machine paused",           &[Note, Suspect],          &[]),
    row(D24, Run,  "unoptimised target",       &[Note, Suspect],          &[]),
    row(D25, Run,  "path not exercised",       &[Note, Suspect],          &[]),
    row(D26, Run,  "busy loop",                &[Note, Suspect],          &[]),
    row(D27, Run,  "uneven threads",           &[Note],                   &[]),
    row(D28, Run,  "thundering herd",          &[Note],                   &[]),
    row(D29, Text, "stuck connection",         &[Suspect, Invalid],       &[]),
    row(D30, Run,  "late sending",             &[Note, Suspect],          &[D07, D11, D13, D23]),
    row(D31, Text, "units",                    &[Note],                   &[]),
    row(D32, Text, "counter wrapped",          &[Invalid],                &[]),
    row(D33, Run,  "several addresses",        &[Note],                   &[]),
    row(D34, Run,  "edges of the run",         &[Note],                   &[D14]),
    row(D35, Run,  "read size",                &[Note],                   &[]),
    row(D36, Text, "not from that command",    &[Suspect],                &[]),
    row(D37, Text, "lengths differ",           &[Note],                   &[D02, D04]),
    row(D38, Run,  "observed by a profiler",   &[Note, Suspect],          &[]),
    row(D39, Text, "bound by the round trip",  &[Note],                   &[]),
    row(D40, Run,  "streams limited",          &[Note, Suspect, Invalid], &[]),
    row(D41, Run,  "window stalls",            &[Note, Suspect],          &[]),
];

const fn row(
    id: DiagnosisId,
    shown_by: ShownBy,
    name: &'static str,
    severities: &'static [Severity],
    explained_by: &'static [DiagnosisId],
) -> Diagnosis {
    Diagnosis { id, shown_by, name, severities, explained_by }
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
        &TABLE
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
                if diagnosis.shown_by == Text { "✓" } else { "" }
            );
            let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(page.lines().any(|line| squeezed(line) == squeezed(&row)), "no row {row}");
        }
        assert_eq!(page.matches("\n## D").count(), Diagnosis::all().len());
    }
}
