//! D35: server and client, or two servers, read in pieces of different sizes. Nothing looks for it:
//! ablaze discards long bodies in the kernel, and how a server reads is not to be seen from outside.
//! It keeps its number and its place in docs/diagnoses.md.

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D35;
use crate::finding::Severity;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D35,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note],
    explained_by: &[],
    forms: Forms::NONE,
};
