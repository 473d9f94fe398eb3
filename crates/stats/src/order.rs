//! What a sample says about a percentile: which rank it is, and between which two ranks the true
//! value lies. Free of any assumption about the distribution. Talks to nobody; `Latency` turns
//! the ranks into times.
//!
//! The number of values below the true quantile is binomial: B ~ Bin(n, q). Hence the interval
//! from the l-th to the u-th smallest value covers it with probability P(l <= B <= u - 1)
//! (H. A. David, H. N. Nagaraja, Order Statistics, 3rd ed. 2003, section 7.1; W. Q. Meeker,
//! G. J. Hahn, L. A. Escobar, Statistical Intervals, 2nd ed. 2017, section 5.2). At most half of
//! the permitted error lies on either side, so the coverage is never below what is claimed.

use crate::distribution::normal_quantile;

/// The level of confidence of every interval in a report.
pub const CONFIDENCE: f64 = 0.95;

/// Above this variance n·q·(1-q) the exact sum (a few multiples of its root in terms) gives way to
/// the normal approximation; both then agree within two ranks of millions.
const EXACT_UP_TO_VARIANCE: f64 = 1e8;

/// The rank (from 1) of the value that is the sample's quantile `q`: the smallest value that at
/// least a share of `q` of the sample does not exceed. 0 for an empty sample.
pub fn rank(count: u64, q: f64) -> u64 {
    // 0.07 * 100.0 is a little more than 7: what the product's rounding added must not count.
    let product = q * count as f64 * (1.0 - 4.0 * f64::EPSILON);
    (product.ceil() as u64).clamp(1.min(count), count)
}

/// The ranks (from 1) of the two values between which the true quantile `q` (0 < q < 1) lies with
/// at least `confidence`; `None` when the sample is too small for one of the two to exist.
pub fn interval_ranks(count: u64, q: f64, confidence: f64) -> Option<(u64, u64)> {
    if count == 0 || !(0.0 < q && q < 1.0) || !(0.0 < confidence && confidence < 1.0) {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    let variance = count as f64 * q * (1.0 - q);
    let (below, above) = if variance <= EXACT_UP_TO_VARIANCE {
        exact_tails(count, q, tail)
    } else {
        approximate_tails(count, q, tail)
    };
    // Low: the largest l with P(B <= l - 1) <= tail. High: the smallest u with P(B >= u) <= tail.
    (below >= 1 && above <= count).then_some((below, above))
}

/// The smallest sample for which both ranks of the interval exist. Below it nothing can be said
/// of the quantile at this confidence.
pub fn count_needed(q: f64, confidence: f64) -> u64 {
    // All values lie on one side of the quantile with probability q^n, or (1-q)^n.
    let tail = (1.0 - confidence) / 2.0;
    let rarer = q.max(1.0 - q);
    let estimate = (tail.ln() / rarer.ln()).ceil().max(1.0) as u64;
    (estimate.saturating_sub(2).max(1)..)
        .find(|&count| interval_ranks(count, q, confidence).is_some())
        .unwrap_or(u64::MAX)
}

/// `(l, u)`: the number of the smallest outcomes of B that together have a probability of at most
/// `tail` (so l = 0 means none), and the smallest u with P(B >= u) <= `tail` (n + 1 when even
/// P(B = n) is more).
///
/// Terms are computed outwards from the mode by their ratio, P(k+1)/P(k) = (n-k)/(k+1) · q/(1-q),
/// and divided by their sum: no factorials, no cancellation.
fn exact_tails(count: u64, q: f64, tail: f64) -> (u64, u64) {
    let odds = q / (1.0 - q);
    let mode = (((count + 1) as f64 * q) as u64).min(count);
    let mut down = vec![1.0f64]; // mode, mode - 1, …
    for k in (0..mode).rev() {
        let term = down[down.len() - 1] * (k + 1) as f64 / (count - k) as f64 / odds;
        if term < NEGLIGIBLE {
            break;
        }
        down.push(term);
    }
    let mut up = Vec::new(); // mode + 1, mode + 2, …
    let mut term = 1.0f64;
    for k in mode..count {
        term *= (count - k) as f64 / (k + 1) as f64 * odds;
        if term < NEGLIGIBLE {
            break;
        }
        up.push(term);
    }
    let sum: f64 = up.iter().rev().chain(down.iter().rev()).sum();
    let permitted = tail * sum;

    let lowest = mode - (down.len() as u64 - 1);
    let ascending = down.iter().rev().chain(up.iter());
    let low = lowest + terms_within(ascending, permitted);
    let highest = mode + up.len() as u64;
    let descending = up.iter().rev().chain(down.iter());
    let high = highest + 1 - terms_within(descending, permitted);
    (low, high)
}

/// A term so much smaller than the mode's changes no tail of a percent or more.
const NEGLIGIBLE: f64 = 1e-25;

/// How many of the terms, from the first, together stay within `permitted`.
fn terms_within<'a>(terms: impl Iterator<Item = &'a f64>, permitted: f64) -> u64 {
    let mut together = 0.0;
    terms
        .take_while(|&&term| {
            together += term;
            together <= permitted
        })
        .count() as u64
}

