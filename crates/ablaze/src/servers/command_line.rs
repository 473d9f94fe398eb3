//! The options of `ablaze serve`. Nothing has a default here: what is absent is left to a preset
//! or to the server's own defaults, which the help names.

use std::path::PathBuf;

use ablaze_model::spec::HttpVersion;
use ablaze_model::spec::server::RouteSpec;
use ablaze_model::spec::server::values::{
    AcceptBatch, AcceptMode, App, Arm, Delay, FaultShare, PerAccept, ResponseKind, Scheduler,
    Share, Threads, WriteMode,
};
use ablaze_target::Model;
use clap::{ArgAction, Args, CommandFactory, Parser};

use super::tls::TlsArguments;
use super::{conditions, names};
use crate::values;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze serve",
    bin_name = "ablaze serve",
    about = "Run an HTTP server to load, with any of the I/O models that servers use.",
    override_usage = "ablaze serve [OPTIONS] [ADDR]",
    disable_version_flag = true,
    disable_help_flag = true,
    args_override_self = true,
    max_term_width = 100
)]
pub struct CommandLine {
    /// HOST:PORT, :PORT or PORT on 127.0.0.1; 0 picks a free one [default: 127.0.0.1:8080]
    #[arg(value_name = "ADDR")]
    pub address: Option<String>,
    /// How workers wait, read and write.
    #[command(flatten)]
    pub model: ModelOptions,
    /// How fibers are kept and scheduled.
    #[command(flatten)]
    pub fibers: FiberOptions,
    /// What the server sends back.
    #[command(flatten)]
    pub responses: ResponseOptions,
    /// Connections and their sockets.
    #[command(flatten)]
    pub connections: ConnectionOptions,
    /// How TLS is spoken.
    #[command(flatten)]
    pub tls: TlsArguments,
    /// What is slow or goes wrong.
    #[command(flatten)]
    pub trouble: TroubleOptions,
    /// Starting and stopping.
    #[command(flatten)]
    pub process: ProcessOptions,
}

/// Whether `ablaze serve` has an option of this long name, which is given without dashes.
pub fn has(name: &str) -> bool {
    let command = CommandLine::command();
    command.get_arguments().any(|option| {
        option.get_long() == Some(name)
            || option.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    })
}

/// How workers wait, read and write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelOptions {
    /// I/O model, listed below; also --io [default: epoll-et]
    #[arg(long, alias = "io", value_name = "NAME", value_parser = names::model)]
    pub model: Option<Model>,
    /// single, shared, exclusive or reuseport; see below [default: reuseport]
    #[arg(long, value_name = "HOW", value_parser = names::accept)]
    pub accept: Option<AcceptMode>,
    /// Workers; `all`: one per CPU [default: half the CPUs, or all of --cpus]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub threads: Option<Threads>,
    /// Pin the workers to these CPUs in turn: 0,2-3
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    /// Use the options of a measured system; explicit ones override. `list` lists
    #[arg(long, value_name = "SYSTEM")]
    pub like: Option<String>,
}

/// How fibers are kept and scheduled.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fibers")]
pub struct FiberOptions {
    /// Stack size of a fiber [default: 64KiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size_bytes)]
    pub stack: Option<u64>,
    /// Stacks to keep for reuse, per worker [default: 1024]
    #[arg(long, value_name = "N", value_parser = values::small_count)]
    pub stack_pool: Option<u32>,
    /// per-thread, or shared: any worker runs any fiber [default: per-thread]
    #[arg(long, value_name = "WHO", value_parser = names::scheduler)]
    pub scheduler: Option<Scheduler>,
    /// epoll_ctl per wait: 0 (persistent) or 2 (per-wait) [default: persistent]
    #[arg(long, value_name = "HOW", value_parser = names::arm)]
    pub arm: Option<Arm>,
}

/// What the server sends back.
#[derive(Debug, Args)]
#[command(next_help_heading = "Responses")]
pub struct ResponseOptions {
    /// Body length of / [default: 14, a greeting]
    #[arg(short, long, value_name = "SIZE", value_parser = values::size_bytes)]
    pub size: Option<u64>,
    /// Status of / [default: 200]
    #[arg(long, value_name = "STATUS")]
    pub status: Option<u16>,
    /// Pad response heads to this length
    #[arg(long, value_name = "SIZE", value_parser = values::size_bytes)]
    pub head_bytes: Option<u64>,
    /// Response to a path: /a*=404:gone, or @FILE as body. Repeatable
    #[arg(long = "route", value_name = "PATH=STATUS:BODY", value_parser = conditions::route)]
    pub routes: Vec<RouteSpec>,
    /// Echo the request body on every path, as /echo does
    #[arg(long)]
    pub echo: bool,
    /// Add an application: shop, or shop:404=1%/500=0.1%; see below
    #[arg(long, value_name = "NAME", value_parser = conditions::app)]
    pub app: Option<App>,
    /// http; echo: send bytes back; none: send nothing [default: http]
    #[arg(long, alias = "answer", value_name = "KIND", value_parser = names::response)]
    pub response: Option<ResponseKind>,
    /// Value of the Server field; empty: no such field [default: ablaze]
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// Longest body to accept for /echo, held in memory [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size_bytes)]
    pub max_body: Option<u64>,
    /// CPU time to burn per request, in ns or with a unit [default: 0]
    #[arg(long, value_name = "NANOSECONDS", value_parser = conditions::work_ns)]
    pub work: Option<u64>,
    /// Requests to serve at a time; 0: no limit [default: 0]
    #[arg(long, value_name = "K", value_parser = values::small_count)]
    pub in_service: Option<u32>,
    /// Head and body in one write or two: whole, split [default: whole]
    #[arg(long, value_name = "HOW", value_parser = names::write)]
    pub write: Option<WriteMode>,
}

