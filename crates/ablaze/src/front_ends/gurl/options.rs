//! gurl's command line, read as Go programs read theirs: one dash or two, the value behind a
//! space or `=`, a switch on its own or as `-bench=false`.

use std::collections::VecDeque;
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
    /// `-k`: ablaze's own.
    pub insecure: bool,
    /// `-X`.
    pub method: Option<String>,
    /// `-H`, in order.
    pub headers: Vec<String>,
    /// `-A`.
    pub user_agent: String,
    /// `-d`, as given.
    pub body: Option<String>,
    /// `-J`: members of a JSON body.
    pub json: Vec<String>,
    /// `-F` and `-form-string`: fields of a form.
    pub fields: Vec<Word>,
    /// `-Jfa` and `-Jfa-string`: members of JSON fields of a form.
    pub json_fields: Vec<Word>,
    /// `-q`: parameters of the query.
    pub query: Vec<String>,
    /// `-o`, `-oflag`, `-v`, `-c`: what is written of responses, and where.
    pub output: Output,
    /// What a stage of a pipeline reads and writes.
    pub stream: Stream,
    /// The bare word, or else `-url`.
    pub url: Option<String>,
    /// `-echo` or `-l`: serve here instead.
    pub serve: Option<String>,
    /// `-explain`: ablaze's own.
    pub explain: bool,
    /// `-h`.
    pub help: bool,
}

/// A word of an option that comes in two kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As typed.
    pub text: String,
    /// Whether `@` has no meaning in it.
    pub literal: bool,
}

/// What is written of responses, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// `-o`: a file, or `stdout` or `stderr`; standard output unless given.
    pub file: Option<String>,
    /// `-oflag append`: behind what the file has.
    pub append: bool,
    /// `-oflag line`: a line end behind each body.
    pub line: bool,
    /// `-v`: heads as well.
    pub heads: bool,
    /// `-c`: heads and JSON in colours.
    pub color: bool,
}

/// What a stage of a pipeline reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// `-I`: the stage makes records of lines.
    pub input: bool,
    /// `-R`: the file of lines.
    pub input_file: Option<String>,
    /// `-input-fields`: what separates the fields of a line.
    pub separator: String,
    /// `-skey`: other names of fields, `new=rf.col.N,…`.
    pub names: String,
    /// `-r`: one request per record of the stage before.
    pub read: bool,
    /// `-w`: one record per response for the next stage.
    pub write: bool,
    /// `-m`: with what was read in it.
    pub merge: bool,
    /// `-O`: the stage writes records.
    pub output: bool,
    /// `-W`: to this file.
    pub output_file: Option<String>,
    /// `-wkey`: only these of their keys.
    pub keys: String,
    /// `-debug`: says what was read.
    pub debug: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            input: false,
            input_file: None,
            separator: " ".into(),
            names: String::new(),
            read: false,
            write: false,
            merge: false,
            output: false,
            output_file: None,
            keys: String::new(),
            debug: false,
        }
    }
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
            insecure: false,
            method: None,
            headers: Vec::new(),
            user_agent: "gurl".into(),
            body: None,
            json: Vec::new(),
            fields: Vec::new(),
            json_fields: Vec::new(),
            query: Vec::new(),
            output: Output::default(),
            stream: Stream::default(),
            url: None,
            serve: None,
            explain: false,
            help: false,
        }
    }
}

/// Options of older versions of gurl that are refused, and what does their work here.
const REFUSED: [(&[&str], &str); 4] = [
    (
        &["K", "config"],
        "scripts are Lua here, for wrk's interface: use `ablaze wrk -s SCRIPT.lua URL`",
    ),
    (&["kargs"], "it is for the scripts of -K: use `ablaze wrk -s SCRIPT.lua URL -- ARGUMENTS`"),
    (&["gen"], "it writes a script for -K: write one for `ablaze wrk -s SCRIPT.lua URL`"),
    (
        &["cron"],
        "ablaze repeats nothing by the clock: start the command from cron or a systemd timer",
    ),
];

/// Sub-commands of gurl other than `http`.
const OTHER_PROTOCOLS: [&str; 4] = ["ws", "websocket", "tcp", "udp"];

