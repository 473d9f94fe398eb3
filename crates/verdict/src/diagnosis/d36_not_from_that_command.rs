//! D36: a report that was not made by the command it stands under, or, in a saved run, by the one
//! saved with it.

use ablaze_model::Run;
use ablaze_model::plan::Load;

use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D36;
use crate::finding::{Finding, Severity};
use crate::printed::{Command, Connections, Printed, Program, Report, command_in};
use crate::words::{amount, counted, grouped, listed};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D36,
    shown_by: ShownBy::Text,
    severities: &[Severity::Suspect],
    explained_by: &[],
    forms: Forms { saved_run: Some(on_saved_run), report: Some(on_report), ..Forms::NONE },
};

/// Requests that are under way when a run's time is up may take this much longer.
const LAST_S: f64 = 60.0;
/// A tool that paces its requests may begin with some at once.
const BURST: f64 = 100.0;

/// What a report shows of that for which a command may ask.
struct Shown<'a> {
    concurrency: Option<u64>,
    /// That is the number of connections, however they are used.
    connections: bool,
    host: Option<&'a str>,
    port: Option<u16>,
    path: Option<&'a str>,
    complete: Option<u64>,
    keep_alive: Option<bool>,
    threads: Option<u64>,
    /// Its length: as the tool was told, and as it was.
    asked_s: Option<Printed>,
    taken_s: Option<f64>,
    open_loop: bool,
    /// What the tool was to do, and not what it printed.
    is_plan: bool,
}

/// A printed report under the command that stands above it.
fn on_report(report: &Report) -> Option<Finding> {
    let shown = Shown {
        concurrency: report.clients.or(report.concurrency),
        connections: report.clients.is_some(),
        host: report.host.as_deref(),
        port: report.port,
        path: report.path.as_deref(),
        complete: report.complete,
        keep_alive: match report.connections {
            Connections::Kept(_) => Some(true),
            Connections::PerRequest => Some(false),
            Connections::Unknown => None,
        },
        threads: report.threads,
        asked_s: report.asked_s,
        taken_s: report.taken_s.map(|taken| taken.value),
        open_loop: report.open_loop,
        is_plan: false,
    };
    finding(
        report.command.as_ref()?,
        &shown,
        "This is the output of a different command than the one shown above it.",
        "Take command and output from the same run; a report that contains its own command line \
         (ablaze: -o run.json) cannot be separated from it.",
    )
}

/// A saved run and the command line saved with it.
fn on_saved_run(run: &Run) -> Option<Finding> {
    let command = command_in(&run.command_line)?;
    let plan = &run.plan;
    let shown = Shown {
        concurrency: match plan.load {
            Load::Closed { connections, .. } => Some(u64::from(connections)),
            Load::Open { .. } => None,
        },
        connections: false,
        host: Some(&plan.target.host),
        port: Some(plan.target.port),
        path: Some(&plan.target.path),
        complete: Some(plan.limits.requests.unwrap_or(0).max(run.record.finished())),
        keep_alive: Some(plan.connections.keep_alive),
        threads: None,
        asked_s: None,
        taken_s: None,
        open_loop: plan.load.is_open(),
        is_plan: true,
    };
    finding(
        &command,
        &shown,
        "The file holds the result of a different command than the one it names: it was assembled \
         or edited after the run.",
        "Run the command again and keep the file it saves (-o FILE.json) unchanged.",
    )
}

fn finding(command: &Command, shown: &Shown, cause: &str, fix: &str) -> Option<Finding> {
    let differences = differences(command, shown);
    (!differences.is_empty()).then(|| {
        let evidence = format!("`{}` asks for {}.", command.text, listed(differences));
        Finding::new(D36, Severity::Suspect, evidence, cause, fix)
    })
}

