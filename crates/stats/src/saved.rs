//! A distribution as text and back, losing nothing: the histogram in the interchange form that
//! every HDR histogram library reads (V2, deflated, base64), and the exact figures beside it.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::latency::Latency;

/// The figures of a distribution that its histogram only approximates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact {
    /// Sum of all values, ns.
    pub sum_ns: u128,
    /// Sum of their squares, ns².
    pub sum_of_squares: u128,
    /// Smallest value; `None` when empty.
    pub min_ns: Option<u64>,
    /// Largest value; `None` when empty.
    pub max_ns: Option<u64>,
}

/// Why a distribution could not be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreError {
    /// The text is not base64.
    NotBase64,
    /// The bytes are not a histogram in the V2 form.
    NotAHistogram,
    /// The histogram and the exact figures contradict each other.
    Contradiction,
}

impl std::fmt::Display for RestoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NotBase64 => "the histogram's text is not base64",
            Self::NotAHistogram => "the histogram's bytes are not an HDR histogram (V2)",
            Self::Contradiction => "the histogram contradicts the figures beside it",
        })
    }
}

impl std::error::Error for RestoreError {}

impl Latency {
    /// The histogram as base64 of its V2-deflate form.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.histogram(), &mut bytes)
            .expect("writing to memory succeeds, and counts stay far below 2^63");
        STANDARD.encode(bytes)
    }

    /// The figures that belong beside the histogram.
    pub fn exact(&self) -> Exact {
        Exact {
            sum_ns: self.sum_ns(),
            sum_of_squares: self.sum_of_squares(),
            min_ns: self.min_ns(),
            max_ns: self.max_ns(),
        }
    }

    /// Puts a distribution together again.
    ///
    /// # Errors
    /// When the text is no histogram, or the figures cannot be those of its values.
    pub fn restore(histogram_base64: &str, exact: Exact) -> Result<Self, RestoreError> {
        let bytes = STANDARD.decode(histogram_base64).map_err(|_| RestoreError::NotBase64)?;
        let histogram = Deserializer::new()
            .deserialize::<u64, _>(&mut Cursor::new(bytes))
            .map_err(|_| RestoreError::NotAHistogram)?;
        let fits = match (exact.min_ns, exact.max_ns) {
            (Some(min), Some(max)) => {
                let count = u128::from(histogram.len());
                count > 0
                    && u128::from(min) * count <= exact.sum_ns
                    && exact.sum_ns <= u128::from(max) * count
            }
            (None, None) => histogram.is_empty() && exact.sum_ns == 0 && exact.sum_of_squares == 0,
            _ => false,
        };
        if fits {
            Ok(Self::from_parts(&histogram, exact))
        } else {
            Err(RestoreError::Contradiction)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Exact, RestoreError};
    use crate::latency::Latency;

    fn sample(digits: u8) -> Latency {
        let mut latency = Latency::new(digits);
        for value in [0, 1, 999, 123_456, 123_457, 5_000_000_000, 9_000_000_000_000] {
            latency.record_many(value, value % 7 + 1);
        }
        latency
    }

    #[test]
    fn nothing_is_lost_on_the_way() {
        for digits in [3, 4] {
            for latency in [sample(digits), Latency::new(digits)] {
                let back = Latency::restore(&latency.to_base64(), latency.exact()).unwrap();
                assert_eq!(back.histogram(), latency.histogram());
                assert_eq!(back.exact(), latency.exact());
                assert_eq!(back.count(), latency.count());
                assert_eq!(back.deviation_ns(), latency.deviation_ns());
                let mut merged = back.clone();
                merged.merge(&latency);
                assert_eq!(merged.count(), 2 * latency.count());
            }
        }
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        let exact = sample(3).exact();
        let of_text = |text: &str| Latency::restore(text, exact).unwrap_err();
        assert_eq!(of_text("&"), RestoreError::NotBase64);
        assert_eq!(of_text("AAAA"), RestoreError::NotAHistogram);
        assert_eq!(of_text(""), RestoreError::NotAHistogram);
        let cut = &sample(3).to_base64()[..24];
        assert_eq!(of_text(cut), RestoreError::NotAHistogram);
        let other = Exact { max_ns: Some(1), ..exact };
        assert_eq!(
            Latency::restore(&sample(3).to_base64(), other).unwrap_err(),
            RestoreError::Contradiction
        );
    }
}
