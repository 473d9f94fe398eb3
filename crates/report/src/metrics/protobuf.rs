//! Metrics as Prometheus' protocol buffers (`io.prometheus.client.MetricFamily` of client_model's metrics.proto), each with
//! its length in front: the only form that has native histograms. The encoding is protobuf.dev/programming-guides/encoding.

use ablaze_stats::touched::{self, Touched};

use super::{Family, Sample, Value, exponential, sum_s};

/// Values up to this one, s, would be counted as zero; there are none, because times are at least 1 ns.
const ZERO_THRESHOLD_S: f64 = 1e-10;

pub(super) fn write(families: &[Family]) -> Vec<u8> {
    let mut all = Vec::new();
    for family in families {
        let message = of_family(family).0;
        varint(message.len() as u64, &mut all);
        all.extend(message);
    }
    all
}

fn of_family(family: &Family) -> Message {
    let (total, kind) = match family.kind() {
        "counter" => ("_total", 0),
        "gauge" => ("", 1),
        _ => ("", 4),
    };
    let mut message = Message::default();
    message.bytes(1, format!("{}{total}", family.name).as_bytes());
    message.bytes(2, family.help.as_bytes());
    message.number(3, kind);
    family.samples.iter().for_each(|sample| message.message(4, &metric(sample)));
    if !family.unit.is_empty() {
        message.bytes(5, family.unit.as_bytes());
    }
    message
}

fn metric(sample: &Sample) -> Message {
    let mut message = Message::default();
    for (name, value) in &sample.labels {
        let mut label = Message::default();
        label.bytes(1, name.as_bytes());
        label.bytes(2, value.as_bytes());
        message.message(1, &label);
    }
    let mut value = Message::default();
    match &sample.value {
        Value::Gauge(figure) => {
            value.double(1, *figure);
            message.message(2, &value);
        }
        Value::Counter(count) => {
            value.double(1, *count as f64);
            message.message(3, &value);
        }
        Value::Times(times) => message.message(7, &histogram(times)),
    }
    message
}

/// A native histogram: runs of neighbouring buckets as spans, and each count as its difference from the one before.
fn histogram(times: &[Touched]) -> Message {
    let mut message = Message::default();
    message.number(1, touched::count(times));
    message.double(2, sum_s(times));
    message.number(5, zigzag(exponential::SCHEMA.into()));
    message.double(6, ZERO_THRESHOLD_S);
    message.number(7, 0);
    let buckets = exponential::buckets(times);
    let mut spans: Vec<(i32, u32)> = Vec::new();
    let mut after_last = 0;
    for &number in buckets.keys() {
        match spans.last_mut() {
            Some((_, length)) if number == after_last => *length += 1,
            _ => spans.push((number - after_last, 1)),
        }
        after_last = number + 1;
    }
    // Without a span this would be a classic histogram (metrics.proto, at positive_span).
    if spans.is_empty() {
        spans.push((0, 0));
    }
    for (offset, length) in spans {
        let mut span = Message::default();
        span.number(1, zigzag(offset.into()));
        span.number(2, length.into());
        message.message(12, &span);
    }
    let mut before = 0;
    for &count in buckets.values() {
        message.number(13, zigzag(count as i64 - before));
        before = count as i64;
    }
    message
}

/// The bytes of a message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, field: u32, value: u64) {
        self.tag(field, 0);
        varint(value, &mut self.0);
    }

    fn double(&mut self, field: u32, value: f64) {
        self.tag(field, 1);
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, field: u32, value: &[u8]) {
        self.tag(field, 2);
        varint(value.len() as u64, &mut self.0);
        self.0.extend(value);
    }

    fn message(&mut self, field: u32, value: &Self) {
        self.bytes(field, &value.0);
    }

    fn tag(&mut self, field: u32, wire_type: u32) {
        varint(u64::from(field << 3 | wire_type), &mut self.0);
    }
}

fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// A signed number as `sint32` and `sint64` have it.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}
