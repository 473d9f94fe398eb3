//! What was found in the run so far. What goes away again is kept as past: it has been seen.

use std::collections::BTreeMap;

use ablaze_chart::number::grouped;
use ablaze_load::carry_out::{WorkerProgress, WorkerState};
use ablaze_model::Plan;
use ablaze_model::finding::DiagnosisId;
use ablaze_report::page::{Block, Section};
use ablaze_verdict::live::{self, Asked, while_it_runs};
use ablaze_wire::printable::printable;

use super::line::{Line, Look};
use crate::carry_out::UnderWay;

/// The findings so far, in the order in which they came.
#[derive(Debug, Default)]
pub struct Findings {
    asked: Asked,
    found: Vec<Found>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which.
    pub id: DiagnosisId,
    /// What it goes by.
    pub evidence: String,
    /// It holds no more.
    pub is_past: bool,
}

impl Findings {
    /// Of a run of this plan.
    pub fn of(plan: &Plan) -> Self {
        Self { asked: Asked::of(plan), found: Vec::new() }
    }

    /// Looks again, at everything so far; those that came, went or came back.
    pub fn look(&mut self, run: &UnderWay<'_>) -> Vec<Found> {
        let lost = run.workers.iter().filter(|worker| worker.state == WorkerState::Lost);
        let lost: Vec<&str> = lost.map(|worker| worker.name.as_str()).collect();
        let changes = run.control.rate_changes();
        let mut now = while_it_runs(&live::UnderWay {
            asked: &self.asked,
            so_far: &run.progress.so_far,
            rate_changes: &changes,
            lost: &lost,
        });
        let of_workers = of_workers(run.workers, &now);
        now.extend(of_workers);
        self.hear(now)
    }

    fn hear(&mut self, now: Vec<(DiagnosisId, String)>) -> Vec<Found> {
        let held = |found: &Found| !found.is_past;
        let before: Vec<DiagnosisId> =
            self.found.iter().filter(|found| held(found)).map(|found| found.id).collect();
        self.found.iter_mut().for_each(|found| found.is_past = true);
        for (id, evidence) in now {
            let found = Found { id, evidence, is_past: false };
            match self.found.iter_mut().find(|known| known.id == id) {
                Some(known) => *known = found,
                None => self.found.push(found),
            }
        }
        let changed = |found: &&Found| held(found) != before.contains(&found.id);
        self.found.iter().filter(changed).cloned().collect()
    }

    /// As a section of a page, if there are any.
    pub fn section(&self) -> Option<Section> {
        let row = |Found { id, evidence, is_past }: &Found| {
            let past = if *is_past { "past: " } else { "" };
            vec![format!("{past}{id} {}", id.name()), evidence.clone()]
        };
        let rows: Vec<Vec<String>> = self.found.iter().map(row).collect();
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
        self.found.iter().map(row).collect()
    }
}

/// What machines of a fleet found in their own shares and the whole has not.
fn of_workers(
    workers: &[WorkerProgress],
    of_all: &[(DiagnosisId, String)],
) -> Vec<(DiagnosisId, String)> {
    let mut each: BTreeMap<DiagnosisId, (&str, &str, u64)> = BTreeMap::new();
    for worker in workers {
        for (id, evidence) in &worker.found {
            each.entry(*id).or_insert((&worker.name, evidence, 0)).2 += 1;
        }
    }
    let is_new = |id: &DiagnosisId| of_all.iter().all(|(known, _)| known != id);
    let told = |(id, (name, evidence, workers)): (DiagnosisId, (&str, &str, u64))| {
        let others = match workers {
            1 => String::new(),
            more => format!(" and {} more", grouped(more - 1)),
        };
        (id, format!("on {}{others}: {evidence}", printable(name)))
    };
    each.into_iter().filter(|(id, _)| is_new(id)).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_machine_finds_is_told_with_its_name_unless_the_whole_has_it() {
        let worker = |name: &str, found: &[(DiagnosisId, &str)]| WorkerProgress {
            name: name.to_owned(),
            found: found.iter().map(|(id, text)| (*id, (*text).to_owned())).collect(),
            ..WorkerProgress::default()
        };
        let (d02, d20, d21) = (DiagnosisId::D02, DiagnosisId::D20, DiagnosisId::D21);
        let workers = [
            worker("a", &[]),
            worker("b", &[(d20, "no ports"), (d02, "half")]),
            worker("c", &[(d20, "none"), (d21, "x")]),
        ];
        let told = of_workers(&workers, &[(d21, "1 connection".to_owned())]);
        let expected = [(d02, "on b: half"), (d20, "on b and 1 more: no ports")];
        assert_eq!(told, expected.map(|(id, text)| (id, text.to_owned())));
    }

    #[test]
    fn a_finding_that_goes_away_is_past() {
        let mut findings = Findings::default();
        let text = |findings: &Findings| {
            findings.rows().iter().map(Line::text).collect::<Vec<_>>().join("\n")
        };
        let ids = |changed: Vec<Found>| -> Vec<(DiagnosisId, bool)> {
            changed.into_iter().map(|found| (found.id, found.is_past)).collect()
        };
        let pages = |evidence: &str| vec![(DiagnosisId::D04, evidence.to_owned())];
        assert_eq!(ids(findings.hear(pages("10 of 100"))), [(DiagnosisId::D04, false)]);
        assert!(text(&findings).starts_with("D04 "), "{}", text(&findings));
        // Told once, though its figures change.
        assert_eq!(ids(findings.hear(pages("20 of 200"))), []);
        assert_eq!(ids(findings.hear(Vec::new())), [(DiagnosisId::D04, true)]);
        assert_eq!(ids(findings.hear(Vec::new())), []);
        assert!(text(&findings).starts_with("past: D04 "), "{}", text(&findings));
        assert_eq!(ids(findings.hear(pages("1,000 of 100,000"))), [(DiagnosisId::D04, false)]);
        let text = text(&findings);
        assert!(text.starts_with("D04 ") && text.contains("1,000 of 100,000"), "{text}");
    }
}
