//! The options that all experiments share: what is loaded, how often, on which processors, and what
//! becomes of the results. Those of the load itself are the native ones ([`super::words`]).

use std::path::PathBuf;

use ablaze_load::planning::http3;
use ablaze_model::LoadSpec;
use ablaze_model::experiment::{Load, Placement, Speaks, Target, told_apart};
use ablaze_model::spec::{HttpVersion, ModelSpec, Secrets, TargetSpec};
use ablaze_report::exporters::{self, Kind};
use clap::{ArgAction, ArgMatches, Args, Command};

use super::fleet::FleetOptions;
use super::vary::{Scene, Settings};
use super::{saved, targets, words};
use crate::CommandError;
use crate::error::note;
use crate::native::CheckOptions;
use crate::native::Http3Options;
use crate::native::options::{
    ConnectionOptions, LoadOptions, MachineOptions, RequestOptions, TlsOptions,
};
use crate::web::WebOptions;
use crate::{servers, values};

/// What experiments have in common.
#[derive(Debug, Args)]
#[command(next_help_heading = "Experiment")]
pub struct ExperimentOptions {
    /// Targets: a URL, or serve:MODEL[,option=value…]; NAME= in front names it
    #[arg(value_name = "TARGET", help_heading = "Arguments")]
    pub targets: Vec<String>,
    /// A target to start: 'mine=./server {port}', or with {cert} {key}
    #[arg(long, value_name = "NAME=COMMAND")]
    pub start: Vec<String>,
    /// Add a control that does the same work: nginx
    #[arg(long, value_name = "SERVER", value_parser = ["nginx"], hide_possible_values = true)]
    pub control: Option<String>,
    /// Path to request from targets started here [default: /hello]
    #[arg(long, value_name = "PATH", default_value = "/hello", hide_default_value = true)]
    pub path: String,
    /// Use TLS for targets started here, with a generated certificate
    #[arg(long, action = ArgAction::SetTrue)]
    pub https: bool,
    /// Runs of each target under each load
    #[arg(long, value_name = "N", value_parser = values::small_count)]
    pub repeat: Option<u32>,
    /// Start each target once instead of before every run
    #[arg(long, action = ArgAction::SetTrue)]
    pub keep_running: bool,
    /// CPUs for targets started here [default: one per thread, up to half]
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub target_cpus: Option<CpuList>,
    /// How long to wait for a target to respond once started
    #[arg(long, value_name = "TIME", value_parser = values::some_time_ns, default_value = "10s")]
    pub ready_within: u64,
    /// Seed of the random order of the runs
    #[arg(long = "order-seed", value_name = "N", default_value = "1")]
    pub order_seed: u64,
    /// Title of the page [default: the names of the targets]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub title: String,
    /// A note below the title of the page: what it is about
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
    /// Where to save the results; continues what is there [default: new]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Save the report to a file.
    #[arg(short, long = "output", value_name = "FILE", help = exporters::help_of_output(Kind::Experiment))]
    pub outputs: Vec<PathBuf>,
    /// Print the result as JSON
    #[arg(long, action = ArgAction::SetTrue)]
    pub json: bool,
    /// Print no progress
    #[arg(long, action = ArgAction::SetTrue)]
    pub quiet: bool,
    /// The page in browsers.
    #[command(flatten)]
    pub web: WebOptions,
    /// Who carries each run out.
    #[command(flatten)]
    pub fleet: FleetOptions,
}

/// CPUs from one option.
#[derive(Debug, Clone)]
pub struct CpuList(pub Vec<u32>);

/// CPUs by number.
///
/// # Errors
/// When it is not such a list.
pub fn cpus(text: &str) -> Result<CpuList, String> {
    values::cpus(text).map(CpuList)
}

/// What a run's length is, where a load has no other by itself.
pub const RUN_LENGTH: &str =
    "Length of a run; with -n, whichever ends first [default: 3s, none with -n]";

