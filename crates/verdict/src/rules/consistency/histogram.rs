//! hey's and oha's histogram, held against the percentiles: both are counted from the same times.

use super::Contradiction;
use super::figure::Figure::{Histogram, Percentile};
use super::figure::digits;
use crate::printed::Report;
use crate::words::{counted, grouped};

/// Each tool counts to a percentile in its own way, one request more or less; and a part of many that keep their times in
/// classes lies beside a mark.
const OFF: f64 = 2.0;
const OFF_SHARE: f64 = 0.001;
/// So far from each other a mark and a time lie on different sides of each other, whatever the classes.
const NEAR: f64 = 1.01;

/// Of the requests up to a mark at least the percentage of each percentile below it, and at most that of each above it.
pub fn against_percentiles(report: &Report) -> Option<Contradiction> {
    let all = report.histogram.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
    let off = OFF + OFF_SHARE * all as f64;
    let mut up_to = 0u64;
    for (mark, count) in &report.histogram {
        up_to = up_to.saturating_add(*count);
        for (percent, ms) in &report.percentiles {
            let share = all as f64 * percent / 100.0;
            let too_many = mark.high() * NEAR < ms.low() && up_to as f64 > share + off;
            let too_few = mark.low() > ms.high() * NEAR && (up_to as f64) < share - off;
            if too_many || too_few {
                let said = format!(
                    "By the histogram {} of {} took {} ms or less, but {} is {} ms.",
                    grouped(up_to),
                    counted(all, "response"),
                    digits(*mark),
                    Percentile(*percent).name(report),
                    digits(*ms)
                );
                return Some(Contradiction::new([Histogram, Percentile(*percent)], said));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D43;
    use crate::printed::read;
    use crate::rules::judge;

    /// As hey printed it, but for the two counts and the percentile given.
    fn said(counts: [u64; 2], p99: &str) -> String {
        let text = format!(
            "Summary:\n  Total:\t1.1103 secs\n  Slowest:\t0.0607 secs\n  Fastest:\t0.0201 secs\n  Average:\t0.0221 secs\n  \
             Requests/sec:\t450.3173\n\nResponse time histogram:\n  0.020 [1]\t|\n  0.024 [{}]\t|■■\n  0.028 [7]\t|\n  \
             0.032 [0]\t|\n  0.036 [0]\t|\n  0.040 [0]\t|\n  0.044 [0]\t|\n  0.049 [0]\t|\n  0.053 [10]\t|\n  0.057 [{}]\t|\n  \
             0.061 [10]\t|\n\n\nLatency distribution:\n  10% in 0.0203 secs\n  25% in 0.0204 secs\n  50% in 0.0205 secs\n  \
             75% in 0.0209 secs\n  90% in 0.0216 secs\n  95% in 0.0245 secs\n  99% in {p99} secs\n\n\
             Status code distribution:\n  [200]\t500 responses\n",
            counts[0], counts[1]
        );
        let findings = judge(&read(&text)).reports.remove(0).findings;
        findings.into_iter().filter(|one| one.id == D43).map(|one| one.evidence).collect()
    }

    #[test]
    fn the_histogram_leaves_to_each_percentile_what_it_counts() {
        assert_eq!(said([472, 0], "0.0571"), "");
        // 20 of 500 are above 48 ms, which is 4 %.
        let edited = said([472, 0], "0.0450");
        assert!(edited.contains("480 of 500 responses took 49 ms or less"), "{edited}");
        let moved = said([72, 400], "0.0571");
        assert!(moved.contains("73 of 500 responses took 24 ms or less"), "{moved}");
    }
}
