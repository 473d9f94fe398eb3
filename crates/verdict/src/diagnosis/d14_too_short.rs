//! D14: a run too short, or with too few requests per connection, to have left its beginning
//! behind; or one whose beginning ran at another rate than the rest.

mod advice;
mod beginning;
mod printed;
mod straggler;

pub(super) use beginning::has_beginning;
pub(super) use printed::attack_s;

use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_model::spec::FrontEnd;

use self::advice::{limit_of_ab, more_requests, remedy};
use self::beginning::warm_up;
use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D14;
use crate::finding::{Finding, Severity};
use crate::live::figures::{elapsed_s, users_pause};
use crate::live::options::{Opt, number_asked, spelled};
use crate::printed::{Command, Connections, Curve};
use crate::rules::comparison::{Comparison, Member};
use crate::rules::curve::Curves;
use crate::words::{amount, counted, grouped, listed, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D14,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(printed::on_report),
        comparison: Some(on_comparison),
        curves: Some(on_curves),
        command: Some(on_command),
        ..Forms::NONE
    },
};

/// Runs shorter than this are noted, and than this suspected, in seconds.
const SHORT_S: f64 = 5.0;
const TOO_SHORT_S: f64 = 1.0;
/// The same for requests per connection.
const FEW: f64 = 100.0;
const TOO_FEW: f64 = 10.0;
/// How long a run is to be at least, and up to how long it is advised to be for the sake of many connections, in seconds.
const LONG_S: f64 = 10.0;
const TOO_LONG_S: f64 = 600.0;

const CAUSE: &str = "Opening connections, filling caches and reaching a steady state take a large \
                     share of a short run, and one disturbance weighs as much as a change worth \
                     finding.";

/// The same where no connection was opened in the measured time.
const CAUSE_BEHIND_OPENING: &str = "Filling caches and reaching a steady state take a large share of a short run, and one disturbance \
                                    weighs as much as a change worth finding.";

fn on_run(run: &Run) -> Option<Finding> {
    if run.record.responses == 0 || run.elapsed_ns == 0 {
        return None;
    }
    let length_s = elapsed_s(run);
    let mut severity = None;
    let mut evidence = Vec::new();
    if length_s < SHORT_S {
        severity = Some(gravity(length_s < TOO_SHORT_S));
        evidence.push(format!("The run took {}.", time(length_s * 1e3)));
    }
    let finished = run.record.finished();
    let connections = connections(run);
    let each = finished as f64 / connections.unwrap_or(1) as f64;
    if each < FEW {
        severity = severity.max(Some(gravity(each < TOO_FEW)));
        evidence.push(match connections {
            Some(places) if run.record.connections_opened > places => format!(
                "{}, {} at a time, is {} one after another.",
                counted(finished, "request"),
                grouped(places),
                amount(each)
            ),
            Some(connections) if run.plan.connections.keep_alive => format!(
                "{} requests per connection, with {}.",
                amount(each),
                counted(connections, "connection")
            ),
            Some(places) => per_connection(finished, places, false),
            None => format!("It had {}.", counted(finished, "request")),
        });
    }
    let beginning = warm_up(run);
    if let Some(beginning) = &beginning {
        // A note, as what changed may be a neighbour on the same machine; unless the rate is neither that of the beginning
        // nor that of the rest.
        severity = severity.max(Some(gravity(beginning.decides())));
        evidence.push(beginning.evidence());
    }
    let severity = severity?;
    let too_short = length_s < SHORT_S || evidence.len() > usize::from(beginning.is_some());
    let (cause, fix) = match beginning.filter(|beginning| beginning.decides() || !too_short) {
        Some(beginning) => (beginning.cause(run), beginning.fix(run)),
        None if opened_before(run) => (CAUSE_BEHIND_OPENING, longer_run(run)),
        None => (CAUSE, longer_run(run)),
    };
    Some(Finding::new(D14, severity, evidence.join(" "), cause, fix))
}

