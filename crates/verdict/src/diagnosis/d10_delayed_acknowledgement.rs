//! D10: the end of a response came 40 ms after its beginning: the server sent them apart, with Nagle's
//! algorithm on, and the second waited for the client's delayed acknowledgement of the first.

use ablaze_model::Run;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D10;
use crate::finding::{Finding, Severity};
use crate::live::figures::{client_counter, is_over_tcp, monitor};
use crate::live::timers::Cluster;
use crate::printed::{Connections, Document, Report};
use crate::words::{amount, counted, grouped, percent};

/// TCP_DELACK_MIN of Linux is 40 ms; ticks (10 ms where there are 100 in a second), and waiting for a
/// processor on a busy machine, come on top.
const FROM_NS: u64 = 38_000_000;
const TO_NS: u64 = 62_000_000;
/// What a server may send before the first acknowledgement: ten segments of an Ethernet (RFC 6928).
const FIRST_FLIGHT_BYTES: u64 = 14_480;
/// A lone response that took so long at the start of a run is something else.
const FEWEST: u64 = 10;
/// Below this share of the responses nothing is said.
const LEAST: f64 = 1e-4;
/// From here on it is in the 99 % time.
const MOVES_P99: f64 = 0.01;
/// From here on most responses wait, and other figures must show it too.
const MOST: f64 = 0.5;
/// So many responses that wait at any moment are seen at one of two looks (missed once in 400 times, e⁻⁶).
const WAITING_SEEN: f64 = 3.0;
/// Two segments of a response, where most have them.
const SEGMENTS: f64 = 1.5;
/// So much a server sends before anything is acknowledged: ten segments (RFC 6928). What is longer takes a round trip or more.
const AT_ONCE_BYTES: u64 = 14_480;

/// Nagle's algorithm holds back less than a full segment (RFC 896, RFC 1122 section 4.2.3.4), which on loopback has at most
/// 64 KiB: where more lies unsent, it lies there for another reason.
const SEGMENT_BYTES_MAX: u64 = 65_535;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D10,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(on_report),
        ..Forms::NONE
    },
};

fn on_run(run: &Run) -> Option<Finding> {
    let cluster = cluster(run);
    let share = cluster.count as f64 / run.record.responses.max(1) as f64;
    // Without TCP there is no algorithm of Nagle's.
    if !is_over_tcp(run) || cluster.count < FEWEST || share < LEAST || !cluster.stands_out() {
        return None;
    }
    // Each response that waited, waited for one delayed acknowledgement.
    let delayed = client_counter(run, "TcpExtDelayedACKs");
    let segments = segments_per_response(run);
    let unsent = unsent_bytes(run);
    let in_one_piece = segments.is_some_and(|segments| segments < SEGMENTS);
    // At a look so many responses are in the middle of such a wait, and the rest of each lies in a socket.
    let waiting = cluster.count as f64 * FROM_NS as f64 / run.elapsed_ns.max(1) as f64;
    let nothing_held = unsent == Some(0) && (share >= MOST || waiting >= WAITING_SEEN);
    let most_held = SEGMENT_BYTES_MAX.saturating_mul(run.plan.load.connections().into());
    let more_than_held = unsent.is_some_and(|bytes| bytes > most_held);
    if delayed.is_some_and(|delayed| delayed < cluster.count / 2)
        || delayed.is_none() && may_be_long(run, cluster.count)
        || share >= MOST && in_one_piece
        || nothing_held
        || more_than_held
    {
        return None;
    }
    let severity = match delayed {
        Some(_) if share >= MOVES_P99 => Severity::Suspect,
        _ => Severity::Note,
    };
    let (cause, fix) = match delayed {
        // Of a long body the rest lies unsent until what was sent first is acknowledged, whoever wrote it how.
        Some(_)
            if unsent.is_some_and(|bytes| bytes > 0)
                && !is_blocked(run)
                && !may_be_long(run, cluster.count) =>
        {
            (HELD_BACK, TOGETHER)
        }
        Some(_) => (LOOKS_THE_SAME, TOGETHER_OR_NOT),
        None => NOT_COUNTED,
    };
    let evidence = format!(
        "From first byte to last, {} of {} ({}) took 38 to 62 ms, and {} slightly more or less.{}",
        grouped(cluster.count),
        counted(run.record.responses, "response"),
        percent(share),
        grouped(cluster.beside()),
        beside_it(delayed, segments, unsent)
    );
    Some(Finding::new(D10, severity, evidence, cause, fix))
}

