//! Words as Go's package `flag` reads them: one dash or two, the value behind `=` or in the next word, switches alone or with
//! `=false`, and no option behind the first word that is none. New here: a name that the tool does not have is a native option.

use ablaze_report::vegeta::parse_duration;

use super::{Known, Words};
use crate::native;

/// Values that Go's package reads as numbers, by what the help calls them.
const NUMBERS: [&str; 3] = ["N", "RATE", "SECONDS"];
/// What the help calls a value that Go's package reads with `time.ParseDuration`, which wants a unit.
const TIME: &str = "TIME";

/// Reads the words.
///
/// # Errors
/// When an option is unknown or lacks its value, a number is none, or a switch has a value that is neither true nor false.
pub fn parse(known: &'static [Known], words: &[String]) -> Result<Words, String> {
    let mut parsed = Words::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        let Some(name) = name.filter(|_| word != "-") else {
            parsed.operands.push(word.clone());
            break;
        };
        if name.is_empty() {
            break;
        }
        let (name, attached) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, None),
        };
        let Some(found) = known.iter().find(|known| known.name == name) else {
            let takes_value =
                native::takes_value(name).ok_or_else(|| format!("unknown option -{name}"))?;
            let attached = attached.map_or(String::new(), |value| format!("={value}"));
            parsed.native.push(format!("--{name}{attached}"));
            if takes_value && attached.is_empty() {
                parsed.native.extend(words.next().cloned());
            }
            continue;
        };
        let value = match (found.is_switch(), attached) {
            (true, value) => switch(name, value)?.to_string(),
            (false, Some(value)) => value.to_owned(),
            (false, None) => {
                let missing = || format!("-{name} requires a value: {}", found.value);
                words.next().cloned().ok_or_else(missing)?
            }
        };
        if NUMBERS.contains(&found.value) && value.parse::<f64>().is_err() {
            return Err(format!("-{name} {value}: expected a number"));
        }
        // A time below zero is none to the tools, as one of 0 is.
        if found.value == TIME && parse_duration(value.trim_start_matches('-')).is_none() {
            return Err(without_unit(name, &value));
        }
        parsed.own.push((found.name, value));
    }
    parsed.operands.extend(words.cloned());
    Ok(parsed)
}

/// What is wrong with a time that has no unit, or is none.
fn without_unit(name: &str, value: &str) -> String {
    match value.parse::<f64>() {
        Ok(_) => format!("-{name} {value}: a time requires a unit, such as {value}s"),
        Err(_) => format!("-{name} {value}: expected a time such as 10s or 1m30s"),
    }
}

/// What Go's `strconv.ParseBool` takes.
fn switch(name: &str, value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some(other) => Err(format!("-{name}={other}: expected -{name} or -{name}=false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Known] = &[
        Known::new(None, "n", "N", ""),
        Known::new(None, "h2", "", ""),
        Known::new(None, "host", "H", ""),
        Known::new(None, "z", "TIME", ""),
    ];

    fn of(line: &str) -> Result<Words, String> {
        parse(KNOWN, &line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read_as_go_reads_them() {
        let words = of("-n 5 --h2 -host=a=b -h2=f u -n 7").unwrap();
        let own: Vec<String> =
            words.own.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(own, ["n=5", "h2=true", "host=a=b", "h2=false"]);
        assert_eq!(words.operands, ["u", "-n", "7"]);
        assert!(!words.is_on("h2"));
        for time in ["0", "0s", "1m30s", "1.5h", "200ms", "-1s"] {
            assert_eq!(of(&format!("-z {time}")).unwrap().last("z"), Some(time));
        }
        let words = of("--json --io=epoll -fail-if p99>1ms -n=3 -- -n").unwrap();
        assert_eq!(words.native, ["--json", "--io=epoll", "--fail-if", "p99>1ms"]);
        assert_eq!((words.last("n"), &words.operands[..]), (Some("3"), &["-n".to_owned()][..]));
    }

    #[test]
    fn what_is_no_option_is_named() {
        for (line, problem) in [
            ("-x u", "unknown option -x"),
            ("-n", "-n requires a value"),
            ("-n five u", "-n five: expected a number"),
            ("-z 5 u", "-z 5: a time requires a unit, such as 5s"),
            ("-z=1.5 u", "such as 1.5s"),
            ("-z soon u", "-z soon: expected a time"),
            ("-z 5d u", "-z 5d: expected a time"),
            ("-h2=2 u", "-h2=2"),
        ] {
            let refused = of(line).unwrap_err();
            assert!(refused.contains(problem), "{line}: {refused}");
        }
    }
}
