//! Reads ab's text report by what scripts rely on, and by nothing else: labels at the beginning
//! of lines, `label: value`, rows of five numbers, percentile rows. Written from that contract,
//! not from the exporter.

/// A report, as a script sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Labels and values in order, those of the table of times not among them.
    pub values: Vec<(String, String)>,
    /// The four columns of failed requests: connect, receive, length, exceptions.
    pub failed_columns: Option<[u64; 4]>,
    /// Rows of the table of times: label, and min, mean, deviation, median, max.
    pub times: Vec<(String, Vec<f64>)>,
    /// Percentages and milliseconds.
    pub percentiles: Vec<(u64, u64)>,
}

const ROWS: [&str; 4] = ["Connect:", "Processing:", "Waiting:", "Total:"];

impl Report {
    /// Reads everything behind the first empty line, progress lines among it or not.
    pub fn read(text: &str) -> Self {
        let mut report = Self::default();
        let body = text.split_once("\n\n").map_or("", |(_, body)| body);
        for line in body.lines() {
            report.line(line);
        }
        report
    }

    /// The value of a label; the last wins, as with most scripts.
    pub fn value(&self, label: &str) -> Option<&str> {
        self.values.iter().rev().find(|(own, _)| own == label).map(|(_, value)| &value[..])
    }

    /// The number a value begins with.
    pub fn number(&self, label: &str) -> f64 {
        let value = self.value(label).unwrap_or_else(|| panic!("no {label} in {self:?}"));
        value.split(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{label}: {value}"))
    }

    /// Complete requests and failed requests.
    pub fn complete_and_failed(&self) -> (u64, u64) {
        (self.number("Complete requests") as u64, self.number("Failed requests") as u64)
    }

    /// Labels in order.
    pub fn labels(&self) -> Vec<&str> {
        self.values.iter().map(|(label, _)| &label[..]).collect()
    }

    fn line(&mut self, line: &str) {
        if let Some(columns) = line.trim_start().strip_prefix("(Connect: ") {
            self.failed_columns = Some(four_columns(columns));
        } else if ROWS.iter().any(|row| line.starts_with(row)) {
            let mut words = line.split_whitespace();
            let label = words.next().unwrap().to_owned();
            self.times.push((label, words.map(|word| word.parse().unwrap()).collect()));
        } else if let Some((percentage, rest)) = percentile(line) {
            let milliseconds = rest.split_whitespace().next().unwrap().parse().unwrap();
            self.percentiles.push((percentage, milliseconds));
        } else if let Some((label, value)) = line.split_once(':')
            && !line.starts_with(' ')
        {
            self.values.push((label.to_owned(), value.trim().to_owned()));
        }
    }
}

fn four_columns(text: &str) -> [u64; 4] {
    let numbers: Vec<u64> = text
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().unwrap())
        .collect();
    numbers.try_into().unwrap()
}

fn percentile(line: &str) -> Option<(u64, &str)> {
    let (percentage, rest) = line.trim_start().split_once('%')?;
    Some((percentage.parse().ok()?, rest))
}
