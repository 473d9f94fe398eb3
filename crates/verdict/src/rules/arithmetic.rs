//! What several rules compute from a report.

use crate::diagnosis::d02_no_response::SHORTEST_RESPONSE_BYTES;
use crate::printed::{Command, Connections, DONE, DRAWN_S, Printed, Report, Times, Tool};

/// bombardier draws its progress once in this time, and last after the last response: the length that it shows is up to so
/// much longer than the run.
const TICK_MS: f64 = 200.0;
/// Of fewer of them nothing follows.
const FEWEST_TICKS: f64 = 10.0;

/// Of fewer responses for each connection, those that had not come at the end are a large part.
const FEWEST_EACH: u64 = 5;

/// Requests in flight on average, by Little's law: rate × mean time. A lower and an upper bound,
/// as the mean was rounded when it was printed. `None` unless the tool measured a mean.
///
/// siege prints it, finer than its mean.
pub fn in_flight(report: &Report) -> Option<(f64, f64)> {
    if let Some(printed) = printed_in_flight(report) {
        return Some((printed.low(), printed.high()));
    }
    let mean_ms = report.mean_ms()?;
    let (least, most) = match rate_over_all(report) {
        Some(rate) => (rate, rate),
        None => by_whole_seconds(report)?.rates,
    };
    Some((least * mean_ms.low() / 1e3, most * mean_ms.high() / 1e3))
}

/// What siege prints as its concurrency: the times of all transactions, divided by the length of the run.
pub fn printed_in_flight(report: &Report) -> Option<Printed> {
    let is_siege_s = report.tool == Tool::Siege && report.failed == Some(0);
    report.own("the concurrency").filter(|_| is_siege_s)
}

/// The rate over the whole run. bombardier's `Reqs/sec` is a mean of samples: over the run it is the rate beside the
/// progress, of a run that is long enough for one, or the count by the length.
pub fn rate_over_all(report: &Report) -> Option<f64> {
    match report.tool {
        Tool::Bombardier => match drawn_ms(report) {
            Some(_) => report.own("the rate beside the progress").map(|rate| rate.value),
            None => report.rate_by_count(),
        },
        _ => report.rate(),
    }
}

/// How long a run of bombardier's took by its progress: all that ended, by the rate beside it.
fn drawn_ms(report: &Report) -> Option<f64> {
    let rate = report.own("the rate beside the progress").filter(|rate| rate.value > 0.0)?;
    let ended = report.complete?.saturating_add(report.failed.unwrap_or(0));
    let ms = ended as f64 * 1e3 / rate.low();
    (ms >= TICK_MS * FEWEST_TICKS).then_some(ms)
}

/// All of a run of bombardier's by a count, in the time beside its finished progress.
pub struct ByWholeSeconds {
    pub requests: u64,
    pub seconds: f64,
    /// Requests per second, at least and at most.
    pub rates: (f64, f64),
}

/// Older versions print no rate beside their progress: the time there is cut to whole seconds (cheggaaa/pb v1, `write`).
pub fn by_whole_seconds(report: &Report) -> Option<ByWholeSeconds> {
    let seconds = report.own(DRAWN_S).filter(|_| report.taken_s.is_none())?.value;
    let done = report.own(DONE)?.value;
    let requests = report.complete?.saturating_add(report.failed.unwrap_or(0));
    let whole = done == requests as f64 && seconds * 1e3 >= TICK_MS * FEWEST_TICKS;
    let rates = (requests as f64 / (seconds + 1.0), requests as f64 / seconds);
    whole.then_some(ByWholeSeconds { requests, seconds, rates })
}

/// The length of the run, and how much shorter it may have been: bombardier prints none where it ends by a count.
fn taken_ms(report: &Report) -> Option<(f64, f64)> {
    if let Some(taken) = report.taken_s {
        return Some((taken.high() * 1e3, 0.0));
    }
    let drawn = drawn_ms(report).or_else(|| Some(by_whole_seconds(report)?.seconds * 1e3));
    Some((drawn?, TICK_MS))
}

/// The most that may have been in flight on average while all connections had requests to send: before the
/// first was sent they were opened, and a slow request may have been the last one, alone.
pub fn most_in_flight(report: &Report) -> Option<f64> {
    let (_, high) = in_flight(report)?;
    // The slowest are in the rate, and not in the mean.
    if report.socket_errors.is_some_and(|errors| errors.timeout > 0) {
        return None;
    }
    let Some((taken_ms, shorter_ms)) = taken_ms(report) else {
        return report.tool.has_ab_labels().then_some(high);
    };
    let max = |times: Option<Times>| times.and_then(|row| row.max_ms).map_or(0.0, Printed::high);
    let (connect, total) = (max(report.connect), report.max_ms().map_or(0.0, Printed::high));
    // ab has the connect in the total.
    let connect = if report.tool.has_ab_labels() { 0.0 } else { connect };
    let timed = is_timed(report);
    // These have no times of requests that failed, of which one may have been the last.
    let untimed = report.failed != Some(0) && !report.tool.has_ab_labels();
    if untimed && !timed {
        return None;
    }
    let last_ms = if timed { 0.0 } else { total };
    let room_ms = taken_ms - shorter_ms - connect - last_ms;
    if room_ms <= 0.0 { None } else { Some(high * taken_ms / room_ms + under_way_at_end(report)?) }
}

