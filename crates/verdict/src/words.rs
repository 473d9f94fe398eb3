//! Figures in sentences: thousands apart, as many digits as mean something, the unit that fits.

/// A whole number with commas between thousands: `2,089,140`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with so many decimals and commas between thousands: `9,709.59`.
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// A number to about three digits: `0.162`, `4.85`, `48,349`.
pub fn amount(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 || size == 0.0 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size => (2 - size.log10().floor() as i32).clamp(0, 9) as usize,
    };
    decimal(value, decimals)
}

/// A time given in ms, to about three digits in the unit that fits: `103 µs`, `3.62 s`.
pub fn time(ms: f64) -> String {
    let units = [(1e3, "s"), (1.0, "ms"), (1e-3, "µs"), (1e-6, "ns")];
    let (length, unit) =
        units.into_iter().find(|(length, _)| ms / length >= 0.9995).unwrap_or(units[1]);
    format!("{} {unit}", amount(ms / length))
}

/// A share in percent with one decimal: `6.2 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.05 {
        return format!("{} %", amount(percent));
    }
    format!("{percent:.1} %")
}

/// `1 request`, `2 requests`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_people_write_them() {
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(decimal(9709.59, 2), "9,709.59");
        assert_eq!(decimal(-1234.5, 1), "-1,234.5");
        let amounts = [0.0, 0.16186, 4.854_8, 9.999, 99.96, 17_357.2].map(amount);
        assert_eq!(amounts, ["0", "0.162", "4.85", "10.0", "100", "17,357"]);
        assert_eq!([0.103, 3615.0, 0.000_5, 0.0].map(time), ["103 µs", "3.62 s", "500 ns", "0 ms"]);
        assert_eq!([0.0619, 0.1, 0.000_04].map(percent), ["6.2 %", "10.0 %", "0.00400 %"]);
        assert_eq!(listed([1, 2, 5]), "1, 2 and 5");
    }
}
