//! Weights become an order in which requests are sent: each as often as its weight says, spread
//! out evenly, the same in every run.

/// How many entries an order may have.
pub const LONGEST: u64 = 1_000_000;

/// The order for these weights: entry `k` of a request of weight `w` stands at `(2k + 1) / 2w`
/// of the way, ties in the order given. Weights with a common divisor give a shorter order of
/// the same shape; equal weights, the order given; one request, an empty order.
///
/// # Errors
/// When all weights are 0, or the order would be longer than [`LONGEST`].
pub fn spread(weights: &[u64]) -> Result<Vec<u32>, String> {
    let divisor = weights.iter().copied().fold(0, greatest_common_divisor);
    if divisor == 0 {
        return Err("all weights are 0: at least one must be above 0".into());
    }
    let total = weights.iter().try_fold(0u64, |sum, weight| sum.checked_add(weight / divisor));
    if total.is_none_or(|total| total > LONGEST) {
        return Err(format!(
            "the weights add up to more than {LONGEST} after reduction: round them"
        ));
    }
    if weights.len() == 1 {
        return Ok(Vec::new());
    }
    let mut places: Vec<(u64, u64, u32)> = Vec::new();
    for (index, weight) in weights.iter().enumerate() {
        let weight = weight / divisor;
        places.extend((0..weight).map(|k| (2 * k + 1, weight, index as u32)));
    }
    // a / b before c / d when a·d < c·b; both products are below 4 · LONGEST².
    places.sort_by(|(a, b, left), (c, d, right)| (a * d).cmp(&(c * b)).then(left.cmp(right)));
    Ok(places.into_iter().map(|(_, _, index)| index).collect())
}

fn greatest_common_divisor(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_comes_as_often_as_its_weight_and_spread_out() {
        let weights = [5, 1, 3, 0, 2];
        let order = spread(&weights).unwrap();
        for (index, weight) in weights.iter().enumerate() {
            let times = order.iter().filter(|entry| **entry == index as u32).count() as u64;
            assert_eq!(times, *weight, "request {index}");
        }
        // Evenly: in every prefix, each is within one of its share.
        for end in 1..=order.len() {
            for (index, weight) in weights.iter().enumerate() {
                let seen = order[..end].iter().filter(|entry| **entry == index as u32).count();
                let share = *weight as f64 * end as f64 / order.len() as f64;
                assert!(
                    (seen as f64 - share).abs() <= 1.0,
                    "{index} in the first {end}: {order:?}"
                );
            }
        }
    }

    #[test]
    fn equal_weights_keep_the_order_given_and_common_divisors_go() {
        assert_eq!(spread(&[7, 7, 7]).unwrap(), [0, 1, 2]);
        assert_eq!(spread(&[2_000_000, 1_000_000]).unwrap().len(), 3);
        assert_eq!(spread(&[9]).unwrap(), [0u32; 0]);
    }

    #[test]
    fn weights_that_give_no_order_are_refused() {
        assert!(spread(&[0, 0]).is_err());
        assert!(spread(&[]).is_err());
        assert!(spread(&[1_000_000, 999_999]).is_err());
        assert!(spread(&[u64::MAX, u64::MAX - 1]).is_err());
    }
}
