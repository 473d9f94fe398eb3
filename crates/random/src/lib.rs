//! Random numbers from a seed: the same seed gives the same experiment on every machine and in every version, so no
//! sequence here may change. Knows no clock and no other crate; not for secrets. Three generators, each for what
//! the others are too slow or too poor for:
//!
//! - [`SplitMix64`]: a stream of which any number can be had at once, for the arrivals of a load, what a server draws for
//!   each response, and tests;
//! - [`Random`]: for statistics (resampling, the order of runs);
//! - [`Wyrand`]: the fewest instructions, for digits in requests on the hot path.

/// SplitMix64: G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with David
/// Stafford's mixer 13. Its state grows by a constant, so that any number of the stream can be computed alone.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Number `index`, from 0, of the stream that belongs to `seed`.
    pub fn at(seed: u64, index: u64) -> u64 {
        Self(seed.wrapping_add(index.wrapping_mul(Self::STEP))).next_u64()
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in 0 <= x < `bound` (> 0). Not exactly each equally likely: for bounds far below 2^64.
    ///
    /// # Panics
    /// When `bound` is 0: there is no such number.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    /// `count` random bytes, the low bytes of a number first.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.next_u64().to_le_bytes()).flatten().take(count).collect()
    }
}

/// 64 random bits as a number in 0 <= x < 1, a multiple of 2^-53.
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// wyrand (W. Yi, public domain): one multiplication for a number. Good enough to spread requests over a key space.
#[derive(Debug, Clone)]
pub struct Wyrand(u64);

impl Wyrand {
    /// Stream `stream` (a worker's number) of those that belong to `seed`. SplitMix64 keeps neighbouring ones apart.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(SplitMix64::at(seed, stream.wrapping_sub(1)))
    }

    /// The next 64 bits.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }
}

/// A stream of random numbers for statistics: xoshiro256++ (D. Blackman, S. Vigna, "Scrambled Linear Pseudorandom
/// Number Generators", ACM Trans. Math. Softw. 47(4), 2021), its state filled from the seed by SplitMix64, as its authors
/// advise.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The stream that belongs to `seed`; every seed is as good as another.
    pub fn new(seed: u64) -> Self {
        let mut split_mix = SplitMix64::new(seed);
        Self { state: std::array::from_fn(|_| split_mix.next_u64()) }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let c = c ^ a;
        let d = d ^ b;
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number in 0 <= x < `bound` (> 0), each equally likely: multiply and reject, D. Lemire,
    /// "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
    ///
    /// # Panics
    /// When `bound` is 0: there is no such number.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "no number is below 0");
        let bound = bound as u64;
        let unfair = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= unfair {
                return (product >> 64) as usize;
            }
        }
    }

    /// A number in 0 <= x < 1, a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        unit(self.next_u64())
    }

    /// A number from the standard normal distribution (G. E. P. Box, M. E. Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Puts `items` into random order, each order equally likely (R. Durstenfeld, "Algorithm 235:
    /// Random permutation", CACM 7(7), 1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_the_published_numbers() {
        // The reference implementation (prng.di.unimi.it/splitmix64.c), seed 1234567.
        let published: [u64; 5] = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        let mut stream = SplitMix64::new(1_234_567);
        for (index, number) in published.into_iter().enumerate() {
            assert_eq!(stream.next_u64(), number);
            assert_eq!(SplitMix64::at(1_234_567, index as u64), number);
        }
    }

    #[test]
    fn wyrand_folds_the_product_of_its_definition() {
        // The reference (wyhash.h, final version 3): A = 0xa0761d6478bd642f, B = 0xe7037ed1a0b428db; from state 0 the first
        // number is the folded product of A and A ^ B.
        let (a, b) = (0xa076_1d64_78bd_642f_u64, 0xe703_7ed1_a0b4_28db_u64);
        let product = u128::from(a) * u128::from(a ^ b);
        let mut random = Wyrand(0);
        assert_eq!(random.next_u64(), (product >> 64) as u64 ^ product as u64);
        assert_ne!(Wyrand::new(1, 0).next_u64(), Wyrand::new(1, 1).next_u64());
    }

    #[test]
    fn xoshiro_gives_the_published_numbers() {
        let mut random = Random { state: [0, 0, 0, 1] };
        let published = [
            0x0000_0000_0080_0000,
            0x0000_0000_0080_0011,
            0x0002_2000_0080_0011,
            0x0002_2000_4400_0020,
            0x0002_2000_4480_08a1,
            0x0110_2100_8022_08a0,
            0x0114_0022_8420_0880,
            0x0402_8966_44a6_4095,
        ];
        assert_eq!(published.map(|_| random.next_u64()), published);
    }

    #[test]
    fn numbers_below_a_bound_are_equally_likely() {
        // Chi-squared with 6 degrees of freedom: 22.46 is exceeded once in a thousand.
        let mut random = Random::new(1);
        let mut seen = [0.0f64; 7];
        for _ in 0..70_000 {
            seen[random.below(7)] += 1.0;
        }
        let chi_squared: f64 = seen.iter().map(|n| (n - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_squared < 22.46, "{seen:?}");
    }

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut random = Random::new(2);
        let n = 100_000.0;
        let values: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let moment = |power| values.iter().map(|x: &f64| x.powi(power)).sum::<f64>() / n;
        // Five standard errors: 1, 2 and 96 are the variances of x, x² and x⁴.
        assert!(moment(1).abs() < 5.0 * (1.0f64 / n).sqrt());
        assert!((moment(2) - 1.0).abs() < 5.0 * (2.0f64 / n).sqrt());
        assert!((moment(4) - 3.0).abs() < 5.0 * (96.0f64 / n).sqrt());
    }

    #[test]
    fn each_order_is_equally_likely() {
        // Chi-squared with 5 degrees of freedom: 20.52 is exceeded once in a thousand.
        let mut random = Random::new(3);
        let mut seen = std::collections::BTreeMap::<[u8; 3], f64>::new();
        for _ in 0..60_000 {
            let mut items = [1, 2, 3];
            random.shuffle(&mut items);
            *seen.entry(items).or_default() += 1.0;
        }
        let chi_squared: f64 = seen.values().map(|n| (n - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(seen.len() == 6 && chi_squared < 20.52, "{seen:?}");
    }
}
