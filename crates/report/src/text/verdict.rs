//! The verdict above the figures (whether they are to be believed, and what bounded the rate), and the findings that it
//! stands on below them.

use ablaze_model::finding::{DiagnosisId, Finding, Judged, Severity, Verdict};

use super::Style;
use crate::table::sentence;

/// Named by the line on the limit already.
pub(crate) const SAID_BY_THE_LIMIT: [DiagnosisId; 2] = [DiagnosisId::D12, DiagnosisId::D13];

/// `VALID · limited by the server: its one thread that worked ran at 96 % of a core, the client at 75 %`
pub(super) fn first(judged: &Judged, style: &Style) -> Vec<String> {
    let verdict = judged.verdict.to_string();
    let mut lines = sentence(&format!("{verdict} · "), &judged.limited.to_string(), style.width);
    let dressed = match judged.verdict {
        Verdict::Valid => style.strong(&verdict),
        Verdict::Suspect => style.warning(&verdict),
        Verdict::Invalid => style.error(&verdict),
    };
    if let Some(line) = lines.first_mut() {
        *line = line.replacen(&verdict, &dressed, 1);
    }
    lines
}

/// The findings that the verdict stands on, and notes.
pub(super) fn findings(judged: &Judged, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (root, explained) in judged.with_explained() {
        lines.extend(finding(root, style));
        lines.extend(it_explains(&explained, style));
    }
    let shown = |note: &&Finding| style.explain || !SAID_BY_THE_LIMIT.contains(&note.id);
    for note in judged.notes().filter(shown) {
        let label = format!("  note {} ", note.id);
        let why = match style.explain {
            true => format!(" {} {}", note.cause, note.fix),
            false => String::new(),
        };
        let text = format!("{}: {}{why}", note.id.name(), note.evidence);
        let explained = judged.findings.iter().filter(|other| other.explained_by == Some(note.id));
        let mut of_note = sentence(&label, &text, style.width);
        of_note.extend(it_explains(&explained.collect::<Vec<_>>(), style));
        lines.extend(of_note.iter().map(|line| style.dim(line)));
    }
    if style.explain {
        lines.extend(passed(judged, style).iter().map(|line| style.dim(line)));
    }
    lines
}

/// What is listed below a finding: those that it explains, if there are any.
fn it_explains(explained: &[&Finding], style: &Style) -> Vec<String> {
    let names: Vec<String> =
        explained.iter().map(|other| format!("{} {}", other.id, other.id.name())).collect();
    match names.is_empty() {
        true => Vec::new(),
        false => {
            let text = format!("it explains {}", names.join(", "));
            sentence("       ", &text, style.width)
        }
    }
}

/// What the rules that found nothing went by.
fn passed(judged: &Judged, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for passed in &judged.passed {
        let Some(evidence) = &passed.evidence else { continue };
        let label = format!("  passed {} ", passed.id);
        lines.extend(sentence(&label, &format!("{}: {evidence}", passed.id.name()), style.width));
    }
    let unseen = judged.unseen().map(|text| sentence("  ", &text, style.width));
    lines.extend(unseen.into_iter().flatten());
    lines
}

fn finding(finding: &Finding, style: &Style) -> Vec<String> {
    let label = format!("  {}  ", finding.id);
    let text =
        format!("{}: {} {} {}", finding.id.name(), finding.evidence, finding.cause, finding.fix);
    let lines = sentence(&label, &text, style.width);
    let dress = |line: &String| match finding.severity {
        Severity::Invalid => style.error(line),
        Severity::Suspect | Severity::Note => style.warning(line),
    };
    lines.iter().map(dress).collect()
}
