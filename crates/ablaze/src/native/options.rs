//! The native options. Nothing has a default here: what is absent leaves the [`LoadSpec`] as it was,
//! so that other front ends can take the same options on top of their own defaults.
//!
//! [`LoadSpec`]: ablaze_model::LoadSpec

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use ablaze_feed::Order;
use ablaze_model::plan::tls::TlsVersion;
use ablaze_model::plan::{Arrivals, Close, IoChoice, RateProfile, Spin};
use ablaze_model::spec::HttpVersion;
use ablaze_report::exporters::{self, Kind};
use ablaze_report::table;
use clap::{ArgAction, Args, Parser};

use super::bodies::BodyOptions;
use super::checks::CheckOptions;
use super::choices::{arrivals, close, io_choice, spin, tls_version};
use super::http3::Http3Options;
use super::journey::JourneyOptions;
use super::users::{JourneyFile, UserOptions, journey_file};
use super::way::WayOptions;
use crate::exports::ExportOptions;
use crate::fleet::FleetOptions;
use crate::report_options::ReportOptions;
use crate::values;

/// The whole native command line.
#[derive(Debug, Parser)]
#[command(
    name = "ablaze load",
    bin_name = "ablaze load",
    about = "Load a URL and report what came back. `ablaze URL` is the same.",
    override_usage = "ablaze [load] [OPTIONS] URL\n       ablaze load [OPTIONS] --journey FILE.hurl [URL]",
    after_help = after_help(),
    disable_version_flag = true,
    max_term_width = 100
)]
pub struct CommandLine {
    /// URL to load; :8080/x means http://127.0.0.1:8080/x, http:// and / can be omitted
    pub url: Option<String>,
    /// The options, without the URL.
    #[command(flatten)]
    pub options: Options,
    /// What leaves the run while it lasts.
    #[command(flatten)]
    pub exports: ExportOptions,
    /// Who carries it out.
    #[command(flatten)]
    pub fleet: FleetOptions,
}

/// The native options, for every front end.
#[derive(Debug, Default, Args)]
pub struct Options {
    /// Shape and length of the load.
    #[command(flatten)]
    pub load: LoadOptions,
    /// What is sent.
    #[command(flatten)]
    pub request: RequestOptions,
    /// How connections are made, used and ended.
    #[command(flatten)]
    pub connection: ConnectionOptions,
    /// TLS.
    #[command(flatten)]
    pub tls: TlsOptions,
    /// HTTP/3.
    #[command(flatten)]
    pub http3: Http3Options,
    /// The client's threads and system calls.
    #[command(flatten)]
    pub machine: MachineOptions,
    /// What every response must be.
    #[command(flatten)]
    pub checks: CheckOptions,
    /// Judging and reporting.
    #[command(flatten)]
    pub report: ReportOptions,
}

/// Shape and length of the load.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadOptions {
    /// Connections, each with a request always in flight [default: 50]
    #[arg(short, long, value_name = "N", value_parser = values::small_count)]
    pub connections: Option<u32>,
    /// Total number of requests; k and M are accepted
    #[arg(short = 'n', long, value_name = "N", value_parser = values::count)]
    pub requests: Option<u64>,
    /// Length; with -n, whichever ends first [default: 10s, none with -n]
    #[arg(short, long, value_name = "TIME", value_parser = values::duration_ns)]
    pub duration: Option<u64>,
    /// Open loop at 1000/s, 10/ms or 1/s..5k/s; -c is then only a limit
    #[arg(short, long, value_name = "RATE", value_parser = values::rate)]
    pub rate: Option<RateProfile>,
    /// Spacing of --rate: constant or poisson [default: constant]
    #[arg(long, value_name = "HOW", value_parser = arrivals)]
    pub arrivals: Option<Arrivals>,
    /// Steps between the two rates of --rate [default: none, gradual]
    #[arg(long, value_name = "N", value_parser = values::small_count)]
    pub steps: Option<u32>,
    /// Requests in flight on each HTTP/1 connection [default: 1]
    #[arg(long, value_name = "N", value_parser = values::small_count)]
    pub pipeline: Option<u32>,
    /// Requests in flight, or users, per HTTP/2 or 3 connection [default: 1]
    #[arg(long, value_name = "N", value_parser = values::small_count)]
    pub streams: Option<u32>,
    /// Warm-up before the run, not measured [default: 0]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    pub warmup: Option<u64>,
    /// Open the connections over this time [default: 0, all at once]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    pub ramp: Option<u64>,
    /// Timeout of a request, connecting included; 0: none [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = values::duration_ns)]
    pub timeout: Option<u64>,
}

