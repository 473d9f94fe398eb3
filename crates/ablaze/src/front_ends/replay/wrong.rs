//! What is wrong with a document's figures: what `explain` finds in them.

use ablaze_report::page::FindingText;
use ablaze_verdict::printed::Text;
use ablaze_verdict::{DiagnosisId, Finding, rules};

use super::document::{Document, Then};

/// One diagnosis in a document.
#[derive(Debug, Clone)]
pub struct Found {
    /// The gravest of its findings.
    pub gravest: Finding,
    /// The lines it was found in, as far as it is one of a line's report.
    pub lines: Vec<String>,
}

/// Every diagnosis that no other explains, in the order of their numbers.
pub fn found(document: &Document, texts: &[Text]) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let mut add = |findings: &[Finding], line: Option<&str>| {
        let roots = findings.iter().filter(|f| f.explained_by.is_none());
        for finding in roots {
            let at = all.iter().position(|found| found.gravest.id == finding.id);
            let at = at.unwrap_or_else(|| {
                all.push(Found { gravest: finding.clone(), lines: Vec::new() });
                all.len() - 1
            });
            let found = &mut all[at];
            if finding.severity > found.gravest.severity {
                found.gravest = finding.clone();
            }
            found.lines.extend(line.map(str::to_owned));
        }
    };
    let lines = (document.lines)();
    for (number, text) in texts.iter().enumerate() {
        let judged = rules::judge(text);
        let mut names = Vec::new();
        for (at, report) in judged.reports.iter().enumerate() {
            let line = lines.iter().find(|line| match line.then {
                Then::Report(report) => (number, at) == (0, report),
                Then::ReportOf(text, report) => (number, at) == (text, report),
                Then::Rate(..) | Then::Point(..) => false,
            });
            names.push(line.map(|line| line.name.clone()));
            add(&report.findings, Some(line.map_or("another report", |line| &line.name)));
        }
        for judged in &judged.comparisons {
            let mut findings = judged.findings.clone();
            findings.iter_mut().for_each(|finding| {
                finding.evidence = with_names(&finding.evidence, &names);
            });
            add(&findings, None);
        }
        judged.sweeps.iter().for_each(|judged| add(&judged.findings, None));
    }
    all.sort_by_key(|found| found.gravest.id);
    all
}

/// `gurl against ab` in the place of `report 1 against report 2`, which nothing on the page is called.
fn with_names(evidence: &str, names: &[Option<String>]) -> String {
    let mut text = String::new();
    let mut pieces = evidence.split("report ");
    text.extend(pieces.next());
    for piece in pieces {
        let digits = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
        let number: Option<usize> = piece[..digits].parse().ok();
        match number.and_then(|number| names.get(number.checked_sub(1)?)?.as_ref()) {
            Some(name) => text.push_str(&format!("{name}{}", &piece[digits..])),
            None => text.push_str(&format!("report {piece}")),
        }
    }
    text
}

/// The diagnoses of one line's report, by number: `D01 D02`.
pub fn ids(found: &[Found], line: &str) -> String {
    let of = |found: &&Found| found.lines.iter().any(|name| name == line);
    let ids: Vec<String> = found.iter().filter(of).map(|f| f.gravest.id.to_string()).collect();
    if ids.is_empty() { "-".to_owned() } else { ids.join(" ") }
}

/// The same of findings on a run.
pub fn ids_of(findings: &[Finding]) -> String {
    let roots = findings.iter().filter(|finding| finding.explained_by.is_none());
    let mut ids: Vec<DiagnosisId> = roots.map(|finding| finding.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    if ids.is_empty() { "-".to_owned() } else { ids.join(" ") }
}

/// For a page.
pub fn on_a_page(found: &[Found]) -> Vec<FindingText> {
    let text = |found: &Found| FindingText {
        of: match found.lines.as_slice() {
            [] => "the figures together".to_owned(),
            // Names of lines have commas.
            lines => lines.join("; "),
        },
        finding: found.gravest.clone(),
        explains: Vec::new(),
    };
    found.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn reports_are_called_what_the_table_calls_their_lines() {
        let names = [Some("gurl".to_owned()), None];
        let said = super::with_names("report 1 against report 2: a report of both", &names);
        assert_eq!(said, "gurl against report 2: a report of both");
    }
}
