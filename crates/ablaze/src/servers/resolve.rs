//! From a spec to what a server is told, on the machine that runs it: what the spec says first, then the preset it
//! names, then the server's own defaults.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use ablaze_load::planning::workers::{Cpus, refuse_foreign_cpu};
use ablaze_model::spec::server::FibersSpec;
use ablaze_model::spec::server::values::{ResponseKind, Scheduler, Share, Threads};
use ablaze_model::spec::{HttpVersion, ModelSpec};
use ablaze_target::Options;
use ablaze_target::accepting::AcceptMode;
use ablaze_target::options::Http3Options;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use super::address::address;
use super::command_line::{CommandLine, ProcessOptions};
use super::presets::{self, Preset};
use super::told::{self, Told};
use super::{names, reference, spec, tls};
use crate::{CommandError, terminal, usage};

/// A server that can be started here.
#[derive(Debug)]
pub struct ServerPlan {
    /// What the server is told.
    pub options: Options,
    /// How it starts and stops.
    pub process: ProcessOptions,
    /// Where it writes who signed its certificate.
    pub authority_file: Option<PathBuf>,
    /// Options that have no effect.
    pub notes: Vec<String>,
}

/// What the words behind `serve` ask for.
#[derive(Debug)]
pub struct Asked {
    /// The server.
    pub spec: ModelSpec,
    /// Where it listens.
    pub address: Option<String>,
    /// How it starts and stops.
    pub process: ProcessOptions,
}

/// Reads the words behind `serve`; `None` when they asked for help or the list of presets, which
/// is then given.
///
/// # Errors
/// When they are invalid on any machine.
pub fn read(arguments: &[OsString]) -> Result<Option<Asked>, CommandError> {
    let Some(line) = parse(arguments.to_vec())? else { return Ok(None) };
    if line.model.like.as_deref() == Some("list") {
        terminal::print(&presets::list());
        return Ok(None);
    }
    let (spec, address, process) = spec::of(line);
    Ok(Some(Asked { spec, address, process }))
}

/// Resolves what was asked for on this machine.
///
/// # Errors
/// When this machine cannot do it.
pub fn resolve(asked: Asked) -> Result<ServerPlan, CommandError> {
    let Asked { spec, address, process } = asked;
    let options = options(&spec, address.as_deref())?;
    refuse_foreign_cpus(&options)?;
    let notes = notes(&spec);
    Ok(ServerPlan { options, process, authority_file: spec.tls.authority_out, notes })
}

/// What a server is told. A CPU that is not there is not refused yet.
///
/// # Errors
/// When the options contradict each other, or a file that they name cannot be read.
pub fn options(spec: &ModelSpec, address: Option<&str>) -> Result<Options, CommandError> {
    let responses = &spec.responses;
    if responses.echo && (responses.body_bytes.is_some() || responses.status.is_some()) {
        return Err(CommandError::usage(
            "--echo sends back the request body and cannot be used with --size or --status: use \
             only one",
        ));
    }
    told(&with_preset(spec)?, address)
}

/// Refuses CPUs that this process may not use.
///
/// # Errors
/// When it may not.
pub fn refuse_foreign_cpus(options: &Options) -> Result<(), CommandError> {
    Ok(refuse_foreign_cpu(&options.cpus, &Cpus::of_this_process())?)
}

/// With what the preset says that the spec does not.
///
/// # Errors
/// When there is no such preset.
pub fn with_preset(spec: &ModelSpec) -> Result<ModelSpec, CommandError> {
    let Some(like) = &spec.like else { return Ok(spec.clone()) };
    let words = Preset::find(like)?.words().collect();
    let Some(line) = parse(words)? else { return Ok(spec.clone()) };
    let (mut preset, ..) = spec::of(line);
    // What the preset's HTTP server sends has no meaning for one that speaks no HTTP.
    if spec.responses.kind.is_some_and(|kind| kind != ResponseKind::Http) {
        preset.responses.body_bytes = None;
        preset.responses.routes.clear();
    }
    Ok(spec.clone().over(preset))
}

