//! D14 in printed reports. vegeta prints how long it sent requests, and how long it then waited for the last responses.

use super::advice::longer;
use super::straggler;
use super::{CAUSE, FEW, LONG_S, SHORT_S, TOO_FEW, TOO_SHORT_S, gravity, per_connection};
use crate::DiagnosisId::D14;
use crate::diagnosis::d01_concurrency_not_reached::is_missed;
use crate::finding::Finding;
use crate::printed::{Connections, Report, Tool};
use crate::rules::arithmetic::nothing_came_back;
use crate::words::{amount, counted, decimal, grouped, percent, time};

/// From this share on, the time in which nothing was sent any more is noted, and suspected.
const WAITED: f64 = 0.1;
const WAITED_MOST: f64 = 0.5;

const WAIT_CAUSE: &str = "Such a run has other figures when it is longer. Where the target keeps up with the rate, the throughput \
                          comes near to it; where it does not, more requests wait, and each for longer. This report does not \
                          tell one from the other.";
/// From this share on, what was aborted at the deadline is told.
const ABORTED: f64 = 0.05;
/// Times that are no further apart than this did not grow.
const ALIKE: f64 = 1.1;

const WAIT_FIX: &str = "Attack for twice as long (-duration), several times the longest response at least. If the times grow with \
                        it, the target does not keep up: measure at a lower rate (-rate).";

/// vegeta sends no more requests per second than it is told.
fn longer_attack(report: &Report) -> Option<String> {
    let per_s = report.own("the rate of the attack").filter(|_| report.tool == Tool::Vegeta)?;
    let per_s = match report.complete {
        // It divides them by the time from the first to the last, in which there was one less; of one it prints the number.
        Some(1) => report.asked_per_s(),
        sent => Some(sent.unwrap_or(2) as f64).map(|sent| per_s.value * (sent - 1.0) / sent),
    };
    let needed_s = per_s.map(|per_s| FEW / per_s);
    let needed_s = needed_s.filter(|needed_s| needed_s.is_finite() && *needed_s > LONG_S)?;
    Some(format!(
        "Run until 100 requests or more were sent: for {} s at this rate (-duration={:.0}s).",
        grouped(needed_s.ceil() as u64),
        needed_s.ceil()
    ))
}

pub fn on_report(report: &Report) -> Option<Finding> {
    if report.complete == Some(0) {
        return None;
    }
    let attack_s = attack_s(report);
    let taken_s = attack_s.or(report.taken_s.map(|taken| taken.value));
    let mut severity = None;
    let mut evidence = Vec::new();
    if let Some(taken_s) = taken_s.filter(|taken_s| *taken_s < SHORT_S) {
        severity = severity.max(Some(gravity(taken_s < TOO_SHORT_S)));
        let what = if attack_s.is_some() { "attack" } else { "run" };
        evidence.push(format!("The {what} took {} s.", decimal(taken_s, 3)));
    }
    if let (None, Some(about_s)) = (taken_s, by_count(report).filter(|s| *s < SHORT_S)) {
        severity = severity.max(Some(gravity(about_s < TOO_SHORT_S)));
        let by = match report.tool {
            Tool::Bombardier if beside_progress(report).is_some() => "By its progress",
            Tool::Bombardier => "By count and `Reqs/sec`, which is a mean of samples,",
            _ => "By count and rate",
        };
        evidence.push(format!("{by} the run took about {}.", time(about_s * 1e3)));
    }
    // A report that was cut off may have its length alone.
    let few = report.complete.and_then(|complete| few(report, complete));
    if let Some((few, too_few, _)) = &few {
        severity = severity.max(Some(gravity(*too_few)));
        evidence.push(few.clone());
    }
    let left_out = aborted(report).or_else(|| under_way(report));
    // Where most places had nothing (D01) there are not too few requests for each, and yet these are missing.
    let is_told = severity.is_some() || is_missed(report);
    if let Some(left_out) = left_out.filter(|_| is_told) {
        severity = severity.max(Some(gravity(false)));
        evidence.push(left_out);
    }
    let length_s = taken_s.or(by_count(report)).filter(|length_s| *length_s > 0.0);
    let mut wanted = few.map(|(_, _, wanted)| wanted);
    if let Some((said, needed_s)) = straggler::found(report) {
        severity = severity.max(Some(gravity(true)));
        evidence.push(said);
        let by_then = report.rate().map(|rate| rate * needed_s);
        wanted = wanted.into_iter().chain(by_then).reduce(f64::max);
    }
    let in_places = wanted.is_some() && !report.open_loop;
    let in_general = || longer(report, keeps(report), length_s, wanted, in_places);
    let (mut cause, mut fix) = (CAUSE.to_owned(), longer_attack(report).unwrap_or_else(in_general));
    if let Some((waited, too_long)) = waited(report) {
        severity = severity.max(Some(gravity(too_long)));
        evidence.push(waited);
        let (why, longer) = why_waited(report);
        (cause, fix) = (why, longer.to_owned());
    }
    Some(Finding::new(D14, severity?, evidence.join(" "), cause, fix))
}

