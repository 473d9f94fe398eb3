//! A text that ends within a report, in the middle of a figure: what stands there is another number.

use super::labels::{self, Label};
use super::line::number;

/// Whether the last line of a text, which has no end of its own, may have lost digits: the tool prints decimals or a unit
/// behind them, or a comma in JSON, and they are not there.
pub fn is_within_figure(line: &str) -> bool {
    let line = line.trim_start();
    if !line.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    if let Some(labelled) = labels::find(line) {
        return match labelled.label {
            Label::TotalBytes | Label::BodyBytes | Label::SentBytes | Label::Document => true,
            Label::Connect | Label::Processing | Label::Waiting | Label::Total => true,
            Label::Taken | Label::PerRequest | Label::PerRequestAcross => {
                decimals(labelled.value) < 3
            }
            Label::Rate | Label::Kilobytes => decimals(labelled.value) < 2,
            _ => false,
        };
    }
    // `  99%    231` of ab, `"transactions": 400` and `Longest transaction: 0.1` of siege, `Requests/sec:  45197.1`.
    let behind_percent = line.split_once('%').filter(|(percent, _)| number(percent).is_some());
    let of_siege = line.starts_with("\"") || line.contains("transaction");
    let rate = line.strip_prefix("Requests/sec:");
    behind_percent.is_some_and(|(_, ms)| number(ms).is_some_and(|(_, rest)| rest.is_empty()))
        || of_siege && line.contains(':')
        || rate.is_some_and(|rate| decimals(rate) < 2)
}

fn decimals(value: &str) -> usize {
    let (_, decimals) = value.trim_end().rsplit_once('.').unwrap_or_default();
    decimals.len()
}
