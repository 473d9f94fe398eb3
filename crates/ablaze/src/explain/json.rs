//! The same answer for programs.

use ablaze_verdict::rules::{Judged, Judgement};
use ablaze_verdict::{Finding, printed};
use serde_json::{Value, json};

/// Version of this JSON. It rises when a reader of the old one would be misled.
const FORMAT: u32 = 1;

/// The answer, indented, ending in a newline.
pub fn write(judgement: &Judgement) -> String {
    let answer = json!({
        "format": FORMAT,
        "reports": each(&judgement.reports, report),
        "aborts": each(&judgement.aborts, |abort| json!({
            "line": abort.line,
            "message": abort.message,
            "command": abort.command.as_ref().map(|command| &command.text),
        })),
        "comparisons": each(&judgement.comparisons, |comparison| json!({
            "members": comparison.members.iter().map(|member| json!({
                "name": member.name,
                "line": member.line,
                "rate_per_s": member.rate_per_s,
            })).collect::<Vec<_>>(),
        })),
        "sweeps": each(&judgement.sweeps, |sweep| json!({
            "line": sweep.line,
            "curves": sweep.curves.iter().map(|curve| json!({
                "name": curve.name,
                "points": curve.points.iter().map(|(concurrency, rate_per_s)| json!({
                    "concurrency": concurrency,
                    "rate_per_s": rate_per_s,
                })).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })),
        "commands": each(&judgement.commands, |command| json!({
            "line": command.line,
            "command": command.text,
        })),
    });
    format!("{answer:#}\n")
}

fn each<T>(judged: &[Judged<T>], subject: impl Fn(&T) -> Value) -> Vec<Value> {
    let one = |judged: &Judged<T>| {
        let mut value = subject(&judged.subject);
        value["verdict"] = json!(judged.verdict());
        value["findings"] = judged.findings.iter().map(finding).collect();
        value
    };
    judged.iter().map(one).collect()
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
        "concurrency": report.concurrency,
        "seconds": report.taken_s.map(|taken| taken.value),
        "rate_per_s": report.rate(),
    })
}

fn finding(finding: &Finding) -> Value {
    let mut value = json!(finding);
    value["name"] = json!(finding.id.name());
    value["anchor"] = json!(format!("docs/diagnoses.md#{}", finding.id.anchor()));
    value
}