fn parse(words: Vec<OsString>) -> Result<Option<CommandLine>, CommandError> {
    let command = CommandLine::command().after_help(reference::text());
    let words = std::iter::once(OsString::from("ablaze serve")).chain(words);
    let line = command
        .try_get_matches_from(words)
        .and_then(|matches| CommandLine::from_arg_matches(&matches));
    match line {
        Ok(line) => Ok(Some(line)),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            terminal::print(&error.render().to_string());
            Ok(None)
        }
        Err(error) => Err(usage::refusal(&error, "serve")),
    }
}

/// Options that have no effect. A preset's options do not count: its model may be replaced.
fn notes(spec: &ModelSpec) -> Vec<String> {
    let FibersSpec { stack_bytes, stack_pool, scheduler, arm } = &spec.fibers;
    let model = spec.model.as_deref().unwrap_or(Options::default().model.name());
    if spec.like.is_some() || model.starts_with("fiber") {
        return Vec::new();
    }
    let options = [
        // Threads have stacks too.
        ("--stack", stack_bytes.is_some() && model != "blocking"),
        ("--stack-pool", stack_pool.is_some()),
        ("--scheduler", scheduler.is_some()),
        ("--arm", arm.is_some()),
    ];
    let given = options.into_iter().filter(|(_, given)| *given);
    given.map(|(name, _)| format!("{name} has no effect on {model}, which has no fibers")).collect()
}

/// What is asked of HTTP/3, if it is spoken.
fn http3_options(spec: &ModelSpec) -> Result<Option<Http3Options>, CommandError> {
    let (retry, loss) = (spec.connections.retry, spec.trouble.datagram_loss);
    if spec.speaks_http3() {
        return Ok(Some(Http3Options { retry, loss: loss.map_or(0.0, Share::get) }));
    }
    match if retry { Some("--retry") } else { loss.map(|_| "--datagram-loss") } {
        Some(option) => Err(CommandError::usage(format!("{option} needs HTTP/3: add --http 3"))),
        None => Ok(None),
    }
}

fn told(spec: &ModelSpec, listen: Option<&str>) -> Result<Options, CommandError> {
    let ModelSpec { responses, connections, trouble, .. } = spec;
    let own = Options::default();
    let address = listen.map_or(Ok(own.address), address)?;
    let model = spec.model.as_deref().map(names::model).transpose().map_err(|why| {
        CommandError::usage(format!(
            "unknown model `{}`: {why}",
            spec.model.as_deref().unwrap_or_default()
        ))
    })?;
    let http3 = spec.speaks_http3();
    let mut tls = spec.tls.clone();
    // QUIC has no form without TLS.
    tls.on |= http3;
    let routes = responses.routes.iter().map(told::route).collect::<Result<_, _>>();
    Ok(Options {
        address,
        tls: tls::options(&tls, address.ip())?,
        http2: http3 || connections.http == Some(HttpVersion::Http2),
        http3: http3_options(spec)?,
        max_streams: connections.max_streams.unwrap_or(own.max_streams),
        model: model.unwrap_or(own.model),
        accept: spec
            .accept
            .map_or(accept_of(spec.fibers.scheduler, own.accept), |mode| mode.told()),
        // Without a number, as many as there are CPUs to pin them to.
        threads: spec.threads.map_or(spec.cpus.len(), threads),
        cpus: spec.cpus.clone(),
        status: responses.status.unwrap_or(own.status),
        body_bytes: responses.body_bytes,
        head_bytes: responses.head_bytes.map(|bytes| bytes as usize),
        routes: routes.map_err(|error| CommandError::usage(error.to_string()))?,
        echo_everywhere: responses.echo,
        app: responses.app.map(|app| app.told()),
        response: responses.kind.map_or(own.response, |kind| kind.told()),
        tells_http10_of_close: true,
        keep_alive: connections.keep_alive.unwrap_or(own.keep_alive),
        max_requests: limit(connections.max_requests),
        read_timeout: limit(connections.read_timeout_ns).map(Duration::from_nanos),
        delay: trouble.delay.map_or(own.delay, |delay| delay.told()),
        work_ns: responses.work_ns.unwrap_or(own.work_ns),
        in_service: responses.in_service.filter(|k| *k > 0),
        faults: trouble.faults.iter().map(Told::told).collect(),
        seed: trouble.seed.unwrap_or(own.seed),
        server_name: responses.server_name.clone().unwrap_or(own.server_name),
        max_body_bytes: responses.max_body_bytes.unwrap_or(own.max_body_bytes),
        backlog: connections.backlog.unwrap_or(own.backlog),
        sockets: told::sockets(connections),
        max_events: connections.max_events.map_or(own.max_events, |events| events as usize),
        accept_batch: connections.accept_batch.map_or(own.accept_batch, |batch| batch.told()),
        per_accept: connections.per_accept.map_or(own.per_accept, |work| work.told()),
        write: responses.write.map_or(own.write, |write| write.told()),
        fibers: told::fibers(&spec.fibers),
        max_head_bytes: own.max_head_bytes,
    })
}

