//! Reads the command lines of ab and gurl, also behind `ablaze`.

use super::options::range;
use super::{Program, Words, is_url_like};
use crate::printed::line::count;

/// ab's grammar: bundled letters, values attached or apart, options before the URL.
pub(super) fn ab(words: &[String]) -> Option<(Words, usize)> {
    const WITH_VALUE: &str = "ncsbBpuTvxyzCHAPXgeZfEmt";
    const ALONE: &str = "wikdlrSqVhI";
    let mut asked = Words::new(Program::Ab, Some(1), 1);
    asked.keep_alive = Some(false);
    let mut index = 0;
    while let Some(cluster) = words.get(index).and_then(|word| word.strip_prefix('-')) {
        let mut letters = cluster.chars();
        while let Some(letter) = letters.next() {
            if ALONE.contains(letter) {
                asked.keep_alive = Some(asked.keep_alive == Some(true) || letter == 'k');
                if letter == 'i' {
                    asked.request("HEAD");
                }
            } else if WITH_VALUE.contains(letter) {
                let attached = letters.as_str();
                let value = if attached.is_empty() {
                    index += 1;
                    words.get(index)?.as_str()
                } else {
                    attached
                };
                ab_value(&mut asked, letter, value)?;
                break;
            } else {
                return None;
            }
        }
        asked.options += 1;
        index += 1;
    }
    let url = words.get(index)?;
    if !is_url_like(url) {
        return None;
    }
    asked.url = Some(url.clone());
    Some((asked, index + 1))
}

fn ab_value(asked: &mut Words, letter: char, value: &str) -> Option<()> {
    match letter {
        'n' => asked.requests = Some(count(value)?),
        'c' => asked.concurrency = range(value)?,
        't' => {
            count(value)?;
            asked.timed = true;
            // ab's own limit, unless a later -n sets another.
            asked.requests = Some(50_000);
        }
        'p' | 'u' | 'm' | 'H' | 'C' | 'A' => asked.request(value),
        // A proxy is asked in other words.
        'P' | 'X' => (asked.plain_request, asked.proxied) = (false, true),
        _ => {}
    }
    Some(())
}

/// gurl's grammar: words of one dash; only a benchmark has a report.
pub(super) fn gurl(words: &[String]) -> Option<(Words, usize)> {
    let mut asked = Words::new(Program::Gurl, Some(1), 1);
    let mut last = 0;
    let mut benchmark = false;
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let value = words.get(index + 1).map(String::as_str).unwrap_or_default();
        match word.as_str() {
            "-ac" => asked.concurrency = range(value)?,
            "-an" => asked.requests = Some(count(value)?),
            "-duration" => {
                asked.timed = true;
                asked.requests = None;
            }
            "-rate" => asked.open_loop = count(value)? > 0,
            "-bench" => benchmark = true,
            "-url" => asked.url = Some(value.to_owned()),
            _ if word.starts_with('-') || !is_url_like(word) => {}
            _ if asked.url.is_none() => asked.url = Some(word.clone()),
            _ => {}
        }
        let takes_value = word.starts_with('-') && word != "-bench";
        index += if takes_value { 2 } else { 1 };
        last = index.min(words.len());
    }
    (benchmark && asked.url.is_some()).then_some((asked, last))
}
