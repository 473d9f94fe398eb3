//! `-s`: a script before and after the run. Its threads are made and set up here, their first request is looked at, as wrk
//! does, and where all requests are the same and nothing else is asked of the script, none of it runs during the run.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ablaze_model::plan::Load;
use ablaze_model::{Plan, Run};
use ablaze_report::wrk as report;
use ablaze_script::{
    Distribution, Errors, Interrupt, Network, Script, ScriptError, Setting, Summary, Worker,
    requests,
};
use ablaze_stats::Latency;
use ablaze_wire::url::{Scheme, Url};

use super::options::{Options, usage};
use super::spec::{self, Request};
use super::walk::Thread;
use crate::CommandError;

/// How long an address is tried before the run.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Threads of a script that has a part in the run, and what ends each.
pub type Threads = (Vec<Thread>, Vec<Interrupt>);

/// A script that is ready to run.
pub struct Prepared {
    script: Script,
    /// One per worker.
    threads: Vec<Thread>,
    /// Where their connections go; empty where other options say it.
    addresses: Vec<SocketAddr>,
    /// What its first request is.
    pub first: Request,
    /// The bytes of it, or of several in one string.
    first_bytes: Vec<u8>,
    /// How many those are: so many are in flight on each connection, as in wrk.
    at_once: u32,
}

/// More requests in one string are not all in flight: each has a buffer.
const AT_ONCE_MAX: usize = 1_000;

impl Prepared {
    /// Loads the script and sets its threads up.
    ///
    /// # Errors
    /// When the script fails, or its first request is none.
    pub fn new(options: &Options, url: &Url, file: PathBuf) -> Result<Self, CommandError> {
        let elsewhere = goes_elsewhere(options);
        let setting = setting(options, url, file, elsewhere);
        let mut script = Script::load(setting).map_err(told)?;
        let workers: Result<Vec<Worker>, ScriptError> =
            (0..options.threads).map(|_| script.thread()).collect();
        let workers = workers.map_err(told)?;
        let mut first_bytes = Vec::new();
        // As in wrk, the first thread is asked once before the run.
        workers[0].request(&mut first_bytes).map_err(told)?;
        let ends = requests::ends(&first_bytes).map_err(told)?;
        let mut addresses: Vec<SocketAddr> = Vec::new();
        let mut threads = Vec::new();
        for worker in workers {
            let own = worker.address();
            let known = addresses.iter().position(|address| Some(*address) == own);
            let address = known.unwrap_or(addresses.len());
            addresses.extend(own.filter(|_| known.is_none()));
            let constant = worker.is_static().then(|| {
                let mut bytes = Vec::new();
                worker.request(&mut bytes).map(|()| bytes)
            });
            threads.push(Thread {
                constant: constant.transpose().map_err(told)?,
                several: ends.len() > 1,
                address,
                calls: Arc::default(),
                script: worker,
            });
        }
        if elsewhere {
            addresses.clear();
        }
        script.flush();
        let first = request(&first_bytes[..ends[0]]);
        let at_once = ends.len().min(AT_ONCE_MAX) as u32;
        Ok(Self { script, threads, addresses, first, first_bytes, at_once })
    }

    /// Has the Plan go where the script's threads go, and know both kinds of requests that there can be.
    pub fn adapt(&self, plan: &mut Plan) {
        if !self.addresses.is_empty() {
            plan.target.addresses.clone_from(&self.addresses);
        }
        if self.runs(plan) {
            if let Load::Closed { pipeline, .. } = &mut plan.load {
                *pipeline = self.at_once;
            }
            let templates = &mut plan.requests.templates;
            templates.truncate(1);
            templates[0].response_has_no_body = false;
            let mut to_head = templates[0].clone();
            to_head.response_has_no_body = true;
            templates.push(to_head);
        }
    }

    /// Whether the script has a part in the run. If not, the Plan's own request is all there is to send.
    fn runs(&self, plan: &Plan) -> bool {
        let is_constant = |thread: &Thread| {
            let script = &thread.script;
            thread.constant.as_ref() == Some(&self.first_bytes)
                && !script.wants_responses()
                && !script.has_delay()
                && thread.address == 0
        };
        !self.threads.iter().all(is_constant)
            || plan.requests.templates[0].bytes != self.first_bytes
    }

