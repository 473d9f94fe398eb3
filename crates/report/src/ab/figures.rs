//! ab's numbers, derived from a Run. Each request is counted once: as a response, as a response of
//! another length than the first, or as a failure. Times are rounded as ab rounds: microseconds,
//! then milliseconds with halves up.

use ablaze_model::{FailureKind, Phases, Record, Run};
use ablaze_stats::Latency;
use ablaze_wire::http1::response::field;

/// ab's numbers of a Run.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Up to its first blank, as the first response named it.
    pub server_software: String,
    /// Body length of the first complete response; 0 when there is none.
    pub document_bytes: u64,
    /// Requests that ended, well or badly.
    pub complete: u64,
    /// Those that ended badly, by ab's four columns.
    pub failed: Failed,
    /// Responses with a status outside 200 to 299.
    pub non_2xx: u64,
    /// Length of the run in seconds.
    pub taken_s: f64,
    /// ab's four rows.
    pub times: Times,
}

/// Failed requests by ab's columns. A request is in one of them at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Failed {
    /// No connection: refused, unreachable, no port, no descriptor.
    pub connect: u64,
    /// The connection broke or stayed silent: reset, closed without a response, timeout.
    pub receive: u64,
    /// A body cut short, or of another length than the first one.
    pub length: u64,
    /// No HTTP response: malformed, head too large, anything else.
    pub exceptions: u64,
}

impl Failed {
    /// All columns.
    pub fn total(&self) -> u64 {
        self.connect + self.receive + self.length + self.exceptions
    }
}

/// ab's four rows, each over every complete request: a reused connection connects in 0, a
/// request without a response byte waits 0.
#[derive(Debug, Clone)]
pub struct Times {
    /// Opening the connection.
    pub connect: Latency,
    /// From sending to the last byte.
    pub processing: Latency,
    /// From sending to the first byte.
    pub waiting: Latency,
    /// All of it.
    pub total: Latency,
}

/// Whole milliseconds as ab prints them.
pub fn milliseconds(nanoseconds: u64) -> u64 {
    (nanoseconds / 1000 + 500) / 1000
}

impl Figures {
    /// The numbers of this Run. `variable_length`: bodies may differ (`-l`).
    pub fn of(run: &Run, variable_length: bool) -> Self {
        let record = &run.record;
        let complete = record.finished();
        Self {
            server_software: server_software(&record.first_head),
            document_bytes: record.first_body_bytes.unwrap_or(0),
            complete,
            failed: failed(record, variable_length),
            non_2xx: record
                .statuses
                .iter()
                .filter(|(status, _)| !(200..300).contains(*status))
                .map(|(_, count)| count)
                .sum(),
            taken_s: run.elapsed_ns as f64 / 1e9,
            times: Times {
                connect: over_all(connect(&record.answered), connect(&record.failed), complete),
                processing: over_all(
                    &record.answered.processing,
                    &record.failed.processing,
                    complete,
                ),
                waiting: over_all(&record.answered.wait, &record.failed.wait, complete),
                total: over_all(&record.answered.total, &record.failed.total, complete),
            },
        }
    }

    /// Whether rates have a meaning.
    pub fn has_rates(&self) -> bool {
        self.taken_s > 0.0 && self.complete > 0
    }

    /// So many per second of the run.
    pub fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.taken_s
    }
}

/// The value at `rank`, from 1 for the smallest to the number of values, in nanoseconds; 0 when
/// there are none.
pub fn at_rank_ns(times: &Latency, rank: u64) -> u64 {
    let count = times.count();
    match rank {
        _ if count == 0 => 0,
        0 | 1 => times.min_ns().unwrap_or(0),
        _ if rank >= count => times.max_ns().unwrap_or(0),
        // The histogram takes the smallest value that ceil(q·count) values do not exceed.
        _ => times.quantile_ns((rank as f64 - 0.5) / count as f64).unwrap_or(0),
    }
}

/// ab's "Connect": with the handshake of TLS, where there was one.
fn connect(phases: &Phases) -> &Latency {
    phases.tls.as_ref().map_or(&phases.connect, |tls| &tls.connected)
}

