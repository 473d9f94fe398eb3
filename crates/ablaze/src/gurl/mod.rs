//! `ablaze gurl`: gurl's command line and gurl's report. What it takes and where it differs is in
//! docs/gurl.md.

mod echo;
mod options;
mod watcher;

use std::ffi::OsString;
use std::process::ExitCode;

use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_report::gurl as report;
use ablaze_wire::url::Url;

use self::options::Options;
use self::watcher::CompletedLines;
use crate::carry_out::{carry_out, own_command_line};
use crate::planning::requests::{Bodies, RequestsAsked};
use crate::planning::{self, Asked, OptionNames, sources};
use crate::refusal::note;
use crate::{Refusal, help, load, outcome, outlets, verdict};

const HELP: &str = "\
Load a URL as `gurl -bench` does, and print its report.

  ablaze gurl -ac 21 -an 1000000 -bench :12345
  ablaze gurl -ac 21 -duration 10s -bench -X POST -H 'Name: value' -d @body.json :12345/path
  ablaze gurl -echo :12345

  -bench              load the URL and report
  -ac N               connections (1)
  -an N               requests (1); negative for no end
  -duration TIME      length of the run, such as 10s or 1m10s; -an then has no meaning
  -X, -request NAME   method (GET, POST with a body)
  -H, -header LINE    header field 'Name: value'; repeatable
  -A, -user-agent X   User-Agent (gurl)
  -d, -data BODY      body; @FILE reads a file
  -rate N             requests per second in all, on a schedule, over at most -ac connections
  -connect-timeout T  longest a request may take (30s)
  -cpus N             worker threads (chosen by itself)
  -conns N            accepted without effect: -ac is the number
  -explain            say on stderr what the verdict stands on, also when it is VALID
  -url URL            the URL, if it is not a bare word
  -echo, -l ADDR      serve there instead: what is posted comes back
Where the numbers differ from gurl's: docs/gurl.md
";

/// Without an end: ten years, which is as long as a run can be thought of.
const NO_END_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// Runs `ablaze gurl` with the words behind `gurl`.
pub fn main(arguments: &[OsString]) -> ExitCode {
    Options::parse(arguments)
        .and_then(|options| gurl(&options))
        .unwrap_or_else(|refusal| refusal.report())
}

fn gurl(options: &Options) -> Result<ExitCode, Refusal> {
    if options.help {
        return Ok(help::print(HELP));
    }
    if let Some(address) = &options.serve {
        return echo::serve_until_stopped(address);
    }
    let planned = planning::plan(asked(options)?)?;
    planned.notes.iter().for_each(|text| note(text));
    help::print(&report::heading(&planned.plan.target.host));
    let mut watcher = CompletedLines::new(&planned.plan.limits, std::io::stdout());
    let run = carry_out(planned.plan, own_command_line(), true, &mut watcher)?;
    watcher.finished(run.record.finished(), run.elapsed_ns);
    outlets::print(&report::write(&run));
    if let Some(text) = outcome::explanation(&run) {
        note(&text);
    } else {
        verdict::say(&run, options.explain);
    }
    Ok(ExitCode::from(outcome::status(&run)))
}

fn asked(options: &Options) -> Result<Asked, Refusal> {
    let Some(url) = &options.url else {
        return Err(Refusal::usage(
            "no URL is given: write for example `ablaze gurl -bench :12345`",
        ));
    };
    if !options.bench {
        return Err(Refusal::usage(
            "without -bench gurl is a client, which ablaze is not: add -bench to load the URL",
        ));
    }
    let url = Url::parse_like_gurl(url).map_err(|error| Refusal::usage(error.to_string()))?;
    let mut requests = RequestsAsked::new(url.host_header(), url.path_and_query.clone());
    requests.method.clone_from(&options.method);
    requests.headers.clone_from(&options.headers);
    requests.user_agent.clone_from(&options.user_agent);
    requests.user.clone_from(&url.userinfo);
    if let Some(body) = &options.body {
        requests.bodies = Bodies::Same(sources::body(body)?);
    }
    let mut asked = Asked::new(load::target(&url), requests.build()?);
    asked.tls = load::tls(&url, &load::TlsOptions::default(), Some("http/1.1"))?;
    let connections = options.connections;
    asked.load = match options.rate_per_s {
        None => Load::Closed { connections, pipeline: 1 },
        Some(per_s) => Load::Open {
            rate: RateProfile::constant(per_s as f64),
            arrivals: Arrivals::Constant,
            connections,
            bounded: true,
        },
    };
    asked.names = OptionNames::GURL;
    asked.workers.threads = (options.threads > 0).then_some(options.threads);
    asked.limits.timeout_ns = options.timeout_ns.unwrap_or(asked.limits.timeout_ns);
    (asked.limits.requests, asked.limits.duration_ns) = match options.duration_ns {
        Some(duration_ns) => (None, Some(duration_ns)),
        None if options.requests.is_none() => (None, Some(NO_END_NS)),
        None => (options.requests, None),
    };
    Ok(asked)
}