/// oha has the requests in its rate that were under way when the time was up, and got no response: in a short run they are a
/// large part.
fn aborted(report: &Report) -> Option<String> {
    let aborted = report.own("the number aborted at the deadline")?.value;
    let (complete, taken) = (report.complete?, report.taken_s?);
    let came = complete as f64 - aborted;
    (aborted >= complete as f64 * ABORTED && came >= 0.0 && taken.value > 0.0).then(|| {
        format!(
            "{} of {} ({}) were under way when the time was up, and got no response: oha has them in its rate, which is {}/s \
             without them.",
            grouped(aborted as u64),
            counted(complete, "request"),
            percent(aborted / complete as f64),
            decimal(came / taken.value, 2)
        )
    })
}

/// h2load says how many requests it sent, also of those that had no response when the time was up.
fn under_way(report: &Report) -> Option<String> {
    let exact = |name| Some(report.own(name)?.value as u64);
    let (started, done) = (exact("the number started")?, exact("the number done")?);
    // h2load has requests among those done that broke with their connection.
    let broke = exact("the number with a status").is_none_or(|whole| done > whole);
    let left = started.checked_sub(done).filter(|_| report.tool == Tool::H2load && !broke)?;
    (left as f64 >= started as f64 * ABORTED && left > 0).then(|| {
        format!(
            "Of {} that were sent, {} ({}) had no response when the run ended: they are in none of the times, and not in the rate.",
            counted(started, "request"),
            grouped(left),
            percent(left as f64 / started as f64)
        )
    })
}

/// How long vegeta sent requests. Of one it prints 0.
pub fn attack_s(report: &Report) -> Option<f64> {
    let attack = report.own("the length of the attack").filter(|_| report.tool == Tool::Vegeta);
    attack.map(|attack| attack.value).filter(|attack_s| *attack_s > 0.0)
}

/// Whether connections may have carried more than one request each.
fn keeps(report: &Report) -> bool {
    !matches!(report.connections, Connections::PerRequest | Connections::Kept(Some(0)))
}

/// Too few requests for each connection, or in all where they are sent on a schedule; whether far too few, and how many
/// are wanted.
fn few(report: &Report, complete: u64) -> Option<(String, bool, f64)> {
    if report.open_loop {
        let said = format!("It had {}.", counted(complete, "request"));
        return (complete < FEW as u64).then_some((said, complete < TOO_FEW as u64, FEW));
    }
    // On how many connections requests went that got nothing does not show: nothing may have listened.
    let all_failed = report.failed.is_some_and(|failed| failed >= complete);
    if nothing_came_back(report) || all_failed && !report.tool.is_ab_like() {
        return None;
    }
    let asked = report.asked_connections().filter(|_| !is_missed(report)).unwrap_or(1);
    let each = complete as f64 / asked.max(1) as f64;
    let said = || match report.connections {
        // What the server closes most tools open again, and do not say so.
        Connections::Unknown if asked > 1 => format!(
            "{}, on up to {} at a time, is {} for each of these.",
            counted(complete, "request"),
            counted(asked, "connection"),
            amount(each)
        ),
        _ => per_connection(complete, asked, keeps(report)),
    };
    (asked > 1 && each < FEW).then(|| (said(), each < TOO_FEW, FEW * asked as f64))
}

