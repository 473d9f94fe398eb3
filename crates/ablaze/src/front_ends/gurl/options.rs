//! gurl's command line, read as Go programs read theirs: one dash or two, the value behind a
//! space or `=`, a switch on its own or as `-bench=false`.

use std::ffi::OsString;

use super::table;
use crate::CommandError;
use crate::values;

/// What a gurl command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// `-bench`.
    pub bench: bool,
    /// `-ac`.
    pub connections: u32,
    /// `-an`; `None` when negative: no end.
    pub requests: Option<u64>,
    /// `-duration`, ns.
    pub duration_ns: Option<u64>,
    /// `-rate`: requests per second, on a schedule; gurl's 0 is none.
    pub rate_per_s: Option<u64>,
    /// `-connect-timeout`, ns.
    pub timeout_ns: Option<u64>,
    /// `-cpus`; 0 chooses.
    pub threads: u32,
    /// `-X`.
    pub method: Option<String>,
    /// `-H`, in order.
    pub headers: Vec<String>,
    /// `-A`.
    pub user_agent: String,
    /// `-d`, as given.
    pub body: Option<String>,
    /// The bare word, or else `-url`.
    pub url: Option<String>,
    /// `-echo` or `-l`: serve here instead.
    pub serve: Option<String>,
    /// `-explain`: ablaze's own.
    pub explain: bool,
    /// `-h`.
    pub help: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bench: false,
            connections: 1,
            requests: Some(1),
            duration_ns: None,
            rate_per_s: None,
            timeout_ns: None,
            threads: 0,
            method: None,
            headers: Vec::new(),
            user_agent: "gurl".into(),
            body: None,
            url: None,
            serve: None,
            explain: false,
            help: false,
        }
    }
}

/// Options of gurl that are not its benchmark's, or come later.
const LATER: &[&str] = &[
    "F",
    "form",
    "form-string",
    "J",
    "Jfa",
    "Jfa-string",
    "q",
    "query",
    "o",
    "output",
    "oflag",
    "v",
    "verbose",
    "c",
    "color",
    "I",
    "input-model",
    "R",
    "input-read",
    "input-fields",
    "skey",
    "input-setkey",
    "r",
    "read-stream",
    "w",
    "write-stream",
    "m",
    "merge",
    "O",
    "output-mode",
    "W",
    "output-write",
    "wkey",
    "debug",
    "K",
    "config",
    "kargs",
    "gen",
    "cron",
];

impl Options {
    /// Reads the words behind `gurl`.
    ///
    /// # Errors
    /// When an option is unknown, lacks its value, or the value is none.
    pub fn parse(words: &[OsString]) -> Result<Self, CommandError> {
        let mut options = Self::default();
        let mut bare = None;
        let mut words = words.iter().map(|word| word.to_string_lossy().into_owned());
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
            let Some(name) = name.filter(|name| !name.is_empty()) else {
                if word == "http" && bare.is_none() {
                    // gurl's later versions have sub-commands; this is the one with -bench.
                    continue;
                }
                if let Some(first) = bare.replace(word.clone()) {
                    return Err(CommandError::usage(format!(
                        "unexpected argument `{word}`: the URL is already `{first}`"
                    )));
                }
                continue;
            };
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            options.set(name, value, &mut words)?;
        }
        options.url = bare.or(options.url);
        Ok(options)
    }

    fn set(
        &mut self,
        name: &str,
        value: Option<String>,
        words: &mut dyn Iterator<Item = String>,
    ) -> Result<(), CommandError> {
        match name {
            "bench" => self.bench = switch(name, value)?,
            "explain" => self.explain = switch(name, value)?,
            "h" | "help" => self.help = switch(name, value)?,
            _ if LATER.contains(&name) => {
                return Err(CommandError::usage(format!("gurl's option -{name} is not supported")));
            }
            _ if table::takes_value(name) != Some(true) => {
                return Err(CommandError::usage(format!(
                    "unknown option -{name}; see `ablaze gurl -h`"
                )));
            }
            _ => {
                let value = value.or_else(|| words.next()).ok_or_else(|| {
                    CommandError::usage(format!("-{name} requires a value; see `ablaze gurl -h`"))
                })?;
                self.set_value(name, value.clone()).map_err(|reason| {
                    CommandError::usage(format!("-{name} `{value}`: {reason}"))
                })?;
            }
        }
        Ok(())
    }

    fn set_value(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "ac" => self.connections = values::small_count(&value)?,
            // Negative: no end (gurl).
            "an" if value.parse::<i64>().is_ok_and(|count| count < 0) => self.requests = None,
            "an" => self.requests = Some(values::count(&value)?),
            "duration" => self.duration_ns = Some(duration_ns(&value)?),
            "connect-timeout" => self.timeout_ns = Some(duration_ns(&value)?),
            "rate" => self.rate_per_s = Some(values::count(&value)?).filter(|rate| *rate > 0),
            "cpus" => self.threads = values::small_count(&value)?,
            // Accepted without effect: there are as many connections as -ac says.
            "conns" => drop(values::count(&value)?),
            "X" | "request" => self.method = Some(value),
            "H" | "header" => self.headers.push(value),
            "A" | "user-agent" => self.user_agent = value,
            "d" | "data" => self.body = Some(value),
            "url" => self.url = Some(value),
            _ => self.serve = Some(value),
        }
        Ok(())
    }
}

