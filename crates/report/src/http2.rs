//! What a run's HTTP/2 was, in words: for every report that is read by people.

use ablaze_model::Run;
use ablaze_model::record::{Codes, Http2Facts, WindowWaits};

use crate::number::{counted, grouped, percent, significant, time};

/// How many streams were in flight, and what the server said about them; `None` with HTTP/1.
pub fn in_words(run: &Run) -> Option<Vec<String>> {
    let (asked, facts) = (run.plan.http2?, run.record.http2.as_ref()?);
    // A server that never spoke HTTP/2 had no streams.
    let spoken = run.record.responses > 0 || facts.settings.is_some();
    let mut items: Vec<String> =
        streams_in_flight(run, asked.streams, spoken).into_iter().collect();
    items.extend(facts.streams_permitted.map(|most| permitted(run, most.into(), asked.streams)));
    items.extend(limits(run, facts));
    if facts.goaways > 0 {
        let times = counted(facts.goaways, "connection");
        let last = facts.last_goaway_said.as_ref().map(|said| {
            format!(
                ", last debug message: \
            {said}"
            )
        });
        let codes = codes(&facts.goaway_codes);
        items.push(format!("GOAWAY on {times}{codes}{}", last.unwrap_or_default()));
    }
    if facts.resets.total() > 0 {
        let times = counted(facts.resets.total(), "stream");
        items.push(format!("{times} reset by the server{}", codes(&facts.resets)));
    }
    if facts.refused_again > 0 {
        let times = counted(facts.refused_again, "request");
        items.push(format!("{times} refused again after being sent again"));
    }
    items.extend(stream_waits(run));
    items.extend(waits(run, &facts.waits));
    if let Some((_, words)) = &facts.first_failure {
        items.push(format!("first failure: {words}"));
    }
    (!items.is_empty()).then_some(items)
}

/// What else the server limits, where a request can feel it: windows and frames limit bodies.
fn limits(run: &Run, facts: &Http2Facts) -> Option<String> {
    let settings = facts.settings?;
    // The bytes of requests are not saved with a run.
    let uploads = run.plan.requests.has_body;
    let mut limits = Vec::new();
    if let Some(streams) = settings.streams_max.filter(|_| facts.streams_permitted.is_none()) {
        limits.push(counted(streams.into(), "stream"));
    }
    if uploads {
        limits.push(format!("windows of {} B", grouped(settings.stream_window_bytes.into())));
        limits.push(format!("frames of {} B", grouped(settings.payload_bytes_max.into())));
    }
    if let Some(bytes) = settings.header_list_bytes {
        limits.push(format!("heads of {} B", grouped(bytes.into())));
    }
    (!limits.is_empty()).then(|| format!("the server permits {}", limits.join(", ")))
}

/// ` (199 × NO_ERROR, 1 × ENHANCE_YOUR_CALM)`.
fn codes(codes: &Codes) -> String {
    let named: Vec<String> =
        codes.named().map(|(name, times)| format!("{} × {name}", grouped(times))).collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

/// How many streams there were at a time, of those that were asked for; `None` where the server never said a word of the
/// protocol.
pub(crate) fn streams_in_flight(run: &Run, streams: u32, spoken: bool) -> Option<String> {
    // Who waits for a stream has none in flight.
    let spoken = spoken && run.record.without_stream().total() == 0;
    (run.elapsed_ns > 0 && spoken).then(|| {
        let mean = significant(run.record.in_flight_ns as f64 / run.elapsed_ns as f64, 1);
        let places = u64::from(streams) * u64::from(run.plan.load.connections());
        match run.plan.load.is_open() {
            true => format!("{mean} streams in flight on average"),
            false => format!("{mean} of {} in flight on average", counted(places, "stream")),
        }
    })
}

/// Of several limits the lowest is kept: where more streams were in flight than it permits, it was not that of all connections, or
/// not all the time.
fn permitted(run: &Run, most: u64, asked: u32) -> String {
    let connections = u128::from(run.plan.load.connections());
    let of_all_ns = u128::from(most) * connections * u128::from(run.elapsed_ns);
    match run.record.in_flight_ns * 100 > of_all_ns * 105 {
        true => format!(
            "at least for a time the server permitted no more than {} at once on a connection, {} were requested",
            counted(most, "stream"),
            grouped(asked.into())
        ),
        false => streams_permitted(most, asked),
    }
}

/// How many streams the server permits, where that is fewer than were asked for.
pub(crate) fn streams_permitted(permitted: u64, asked: u32) -> String {
    format!(
        "the server permits {} at once per connection, {} were requested",
        counted(permitted, "stream"),
        grouped(asked.into())
    )
}

/// How many requests waited because all streams were in use; the table of latencies says how long.
pub(crate) fn stream_waits(run: &Run) -> Option<String> {
    let waited = run.record.stream_wait.as_deref()?;
    Some(format!("{} waited for a free stream", counted(waited.count(), "request")))
}

/// How long bodies waited for windows, as a share of the time of all requests.
pub(crate) fn waits(run: &Run, waits: &WindowWaits) -> Option<String> {
    (waits.times() > 0).then(|| {
        let share = percent(waits.total_ns() as f64, run.record.in_flight_ns as f64);
        format!(
            "bodies waited {} for the window of their stream and {} for the connection's: {share} \
             of the requests' time, at most {} without a break",
            counted(waits.stream_times, "time"),
            counted(waits.connection_times, "time"),
            time(waits.longest_ns as f64)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn everything_the_server_did_is_said_with_its_number() {
        let run = sample::over_http2();
        let words = in_words(&run).unwrap().join("; ");
        for part in [
            "of 200 streams in flight on average",
            "the server permits 10 streams at once per connection, 20 were requested",
            "the server permits heads of 16,384 B",
            "GOAWAY on 3 connections (2 × NO_ERROR, 1 × ENHANCE_YOUR_CALM), last debug message: too many",
            "5 streams reset by the server (4 × REFUSED_STREAM, 1 × error code 0x63)",
            "2 requests refused again after being sent again",
            "bodies waited 7 times for the window of their stream and 1 time for the connection's: ",
            "at most 2.00 ms without a break",
        ] {
            assert!(words.contains(part), "{part:?} is not in {words}");
        }
    }

    #[test]
    fn a_limit_that_was_exceeded_was_not_in_force_all_the_time() {
        let mut run = sample::over_http2();
        let places = 15 * u128::from(run.plan.load.connections());
        run.record.in_flight_ns = places * u128::from(run.elapsed_ns);
        let words = in_words(&run).unwrap().join("; ");
        assert!(words.contains("at least for a time the server permitted no more than 10 streams"));
        assert!(!words.contains("permits 10 streams"), "{words}");
    }
}
