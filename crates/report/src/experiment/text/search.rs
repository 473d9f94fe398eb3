//! The report of a search for the highest rate that holds: the answer first, then a row per stage.

use ablaze_model::experiment::{Search, Searched, Stage};
use ablaze_model::finding::{Finding, Severity, Verdict};
use ablaze_model::plan::Arrivals;
use ablaze_stats::rate_search::{Found, Trial};

use super::runs::WIDTH;
use crate::number::{counted, rate};
use crate::table::{Table, sentence};

/// The whole report.
pub fn search(search: &Search, searched: &Searched) -> String {
    let texts = search.conditions();
    let answer = answer(searched, &texts);
    let mut lines = vec![answer, format!("{} · {}", verdict(searched), what_for(search))];
    lines.extend(doubts(searched));
    lines.push(String::new());
    lines.extend(rows(searched, &texts).lines());
    lines.push(String::new());
    lines.join("\n")
}

/// The first line: the highest rate that holds, or why there is none.
pub fn answer(searched: &Searched, texts: &[&str]) -> String {
    let holding = |per_s: f64| holds(searched, per_s, texts);
    if let Some(why) = &searched.gone {
        return format!("no answer: {why}");
    }
    match searched.found {
        None => {
            let so_far = searched.highest_so_far_per_s().map_or_else(
                || "no rate held so far".to_owned(),
                |per_s| format!("{} held", holding(per_s)),
            );
            format!("interrupted, no answer yet: {so_far}")
        }
        Some(Found::Limit { holds_per_s, fails_per_s }) => format!(
            "highest rate that holds: {}; {}/s does not: {}",
            holding(holds_per_s),
            rate(fails_per_s),
            why(searched, fails_per_s, Trial::Fails)
        ),
        Some(Found::HighestHolds { holds_per_s }) => format!(
            "{} holds, the highest rate permitted: raise --to to find the limit",
            holding(holds_per_s)
        ),
        Some(Found::LowestFails { fails_per_s })
            if searched
                .stage_at(fails_per_s, Trial::Fails)
                .is_some_and(|stage| stage.undecided) =>
        {
            let why = why(searched, fails_per_s, Trial::Fails);
            format!(
                "no answer: {}/s, the lowest permitted, cannot be judged: {why}",
                rate(fails_per_s)
            )
        }
        Some(Found::LowestFails { fails_per_s }) => format!(
            "no rate tried holds: {}/s, the lowest permitted{}, does not: {}",
            rate(fails_per_s),
            // One that answers in batches may hold a higher one.
            match highest_tried(searched).filter(|per_s| *per_s > fails_per_s) {
                Some(per_s) => format!(" (none above {}/s was tried)", rate(per_s)),
                None => " and the only one tried".to_owned(),
            },
            why(searched, fails_per_s, Trial::Fails)
        ),
        Some(Found::LimitedByClient { holds_per_s, limited_at_per_s }) => {
            let least = holds_per_s
                .map_or_else(String::new, |per_s| format!("at least {}; ", holding(per_s)));
            format!(
                "no answer, the client reached its limit first: {least}at {}/s {}; give it more \
                 threads (-t) or its own machine",
                rate(limited_at_per_s),
                why(searched, limited_at_per_s, Trial::LimitedByClient)
            )
        }
        Some(Found::Undecided { holds_per_s, trials }) => {
            let seems = holds_per_s
                .map_or_else(String::new, |per_s| format!(", {}/s seems to hold", rate(per_s)));
            format!(
                "no answer: after {}, the results still contradict each other{seems}; use longer \
                 stages (-d) or a quieter machine (`ablaze doctor`)",
                counted(u64::from(trials), "stage")
            )
        }
    }
}

fn highest_tried(searched: &Searched) -> Option<f64> {
    searched.stages.iter().map(|stage| stage.asked_per_s).reduce(f64::max)
}

/// From this share of a rate on, all of it was answered: the rest is in flight at the boundaries of what is counted.
const WHOLE: f64 = 0.995;

