//! Where the time of a response went: its mean in parts that add up to it.

use ablaze_chart::{BarRow, Bars, Chart, Unit};
use ablaze_model::Run;
use ablaze_stats::Latency;

use crate::page::ShownRun;

/// Less than this share of a response's time is not drawn as a part of it.
const PART_FROM: f64 = 0.001;

/// Where the time of a response went, on average. `None` where all of it was one part.
pub fn phases(subjects: &[ShownRun<'_>]) -> Option<Chart> {
    let parts = [
        "waiting to be sent",
        "connect",
        "TLS",
        "waiting for a stream",
        "first attempts",
        "before it was sent",
        "wait for the first byte",
        "receive",
    ];
    let rows: Vec<(&ShownRun<'_>, [f64; 8])> = subjects
        .iter()
        .filter(|subject| subject.run.record.responses > 0)
        .map(|subject| (subject, mean_phases(subject.run)))
        .collect();
    let matters =
        |means: &[f64; 8], part: usize| means[part] > means.iter().sum::<f64>() * PART_FROM;
    let used: Vec<usize> = (0..parts.len())
        .filter(|part| rows.iter().any(|(_, means)| matters(means, *part)))
        .collect();
    if used.len() < 2 {
        return None;
    }
    let names: Vec<&str> = used.iter().map(|part| parts[*part]).collect();
    let mut bars = Bars::new("mean time of a response", Unit::TimeNs, &names);
    for (subject, means) in rows {
        let values: Vec<f64> = used.iter().map(|part| means[*part]).collect();
        bars.rows.push(BarRow::new(subject.name, subject.slot, &values));
    }
    Some(Chart::of("Where the time went", bars))
}

/// Mean time per response in each phase: what adds up to its latency. All requests that waited for a connection
/// have its time, which stands once in the distribution of connects; what is left is the time of first attempts, where
/// requests were sent again, else that from having a connection until it was sent. Those that waited because all streams were in use have that time in an open loop before they
/// were sent, in a closed loop within their total.
fn mean_phases(run: &Run) -> [f64; 8] {
    let answered = &run.record.answered;
    let responses = run.record.responses.max(1) as f64;
    let mean = |latency: &Latency| latency.sum_ns() as f64 / responses;
    let lag = answered.intended.as_ref().map_or(0.0, |intended| mean(&intended.lag));
    let total = mean(&answered.total);
    let connected = match answered.connections() {
        0 => 0.0,
        _ => (total - mean(&answered.processing)).max(0.0),
    };
    // Handshakes have the part of it that they have of the times of connections.
    let tls = answered.tls.as_ref().map_or(0.0, |tls| {
        let share = tls.handshake.sum_ns() as f64 / tls.connected.sum_ns().max(1) as f64;
        connected * share
    });
    let (wait, receive) = (mean(&answered.wait), mean(&answered.receive));
    let left = (total - connected - wait - receive).max(0.0);
    // Those that failed afterwards waited, too.
    let for_stream = run.record.stream_wait.as_deref().map_or(0.0, mean);
    let (lag, for_stream, left) = match run.plan.load.is_open() {
        true => (lag - for_stream.min(lag), for_stream.min(lag), left),
        false => (lag, for_stream.min(left), left - for_stream.min(left)),
    };
    // What a fresh connection, or one of many streams, still has to do or send first.
    let (attempts, before) = if run.record.repeated > 0 { (left, 0.0) } else { (0.0, left) };
    [lag, connected - tls, tls, for_stream, attempts, before, wait, receive]
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::{Arrivals, Load, RateProfile};

    use super::*;

    #[test]
    fn the_parts_of_a_response_add_up_to_its_mean() {
        let mut run = crate::sample::ordinary();
        let answered = &mut run.record.answered;
        answered.clear();
        (run.record.responses, run.record.repeated) = (4, 1);
        // Four waited 100 µs for one connection; one was first sent on another, for 80 µs.
        answered.connect.record(100_000);
        answered.wait.record_many(50_000, 4);
        answered.receive.record_many(10_000, 4);
        answered.processing.record_many(60_000, 3);
        answered.processing.record(140_000);
        answered.total.record_many(160_000, 3);
        answered.total.record(240_000);
        let means = mean_phases(&run);
        assert_eq!(means, [0.0, 100_000.0, 0.0, 0.0, 20_000.0, 0.0, 50_000.0, 10_000.0]);
        assert_eq!(means.iter().sum::<f64>(), answered_mean(&run));
    }

    /// Over HTTP/2 and HTTP/3 with TLS there is time between the end of a handshake and the request.
    #[test]
    fn the_time_until_a_request_was_sent_is_a_part_where_nothing_was_sent_again() {
        let mut run = crate::sample::ordinary();
        let answered = &mut run.record.answered;
        answered.clear();
        (run.record.responses, run.record.repeated) = (4, 0);
        answered.connect.record_many(100_000, 4);
        answered.wait.record_many(50_000, 4);
        answered.receive.record_many(10_000, 4);
        answered.processing.record_many(65_000, 4);
        answered.total.record_many(165_000, 4);
        let means = mean_phases(&run);
        assert_eq!(means, [0.0, 100_000.0, 0.0, 0.0, 0.0, 5_000.0, 50_000.0, 10_000.0]);
        let chart = phases(&[ShownRun::new("x", 0, &run)]).unwrap();
        assert!(chart.tables()[0].head.contains(&"before it was sent".to_owned()), "{chart:?}");
    }

    /// In an open loop before it was sent, in a closed loop since it was taken up (docs/json.md, `stream_wait_ns`).
    #[test]
    fn the_wait_for_a_stream_is_a_part_of_its_own() {
        let mut run = crate::sample::ordinary();
        run.record.answered.clear();
        (run.record.responses, run.record.repeated) = (4, 0);
        run.record.answered.wait.record_many(50_000, 4);
        run.record.answered.receive.record_many(10_000, 4);
        let mut waited = Latency::new(3);
        waited.record_many(40_000, 2);
        run.record.stream_wait = Some(Box::new(waited));
        let mut closed = run.clone();
        closed.record.answered.total.record_many(60_000, 2);
        closed.record.answered.total.record_many(100_000, 2);
        assert_eq!(mean_phases(&closed), [0.0, 0.0, 0.0, 20_000.0, 0.0, 0.0, 50_000.0, 10_000.0]);
        let mut open = run;
        open.record.answered.total.record_many(60_000, 4);
        open.plan.load = Load::Open {
            rate: RateProfile::constant(10.0),
            arrivals: Arrivals::Constant,
            connections: 1,
            bounded: true,
        };
        let due = open.record.answered.intended.get_or_insert_with(Default::default);
        due.lag = Latency::new(3);
        due.lag.record_many(30_000, 4);
        assert_eq!(
            mean_phases(&open),
            [10_000.0, 0.0, 0.0, 20_000.0, 0.0, 0.0, 50_000.0, 10_000.0]
        );
    }

    fn answered_mean(run: &ablaze_model::Run) -> f64 {
        run.record.answered.total.sum_ns() as f64 / 4.0
    }
}
