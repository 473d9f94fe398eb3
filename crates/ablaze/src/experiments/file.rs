//! An experiment as a file: TOML, read with the place of every word, so that what is wrong is named
//! by its line before anything starts.

use std::fmt;
use std::ops::Range;

use ablaze_lab::check::Check;
use ablaze_model::experiment::{Speaks, Target, Tool};
use ablaze_model::spec::{Secrets, TargetSpec};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::file_loads::{is_option_of_a_load, options_of_a_load};
use super::file_values::{ready_within, repeats, tool, truth, unknown, written};
use super::fleet::{FleetOptions, is_place};
use super::options::{self, CpuList, cpus};
use super::vary::{Settings, Varied};
use super::{ab_client, of_all_loads, parts, targets};
use crate::fleet::lost;
use crate::{CommandError, values};

/// What a file describes.
#[derive(Debug)]
pub struct Described {
    /// What the page is called.
    pub title: Option<String>,
    /// What it is about, in a sentence or two.
    pub about: Option<String>,
    /// The targets in their order, a control last, and the loads: one, or one for each value of a list.
    pub varied: Varied,
    /// Runs of each target under each load.
    pub repeats: Option<u32>,
    /// Whether these speak TLS, with a certificate of the experiment.
    pub https: bool,
    /// Whether these are started anew for each run.
    pub restart: bool,
    /// Time in which they have to answer, ns.
    pub ready_within_ns: u64,
    /// Seed of the order of the runs.
    pub order_seed: u64,
    /// CPUs for them.
    pub target_cpus: Option<CpuList>,
    /// Who carries each run out.
    pub fleet: FleetOptions,
    /// What has to hold of the ratios, each with its line.
    pub checks: Vec<(usize, Check)>,
    /// The secrets that targets and loads refer to.
    pub secrets: Secrets,
}

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub why: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

const KEYS: &[&str] = &[
    "title",
    "about",
    "targets",
    "load",
    "repeats",
    "path",
    "https",
    "restart",
    "ready_within",
    "order_seed",
    "target_cpus",
    "fleet",
    "lost",
    "target_address",
    "checks",
    "vary",
    parts::QUICK,
];

/// What is said of a text that the reader of TOML does not understand.
pub fn not_toml(why: &str) -> String {
    format!("not TOML ({why}); docs/run.md describes the format")
}

/// Reads a file that describes one experiment.
///
/// # Errors
/// What is wrong first.
pub fn read(text: &str) -> Result<Described, FileError> {
    described(text, false)
}

/// The same; `quick` lets the keys under `[quick]` take the place of those of the file.
///
/// # Errors
/// What is wrong first.
pub fn described(text: &str, quick: bool) -> Result<Described, FileError> {
    let source = Document { text };
    let table = DeTable::parse(text)
        .map_err(|error| source.error(error.span().unwrap_or(0..0), not_toml(error.message())))?;
    let table = table.get_ref();
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.get_ref().as_ref())) {
        return Err(source.error(key.span(), unknown("key", key.get_ref(), KEYS)));
    }
    // Read in any case, so that what is wrong with it is told before someone is in a hurry.
    let shorter = match table.get(parts::QUICK) {
        Some(value) => source.shorter(value)?,
        None => Vec::new(),
    };
    let own = |key: &Spanned<DeString<'_>>| KEYS.contains(&key.get_ref().as_ref());
    let (shorter_here, shorter_load): (Vec<_>, Vec<_>) =
        shorter.into_iter().partition(|(key, _)| own(key));
    let value = |name: &str| {
        let found = shorter_here.iter().find(|(key, _)| quick && key.get_ref() == name);
        found.map(|(_, value)| *value).or_else(|| table.get(name))
    };
    let mut secrets = Secrets::default();
    let whole = source.varied(&value, &[], &mut secrets)?;
    let shorter = source.varied(&value, &shorter_load, &mut secrets)?;
    let loads = || whole.loads.iter().chain(&shorter.loads);
    for target in whole.targets.iter().filter(|target| target.client == Tool::Ab) {
        for load in loads() {
            let at = source.target_named(value("targets"), &target.name);
            ab_client::words(&load.spec, &secrets)
                .map_err(|why| source.error(at, format!("target {}: {why}", target.name)))?;
        }
    }
    let https = source.read(value("https"), truth)?.unwrap_or(false);
    let speaks = Speaks::of(https, loads().map(|load| &load.spec));
    for target in of_all_loads(&whole.targets, &whole.loads) {
        let at = source.target_named(value("targets"), &target.name);
        options::can_speak(std::slice::from_ref(target), speaks)
            .map_err(|error| source.error(at, error.line))?;
    }
    let varied = if quick { shorter } else { whole };
    let targets: Vec<Target> = of_all_loads(&varied.targets, &varied.loads).cloned().collect();
    let paths: Vec<&str> =
        varied.loads.iter().map(|load| load.path.as_deref().unwrap_or(&varied.path)).collect();
    options::note_without_effect(&targets, &paths, "add `path = \"/\"`");
    Ok(Described {
        about: source.text_of("about", value("about"))?,
        title: source.text_of("title", value("title"))?,
        varied,
        repeats: source.read(value("repeats"), repeats)?,
        https,
        restart: source.read(value("restart"), truth)?.unwrap_or(true),
        ready_within_ns: source
            .read(value("ready_within"), ready_within)?
            .unwrap_or(10_000_000_000),
        order_seed: source
            .read(value("order_seed"), |value| {
                written(value)?.parse().map_err(|_| "expected a whole number".to_owned())
            })?
            .unwrap_or(1),
        target_cpus: source.read(value("target_cpus"), |value| cpus(&written(value)?))?,
        fleet: FleetOptions {
            fleet: source.read(value("fleet"), |value| is_place(&written(value)?))?,
            lost: source.read(value("lost"), |value| lost(&written(value)?))?,
            target_address: source.read(value("target_address"), |value| {
                written(value)?.parse().map_err(|_| "expected an IP address".to_owned())
            })?,
        },
        checks: source.checks(value("checks"))?,
        secrets,
    })
}

