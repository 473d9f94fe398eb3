//! What a run's HTTP/3 was, and the QUIC below it, in words: for every report that is read by people.

use ablaze_model::Run;
use ablaze_model::plan::alternative::Alternative;
use ablaze_model::plan::proxy::authority;
use ablaze_model::printable::printable;
use ablaze_model::record::{
    DatagramTraffic, Http3Facts, NamedCounts, QuicFacts, QuicHandshakes, Spread,
};

use crate::http2::{stream_waits, streams_in_flight, streams_permitted, waits};
use crate::number::{bytes, counted, grouped, percent, significant, time};
use crate::system_error::reason;

/// How many streams were in flight, and what the server said about them; `None` with another version.
pub fn in_words(run: &Run) -> Option<Vec<String>> {
    let (asked, facts) = (run.plan.http3?, run.record.http3.as_ref()?);
    let spoken = run.record.responses > 0 || facts.quic.handshakes > 0;
    let mut items: Vec<String> =
        streams_in_flight(run, asked.streams, spoken).into_iter().collect();
    items.extend(followed(run));
    items.extend(permitted(facts, asked.streams));
    if facts.goaways > 0 {
        items.push(format!("GOAWAY on {}", counted(facts.goaways, "connection")));
    }
    let closed = total(&facts.closes);
    if closed > 0 {
        let said = facts.first_close.as_ref();
        let said = said.map(|said| format!(", the first: {}", printable(said)));
        items.push(format!(
            "{} closed by the server{}{}",
            counted(closed, "connection"),
            names(&facts.closes),
            said.unwrap_or_default()
        ));
    }
    let reset = total(&facts.resets);
    if reset > 0 {
        let times = counted(reset, "stream");
        items.push(format!("{times} reset by the server{}", names(&facts.resets)));
    }
    if facts.refused_again > 0 {
        let times = counted(facts.refused_again, "request");
        items.push(format!("{times} refused again after being sent again"));
    }
    items.extend(stream_waits(run));
    items.extend(waits(run, &facts.waits));
    if let Some((_, words)) = &facts.first_failure {
        items.push(format!("first failure: {}", printable(words)));
    }
    (!items.is_empty()).then_some(items)
}

/// How many streams the server permitted, where it began with fewer than were asked for.
fn permitted(facts: &Http3Facts, asked: u32) -> Option<String> {
    let first = facts.streams_permitted?;
    let last = facts.streams_at_last.filter(|last| *last > first);
    Some(match last {
        None => streams_permitted(first, asked),
        Some(last) => format!(
            "the server permitted {} at once per connection at first and {} after {}, {} were requested",
            counted(first, "stream"),
            grouped(last),
            time(facts.streams_raised_ns as f64),
            grouped(asked.into())
        ),
    })
}

/// `at b.example:8443 by the server's Alt-Svc (h3="b.example:8443"; ma=60)`.
fn followed(run: &Run) -> Option<String> {
    let Alternative { host, port, max_age_s, field } = run.plan.target.alternative.as_ref()?;
    // The name may be any text of the server's.
    let place = authority(&printable(host), *port);
    let stale = match u128::from(*max_age_s) * 1_000_000_000 < u128::from(run.elapsed_ns) {
        true => ", which was true for less time than the run took",
        false => "",
    };
    Some(format!("at {place} by the server's Alt-Svc ({}){stale}", printable(field)))
}

/// Datagrams and the calls that carried them, what was lost and dropped, and how the connections ended; `None` with another
/// version, and where nothing was sent.
pub fn quic_in_words(run: &Run) -> Option<Vec<String>> {
    let quic = &run.record.http3.as_ref()?.quic;
    let mut items: Vec<String> = agreed(&quic.all_handshakes).into_iter().collect();
    if quic.sent.datagrams + quic.received.datagrams > 0 {
        items.push(datagrams(quic));
    }
    if quic.handshakes > 0 {
        let retries = match quic.retries {
            0 => String::new(),
            retries => format!(" ({} after Retry, a round trip more)", grouped(retries)),
        };
        // Those of the TLS line are all that there were, these those that the other figures contain.
        let handshakes = counted(quic.handshakes, "handshake");
        items.push(format!("{handshakes} in the measured time{retries}"));
    }
    items.extend(before_handshakes(&quic.all_handshakes));
    if quic.packets_sent > 0 {
        items.push(lost(quic));
    }
    let each = [
        ("round trip", quic.rtt_ns, time as fn(f64) -> String),
        ("congestion window", quic.window_bytes, bytes),
        ("datagrams of", quic.datagram_bytes, |size| format!("{} B", significant(size, 4))),
    ];
    items.extend(each.into_iter().filter_map(|(what, all, unit)| spread(what, all?, unit)));
    if quic.dropped_here > 0 {
        items.push(format!(
            "{} dropped here: the client's receive buffers were full",
            counted(quic.dropped_here, "datagram")
        ));
    }
    if quic.given_up > 0 {
        let times = counted(quic.given_up, "datagram");
        items.push(format!("{times} not sent: the client's kernel took none for too long"));
    }
    let missing =
        [("sent (UDP_SEGMENT", quic.no_segmentation), ("received (UDP_GRO", quic.no_coalescing)];
    for (what, errno) in missing {
        if let Some(errno) = errno {
            let why = reason(&std::io::Error::from_raw_os_error(errno));
            items.push(format!("several datagrams cannot be {what}: {why}) with one call"));
        }
    }
    (!items.is_empty()).then_some(items)
}

