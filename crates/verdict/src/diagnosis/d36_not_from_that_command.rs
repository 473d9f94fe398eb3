//! D36: a report that was not made by the command it stands under; a saved run that did something else than
//! was asked for by its own file.

mod in_flight;
mod words;

use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_model::spec::LoadSpec;

use super::d14_too_short::attack_s;
use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D36;
use crate::finding::{Finding, Severity};
use crate::printed::{Command, Connections, Printed, Program, Report};
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

/// So many users siege permits, unless it is told otherwise.
const USERS_OF_SIEGE: u64 = 255;

/// What a report shows of that for which a command may ask.
struct Shown<'a> {
    concurrency: Option<u64>,
    /// That is the number of connections, however they are used.
    connections: bool,
    /// TLS was spoken.
    tls: bool,
    host: Option<&'a str>,
    port: Option<u16>,
    path: Option<&'a str>,
    complete: Option<u64>,
    keep_alive: Option<bool>,
    /// That it says by a line which is not there.
    lacks_line_of_kept: bool,
    threads: Option<u64>,
    /// Its length: as the tool was told, and as it was.
    asked_s: Option<Printed>,
    taken_s: Option<f64>,
    open_loop: bool,
}

/// Whether nothing in a report is other than its command asks for.
pub(crate) fn is_of_its_command(report: &Report) -> bool {
    on_report(report).is_none()
}

/// A printed report under the command that stands above it.
fn on_report(report: &Report) -> Option<Finding> {
    let shown = Shown {
        concurrency: report.clients.or(report.concurrency),
        connections: report.clients.is_some(),
        tls: report.tls,
        host: report.host.as_deref(),
        port: report.port,
        // ab and wrk print the fragment, which is no part of the path.
        path: report.path.as_deref().and_then(|path| path.split('#').next()),
        complete: report.complete,
        keep_alive: match report.connections {
            Connections::Kept(_) => Some(true),
            // A server that closes all the same changes nothing of what was asked for (D19).
            Connections::PerRequest => Some(report.asked_to_keep),
            Connections::Unknown => None,
        },
        lacks_line_of_kept: report.tool.is_ab_like()
            && report.connections == Connections::PerRequest,
        threads: report.threads,
        asked_s: report.asked_s,
        // vegeta is told how long to send, and waits for the last responses behind it.
        taken_s: attack_s(report).or(report.taken_s.map(|taken| taken.value)),
        open_loop: report.open_loop,
    };
    let command = report.command.as_ref().filter(|command| !command.is_guessed)?;
    let mut differences = differences(command, &shown);
    let cause = match differences.is_empty() {
        true => {
            "This is the output of a different command than the one shown above it, or figures of it were changed: no more \
             requests are in flight than have a place."
        }
        false => {
            "This is the output of a different command than the one shown above it, or one of the two was changed since: \
             a name masked, a command wrapped, a line or a figure lost or edited."
        }
    };
    differences.extend(in_flight::more_than_asked(report));
    (!differences.is_empty()).then(|| {
        Finding::new(
            D36,
            Severity::Suspect,
            format!("`{}` asks for {}.", command.text, listed(differences)),
            cause,
            "Take command and output from the same run; a report that contains its own command \
             line (ablaze: -o run.json) cannot be separated from it.",
        )
    })
}

/// A saved run and the load that, by its file, was asked for. Of files of older versions, which do not have it, nothing is
/// said.
fn on_saved_run(run: &Run) -> Option<Finding> {
    let asked = run.asked.as_deref()?;
    let mut differences = from_what_was_asked(run, asked);
    differences.extend(words::other_than_asked(run, asked));
    (!differences.is_empty()).then(|| {
        Finding::new(
            D36,
            Severity::Suspect,
            format!("The load that was asked for has {}.", listed(differences)),
            "The file names a load or a command that its run is not of: it was assembled or edited after the run.",
            "Run the command again and keep the file it saves (-o FILE.json) unchanged.",
        )
    })
}

/// What the run did, and was not asked to.
fn from_what_was_asked(run: &Run, asked: &LoadSpec) -> Vec<String> {
    let plan = &run.plan;
    let mut found = Vec::new();
    let mut differ = |what: &str, asked: String, does: String| {
        if asked != does {
            found.push(format!("{what} {asked}, the run {does}").trim_start().to_owned());
        }
    };
    let shape = |open: bool| if open { "an open loop" } else { "a closed loop" }.to_owned();
    differ("", shape(asked.shape.is_open()), shape(plan.load.is_open()));
    let requests = asked.limits.requests.unwrap_or(u64::MAX);
    if let (false, Load::Closed { connections, .. }) = (asked.shape.is_open(), plan.load) {
        // No more than there are requests.
        let most = u64::from(asked.closed_connections()).min(requests);
        differ("a concurrency of", grouped(most), grouped(connections.into()));
    }
    if let Some(url) = &asked.destination.url {
        differ("host", url.host.to_lowercase(), plan.target.host.to_lowercase());
        differ("port", url.port.to_string(), plan.target.port.to_string());
        differ("path", url.path.clone(), plan.target.path.clone());
    }
    // An interrupted run has fewer requests than were asked for, never more.
    let finished = plan.limits.requests.unwrap_or(0).max(run.record.finished());
    // With a journey it is journeys that are counted.
    if plan.journey.is_none() && finished > requests {
        differ("", counted(requests, "request"), format!("{} complete", grouped(finished)));
    }
    let kept = |kept: bool| if kept { "kept" } else { "closed after each request" }.to_owned();
    differ("connections", kept(asked.connections.keep_alive), kept(plan.connections.keep_alive));
    found
}