/// What is sent.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Request")]
pub struct RequestOptions {
    /// Method [default: GET, POST with a body]
    #[arg(short, long, visible_short_alias = 'X', value_name = "METHOD")]
    pub method: Option<String>,
    /// Header field; replaces the default one, `Name:` removes it. Repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Body: text, @FILE, or @- for standard input
    #[arg(short, long, value_name = "BODY")]
    pub body: Option<String>,
    /// What bodies are made of.
    #[command(flatten)]
    pub bodies: BodyOptions,
    /// Content-Type of the body
    #[arg(long, value_name = "TYPE")]
    pub content_type: Option<String>,
    /// Basic authorization
    #[arg(short, long, value_name = "NAME:PASSWORD")]
    pub user: Option<String>,
    /// Send the lines `URL [weight]` or `METHOD URL [body]` of a file in turn
    #[arg(long, value_name = "FILE")]
    pub urls: Option<PathBuf>,
    /// Use each line as the body of a request, in order, repeatedly
    #[arg(long, value_name = "FILE", conflicts_with = "body")]
    pub body_lines: Option<PathBuf>,
    /// Replace {column} in requests by rows of a .csv, .tsv or .jsonl file
    #[arg(long, value_name = "FILE")]
    pub feed: Option<PathBuf>,
    /// Which row: sequential, random or unique [default: sequential]
    #[arg(long, value_name = "ORDER", value_parser = values::feed_order)]
    pub feed_order: Option<Order>,
    /// Seed of {rand:N} and of random rows [default: 1]
    #[arg(long, value_name = "N", value_parser = values::seed)]
    pub seed: Option<u64>,
    /// HTTP version of the requests, 1.0, 1.1, 2 or 3 [default: 1.1]
    #[arg(long, value_name = "VERSION", value_parser = values::http_version)]
    pub http: Option<HttpVersion>,
    /// Walk a .hurl file; -n and --rate count journeys. Repeatable
    #[arg(
        long = "journey",
        value_name = "FILE[=WEIGHT]",
        help_heading = "Journey",
        value_parser = journey_file
    )]
    pub journey_files: Vec<JourneyFile>,
    /// What it is given.
    #[command(flatten)]
    pub journey: JourneyOptions,
    /// Who walks it.
    #[command(flatten)]
    pub users: UserOptions,
}

/// How connections are made, used and ended.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionOptions {
    /// A new connection for every request
    #[arg(long)]
    pub no_keepalive: bool,
    /// Replace a connection after N requests [default: no limit]
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub requests_per_connection: Option<u64>,
    /// Close by await (server's FIN, 1 s), fin, reset [default: await]
    #[arg(long, value_name = "HOW", value_parser = close)]
    pub close: Option<Close>,
    /// Never retry a request when its connection closes unanswered
    #[arg(long)]
    pub no_repeat: bool,
    /// Use IPv4 addresses only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,
    /// Use IPv6 addresses only
    #[arg(short = '6', long)]
    pub ipv6: bool,
    /// Where they go.
    #[command(flatten)]
    pub way: WayOptions,
    /// Addresses to connect from: 10.0.0.1,10.0.1.0/24
    #[arg(long, value_name = "LIST", value_parser = local_addresses)]
    pub local_address: Option<AddressList>,
    /// Ports to connect from, in turn
    #[arg(long, value_name = "A-B", value_parser = values::ports)]
    pub local_ports: Option<RangeInclusive<u16>>,
    /// Longest response head to accept [default: 64KiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size_bytes)]
    pub max_head: Option<u64>,
}

