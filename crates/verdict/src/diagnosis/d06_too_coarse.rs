//! D06: the times were printed in steps too coarse for what they measure, or not at all.

mod batches;
mod left_out;

use super::d01_concurrency_not_reached::is_missed;
use super::{Diagnosis, Forms, ShownBy};
use crate::DiagnosisId::D06;
use crate::finding::{Finding, Severity};
use crate::printed::{Command, Connections, Printed, Program, Report, SCRIPTED, Tool};
use crate::rules::arithmetic::{cuts_times, in_flight, nothing_came_back, rate_over_all, url};
use crate::rules::work::{Pace, pace_of_siege};
use crate::words::{amount, decimal, for_shell, grouped, listed, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D06,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { report: Some(on_report), ..Forms::NONE },
};

/// Steps of more than this share of the median hide what is looked for.
const SHARE: f64 = 0.1;

fn on_report(report: &Report) -> Option<Finding> {
    let fix = fix(report);
    if let Some(finding) = left_out::by_wrk(report, &fix) {
        return Some(finding);
    }
    let found = batches::found(report, &fix).or_else(|| in_steps(report, fix));
    left_out::by_hey(report, found)
}

fn in_steps(report: &Report, fix: String) -> Option<Finding> {
    let Some(median) = report.median_ms() else { return absent(report, &fix) };
    if median.step <= SHARE * median.value {
        return None;
    }
    let shown = decimal(median.value, if median.step < 1.0 { 2 } else { 0 });
    let mut evidence = format!(
        "Times are printed in steps of {} and the median reads {shown} ms.",
        if median.step == 1.0 { "1 ms".to_owned() } else { time(median.step) }
    );
    if let Some(text) = mean_by_littles_law(report) {
        evidence.push_str(&text);
    }
    if report.warned {
        evidence.push_str(
            " ab's warning that median and mean differ comes from the same rounding: unrounded, \
             they never differ by more than one standard deviation.",
        );
    }
    let cause = match median.step {
        step if step < 1.0 => {
            format!("The tool rounds times to {} before printing them.", time(step))
        }
        _ if cuts_times(report) => {
            "The tool truncates times to whole milliseconds before printing them.".to_owned()
        }
        _ => "The tool rounds times to whole milliseconds before printing them.".to_owned(),
    };
    // ablaze has judged the run by times that are finer than ab's form shows them.
    let judged = matches!(report.tool, Tool::Ablaze | Tool::AblazeAb | Tool::AblazeGurl);
    let hidden = median.step >= median.value && !judged;
    let severity = if hidden { Severity::Suspect } else { Severity::Note };
    Some(Finding::new(D06, severity, evidence, cause, fix))
}

/// The same load, with times that can be read.
fn fix(report: &Report) -> String {
    let streams = report.command.as_ref().map_or(1, |command| command.streams);
    let http3 = asks_for_http3(report);
    // Over TLS h2load prefers it, and old versions do not say what was agreed upon.
    let is_of_streams = report.tool == Tool::H2load && report.tls && streams > 1 && !http3;
    let over_http2 = report.http2 || is_of_streams && !report.speaks_http1();
    let is_at_a_rate = report.asked_per_s().is_some();
    let asked = match report.asked_connections().filter(|_| streams > 1) {
        Some(connections) => {
            match over_http2 || http3 {
                true => format!(" -c {connections} --streams {streams}"),
                // ablaze does not do both.
                false if is_at_a_rate => format!(" -c {connections}"),
                false => format!(" -c {connections} --pipeline {streams}"),
            }
        }
        None => report.asked().map_or(String::new(), |asked| format!(" -c {asked}")),
    };
    // At full speed it would be another load.
    let (rate, paced) = match report.asked_per_s() {
        Some(per_s) if per_s.fract() == 0.0 => (format!(" --rate {per_s:.0}/s"), ""),
        Some(per_s) => (format!(" --rate {per_s:.2}/s"), ""),
        None if report.command.as_ref().is_some_and(|command| command.ramps) => {
            (String::new(), ", its connections opened as slowly (--ramp)")
        }
        None if report.tool == Tool::Siege && report.is_paced() => (String::new(), users(report)),
        None if report.is_paced() => (String::new(), ", at the same rate (--rate)"),
        None => (String::new(), ""),
    };
    let http2 = match over_http2 {
        true => " --http 2",
        false if http3 => " --http 3",
        false => "",
    };
    let by_command = report.command.as_ref().and_then(|command| command.keep_alive);
    let closes = match report.connections {
        Connections::PerRequest => true,
        Connections::Unknown => by_command == Some(false),
        Connections::Kept(_) => false,
    };
    let insecure = if accepts_any_certificate(report) { " --insecure" } else { "" };
    let close = if closes { " --no-keepalive" } else { "" };
    let url = url(report).map_or("URL".to_owned(), |url| for_shell(&url));
    let besides = report.command.as_ref().map_or(String::new(), besides);
    format!(
        "Measure the times with `ablaze{http2}{asked}{rate}{close}{insecure} {url}`{besides}{paced}: it prints percentiles in microseconds, each with \
         its interval."
    )
}

