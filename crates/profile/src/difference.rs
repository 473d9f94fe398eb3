//! Two profiles against each other, both in CPU time per request: a function that takes more by itself in
//! the second is red, one that takes less is blue. Widths are those of the second; what only the first
//! has is in no graph of this order, and so both orders are drawn.

use crate::folded::PerRequest;
use crate::graph::{Drawing, against};

/// Draws `after` with the colours of its difference from `before`. `None` when there is nothing to draw.
pub fn difference(
    title: &str,
    subtitle: &str,
    before: &PerRequest,
    after: &PerRequest,
) -> Option<Drawing> {
    against(title, subtitle, before, after)
}

#[cfg(feature = "flame-graphs")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::sample;
    use crate::graph::tests::titles;

    #[test]
    fn what_was_added_is_told_in_microseconds_however_many_requests_there_were() {
        // 5 µs per request without the work, 15 µs with it, from very different numbers of samples.
        let without =
            PerRequest::of(&sample::profile(&[("main;send", 4), ("main;parse", 1)], 1_000));
        let with = PerRequest::of(&sample::profile(
            &[("main;send", 400), ("main;parse", 100), ("main;burn", 1_000)],
            100_000,
        ));
        let drawing = difference("", "", &without, &with).unwrap();
        let mut told = titles(&drawing.element);
        told.sort();
        let expected = [
            "all (15.0 µs per request, 100%)",
            "burn (10.0 µs per request, 66.67%; itself +10.0 µs)",
            "main (15.0 µs per request, 100.00%)",
            "parse (1.00 µs per request, 6.67%)",
            "send (4.00 µs per request, 26.67%)",
        ];
        assert_eq!(told, expected);
        // The other way round it is gone.
        let other = difference("", "", &with, &without).unwrap();
        let told = titles(&other.element);
        assert!(!told.iter().any(|title| title.starts_with("burn")), "{told:?}");
    }

    #[test]
    fn more_is_red_and_less_is_blue() {
        let one = PerRequest::of(&sample::profile(&[("a", 1), ("b", 9)], 1_000));
        let other = PerRequest::of(&sample::profile(&[("a", 9), ("b", 1)], 1_000));
        let drawing = difference("", "", &one, &other).unwrap();
        // The colour of a frame stands behind its title: rgb(red,green,blue).
        let colour = |name: &str| -> Vec<u32> {
            let (_, after) = drawing.element.split_once(&format!("<title>{name} (")).unwrap();
            let (_, after) = after.split_once("rgb(").unwrap();
            let (numbers, _) = after.split_once(')').unwrap();
            numbers.split(',').map(|number| number.trim().parse().unwrap()).collect()
        };
        let (more, less) = (colour("a"), colour("b"));
        assert!(more[0] > more[2] && less[2] > less[0], "{more:?} {less:?}");
    }
}