/// That vegeta waited for a large part of the run, and whether for most of it.
fn waited(report: &Report) -> Option<(String, bool)> {
    // Without a response there is no throughput, and the client's timeout ended what was waited for.
    if report.complete.is_some() && report.failed >= report.complete {
        return None;
    }
    let attack_s = attack_s(report)?;
    let wait_s = report.own("the wait at its end")?.value;
    let all_s = attack_s + wait_s;
    let share = wait_s / all_s;
    if share <= WAITED {
        return None;
    }
    let throughput = report.own("the rate of the good responses").map_or(String::new(), |per_s| {
        format!(": the throughput, {}/s, is that of the whole time", decimal(per_s.value, 2))
    });
    let mut said = format!(
        "In the last {} of {} s ({}) nothing was sent, and responses were waited for{throughput}.",
        decimal(wait_s, 3),
        decimal(all_s, 3),
        percent(share)
    );
    if let Some(median) = report.median_ms().filter(|median| median.low() > attack_s * 1e3) {
        said.push_str(&format!(
            " Half of the requests took {} or longer, and the attack {}: they had no response when the last was sent.",
            time(median.value),
            time(attack_s * 1e3)
        ));
    }
    Some((said, share >= WAITED_MOST))
}

/// What the times say of the wait, and what to do.
fn why_waited(report: &Report) -> (String, &'static str) {
    const LONGER: &str =
        "Attack for twice as long (-duration), several times the longest response at least.";
    let times = report.total.unwrap_or_default();
    if let (Some(min), Some(max)) = (times.min_ms, times.max_ms)
        && max.value <= min.value * ALIKE
    {
        if report.failed != Some(0) {
            // What a timeout ends does not grow.
            return (WAIT_CAUSE.to_owned(), LONGER);
        }
        let cause = format!(
            "All requests took {} to {}, whenever they were sent: the times did not grow, and what was waited for is about \
             one response. The longer the attack, the less of the whole time is that.",
            time(min.value),
            time(max.value)
        );
        return (cause, LONGER);
    }
    let wait_ms = report.own("the wait at its end").map_or(0.0, |wait| wait.value * 1e3);
    match report.percentile(99.0).filter(|most| most.value <= wait_ms * WAITED) {
        Some(most) => {
            let cause = format!(
                "99 % of the requests took {} or less: the wait was for some of the others, which are few. Why these took \
                 longer is not in the report.",
                time(most.value)
            );
            (cause, LONGER)
        }
        None => (WAIT_CAUSE.to_owned(), WAIT_FIX),
    }
}

/// The length of a run of which count and rate alone are printed, in s.
fn by_count(report: &Report) -> Option<f64> {
    let rate = report.rate_per_s.filter(|rate| rate.value > 0.0)?;
    let complete = report.complete?;
    if report.tool != Tool::Bombardier {
        return Some(complete as f64 / rate.value);
    }
    let ended = complete.saturating_add(report.failed.unwrap_or(0)) as f64;
    if let Some(per_s) = beside_progress(report) {
        return Some(ended / per_s);
    }
    // Its samples may be of parts of other lengths, but no connection had more than one request at a time.
    let places = report.asked_connections().filter(|places| *places > 0);
    let busy_s =
        report.mean_ms().zip(places).map(|(ms, places)| ended * ms.low() / 1e3 / places as f64);
    Some((ended / rate.value).max(busy_s.unwrap_or(0.0)))
}