fn failed(record: &Record, variable_length: bool) -> Failed {
    let mut failed = Failed::default();
    for kind in FailureKind::ALL {
        let column = match kind {
            FailureKind::Refused
            | FailureKind::Unreachable
            | FailureKind::LocalPorts
            | FailureKind::LocalDescriptors => &mut failed.connect,
            FailureKind::Reset | FailureKind::ClosedWithoutResponse | FailureKind::Timeout => {
                &mut failed.receive
            }
            FailureKind::ShortBody | FailureKind::ShortHead => &mut failed.length,
            // ab counts them nowhere; what it has for the rest is this.
            FailureKind::Malformed | FailureKind::TooLarge | FailureKind::Other => {
                &mut failed.exceptions
            }
            _ => &mut failed.exceptions,
        };
        *column += record.failures_of(kind);
    }
    if let (false, Some(first)) = (variable_length, record.first_body_bytes) {
        let same = record.body_lengths.get(&first).copied().unwrap_or(0);
        failed.length += record.responses.saturating_sub(same);
    }
    failed
}

fn over_all(answered: &Latency, failed: &Latency, complete: u64) -> Latency {
    let mut all = answered.clone();
    all.merge(failed);
    let without = complete.saturating_sub(all.count());
    if without > 0 {
        all.record_many(0, without);
    }
    all
}

fn server_software(head: &[u8]) -> String {
    let value = field(head, "Server").unwrap_or_default();
    let end = value.iter().position(|b| !b.is_ascii_graphic()).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn milliseconds_round_halves_up_after_whole_microseconds() {
        assert_eq!(milliseconds(499_999), 0);
        assert_eq!(milliseconds(500_000), 1);
        assert_eq!(milliseconds(1_499_999), 1);
        assert_eq!(milliseconds(1_500_000), 2);
    }

    #[test]
    fn the_server_is_named_up_to_its_first_blank_and_only_by_its_own_field() {
        let named = |head: &str| server_software(head.as_bytes());
        assert_eq!(
            named("HTTP/1.1 200 OK\r\nX-Server: a\r\nServer: nginx/1.2 (U)\r\n\r\n"),
            "nginx/1.2"
        );
        assert_eq!(named("HTTP/1.1 200 OK\r\nserver:raw/1.0\r\n\r\n"), "raw/1.0");
        assert_eq!(named("HTTP/1.1 200 OK\r\n\r\n"), "");
    }

    #[test]
    fn a_request_is_counted_once_and_every_kind_has_a_column() {
        let mut run = sample::run();
        run.record.failures = [1; FailureKind::ALL.len()];
        let figures = Figures::of(&run, false);
        // ab has no words for TLS, HTTP/2, HTTP/3 and tunnels: what they fail of are exceptions.
        assert_eq!(figures.failed, Failed { connect: 4, receive: 3, length: 2, exceptions: 27 });
        assert_eq!(figures.complete, run.record.responses + 36);
    }

    #[test]
    fn other_lengths_fail_unless_they_may_vary() {
        let mut run = sample::run();
        run.record.body_lengths = [(14, 7), (20, 2)].into();
        run.record.body_lengths_other = 1;
        assert_eq!(Figures::of(&run, false).failed.length, 3);
        assert_eq!(Figures::of(&run, true).failed.total(), 0);
    }

    #[test]
    fn ranks_are_those_of_the_sorted_values() {
        let mut times = Latency::new(4);
        for value in 1..=100 {
            times.record(value);
        }
        for rank in 1..=100 {
            assert_eq!(at_rank_ns(&times, rank), rank);
        }
        assert_eq!(at_rank_ns(&times, 0), 1);
        assert_eq!(at_rank_ns(&Latency::new(3), 1), 0);
    }

    #[test]
    fn reused_connections_connect_in_no_time() {
        let run = sample::run();
        let connect = Figures::of(&run, false).times.connect;
        assert_eq!((connect.count(), connect.min_ns()), (10, Some(0)));
        assert_eq!(connect.max_ns(), Some(2_000_000));
    }
}
