//! The metrics held against what they were made of, and against the rules of the formats.

use std::collections::BTreeMap;

use ablaze_model::progress::GroupInterval;
use ablaze_stats::Latency;

use super::*;

const TIMES_NS: [u64; 6] = [999_999, 1_000_001, 1_200_000, 50_000_000, 50_000_000, 40_000_000_000];

fn touched_by(times_ns: &[u64]) -> Vec<Touched> {
    let mut latency = Latency::new(touched::DIGITS);
    times_ns.iter().for_each(|time| latency.record(*time));
    let mut touched = Vec::new();
    touched::append(&latency, &mut touched);
    touched
}

fn snapshot() -> Snapshot {
    let mut so_far = Interval {
        responses: 6,
        unexpected: 2,
        statuses: vec![(200, 4), (404, 2)],
        received_bytes: 1_000,
        times: touched_by(&TIMES_NS),
        groups: vec![GroupInterval { responses: 6, ..GroupInterval::default() }],
        ..Interval::default()
    };
    so_far.failures[0] = 3;
    Snapshot {
        so_far,
        target: "http://h/\"\\\n".to_owned(),
        groups: vec!["login".to_owned()],
        ..Snapshot::default()
    }
}

fn text(format: Format) -> String {
    String::from_utf8(write(&families(&snapshot()), format)).unwrap()
}

#[test]
fn the_text_has_counts_with_their_labels_escaped() {
    let text = text(Format::Text);
    for line in [
        "# TYPE ablaze_requests_total counter",
        "ablaze_requests_total{target=\"http://h/\\\"\\\\\\n\"} 9",
        "ablaze_responses_total{target=\"http://h/\\\"\\\\\\n\",status=\"404\"} 2",
        "ablaze_received_bytes_total{target=\"http://h/\\\"\\\\\\n\"} 1000",
        "ablaze_step_responses_total{target=\"http://h/\\\"\\\\\\n\",step=\"login\"} 6",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}\n{text}");
    }
}

/// OpenMetrics 1.0: TYPE names the family, a counter's sample ends with `_total`, the last line is `# EOF`.
#[test]
fn open_metrics_names_families_and_ends_with_eof() {
    let text = text(Format::OpenMetrics);
    assert!(text.contains("# TYPE ablaze_requests counter\n"), "{text}");
    assert!(text.contains("\nablaze_requests_total{"), "{text}");
    assert!(text.contains("# UNIT ablaze_sent_bytes bytes\n"), "{text}");
    assert!(text.ends_with("\n# EOF\n"), "{text}");
}

#[test]
fn a_classic_bucket_counts_exactly_the_times_up_to_its_bound() {
    let text = text(Format::Text);
    let mut buckets = 0;
    let prefix = "ablaze_request_duration_seconds_bucket{";
    for line in text.lines().filter(|line| line.starts_with(prefix)) {
        let (labels, count) = line.rsplit_once(' ').unwrap();
        let bound = labels.split("le=\"").nth(1).unwrap().split('"').next().unwrap();
        let bound_s: f64 = bound.replace("+Inf", "inf").parse().unwrap();
        let below = TIMES_NS.iter().filter(|ns| **ns as f64 / 1e9 <= bound_s).count();
        assert_eq!(count.parse(), Ok(below), "{line}");
        buckets += 1;
    }
    assert_eq!(buckets, USUAL_BOUNDS_NS.len() + 1);
    assert!(
        text.contains("ablaze_request_duration_seconds_count{target=\"http://h/\\\"\\\\\\n\"} 6")
    );
}

#[test]
fn bounds_are_at_most_1_percent_above_the_usual_ones() {
    for usual_ns in USUAL_BOUNDS_NS {
        let bound_ns = touched::bounds_ns(touched::bucket_of(usual_ns)).1;
        assert!((usual_ns..=usual_ns + usual_ns / 100).contains(&bound_ns), "{usual_ns}");
    }
}

