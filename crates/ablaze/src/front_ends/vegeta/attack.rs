//! `ablaze vegeta attack`: the targets of a list in turn, at a rate; a line of JSON for each result.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ablaze_load::planning::{compose, sources};
use ablaze_model::plan::{ClockStarts, Plan};
use ablaze_model::spec::{Bodies, Body, Bytes, Head, Line, Secrets, UrlSpec};
use ablaze_model::{LoadSpec, Run};
use ablaze_report::file;
use ablaze_report::vegeta as results;

use super::targets::{self, Target};
use crate::borrowed::run::{self, FrontEnd, Read};
use crate::borrowed::{Tool, VEGETA, Words};
use crate::carry_out::interrupted;
use crate::{CommandError, outlets};

/// Without a length: ten years, which is as long as a run can be thought of.
const NO_END_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// Runs it with the words from `attack` on.
///
/// # Errors
/// When it cannot take place.
pub fn main(arguments: &[OsString]) -> Result<ExitCode, CommandError> {
    let (words, mut asked) = match run::read(&VEGETA, Attack::HELP, arguments)? {
        Read::Run(words, asked) => (words, asked),
        Read::Done(status) => return Ok(status),
    };
    let targets = listed(&words).map_err(|line| VEGETA.usage(line))?;
    let Some(first) = targets.first() else {
        return Err(VEGETA.usage("no targets to attack: write `GET http://HOST/` into it"));
    };
    asked.url.clone_from(&first.url);
    let mut attack = Attack {
        targets,
        name: words.last("name").unwrap_or_default().to_owned(),
        file: words.last("output").filter(|file| *file != "stdout").map(PathBuf::from),
        is_endless: !asked.words.iter().any(|word| word == "-n" || word == "-d"),
    };
    if let Some(path) = &attack.file {
        file::check_writable(path).map_err(|error| VEGETA.usage(format!("-output {error}")))?;
    }
    run::run(&mut attack, &words, &asked)
}

/// The targets of the list.
fn listed(words: &Words) -> Result<Vec<Target>, String> {
    let text = match words.last("targets").filter(|file| *file != "stdin") {
        Some(file) => String::from_utf8(read_file(Path::new(file))?),
        None => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().read_to_end(&mut bytes);
            read.map_err(|error| format!("cannot read targets from standard input: {error}"))?;
            String::from_utf8(bytes)
        }
    };
    let text = text.map_err(|_| "the targets are no text".to_owned())?;
    // Other forms have been refused with the words.
    match words.last("format") {
        Some("json") => targets::of_json(&text),
        _ => targets::of_text(&text, &read_file),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let blob = sources::file(path, "the targets").map_err(|error| error.to_string())?;
    blob.bytes().map(<[u8]>::to_vec).map_err(|error| error.to_string())
}

/// What vegeta does in its own way.
struct Attack {
    targets: Vec<Target>,
    /// `-name`.
    name: String,
    /// `-output`.
    file: Option<PathBuf>,
    /// `-duration` is 0.
    is_endless: bool,
}

impl Attack {
    /// The load that sends a target's request.
    fn aimed(&self, load: &LoadSpec, target: &Target) -> Result<LoadSpec, CommandError> {
        let url = sources::url(&target.url).map_err(|error| VEGETA.usage(error.to_string()))?;
        let url = UrlSpec::from(&url);
        let own = load.destination.url.as_ref().unwrap_or(&url);
        if (&own.host, own.port, own.https) != (&url.host, url.port, url.https) {
            return Err(VEGETA.usage(format!(
                "the targets `{}` and `{}` are on different servers: attack one at a time",
                own.shown, url.shown
            )));
        }
        let mut aimed = load.clone();
        aimed.destination.url = Some(url);
        aimed.requests.method = Some(Bytes::from(target.method.as_str()));
        if let Some(body) = &target.body {
            aimed.requests.bodies = Bodies::Same(Body::Given(Bytes(body.clone())));
        }
        let has_body = aimed.requests.bodies != Bodies::None;
        if let Head::Composed { lines, .. } = &mut aimed.requests.head {
            lines.extend(target.fields.iter().map(|line| Line::Text(line.as_str().into())));
            let has_type = lines.iter().any(|line| {
                matches!(line, Line::Text(text) if text.0.to_ascii_lowercase().starts_with(b"content-type:"))
            });
            // Go sends none unless it is given.
            if has_body && !has_type {
                lines.push(Line::Text("Content-Type:".into()));
            }
        }
        Ok(aimed)
    }

    fn body_bytes(target: &Target, run: &Run) -> u64 {
        let asked = run.asked.as_ref().map(|asked| &asked.requests.bodies);
        let of_all = match asked {
            Some(Bodies::Same(Body::Given(bytes))) => bytes.0.len() as u64,
            Some(Bodies::Same(Body::File(file))) => file.length_bytes,
            _ => 0,
        };
        target.body.as_ref().map_or(of_all, |body| body.len() as u64)
    }
}

impl FrontEnd for Attack {
    const TOOL: &'static Tool = &VEGETA;
    const HELP: &'static str = "\
Attack targets at a rate as `vegeta attack` does, and write a line of JSON for each result; what ablaze
knows beside that goes to stderr.

  echo 'GET http://127.0.0.1:8080/' | ablaze vegeta attack -rate=100 -duration=5s > results.json
  ablaze vegeta attack -targets=list.txt -rate=1000/1m -duration=2m -output=results.json
";

    fn adapt(&mut self, spec: &mut LoadSpec) -> Result<(), CommandError> {
        // A result has connecting in it.
        spec.connections.clock_starts = ClockStarts::BeforeConnecting;
        spec.keep_every_request = true;
        if self.is_endless {
            spec.limits.duration_ns = Some(NO_END_NS);
        }
        if let [only] = self.targets.as_slice() {
            *spec = self.aimed(spec, only)?;
        }
        Ok(())
    }

    fn adapt_plan(
        &self,
        spec: &LoadSpec,
        secrets: &Secrets,
        plan: &mut Plan,
    ) -> Result<(), CommandError> {
        if self.targets.len() < 2 {
            return Ok(());
        }
        let mut templates = Vec::new();
        for target in &self.targets {
            let composed = compose(&self.aimed(spec, target)?, secrets)?;
            plan.requests.has_body |= composed.requests.has_body;
            templates.extend(composed.requests.templates.into_iter().take(1));
        }
        plan.requests.order = (0..templates.len() as u32).collect();
        plan.requests.templates = templates;
        plan.requests.method.clone_from(&self.targets[0].method);
        Ok(())
    }

    fn report(&self, run: &Run) -> String {
        let target = |target: &Target| results::Target {
            method: target.method.clone(),
            url: target.url.clone(),
            body_bytes: Self::body_bytes(target, run),
        };
        let targets: Vec<results::Target> = self.targets.iter().map(target).collect();
        results::results(run, &self.name, &targets)
    }

    fn prints_report(&self) -> bool {
        self.file.is_none()
    }

    fn keep(&self, run: &Run) {
        if let Some(path) = &self.file {
            outlets::attempt("-output", || {
                file::write_report_unless(path, &self.report(run), &interrupted).map_err(|error| {
                    CommandError::machine(format!("cannot save the results: {error}"))
                })
            });
        }
    }
}