fn differences(command: &Command, shown: &Shown) -> Vec<String> {
    let mut found = Vec::new();
    let says = if shown.is_plan { "the file says" } else { "the report says" };
    let mut differ = |what: &str, asked: String, shown: Option<String>| {
        if let Some(shown) = shown.filter(|shown| *shown != asked) {
            found.push(format!("{what} {asked}, {says} {shown}").trim_start().to_owned());
        }
    };
    let (asked_open, open) = (command.open_loop, shown.open_loop);
    // Only ablaze's own options are all known; its other front ends take a rate too.
    if asked_open != open && command.program == Program::Ablaze {
        let words = |open: bool| if open { "an open loop" } else { "a closed loop" }.to_owned();
        differ("", words(asked_open), Some(words(open)));
    }
    let closed = !asked_open && !open;
    if command.concurrency.0 == command.concurrency.1 && (closed || shown.connections) {
        let asked = grouped(command.concurrency.0);
        differ("a concurrency of", asked, shown.concurrency.map(grouped));
    }
    let host = shown.host.filter(|host| !host.eq_ignore_ascii_case(&command.host));
    differ("host", command.host.clone(), host.map(str::to_owned));
    differ("port", command.port.to_string(), shown.port.map(|port| port.to_string()));
    differ("path", command.path.clone(), shown.path.map(str::to_owned));
    // An interrupted run has fewer requests than were asked for, never more.
    let more = shown.complete.filter(|complete| command.requests.is_some_and(|n| *complete > n));
    if let (Some(complete), Some(asked), false) = (more, command.requests, command.timed) {
        differ(
            "",
            format!("{} requests", grouped(asked)),
            Some(format!("{} complete", grouped(complete))),
        );
    }
    let threads = shown.threads.map(|threads| counted(threads, "thread"));
    if let Some(asked) = command.threads {
        differ("", counted(asked, "thread"), threads);
    }
    if let Some(asked) = command.duration_s {
        let other = shown.asked_s.filter(|told| (told.value - asked).abs() > told.step);
        // What is under way at the end may take some time more.
        let longer = shown.taken_s.filter(|taken| *taken > asked * 1.5 + LAST_S);
        let length = other.map(|told| told.value).or(longer).map(|s| format!("{} s", amount(s)));
        differ("a run of", format!("{} s", amount(asked)), length);
    }
    if let (Some(asked), Some(taken_s), Some(complete)) =
        (command.rate_per_s, shown.taken_s, shown.complete)
    {
        let most = asked * 1.1 * taken_s + BURST.max(command.concurrency.1 as f64);
        let came =
            (complete as f64 > most).then(|| format!("{}/s", amount(complete as f64 / taken_s)));
        differ("at most", format!("{}/s", amount(asked)), came);
    }
    let words = |kept: bool| if kept { "kept" } else { "closed after each request" }.to_owned();
    if let Some(asked) = command.keep_alive {
        differ("connections", words(asked), shown.keep_alive.map(words));
    }
    found
}

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind;

    use super::*;
    use crate::live::sample;
    use crate::printed::{Report, read};

    const REPORT: &str = "Server Software:        x\nServer Hostname:        h\n\
        Server Port:            80\n\nDocument Path:          /\nDocument Length:        5 bytes\n\n\
        Concurrency Level:      10\nTime taken for tests:   10.000 seconds\n\
        Complete requests:      1000\nFailed requests:        0\n\
        Total transferred:      100000 bytes\nHTML transferred:       5000 bytes\n";

    fn under(command: &str) -> Option<String> {
        let text = read(&format!("$ {command}\n{REPORT}"));
        let reports: &[Report] = &text.reports;
        assert!(reports[0].command.is_some(), "{command}");
        on_report(&reports[0]).map(|finding| finding.evidence)
    }

    #[test]
    fn command_and_report_are_held_together() {
        assert_eq!(under("ab -n 1000 -c 10 http://h/"), None);
        assert_eq!(under("ab -n 100000 -c 10 http://h/"), None);
        assert_eq!(under("ab -c 10 -t 30 http://h/"), None);
        assert!(under("ab -n 1000 -c 25 http://h/").unwrap().contains("25, the report says 10"));
        assert!(under("ab -n 500 -c 10 http://h/").unwrap().contains("1,000 complete"));
        assert!(under("ab -n 1000 -c 10 http://h/x").unwrap().contains("path /x"));
        assert!(under("ab -kc 10 -n 1000 http://h/").unwrap().contains("connections kept"));
    }

    #[test]
    fn a_saved_run_is_held_against_its_own_command() {
        let mut run = sample::run();
        run.record.failures[FailureKind::Reset as usize] = 15;
        let mut under = |line: &str| {
            run.command_line = line.split(' ').map(str::to_owned).collect();
            on_saved_run(&run).map(|finding| finding.evidence)
        };
        // 100 connections, 20,015 requests finished, 10 s, connections kept.
        for line in [
            "ablaze -c 100 http://127.0.0.1:8080/",
            "ablaze :8080/ --connections=100 -d 10s -o run.json",
            "/usr/bin/ab -kc 100 -t 10 http://127.0.0.1:8080/",
            "ablaze gurl -ac 100 -an 30000 -bench :8080",
            "ablaze demo",
        ] {
            assert_eq!(under(line), None, "{line}");
        }
        for (line, part) in [
            ("ablaze -c 10 :8080/", "a concurrency of 10, the file says 100"),
            ("ablaze :8080/", "a concurrency of 50, the file says 100"),
            ("ablaze -c 100 :8081/", "port 8081, the file says 8080"),
            ("ablaze -c 100 localhost:8080/", "host localhost, the file says 127.0.0.1"),
            ("ablaze -c 100 :8080/x", "path /x, the file says /"),
            ("ablaze -c 100 -n 20k :8080/", "20,000 requests, the file says 20,015 complete"),
            ("ablaze -c 100 -r 5k/s :8080/", "an open loop, the file says a closed loop"),
            ("ab -c 100 -t 10 127.0.0.1:8080/", "closed after each request, the file says kept"),
        ] {
            let evidence = under(line).unwrap_or_else(|| panic!("{line}"));
            assert!(evidence.contains(part), "{line}: {evidence}");
        }
    }
}