/// A switch: on by itself, or as Go's `strconv.ParseBool` reads its value.
fn switch(name: &str, value: Option<String>) -> Result<bool, CommandError> {
    match value.as_deref() {
        None | Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some(other) => Err(CommandError::usage(format!(
            "-{name}=`{other}`: expected -{name} or \
                -{name}=false"
        ))),
    }
}

/// gurl's times: ms s m h d w M (31 days) y, and joined.
fn duration_ns(text: &str) -> Result<u64, String> {
    const SECOND: u64 = 1_000_000_000;
    const DAY: u64 = 86_400 * SECOND;
    values::duration_with(text, |unit| match unit {
        "ms" => Some(SECOND / 1000),
        "s" => Some(SECOND),
        "m" => Some(60 * SECOND),
        "h" => Some(3600 * SECOND),
        "d" => Some(DAY),
        "w" => Some(7 * DAY),
        "M" => Some(31 * DAY),
        "y" => Some(365 * DAY),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, CommandError> {
        let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
        Options::parse(&words)
    }

    #[test]
    fn the_command_line_of_the_comparison_with_ab() {
        let options = parse("-ac 21 -an 1000000 -bench :12345").unwrap();
        let expected = Options {
            bench: true,
            connections: 21,
            requests: Some(1_000_000),
            url: Some(":12345".into()),
            ..Options::default()
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn dashes_and_equal_signs_are_gos() {
        let line =
            "http --ac=3 -an=-1 --bench=true -duration 1m10s -X=PUT -H A:b -H=C:d=e -d @f h/x";
        let options = parse(line).unwrap();
        assert_eq!((options.connections, options.requests, options.bench), (3, None, true));
        assert_eq!(options.duration_ns, Some(70_000_000_000));
        assert_eq!(options.headers, ["A:b", "C:d=e"]);
        assert_eq!((options.method.as_deref(), options.body.as_deref()), (Some("PUT"), Some("@f")));
        assert!(!parse("-bench=false h").unwrap().bench);
        assert_eq!(parse("-url a:1 b:2").unwrap().url.as_deref(), Some("b:2"));
        assert_eq!(parse("-echo :1").unwrap().serve, parse("--l=:1").unwrap().serve);
    }

    #[test]
    fn gurls_units_of_time() {
        assert_eq!(duration_ns("1d"), Ok(86_400_000_000_000));
        assert_eq!(duration_ns("1M"), Ok(31 * 86_400_000_000_000));
        assert_eq!(duration_ns("2w1h"), Ok((14 * 24 + 1) * 3_600_000_000_000));
        assert!(duration_ns("5x").is_err());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (line, expected) in [
            ("-ac", "-ac requires a value"),
            ("-ac x h", "-ac `x`"),
            ("-bench=maybe h", "-bench=`maybe`"),
            ("-nonsense h", "unknown option -nonsense"),
            ("a:1 b:2", "unexpected argument `b:2`"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.line.contains(expected) && error.status == 2, "{line}: {error}");
        }
    }
}
