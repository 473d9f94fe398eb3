//! The HDR histogram log (version 1.3): one line per phase, tagged with its name, its histogram
//! as base64 of the V2-deflate form. HistogramLogProcessor, the plotters and the libraries of
//! other languages read it. Values are nanoseconds.

use ablaze_model::Run;
use ablaze_model::printable::printable;

use crate::phases;
use ablaze_model::moment::rfc3339;

/// Interval_Max is by custom in milliseconds; ours are ns.
const MAX_VALUE_DIVISOR: f64 = 1e6;

/// The run's histograms as a log. Phases without values have no line.
pub fn write(run: &Run) -> String {
    let start_s = run.started_unix_ns as f64 / 1e9;
    let length_s = run.elapsed_ns as f64 / 1e9;
    let version = env!("CARGO_PKG_VERSION");
    let what = crate::text::what_was_loaded(run);
    let what = printable(&what);
    let mut text = format!(
        "#[Latencies in nanoseconds, logged with ablaze {version}: {what}]\n\
         #[Histogram log format version 1.3]\n\
         #[StartTime: {start_s:.3} (seconds since epoch), {}]\n\
         #[BaseTime: {start_s:.3} (seconds since epoch)]\n\
         #[MaxValueDivisor: {MAX_VALUE_DIVISOR:.3}]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        rfc3339(run.started_unix_ns),
    );
    for (phase, latency) in phases::flat(&run.record) {
        if let Some(max_ns) = latency.max_ns() {
            let max = max_ns as f64 / MAX_VALUE_DIVISOR;
            let histogram = latency.to_base64();
            text.push_str(&format!("Tag={phase},0.000,{length_s:.3},{max:.3},{histogram}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use base64::Engine;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use crate::{phases, sample};

    #[test]
    fn the_reader_of_the_format_gets_every_histogram_back() {
        let run = sample::troubled();
        let text = super::write(&run);
        let mut found: HashMap<String, Histogram<u64>> = HashMap::new();
        let (mut start, mut base) = (None, None);
        for entry in IntervalLogIterator::new(text.as_bytes()) {
            match entry.unwrap() {
                LogEntry::StartTime(time) => start = Some(time),
                LogEntry::BaseTime(time) => base = Some(time),
                LogEntry::Interval(interval) => {
                    assert_eq!(interval.start_timestamp(), Duration::ZERO);
                    assert_eq!(interval.duration(), Duration::from_secs(10));
                    let bytes = base64::engine::general_purpose::STANDARD
                        .decode(interval.encoded_histogram())
                        .unwrap();
                    let histogram = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                    found.insert(interval.tag().unwrap().to_string(), histogram);
                }
            }
        }
        assert_eq!(start, Some(Duration::from_millis(1_795_251_909_123)));
        assert_eq!(base, start);
        let expected: Vec<_> =
            phases::flat(&run.record).into_iter().filter(|(_, l)| l.count() > 0).collect();
        assert_eq!(found.len(), expected.len());
        for (phase, latency) in expected {
            assert_eq!(found[&phase], latency.histogram(), "{phase}");
        }
    }

    #[test]
    fn an_empty_run_is_a_log_without_lines() {
        let text = super::write(&sample::refused());
        let entries = IntervalLogIterator::new(text.as_bytes()).map(|entry| entry.unwrap());
        assert_eq!(entries.filter(|e| matches!(e, LogEntry::Interval(_))).count(), 0);
    }

    #[test]
    fn a_url_cannot_break_a_line() {
        let mut run = sample::ordinary();
        run.plan.target.url = "http://h/\nTag=x".into();
        assert!(super::write(&run).lines().all(|line| !line.starts_with("Tag=x")));
    }
}
