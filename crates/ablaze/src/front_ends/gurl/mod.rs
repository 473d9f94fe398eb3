//! `ablaze gurl`: gurl's command line. Without `-bench` it is the client that gurl is ([`client`], in the stages of a
//! [`pipeline`]); with it, it loads and prints gurl's report. What it takes and where it differs is in docs/gurl.md.

mod client;
mod colors;
mod echo;
mod options;
mod pipeline;
mod request;
mod stage;
mod table;
mod watcher;
mod written;

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_load::planning::{self, OptionNames};
use ablaze_model::plan::{Arrivals, RateProfile};
use ablaze_model::run::Ended;
use ablaze_model::spec::secrets::secret_field;
use ablaze_model::spec::{Bodies, Bytes, FrontEnd, Head, Line, Secrets, Shape, TrustSpec, UrlSpec};
use ablaze_model::{LoadSpec, Run};
use ablaze_report::gurl as report;

use self::options::Options;
use self::request::Request;
use self::watcher::CompletedLines;
use crate::carry_out::{carry_out, own_command_line};
use crate::error::note;
use crate::{CommandError, outcome, outlets, terminal, verdict};
pub use table::command;

/// Without an end: ten years, which is as long as a run can be thought of.
const NO_END_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// Runs `ablaze gurl` with the words behind `gurl`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let stages = pipeline::stages(arguments).into_iter().map(Options::parse);
    stages
        .collect::<Result<Vec<_>, _>>()
        .and_then(|stages| gurl(&stages))
        .unwrap_or_else(|error| error.report())
}

fn gurl(stages: &[Options]) -> Result<ExitCode, CommandError> {
    if stages.iter().any(|options| options.help) {
        return Ok(terminal::print(&table::help()));
    }
    match stages {
        [Options { serve: Some(address), .. }] => echo::serve_until_stopped(address),
        [options @ Options { bench: true, .. }] => bench(options),
        stages => pipeline::run(stages),
    }
}

fn bench(options: &Options) -> Result<ExitCode, CommandError> {
    let mut secrets = Secrets::default();
    let mut spec = spec(options, &mut secrets)?;
    spec.words = own_command_line();
    let planned = planning::resolve(&spec, &secrets, &OptionNames::GURL)?;
    planned.notes.iter().for_each(|text| note(text));
    terminal::print(&report::heading(&planned.plan.target.host));
    let mut watcher = CompletedLines::new(&planned.plan.limits, std::io::stdout());
    let run = carry_out(planned.plan, &spec, &mut watcher)?;
    watcher.finished(run.record.finished(), run.elapsed_ns);
    outlets::print(&report::write(&run));
    let status = outcome::status(&run);
    let why = outcome::explanation(&run);
    if let Some(why) = &why {
        note(&format!("{}{why}", gave_up(&run).unwrap_or_default()));
    }
    // A run without any response, of which the reason was told, needs no more words.
    if run.record.responses > 0 || why.is_none() {
        verdict::say(&verdict::assessed(run), options.explain, false);
    }
    Ok(ExitCode::from(status))
}

/// That the run ended before it had done what was asked for, to stand before why.
fn gave_up(run: &Run) -> Option<String> {
    let finished = run.record.finished();
    let of = match run.plan.limits.requests {
        Some(asked) => format!("{finished} of {asked} requests"),
        None => format!("{finished} requests"),
    };
    (run.ended == Ended::Unreachable).then(|| format!("gave up after {of}: "))
}

fn spec(options: &Options, secrets: &mut Secrets) -> Result<LoadSpec, CommandError> {
    let request = Request::new(options, None)?;
    let url = &request.url;
    let mut spec = LoadSpec { front_end: FrontEnd::Gurl, ..LoadSpec::default() };
    let line = |line: &String| match secret_field(line.as_bytes()) {
        Some(name) => Line::Secret(secrets.keep_text(&format!("header {name}"), line.as_str())),
        None => Line::Text(line.as_str().into()),
    };
    spec.requests.method = request.method.as_deref().map(Bytes::from);
    spec.requests.head = Head::Composed {
        lines: request.headers.iter().map(line).collect(),
        content_type: request.content_type.clone(),
        user_agent: Some(request.user_agent.clone()),
        user: url.userinfo.as_ref().map(|user| secrets.keep_text("user", user.as_str())),
    };
    if let Some(body) = &request.body {
        spec.requests.bodies = Bodies::Same(body.clone());
    }
    spec.destination.url = Some(UrlSpec::from(url));
    if options.insecure {
        spec.tls.trust = TrustSpec::Anyone;
    }
    let connections = Some(options.connections);
    spec.shape = match options.rate_per_s {
        None => Shape::Closed { connections },
        Some(per_s) => Shape::Open {
            rate: RateProfile::constant(per_s as f64),
            arrivals: Arrivals::Constant,
            connections,
        },
    };
    spec.workers.threads = (options.threads > 0).then_some(options.threads);
    spec.limits.timeout_ns = options.timeout_ns.unwrap_or(spec.limits.timeout_ns);
    (spec.limits.requests, spec.limits.duration_ns) = match options.duration_ns {
        Some(duration_ns) => (None, Some(duration_ns)),
        None if options.requests.is_none() => (None, Some(NO_END_NS)),
        None => (options.requests, None),
    };
    Ok(spec)
}