const HELD_BACK: &str = "The server sends a response in several writes, and its kernel holds back the second until the first is \
                         acknowledged (Nagle's algorithm), which the client's kernel delays by 40 ms.";
const LOOKS_THE_SAME: &str = "40 ms is how long Linux delays an acknowledgement: a server that sends a response in several \
                              writes, with Nagle's algorithm on, waits for it before the second leaves. A server that \
                              itself takes 40 ms between two parts of a response, or a network that takes as long \
                              for the rest of a long one, looks the same from here.";
const TOGETHER: &str = "Have the server send each response (its head and what it has of the body) with one write or \
                        writev, or set TCP_NODELAY on its connections.";
const TOGETHER_OR_NOT: &str = "Have the server send each response with one write or writev, or set TCP_NODELAY on its connections. \
                               If that changes nothing, see what takes the server 40 ms before the end of a response.";
/// Of what is only known that it took so long.
const NOT_COUNTED: (&str, &str) = (
    "40 ms is how long Linux delays an acknowledgement, which a server waits for that sends a response in several writes, \
     with Nagle's algorithm on. A server that itself takes 40 ms between two parts of it, or a network that does, looks the same.",
    "Run `nstat -az TcpExtDelayedACKs` on the client's machine before and after: if it rises by as many, have the server send \
     each response with one write or writev, or set TCP_NODELAY on its connections.",
);

/// What else was seen of them, as sentences.
fn beside_it(delayed: Option<u64>, segments: Option<f64>, unsent: Option<u64>) -> String {
    let delayed = match delayed {
        Some(delayed) => format!(
            " {} acknowledgements were delayed (DelayedACKs, of this network namespace).",
            grouped(delayed)
        ),
        None => " How many acknowledgements were delayed (DelayedACKs) was not counted.".to_owned(),
    };
    let segments = segments.map_or(String::new(), |segments| {
        format!(" {} packets with data arrived for each one sent.", amount(segments))
    });
    let unsent = unsent.map_or(String::new(), |unsent| {
        format!(" When sampled, up to {} B lay unsent in the server's sockets.", grouped(unsent))
    });
    format!("{delayed}{segments}{unsent}")
}

/// Whether as many bodies as half of so many responses are, or may be, so long that the network alone can take that time.
fn may_be_long(run: &Run, responses: u64) -> bool {
    let record = &run.record;
    let long: u64 = record.body_lengths.range(AT_ONCE_BYTES..).map(|(_, count)| count).sum();
    long + record.body_lengths_other >= responses.div_ceil(2)
}

/// Where between first byte and last the median of a printed report may lie: 40 ms, what ticks add, and
/// what rounding does to two figures.
const PRINTED_MS: std::ops::RangeInclusive<f64> = 38.0..=48.0;

/// Half of the responses took 40 ms from first byte to last. Where the server closes after each response,
/// the close sends what Nagle's algorithm held back.
fn on_report(report: &Report) -> Option<Finding> {
    let (waiting, processing) = (report.waiting?.median_ms?, report.processing?.median_ms?);
    let after_ms = processing.value - waiting.value;
    let kept = matches!(report.connections, Connections::Kept(_));
    // What does not fit into the first flight waits for acknowledgements whoever sent it how.
    let all_at_once = match report.document? {
        Document::Bytes(bytes) => bytes <= FIRST_FLIGHT_BYTES,
        Document::Variable => false,
    };
    if !all_at_once {
        return None;
    }
    if !kept || !PRINTED_MS.contains(&after_ms) || waiting.value > after_ms / 2.0 {
        return None;
    }
    Some(Finding::new(
        D10,
        Severity::Suspect,
        format!(
            "The median of `Waiting` (to the first byte) is {} ms, that of `Processing` (to the \
             last) {} ms: {} ms passed between first byte and last.",
            amount(waiting.value),
            amount(processing.value),
            amount(after_ms)
        ),
        "40 ms is how long Linux delays an acknowledgement: a server that sends a response in several \
         writes, with Nagle's algorithm on, waits for it before the second leaves. A server \
         that itself takes 40 ms between two parts of it, or a network that takes as long for the body, prints the same.",
        "Have the server send each response with one write or writev, or set \
         TCP_NODELAY on its connections; or measure with `ablaze`, which counts delayed \
         acknowledgements.",
    ))
}

fn seen(run: &Run) -> Option<String> {
    (run.record.responses > 0).then(|| {
        let cluster = cluster(run);
        format!(
            "{} took 38 to 62 ms from first byte to last, {} slightly more or less.",
            counted(cluster.count, "response"),
            grouped(cluster.beside())
        )
    })
}

