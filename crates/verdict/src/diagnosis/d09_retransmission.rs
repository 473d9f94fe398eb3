//! D09: responses that waited for a retransmission timer: 200 ms later than the others, or 0.6, 1.4 or
//! 3.0 s, as the timer doubles.
//! In a printed report: a few requests took 200 ms longer than all others.

use ablaze_model::Run;
use ablaze_model::monitor::Connections;

use super::{Diagnosis, Forms, OnRun, ShownBy, d07_global_stall};
use crate::DiagnosisId::{D07, D08, D09, D22, D23};
use crate::finding::{Finding, Severity};
use crate::live::figures::{counter, monitor};
use crate::live::timers::Cluster;
use crate::printed::Report;
use crate::rules::arithmetic::slow_requests;
use crate::words::{amount, counted, decimal, grouped, listed, percent, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D09,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[D07, D08, D22, D23],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(on_report),
        ..Forms::NONE
    },
};

/// When a segment is sent again after it was sent: TCP_RTO_MIN of Linux, doubled each time (RFC 6298,
/// 5.5), summed up.
pub(super) const TIMERS_NS: [u64; 4] = [200_000_000, 600_000_000, 1_400_000_000, 3_000_000_000];
/// Kernel ticks before, and ticks, round trip and service behind.
const BEFORE_NS: u64 = 5_000_000;
const BEHIND_NS: u64 = 30_000_000;
/// Where responses take longer than this, 200 ms more do not stand out.
const LONGEST_MEDIAN_NS: u64 = 20_000_000;
/// Above this share of the responses the 99 % time is that of the timer.
const MOVES_P99: f64 = 0.01;
/// From this share of the segments on, retransmissions alone are worth a note.
const MANY: f64 = 1e-3;
/// Of a printed report the first timer, and the round trip and the service that come on top.
const TIMER_MS: std::ops::RangeInclusive<f64> = 200.0..=220.0;

/// Cause and fix, where this run's own connections sent as much again.
const TIMER: (&str, &str) = (
    "Packets were lost and sent again after 200 ms, the shortest time after which Linux does \
     so: these times come from a timer, not from the server.",
    "Look for packet loss on the network (`ip -s link`, `nstat -az`), and exclude these times \
     from every comparison of servers.",
);
/// And where only the network namespace is known to have.
const MAY_BE_THE_TIMER: (&str, &str) = (
    "Linux sends a lost packet again after 200 ms at the earliest, and as many were sent again in this network namespace. Whether \
     they were of these requests is not known: what the server does may take as long.",
    "Run it again with nothing else on the network, and compare `nstat TcpRetransSegs TcpExtTCPTimeouts` before and after: if \
     they rise as much, look for packet loss (`ip -s link`); if not, see in the server what takes so long.",
);

fn on_run(run: &Run) -> Option<Finding> {
    let sent_again = sent_again(run)?;
    // Where most of them was seen, the connections' own counts tell; else only those of everybody.
    let counted_again = if sent_again.partly { sent_again.count() } else { sent_again.own };
    let late = late(run).filter(|late| *late > 0 && counted_again * 2 >= *late);
    let Some(late) = late else {
        return many(&sent_again).map(|finding| on_its_own(run, finding, true));
    };
    let responses = run.record.responses;
    let share = late as f64 / responses as f64;
    let severity = if share >= MOVES_P99 { Severity::Suspect } else { Severity::Note };
    let p99 = run
        .record
        .answered
        .total
        .quantile_ns(0.99)
        .map_or(String::new(), |p99_ns| format!(" The p99 is {}.", time(p99_ns as f64 / 1e6)));
    let (cause, fix) = if sent_again.own * 2 >= late { TIMER } else { MAY_BE_THE_TIMER };
    let finding = Finding::new(
        D09,
        severity,
        format!(
            "{} of {} ({}) came {} s later than the median. {}{p99}",
            grouped(late),
            counted(responses, "response"),
            percent(share),
            times(),
            sent_again.sentence()
        ),
        cause,
        fix,
    );
    Some(on_its_own(run, finding, sent_again.own * 2 >= late))
}

/// A server that stands still makes no kernel send again, and a pause nobody unless it is about as long as the timer.
fn on_its_own(run: &Run, finding: Finding, are_own: bool) -> Finding {
    match (longest_pause_ns(run) >= TIMERS_NS[0] / 2, are_own) {
        (true, _) => finding,
        (false, true) => finding.not_explained_by(D23).not_explained_by(D07),
        (false, false) => finding.not_explained_by(D23),
    }
}

/// Segments that this run's own connections sent again, without the probes, unless the machine stood still for as long as the
/// timer.
pub(super) fn lost(run: &Run) -> u64 {
    let paused = longest_pause_ns(run) >= TIMERS_NS[0] / 2;
    sent_again(run).filter(|_| !paused).map_or(0, |sent_again| sent_again.lost())
}

fn longest_pause_ns(run: &Run) -> u64 {
    let heartbeat = monitor(run).and_then(|monitor| monitor.heartbeat.as_ref());
    let pauses = heartbeat.into_iter().flat_map(|heartbeat| &heartbeat.longest);
    pauses.map(|gap| gap.length_ns).max().unwrap_or(0)
}

