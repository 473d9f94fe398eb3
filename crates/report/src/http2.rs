//! What a run's HTTP/2 was, in words: for every report that is read by people.

use ablaze_engine::Run;

use crate::number::{counted, grouped, significant};

/// How many streams were in flight, and what the server said about them; `None` with HTTP/1.
pub fn in_words(run: &Run) -> Option<Vec<String>> {
    let (asked, facts) = (run.plan.http2?, run.record.http2.as_ref()?);
    let places = u64::from(asked.streams) * u64::from(run.plan.load.connections());
    let mut items = Vec::new();
    if run.elapsed_ns > 0 {
        let mean = significant(run.record.in_flight_ns as f64 / run.elapsed_ns as f64, 1);
        items.push(match run.plan.load.is_open() {
            true => format!("{mean} streams in flight on average"),
            false => format!("{mean} of {} in flight on average", counted(places, "stream")),
        });
    }
    if let Some(permitted) = facts.streams_permitted {
        items.push(format!(
            "the server permits {} at once on a connection, {} were asked for",
            counted(permitted.into(), "stream"),
            grouped(asked.streams.into())
        ));
    }
    if facts.goaways > 0 {
        let why = facts.first_goaway.as_ref().map(|why| format!(" (first error: {why})"));
        let times = counted(facts.goaways, "connection");
        items.push(format!("GOAWAY on {times}{}", why.unwrap_or_default()));
    }
    if let Some((_, words)) = &facts.first_failure {
        items.push(format!("first failure: {words}"));
    }
    (!items.is_empty()).then_some(items)
}