fn differences(command: &Command, shown: &Shown) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, asked: String, shown: Option<String>| {
        if let Some(shown) = shown.filter(|shown| *shown != asked) {
            found.push(format!("{what} {asked}, the report says {shown}").trim_start().to_owned());
        }
    };
    let (asked_open, open) = (command.open_loop, shown.open_loop);
    // Only ablaze's own options are all known; its other front ends take a rate too.
    if asked_open != open && command.program == Program::Ablaze {
        let words = |open: bool| if open { "an open loop" } else { "a closed loop" }.to_owned();
        differ("", words(asked_open), Some(words(open)));
    }
    let closed = !asked_open && !open && !command.ramps;
    if command.concurrency.0 == command.concurrency.1 && (closed || shown.connections) {
        let asked = command.concurrency.0;
        // siege has no more users than its configuration permits.
        let is_capped = |shown: &u64| {
            command.program == Program::Siege && asked > USERS_OF_SIEGE && *shown < asked
        };
        let shown = shown.concurrency.filter(|shown| !is_capped(shown));
        differ("a concurrency of", grouped(asked), shown.map(grouped));
    }
    // The URLs may be in a file.
    if !command.host.is_empty() {
        let host = shown.host.filter(|host| !host.eq_ignore_ascii_case(&command.host));
        differ("host", command.host.clone(), host.map(str::to_owned));
        differ("port", command.port.to_string(), shown.port.map(|port| port.to_string()));
        differ("path", command.path.clone(), shown.path.map(str::to_owned));
        // That none was spoken no report says.
        let in_clear = !command.tls && shown.tls;
        differ("", "plain HTTP".to_owned(), in_clear.then(|| "TLS".to_owned()));
    }
    // An interrupted run has fewer requests than were asked for, never more.
    let more = shown.complete.filter(|complete| command.requests.is_some_and(|n| *complete > n));
    if let (Some(complete), Some(asked), false) = (more, command.requests, command.timed) {
        differ("", counted(asked, "request"), Some(format!("{} complete", grouped(complete))));
    }
    let threads = shown.threads.map(|threads| counted(threads, "thread"));
    if let Some(asked) = command.threads {
        differ("", counted(asked, "thread"), threads);
    }
    if let Some(asked) = command.duration_s {
        let other = shown.asked_s.filter(|told| (told.value - asked).abs() > told.step);
        // What is under way at the end may take some time more. Where the tool says that it was told just that, it had this
        // command, whatever its clock did.
        let told = shown.asked_s.is_some();
        let longer = shown.taken_s.filter(|taken| !told && *taken > asked * 1.5 + LAST_S);
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
        if asked && shown.lacks_line_of_kept {
            found.push("connections kept, the report has no line `Keep-Alive requests`".to_owned());
        } else {
            differ("connections", words(asked), shown.keep_alive.map(words));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind;
    use ablaze_model::plan::{Arrivals, RateProfile};
    use ablaze_model::spec::{Shape, UrlSpec};

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
    fn a_saved_run_is_held_against_what_was_asked() {
        let mut run = sample::run();
        run.record.failures[FailureKind::Reset as usize] = 15;
        run.command_line = "ablaze -c 10 :8081/".split(' ').map(str::to_owned).collect();
        assert_eq!(on_saved_run(&run), None, "files of older versions say nothing of it");
        sample::asked(&mut run, &[]);
        run.command_line.clear();
        assert_eq!(on_saved_run(&run), None);
        let mut other = |change: &dyn Fn(&mut LoadSpec)| {
            sample::asked(&mut run, &[]);
            change(run.asked.as_mut().unwrap());
            on_saved_run(&run).map_or_else(String::new, |finding| finding.evidence)
        };
        let closed = |connections| Shape::Closed { connections };
        let fewer = other(&|asked| asked.shape = closed(Some(10)));
        assert!(fewer.contains("a concurrency of 10, the run 100"), "{fewer}");
        let usual = other(&|asked| asked.shape = closed(None));
        assert!(usual.contains("a concurrency of 50, the run 100"), "{usual}");
        let capped = other(&|asked| asked.limits.requests = Some(50_000));
        assert_eq!(capped, "");
        let more = other(&|asked| asked.limits.requests = Some(20_000));
        assert!(more.contains("20,000 requests, the run 20,015 complete"), "{more}");
        let to = |host: &str, port, path: &str| {
            let url = UrlSpec {
                shown: String::new(),
                https: false,
                host: host.to_owned(),
                port,
                path: path.to_owned(),
            };
            move |asked: &mut LoadSpec| asked.destination.url = Some(url.clone())
        };
        assert!(other(&to("127.0.0.1", 8081, "/")).contains("port 8081, the run 8080"));
        assert!(other(&to("h", 8080, "/")).contains("host h, the run 127.0.0.1"));
        assert!(other(&to("127.0.0.1", 8080, "/x")).contains("path /x, the run /"));
        let closes = other(&|asked| asked.connections.keep_alive = false);
        assert!(closes.contains("closed after each request, the run kept"), "{closes}");
        let rate = RateProfile::constant(5e3);
        let open = Shape::Open { rate, arrivals: Arrivals::Constant, connections: None };
        assert!(other(&|asked| asked.shape = open).contains("an open loop, the run a closed loop"));
    }
}