fn seen(run: &Run) -> Option<String> {
    let late = late(run)?;
    let sent_again = sent_again(run)?;
    Some(format!(
        "{} came {} s later than the median. {}",
        counted(late, "response"),
        times(),
        sent_again.sentence()
    ))
}

/// Nobody waited for the timer, and still much was lost. Probes are no loss: they are sent when an
/// acknowledgement is late, as it is where the processors are taken.
fn many(sent_again: &SentAgain) -> Option<Finding> {
    let lost = sent_again.lost();
    let share = lost as f64 / sent_again.segments? as f64;
    (share >= MANY).then(|| {
        Finding::new(
            D09,
            Severity::Note,
            format!(
                "{} Without the probes that is at least {} of what they sent.",
                sent_again.sentence(),
                percent(share)
            ),
            "Packets were lost on the network and sent again.",
            "Look for packet loss on the network (`ip -s link`, `nstat -az`).",
        )
    })
}

/// Responses that came as late as the timers make them; `None` where that would not stand out.
fn late(run: &Run) -> Option<u64> {
    let times = &run.record.answered.total;
    let median_ns = times.quantile_ns(0.5).filter(|median_ns| *median_ns <= LONGEST_MEDIAN_NS)?;
    Some(after_timers(times, median_ns))
}

/// Values that lie apart from the others, later than `base_ns` by what the timers take.
pub(super) fn after_timers(times: &ablaze_stats::Latency, base_ns: u64) -> u64 {
    let late = clusters(times, base_ns).into_iter().filter(Cluster::stands_out);
    late.map(|cluster| cluster.count).sum()
}

fn clusters(times: &ablaze_stats::Latency, base_ns: u64) -> [Cluster; TIMERS_NS.len()] {
    TIMERS_NS.map(|timer_ns| {
        let at_ns = base_ns + timer_ns;
        Cluster::of(times, at_ns - BEFORE_NS, at_ns + BEHIND_NS)
    })
}

/// How often timers run out for these: each is as long as all before it together, and some.
pub(super) fn timers_run_out(times: &ablaze_stats::Latency, base_ns: u64) -> u64 {
    let each = clusters(times, base_ns).into_iter().zip(1_u64..);
    let late = each.filter(|(cluster, _)| cluster.stands_out());
    late.map(|(cluster, number)| cluster.count * number).sum()
}

/// The timers, in seconds: `0.2, 0.6, 1.4 or 3.0`.
pub(super) fn times() -> String {
    let times = TIMERS_NS.map(|timer_ns| format!("{:.1}", timer_ns as f64 / 1e9));
    listed(times).replace(" and ", " or ")
}

/// Connections were used for more than one request, so that the last look saw most of them.
fn kept(run: &Run) -> bool {
    run.plan.connections.keep_alive && run.plan.connections.requests_per_connection.is_none()
}

/// Whether fewer segments were counted than half of the responses need: the last look was early, or at connections that had
/// been opened late.
fn misses_most(run: &Run, segments: u64) -> bool {
    let one_each = run.plan.places_per_connection() == 1;
    one_each && segments > 0 && segments < run.record.responses / 2
}

const BOTH_SIDES: &str = "this run's connections, both sides";
const CLIENT_ALONE: &str =
    "the client's side of this run's connections (the server's cannot be observed)";
const CLIENT_BESIDE_OTHERS: &str =
    "the client's side of this run's connections (the server has others, too)";

const BESIDE_OTHERS: &str =
    "this run's connections: not known, as those of an earlier load stand beside them";

/// What was sent again.
struct SentAgain {
    /// On the connections of this run that stood at the last look, by both sides as far as seen.
    own: u64,
    /// These were on the wire for less than most of the run, as far as the last look tells.
    partly: bool,
    /// Segments with data that these sent.
    segments: Option<u64>,
    /// Whose they are, in words.
    side: &'static str,
    /// In the network namespace, first packets of connections not counted.
    namespace: u64,
    /// Timers that ran out there.
    timeouts: Option<u64>,
    /// Probes sent there because the end of what was sent was not acknowledged (RFC 8985, 7).
    probes: Option<u64>,
}