/// Whether the run took a certificate that nobody trusts, as many a server on test has: most of the tools do not look at it,
/// others with an option.
fn accepts_any_certificate(report: &Report) -> bool {
    let by_itself = match report.tool {
        Tool::Ab | Tool::Wrk | Tool::Wrk2 | Tool::Hey | Tool::H2load | Tool::Siege => {
            !report.is_of_ablaze()
        }
        _ => false,
    };
    let has_option = |command: &Command| {
        let short = match command.program {
            Program::Bombardier | Program::Ablaze => "-k",
            Program::Vegeta => "-insecure",
            _ => "--insecure",
        };
        command.words().any(|word| word == short || word == "--insecure")
    };
    report.tls && (by_itself || report.command.as_ref().is_some_and(has_option))
}

/// How siege's users are to be had: they wait for a response before they pause, so a rate is another load.
fn users(report: &Report) -> &'static str {
    match pace_of_siege(report) {
        Some(Pace::Pauses) => ", with the pauses of siege's users between requests (--think-time)",
        // They hardly paused, or it is not known that they did.
        _ => "",
    }
}

/// What else the command above asks for, and ablaze has an option for.
fn besides(command: &Command) -> String {
    let mut said = Vec::new();
    let mut say = |is_asked: bool, what: &str| said.extend(is_asked.then(|| format!(", {what}")));
    say(command.list.is_some(), "with the URLs of the file in the command above (--urls)");
    // The list is one of them.
    let lists = usize::from(command.list.is_some());
    let otherwise = command.asks_otherwise && (lists == 0 || command.request_options.len() > lists);
    say(otherwise, "with the method, fields and body of the command above");
    say(command.is_pattern, "with URLs as the pattern of the command above makes them (--urls)");
    say(command.has_more_urls, "with the URLs of the command above (--urls)");
    say(command.proxied, "through the proxy of the command above (--proxy)");
    let elsewhere = command.elsewhere.unwrap_or_default();
    let to = match elsewhere {
        "--unix-socket" => "through the socket of the command above",
        _ => "to the address in the command above",
    };
    say(!elsewhere.is_empty(), &format!("{to} ({elsewhere})"));
    said.concat()
}

/// h2load's command lists the protocols that it offers.
fn asks_for_http3(report: &Report) -> bool {
    let lists = |line: &Command| {
        let words = line.text.split([' ', '=', ',']);
        words.into_iter().any(|word| word == "h3" || word == "--h3")
    };
    report.tool == Tool::H2load && report.command.as_ref().is_some_and(lists)
}

