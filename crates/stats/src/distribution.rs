//! The distribution functions the other modules need, from their textbook series and continued
//! fractions. Accurate to about 12 digits; speed is no aim. DLMF is the NIST Digital Library of
//! Mathematical Functions, dlmf.nist.gov.

use std::f64::consts::{PI, TAU};

/// The probability that a standard normal value is at most `x`.
pub fn normal_cdf(x: f64) -> f64 {
    if x > 9.0 {
        return 1.0; // The tail is below the precision of 1.
    }
    let tail = normal_tail(x.abs());
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// The probability that a standard normal value exceeds `x` >= 0.
fn normal_tail(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / TAU.sqrt();
    if x < 3.0 {
        // DLMF 7.6.2: the area from 0 to x is the density times x + x³/3 + x⁵/(3·5) + …
        let mut term = x;
        let mut sum = x;
        let mut odd = 1.0;
        while term > 1e-17 * sum {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        0.5 - density * sum
    } else {
        // DLMF 7.9.3: the density over x + 1/(x + 2/(x + 3/(x + …))).
        let fraction = (1..=40).rev().fold(0.0, |inner, k| f64::from(k) / (x + inner));
        density / (x + fraction)
    }
}

/// The `x` that a standard normal value does not exceed with probability `p` (0 < p < 1).
pub fn normal_quantile(p: f64) -> f64 {
    if p < 0.5 { -normal_quantile(1.0 - p) } else { solve(0.0, 10.0, |x| normal_cdf(x) < p) }
}

/// The beta distribution's function with both parameters `a` (> 0) at `x`: the regularised
/// incomplete beta function I_x(a, a). For a = (n+1)/2 it is the probability that the median of n
/// uniform values is at most `x`.
pub fn symmetric_beta_cdf(a: f64, x: f64) -> f64 {
    if x > 0.5 {
        return 1.0 - symmetric_beta_cdf(a, 1.0 - x);
    }
    if x <= 0.0 {
        return 0.0;
    }
    // DLMF 8.17.22, its coefficients d_1, d_2, … from the inside out. It converges for
    // x < (a+1)/(2a+2) = 1/2, in a number of terms that grows with the root of a.
    let coefficient = |k: u32| {
        let m = f64::from(k / 2);
        let two_m = f64::from(k / 2 * 2);
        if k.is_multiple_of(2) {
            m * (a - m) * x / ((a + two_m - 1.0) * (a + two_m))
        } else {
            -(a + m) * (2.0 * a + m) * x / ((a + two_m) * (a + two_m + 1.0))
        }
    };
    let terms = 60 + 4 * a.sqrt() as u32;
    let fraction = (1..=terms).rev().fold(1.0, |inner, k| 1.0 + coefficient(k) / inner);
    let ln_beta = 2.0 * ln_gamma(a) - ln_gamma(2.0 * a);
    (a * (x * (1.0 - x)).ln() - ln_beta).exp() / (a * fraction)
}

/// The natural logarithm of the gamma function at `x` > 0: Stirling's series (DLMF 5.11.1) from
/// 10 on, and below through Γ(x+1) = x·Γ(x).
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5))
        - 1.0 / (1680.0 * x.powi(7))
        + 1.0 / (1188.0 * x.powi(9));
    (x - 0.5) * x.ln() - x + (2.0 * PI).ln() / 2.0 + series
}

/// Where `is_below` turns from true to false between `low` and `high`, by bisection to a 10^-12th
/// of their distance.
pub fn solve(mut low: f64, mut high: f64, mut is_below: impl FnMut(f64) -> bool) -> f64 {
    for _ in 0..42 {
        let middle = low + (high - low) / 2.0;
        if is_below(middle) { low = middle } else { high = middle }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_the_tables() {
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (1.959_963_984_540_054, 0.975),
            (-2.575_829_303_548_901, 0.005),
            (-3.0, 1.349_898_031_630_094_6e-3),
            (-4.0, 3.167_124_183_311_986e-5),
            (-8.0, 6.220_960_574_271_785e-16),
        ] {
            assert!((normal_cdf(x) / p - 1.0).abs() < 1e-11, "{x}: {}", normal_cdf(x));
        }
    }

    #[test]
    fn the_two_forms_of_the_normal_tail_meet() {
        let step = normal_tail(3.0 - 1e-12) / normal_tail(3.0) - 1.0;
        assert!(step.abs() < 1e-10, "{step}");
    }

    #[test]
    fn the_normal_quantile_is_the_tables() {
        for (p, x) in [(0.975, 1.959_963_984_540), (0.995, 2.575_829_303_549), (0.5, 0.0)] {
            assert!((normal_quantile(p) - x).abs() < 1e-9);
            assert!((normal_quantile(1.0 - p) + x).abs() < 1e-9);
        }
    }

    #[test]
    fn the_beta_distribution_is_its_polynomials() {
        for x in [0.001, 0.1, 0.3, 0.5, 0.77, 0.999] {
            let arcsine = 2.0 / PI * f64::sqrt(x).asin();
            let cubic = 3.0 * x * x - 2.0 * x.powi(3);
            let quintic = 10.0 * x.powi(3) - 15.0 * x.powi(4) + 6.0 * x.powi(5);
            for (a, expected) in [(0.5, arcsine), (1.0, x), (2.0, cubic), (3.0, quintic)] {
                let found = symmetric_beta_cdf(a, x);
                assert!((found - expected).abs() < 1e-10 * expected, "{a} {x}: {found} {expected}");
            }
        }
        assert_eq!(symmetric_beta_cdf(3.0, 0.0), 0.0);
        assert_eq!(symmetric_beta_cdf(3.0, 1.0), 1.0);
    }

    #[test]
    fn the_beta_distribution_is_the_binomial_tail() {
        // P(Bin(7, 0.1) >= 4) = 35·0.1⁴·0.9³ + 21·0.1⁵·0.9² + 7·0.1⁶·0.9 + 0.1⁷.
        assert!((symmetric_beta_cdf(4.0, 0.1) - 0.002_728).abs() < 1e-12);
        // A median of 2001 values: half of the probability lies below a half, and by the normal
        // approximation with deviation 1/(2·√2003), 0.0013499 lies below 0.5 - 3 deviations.
        let x = 0.5 - 1.5 / 2003f64.sqrt();
        assert!((symmetric_beta_cdf(1001.0, x) / 1.349_9e-3 - 1.0).abs() < 0.01);
    }

    #[test]
    fn the_gamma_function_is_the_factorial() {
        for (x, factorial) in [(1.0, 1.0), (2.0, 1.0), (5.0, 24.0), (11.0, 3_628_800.0)] {
            assert!((ln_gamma(x) - f64::ln(factorial)).abs() < 1e-11, "{x}: {}", ln_gamma(x));
        }
        assert!((ln_gamma(0.5) - PI.sqrt().ln()).abs() < 1e-11);
    }
}
