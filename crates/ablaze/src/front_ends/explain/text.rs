//! The answer for a person: each report with its verdict, its findings with evidence, cause and
//! fix, and below each what it explains.

use ablaze_model::plan::Load;
use ablaze_report::json::SavedRun;
use ablaze_report::number::{counted, decimal, grouped, length, rate};
use ablaze_verdict::printed::{Curve, Report, Sweep, Tool, shown_label};
use ablaze_verdict::rules::{self, Comparison, Judged, Judgement};
use ablaze_verdict::several::Several;
use ablaze_verdict::{Finding, Verdict};

use super::answer::{Answer, Judged as Content};
use crate::terminal::paragraph;

/// The whole answer.
pub fn write(answer: &Answer) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut said = Vec::new();
    let several = answer.files.len() > 1;
    for file in &answer.files {
        match &file.content {
            Content::Text(judgement, images) => {
                let place = Place { file: several.then_some(&file.name), first: file.first };
                parts.extend(of_text(judgement, *images, &place, &mut said));
            }
            Content::Run(saved, judged) => {
                let head = run_head(file.first, &file.name, saved);
                let remark = format!(" · {}", judged.limited);
                parts.push(block(&head, judged.verdict, &remark, &judged.findings, &mut said));
            }
        }
    }
    match &answer.together {
        Some(Several::Comparison(judged)) => {
            let head = comparison_head(&judged.subject);
            parts.push(together_block(&head, &judged.findings, &mut said));
        }
        Some(Several::Curves(judged)) => {
            let mut head = "side by side: rates over concurrency\n".to_owned();
            head.push_str(&curves_head(&judged.subject));
            parts.push(together_block(&head, &judged.findings, &mut said));
        }
        None => {}
    }
    parts.join("\n")
}

/// Where a text's reports stand among all.
struct Place<'a> {
    /// The file, where there are several.
    file: Option<&'a String>,
    /// Number of the first report.
    first: usize,
}

impl Place<'_> {
    fn line(&self, line: usize) -> String {
        self.file.map_or(format!("line {line}"), |file| format!("{file} line {line}"))
    }
}

fn of_text(
    judgement: &Judgement,
    images: usize,
    place: &Place<'_>,
    said: &mut Vec<Finding>,
) -> Vec<String> {
    let mut parts = Vec::new();
    for (index, judged) in judgement.reports.iter().enumerate() {
        let head = report_head(place.first + index, &judged.subject, place);
        parts.push(judged_block(&head, judged, said));
    }
    for judged in &judgement.aborts {
        let abort = &judged.subject;
        let command = abort.command.as_ref().map_or(String::new(), |c| format!("  $ {}\n", c.text));
        let (place, tool) = (place.line(abort.line), abort.tool.name());
        let head = format!("{place}: {tool}, ended without a report\n{command}");
        parts.push(judged_block(&head, judged, said));
    }
    for judged in &judgement.comparisons {
        parts.push(judged_block(&comparison_head(&judged.subject), judged, said));
    }
    for judged in &judgement.sweeps {
        parts.push(judged_block(&sweep_head(&judged.subject, place), judged, said));
    }
    for judged in &judgement.commands {
        let command = &judged.subject;
        let place = place.line(command.line);
        let head = format!("{place}: a command without its report\n  {}\n", command.text);
        let alone = judgement
            .rates
            .iter()
            .find(|rate| rate.command.as_ref().is_some_and(|above| above.line == command.line));
        let what = match alone {
            None => "no figures were recognised".to_owned(),
            Some(alone) => format!(
                "a rate alone was recognised (line {}: {}/s)",
                alone.line,
                decimal(alone.rate_per_s.value, 2)
            ),
        };
        let mut part = format!("{head}no verdict: {what}\n");
        part.extend(judged.findings.iter().map(|one| finding(one, said)));
        parts.push(part);
    }
    for begun in &judgement.begun {
        let command = begun.command.as_ref().map_or(String::new(), |c| format!("  $ {}\n", c.text));
        let (line, tool) = (place.line(begun.line), begun.tool.name());
        let what = match begun.has_head {
            false => "began, and printed no report",
            true => "a report that breaks off before its counts and its rate",
        };
        let comma = if begun.has_head { "," } else { "" };
        parts.push(format!("{line}: {tool}{comma} {what}\n{command}no verdict\n"));
    }
    let figures = judgement.reports.len() + judgement.comparisons.len() + judgement.sweeps.len();
    if images > 0 && figures == 0 {
        parts.push(paragraph(
            "",
            &format!(
                "The text contains {}, whose figures cannot be read. Typed as a table (a row `c` \
                 of concurrencies, a row of rates for each target) they can be explained too.",
                counted(images as u64, "image")
            ),
        ));
    }
    parts
}