/// `version 1, h3`.
fn agreed(all: &QuicHandshakes) -> Option<String> {
    let protocol = all.protocol.as_ref().map(|name| format!(", {}", printable(name)));
    Some(format!("version {}{}", all.version?, protocol.unwrap_or_default()))
}

/// What handshakes waited for besides themselves, in the whole run: `Retry took 102 µs to 310 µs, mean 140 µs, of handshakes of
/// 1.4 ms on average`.
fn before_handshakes(all: &QuicHandshakes) -> Vec<String> {
    let in_vain = (all.incomplete_received > 0).then(|| {
        let came = counted(all.incomplete_received, "datagram");
        format!("{came} received in handshakes that were not completed")
    });
    let Some(whole) = all.whole_ns else { return in_vain.into_iter().collect() };
    let of = format!("of handshakes of {} on average", time(whole.mean()));
    let parts =
        [("until Retry", all.retry_ns), ("stopped at three times what was sent", all.limited_ns)];
    let said = |(what, spent): (&str, Option<Spread>)| {
        let spent = spent?;
        let times = format!("{} ({}×)", spread(what, spent, time)?, grouped(spent.count));
        Some(format!("{times} {of}"))
    };
    parts.into_iter().filter_map(said).chain(in_vain).collect()
}

/// `datagrams: 1,200,000 sent (68.7 MiB), 3,400,000 received (4.6 GiB); 14.2 and 22.1 per call`.
fn datagrams(quic: &QuicFacts) -> String {
    let per_call = |traffic: &DatagramTraffic| {
        traffic.per_call().map_or_else(|| "–".to_owned(), |each| significant(each, 3))
    };
    format!(
        "datagrams: {} sent ({}), {} received ({}); {} and {} per call",
        grouped(quic.sent.datagrams),
        bytes(quic.sent.bytes as f64),
        grouped(quic.received.datagrams),
        bytes(quic.received.bytes as f64),
        per_call(&quic.sent),
        per_call(&quic.received)
    )
}

fn lost(quic: &QuicFacts) -> String {
    let sent = counted(quic.packets_sent, "packet");
    match quic.packets_lost {
        0 => format!("none of {sent} lost"),
        lost => format!(
            "{} of {sent} lost ({})",
            grouped(lost),
            percent(lost as f64, quic.packets_sent as f64)
        ),
    }
}

/// `round trip 102 µs to 310 µs, mean 140 µs`; one figure where all connections have the same.
fn spread(what: &str, all: Spread, unit: impl Fn(f64) -> String) -> Option<String> {
    let (min, max) = (unit(all.min as f64), unit(all.max as f64));
    (all.count > 0).then(|| match min == max {
        true => format!("{what} {min}"),
        false => format!("{what} {min} to {max}, mean {}", unit(all.mean())),
    })
}

fn total(counts: &NamedCounts) -> u64 {
    counts.0.iter().map(|(_, times)| times).sum()
}

/// ` (4 × H3_REQUEST_REJECTED, 1 × H3_NO_ERROR)`.
fn names(counts: &NamedCounts) -> String {
    let named = counts.0.iter();
    let named: Vec<String> =
        named.map(|(name, times)| format!("{} × {}", grouped(*times), printable(name))).collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn everything_the_server_did_is_said_with_its_number() {
        let words = in_words(&sample::over_http3()).unwrap().join("; ");
        for part in [
            "of 200 streams in flight on average",
            "the server permits 10 streams at once per connection, 20 were requested",
            "GOAWAY on 3 connections",
            "2 connections closed by the server (2 × H3_EXCESSIVE_LOAD), the first: H3_EXCESSIVE_LOAD: too many",
            "5 streams reset by the server (4 × H3_REQUEST_REJECTED, 1 × H3_INTERNAL_ERROR)",
            "2 requests refused again after being sent again",
            "40 requests waited for a free stream",
            "bodies waited 7 times for the window of their stream and 1 time for the connection's: ",
        ] {
            assert!(words.contains(part), "{part:?} is not in {words}");
        }
    }

    #[test]
    fn datagrams_are_said_with_the_calls_they_took_and_with_what_was_lost() {
        let mut run = sample::over_http3();
        let words = quic_in_words(&run).unwrap().join("; ");
        for part in [
            "datagrams: 142,000 sent (40.1 MiB), 221,000 received (305 MiB); 14.2 and 22.1 per call",
            "version 1, h3",
            "10 handshakes in the measured time (3 after Retry, a round trip more)",
            "until Retry 100 µs to 300 µs, mean 200 µs (2×) of handshakes of 2.00 ms on average",
            "stopped at three times what was sent 200 µs (2×)",
            "9 datagrams received in handshakes that were not completed",
            "1,400 of 140,000 packets lost (1.0 %)",
            "round trip 100 µs to 300 µs, mean 200 µs",
            "datagrams of 1,452 B",
            "12 datagrams dropped here: the client's receive buffers were full",
            "5 datagrams not sent",
            "several datagrams cannot be received (UDP_GRO: protocol not available) with one call",
        ] {
            assert!(words.contains(part), "{part:?} is not in {words}");
        }
        run.record.http3.as_mut().unwrap().quic = QuicFacts::default();
        assert_eq!(quic_in_words(&run), None);
    }
}