/// The one option of a report that a load has: what is expected decides whether a run failed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
struct ExpectOptions {
    /// Expected statuses [default: 2xx,3xx]
    #[arg(long, value_name = "STATUSES")]
    expect: Option<String>,
}

/// The native options that make up a load.
pub const LOAD: [fn(Command) -> Command; 8] = [
    words::group::<LoadOptions>,
    words::group::<RequestOptions>,
    words::group::<ExpectOptions>,
    words::group::<CheckOptions>,
    words::group::<ConnectionOptions>,
    words::group::<TlsOptions>,
    words::group::<Http3Options>,
    words::group::<MachineOptions>,
];

impl ExperimentOptions {
    /// The targets, each under a name of its own, as they are with the values of one cell.
    ///
    /// # Errors
    /// When one cannot be read or loaded.
    pub fn targets_with(
        &self,
        settings: &Settings,
        secrets: &mut Secrets,
    ) -> Result<Vec<Target>, CommandError> {
        let read = self.read(settings, secrets)?;
        let mut targets: Vec<Target> = read.into_iter().map(|(_, target)| target).collect();
        targets.iter().try_for_each(can_be_loaded)?;
        told_apart(&mut targets);
        Ok(targets)
    }

    /// The targets, of which each may also be a saved run.
    ///
    /// # Errors
    /// When one cannot be read, or neither be loaded nor compared.
    pub fn targets_or_saved(&self, secrets: &mut Secrets) -> Result<Vec<Target>, CommandError> {
        let mut targets = saved::gathered(self.read(&Settings::default(), secrets)?)?;
        told_apart(&mut targets);
        Ok(targets)
    }

    /// The targets with the words that they were read from.
    fn read(
        &self,
        settings: &Settings,
        secrets: &mut Secrets,
    ) -> Result<Vec<(&str, Target)>, CommandError> {
        let mut read = Vec::new();
        for text in &self.targets {
            let target = targets::read(&settings.put_into(text), secrets)?;
            // Whatever it is in a cell, it has one name.
            let target = Target { name: targets::name_of(text), ..target };
            read.push((text.as_str(), settings.onto(target)?));
        }
        for text in &self.start {
            let target = targets::started_by(&settings.put_into(text))
                .map_err(|error| CommandError::usage(format!("--start {error}")))?;
            let target = Target { name: targets::name_of_command(text), ..target };
            read.push((text, settings.onto(target)?));
        }
        if let Some(control) = &self.control {
            let workers = most_threads(read.iter().map(|(_, target)| target));
            read.push((control, Target::new(control, TargetSpec::Nginx { workers })));
        }
        Ok(read)
    }

    /// What a sweep of these targets under a load of these words may vary.
    pub fn scene(&self, load: Vec<String>) -> Scene {
        let is_model = |text: &String| targets::is_model(text);
        Scene {
            load,
            texts: self.targets.iter().chain(&self.start).cloned().collect(),
            path: self.path.clone(),
            has_model: self.targets.iter().any(is_model),
            has_command: !self.start.is_empty(),
        }
    }

    /// Who gets which processors: its own, where a target is started here and there are enough.
    pub fn placement(&self, targets: &[Target], loads: &[Load]) -> Placement {
        let loads = loads.iter().map(|load| &load.spec);
        placement(targets, self.target_cpus.as_ref(), loads)
    }
}

/// Whether a target can be loaded, as far as its words tell: better said now than after an hour.
///
/// # Errors
/// When it is a saved run.
pub fn can_be_loaded(target: &Target) -> Result<(), CommandError> {
    match &target.source {
        TargetSpec::Saved(_) => Err(CommandError::usage(format!(
            "{}: a saved run cannot be run again; name the target itself, or compare saved runs \
             with `ablaze compare A.json B.json`",
            target.name
        ))),
        _ => Ok(()),
    }
}