#[test]
fn an_exponential_bucket_holds_its_times() {
    let buckets = exponential::buckets(&touched_by(&TIMES_NS));
    assert_eq!(buckets.values().sum::<u64>(), 6);
    let factor = 2f64.powf(1.0 / f64::from(1 << exponential::SCHEMA));
    for time_s in TIMES_NS.map(|ns| ns as f64 / 1e9) {
        // A recorded time is known to 1 %.
        let holds = |number: &i32| {
            time_s > factor.powi(number - 1) * 0.99 && time_s <= factor.powi(*number) * 1.01
        };
        assert!(buckets.keys().any(holds), "{time_s} {buckets:?}");
    }
}

#[test]
fn the_scraper_chooses_the_format() {
    // What Prometheus 2.53 sends with native histograms enabled, and without.
    let native = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                  encoding=delimited;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,\
                  application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    let classic =
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1";
    assert_eq!(Format::of_accept(native), Format::Protobuf);
    assert_eq!(Format::of_accept(classic), Format::OpenMetrics);
    assert_eq!(Format::of_accept("text/plain, application/openmetrics-text;q=0.9"), Format::Text);
    assert_eq!(Format::of_accept("application/vnd.google.protobuf"), Format::Text);
    for other in ["", "*/*", "text/html", ";;;,,q=1", "application/openmetrics-text;q=x"] {
        assert_eq!(Format::of_accept(other), Format::Text, "{other}");
    }
}

/// Read with a decoder of this test's own, by metrics.proto and the encoding's specification.
#[test]
fn the_native_histogram_is_read_back_as_it_was() {
    let bytes = write(&families(&snapshot()), Format::Protobuf);
    let mut rest = &bytes[..];
    let mut found = None;
    while !rest.is_empty() {
        let length = number(&mut rest) as usize;
        let (family, after) = rest.split_at(length);
        rest = after;
        let fields = fields(family);
        if fields[&1][0].1 == b"ablaze_request_duration_seconds" {
            assert_eq!(fields[&3][0].0, 4, "HISTOGRAM");
            found = Some(self::fields(&fields[&4][0].1)[&7][0].1.clone());
        }
    }
    let histogram = fields(&found.unwrap());
    assert_eq!(histogram[&1][0].0, 6, "sample_count");
    assert_eq!(unzigzag(histogram[&5][0].0), i64::from(exponential::SCHEMA));
    let (mut at, mut count) = (0, 0);
    let mut deltas = histogram[&13].iter().map(|(delta, _)| unzigzag(*delta));
    let mut buckets = BTreeMap::new();
    for (_, span) in &histogram[&12] {
        let span = fields(span);
        at += unzigzag(span[&1][0].0);
        for _ in 0..span[&2][0].0 {
            count += deltas.next().unwrap();
            buckets.insert(at as i32, count as u64);
            at += 1;
        }
    }
    assert_eq!(deltas.next(), None);
    assert_eq!(buckets, exponential::buckets(&touched_by(&TIMES_NS)));
}

/// The fields of a message: of each the values, as a number or as bytes.
fn fields(mut rest: &[u8]) -> BTreeMap<u64, Vec<(u64, Vec<u8>)>> {
    let mut fields: BTreeMap<u64, Vec<(u64, Vec<u8>)>> = BTreeMap::new();
    while !rest.is_empty() {
        let tag = number(&mut rest);
        let value = match tag & 7 {
            0 => (number(&mut rest), Vec::new()),
            wire_type => {
                let length = if wire_type == 1 { 8 } else { number(&mut rest) as usize };
                let (value, after) = rest.split_at(length);
                rest = after;
                (0, value.to_vec())
            }
        };
        fields.entry(tag >> 3).or_default().push(value);
    }
    fields
}

fn number(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let (&byte, after) = rest.split_first().unwrap();
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number of more than ten bytes")
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