fn run_head(number: usize, name: &str, saved: &SavedRun) -> String {
    let run = &saved.run;
    let mut head = format!(
        "report {number}, {name}: ablaze {}, saved {}\n  $ {}\n",
        saved.tool_version,
        date(run.started_unix_ns),
        run.command_line.join(" ")
    );
    let plan = &run.plan;
    let load = match plan.load {
        Load::Closed { connections, pipeline: 1 } => {
            format!("concurrency {}", grouped(connections.into()))
        }
        Load::Closed { connections, pipeline } => {
            let how = if plan.streams().is_some() { "streams" } else { "pipelined" };
            format!("concurrency {} × {pipeline} {how}", grouped(connections.into()))
        }
        Load::Open { rate: asked, .. } if asked.is_constant() => {
            format!("{}/s requested", rate(asked.from_per_s))
        }
        Load::Open { rate: asked, .. } => {
            format!("{}/s to {}/s requested", rate(asked.from_per_s), rate(asked.to_per_s))
        }
    };
    let failed = run.record.failures_total();
    let mut facts = vec![
        ablaze_report::text::what_was_loaded(run),
        counted(run.record.responses, "response"),
        load,
        length(run.elapsed_ns as f64),
    ];
    facts.extend((failed > 0).then(|| format!("{} failed", grouped(failed))));
    facts.extend(run.rate_per_s().map(|per_s| format!("{}/s", rate(per_s))));
    head.push_str(&paragraph("  ", &facts.join(" · ")));
    head
}

/// `2026-11-21 09:05:09 UTC`.
fn date(unix_ns: u64) -> String {
    let moment = ablaze_model::moment::rfc3339(unix_ns);
    format!("{} UTC", moment.split('.').next().unwrap_or_default().replace('T', " "))
}

fn report_head(number: usize, report: &Report, place: &Place<'_>) -> String {
    let label = report.label.as_deref().map(shown_label);
    let label = label.map_or(String::new(), |label| format!(" ({label})"));
    let mut head =
        format!("report {number}, {}: {}{label}\n", place.line(report.line), report.tool.name());
    if let Some(command) = &report.command {
        head.push_str(&format!("  $ {}\n", command.text));
    }
    let mut facts = Vec::new();
    facts.extend(report.server.clone());
    if let (Some(host), Some(port)) = (&report.host, report.port) {
        facts.push(format!("{host}:{port}{}", report.path.as_deref().unwrap_or_default()));
    }
    facts.extend(report.complete.map(|complete| counted(complete, "request")));
    facts.extend(report.asked().map(|asked| format!("concurrency {}", grouped(asked))));
    // As they were printed.
    facts.extend(report.taken_s.map(|taken| format!("{} s", decimal(taken.value, 3))));
    facts.extend(failures(report));
    facts.extend(rate_of(report));
    head.push_str(&paragraph("  ", &facts.join(" · ")));
    head
}

/// As printed; else, or where count and length show another one, as computed.
fn rate_of(report: &Report) -> Option<String> {
    if report.tool == Tool::Bombardier {
        return rate_of_samples(report);
    }
    let printed = report.rate_per_s.map(|rate| format!("{}/s", decimal(rate.value, 2)));
    let computed =
        || Some(format!("{}/s, by count and length", decimal(report.rate_by_count()?, 2)));
    match printed {
        None => computed(),
        Some(printed) if rules::rate_is_contradicted(report) => {
            let computed = computed().map(|computed| format!("{computed} ({printed} is printed)"));
            Some(computed.unwrap_or(printed))
        }
        printed => printed,
    }
}

/// bombardier's `Reqs/sec` is a mean of samples, and need not be the count by the length.
fn rate_of_samples(report: &Report) -> Option<String> {
    let samples = report.rate_per_s.map(|rate| decimal(rate.value, 2));
    let by = if report.taken_s.is_some() { "count and length" } else { "its progress" };
    match (rules::rate_over_all(report).map(|rate| decimal(rate, 2)), samples) {
        (Some(rate), Some(samples)) => {
            Some(format!("{rate}/s, by {by} (`Reqs/sec` is {samples}, a mean of samples)"))
        }
        (Some(rate), None) => Some(format!("{rate}/s, by {by}")),
        (None, samples) => samples.map(|samples| format!("{samples}/s, a mean of samples")),
    }
}

