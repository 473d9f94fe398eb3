//! The names that a log puts between the time and the line that it passes on: a host, a program, a level, in whatever
//! signs. They are the same in many lines in a row, where the words of a report are not.

use std::borrow::Cow;

use super::super::{labels, naming};
use super::{IN_A_ROW, stamp};

/// So many names stand one after the other, at most.
const NAMES_MOST: usize = 6;

/// How many bytes the time and the names behind it take: `2024-05-01T12:00:00Z bench-1  `, `10:00:00 [bench-1] INFO - `,
/// `[bench-1] `. 0 where there are none.
pub fn hosts(lines: &[Cow<'_, str>]) -> Vec<usize> {
    let mut cut: Vec<usize> = lines.iter().map(|line| begin(line).unwrap_or(0)).collect();
    let mut is_named = vec![false; lines.len()];
    for depth in 0..NAMES_MOST {
        let word = |at: usize| {
            let is_inner = depth == 0 || is_named[at];
            // An empty line has as many names as those around it.
            let word = lines[at][cut[at]..].trim_start().split(' ').next()?;
            let is_bare = depth > 0 || cut[at] > 0 || is_bracketed(word);
            (is_inner && is_bare && is_name(word)).then_some(word)
        };
        let runs = runs(lines.len(), |at| word(at).map(str::to_owned));
        let found: Vec<(usize, usize)> =
            runs.into_iter().filter(|run| is_log(lines, &cut, *run)).collect();
        is_named.iter_mut().for_each(|named| *named = false);
        for (from, to) in found {
            for at in from..to {
                let rest = lines[at][cut[at]..].trim_start();
                let name = rest.split(' ').next().unwrap_or_default().len();
                cut[at] = lines[at].len() - rest.len() + name;
                is_named[at] = true;
            }
            // The blanks before the line that indents least are the log's.
            let blanks = |at: &usize| {
                let rest = &lines[*at][cut[*at]..];
                let is_empty = rest.trim().is_empty();
                (!is_empty).then(|| rest.len() - rest.trim_start_matches(' ').len())
            };
            let fewest = (from..to).filter_map(|at| blanks(&at)).min().unwrap_or(0);
            for at in from..to {
                cut[at] += fewest.min(lines[at].len() - cut[at]);
            }
        }
        if !is_named.contains(&true) {
            break;
        }
    }
    let begins = lines.iter().map(|line| begin(line).unwrap_or(0));
    // What has a time and no name is left to others, with its level.
    cut.iter().zip(begins).map(|(cut, begin)| if *cut > begin { *cut } else { 0 }).collect()
}

/// Where the line goes on behind the time, if it has one.
fn begin(line: &str) -> Option<usize> {
    stamp(line).map(|rest| line.len() - rest.len())
}

/// From and to, of lines in a row that have the same word; as many as no report has.
fn runs(lines: usize, word: impl Fn(usize) -> Option<String>) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut from = 0;
    while from < lines {
        let first = word(from);
        let same = |at: &usize| first.is_some() && word(*at) == first;
        let to = from + (from..lines).take_while(same).count();
        if to - from >= IN_A_ROW {
            runs.push((from, to));
        }
        from = to.max(from + 1);
    }
    runs
}

/// A word that programs put before a line: it has a letter, or is a sign that sets names apart. No address has one.
fn is_name(word: &str) -> bool {
    let signs = ["-", "|", "–", "—", ">", ":"];
    let inner = word.trim_matches(['[', ']', '(', ')', ':', '|', '>', '<']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./@:[]".contains(c);
    let is_word = inner.starts_with(|c: char| c.is_ascii_alphabetic())
        && inner.chars().all(is_part)
        && !inner.contains("//");
    is_word || signs.contains(&word)
}

/// `[bench-1]`, `bench-1:`, which need no time before them.
fn is_bracketed(word: &str) -> bool {
    let of_list = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    let numbered = |word: &str| word.contains(|c: char| c.is_ascii_digit()) && word.contains('-');
    let inner = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
    inner.is_some_and(|inner| of_list(inner) && !is_level(inner))
        || word.strip_suffix(':').is_some_and(numbered)
}

/// What programs in many languages call the gravity of a line; tools print some of them with their errors.
const LEVELS: [&str; 8] = ["error", "alert", "warn", "warning", "notice", "info", "debug", "fatal"];

/// `ablaze: D13 SUSPECT …`: ablaze writes a line for each finding on stderr.
fn is_finding(line: &str) -> bool {
    let rest = line.strip_prefix("ablaze: D");
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether none of these lines is a tool's own: some print one for each thread, request or tenth of a run, and a loop with
/// `grep` prints the same label for each run.
fn is_log(lines: &[Cow<'_, str>], cut: &[usize], (from, to): (usize, usize)) -> bool {
    let rest = |at: usize| lines[at][cut[at]..].trim_start();
    let are_the_same = (from..to).all(|at| rest(at) == rest(from)) && !rest(from).is_empty();
    let is_own = |at: usize| {
        let label = labels::find(rest(at)).map(|found| found.label.text());
        let is_label = label.is_some_and(|label| rest(at).starts_with(label));
        is_label
            || is_finding(rest(at))
            || naming::LINE_BEGINNINGS.iter().any(|own| rest(at).starts_with(own))
    };
    !are_the_same && !(from..to).any(is_own)
}

#[cfg(test)]
mod tests {
    use crate::printed::read;
    use crate::rules::judge;

    /// Four lines and more that begin alike, and are not a log's.
    #[test]
    fn findings_below_each_other_are_no_name_of_a_program() {
        let said = "ablaze: D04 SUSPECT error pages: A.\nablaze: D13 SUSPECT shared processors: B.\n\
                    ablaze: D14 SUSPECT too short: C.\nablaze: D23 SUSPECT machine paused: E.\n";
        let report = "Running 2s test @ http://127.0.0.1:19304/\n  1 threads and 8 connections\n  \
                      Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     0.88ms    1.49ms  16.52ms   88.45%\n  \
                      18151 requests in 2.00s, 2.50MB read\n  Non-2xx or 3xx responses: 3630\nRequests/sec:   9075.50\n\
                      Transfer/sec:      1.25MB\n";
        let plain = format!("{report}{said}");
        let ids = |text: &str| {
            let judged = judge(&read(text)).reports.remove(0).findings;
            judged.into_iter().map(|one| (one.id, one.severity)).collect::<Vec<_>>()
        };
        assert_eq!(ids(&plain).len(), 4);
        for stamp in [
            "2026-11-29T10:00:00.123Z ",
            "Nov 29 10:00:00 bench ablaze[123]: ",
            "Nov 29 10:00:00 bench ablaze: ",
            "run\tload\t2026-11-29T10:00:00.1234567Z ",
            "[pod/bench-x7/wrk] 2026-11-29T10:00:00.123Z ",
        ] {
            let logged = plain.lines().map(|line| format!("{stamp}{line}\n")).collect::<String>();
            assert_eq!(ids(&logged), ids(&plain), "{stamp}");
        }
    }
}