/// `12,400/s (p99 18.2 ms < 20ms)`, and how much of it was answered where that is less.
fn holds(searched: &Searched, per_s: f64, texts: &[&str]) -> String {
    let stage = searched.stage_at(per_s, Trial::Holds);
    let measured = stage.and_then(|stage| stage.measured.as_ref());
    let Some(measured) = measured else { return format!("{}/s", rate(per_s)) };
    let answered = (measured.answered_per_s < per_s * WHOLE)
        .then(|| format!("{}/s answered", rate(measured.answered_per_s)));
    let figures = texts.iter().zip(&measured.figures);
    let figures = figures.map(|(text, figure)| in_words(text, figure.as_deref()));
    let all: Vec<String> = answered.into_iter().chain(figures).collect();
    format!("{}/s ({})", rate(per_s), all.join(", "))
}

/// `p99 18.2 ms < 20ms` from `p99<20ms` and the figure.
fn in_words(text: &str, figure: Option<&str>) -> String {
    let at = text.find(['<', '>']).unwrap_or(text.len());
    let (metric, limit) = text.split_at(at);
    let digits = limit.find(|c: char| !matches!(c, '<' | '>' | '=')).unwrap_or(limit.len());
    let (sign, limit) = limit.split_at(digits);
    // A share is told by the share, without the number before it.
    let figure = figure.unwrap_or("unknown");
    let share = figure.rsplit_once(" (").filter(|_| limit.ends_with('%'));
    let figure = share.map_or(figure, |(_, share)| share.trim_end_matches(')'));
    format!("{} {figure} {sign} {}", metric.trim(), limit.trim())
}

fn why(searched: &Searched, per_s: f64, trial: Trial) -> &str {
    let stage = searched.stage_at(per_s, trial);
    stage.and_then(|stage| stage.why.as_deref()).unwrap_or("its stages did not agree")
}

/// What was looked for, and how.
pub(crate) fn what_for(search: &Search) -> String {
    let poisson = search.arrivals() == Arrivals::Poisson;
    format!(
        "{} · {} · open loop, {} arrivals{} · stages of at least {} s, {} s to confirm · {}",
        search.target.name,
        search.goal,
        if poisson { "poisson" } else { "constant" },
        // With so many, the rate may be theirs and not the target's.
        search.connections().map_or(String::new(), |most| {
            format!(", at most {}", counted(most.into(), "connection"))
        }),
        seconds(search.stage_ns),
        seconds(search.confirm_ns),
        super::carried_out(search.fleet.as_ref(), &search.placement, true)
    )
}

fn seconds(ns: u64) -> String {
    format!("{}", ns as f64 / 1e9)
}

/// What was found above a note in the stages of rates that held, and in the one that did not and bounds the answer, each
/// diagnosis once with its stage; the others are far beyond the limit, where much is out of order.
pub(crate) fn findings(searched: &Searched) -> Vec<(String, &Finding)> {
    let held = searched.holding();
    let bound = match searched.found {
        Some(Found::Limit { fails_per_s, .. }) => searched.stage_at(fails_per_s, Trial::Fails),
        // The search ended with the target: what came last of it, if it is of no use, says why.
        None if searched.gone.is_some() || nothing_measured(searched) => {
            let last = searched.stages.iter().rfind(|stage| stage.measured.is_some());
            last.filter(|stage| {
                stage.measured.as_ref().is_some_and(|of| of.verdict == Verdict::Invalid)
            })
        }
        _ => lowest_that_fails(searched),
    };
    let mut found: Vec<(String, &Finding)> = Vec::new();
    for stage in held.chain(bound) {
        let held = match (stage.trial, stage.undecided) {
            (Trial::Holds, _) => "held",
            (_, true) => "was not judged",
            (_, false) => "did not hold",
        };
        let of = format!("at {}/s, which {held}", rate(stage.asked_per_s));
        for finding in stage.measured.iter().flat_map(|measured| &measured.findings) {
            let root = finding.explained_by.is_none() && finding.severity > Severity::Note;
            if root && !found.iter().any(|(_, told)| told.id == finding.id) {
                found.push((of.clone(), finding));
            }
        }
    }
    found
}