/// TLS, for https URLs.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "TLS (https)")]
pub struct TlsOptions {
    /// Accept any certificate without verifying it
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Trust these certificates (PEM) instead of the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Client certificate (PEM), with its chain and optionally its key
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Private key of --cert (PEM)
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Server name to send and verify; `none` sends none [default: the host]
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Oldest TLS version, 1.2 or 1.3 [default: 1.2]
    #[arg(long, value_name = "VERSION", value_parser = tls_version)]
    pub tls_min: Option<TlsVersion>,
    /// Newest TLS version, 1.2 or 1.3 [default: 1.3]
    #[arg(long, value_name = "VERSION", value_parser = tls_version)]
    pub tls_max: Option<TlsVersion>,
    /// Cipher suites to offer, in this order; IANA or OpenSSL names
    #[arg(long, value_name = "LIST")]
    pub tls_ciphers: Option<String>,
    /// Groups to offer, in this order [default: x25519,P-256,P-384]
    #[arg(long, value_name = "LIST")]
    pub tls_groups: Option<String>,
    /// Resume sessions instead of making full handshakes
    #[arg(long)]
    pub tls_resume: bool,
}

impl TlsOptions {
    /// Whether any option was given.
    pub fn is_asked(&self) -> bool {
        self.insecure
            || self.tls_resume
            || self.tls_min.is_some()
            || self.tls_max.is_some()
            || [&self.sni, &self.tls_ciphers, &self.tls_groups].iter().any(|text| text.is_some())
            || [&self.cacert, &self.cert, &self.key].iter().any(|path| path.is_some())
    }
}

/// The client's threads and system calls.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineOptions {
    /// Worker threads [default: one per CPU, half for a target on this host]
    #[arg(short, long, value_name = "N", value_parser = values::small_count)]
    pub threads: Option<u32>,
    /// Pin the threads to these CPUs, such as 0,2-3
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    /// I/O interface: auto, uring or epoll [default: auto]
    #[arg(long, value_name = "IO", value_parser = io_choice)]
    pub io: Option<IoChoice>,
    /// Busy-wait for responses before sleeping: auto, off or a time [default: auto]
    #[arg(long, value_name = "SPIN", value_parser = spin)]
    pub spin: Option<Spin>,
    /// Do not monitor the kernel, the target's process and the connections
    #[arg(long, alias = "no-witness", action = ArgAction::SetTrue)]
    pub no_monitor: bool,
    /// Keep the server's whole command line in reports
    #[arg(long = "server-args", action = ArgAction::SetTrue)]
    pub server_arguments: bool,
}

/// Addresses from one option.
#[derive(Debug, Clone)]
pub struct AddressList(pub Vec<IpAddr>);

/// CPUs from one option.
#[derive(Debug, Clone)]
pub struct CpuList(pub Vec<u32>);

fn after_help() -> String {
    let formats = format!(
        "Formats of -o by extension: {}; .ndjson (lines, written while it runs).",
        exporters::help(Kind::Run)
    );
    AFTER_HELP.replace("{formats}", &table::sentence("", &formats, 100).join("\n"))
}

const AFTER_HELP: &str = "\
Placeholders in path, header fields and body, of constant width:
  {seq}       the request's number, ten digits    {rand:N}  N random digits

Values: times 500ms, 10s, 1m30s, 2h (a bare number is seconds); counts 1000, 10k, 2M;
  sizes 64KB (1000), 64KiB (1024).
Metrics of --fail-if: rate mean p99 (or any pN) max errors unexpected status.NNN checks lag cpu
(the client's per request). Of a line of --urls, a step or a journey: its name, a dot, the metric:
login.p99>1s, buy.errors>1%, journey.p95>2s.
{formats}
An error is a request without a valid response; a response outside --expect is unexpected. Redirects
are followed in journeys alone (-L).
Exit status: 0 measured; 1 nothing measured, no expected response, a report not written, or ended
early because a worker was lost (--lost fail); 2 usage; 3 a --fail-if was met, or --slo was not;
4 INVALID with --strict; 130 interrupted (the report is still printed). If several apply, the order
is 130, 4, 1, 3.";

fn local_addresses(text: &str) -> Result<AddressList, String> {
    values::local_addresses(text).map(AddressList)
}

fn cpus(text: &str) -> Result<CpuList, String> {
    values::cpus(text).map(CpuList)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::CommandLine;

    #[test]
    fn the_help_names_every_option_and_fits_a_terminal() {
        let mut command = CommandLine::command();
        command.clone().debug_assert();
        let help = command.render_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{}: {line}", line.chars().count());
        }
        for option in command.get_arguments().filter_map(|argument| argument.get_long()) {
            assert!(help.contains(&format!("--{option}")), "{option}");
        }
    }
}