/// Connections and their sockets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionOptions {
    /// HTTP version: 1.1; 2: also HTTP/2; 3: also HTTP/3 [default: 1.1]
    #[arg(long, value_name = "VERSION", value_parser = names::http)]
    pub http: Option<HttpVersion>,
    /// Streams a client of HTTP/2 or 3 may have open at a time [default: 128]
    #[arg(long, value_name = "N", value_parser = values::small_count)]
    pub max_streams: Option<u32>,
    /// HTTP/3: have clients show first that they receive at their address
    #[arg(long)]
    pub retry: bool,
    /// Close each connection after its response
    #[arg(long, overrides_with = "keep_alive")]
    pub close: bool,
    /// Keep connections open as the protocol says (the default)
    #[arg(long, hide = true, overrides_with = "close")]
    pub keep_alive: bool,
    /// Close a connection after this many requests; 0: no limit [default: 0]
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub max_requests: Option<u64>,
    /// Close a connection idle for this long; 0: no limit [default: 0]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    pub read_timeout: Option<u64>,
    /// Backlog of each listener [default: 65535]
    #[arg(long, value_name = "N", value_parser = backlog)]
    pub backlog: Option<i32>,
    /// Connections to accept per event: one, or all (drain) [default: drain]
    #[arg(long, value_name = "HOW", value_parser = names::accept_batch)]
    pub accept_batch: Option<AcceptBatch>,
    /// Extra work: nothing, or sylar's 4 calls and a timer [default: nothing]
    #[arg(long, value_name = "WHAT", value_parser = names::per_accept)]
    pub per_accept: Option<PerAccept>,
    /// Most events to take per wait [default: 256]
    #[arg(long, value_name = "N", value_parser = values::small_count)]
    pub max_events: Option<u32>,
    /// SO_SNDBUF; 64KiB makes long responses block [default: the kernel's]
    #[arg(long, value_name = "SIZE", value_parser = buffer_bytes)]
    pub sndbuf: Option<u32>,
    /// SO_RCVBUF [default: the kernel's]
    #[arg(long, value_name = "SIZE", value_parser = buffer_bytes)]
    pub rcvbuf: Option<u32>,
    /// TCP_NODELAY, on or off [default: on]
    #[arg(long, value_name = "WHETHER", value_parser = names::on_or_off)]
    pub nodelay: Option<bool>,
}

/// What is slow or goes wrong.
#[derive(Debug, Args)]
#[command(next_help_heading = "Trouble")]
pub struct TroubleOptions {
    /// Delay of each response: 10ms, or a distribution (below) [default: 0]
    #[arg(long, value_name = "TIME", value_parser = conditions::delay)]
    pub delay: Option<Delay>,
    /// Inject a fault into a share of the responses, see below. Repeatable
    #[arg(long = "fault", value_name = "KIND=SHARE", value_parser = conditions::fault)]
    pub faults: Vec<FaultShare>,
    /// HTTP/3: drop a share of the received datagrams: 1%
    #[arg(long, value_name = "SHARE", value_parser = conditions::share)]
    pub datagram_loss: Option<Share>,
    /// Seed for random delays, faults and losses [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// Starting and stopping.
#[derive(Debug, Args)]
#[command(next_help_heading = "Start and stop")]
pub struct ProcessOptions {
    /// Write the URL to descriptor N when ready, and close it
    #[arg(long, value_name = "N")]
    pub ready_fd: Option<i32>,
    /// Write the counters as JSON to a file when the server stops
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Stop when standard input ends, for programs that start a server
    #[arg(long)]
    pub stop_with_stdin: bool,
    /// Do not print the counters at the end
    #[arg(short, long)]
    pub quiet: bool,
    /// Print help
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,
}

/// CPUs as one value: clap takes a bare Vec for an option given several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

fn cpus(text: &str) -> Result<CpuList, String> {
    values::cpus(text).map(CpuList)
}

fn threads(text: &str) -> Result<Threads, String> {
    if text == "all" {
        return Ok(Threads::All);
    }
    match text.parse() {
        Ok(threads) if threads > 0 => Ok(Threads::Exactly(threads)),
        _ => Err("expected a number of threads from 1 up, or all".into()),
    }
}

fn backlog(text: &str) -> Result<i32, String> {
    let count = values::count(text)?;
    i32::try_from(count).map_err(|_| format!("the maximum is {}", i32::MAX))
}

fn buffer_bytes(text: &str) -> Result<u32, String> {
    // The kernel doubles the value and keeps it in an int (sock_setsockopt).
    let most = i32::MAX as u64 / 2;
    match values::size_bytes(text)? {
        0 => Err("a socket needs a buffer: remove the option for the kernel's default".into()),
        bytes if bytes <= most => Ok(bytes as u32),
        _ => Err(format!("the maximum is {most} bytes")),
    }
}