/// The text, for the lines of what is wrong.
pub(super) struct Document<'a> {
    text: &'a str,
}

pub(super) type Value<'i> = Spanned<DeValue<'i>>;
/// A key and its value.
pub(super) type Entry<'a, 'i> = (&'a Spanned<DeString<'i>>, &'a Value<'i>);

impl Document<'_> {
    fn line(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
    }

    pub(super) fn error(&self, span: Range<usize>, why: impl Into<String>) -> FileError {
        FileError { line: self.line(span.start), why: why.into() }
    }

    pub(super) fn read<T>(
        &self,
        value: Option<&Value<'_>>,
        read: impl Fn(&DeValue<'_>) -> Result<T, String>,
    ) -> Result<Option<T>, FileError> {
        let read = |value: &Value<'_>| {
            read(value.get_ref()).map_err(|why| {
                let text = self.text.get(value.span()).unwrap_or_default();
                self.error(value.span(), format!("{text}: {why}"))
            })
        };
        value.map(read).transpose()
    }

    fn text_of(&self, name: &str, value: Option<&Value<'_>>) -> Result<Option<String>, FileError> {
        self.read(value, |value| {
            value.as_str().map(str::to_owned).ok_or_else(|| format!("{name} must be a string"))
        })
    }

    /// A table's entries in the order in which they were written.
    pub(super) fn entries<'a, 'i>(
        &self,
        name: &str,
        value: &'a Value<'i>,
    ) -> Result<Vec<Entry<'a, 'i>>, FileError> {
        let table = value
            .get_ref()
            .as_table()
            .ok_or_else(|| self.error(value.span(), format!("{name} must be a table: [{name}]")))?;
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        Ok(entries)
    }

    /// What `[quick]` has in place of other keys: at least one, and none that nothing would read.
    fn shorter<'a, 'i>(&self, value: &'a Value<'i>) -> Result<Vec<Entry<'a, 'i>>, FileError> {
        let entries = self.entries(parts::QUICK, value)?;
        if entries.is_empty() {
            let why = "quick has no key: add keys of the file or of [load], such as repeats = 1, or remove [quick]";
            return Err(self.error(value.span(), why));
        }
        let own: Vec<&str> = KEYS.iter().copied().filter(|key| *key != parts::QUICK).collect();
        for (key, _) in &entries {
            let name = key.get_ref();
            let known = own.contains(&name.as_ref()) || is_option_of_a_load(name);
            if !known {
                let all: Vec<String> =
                    own.iter().map(|key| (*key).to_owned()).chain(options_of_a_load()).collect();
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                return Err(self.error(key.span(), unknown("key of [quick]", name, &all)));
            }
        }
        Ok(entries)
    }

    /// The targets as they are with these settings.
    pub(super) fn targets(
        &self,
        value: Option<&Value<'_>>,
        settings: &Settings,
        secrets: &mut Secrets,
    ) -> Result<Vec<Target>, FileError> {
        let none = "no targets: add [targets.NAME] with url, start, serve or control";
        let value = value.ok_or_else(|| self.error(0..0, none))?;
        let (mut targets, mut controls) = (Vec::new(), Vec::new());
        for (key, target) in self.entries("targets", value)? {
            if key.get_ref().trim().is_empty() {
                let why = "targets: the name of a target is empty: write [targets.NAME]";
                return Err(self.error(key.span(), why));
            }
            if key.get_ref().contains(['<', '>']) {
                let why = "targets: the name of a target cannot contain `<` or `>`, at which conditions are divided";
                return Err(self.error(key.span(), why));
            }
            let (target, workers) = self.target(key.get_ref(), target, settings, secrets)?;
            match target {
                Some(target) => targets.push(target),
                None => controls.push((key.get_ref().to_string(), workers)),
            }
        }
        let threads = options::most_threads(targets.iter());
        targets.extend(controls.into_iter().map(|(name, workers)| {
            Target::new(name, TargetSpec::Nginx { workers: workers.unwrap_or(threads) })
        }));
        if targets.is_empty() {
            return Err(self.error(value.span(), none));
        }
        Ok(targets)
    }

    /// Where a target is written.
    fn target_named(&self, value: Option<&Value<'_>>, name: &str) -> Range<usize> {
        let table = value.and_then(|value| value.get_ref().as_table());
        let mut keys = table.into_iter().flat_map(|table| table.keys());
        keys.find(|key| key.get_ref() == name).map_or(0..0, Spanned::span)
    }

    /// A target; none for a control, which takes after the others.
    fn target(
        &self,
        name: &str,
        value: &Value<'_>,
        settings: &Settings,
        secrets: &mut Secrets,
    ) -> Result<(Option<Target>, Option<u32>), FileError> {
        const WAYS: &[&str] = &["url", "start", "serve", "control", "workers", "client"];
        let (mut way, mut workers, mut client) = (None, None, Tool::Ablaze);
        for (key, value) in self.entries(&format!("targets.{name}"), value)? {
            match key.get_ref().as_ref() {
                "workers" => {
                    workers = self.read(Some(value), |v| values::small_count(&written(v)?))?;
                }
                // What older files call it.
                "client" | "tester" => client = self.read(Some(value), tool)?.unwrap_or_default(),
                known if WAYS.contains(&known) => {
                    if way.replace((known, value)).is_some() {
                        let why = "a target has exactly one of url, start, serve, control";
                        return Err(self.error(key.span(), why));
                    }
                }
                other => {
                    return Err(self.error(key.span(), unknown("key of a target", other, WAYS)));
                }
            }
        }
        let Some((way, value)) = way else {
            let why = format!("target {name}: add url, start, serve or control");
            return Err(self.error(value.span(), why));
        };
        let text = settings.put_into(&self.text_of(way, Some(value))?.unwrap_or_default());
        let wrong = |error: CommandError| self.error(value.span(), error.line);
        let source = match way {
            "control" if text == "nginx" => return Ok((None, workers)),
            "control" => {
                let why = format!("unknown control `{text}`: only nginx is supported");
                return Err(self.error(value.span(), why));
            }
            "start" => targets::started_by(&format!("x={text}")).map_err(wrong)?.source,
            "serve" => targets::model(name, &text).map_err(wrong)?,
            _ => targets::url(&text, secrets).map_err(wrong)?,
        };
        let target = settings.onto(Target { client, ..Target::new(name, source) });
        Ok((Some(target.map_err(wrong)?), workers))
    }

    fn checks(&self, value: Option<&Value<'_>>) -> Result<Vec<(usize, Check)>, FileError> {
        let Some(value) = value else { return Ok(Vec::new()) };
        let mut checks = Vec::new();
        for (key, value) in self.entries("checks", value)? {
            let limit = self.text_of("a check", Some(value))?.unwrap_or_default();
            let text = format!("{} {limit}", key.get_ref());
            let check = text.parse().map_err(|error: ablaze_lab::check::CheckError| {
                self.error(key.span(), error.to_string())
            })?;
            checks.push((self.line(key.span().start), check));
        }
        Ok(checks)
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