/// What the tool counts as failed, which need not be requests: ab -r counts one under several kinds, and wrk counts events
/// on connections.
fn failures(report: &Report) -> Option<String> {
    if let Some(errors) = &report.socket_errors {
        let sum = [errors.connect, errors.read, errors.write, errors.timeout];
        let sum = sum.into_iter().fold(0, u64::saturating_add);
        return (sum > 0).then(|| counted(sum, "socket error"));
    }
    let failed = report.failed.filter(|failed| *failed > 0)?;
    Some(match report.complete.is_some_and(|complete| failed > complete) {
        true => counted(failed, "failure"),
        false => format!("{} failed", grouped(failed)),
    })
}

fn comparison_head(comparison: &Comparison) -> String {
    let mut head = "side by side\n".to_owned();
    for member in &comparison.members {
        let rate = rate(member.rate_per_s);
        let line = member.line.map(|line| format!("line {line}"));
        let line = line.filter(|line| *line != member.name);
        let remark = Some(member.remark.clone()).filter(|remark| !remark.is_empty()).or(line);
        let remark = remark.map_or(String::new(), |remark| format!(" ({remark})"));
        head.push_str(&format!("  {rate:>14}/s  {}{remark}\n", member.name));
    }
    head
}

fn sweep_head(sweep: &Sweep, place: &Place<'_>) -> String {
    format!("{}: rates over concurrency\n{}", place.line(sweep.line), curves_head(&sweep.curves))
}

fn curves_head(curves: &[Curve]) -> String {
    let mut head = String::new();
    for curve in curves {
        let levels = (curve.points.first(), curve.points.last());
        if let (Some((first, _)), Some((last, _))) = levels {
            head.push_str(&format!(
                "  {}: {} from c = {} to {}\n",
                curve.name,
                counted(curve.points.len() as u64, "point"),
                grouped(*first),
                grouped(*last)
            ));
        }
    }
    head
}

fn together_block(head: &str, findings: &[Finding], said: &mut Vec<Finding>) -> String {
    let verdict = Verdict::of(findings);
    let remark = if verdict == Verdict::Valid { " · no objection to comparing them" } else { "" };
    block(head, verdict, remark, findings, said)
}

fn judged_block<T>(head: &str, judged: &Judged<T>, said: &mut Vec<Finding>) -> String {
    let verdict = judged.verdict();
    let remark = match verdict {
        Verdict::Valid => " · as far as this text shows",
        Verdict::Suspect | Verdict::Invalid => "",
    };
    block(head, verdict, remark, &judged.findings, said)
}

/// What was judged, the verdict, the findings. What was said of a cause before is not repeated.
fn block(
    head: &str,
    verdict: Verdict,
    remark: &str,
    findings: &[Finding],
    said: &mut Vec<Finding>,
) -> String {
    let mut text = format!("{head}{}", paragraph("", &format!("{verdict}{remark}")));
    let roots = findings.iter().filter(|finding| finding.explained_by.is_none());
    for root in roots {
        text.push_str(&finding(root, said));
        for explained in findings {
            if explained.explained_by == Some(root.id) {
                let (id, name) = (explained.id, explained.id.name());
                text.push_str(&format!("    this explains {id} {name}:\n"));
                text.push_str(&paragraphs("      ", &explained.evidence));
                if is_new(explained, said) {
                    text.push_str(&paragraphs("      ", &explained.cause));
                }
            }
        }
    }
    text
}

fn finding(finding: &Finding, said: &mut Vec<Finding>) -> String {
    let mut text = format!("  {} {} · {}\n", finding.id, finding.id.name(), finding.severity);
    text.push_str(&paragraphs("    what  ", &finding.evidence));
    if is_new(finding, said) {
        text.push_str(&paragraphs("    why   ", &finding.cause));
        text.push_str(&paragraphs("    fix   ", &finding.fix));
    } else {
        text.push_str("    why and fix: as above\n");
    }
    text
}

/// Whether its cause was not told yet.
fn is_new(finding: &Finding, said: &mut Vec<Finding>) -> bool {
    let told = said.iter().any(|told| told.id == finding.id && told.cause == finding.cause);
    if !told {
        said.push(finding.clone());
    }
    !told
}

/// One paragraph for each line, the first behind `start`, all of them indented alike.
fn paragraphs(start: &str, text: &str) -> String {
    let indent = " ".repeat(start.chars().count());
    let lines = text.lines().enumerate();
    lines.map(|(index, line)| paragraph(if index == 0 { start } else { &indent }, line)).collect()
}
