//! The percentile log of a real run, read by a decoder of this test's own, written from the
//! published format (HdrHistogram: log format 1.3, encoding V2) and sharing no code with what
//! writes it. Its counts, maxima and percentiles must be those of the JSON of the same run.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::Value;

use crate::e2e::support::{Scratch, ablaze, serve, url};

/// First word of the compressed form, and of what is inside: version 2, counts in whole bytes.
const COMPRESSED: u32 = 0x1c84_9314;
const ENCODED: u32 = 0x1c84_9313;

/// A line of the log.
struct Line {
    tag: String,
    /// Interval_Max, in the unit of the header's MaxValueDivisor.
    max: f64,
    buckets: Vec<Bucket>,
}

/// Values that are told apart from others, and how many there are.
struct Bucket {
    lowest: u64,
    highest: u64,
    count: u64,
}

impl Bucket {
    /// The histograms begin at 1 ns: shorter times are counted there.
    fn holds(&self, value_ns: u64) -> bool {
        (self.lowest..=self.highest).contains(&value_ns.max(1))
    }
}

impl Line {
    fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.count).sum()
    }

    /// The bucket of the value with this rank, from 1.
    fn at_rank(&self, rank: u64) -> &Bucket {
        let mut passed = 0;
        let reaches = |bucket: &&Bucket| {
            passed += bucket.count;
            passed >= rank
        };
        self.buckets.iter().find(reaches).unwrap()
    }

    fn mean(&self) -> f64 {
        let middle = |bucket: &Bucket| (bucket.lowest + bucket.highest) as f64 / 2.0;
        let sum: f64 = self.buckets.iter().map(|b| middle(b) * b.count as f64).sum();
        sum / self.count() as f64
    }
}

fn lines(log: &str) -> Vec<Line> {
    let mut rows = log.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(
        rows.next(),
        Some(
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
        )
    );
    let line = |row: &str| {
        let fields: Vec<&str> = row.split(',').collect();
        let [tag, _start, _length, max, histogram] = fields[..] else { panic!("{row}") };
        Line {
            tag: tag.strip_prefix("Tag=").unwrap().to_owned(),
            max: max.parse().unwrap(),
            buckets: decoded(&STANDARD.decode(histogram).unwrap()),
        }
    };
    rows.map(line).collect()
}

fn decoded(compressed: &[u8]) -> Vec<Bucket> {
    let number =
        |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(number(compressed, 0), COMPRESSED);
    assert_eq!(number(compressed, 4) as usize, compressed.len() - 8);
    let mut bytes = Vec::new();
    ZlibDecoder::new(&compressed[8..]).read_to_end(&mut bytes).unwrap();
    assert_eq!(number(&bytes, 0), ENCODED);
    let (payload_bytes, digits) = (number(&bytes, 4) as usize, number(&bytes, 12));
    let lowest = u64::from_be_bytes(bytes[16..24].try_into().unwrap());
    let payload = &bytes[40..];
    assert_eq!(payload_bytes, payload.len());
    buckets(&counts(payload), digits, lowest)
}

/// Numbers in ZigZag LEB128: a count, or below 0 so many counts of 0. Nine bytes hold 64 bits: the
/// last has eight of them.
fn counts(mut payload: &[u8]) -> Vec<u64> {
    let mut counts = Vec::new();
    while !payload.is_empty() {
        let mut coded = 0_u64;
        for at in 0..9 {
            let byte = u64::from(payload[0]);
            payload = &payload[1..];
            coded |= (if at == 8 { byte } else { byte & 0x7f }) << (7 * at);
            if byte & 0x80 == 0 {
                break;
            }
        }
        match (coded >> 1) as i64 ^ -((coded & 1) as i64) {
            zeros @ ..0 => counts.resize(counts.len() + zeros.unsigned_abs() as usize, 0),
            count => counts.push(count as u64),
        }
    }
    counts
}

/// What the counts are of: linear up to twice ten to the power of `digits`, then each half of that
/// number of buckets is twice as wide as the one before.
fn buckets(counts: &[u64], digits: u32, lowest: u64) -> Vec<Bucket> {
    let half_magnitude = (2 * 10_u64.pow(digits)).next_power_of_two().ilog2() - 1;
    let half = 1_usize << half_magnitude;
    let bucket = |(index, count): (usize, &u64)| {
        let (shift, within) = match index / half {
            0 => (0, index),
            times => (times as u32 - 1, index % half + half),
        };
        let shift = shift + lowest.ilog2();
        let lowest = (within as u64) << shift;
        Bucket { lowest, highest: lowest + (1 << shift) - 1, count: *count }
    };
    let all = counts.iter().enumerate().map(bucket);
    all.filter(|bucket| bucket.count > 0).collect()
}

#[test]
fn another_reader_finds_the_counts_and_percentiles_of_the_json() {
    let server = serve();
    let (log, json) = (Scratch::new("decoded.hlog"), Scratch::new("decoded.json"));
    let target = url(&server, "/");
    let ran = ablaze(&[&target, "-n", "5000", "-c", "10", "-o", log.word(), "-o", json.word()]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert!(text.contains("#[Histogram log format version 1.3]\n"), "{text}");
    // Values are ns, the column of maxima ms.
    assert!(text.contains("#[MaxValueDivisor: 1000000.000]\n"), "{text}");
    let json: Value = serde_json::from_slice(&std::fs::read(json.path()).unwrap()).unwrap();
    let mut seen = Vec::new();
    for line in lines(&text) {
        let Some(expected) = json["latency_ns"].get(&line.tag) else { continue };
        agree(&line, expected);
        seen.push(line.tag);
    }
    for phase in ["wait", "receive", "total"] {
        assert!(seen.iter().any(|tag| tag == phase), "{phase}: {seen:?}");
    }
    assert_eq!(json["latency_ns"]["total"]["count"], 5000);
}

fn agree(line: &Line, expected: &Value) {
    let tag = &line.tag;
    let count = line.count();
    assert_eq!(Some(count), expected["count"].as_u64(), "{tag}");
    let max = expected["max"].as_u64().unwrap();
    let last = line.buckets.last().unwrap();
    assert!(last.holds(max), "{tag}: {max}");
    assert!((line.max - max as f64 / 1e6).abs() <= 0.0005, "{tag}: {} {max}", line.max);
    let mean = expected["mean"].as_f64().unwrap();
    // Three digits; below a thousand nanoseconds, one of them.
    assert!((line.mean() - mean).abs() <= 1.0 + mean / 1000.0, "{tag}: {} {mean}", line.mean());
    for (name, share) in
        [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)]
    {
        let value = expected[name].as_u64().unwrap();
        let bucket = line.at_rank((share * count as f64).ceil() as u64);
        assert!(bucket.holds(value), "{tag} {name}: {value}");
    }
}
