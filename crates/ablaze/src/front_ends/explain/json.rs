//! The same answer for programs.

use ablaze_report::json::SavedRun;
use ablaze_verdict::printed::Curve;
use ablaze_verdict::rules::{self, Comparison, Judgement, Member};
use ablaze_verdict::several::Several;
use ablaze_verdict::{Finding, live, printed};
use serde_json::{Value, json};

use super::answer::{Answer, Judged};

/// Version of this JSON. It rises when a reader of the old one would be misled.
const FORMAT: u32 = 1;

/// The answer, indented, ending in a newline.
pub fn write(answer: &Answer) -> String {
    let mut all = json!({
        "format": FORMAT,
        "reports": [], "aborts": [], "comparisons": [], "sweeps": [], "begun": [], "commands": [],
    });
    for file in &answer.files {
        let of_file = match &file.content {
            Judged::Text(judgement, _) => text(judgement),
            Judged::Run(saved, judged) => json!({ "reports": [run(saved, judged)] }),
        };
        for (kind, items) in of_file.as_object().into_iter().flatten() {
            for item in items.as_array().into_iter().flatten() {
                let mut item = item.clone();
                item["file"] = json!(file.name.trim_matches('`'));
                all[kind].as_array_mut().into_iter().for_each(|list| list.push(item.clone()));
            }
        }
    }
    let together = match &answer.together {
        Some(Several::Comparison(judged)) => {
            Some(("comparisons", each(std::slice::from_ref(judged), comparison)))
        }
        Some(Several::Curves(judged)) => {
            let sweep = |subject: &Vec<Curve>| json!({ "curves": curves(subject) });
            Some(("sweeps", each(std::slice::from_ref(judged), sweep)))
        }
        None => None,
    };
    if let Some((kind, items)) = together {
        all[kind].as_array_mut().into_iter().for_each(|list| list.extend(items.clone()));
    }
    format!("{all:#}\n")
}

fn comparison(comparison: &Comparison) -> Value {
    let member = |member: &Member| {
        json!({
            "name": member.name,
            "line": member.line,
            "remark": member.remark,
            "rate_per_s": member.rate_per_s,
        })
    };
    json!({ "members": comparison.members.iter().map(member).collect::<Vec<_>>() })
}

fn curves(curves: &[Curve]) -> Value {
    let point = |(concurrency, rate_per_s): &(u64, f64)| json!({ "concurrency": concurrency, "rate_per_s": rate_per_s });
    let curve = |curve: &Curve| {
        let points: Vec<Value> = curve.points.iter().map(point).collect();
        json!({ "name": curve.name, "points": points })
    };
    curves.iter().map(curve).collect()
}

fn text(judgement: &Judgement) -> Value {
    json!({
        "reports": each(&judgement.reports, report),
        "aborts": each(&judgement.aborts, |abort| json!({
            "line": abort.line,
            "message": abort.message,
            "command": abort.command.as_ref().map(|command| &command.text),
        })),
        "comparisons": each(&judgement.comparisons, comparison),
        "sweeps": each(&judgement.sweeps, |sweep| json!({
            "line": sweep.line,
            "curves": curves(&sweep.curves),
        })),
        "begun": judgement.begun.iter().map(|begun| json!({
            "line": begun.line,
            "tool": begun.tool.name(),
            "command": begun.command.as_ref().map(|command| &command.text),
        })).collect::<Vec<_>>(),
        "commands": without_verdict(each(&judgement.commands, |command| json!({
            "line": command.line,
            "command": command.text,
        }))),
    })
}

/// A saved run in the form of a printed report, with what only it knows.
fn run(saved: &SavedRun, judged: &live::Judged) -> Value {
    let run = &saved.run;
    let target = &run.plan.target;
    json!({
        "tool": "ablaze",
        "tool_version": saved.tool_version,
        "command": run.command_line.join(" "),
        "started_unix_ns": run.started_unix_ns,
        "server": null,
        "host": target.host,
        "port": target.port,
        "path": target.path,
        "requests": run.record.responses,
        "concurrency": (!run.plan.load.is_open()).then(|| run.plan.load.connections()),
        "seconds": run.elapsed_ns as f64 / 1e9,
        "rate_per_s": run.rate_per_s(),
        "verdict": judged.verdict,
        "limited_by": judged.limited.by.key(),
        "limit_evidence": judged.limited.evidence,
        "findings": judged.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn each<T>(judged: &[rules::Judged<T>], subject: impl Fn(&T) -> Value) -> Vec<Value> {
    let one = |judged: &rules::Judged<T>| {
        let mut value = subject(&judged.subject);
        value["verdict"] = json!(judged.verdict());
        value["findings"] = judged.findings.iter().map(finding).collect();
        value
    };
    judged.iter().map(one).collect()
}

/// Without figures there is none.
fn without_verdict(mut commands: Vec<Value>) -> Vec<Value> {
    commands.iter_mut().for_each(|command| command["verdict"] = Value::Null);
    commands
}

fn report(report: &printed::Report) -> Value {
    json!({
        "line": report.line,
        "tool": report.tool.name(),
        "label": report.label,
        "command": report.command.as_ref().map(|command| &command.text),
        "server": report.server,
        "host": report.host,
        "port": report.port,
        "path": report.path,
        "requests": report.complete,
        "concurrency": report.asked(),
        "seconds": report.taken_s.map(|taken| taken.value),
        "rate_per_s": rules::rate_over_all(report).or_else(|| report.rate()),
    })
}

fn finding(finding: &Finding) -> Value {
    let mut value = json!(finding);
    value["name"] = json!(finding.id.name());
    value["anchor"] = json!(format!("docs/diagnoses.md#{}", finding.id.anchor()));
    value
}