/// The same for huge samples: the normal approximation with continuity correction and the first
/// term for skewness (E. A. Cornish, R. A. Fisher, 1938).
fn approximate_tails(count: u64, q: f64, tail: f64) -> (u64, u64) {
    let z = normal_quantile(1.0 - tail);
    let mean = count as f64 * q;
    let deviation = (mean * (1.0 - q)).sqrt();
    let skew = (z * z - 1.0) * (1.0 - 2.0 * q) / 6.0;
    let low = (mean - z * deviation + skew + 0.5).floor().max(0.0) as u64;
    let high = (mean + z * deviation + skew + 0.5).ceil() as u64;
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(B <= k) summed the plain way, by ln of binomial coefficients.
    fn at_most(count: u64, q: f64, k: i64) -> f64 {
        let ln_factorial = |n: u64| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
        (0..=k)
            .map(|k| {
                let k = k as u64;
                let ln_choose = ln_factorial(count) - ln_factorial(k) - ln_factorial(count - k);
                (ln_choose + k as f64 * q.ln() + (count - k) as f64 * (1.0 - q).ln()).exp()
            })
            .sum()
    }

    #[test]
    fn the_median_has_the_ranks_of_the_published_tables() {
        // Distribution-free 95 % intervals of the median (two-sided sign test): n = 6 is the
        // smallest possible; n, l, u as printed in textbooks of nonparametric statistics.
        for (count, low, high) in [
            (6, 1, 6),
            (7, 1, 7),
            (8, 1, 8),
            (9, 2, 8),
            (10, 2, 9),
            (15, 4, 12),
            (20, 6, 15),
            (25, 8, 18),
            (30, 10, 21),
            (40, 14, 27),
            (50, 18, 33),
        ] {
            assert_eq!(interval_ranks(count, 0.5, 0.95), Some((low, high)), "n = {count}");
        }
        assert_eq!(interval_ranks(5, 0.5, 0.95), None);
    }

    #[test]
    fn ranks_are_the_narrowest_that_keep_half_the_error_on_each_side() {
        for count in [7, 36, 37, 100, 368, 500] {
            for q in [0.1, 0.5, 0.75, 0.9, 0.99] {
                let tail = 0.025;
                let Some((low, high)) = interval_ranks(count, q, 0.95) else {
                    let none_below = at_most(count, q, 0) > tail;
                    let none_above = 1.0 - at_most(count, q, count as i64 - 1) > tail;
                    assert!(none_below || none_above, "n = {count}, q = {q}: ranks exist");
                    continue;
                };
                let (low, high) = (low as i64, high as i64);
                assert!(at_most(count, q, low - 1) <= tail, "n = {count}, q = {q}");
                assert!(at_most(count, q, low) > tail, "n = {count}, q = {q}: low too low");
                assert!(1.0 - at_most(count, q, high - 1) <= tail + 1e-12);
                assert!(1.0 - at_most(count, q, high - 2) > tail, "n = {count}, q = {q}");
            }
        }
    }

    #[test]
    fn a_sample_supports_a_percentile_from_where_both_ranks_exist() {
        // q^n <= 0.025: n >= ln 0.025 / ln q, by hand 6, 36, 368, 3688, 36887.
        for (q, needed) in [(0.5, 6), (0.9, 36), (0.99, 368), (0.999, 3688), (0.9999, 36887)] {
            assert_eq!(count_needed(q, 0.95), needed, "q = {q}");
            assert!(interval_ranks(needed - 1, q, 0.95).is_none());
        }
    }

    #[test]
    fn the_approximation_agrees_with_the_exact_sum_where_it_takes_over() {
        for q in [0.5, 0.9, 0.99, 0.999] {
            let count = (EXACT_UP_TO_VARIANCE / (q * (1.0 - q))) as u64;
            let (exact_low, exact_high) = exact_tails(count, q, 0.025);
            let (low, high) = approximate_tails(count, q, 0.025);
            assert!(low.abs_diff(exact_low) <= 2, "q = {q}: {low} {exact_low}");
            assert!(high.abs_diff(exact_high) <= 2, "q = {q}: {high} {exact_high}");
        }
    }

    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        // Samples of known percentile: uniform values.
        let mut random = ablaze_random::Random::new(1);
        let (low, high) = interval_ranks(500, 0.9, 0.95).unwrap();
        let covered = (0..2000)
            .filter(|_| {
                let mut sample: Vec<f64> = (0..500).map(|_| random.uniform()).collect();
                sample.sort_by(f64::total_cmp);
                sample[low as usize - 1] <= 0.9 && 0.9 <= sample[high as usize - 1]
            })
            .count();
        assert!(covered >= 1880, "{covered} of 2000");
    }

    #[test]
    fn a_rank_is_not_moved_by_the_rounding_of_a_product() {
        assert_eq!(rank(100, 0.07), 7);
        assert_eq!(rank(1000, 0.999), 999);
        assert_eq!(rank(1001, 0.999), 1000);
        assert_eq!(rank(1, 0.5), 1);
        assert_eq!(rank(10, 0.0), 1);
        assert_eq!(rank(10, 1.0), 10);
        assert_eq!(rank(0, 0.5), 0);
        assert_eq!(rank(1_000_000_000, 0.99), 990_000_000);
    }
}