/// The accept mode when none is given: a scheduler that all workers share accepts for all.
fn accept_of(scheduler: Option<Scheduler>, own: AcceptMode) -> AcceptMode {
    if scheduler == Some(Scheduler::Shared) { AcceptMode::Single } else { own }
}

fn threads(asked: Threads) -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
    asked.count(cpus) as usize
}

/// A limit of which 0 is none.
fn limit(given: Option<u64>) -> Option<u64> {
    given.filter(|limit| *limit > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_target::conditions::{AcceptBatch, ResponseKind};

    fn resolved(words: &[OsString]) -> Result<ServerPlan, CommandError> {
        read(words).and_then(|asked| resolve(asked.unwrap()))
    }

    fn options_of(words: &str) -> Options {
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        resolved(&words).unwrap_or_else(|error| panic!("{words:?}: {error}")).options
    }

    fn error_of(words: &str) -> CommandError {
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        resolved(&words).unwrap_err()
    }

    #[test]
    fn without_options_the_server_has_its_own_defaults() {
        assert_eq!(options_of(""), Options::default());
    }

    /// The help names the defaults; giving one must change nothing.
    #[test]
    fn the_defaults_that_the_help_names_are_the_servers() {
        let command = CommandLine::command();
        let mut tried = 0;
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let Some((_, named)) = help.split_once("[default: ") else { continue };
            let value = named.split([']', ',', ' ']).next().unwrap();
            // Those that are described, not named.
            if ["half", "the"].contains(&value) {
                continue;
            }
            let words = match argument.get_long() {
                Some("size") => "--route /x=200:".to_owned(),
                Some(long) => format!("--{long} {value}"),
                None => value.to_owned(),
            };
            let mut options = options_of(&words);
            options.routes.clear();
            if words.starts_with("--tls-") {
                // Any of these turns TLS on; what it says is what TLS is without it.
                let of = |options: &Options| {
                    options.tls.as_ref().map(|tls| (tls.min, tls.max, tls.tickets))
                };
                assert_eq!(of(&options), of(&options_of("--tls")), "{words}");
                options.tls = None;
            }
            assert_eq!(options, Options::default(), "{words}");
            tried += 1;
        }
        assert!(tried > 20, "{tried}");
    }

    #[test]
    fn every_option_reaches_the_server() {
        let words = "--io epoll-et --accept exclusive --threads 3 --stack 32KiB --stack-pool 7 \
                     --scheduler shared --arm per-wait --size 5 --status 201 --head-bytes 300 \
                     --route /a=404:b --response echo --server-name s --max-body 9 --work 2us \
                     --in-service 4 --write split --close --max-requests 6 --read-timeout 8s \
                     --backlog 10 --accept-batch one --per-accept sylar --max-events 11 \
                     --sndbuf 12 --rcvbuf 13 --nodelay off --delay exp:1ms --app shop:404=1% --fault garbage=1% \
                     --seed 14 --tls --http 3 --retry --datagram-loss 1% --max-streams 15 :0";
        let (given, own) =
            (format!("{:?}", options_of(words)), format!("{:?}", Options::default()));
        // Every field differs from its default, but the model, of which there might be one only,
        // and what no option sets.
        let fields = |text: &str| -> Vec<String> {
            text.split(", ").map(str::to_owned).filter(|field| field.contains(": ")).collect()
        };
        let same: Vec<_> =
            fields(&given).into_iter().filter(|field| fields(&own).contains(field)).collect();
        assert_eq!(
            same,
            [
                "model: EpollEt",
                "cpus: []",
                "echo_everywhere: false",
                "tells_http10_of_close: true",
                "max_head_bytes: 65536"
            ]
        );
    }

    #[test]
    fn a_preset_gives_way_to_what_is_given_explicitly_wherever_it_stands() {
        let plain = options_of("--like handy-et");
        assert_eq!((plain.backlog, plain.max_events, plain.body_bytes), (20, 20, Some(1 << 20)));
        assert_eq!((plain.threads, plain.accept), (1, AcceptMode::Single));
        assert_eq!((plain.accept_batch, plain.keep_alive), (AcceptBatch::One, true));
        for words in
            ["--like handy-et --size 48576 --close", "--size 48576 --close --like handy-et"]
        {
            let changed = options_of(words);
            assert_eq!((changed.body_bytes, changed.keep_alive), (Some(48_576), false));
            let back = Options { body_bytes: plain.body_bytes, keep_alive: true, ..changed };
            assert_eq!(back, plain);
        }
        // The preset's size is no reason to refuse --echo.
        assert!(options_of("--like handy-et --echo").echo_everywhere);
        // Nor is it one to refuse a server without HTTP.
        assert_eq!(options_of("--like handy-et --response none").validate(), Ok(()));
        assert_eq!(options_of("--like gurl-echo --response echo").validate(), Ok(()));
        let sylar = options_of("--like sylar-1 --keep-alive --response http");
        assert!(sylar.keep_alive && sylar.response == ResponseKind::Http && sylar.backlog == 5);
        let gurl = options_of("--like gurl-echo --route /a=200:b");
        assert_eq!(gurl.routes.len(), 1);
        assert_eq!(gurl.routes[0].path, "/a");
    }

    #[test]
    fn threads_follow_the_cpus_they_are_pinned_to() {
        let cpu = ablaze_sys::allowed_cpus().unwrap()[0];
        let pinned = options_of(&format!("--cpus {cpu}"));
        assert_eq!((pinned.threads, pinned.cpus), (1, vec![cpu]));
        assert_eq!(options_of(&format!("--cpus {cpu} -t 3")).threads, 3);
        let error = error_of("--cpus 65535");
        assert!(error.line.contains("is not available to this process: use "), "{error}");
    }

    #[test]
    fn a_shared_scheduler_accepts_for_all_unless_told_otherwise() {
        assert_eq!(options_of("--scheduler shared").accept, AcceptMode::Single);
        assert_eq!(options_of("--scheduler per-thread").accept, AcceptMode::ReusePort);
        assert_eq!(options_of("--scheduler shared --accept shared").accept, AcceptMode::Shared);
    }

    #[test]
    fn options_of_fibers_without_fibers_are_remarked_on() {
        let notes = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(OsString::from).collect();
            resolved(&words).unwrap().notes
        };
        assert_eq!(notes(&["--arm", "per-wait"]).len(), 1);
        assert!(
            notes(&["--stack", "1MiB", "--stack-pool", "1"])[1].contains("--stack-pool has no")
        );
        assert!(notes(&["--size", "1"]).is_empty());
    }

    #[test]
    fn what_means_nothing_is_refused_with_the_reason() {
        let cases = [
            ("--size 3 --echo", "use only one"),
            ("--model epol-et", "did you mean epoll-et?"),
            ("--accept some", "expected one of single, shared, exclusive, reuseport"),
            ("--like nginx", "--like list"),
            ("--fault garbage=200%", "is not a share"),
            ("--delay uniform:3", "uniform:1ms-20ms"),
            ("--retry", "--retry needs HTTP/3: add --http 3"),
            ("--http 2 --datagram-loss 1%", "--datagram-loss needs HTTP/3"),
        ];
        for (words, needle) in cases {
            let error = error_of(words);
            assert_eq!(error.status, 2);
            assert!(error.line.contains(needle), "{words}: {error}");
            assert_eq!(error.line.lines().count(), 1, "{error}");
        }
    }
}