fn absent(report: &Report, fix: &str) -> Option<Finding> {
    let complete = report.complete.filter(|complete| *complete > 0)?;
    // Of requests that all failed there are no times to print.
    if report.failed.is_some_and(|failed| failed >= complete) && report.mean_ms().is_none() {
        return None;
    }
    let evidence = match (report.mean_ms(), report.per_request_ms) {
        (Some(_), _) => {
            let times = report.total.unwrap_or_default();
            let printed = [
                ("the minimum", times.min_ms),
                ("the mean", times.mean_ms),
                ("the deviation", times.deviation_ms),
                ("the maximum", times.max_ms),
            ];
            let printed = printed.into_iter().filter(|(_, ms)| ms.is_some());
            let printed = listed(printed.map(|(name, _)| name));
            let others = report.percentiles.iter().map(|(percent, _)| format!("{percent} %"));
            match report.percentiles.is_empty() {
                true if report.own(SCRIPTED).is_some() => format!(
                    "{} itself printed no percentiles, only {printed}. Those that its script (-s) printed are not read: only \
                     the script tells their unit.",
                    report.tool.name()
                ),
                true => format!("No percentiles are printed, only {printed}."),
                false => format!("No median is printed, only {printed}, and {}.", listed(others)),
            }
        }
        (None, Some(Printed { value, .. })) => format!(
            "No percentiles and no maximum are printed. {} ms is a mean, computed from the rate.",
            decimal(value, 3)
        ),
        (None, None) => "The text has no request times.".to_owned(),
    };
    let cause = match (report.mean_ms(), report.per_request_ms) {
        (None, None) => {
            "The rate does not tell whether a target always takes the same time or occasionally a hundred times longer."
        }
        _ => {
            "A mean cannot distinguish a target that always takes the same time from one that occasionally takes a \
             hundred times longer."
        }
    };
    Some(Finding::new(D06, Severity::Note, evidence, cause, fix))
}

/// The mean that the rate implies.
fn mean_by_littles_law(report: &Report) -> Option<String> {
    let rate = rate_over_all(report).filter(|rate| *rate > 0.0)?;
    let (in_flight, why) = match is_missed(report) {
        // ab may have had one connection or all of them.
        false if nothing_came_back(report) => return None,
        // On a schedule that is the asked rate's.
        false if report.is_paced() => return None,
        // Its progress shows the length of a run not so closely.
        false if report.tool == Tool::Bombardier && report.taken_s.is_none() => return None,
        false if !means_agree(report, rate) => return as_measured(report, rate),
        false => (report.asked()?, "By Little's law the mean is"),
        // ab's one connection.
        true if nothing_came_back(report) => (1, "One after another, each took"),
        true => return None,
    };
    Some(format!(
        " {why} {} / {}/s = {}.",
        grouped(in_flight),
        decimal(rate, 2),
        time(in_flight as f64 * 1e3 / rate)
    ))
}

/// The printed mean is what concurrency and rate imply: all were in flight all the time.
fn means_agree(report: &Report, rate: f64) -> bool {
    let implied = report.asked().map(|asked| asked as f64 * 1e3 / rate);
    let Some((mean, implied)) = report.mean_ms().zip(implied) else { return true };
    // ab rounds to the nearest; others may cut off.
    let room = if report.tool.is_ab_like() { mean.step / 2.0 } else { mean.step };
    let near = (mean.value - room) * 0.95..=(mean.value + room) * 1.05;
    near.contains(&implied)
}

