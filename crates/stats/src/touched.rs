//! The buckets that a short time touched, and nothing else: small enough to keep for every slice of a
//! run, exact enough to be added across threads and machines. The layout is that of a [`Latency`] with
//! [`DIGITS`] digits, so that adding loses nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::buckets::{Layout, RANGE_NS};
use crate::latency::Latency;
use crate::order;

/// Significant decimal digits of the values: a bucket is never wider than 1 % of its value.
pub const DIGITS: u8 = 2;

/// One bucket that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// Which, in ascending order of values.
    pub bucket: u16,
    /// Values in it; at most [`u32::MAX`] are counted.
    pub count: u32,
}

/// Appends the buckets of a distribution of [`DIGITS`] digits, in ascending order.
pub fn append(latency: &Latency, to: &mut Vec<Touched>) {
    let layout = Layout::new(DIGITS);
    to.extend(latency.recorded().map(|(value_ns, count)| Touched {
        bucket: layout.index(value_ns) as u16,
        count: count.try_into().unwrap_or(u32::MAX),
    }));
}

/// The values of two, together, in ascending order.
pub fn added(one: &[Touched], other: &[Touched]) -> Vec<Touched> {
    let mut all = [one, other].concat();
    all.sort_unstable_by_key(|touched| touched.bucket);
    all.dedup_by(|next, kept| {
        let same = next.bucket == kept.bucket;
        if same {
            kept.count = kept.count.saturating_add(next.count);
        }
        same
    });
    all
}

/// The bucket that a value falls in.
pub fn bucket_of(value_ns: u64) -> u16 {
    Layout::new(DIGITS).index(value_ns.min(RANGE_NS.1)) as u16
}

/// The lowest and the highest value of a bucket, ns.
pub fn bounds_ns(bucket: u16) -> (u64, u64) {
    let (layout, bucket) = (Layout::new(DIGITS), usize::from(bucket));
    (layout.lowest(bucket), layout.highest(bucket))
}

/// How many values there are.
pub fn count(touched: &[Touched]) -> u64 {
    touched.iter().map(|touched| u64::from(touched.count)).sum()
}

/// The value at quantile `q` (0 to 1): the highest of its bucket, ns. `None` when there are none.
pub fn quantile_ns(touched: &[Touched], q: f64) -> Option<u64> {
    let rank = order::rank(count(touched), q);
    let layout = Layout::new(DIGITS);
    let mut seen = 0;
    let at = touched.iter().find(|touched| {
        seen += u64::from(touched.count);
        seen >= rank
    })?;
    Some(layout.highest(usize::from(at.bucket)))
}

/// The buckets as a short text: for each in ascending order how far it is from the one before and how
/// many values it has, as LEB128 numbers, in base64.
pub fn to_text(touched: &[Touched]) -> String {
    let (mut bytes, mut before) = (Vec::with_capacity(touched.len() * 3), 0);
    for &Touched { bucket, count } in touched {
        leb128(u32::from(bucket) - before, &mut bytes);
        leb128(count, &mut bytes);
        before = u32::from(bucket);
    }
    STANDARD.encode(bytes)
}

/// The buckets that [`to_text`] wrote; `None` when the text is something else.
pub fn from_text(text: &str) -> Option<Vec<Touched>> {
    let bytes = STANDARD.decode(text).ok()?;
    let last = Layout::new(DIGITS).index(RANGE_NS.1);
    let (mut rest, mut before, mut touched) = (bytes.as_slice(), 0u32, Vec::new());
    while !rest.is_empty() {
        let step = read_leb128(&mut rest)?;
        let bucket = before.checked_add(step)?;
        let count = read_leb128(&mut rest)?;
        let ascends = touched.is_empty() || step > 0;
        if !ascends || bucket as usize > last || count == 0 {
            return None;
        }
        touched.push(Touched { bucket: u16::try_from(bucket).ok()?, count });
        before = bucket;
    }
    Some(touched)
}

/// The distribution that they are the buckets of, as far as they tell: every value counts as the lowest
/// of its bucket.
pub fn latency(touched: &[Touched]) -> Latency {
    let (layout, mut latency) = (Layout::new(DIGITS), Latency::new(DIGITS));
    for &Touched { bucket, count } in touched {
        latency.record_many(layout.lowest(usize::from(bucket)), count.into());
    }
    latency
}

fn leb128(mut value: u32, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn read_leb128(from: &mut &[u8]) -> Option<u32> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value.try_into().ok();
        }
    }
    None
}

// The number of every bucket fits.
const _: () = assert!(Layout::new(DIGITS).index(RANGE_NS.1) <= u16::MAX as usize);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Vec<Touched> {
        let mut latency = Latency::new(DIGITS);
        values.iter().for_each(|value| latency.record(*value));
        let mut touched = Vec::new();
        append(&latency, &mut touched);
        touched
    }

    proptest! {
        #[test]
        fn adding_is_recording_together_and_text_loses_nothing(
            one in prop::collection::vec(1..=10_000_000_000u64, 0..60),
            other in prop::collection::vec(1..=3_600_000_000_000u64, 0..60),
        ) {
            let together = added(&of(&one), &of(&other));
            prop_assert_eq!(&together, &of(&[one.clone(), other.clone()].concat()));
            prop_assert_eq!(count(&together), (one.len() + other.len()) as u64);
            let text = to_text(&together);
            prop_assert_eq!(from_text(&text), Some(together.clone()));
            let mut whole = Latency::new(DIGITS);
            one.iter().chain(&other).for_each(|value| whole.record(*value));
            for q in [0.0, 0.5, 0.99, 1.0] {
                // The histogram's own value is held within the exact extremes.
                let own = quantile_ns(&together, q).map(|ns| ns.min(whole.max_ns().unwrap_or(0)));
                prop_assert_eq!(own, whole.quantile_ns(q));
            }
            let mut again = Vec::new();
            append(&latency(&together), &mut again);
            prop_assert_eq!(again, together);
        }

        #[test]
        fn any_text_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(touched) = from_text(&STANDARD.encode(bytes)) {
                prop_assert_eq!(from_text(&to_text(&touched)), Some(touched));
            }
        }
    }

    #[test]
    fn an_empty_slice_is_an_empty_text() {
        assert_eq!(to_text(&[]), "");
        assert_eq!(from_text(""), Some(Vec::new()));
        assert_eq!(quantile_ns(&[], 0.5), None);
        assert_eq!(from_text("no base64!"), None);
    }
}
