//! Ranges of statuses as they are written.

use std::ops::RangeInclusive;

/// `2xx`, `2xx, 3xx`, `404`, or `400–420`.
///
/// ```
/// use ablaze_model::plan::statuses_in_words;
/// assert_eq!(statuses_in_words(&(200..=399)), "2xx, 3xx");
/// assert_eq!(statuses_in_words(&(404..=404)), "404");
/// assert_eq!(statuses_in_words(&(400..=420)), "400–420");
/// ```
pub fn statuses_in_words(range: &RangeInclusive<u16>) -> String {
    let (low, high) = (*range.start(), *range.end());
    if low == high {
        return low.to_string();
    }
    if !low.is_multiple_of(100) || high % 100 != 99 {
        return format!("{low}–{high}");
    }
    let classes: Vec<String> = (low / 100..=high / 100).map(|class| format!("{class}xx")).collect();
    classes.join(", ")
}