/// Whether all connections had been opened before the clock started: that is in no figure.
fn opened_before(run: &Run) -> bool {
    let record = &run.record;
    let before = record.setup_connect.count();
    before > 0 && before >= record.connections_opened && record.answered.connect.count() == 0
}

fn seen(run: &Run) -> Option<String> {
    let length = time(elapsed_s(run) * 1e3);
    match connections(run) {
        _ if run.record.responses == 0 => None,
        Some(connections) => Some(format!(
            "The run took {length}, without a distinct warm-up; {} requests went over each of {}.",
            amount(run.record.finished() as f64 / connections as f64),
            counted(connections, "connection")
        )),
        None => Some(format!("The run took {length}.")),
    }
}

/// The connections of a closed loop, which are in use all the time.
fn connections(run: &Run) -> Option<u64> {
    match run.plan.load {
        Load::Closed { connections, .. } if !users_pause(run) => Some(connections.into()),
        _ => None,
    }
}

/// How whoever asked for this run asks for one that is long enough.
fn longer_run(run: &Run) -> String {
    let (finished, connections) = (run.record.finished(), connections(run));
    let wanted = FEW * connections.unwrap_or(1) as f64;
    let needed_s = (elapsed_s(run) * wanted / finished.max(1) as f64).max(LONG_S).ceil();
    // Where both are given, what is reached first ends the run.
    let instead = match run.plan.limits.requests {
        Some(_) => format!(", instead of {}", number_asked(run)),
        None => String::new(),
    };
    let duration = spelled(run, Opt::Duration);
    let how = match run.front_end() {
        _ if connections.is_some() && needed_s > TOO_LONG_S => {
            format!("fewer connections: {}", spelled(run, Opt::Connections))
        }
        FrontEnd::Ab => {
            let most = limit_of_ab(finished as f64 / elapsed_s(run) * needed_s);
            format!("-t {needed_s:.0} -n {most}, in this order: -t alone stops at 50,000 requests")
        }
        FrontEnd::Library => format!("{duration}{instead}"),
        _ => format!("{duration} {needed_s:.0}s{instead}"),
    };
    match connections {
        Some(_) => format!("{} ({how}).", remedy(run.plan.connections.keep_alive)),
        // How many of the connections of an open loop have something to do is up to its rate.
        None => format!("Run for 10 s or more, with {FEW:.0} requests or more ({how})."),
    }
}

fn gravity(too_short: bool) -> Severity {
    if too_short { Severity::Suspect } else { Severity::Note }
}

fn per_connection(requests: u64, asked: u64, kept: bool) -> String {
    let (requests_said, each) =
        (counted(requests, "request"), amount(requests as f64 / asked as f64));
    match kept {
        true => format!(
            "{requests_said} over {} is {each} per connection.",
            counted(asked, "connection")
        ),
        false => format!(
            "{requests_said}, each on a connection of its own and {} at a time, is {each} one after another.",
            grouped(asked)
        ),
    }
}

/// A comparison of runs over one kept connection each: a sample of one.
fn on_comparison(comparison: &Comparison, _: Option<usize>) -> Option<Finding> {
    let members = &comparison.members;
    let is_one = |member: &Member| member.concurrency == Some(1) && !opens_more(member);
    if members.is_empty() || !members.iter().all(is_one) {
        return None;
    }
    let mut requests: Vec<u64> = members.iter().filter_map(|member| member.requests).collect();
    requests.sort_unstable();
    let requests = match (requests.first(), requests.last()) {
        (Some(least), Some(most)) if least == most => {
            format!(", {} one after another", counted(*least, "request"))
        }
        (Some(least), Some(most)) => {
            format!(", {} to {} requests one after another", grouped(*least), grouped(*most))
        }
        _ => String::new(),
    };
    Some(Finding::new(
        D14,
        Severity::Note,
        format!("Each rate was measured over one connection{requests}."),
        "However many the requests, this is a sample of one connection and one sequence of \
         events: whatever that connection met affects all of them, and nothing ran in parallel.",
        "Repeat the runs, and also measure with 10 and with 100 connections (ab: -c 100).",
    ))
}