/// Whether the built-in ones among the targets can speak what they are to speak.
///
/// # Errors
/// When one cannot.
pub fn can_speak(targets: &[Target], speaks: Speaks) -> Result<(), CommandError> {
    let models = targets.iter().filter_map(|target| match &target.source {
        TargetSpec::Model(model) => Some((target, model)),
        _ => None,
    });
    for (target, model) in models {
        servers::check(&model.speaking(speaks)).map_err(|error| CommandError {
            line: format!("{}: {}", target.name, error.line),
            ..error
        })?;
        if let Some(unused) = unused_version(model, speaks) {
            note(&format!(
                "{}: it speaks {unused}, and is loaded over HTTP/1: add --http {}, or compare versions with \
                 `ablaze sweep --vary http=1.1,2,3 serve:MODEL`",
                target.name,
                unused.trim_start_matches("HTTP/")
            ));
        }
    }
    Ok(())
}

/// Says which options of built-in servers change nothing at the paths that are requested: `size` and `status` are those of `/`.
/// `instead` is how another path is asked for.
pub fn note_without_effect(targets: &[Target], paths: &[&str], instead: &str) {
    if paths.iter().any(|path| path.split('?').next() != Some("/hello")) {
        return;
    }
    let mut noted: Vec<&str> = Vec::new();
    for target in targets {
        let TargetSpec::Model(model) = &target.source else { continue };
        let asked = [
            ("size", model.responses.body_bytes.is_some()),
            ("status", model.responses.status.is_some()),
        ];
        let asked: Vec<&str> = asked.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        if !asked.is_empty() && !noted.contains(&target.name.as_str()) {
            noted.push(&target.name);
            note(&format!(
                "{}: {} of a built-in server is that of /, and has no effect at /hello: {instead}",
                target.name,
                asked.join(" and ")
            ));
        }
    }
}

/// Whether the targets that run already have what a load is to speak: what each run would be refused for.
///
/// # Errors
/// When HTTP/3 is to be spoken to one without TLS.
pub fn can_be_asked<'a>(
    targets: &[Target],
    loads: impl IntoIterator<Item = &'a Load>,
) -> Result<(), CommandError> {
    for load in loads {
        let own = if load.targets.is_empty() { targets } else { &load.targets };
        for target in own {
            let TargetSpec::Url { url, .. } = &target.source else { continue };
            http3::check(&load.spec, url).map_err(|error| {
                let error = CommandError::from(error);
                CommandError { line: format!("{}: {}", target.name, error.line), ..error }
            })?;
        }
    }
    Ok(())
}

/// What a server was told to speak, where no load of the experiment asks for more than HTTP/1.
fn unused_version(model: &ModelSpec, speaks: Speaks) -> Option<&'static str> {
    match model.connections.http? {
        _ if speaks.http2 || speaks.http3 => None,
        HttpVersion::Http2 => Some("HTTP/2"),
        HttpVersion::Http3 => Some("HTTP/3"),
        _ => None,
    }
}

/// Who gets which processors: as much as holds for each of these loads.
pub fn placement<'a>(
    targets: &[Target],
    target_cpus: Option<&CpuList>,
    loads: impl IntoIterator<Item = &'a LoadSpec>,
) -> Placement {
    let allowed = ablaze_sys::allowed_cpus().unwrap_or_default();
    let count = allowed.len() as u32;
    let mut started = targets.iter().filter(|target| target.is_started_here()).peekable();
    let placement = match (started.peek(), target_cpus) {
        (None, _) => Placement { allowed: count, ..Placement::default() },
        (Some(_), Some(target)) => {
            let rest = allowed.into_iter().filter(|cpu| !target.0.contains(cpu)).collect();
            Placement { client: rest, target: target.0.clone(), allowed: count }
        }
        (Some(_), None) => Placement::of(&allowed, most_threads(started)),
    };
    placement.for_loads(loads)
}

/// The most threads that one of these targets has on this machine.
pub fn most_threads<'a>(targets: impl Iterator<Item = &'a Target>) -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    targets.map(|target| target.threads(cpus)).max().unwrap_or(1)
}

/// The load that the native options describe, as words.
pub fn load_words(matches: &ArgMatches) -> Vec<String> {
    words::of(matches, &LOAD)
}
