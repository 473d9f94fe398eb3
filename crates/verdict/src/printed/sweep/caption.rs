//! What stands above a table: it may say that its figures are no rates.

use super::super::line::cleaned;

/// A caption of more words than this is a paragraph.
const CAPTION_WORDS: usize = 12;

/// Words of what else is held against the concurrency.
const OTHERS: [&str; 21] = [
    "latency",
    "latencies",
    "ms",
    "µs",
    "μs",
    "us",
    "seconds",
    "milliseconds",
    "microseconds",
    "%",
    "cpu",
    "memory",
    "rss",
    "mb",
    "mib",
    "kb",
    "errors",
    "failures",
    "timeouts",
    "p99",
    "percentile",
];

/// Words of rates.
const RATES: [&str; 10] =
    ["rate", "rates", "rps", "qps", "req", "reqs", "requests", "throughput", "second", "s"];

/// Whether the last line of text above a table names figures that are no rates, and no rates beside them.
pub fn names_no_rates(above: &[&str]) -> bool {
    let caption = above.iter().rev().map(|line| cleaned(line)).find(|line| !line.is_empty());
    let Some(caption) = caption else { return false };
    let caption = caption.to_lowercase().replace('%', " % ");
    let words = caption.split(|sign: char| !sign.is_alphanumeric() && sign != '%');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let has = |of: &[&str]| words.iter().any(|word| of.contains(word));
    words.len() <= CAPTION_WORDS && has(&OTHERS) && !has(&RATES)
}