/// The rate that bombardier prints beside its progress is all that ended by the time until then, up to a tick too long.
fn beside_progress(report: &Report) -> Option<f64> {
    report.own("the rate beside the progress").map(|rate| rate.value).filter(|per_s| *per_s > 0.0)
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D14;
    use crate::printed::read;
    use crate::rules::judge;

    fn evidence(text: &str) -> String {
        let findings = judge(&read(text)).reports.remove(0).findings;
        findings.into_iter().find(|one| one.id == D14).map(|one| one.evidence).unwrap_or_default()
    }

    /// A server that closes each: h2load opens another, and prints nothing of it.
    #[test]
    fn what_a_tool_does_not_print_of_its_connections_is_not_said() {
        let said = evidence(
            "starting benchmark...\nspawning thread #0: 10 total client(s). 500 total requests\nApplication protocol: http/1.1\n\n\
             finished in 747.55ms, 668.86 req/s, 0B/s\n\
             requests: 500 total, 500 started, 500 done, 500 succeeded, 0 failed, 0 errored, 0 timeout\n\
             status codes: 500 2xx, 0 3xx, 0 4xx, 0 5xx\n",
        );
        let expected =
            "500 requests, on up to 10 connections at a time, is 50.0 for each of these.";
        assert!(said.ends_with(expected), "{said}");
    }

    /// 100 connections to a server that serves 8 at a time.
    #[test]
    fn requests_that_h2load_left_unanswered_are_named() {
        let said = evidence(
            "starting benchmark...\nspawning thread #0: 100 total client(s). Timing-based test with 0s of warm-up time and 5s of main duration for \
             measurements.\nApplication protocol: http/1.1\n\nfinished in 5.01s, 0.80 req/s, 51B/s\n\
             requests: 4 total, 104 started, 4 done, 4 succeeded, 0 failed, 0 errored, 0 timeout\n\
             status codes: 4 2xx, 0 3xx, 0 4xx, 0 5xx\n",
        );
        let expected = "Of 104 requests that were sent, 100 (96 %) had no response";
        assert!(said.contains(expected), "{said}");
    }

    #[test]
    fn where_nothing_came_back_nothing_is_said_of_connections() {
        let with = |failed: u64| {
            let text = format!(
                "$ hey -n 200 -c 10 http://10.0.0.5/\n\nSummary:\n  Total:\t0.0071 secs\n  Requests/sec:\t28169.0141\n\nStatus code \
                 distribution:\n  [200]\t{} responses\n\nError distribution:\n  [{failed}]\tGet \"http://10.0.0.5/\": dial tcp \
                 10.0.0.5:80: connect: connection refused\n",
                200 - failed
            );
            super::few(&crate::printed::read(&text).reports[0], 200)
        };
        assert!(with(20).is_some());
        assert!(with(200).is_none());
    }

    /// Of 698 that were sent 300 had a response, and 212 of those that broke count as done.
    #[test]
    fn requests_that_broke_are_none_that_the_end_of_the_run_cut_off() {
        let with = |requests: &str| {
            let text = format!(
                "$ h2load -n 2000 -c 2 -m 200 https://10.0.0.5/\nfinished in 5.51ms, 54466.23 req/s, 3.76MB/s\nrequests: {requests}\n\
                 status codes: 300 2xx, 0 3xx, 0 4xx, 0 5xx\n"
            );
            super::under_way(&crate::printed::read(&text).reports[0])
        };
        let broke = "2000 total, 698 started, 512 done, 300 succeeded, 1700 failed, 1700 errored, 0 timeout";
        assert_eq!(with(broke), None);
        let cut = "698 total, 698 started, 300 done, 300 succeeded, 0 failed, 0 errored, 0 timeout";
        assert!(with(cut).is_some_and(|said| said.contains("398")), "{:?}", with(cut));
    }
}
