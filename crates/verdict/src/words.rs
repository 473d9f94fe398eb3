//! Figures in sentences: written as everywhere ([`ablaze_chart::number`]), from what printed reports
//! count in (times in ms) and rules compute (shares from 0 to 1).

use ablaze_chart::number;

pub use ablaze_chart::number::{amount, counted, decimal, grouped, rate};

/// A time given in ms, in the unit that fits: `103 µs`, `3.62 s`.
pub fn time(ms: f64) -> String {
    // A whole number of ns stays one, whatever dividing and multiplying made of it.
    number::time((ms * 1e9).round() / 1e3)
}

/// A share from 0 to 1 in percent: `6.2 %`.
pub fn percent(share: f64) -> String {
    number::percent(share, 1.0)
}

/// `1, 2 and 5`.
pub fn listed<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// A word of a command, quoted where a shell would take it for more than itself: brackets and question marks are patterns.
pub fn for_shell(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/@%+,=".contains(&byte);
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The length of time that an option says, in seconds: `1`, `1s`, `500ms`, `2m`.
pub fn seconds(option: &str) -> Option<f64> {
    let unit_at = option.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(option.len());
    let (number, unit) = option.split_at(unit_at);
    let each_s = match unit {
        "" | "s" | "sec" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        _ => return None,
    };
    number.parse::<f64>().ok().filter(|number| *number > 0.0).map(|number| number * each_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_people_write_them() {
        assert_eq!([0.103, 3615.0, 0.000_5, 0.0].map(time), ["103 µs", "3.62 s", "500 ns", "0 ns"]);
        assert_eq!([0.0619, 0.1, 0.000_04].map(percent), ["6.2 %", "10 %", "0.0040 %"]);
        assert_eq!(listed([1, 2, 5]), "1, 2 and 5");
    }
}
