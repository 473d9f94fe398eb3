//! The points of a Poisson process of rate one, in order, the same for everyone with the same seed.

use ablaze_random::SplitMix64;

/// Points between two logarithms. The sum of exponentially distributed gaps is the logarithm of a product, and the smallest
/// product of so many factors is 2^-864, which is far from the smallest number there is.
const CHUNK: u64 = 16;

/// The points that are left.
#[derive(Debug, Clone)]
pub(super) struct Points {
    random: SplitMix64,
    /// How many were passed.
    passed: u64,
    /// The last point of the last whole chunk.
    base: f64,
    /// The factors since.
    product: f64,
}

impl Points {
    pub fn new(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        random.next_u64();
        Self { random, passed: 0, base: 0.0, product: 1.0 }
    }

    /// The point of this number, from 0; of those that were passed, the last.
    pub fn of(&mut self, number: u64) -> f64 {
        while self.passed <= number {
            self.pass();
        }
        self.base - self.product.ln()
    }

    /// One more. What comes out does not depend on which of them somebody looks at: chunks are where they are.
    #[inline]
    fn pass(&mut self) {
        let uniform = ((self.random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        self.product *= uniform;
        self.passed += 1;
        if self.passed.is_multiple_of(CHUNK) {
            self.base -= self.product.ln();
            self.product = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_skips_some_finds_the_others_where_they_are() {
        let mut all = Points::new(5);
        let whole: Vec<f64> = (0..1000).map(|number| all.of(number)).collect();
        assert!(whole.is_sorted() && whole[0] > 0.0);
        for (first, step) in [(0, 2), (3, 7), (40, 64), (999, 1)] {
            let mut some = Points::new(5);
            for number in (first..1000).step_by(step) {
                assert_eq!(some.of(number as u64).to_bits(), whole[number].to_bits(), "{number}");
            }
        }
    }

    #[test]
    fn the_gaps_are_those_of_a_logarithm_each() {
        let mut random = SplitMix64::new(9);
        random.next_u64();
        let (mut points, mut sum) = (Points::new(9), 0.0);
        for number in 0..10_000 {
            let uniform = ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            sum -= uniform.ln();
            let own = points.of(number);
            assert!((own - sum).abs() < 1e-9 * sum.max(1.0), "{own} and {sum}");
        }
    }
}