impl Options {
    /// Reads the words behind `gurl`, or those of one stage of a pipeline.
    ///
    /// # Errors
    /// When an option is unknown, lacks its value, or the value is none.
    pub fn parse(words: &[OsString]) -> Result<Self, CommandError> {
        let mut options = Self::default();
        let mut bare: Option<String> = None;
        let mut words: VecDeque<String> =
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        match words.front().map(String::as_str) {
            // gurl's later versions have sub-commands; this is the one with -bench.
            Some("http") => drop(words.pop_front()),
            Some(other) if OTHER_PROTOCOLS.contains(&other) => {
                return Err(CommandError::usage(format!(
                    "gurl's sub-command {other} is not supported: `ablaze gurl` speaks HTTP only"
                )));
            }
            _ => {}
        }
        while let Some(word) = words.pop_front() {
            let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
            let Some(name) = name.filter(|name| !name.is_empty()) else {
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
        // gurl: a file of lines makes a stage that reads them.
        options.stream.input |= options.stream.input_file.is_some();
        Ok(options)
    }

    fn set(
        &mut self,
        name: &str,
        value: Option<String>,
        words: &mut VecDeque<String>,
    ) -> Result<(), CommandError> {
        if let Some(switch_of) = self.switch_named(name) {
            *switch_of = switch(name, value)?;
            return Ok(());
        }
        if let Some((_, instead)) = REFUSED.iter().find(|(names, _)| names.contains(&name)) {
            return Err(CommandError::usage(format!(
                "gurl's option -{name} is not supported: {instead}"
            )));
        }
        if table::takes_value(name) != Some(true) {
            // -v and -c can be written as one word.
            if !name.is_empty() && value.is_none() && name.bytes().all(|b| b"vc".contains(&b)) {
                (self.output.heads, self.output.color) = (true, true);
                return Ok(());
            }
            return Err(CommandError::usage(format!(
                "unknown option -{name}; see `ablaze gurl -h`"
            )));
        }
        let value = value.or_else(|| words.pop_front()).ok_or_else(|| {
            CommandError::usage(format!("-{name} requires a value; see `ablaze gurl -h`"))
        })?;
        let mut values = vec![value];
        while let Some(is_one) = is_further_value(name) {
            match words.pop_front() {
                Some(word) if is_one(&word) => values.push(word),
                Some(other) => {
                    words.push_front(other);
                    break;
                }
                None => break,
            }
        }
        for value in values {
            let wrong = |reason| CommandError::usage(format!("-{name} `{value}`: {reason}"));
            self.set_value(name, value.clone()).map_err(wrong)?;
        }
        Ok(())
    }

    /// The switch of this name.
    fn switch_named(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "bench" => &mut self.bench,
            "explain" => &mut self.explain,
            "h" | "help" => &mut self.help,
            "k" | "insecure" => &mut self.insecure,
            "v" | "verbose" => &mut self.output.heads,
            "c" | "color" => &mut self.output.color,
            "I" | "input-model" => &mut self.stream.input,
            "r" | "read-stream" => &mut self.stream.read,
            "w" | "write-stream" => &mut self.stream.write,
            "m" | "merge" => &mut self.stream.merge,
            "O" | "output-mode" => &mut self.stream.output,
            "debug" => &mut self.stream.debug,
            _ => return None,
        })
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
            "J" => self.json.push(value),
            "F" | "form" => self.fields.push(Word { text: value, literal: false }),
            "form-string" => self.fields.push(Word { text: value, literal: true }),
            "Jfa" => self.json_fields.push(Word { text: value, literal: false }),
            "Jfa-string" => self.json_fields.push(Word { text: value, literal: true }),
            "q" | "query" => self.query.push(value),
            "o" | "output" => self.output.file = Some(value),
            "oflag" => self.output.set_flags(&value)?,
            "R" | "input-read" => self.stream.input_file = Some(value),
            "input-fields" => self.stream.separator = value,
            "skey" | "input-setkey" => self.stream.names = value,
            "W" | "output-write" => self.stream.output_file = Some(value),
            "wkey" | "write-key" => self.stream.keys = value,
            "url" => self.url = Some(value),
            _ => self.serve = Some(value),
        }
        Ok(())
    }
}

impl Output {
    /// `append|line`: what gurl's other flags ask for is done anyway.
    fn set_flags(&mut self, flags: &str) -> Result<(), String> {
        for flag in flags.split('|').filter(|flag| !flag.is_empty()) {
            match flag {
                "append" => self.append = true,
                "line" => self.line = true,
                "trunc" | "create" => {}
                other => {
                    return Err(format!("`{other}` is none of append, line, trunc and create"));
                }
            }
        }
        Ok(())
    }
}

/// For an option that takes several values: whether a word that follows is one more. gurl takes all up to the next option,
/// also a URL; here a URL is none.
fn is_further_value(name: &str) -> Option<fn(&str) -> bool> {
    fn is_url(word: &str) -> bool {
        word.starts_with([':', '/']) || word.starts_with("http://") || word.starts_with("https://")
    }
    fn is_json(word: &str) -> bool {
        !word.starts_with('-') && !is_url(word)
    }
    fn is_pair(word: &str) -> bool {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| !name.starts_with('-') && !name.contains([':', '/', '?']))
    }
    match name {
        "J" => Some(|word| is_json(word) && word.contains(':')),
        "Jfa" | "Jfa-string" | "q" | "query" => Some(is_pair),
        _ => None,
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
#[path = "options_tests.rs"]
mod tests;