/// The stage that all the answer is, where no rate holds.
fn lowest_that_fails(searched: &Searched) -> Option<&Stage> {
    match searched.found {
        Some(Found::LowestFails { fails_per_s }) => searched.stage_at(fails_per_s, Trial::Fails),
        _ => None,
    }
}

/// How far the answer is to be believed: the worst verdict of the stages that held; where none did, that of the lowest rate
/// that failed, and SUSPECT at least; INVALID where no stage has a figure that could be believed. A stage that fails above one
/// that holds takes nothing away from the answer: error pages are how a server says that it has had enough.
pub(crate) fn verdict(searched: &Searched) -> Verdict {
    let verdicts = searched
        .holding()
        .chain(lowest_that_fails(searched))
        .filter_map(|stage| stage.measured.as_ref())
        .map(|measured| measured.verdict);
    let worst = verdicts.max().unwrap_or(Verdict::Valid);
    match searched.is_answered() {
        true => worst,
        false if nothing_measured(searched) => Verdict::Invalid,
        false => worst.max(Verdict::Suspect),
    }
}

/// Whether no stage says anything of what the target can do: none could be measured, or those that could are INVALID.
fn nothing_measured(searched: &Searched) -> bool {
    let mut measured = searched.stages.iter().filter_map(|stage| stage.measured.as_ref());
    measured.all(|measured| measured.verdict == Verdict::Invalid)
}

/// What takes something away from the answer.
fn doubts(searched: &Searched) -> Vec<String> {
    let mut lines = Vec::new();
    for (of, finding) in findings(searched) {
        let (id, name) = (finding.id, finding.id.name());
        let (severity, evidence) = (finding.severity, finding.evidence_in_line());
        let text = format!("{severity} {name}, {of}: {evidence} {}", finding.fix);
        lines.extend(sentence(&format!("  {id} "), &text, WIDTH));
    }
    for (text, why) in unsupported(searched) {
        lines.extend(sentence(&format!("  {text}: "), why, WIDTH));
    }
    lines
}

/// The conditions on a percentile that the stage of the answer has too few responses for, each with what that means.
pub(crate) fn unsupported(searched: &Searched) -> Vec<(&str, &'static str)> {
    const WHY: &str = "too few responses in a stage for this percentile, so the slowest stand for it; use longer stages (-d)";
    let answered = highest_that_holds(searched).and_then(|stage| stage.measured.as_ref());
    let texts = answered.into_iter().flat_map(|measured| &measured.unsupported);
    texts.map(|text| (text.as_str(), WHY)).collect()
}

fn highest_that_holds(searched: &Searched) -> Option<&Stage> {
    searched.holding().max_by(|one, other| one.asked_per_s.total_cmp(&other.asked_per_s))
}

fn rows(searched: &Searched, texts: &[&str]) -> Table {
    let mut table = Table::new(&[texts.len() + 2]);
    let mut heads = vec!["requested /s".to_owned(), "answered /s, 2nd half".to_owned()];
    heads.extend(texts.iter().map(|text| (*text).to_owned()));
    heads.push(String::new());
    table.row(heads, "");
    for stage in &searched.stages {
        table.row(cells_of_stage(stage, texts), "");
    }
    table
}

/// The cells of a stage: the rates, the figure of each of so many conditions, and how it went.
pub(crate) fn cells_of_stage(stage: &Stage, conditions: &[&str]) -> Vec<String> {
    let mut cells = vec![rate(stage.asked_per_s)];
    match &stage.measured {
        Some(measured) => {
            cells.push(rate(measured.answered_per_s));
            let cell = |(at, figure): (usize, &Option<String>)| {
                let figure = figure.clone().unwrap_or("-".to_owned());
                let is_this = |text: &String| conditions.get(at).is_some_and(|of| of == text);
                match measured.unsupported.iter().any(is_this) {
                    true => format!("{figure} (too few)"),
                    false => figure,
                }
            };
            cells.extend(measured.figures.iter().enumerate().map(cell));
        }
        None => cells.extend(std::iter::repeat_n("-".to_owned(), conditions.len() + 1)),
    }
    cells.push(outcome(stage));
    cells
}