fn sent_again(run: &Run) -> Option<SentAgain> {
    let monitor = monitor(run)?;
    let first_packets = counter(run, "TcpExtTCPSynRetrans").unwrap_or(0);
    let all = counter(run, "TcpRetransSegs");
    let namespace = all.map(|all| all.saturating_sub(first_packets));
    let of = |side: &Option<Connections>| side.as_ref().map_or(0, |side| side.last.retransmissions);
    // Connections of an earlier load may stand there, which had sent again before this run.
    let has_others = |count: u64| namespace.is_some_and(|all| count > all);
    let (client, server) = (&monitor.connections, &monitor.server_connections);
    let both = !has_others(of(client) + of(server));
    let client = client.as_ref().filter(|_| both || !has_others(of(client)));
    let server = server.as_ref().filter(|_| both);
    let last = || client.iter().copied().chain(server).map(|side| side.last);
    let segments = last().filter_map(|side| side.sent_segments).reduce(|a, b| a + b);
    if last().next().is_none() && all.is_none() {
        return None;
    }
    Some(SentAgain {
        own: last().map(|side| side.retransmissions).sum(),
        partly: !kept(run) || segments.is_some_and(|segments| misses_most(run, segments)),
        segments: segments.filter(|segments| *segments > 0),
        side: match (client, server) {
            (_, Some(_)) => BOTH_SIDES,
            (Some(_), None) if both => CLIENT_ALONE,
            (Some(_), None) => CLIENT_BESIDE_OTHERS,
            (None, None) => BESIDE_OTHERS,
        },
        namespace: namespace.unwrap_or(0),
        timeouts: counter(run, "TcpExtTCPTimeouts"),
        probes: counter(run, "TcpExtTCPLossProbes"),
    })
}

impl SentAgain {
    fn lost(&self) -> u64 {
        self.own.saturating_sub(self.probes.unwrap_or(0))
    }

    fn count(&self) -> u64 {
        self.own.max(self.namespace)
    }

    fn sentence(&self) -> String {
        let details: Vec<String> = [(self.timeouts, "timeouts"), (self.probes, "loss probes")]
            .into_iter()
            .filter_map(|(count, name)| Some(format!("{} {name}", grouped(count?))))
            .collect();
        let details =
            if details.is_empty() { String::new() } else { format!(", with {}", listed(details)) };
        let own = match self.side {
            BESIDE_OTHERS => {
                format!("Retransmitted on {BESIDE_OTHERS}; {}", counted(self.namespace, "segment"))
            }
            side => format!(
                "Retransmitted: {}{} on {side}{}, and {}",
                if self.partly { "at least " } else { "" },
                counted(self.own, "segment"),
                if self.partly { " that the last look still found" } else { "" },
                grouped(self.namespace)
            ),
        };
        format!("{own} in the whole network namespace, other traffic included{details}.")
    }
}

fn on_report(report: &Report) -> Option<Finding> {
    let (row, median, max) = (report.total?, report.median_ms()?, report.max_ms()?);
    let later_ms = max.value - median.value;
    let (least, _, most) = slow_requests(&row, report.complete?)?;
    let in_flight = report.asked().unwrap_or(1).max(2) as f64;
    if !TIMER_MS.contains(&later_ms)
        || median.value > later_ms / 10.0
        || most >= in_flight / 2.0
        || d07_global_stall::is_found(report)
    {
        return None;
    }
    let deviation = row.deviation_ms?;
    let evidence = format!(
        "The longest request took {} ms, {} ms more than the median. A standard deviation of \
         {:.1} ms is consistent with {} to {} requests that long.",
        decimal(max.value, 0),
        decimal(later_ms, 0),
        deviation.value,
        amount(least.max(1.0)),
        amount(most)
    );
    Some(Finding::new(
        D09,
        Severity::Note,
        evidence,
        "200 ms is the shortest time after which Linux retransmits unacknowledged data: those few \
         requests may have waited for that.",
        "Compare `nstat TcpRetransSegs TcpExtTCPTimeouts` before and after the next run; if they \
         do not rise, something else takes 200 ms.",
    ))
}

#[cfg(test)]
mod tests_on_runs;

#[cfg(test)]
mod tests_on_reports {
    use super::*;
    use crate::rules::sample;

    fn with(deviation: f64, median: f64, max: f64) -> Option<Finding> {
        let mut report = sample::ab();
        report.total = Some(sample::times(0.0, 1.0, deviation, median, max));
        report.percentiles.clear();
        on_report(&report)
    }

    #[test]
    fn a_few_requests_at_the_timer_are_a_candidate() {
        // 0.35² and 0.45² × 999,999 / 211².
        let evidence = with(0.4, 1.0, 212.0).unwrap().evidence;
        assert!(
            evidence.contains("211 ms more") && evidence.contains("2.75 to 4.55"),
            "{evidence}"
        );
    }

    /// 212 ms alone make a deviation of 0.211 ms of a million.
    #[test]
    fn a_deviation_that_cannot_be_is_d43_s() {
        use crate::DiagnosisId::D43;
        let mut report = sample::ab();
        report.percentiles.clear();
        report.total = Some(sample::times(0.0, 1.0, 0.1, 1.0, 212.0));
        let ids: Vec<_> = crate::rules::report(&report).iter().map(|one| one.id).collect();
        assert!(ids.contains(&D43) && !ids.contains(&D09), "{ids:?}");
    }

    #[test]
    fn other_distances_and_crowds_are_not() {
        assert_eq!(with(0.4, 1.0, 190.0), None);
        assert_eq!(with(0.4, 1.0, 250.0), None);
        // 30² × 999,999 / 211² = 20,215 requests: a second cluster.
        assert_eq!(with(30.0, 1.0, 212.0), None);
        assert_eq!(with(0.4, 100.0, 312.0), None);
    }
}
