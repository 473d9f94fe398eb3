//! What was found in the run so far. What goes away again is kept as past: it has been seen.

use ablaze_model::finding::DiagnosisId;
use ablaze_model::progress::Interval;
use ablaze_report::page::{Block, Section};
use ablaze_verdict::live::while_it_runs;

use super::line::{Line, Look};

/// The findings so far, in the order in which they came.
#[derive(Debug, Default)]
pub struct Findings(Vec<Found>);

#[derive(Debug)]
struct Found {
    id: DiagnosisId,
    evidence: String,
    is_past: bool,
}

impl Findings {
    /// Looks again, at everything so far.
    pub fn look(&mut self, so_far: &Interval) {
        self.0.iter_mut().for_each(|found| found.is_past = true);
        for (id, evidence) in while_it_runs(so_far) {
            let found = Found { id, evidence, is_past: false };
            match self.0.iter_mut().find(|known| known.id == id) {
                Some(known) => *known = found,
                None => self.0.push(found),
            }
        }
    }

    /// As a section of a page, if there are any.
    pub fn section(&self) -> Option<Section> {
        let row = |Found { id, evidence, is_past }: &Found| {
            let past = if *is_past { "past: " } else { "" };
            vec![format!("{past}{id} {}", id.name()), evidence.clone()]
        };
        let rows: Vec<Vec<String>> = self.0.iter().map(row).collect();
        (!rows.is_empty()).then(|| Section::new("Found so far").with(Block::list(rows)))
    }

    /// A row for each.
    pub fn rows(&self) -> Vec<Line> {
        let row = |found: &Found| {
            let Found { id, evidence, is_past } = found;
            let (look, past) =
                if *is_past { (Look::Faint, "past: ") } else { (Look::Attention, "") };
            Line::empty()
                .with(look, &format!("{past}{id} {}", id.name()))
                .with(if *is_past { Look::Faint } else { Look::Plain }, &format!(": {evidence}"))
        };
        self.0.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_that_goes_away_is_past() {
        let mut findings = Findings::default();
        let text = |findings: &Findings| {
            findings.rows().iter().map(Line::text).collect::<Vec<_>>().join("\n")
        };
        findings.look(&Interval { responses: 100, unexpected: 10, ..Interval::default() });
        assert!(text(&findings).starts_with("D04 "), "{}", text(&findings));
        findings.look(&Interval { responses: 100_000, unexpected: 10, ..Interval::default() });
        assert!(text(&findings).starts_with("past: D04 "), "{}", text(&findings));
        findings.look(&Interval { responses: 100_000, unexpected: 1_000, ..Interval::default() });
        let text = text(&findings);
        assert!(text.starts_with("D04 ") && text.contains("1,000 of 100,000"), "{text}");
    }
}
