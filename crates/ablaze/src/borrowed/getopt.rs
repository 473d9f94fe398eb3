//! Words as GNU getopt_long reads them: letters can be bundled, values attached or separate, long names abbreviated, and
//! options may stand behind operands, up to `--`. New here: a long name that the tool does not have is a native option.

use std::collections::VecDeque;

use super::{Known, Words};
use crate::native;

/// Reads the words.
///
/// # Errors
/// When an option is unknown, ambiguous or lacks its value, or has one that it does not take.
pub fn parse(known: &'static [Known], words: &[String]) -> Result<Words, String> {
    let mut left: VecDeque<String> = words.iter().cloned().collect();
    let mut parsed = Words::default();
    while let Some(word) = left.pop_front() {
        if word == "--" {
            parsed.operands.extend(left.drain(..));
        } else if let Some(name) = word.strip_prefix("--") {
            long(known, name, &word, &mut left, &mut parsed)?;
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            bundle(known, letters, &mut left, &mut parsed)?;
        } else {
            parsed.operands.push(word);
        }
    }
    Ok(parsed)
}

fn bundle(
    known: &'static [Known],
    letters: &str,
    left: &mut VecDeque<String>,
    parsed: &mut Words,
) -> Result<(), String> {
    for (at, letter) in letters.char_indices() {
        let found = known.iter().find(|known| known.letter == Some(letter));
        let found = found.ok_or_else(|| format!("unknown option -{letter}"))?;
        if found.is_switch() {
            parsed.own.push((found.name, "true".to_owned()));
            continue;
        }
        let value = match &letters[at + letter.len_utf8()..] {
            "" => {
                let missing = || format!("-{letter} requires a value: {}", found.value);
                left.pop_front().ok_or_else(missing)?
            }
            attached => attached.to_owned(),
        };
        parsed.own.push((found.name, value));
        return Ok(());
    }
    Ok(())
}

fn long(
    known: &'static [Known],
    word: &str,
    typed: &str,
    left: &mut VecDeque<String>,
    parsed: &mut Words,
) -> Result<(), String> {
    let (name, attached) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    let exact = known.iter().find(|known| known.name == name);
    if let (None, Some(takes_value)) = (exact, native::takes_value(name)) {
        parsed.native.push(typed.to_owned());
        if takes_value && attached.is_none() {
            parsed.native.extend(left.pop_front());
        }
        return Ok(());
    }
    let begun: Vec<&Known> = known.iter().filter(|known| known.name.starts_with(name)).collect();
    let found = match (exact, begun.as_slice()) {
        (Some(found), _) => found,
        (None, [found]) => found,
        (None, []) => return Err(format!("unknown option --{name}")),
        (None, several) => {
            let names: Vec<String> =
                several.iter().map(|known| format!("--{}", known.name)).collect();
            return Err(format!("--{name} is ambiguous: use {}", names.join(" or ")));
        }
    };
    let value = match (found.is_switch(), attached) {
        (true, Some(_)) => return Err(format!("--{} takes no value", found.name)),
        (true, None) => "true".to_owned(),
        (false, Some(value)) => value,
        (false, None) => {
            let missing = || format!("--{} requires a value: {}", found.name, found.value);
            left.pop_front().ok_or_else(missing)?
        }
    };
    parsed.own.push((found.name, value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Known] = &[
        Known::new(Some('n'), "requests", "N", ""),
        Known::new(Some('v'), "verbose", "", ""),
        Known::new(None, "h1", "", ""),
        Known::new(None, "rate", "N", ""),
        Known::new(None, "rate-period", "T", ""),
    ];

    fn of(line: &str) -> Result<Words, String> {
        parse(KNOWN, &line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_as_getopt_long_reads_them() {
        let words = of("-n5 u -vn 7 --h1 --rate 2 --rate-p=1s --json -- -n").unwrap();
        let own: Vec<String> =
            words.own.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let expected =
            ["requests=5", "verbose=true", "requests=7", "h1=true", "rate=2", "rate-period=1s"];
        assert_eq!(own, expected);
        assert_eq!(
            (words.native, words.operands),
            (vec!["--json".into()], vec!["u".into(), "-n".into()])
        );
    }

    #[test]
    fn what_is_no_option_is_named() {
        for (line, problem) in [
            ("-x u", "unknown option -x"),
            ("--nosuch u", "unknown option --nosuch"),
            ("--h1=2 u", "--h1 takes no value"),
            ("u -n", "-n requires a value"),
            ("--ra 1", "--rate or --rate-period"),
        ] {
            let refused = of(line).unwrap_err();
            assert!(refused.contains(problem), "{line}: {refused}");
        }
    }
}