    /// The threads, if the script has a part in the run, and what ends them.
    ///
    /// # Errors
    /// When Lua has no memory left.
    pub fn into_threads(self, plan: &Plan) -> Result<(Script, Option<Threads>), CommandError> {
        if !self.runs(plan) {
            return Ok((self.script, None));
        }
        let interrupts: Result<_, _> =
            self.threads.iter().map(|thread| thread.script.interrupt()).collect();
        Ok((self.script, Some((self.threads, interrupts.map_err(told)?))))
    }
}

/// A failure of the script, with the status of wrk's own failures.
pub fn told(error: ScriptError) -> CommandError {
    usage(format!("script: {error}"))
}

/// Whether other options say where connections go.
fn goes_elsewhere(options: &Options) -> bool {
    let connection = &options.native.connection;
    connection.way.unix_socket.is_some()
        || connection.way.proxy.is_some()
        || !connection.way.connect_to.is_empty()
}

fn setting(options: &Options, url: &Url, file: PathBuf, elsewhere: bool) -> Setting {
    let connect = move |address: SocketAddr| {
        elsewhere || TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok()
    };
    Setting {
        file: Some(file),
        scheme: if url.scheme == Scheme::Https { "https" } else { "http" }.to_owned(),
        host: url.host.clone(),
        port: spec::port(&options.url).map(str::to_owned),
        path: spec::target(&options.url, url),
        headers: options.headers.iter().filter_map(|typed| spec::field(typed)).collect(),
        arguments: std::iter::once((&options.url).into())
            .chain(options.arguments.iter().cloned())
            .collect(),
        network: Network { lookup: Arc::new(lookup), connect: Arc::new(connect) },
    }
}

/// The addresses of a host and a service.
fn lookup(host: &str, service: &str) -> Result<Vec<SocketAddr>, String> {
    let port = match service {
        "http" => Some(80),
        "https" => Some(443),
        service => service.parse().ok(),
    };
    let unknown = |why: String| format!("unable to resolve {host}:{service}: {why}");
    let port: u16 = port.ok_or_else(|| unknown("the service is no port".to_owned()))?;
    let found = (host, port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
    Ok(found.collect())
}

/// A request in parts: what was found to be one.
fn request(bytes: &[u8]) -> Request {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
    let body = bytes.get(end + 4..).unwrap_or_default();
    let mut lines = bytes[..end].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let mut words = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
    Request {
        method: words.next().unwrap_or_default().to_vec(),
        target: words.next().unwrap_or_default().to_vec(),
        lines: lines.map(<[u8]>::to_vec).collect(),
        body: body.to_vec(),
    }
}

/// What `done` is told of a run.
pub fn figures(run: &Run) -> (Summary, Distribution, Distribution) {
    let report::Errors { connect, read, write, timeout, status } = report::errors(run);
    let summary = Summary {
        duration_us: report::micros(run.elapsed_ns),
        requests: run.record.responses,
        bytes: run.record.received_bytes,
        errors: Errors { connect, read, write, status, timeout },
    };
    let latency = distribution(report::latency(run), 1_000);
    (summary, latency, distribution(&run.record.worker_rates, 1))
}

/// Values in whole units of `unit`.
fn distribution(values: &Latency, unit: u64) -> Distribution {
    let scale = unit as f64;
    let mut whole: Vec<(u64, u64)> = Vec::new();
    for (value, count) in values.recorded() {
        match whole.last_mut() {
            Some((last, total)) if *last == value / unit => *total += count,
            _ => whole.push((value / unit, count)),
        }
    }
    Distribution {
        min: (values.min_ns().unwrap_or(0) / unit) as f64,
        max: (values.max_ns().unwrap_or(0) / unit) as f64,
        mean: values.mean_ns().unwrap_or(0.0) / scale,
        stdev: values.deviation_ns().unwrap_or(0.0) / scale,
        values: whole,
    }
}
