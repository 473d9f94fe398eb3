//! What follows from the form of a whole report, once it is read; and whose report a command or a banner
//! announces.

use std::collections::HashSet;

use super::labels::Label;
use super::{Command, Connections, Printed, Program, Report, Tool, peers};

/// What follows from the form of the whole report.
pub fn finish(report: &mut Report, seen: &HashSet<Label>) {
    if let Some(command) = &report.command {
        report.tls |= command.tls;
        report.http2 |= command.http2;
        // h2load, siege and hey do not print what they load.
        if report.host.is_none() && !report.tool.has_ab_labels() && !command.host.is_empty() {
            report.host = Some(command.host.clone());
            report.port = Some(command.port);
            report.path = Some(command.path.clone()).filter(|_| !command.has_more_urls);
        }
    }
    if report.tool == Tool::Hey {
        peers::hey::finish(report);
    }
    if report.tool == Tool::H2load {
        peers::h2load::finish(report);
    }
    if report.tool == Tool::Bombardier {
        peers::bombardier::finish(report);
    }
    if !report.tool.has_ab_labels() {
        let asked = report.command.as_ref().and_then(|command| command.keep_alive);
        if report.tool == Tool::Wrk && report.asked_per_s().is_some() {
            // Without percentiles wrk2 prints what wrk does.
            (report.tool, report.open_loop) = (Tool::Wrk2, true);
        }
        report.http2 |= report.tool == Tool::H2load && peers::h2load::speaks_http2(report);
        if report.connections == Connections::Unknown && asked == Some(false) {
            report.connections = Connections::PerRequest;
        }
        if !report.statuses.is_empty() && report.tool != Tool::Ablaze {
            report.non_2xx = Some(report.other_statuses());
        }
        return;
    }
    // Its first lines, which say so, may have been left out.
    let is_of_ablaze = |line: &Command| line.program == Program::Ab && line.is_of_ablaze();
    let command = report.command.as_ref();
    if report.tool == Tool::Ab && !report.announced && command.is_some_and(is_of_ablaze) {
        report.tool = Tool::AblazeAb;
    }
    // gurl has the percentages, but neither the table of times nor the remark on the longest.
    let is_gurl = seen.contains(&Label::Statuses)
        || (!report.percentiles.is_empty() && !seen.contains(&Label::Total));
    if is_gurl && report.tool == Tool::Ab {
        let named = report.host.is_some();
        report.tool = if named { Tool::AblazeGurl } else { Tool::Gurl };
        if named {
            // ablaze measures the mean, where gurl computes it from the rate.
            let total = report.total.get_or_insert_default();
            total.mean_ms = total.mean_ms.or(report.per_request_ms);
        }
    }
    if report.tool.is_ab_like() {
        report.concurrency = report.concurrency.or_else(|| concurrency_of_ab(report));
    }
    if report.tool == Tool::Ab {
        report.taken_s = report.taken_s.map(|taken| length_of_old_ab(report, taken));
    }
    if report.tool.is_ab_like() && report.connections == Connections::Unknown && is_whole(seen) {
        // With -k ab always prints how many were kept.
        report.connections = Connections::PerRequest;
    }
    if report.tool.is_ab_like() && report.non_2xx.is_none() && is_whole(seen) {
        report.non_2xx = Some(0);
    }
    if !report.statuses.is_empty() && report.non_2xx.is_none() {
        report.non_2xx = Some(report.other_statuses());
    }
}

/// ab computes `Time per request` as the concurrency divided by the rate: the whole number that both make, if they make one.
fn concurrency_of_ab(report: &Report) -> Option<u64> {
    let (rate, each_ms) = (report.rate_per_s?, report.per_request_ms?);
    let (low, high) = (rate.low() * each_ms.low() / 1e3, rate.high() * each_ms.high() / 1e3);
    let whole = low.ceil();
    (whole >= 1.0 && whole <= high && whole + 1.0 > high).then_some(whole as u64)
}

/// ab 2.0 prints seconds, a point and microseconds (`%ld.%03ld`), with zeros before these up to three digits only:
/// `3.73261` is 3.073261 s. Later versions print three decimals, as this one does below a millisecond.
fn length_of_old_ab(report: &Report, printed: Printed) -> Printed {
    if !(0.5e-5..0.5e-3).contains(&printed.step) {
        return printed;
    }
    let whole = printed.value.floor();
    let micros = ((printed.value - whole) / printed.step).round();
    let padded = Printed { value: whole + micros * 1e-6, step: 1e-6 };
    // Where somebody calculated the length, the rate is that of what stands there.
    let (Some(complete), Some(rate)) = (report.complete, report.rate_per_s) else { return padded };
    let off = |taken: Printed| (complete as f64 / taken.value - rate.value).abs();
    if off(padded) <= off(printed) { padded } else { printed }
}

/// The counts are all there, so that a line which is not was not printed.
fn is_whole(seen: &HashSet<Label>) -> bool {
    [Label::Complete, Label::Failed, Label::TotalBytes].iter().all(|label| seen.contains(label))
}

/// Whether a report of this tool can be the output of that program.
pub fn fits(program: Program, tool: Tool) -> bool {
    match program {
        Program::Ab => tool.is_ab_like(),
        Program::Gurl => matches!(tool, Tool::Gurl | Tool::AblazeGurl | Tool::Ab),
        Program::Ablaze => tool == Tool::Ablaze,
        Program::Wrk => matches!(tool, Tool::Wrk | Tool::Wrk2),
        Program::H2load => tool == Tool::H2load,
        Program::Hey => tool == Tool::Hey,
        Program::Oha => tool == Tool::Oha,
        Program::Bombardier => tool == Tool::Bombardier,
        Program::Vegeta => tool == Tool::Vegeta,
        Program::Siege => tool == Tool::Siege,
    }
}

/// The line it begins with is no heading that others have as well.
pub fn says_that_it_runs(tool: Tool) -> bool {
    tool.is_ab_like() || matches!(tool, Tool::Wrk | Tool::Wrk2 | Tool::H2load | Tool::Bombardier)
}

/// The line with which a tool begins.
pub fn banner(line: &str) -> Option<Tool> {
    if line.contains("This is ablaze, Version") {
        return Some(Tool::AblazeAb);
    }
    line.contains("This is ApacheBench").then_some(Tool::Ab)
}
