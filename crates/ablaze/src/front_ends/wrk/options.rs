//! wrk's options with their values: numbers with SI units, whole times with units, and the checks that wrk makes.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::getopt;
use crate::CommandError;
use crate::borrowed::wrk::{check, count, seconds};
use crate::native::{self, CommandLine, hints};

/// What a command line asks for.
pub enum Parsed {
    /// A run.
    Run(Box<Options>),
    /// `--help`.
    Help,
    /// `-v` without a URL.
    Version,
}

/// What is asked for, with wrk's defaults.
pub struct Options {
    /// The URL, as typed.
    pub url: String,
    /// What the script's `init` is given beside it.
    pub arguments: Vec<OsString>,
    /// Connections in all.
    pub connections: u32,
    /// Length of the run, s.
    pub duration_s: u64,
    /// Threads.
    pub threads: u32,
    /// The Lua script.
    pub script: Option<OsString>,
    /// Header fields, as typed.
    pub headers: Vec<Vec<u8>>,
    /// Print the latency distribution.
    pub latency: bool,
    /// Timeout of a request, s.
    pub timeout_s: u64,
    /// Print version details first.
    pub version: bool,
    /// Native options.
    pub native: Box<native::Options>,
}

impl Options {
    /// Reads the words behind `wrk`.
    ///
    /// # Errors
    /// When wrk would refuse them, or a native option among them is wrong.
    pub fn parse(words: &[OsString]) -> Result<Parsed, CommandError> {
        let words = getopt::parse(words).map_err(usage)?;
        let Some(native) = native_options(&words.native)? else { return Ok(Parsed::Help) };
        let mut operands = words.operands.into_iter();
        let url = operands.next().map(|url| url.to_string_lossy().into_owned());
        let mut options = Self {
            url: url.clone().unwrap_or_default(),
            arguments: operands.collect(),
            connections: 10,
            duration_s: 10,
            threads: 2,
            script: None,
            headers: Vec::new(),
            latency: false,
            timeout_s: 2,
            version: false,
            native,
        };
        for (letter, value) in words.own {
            if letter == b'h' {
                return Ok(Parsed::Help);
            }
            options.set(letter, value)?;
        }
        if url.is_none() {
            return match options.version {
                true => Ok(Parsed::Version),
                false => Err(usage("missing URL, for example `ablaze wrk http://127.0.0.1:8080/`")),
            };
        }
        check(options.threads, options.connections, options.duration_s).map_err(usage)?;
        Ok(Parsed::Run(Box::new(options)))
    }

    fn set(&mut self, letter: u8, value: Vec<u8>) -> Result<(), CommandError> {
        use std::os::unix::ffi::OsStringExt;
        let text = String::from_utf8_lossy(&value).into_owned();
        match letter {
            b'c' => self.connections = count(&text, "-c").map_err(usage)?,
            b't' => self.threads = count(&text, "-t").map_err(usage)?,
            b'd' => self.duration_s = seconds(&text, "-d").map_err(usage)?,
            b'T' => self.timeout_s = seconds(&text, "--timeout").map_err(usage)?,
            b's' => self.script = Some(OsString::from_vec(value)),
            b'H' => self.headers.push(value),
            b'L' => self.latency = true,
            _ => self.version = true,
        }
        Ok(())
    }
}

/// The native options; `None` where they ask for help.
fn native_options(words: &[OsString]) -> Result<Option<Box<native::Options>>, CommandError> {
    let program = OsString::from("ablaze wrk");
    match CommandLine::try_parse_from(std::iter::once(&program).chain(words)) {
        Ok(line) => {
            if let Some(why) = line.fleet.refused() {
                return Err(usage(why));
            }
            refuse_another_request(&line.options)?;
            line.exports.note_no_effect();
            Ok(Some(Box::new(line.options)))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => Ok(None),
        Err(error) => {
            let refused = hints::refusal(&error, &CommandLine::command());
            Err(usage(refused.line))
        }
    }
}

/// The request is wrk's: `-H` and the script say what it is.
fn refuse_another_request(options: &native::Options) -> Result<(), CommandError> {
    let (request, load) = (&options.request, &options.load);
    let given = [
        ("--method", request.method.is_some()),
        ("--body", request.body.is_some()),
        ("--content-type", request.content_type.is_some()),
        ("--user", request.user.is_some()),
        ("--urls", request.urls.is_some()),
        ("--body-lines", request.body_lines.is_some()),
        ("--feed", request.feed.is_some()),
        ("--seed", request.seed.is_some()),
        ("--http", request.http.is_some()),
        ("--alt-svc", options.http3.alt_svc),
        ("--pipeline", load.pipeline.is_some()),
        ("--streams", load.streams.is_some()),
        ("--journey", !request.journey_files.is_empty()),
    ];
    let given = given.iter().find(|(_, given)| *given).map(|(option, _)| *option);
    let journeys = request.journey.given().or(request.users.given());
    match given.or(request.bodies.given()).or(journeys) {
        None => Ok(()),
        Some(option) => Err(usage(format!(
            "{option} is not supported with wrk's options: use `ablaze load {option} …`"
        ))),
    }
}

/// wrk's exit status for what it cannot do is 1.
pub fn usage(line: impl Into<String>) -> CommandError {
    CommandError { status: 1, ..CommandError::usage(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Parsed, CommandError> {
        Options::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    fn run(line: &str) -> Options {
        match of(line).unwrap() {
            Parsed::Run(options) => *options,
            _ => panic!("{line} is no run"),
        }
    }

    #[test]
    fn the_defaults_are_wrks() {
        let options = run("http://h/");
        assert_eq!((options.threads, options.connections, options.duration_s), (2, 10, 10));
        assert_eq!((options.timeout_s, options.latency), (2, false));
    }

    #[test]
    fn numbers_and_times_have_wrks_units() {
        let options = run("-c1K -t 2 -d2m --timeout 1H http://h/ -- a --b");
        assert_eq!((options.connections, options.duration_s, options.timeout_s), (1000, 120, 3600));
        assert_eq!(options.arguments, ["a", "--b"].map(OsString::from));
    }

    #[test]
    fn what_wrk_refuses_is_refused_with_its_status() {
        for (line, part) in [
            ("-c2 -t3 http://h/", "number of connections must be >= threads"),
            ("-t0 http://h/", "-t 0"),
            ("-d0 http://h/", "-d 0"),
            ("-d10ms http://h/", "-d 10ms"),
            ("-c many http://h/", "-c many"),
            ("--json", "missing URL"),
            ("--urls f http://h/", "--urls is not supported"),
            ("--fail-iff x http://h/", "--fail-iff"),
        ] {
            let Err(refused) = of(line) else { panic!("{line}") };
            assert_eq!(refused.status, 1, "{line}");
            assert!(refused.line.contains(part), "{line}: {refused}");
        }
        assert!(matches!(of("-v"), Ok(Parsed::Version)));
        assert!(matches!(of("--help"), Ok(Parsed::Help)));
    }
}