/// What the printed mean says of those in flight.
fn as_measured(report: &Report, rate: f64) -> Option<String> {
    // What failed is in the rate of most tools, and in no mean.
    let (mean, (low, high)) =
        (report.mean_ms()?, in_flight(report).filter(|_| report.failed.unwrap_or(0) == 0)?);
    if mean.value == 0.0 {
        return Some(format!(
            " The mean is printed as 0: {}/s × less than {} is less than {} of {} in flight on average.",
            decimal(rate, 2),
            time(mean.high()),
            amount(high),
            grouped(report.asked()?)
        ));
    }
    Some(format!(
        " The mean is printed as {}: {}/s × {} is {} to {} of {} in flight on average.",
        time(mean.value),
        decimal(rate, 2),
        time(mean.value),
        amount(low),
        amount(high),
        grouped(report.asked()?)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    fn with_median(ms: f64) -> Option<Severity> {
        let mut report = sample::ab();
        report.percentiles = vec![(50.0, sample::printed(ms, 1.0))];
        on_report(&report).map(|finding| finding.severity)
    }

    #[test]
    fn a_step_is_held_against_the_median() {
        assert_eq!(with_median(10.0), None);
        assert_eq!(with_median(9.0), Some(Severity::Note));
        assert_eq!(with_median(2.0), Some(Severity::Note));
        assert_eq!(with_median(1.0), Some(Severity::Suspect));
        assert_eq!(with_median(0.0), Some(Severity::Suspect));
    }

    #[test]
    fn without_any_times_no_mean_is_spoken_of() {
        let mut report = sample::ab();
        report.percentiles.clear();
        (report.total, report.per_request_ms) = (None, None);
        let found = on_report(&report).unwrap();
        assert!(found.evidence.starts_with("The text has no request times"), "{found:?}");
        assert!(!found.cause.contains("A mean"), "{found:?}");
    }

    #[test]
    fn a_printed_mean_is_not_computed_otherwise() {
        // ab against a server that accepts one connection in 20 ms.
        let mut report = sample::ab();
        (report.concurrency, report.complete) = (Some(20), Some(400));
        report.rate_per_s = Some(sample::printed(929.71, 0.01));
        report.percentiles = vec![(50.0, sample::printed(1.0, 1.0))];
        report.total = Some(sample::times(0.0, 12.0, 53.4, 1.0, 426.0));
        let evidence = on_report(&report).unwrap().evidence;
        assert!(!evidence.contains("21.5"), "{evidence}");
        assert!(evidence.contains("929.71/s × 12.0 ms is 10.7 to 11.6 of 20"), "{evidence}");
        report.total = Some(sample::times(0.0, 21.0, 3.4, 1.0, 426.0));
        let evidence = on_report(&report).unwrap().evidence;
        assert!(evidence.contains("the mean is 20 / 929.71/s = 21.5 ms"), "{evidence}");
    }

    #[test]
    fn the_mean_behind_the_zeros_is_computed() {
        let mut report = sample::ab();
        report.percentiles = vec![(50.0, sample::printed(0.0, 1.0))];
        report.total = None;
        report.rate_per_s = Some(sample::printed(1_000_000.0, 0.01));
        // 200 / 1,000,000/s.
        let evidence = on_report(&report).unwrap().evidence;
        assert!(evidence.contains("200 / 1,000,000.00/s = 200 µs"), "{evidence}");
    }

    #[test]
    fn finer_steps_are_not_called_milliseconds() {
        let mut report = sample::ab();
        report.percentiles = vec![(50.0, sample::printed(0.05, 0.01))];
        let finding = on_report(&report).unwrap();
        assert!(finding.cause.contains("rounds times to 10.0 µs"), "{}", finding.cause);
    }

    /// wrk opens 33 on each of 3 threads.
    #[test]
    fn connections_that_wrk_s_threads_leave_over_are_not_counted() {
        let mut report = sample::ab();
        (report.tool, report.threads, report.concurrency) = (Tool::Wrk, Some(3), Some(100));
        (report.percentiles, report.total) = (Vec::new(), None);
        assert!(on_report(&report).unwrap().fix.contains(" -c 99 "));
        report.threads = Some(4);
        assert!(on_report(&report).unwrap().fix.contains(" -c 100 "));
        report.percentiles = vec![(50.0, sample::printed(9.0, 1.0))];
        report.threads = Some(3);
        let evidence = on_report(&report).unwrap().evidence;
        assert!(evidence.contains("99 / 10,000.00/s = 9.90 ms"), "{evidence}");
    }

    /// At full speed it is another load.
    #[test]
    fn a_rate_that_was_asked_for_is_in_the_command() {
        let fix = |text: &str| {
            let mut report = crate::printed::read(text).reports.remove(0);
            (report.percentiles, report.total) = (Vec::new(), None);
            on_report(&report).unwrap().fix
        };
        let report = "Running 10s test @ http://h/\n  2 threads and 100 connections\n  20000 requests in 10.00s, 2.00MB read\n\
                      Requests/sec:   2000.00\nTransfer/sec:      0.20MB\n";
        let paced = fix(&format!("$ wrk2 -t2 -c100 -d10s -R2000 http://h/\n{report}"));
        assert!(paced.contains(" --rate 2000/s "), "{paced}");
        let closed = fix(&format!("$ wrk -t2 -c100 -d10s http://h/\n{report}"));
        assert!(!closed.contains("--rate"), "{closed}");
    }

    #[test]
    fn no_times_at_all_are_a_note() {
        let mut report = sample::ab();
        (report.percentiles, report.total) = (Vec::new(), None);
        assert_eq!(on_report(&report).unwrap().severity, Severity::Note);
    }
}