/// Whether each request had a connection of its own.
fn opens_more(member: &Member) -> bool {
    let connections = member.work.as_ref().map(|work| work.connections);
    matches!(connections, Some(Connections::PerRequest | Connections::Kept(Some(0))))
}

/// A command whose report is not there.
fn on_command(command: &Command, _: Option<usize>) -> Option<Finding> {
    let asked = command.concurrency.1;
    let requests = command.requests.filter(|_| !command.timed)?;
    let each = requests as f64 / asked.max(1) as f64;
    if asked <= 1 || each >= FEW {
        return None;
    }
    let evidence = per_connection(requests, asked, command.keep_alive != Some(false));
    Some(Finding::new(D14, gravity(each < TOO_FEW), evidence, CAUSE, more_requests(command)))
}

/// A table of rates, each from so many requests.
fn on_curves(shown: &Curves<'_>) -> Option<Finding> {
    let (curves, requests) = (shown.curves, shown.requests_per_point?);
    let points = curves.iter().flat_map(|curve| {
        curve
            .points
            .iter()
            .map(|(asked, rate)| (curve.name.as_str(), *asked, requests as f64 / rate))
    });
    let short: Vec<(&str, u64, f64)> = points.filter(|(_, _, s)| *s < SHORT_S).collect();
    let mut evidence = Vec::new();
    let mut severity = None;
    if let Some((name, asked, least_s)) = short.iter().min_by(|a, b| a.2.total_cmp(&b.2)).copied() {
        severity = Some(gravity(least_s < TOO_SHORT_S));
        evidence.push(format!(
            "{} per point take less than {SHORT_S} s at {}; the shortest, {name} at c = {}, took \
             {} s.",
            counted(requests, "request"),
            where_short(curves, &short),
            grouped(asked),
            amount(least_s)
        ));
    }
    let levels = curves.iter().flat_map(|curve| curve.points.iter().map(|(asked, _)| *asked));
    let few = |asked: &u64| (requests as f64 / *asked as f64) < FEW;
    let (first, last) = (levels.clone().filter(few).min(), levels.max());
    if let (Some(first), Some(last)) = (first, last) {
        let each = requests as f64 / last as f64;
        severity = severity.max(Some(gravity(each < TOO_FEW)));
        evidence.push(format!(
            "From c = {} on, there are fewer than 100 requests per connection: {} at c = {}.",
            grouped(first),
            amount(each),
            grouped(last)
        ));
    }
    Some(Finding::new(D14, severity?, evidence.join(" "), CAUSE, format!("{}.", remedy(true))))
}

/// The concurrencies at which every curve is short, in words.
fn where_short(curves: &[Curve], short: &[(&str, u64, f64)]) -> String {
    let mut levels: Vec<u64> =
        curves.iter().flat_map(|curve| curve.points.iter().map(|(asked, _)| *asked)).collect();
    levels.sort_unstable();
    levels.dedup();
    let all_short = |level: &u64| {
        let having = curves.iter().filter(|c| c.points.iter().any(|(asked, _)| asked == level));
        short.iter().filter(|(_, asked, _)| asked == level).count() == having.count()
    };
    let from = levels.iter().rposition(|level| !all_short(level)).map_or(0, |at| at + 1);
    match levels.get(from) {
        Some(_) if from == 0 => "every concurrency".to_owned(),
        Some(level) => format!("every c ≥ {}", grouped(*level)),
        None => {
            let mut some: Vec<u64> = short.iter().map(|(_, asked, _)| *asked).collect();
            some.sort_unstable();
            some.dedup();
            format!("c = {}", listed(some))
        }
    }
}

#[cfg(test)]
mod tests;