fn outcome(stage: &Stage) -> String {
    // The head says how long these are.
    let again = if stage.confirming { " (stage to confirm)" } else { "" };
    let doubt = match stage.measured.as_ref().map(|measured| measured.verdict) {
        Some(verdict) if verdict != Verdict::Valid => format!(" · {verdict}"),
        _ => String::new(),
    };
    let why = stage.why.as_deref().map_or(String::new(), |why| format!(": {why}"));
    match stage.trial {
        Trial::Holds => format!("holds{again}{doubt}"),
        Trial::Fails if stage.undecided => format!("not judged{again}{why}"),
        Trial::Fails => format!("does not hold{again}{why}"),
        Trial::LimitedByClient => format!("not offered{again}{why}"),
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::experiment::Measured;

    use super::*;

    fn stage(asked_per_s: f64, trial: Trial) -> Stage {
        Stage {
            undecided: false,
            run: None,
            asked_per_s,
            confirming: true,
            trial,
            why: None,
            measured: None,
        }
    }

    /// Of the stages at a rate the majority decides: one that held in the first of three held in none of what is said.
    #[test]
    fn a_rate_that_its_further_stages_refuted_did_not_hold() {
        let stages = vec![
            stage(250.0, Trial::Holds),
            stage(354.0, Trial::Holds),
            stage(354.0, Trial::Fails),
            stage(354.0, Trial::Fails),
        ];
        let searched = Searched { stages, found: None, interrupted: true, gone: None };
        assert_eq!(answer(&searched, &[]), "interrupted, no answer yet: 250/s held");
        assert_eq!(highest_that_holds(&searched).map(|stage| stage.asked_per_s), Some(250.0));
        assert_eq!(searched.shown_stage(), Some(0));
        // Nor is one named that held above others that do not.
        let above = searched.stages.iter().cloned().chain([stage(979.0, Trial::Holds)]).collect();
        let searched = Searched { stages: above, ..searched };
        assert_eq!(answer(&searched, &[]), "interrupted, no answer yet: 250/s held");
    }

    /// A server that answers in batches has longer times at a low rate than at a high one.
    #[test]
    fn of_rates_that_were_not_tried_nothing_is_said() {
        let said = |rates: &[f64]| {
            let stages = rates.iter().map(|per_s| stage(*per_s, Trial::Fails)).collect();
            let found = Some(Found::LowestFails { fails_per_s: 13.0 });
            answer(&Searched { stages, found, interrupted: false, gone: None }, &[])
        };
        let several = "no rate tried holds: 13.0/s, the lowest permitted (none above 1,000/s was tried), does not:";
        assert!(said(&[1000.0, 100.0, 13.0]).starts_with(several), "{}", said(&[1000.0, 13.0]));
        let one =
            "no rate tried holds: 13.0/s, the lowest permitted and the only one tried, does not:";
        assert!(said(&[13.0]).starts_with(one), "{}", said(&[13.0]));
    }

    #[test]
    fn a_rate_of_which_less_was_answered_is_named_with_that() {
        let said = |answered_per_s: f64| {
            let stage = |asked_per_s: f64, trial| Stage {
                measured: Some(Measured {
                    answered_per_s,
                    figures: vec![Some("11.2 ms".to_owned())],
                    values: Vec::new(),
                    unsupported: Vec::new(),
                    verdict: Verdict::Valid,
                    findings: Vec::new(),
                }),
                ..stage(asked_per_s, trial)
            };
            let stages = vec![stage(98.7, Trial::Holds), stage(101.0, Trial::Fails)];
            let found = Some(Found::Limit { holds_per_s: 98.7, fails_per_s: 101.0 });
            answer(&Searched { stages, found, interrupted: false, gone: None }, &["p99<50ms"])
        };
        let first = "highest rate that holds: 98.7/s";
        let less = format!("{first} (96.8/s answered, p99 11.2 ms < 50ms);");
        assert!(said(96.8).starts_with(&less), "{}", said(96.8));
        // One more request at a boundary.
        assert!(
            said(98.6).starts_with(&format!("{first} (p99 11.2 ms < 50ms);")),
            "{}",
            said(98.6)
        );
    }
}