/// Whether the run ended by the clock.
fn is_timed(report: &Report) -> bool {
    report.asked_s.is_some() || report.command.as_ref().is_some_and(|line| line.timed)
}

/// How many more may have been in flight on average, as far as the times of those are in none of the figures that had no
/// response when the clock ended the run: one for each place, each for as long as the longest that came. Where many came for
/// each, these are few.
pub fn under_way_at_end(report: &Report) -> Option<f64> {
    let (asked, complete) = (report.asked().unwrap_or(1), report.complete.unwrap_or(0));
    if !is_timed(report) || complete >= asked.saturating_mul(FEWEST_EACH) {
        return Some(0.0);
    }
    let (taken_ms, _) = taken_ms(report)?;
    Some(asked as f64 * report.max_ms()?.high() / taken_ms)
}

/// No byte came back for any request.
pub fn nothing_came_back(report: &Report) -> bool {
    counts_all_bytes(report)
        && report.total_bytes == Some(0)
        && report.complete.is_some_and(|complete| complete > 0)
}

/// Whether all that came is less than the shortest heads, so that ab's `Non-2xx responses` are what it takes for one: anything
/// that has no status of 2xx in its place.
pub fn has_hardly_heads(report: &Report) -> bool {
    let per_request = report.bytes_per_request();
    report.tool.is_ab_like()
        && report.body_bytes == Some(0)
        && per_request.is_some_and(|bytes| (0.0..SHORTEST_RESPONSE_BYTES).contains(&bytes))
}

/// h2load counts no bytes on connections that it opens again, and a request as complete only with a response.
pub fn counts_all_bytes(report: &Report) -> bool {
    report.tool != Tool::H2load
}

/// Bytes of the request, where they are known: what was sent, divided by the requests; else what
/// ab 2.3 sends when nothing but the URL and `-k` was given.
pub fn request_bytes(report: &Report) -> Option<f64> {
    if !report.tool.is_ab_like() || report.command.as_ref().is_some_and(|c| !c.plain_request) {
        return None;
    }
    if let Some(sent) = report.sent_bytes {
        return Some(sent as f64 / report.complete.filter(|complete| *complete > 0)? as f64);
    }
    let (host, port) = (report.host.as_deref()?, report.port?);
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let default_port = if report.tls { 443 } else { 80 };
    let authority = if port == default_port { host } else { format!("{host}:{port}") };
    let keep = match report.connections {
        Connections::Kept(_) => "Connection: Keep-Alive\r\n",
        _ => "",
    };
    let request = format!(
        "GET {} HTTP/1.0\r\n{keep}Host: {authority}\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n",
        report.path.as_deref()?
    );
    Some(request.len() as f64)
}

/// How many requests took the longest time, if all others took the mean: from the deviation, as
/// `deviation² × (n - 1) / (longest - mean)²`. With the least and the most that the rounding of
/// the deviation permits.
pub fn slow_requests(times: &Times, complete: u64) -> Option<(f64, f64, f64)> {
    let (deviation, mean, max) = (times.deviation_ms?, times.mean_ms?, times.max_ms?);
    let above_mean_ms = max.value - mean.value;
    if above_mean_ms <= 0.0 {
        return None;
    }
    let others = complete.saturating_sub(1) as f64;
    let slow = |deviation_ms: f64| deviation_ms.powi(2) * others / above_mean_ms.powi(2);
    Some((slow(deviation.low()), slow(deviation.value), slow(deviation.high())))
}

/// The URL as far as it is printed; of a pattern each request has another.
pub fn url(report: &Report) -> Option<String> {
    let several = |command: &Command| command.is_pattern || command.has_more_urls;
    if report.command.as_ref().is_some_and(several) {
        return None;
    }
    // Of handshakes that all failed ab's report has no line on TLS.
    let tls = report.tls || report.handshakes.failed > 0;
    let scheme = if tls { "https" } else { "http" };
    let (host, port) = (report.host.as_deref()?, report.port?);
    let default_port = if tls { 443 } else { 80 };
    let port = if port == default_port { String::new() } else { format!(":{port}") };
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    Some(format!("{scheme}://{host}{port}{}", report.path.as_deref().unwrap_or("/")))
}

/// gurl writes times it has cut down to whole ms, where others round.
pub fn cuts_times(report: &Report) -> bool {
    report.tool == Tool::Gurl
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn ab_s_request_is_counted_to_the_byte() {
        // 16 + 23 + 29 + 13 + 2, counted by hand.
        let mut report = sample::ab();
        report.host = Some("localhost".into());
        report.port = Some(12345);
        report.path = Some("/".into());
        report.connections = Connections::PerRequest;
        assert_eq!(request_bytes(&report), Some(83.0));
        report.port = Some(80);
        assert_eq!(request_bytes(&report), Some(77.0));
        report.connections = Connections::Kept(Some(1));
        assert_eq!(request_bytes(&report), Some(101.0));
    }

    #[test]
    fn slow_requests_follow_from_the_deviation() {
        // 200 of 1,000,000 took 3615 ms, the others 12: by the definition of the deviation
        // 3603² × 200 / 999,999 = 50.954².
        let times = sample::times(7.0, 12.0, 50.954, 10.0, 3615.0);
        let (_, slow, _) = slow_requests(&times, 1_000_000).unwrap();
        assert!((slow - 200.0).abs() < 0.1, "{slow}");
    }
}
