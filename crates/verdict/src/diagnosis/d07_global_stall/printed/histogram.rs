//! hey prints no deviation, but how many requests took how long: behind a gap those of a stall stand alone.

use super::{Stall, is_near};
use crate::printed::{Report, Tool};

/// So many stalls of one length are looked for.
const MOST_STALLS: u32 = 3;

/// The requests behind a gap in the histogram.
pub struct Far {
    pub requests: u64,
    /// Each took longer than this.
    pub above_ms: f64,
    /// And of the others none longer than this.
    pub gap_from_ms: f64,
}

/// Those in the last of hey's intervals, or the last two, if there is none in the half of the range before them: what was
/// in flight when everything stopped took as long as that, but for the time of a usual request.
pub fn far(report: &Report) -> Option<Far> {
    if report.tool != Tool::Hey || report.histogram.len() < 10 {
        return None;
    }
    let rows = &report.histogram;
    let last_but = |n: usize| rows.len().checked_sub(n);
    // A boundary may lie within those of one stall.
    let first = match rows[last_but(2)?].1 {
        0 => last_but(1)?,
        _ => last_but(2)?,
    };
    let empty = rows[..first].iter().rev().take_while(|(_, count)| *count == 0).count();
    let before = first.checked_sub(empty + 1)?;
    (empty * 2 >= rows.len() - 1).then(|| Far {
        requests: rows[first..].iter().map(|(_, count)| *count).fold(0, u64::saturating_add),
        above_ms: rows[first - 1].0.value,
        gap_from_ms: rows[before].0.value,
    })
}

/// As many as are in flight, once or a few times, where all of them stood still for that long.
pub(super) fn stall(report: &Report, asked: f64, above_mean_ms: f64) -> Option<Stall> {
    let slow = far(report).filter(|_| !report.is_paced())?.requests as f64;
    let stalls = (1..=MOST_STALLS).find(|stalls| is_near(slow, f64::from(*stalls) * asked))?;
    Stall::of(report, slow, vec![above_mean_ms; stalls as usize])
}

#[cfg(test)]
mod tests {
    use super::super::on_report;
    use crate::finding::{Finding, Severity};
    use crate::printed::read;

    /// A server behind 50 connections that was stopped for 0.8 s.
    fn hey(options: &str, last: u64, before: u64) -> Option<Finding> {
        let text = format!(
            "$ hey {options} -c 50 http://127.0.0.1:47110/\n\nSummary:\n  Total:\t2.1570 secs\n  Slowest:\t0.8035 secs\n  \
             Fastest:\t0.0000 secs\n  Average:\t0.0036 secs\n  Requests/sec:\t13908.3764\n  \n  Total data:\t60000 bytes\n  \
             Size/request:\t2 bytes\n\nResponse time histogram:\n  0.000 [1]\t|\n  0.080 [29935]\t|■■■■\n  0.161 [14]\t|\n  \
             0.241 [0]\t|\n  0.321 [0]\t|\n  0.402 [0]\t|\n  0.482 [0]\t|\n  0.562 [0]\t|\n  0.643 [0]\t|\n  \
             0.723 [{before}]\t|\n  0.804 [{last}]\t|\n\n\nLatency distribution:\n  10% in 0.0002 secs\n  25% in 0.0003 secs\n  \
             50% in 0.0005 secs\n  75% in 0.0008 secs\n  90% in 0.0014 secs\n  95% in 0.0028 secs\n  99% in 0.0078 secs\n\n\
             Status code distribution:\n  [200]\t30000 responses\n"
        );
        on_report(&read(&text).reports.remove(0))
    }

    #[test]
    fn as_many_behind_a_gap_as_were_in_flight_are_a_stall() {
        let finding = hey("-n 30000", 50, 0).unwrap();
        let said = "By the histogram 50 requests took more than 723 ms, and none between 161 ms and that, and 50 were in \
                    flight: all 50 once, stalled for 800 ms";
        assert!(finding.evidence.contains(said), "{finding:?}");
        assert_eq!(finding.severity, Severity::Suspect);
        assert!(hey("-n 30000", 40, 10).is_some(), "a boundary lies within them");
        // A run by time does not tell it from requests that were slow one by one.
        let timed = hey("-z 2s", 50, 0).unwrap();
        assert!(timed.evidence.contains("or as happened to be slow"), "{timed:?}");
        assert_eq!(timed.severity, Severity::Note);
    }

    #[test]
    fn others_are_none() {
        assert_eq!(hey("-n 30000", 25, 0), None);
        assert_eq!(hey("-n 30000 -q 700", 50, 0), None, "a schedule");
    }
}
