//! The page of several Runs: each with its verdict, all of them in one table and on the same axes.

use ablaze_model::Assessed;
use ablaze_model::finding::{Finding, Verdict};

use super::{Banner, Block, FindingText, Page, Section, ShownRun, section};
use crate::number::{grouped, rate, time};
use crate::{effort, text};

/// The page of Runs by their names, with all of them in it; `together` is what was found in them beside
/// each other.
pub fn of_runs(runs: &[(String, Assessed)], together: &[Finding]) -> Page {
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let mut page = Page::new(&names.join(", "));
    if let Some((_, first)) = runs.first() {
        page.subtitle = format!("{} runs", runs.len());
        page.when = format!("the first measured {}", section::started(&first.run));
    }
    let subjects: Vec<ShownRun<'_>> = runs
        .iter()
        .enumerate()
        .map(|(slot, (name, assessed))| ShownRun::new(name, slot, &assessed.run))
        .collect();
    page.sections.push(verdict(runs));
    page.sections.push(Section::new("Runs").with(table(runs)));
    page.sections.extend(found(runs, together));
    page.sections.push(section::percentiles(&subjects));
    page.sections.push(section::distribution(&subjects));
    page.sections.push(section::phases(&subjects));
    page.sections.push(section::cpu(&subjects));
    let mut commands = Section::new("The commands");
    for (name, Assessed { run, .. }) in runs {
        commands = commands.with(Block::Remark(format!("{name}:")));
        commands.blocks.extend(section::command(&run.command_line).blocks);
    }
    page.sections.push(commands);
    for (name, assessed) in runs {
        let mut environment = section::environment(&assessed.run);
        environment.heading = format!("The environment of {name}");
        let text = text::write(assessed, &text::Style::default());
        let report = Block::Report { name: format!("The report of {name}"), text };
        page.sections.push(environment.with(report));
    }
    page.explain_findings();
    page.runs = runs.iter().map(|(name, run)| (name.clone(), crate::json::write(run))).collect();
    page
}

/// The worst verdict, and what limited each Run.
fn verdict(runs: &[(String, Assessed)]) -> Section {
    let judged: Vec<_> = runs.iter().map(|(name, assessed)| (name, &assessed.judged)).collect();
    // Nothing is ranked here: what differs between Runs takes nothing away from one of them.
    let verdict = judged.iter().map(|(_, judged)| judged.verdict).max();
    let limits: Vec<String> =
        judged.iter().map(|(name, judged)| format!("{name}: {}", judged.limited)).collect();
    let banner =
        Banner { verdict: verdict.unwrap_or(Verdict::Valid), text: limits.join(". ") + "." };
    Section::default().with(Block::Verdict(banner))
}

/// What was found in each Run, and what in all of them beside each other; `None` where nothing was.
fn found(runs: &[(String, Assessed)], together: &[Finding]) -> Option<Section> {
    let judged = runs.iter().map(|(name, assessed)| (name, &assessed.judged));
    let mut found: Vec<FindingText> =
        judged.flat_map(|(name, judged)| section::findings(name, judged)).collect();
    found.extend(together.iter().map(|finding| FindingText {
        of: "the runs together".to_owned(),
        finding: finding.clone(),
        explains: Vec::new(),
    }));
    (!found.is_empty()).then(|| Section::new(section::FOUND).with(Block::Findings(found)))
}

fn table(runs: &[(String, Assessed)]) -> Block {
    let head =
        ["run", "started", "rate /s", "p50", "p99", "responses", "errors", "server CPU/request"];
    let row = |(name, Assessed { run, .. }): &(String, Assessed)| {
        let latency = run.record.answered.latency();
        let quantile = |q: f64| latency.supported_quantile_ns(q);
        let times = |ns: Option<f64>| ns.map_or("-".to_owned(), time);
        vec![
            name.clone(),
            section::started(run),
            run.rate_per_s().map_or("-".to_owned(), rate),
            times(quantile(0.5).map(|ns| ns as f64)),
            times(quantile(0.99).map(|ns| ns as f64)),
            grouped(run.record.responses),
            grouped(run.record.failures_total()),
            // Read too few times, it reads 0.
            times(effort::of_the_server(run).map(|(cpu_ns, _)| cpu_ns).filter(|ns| *ns > 0.0)),
        ]
    };
    Block::table(&head, runs.iter().map(row).collect())
}
