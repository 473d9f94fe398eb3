//! GNU getopt_long as wrk uses it: letters can be bundled, values attached or separate, long names abbreviated, and
//! options may stand behind the URL, up to `--`. New here: a long name that wrk does not have is a native option.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::native;

/// An option of wrk's: its letter, its long name, and whether a value follows.
pub struct Known {
    /// The letter; one that only stands for the long name is not a letter of the command line.
    pub letter: u8,
    /// The long name.
    pub long: &'static str,
    /// What stands for its value in the help; empty where it has none.
    pub value: &'static str,
    /// What it does.
    pub about: &'static str,
}

const fn known(letter: u8, long: &'static str, value: &'static str, about: &'static str) -> Known {
    Known { letter, long, value, about }
}

/// wrk's options, in the order of its help.
pub const KNOWN: [Known; 9] = [
    known(b'c', "connections", "N", "connections to keep open (10)"),
    known(b'd', "duration", "T", "duration of the test (10s)"),
    known(b't', "threads", "N", "number of threads to use (2)"),
    known(b's', "script", "S", "load this Lua script"),
    known(b'H', "header", "H", "add a header field to the request, 'Name: value'"),
    known(b'L', "latency", "", "print latency statistics"),
    known(b'T', "timeout", "T", "timeout of a request (2s)"),
    known(b'h', "help", "", "print this help"),
    known(b'v', "version", "", "print version details"),
];

/// Letters that wrk's command line has; `-h` is none of them.
const LETTERS: &[u8] = b"cdtsHLTv";

/// What a command line says, in its order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// wrk's options, by letter, with their values.
    pub own: Vec<(u8, Vec<u8>)>,
    /// The words of native options, as typed.
    pub native: Vec<OsString>,
    /// The URL, and what stands behind `--` or beside the URL.
    pub operands: Vec<OsString>,
}

/// Reads the words.
///
/// # Errors
/// When an option is unknown, ambiguous or lacks its value, or has one that it does not take.
pub fn parse(words: &[OsString]) -> Result<Parsed, String> {
    let mut left: VecDeque<OsString> = words.iter().cloned().collect();
    let mut parsed = Parsed::default();
    while let Some(word) = left.pop_front() {
        match word.as_bytes() {
            b"--" => {
                parsed.operands.extend(left.drain(..));
            }
            [b'-', b'-', name @ ..] => long(name.to_vec(), &word, &mut left, &mut parsed)?,
            b"-o" => {
                let file = left.pop_front().ok_or("-o requires a value")?;
                parsed.native.extend([word, file]);
            }
            [b'-', letters @ ..] if !letters.is_empty() => {
                bundle(letters.to_vec(), &mut left, &mut parsed)?;
            }
            _ => parsed.operands.push(word),
        }
    }
    Ok(parsed)
}

fn bundle(
    letters: Vec<u8>,
    left: &mut VecDeque<OsString>,
    parsed: &mut Parsed,
) -> Result<(), String> {
    for (at, letter) in letters.iter().enumerate() {
        let found = KNOWN.iter().find(|known| known.letter == *letter);
        let Some(found) = found.filter(|_| LETTERS.contains(letter)) else {
            return Err(format!("unknown option -{}", char::from(*letter)));
        };
        if found.value.is_empty() {
            parsed.own.push((*letter, Vec::new()));
            continue;
        }
        let attached = letters[at + 1..].to_vec();
        let value = match attached.is_empty() {
            false => attached,
            true => {
                let next = left.pop_front();
                let missing = || format!("-{} requires a value", char::from(*letter));
                next.map(OsString::into_vec).ok_or_else(missing)?
            }
        };
        parsed.own.push((*letter, value));
        return Ok(());
    }
    Ok(())
}

fn long(
    word: Vec<u8>,
    typed: &OsStr,
    left: &mut VecDeque<OsString>,
    parsed: &mut Parsed,
) -> Result<(), String> {
    let equals = word.iter().position(|byte| *byte == b'=');
    let name = String::from_utf8_lossy(&word[..equals.unwrap_or(word.len())]).into_owned();
    let attached = equals.map(|at| word[at + 1..].to_vec());
    let exact = KNOWN.iter().find(|known| known.long == name);
    if let (None, Some(takes_value)) = (exact, native::takes_value(&name)) {
        parsed.native.push(typed.to_owned());
        if takes_value && attached.is_none() {
            parsed.native.extend(left.pop_front());
        }
        return Ok(());
    }
    let begun: Vec<&Known> = KNOWN.iter().filter(|known| known.long.starts_with(&name)).collect();
    let found = match (exact, begun.as_slice()) {
        (Some(found), _) => found,
        (None, [found]) => found,
        (None, []) => return Err(format!("unknown option --{name}")),
        (None, several) => {
            let names: Vec<String> =
                several.iter().map(|known| format!("--{}", known.long)).collect();
            return Err(format!("--{name} is ambiguous: use {}", names.join(" or ")));
        }
    };
    let value = match (found.value.is_empty(), attached) {
        (true, Some(_)) => return Err(format!("--{} takes no value", found.long)),
        (true, None) => Vec::new(),
        (false, Some(value)) => value,
        (false, None) => {
            let missing = || format!("--{} requires a value", found.long);
            left.pop_front().map(OsString::into_vec).ok_or_else(missing)?
        }
    };
    parsed.own.push((found.letter, value));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Parsed, String> {
        parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    fn own(line: &str) -> String {
        let shown = |(letter, value): &(u8, Vec<u8>)| {
            format!("{}{}", char::from(*letter), String::from_utf8_lossy(value))
        };
        of(line).unwrap().own.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_are_read_as_getopt_long_reads_them() {
        assert_eq!(own("-t2 -c 100 -d30s u"), "t2 c100 d30s");
        assert_eq!(own("-Lc9 --lat --timeout=3s --dur 1m u"), "L c9 L T3s d1m");
        assert_eq!(own("u -c 1"), "c1");
        let parsed = of("-c1 u -d2 -- -c 3").unwrap();
        assert_eq!(
            (parsed.operands, parsed.own.len()),
            (vec!["u".into(), "-c".into(), "3".into()], 2)
        );
    }

    #[test]
    fn what_wrk_does_not_have_is_native() {
        let parsed = of("--json --fail-if p99>1ms -o r.json --io=epoll -c 3 u").unwrap();
        let native = ["--json", "--fail-if", "p99>1ms", "-o", "r.json", "--io=epoll"];
        assert_eq!(parsed.native, native.map(OsString::from));
        assert_eq!(parsed.operands, [OsString::from("u")]);
    }

    #[test]
    fn what_is_no_option_is_named() {
        for (line, problem) in [
            ("-x u", "-x"),
            ("-r u", "-r"),
            ("-h u", "-h"),
            ("--nosuch u", "--nosuch"),
            ("--latency=1 u", "--latency takes no value"),
            ("u -c", "-c requires a value"),
            ("u --script", "--script requires a value"),
            ("--he u", "--header or --help"),
        ] {
            let refused = of(line).unwrap_err();
            assert!(refused.contains(problem), "{line}: {refused}");
        }
    }
}
