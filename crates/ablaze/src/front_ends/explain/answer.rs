//! Everything that is answered: each file by itself, and all reports beside each other.

use ablaze_report::json::SavedRun;
use ablaze_verdict::rules::{self, Judgement, Member};
use ablaze_verdict::several::{self, Several};
use ablaze_verdict::{live, saved};

use super::source::{Content, Source};

/// What is said of all files together.
pub struct Answer {
    /// In the order of the command line.
    pub files: Vec<File>,
    /// What the reports of several files say beside each other.
    pub together: Option<Several>,
}

/// What is said of one file.
pub struct File {
    /// What to call it.
    pub name: String,
    /// Number of its first report, over all files.
    pub first: usize,
    /// What was found.
    pub content: Judged,
}

/// One file's content, judged.
pub enum Judged {
    /// Printed reports, and how many pictures stand beside them.
    Text(Judgement, usize),
    /// A saved run.
    Run(Box<SavedRun>, live::Judged),
}

impl Answer {
    /// Judges what was read.
    pub fn of(sources: Vec<Source>) -> Self {
        let alone = sources.len() == 1;
        let (mut files, mut members) = (Vec::new(), Vec::new());
        let (mut first, mut best_of_line) = (1, None);
        for Source { name, content } in sources {
            let (content, reports) = match content {
                Content::Text(text) if alone => {
                    (Judged::Text(rules::judge(&text), text.images), text.reports.len())
                }
                Content::Text(text) => {
                    members.extend(of_text(&name, rules::members(&text, first)));
                    best_of_line = best_of_line.or(text.best_of_line);
                    (Judged::Text(rules::each(&text), text.images), text.reports.len())
                }
                Content::Run(run) => {
                    let judged = saved::judge(&run.run);
                    members.extend(of_run(&name, &run, &judged, first));
                    (Judged::Run(run, judged), 1)
                }
            };
            files.push(File { name, first, content });
            first += reports;
        }
        Self { files, together: several::beside_each_other(members, best_of_line) }
    }
}

/// What a file says of its reports, and where they stand in it.
fn of_text(name: &str, members: Vec<Member>) -> impl Iterator<Item = Member> {
    rules::of_file(name, members).into_iter().map(move |mut member| {
        let line = member.line.map_or(String::new(), |line| format!(" line {line}"));
        let server = Some(&member.remark).filter(|remark| !remark.is_empty());
        let server = server.map_or(String::new(), |server| format!(", {server}"));
        member.remark = format!("{name}{line}{server}");
        member
    })
}

/// Runs under the same load of a server that was not started anew are repeats, whatever their
/// files are called.
fn of_run(name: &str, saved: &SavedRun, judged: &live::Judged, number: usize) -> Option<Member> {
    let run = &saved.run;
    let processes = run.monitor.as_ref().map(|monitor| &monitor.target.processes);
    let pids: Vec<u32> = processes.into_iter().flatten().map(|process| process.pid).collect();
    let server = if pids.is_empty() { rules::target_of_file(name) } else { format!("{pids:?}") };
    let target = format!("{} {server}", run.plan.target.url);
    let version = Some(saved.tool_version.as_str());
    let mut member =
        several::member(run, &judged.findings, &format!("report {number}"), &target, version)?;
    member.identity = format!("{target} {:?}", run.plan.load);
    member.curve.clone_from(&run.plan.target.url);
    if let Some(served_by) = processes.and_then(|processes| processes.first()) {
        member.curve = format!("{} {}", served_by.name, member.curve);
        member.remark = format!("{name}, {} ({})", served_by.name, served_by.pid);
    } else {
        name.clone_into(&mut member.remark);
    }
    Some(member)
}