fn cluster(run: &Run) -> Cluster {
    Cluster::of(&run.record.answered.receive, FROM_NS, TO_NS)
}

/// Segments with data that came for each with a request, where a request is one of them.
fn segments_per_response(run: &Run) -> Option<f64> {
    if run.plan.load.pipeline() > 1 || run.plan.requests.has_body {
        return None;
    }
    let last = monitor(run)?.connections.as_ref()?.last;
    let sent = last.sent_segments.filter(|sent| *sent > 0)?;
    Some(last.received_segments? as f64 / sent as f64)
}

/// The most bytes that lay in the server's sockets and were not sent, at the first or last look: what
/// Nagle's algorithm keeps back.
fn unsent_bytes(run: &Run) -> Option<u64> {
    let looks = monitor(run)?.server_connections.as_ref()?;
    [looks.first.unsent_bytes, looks.last.unsent_bytes].into_iter().flatten().max()
}

/// Whether the client's receive window, or the server's own buffer, was full at times: what lies unsent there, no algorithm of
/// Nagle's need have kept back.
fn is_blocked(run: &Run) -> bool {
    let looks = monitor(run).and_then(|monitor| monitor.server_connections.as_ref());
    let blocked =
        looks.map(|looks| [looks.last.window_limited_ns, looks.last.send_buffer_limited_ns]);
    blocked.into_iter().flatten().flatten().any(|blocked_ns| blocked_ns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;
    use ablaze_model::monitor::ConnectionsAt;

    /// So many of 20,000 responses came in two pieces, 41 ms apart, each for a delayed acknowledgement.
    fn split(responses: u64) -> Run {
        let mut run = sample::run();
        let receive = &mut run.record.answered.receive;
        receive.clear();
        receive.record_many(41_000_000, responses);
        receive.record_many(1_000, 20_000 - responses);
        sample::counter(&mut run, "TcpExtDelayedACKs", responses);
        let last = &mut sample::monitor(&mut run).connections.as_mut().unwrap().last;
        last.received_segments = last.sent_segments.map(|sent| sent + responses);
        server(&mut run).unsent_bytes = Some(1400);
        run
    }

    fn server(run: &mut Run) -> &mut ConnectionsAt {
        &mut sample::monitor(run).server_connections.as_mut().unwrap().last
    }

    #[test]
    fn a_cluster_at_40_ms_is_found_with_its_share() {
        let severity = |responses| on_run(&split(responses)).map(|finding| finding.severity);
        assert_eq!(severity(20_000), Some(Severity::Suspect));
        assert_eq!(severity(200), Some(Severity::Suspect));
        assert_eq!(severity(199), Some(Severity::Note));
        assert_eq!(severity(9), None, "the start of a run");
        let evidence = on_run(&split(20_000)).unwrap().evidence;
        assert!(evidence.contains("20,000 of 20,000 responses (100 %)"), "{evidence}");
        assert!(evidence.contains("2.00 packets with data"), "{evidence}");
        assert!(evidence.contains("up to 1,400 B lay unsent"), "{evidence}");
        // More than a segment of each of the 100 connections: no algorithm of Nagle's holds that back.
        let mut long = split(20_000);
        server(&mut long).unsent_bytes = Some(100 * 65_535 + 1);
        assert_eq!(on_run(&long), None);
    }

    #[test]
    fn responses_that_take_40_ms_for_another_reason_are_not_accused() {
        assert_eq!(on_run(&sample::run()), None);
        // The kernel delayed nothing.
        let mut run = split(20_000);
        sample::counter(&mut run, "TcpExtDelayedACKs", 9_999);
        assert_eq!(on_run(&run), None);
        // They came in one piece.
        let mut run = split(20_000);
        let last = &mut sample::monitor(&mut run).connections.as_mut().unwrap().last;
        last.received_segments = last.sent_segments;
        assert_eq!(on_run(&run), None);
        // The server had sent all that it had: it wrote the end 40 ms after the beginning.
        let mut run = split(20_000);
        server(&mut run).unsent_bytes = Some(0);
        assert_eq!(on_run(&run), None);
        // The same where a third of them do so, 27 at any moment.
        let mut run = split(7_000);
        assert!(on_run(&run).is_some());
        server(&mut run).unsent_bytes = Some(0);
        assert_eq!(on_run(&run), None);
        // Of so few both looks may have missed all: then it is not known who waited.
        let mut run = split(700);
        server(&mut run).unsent_bytes = Some(0);
        assert!(on_run(&run).unwrap().cause.contains("looks the same"));
        // Bodies of which some take 40 ms, some more, some less.
        let mut run = split(1000);
        run.record.answered.receive.record_many(65_000_000, 600);
        assert_eq!(on_run(&run), None);
    }

    /// With TCP_NODELAY on, a body that does not fit into the client's window lies unsent too.
    #[test]
    fn bytes_that_wait_for_a_full_window_are_not_said_to_be_held_back() {
        let mut run = split(20_000);
        assert!(on_run(&run).unwrap().cause.contains("holds back"));
        server(&mut run).window_limited_ns = Some(3_000_000);
        let finding = on_run(&run).unwrap();
        assert!(finding.cause.contains("looks the same"), "{finding:?}");
        assert!(finding.fix.contains("If that changes nothing"), "{finding:?}");
    }

    /// A round trip of 40 ms, and bodies of which the first ten segments leave at once.
    #[test]
    fn the_rest_of_a_long_body_is_not_said_to_be_held_back() {
        let mut run = split(20_000);
        run.record.body_lengths = [(30_000, 20_000)].into();
        let finding = on_run(&run).unwrap();
        assert!(!finding.cause.contains("holds back"), "{finding:?}");
        assert!(finding.cause.contains("a network that takes as long"), "{finding:?}");
    }

    #[test]
    fn without_a_count_of_delayed_acknowledgements_nobody_is_accused() {
        let not_counted = |run: &Run| {
            let finding = on_run(run).unwrap();
            assert_eq!(finding.severity, Severity::Note);
            assert!(finding.evidence.contains("(DelayedACKs) was not counted"), "{finding:?}");
            assert!(
                finding.cause.contains("or a network that does, looks the same"),
                "{finding:?}"
            );
            assert!(finding.fix.starts_with("Run `nstat -az TcpExtDelayedACKs`"), "{finding:?}");
        };
        let mut run = split(9_900);
        run.monitor = None;
        not_counted(&run);
        // Bodies that the server cannot send at once.
        run.record.body_lengths = [(14, 10_100), (1_000_000, 9_900)].into();
        assert_eq!(on_run(&run), None);
        (run.record.body_lengths, run.record.body_lengths_other) = ([(14, 100)].into(), 19_900);
        assert_eq!(on_run(&run), None, "any length");
        // The counter of the target's machine, which delays none of the fleet's.
        let mut run = split(9_900);
        sample::counter(&mut run, "TcpExtDelayedACKs", 0);
        run.fleet = Some(Box::new(sample::fleet(2)));
        not_counted(&run);
    }

    #[test]
    fn nagles_algorithm_is_of_tcp() {
        let mut run = split(20_000);
        run.plan.http3 = sample::over_http3().plan.http3;
        assert_eq!(on_run(&run), None);
        let mut run = split(20_000);
        run.plan.target.unix_socket = Some("/run/there".into());
        assert_eq!(on_run(&run), None);
    }
}

#[cfg(test)]
mod tests_on_reports {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn forty_milliseconds_between_first_byte_and_last_are_found() {
        let with = |waiting, processing, connections| {
            let mut report = sample::ab();
            report.connections = connections;
            report.waiting = Some(sample::times(0.0, waiting, 0.5, waiting, 60.0));
            report.processing = Some(sample::times(0.0, processing, 3.0, processing, 60.0));
            on_report(&report)
        };
        let kept = Connections::Kept(Some(1_000_000));
        let finding = with(0.0, 44.0, kept).unwrap();
        assert!(finding.evidence.contains("44.0 ms passed"), "{}", finding.evidence);
        // The close sends the rest; so slow a server is slow; another time is another cause.
        assert_eq!(with(0.0, 44.0, Connections::PerRequest), None);
        assert_eq!(with(44.0, 44.0, kept), None);
        assert_eq!(with(30.0, 74.0, kept), None);
        assert_eq!(with(0.0, 50.0, kept), None);
        // A body of many segments takes its time on any network.
        let mut long = sample::ab();
        long.connections = kept;
        long.waiting = Some(sample::times(0.0, 8.0, 0.5, 8.0, 60.0));
        long.processing = Some(sample::times(0.0, 49.0, 3.0, 49.0, 60.0));
        assert!(on_report(&long).is_some());
        long.document = Some(Document::Bytes(58_000));
        assert_eq!(on_report(&long), None);
    }
}
