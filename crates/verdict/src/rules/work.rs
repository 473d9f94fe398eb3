//! What a rate was measured on: of a printed report as far as it is printed, of a Run all of it.

use std::collections::BTreeMap;

use ablaze_model::run::Machine;

use super::arithmetic::{in_flight, nothing_came_back};
use crate::DiagnosisId;
use crate::diagnosis::d02_no_response::without_response;
use crate::printed::{Command, Connections, Program, Report, Tool};
use crate::words::{amount, grouped};

/// What a rate was measured on.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Whose report.
    pub tool: Tool,
    /// Version of the tool.
    pub tool_version: Option<String>,
    /// How much came back.
    pub answered: u64,
    /// How the requests were answered: with success, otherwise, or not at all.
    pub responses: Responses,
    /// How many requests got no response, of how many.
    pub without_response: Option<(u64, u64)>,
    /// Of siege alone, how many transactions it counts as failed, of how many: without a response, or with 5xx.
    pub failed_transactions: Option<(u64, u64)>,
    /// Responses by status; empty where they are not printed.
    pub statuses: BTreeMap<u16, u64>,
    /// `Document Length`, or body bytes per request.
    pub body_bytes: Option<f64>,
    /// By how much chance moves it, as a standard error; 0 where that is not known.
    pub body_bytes_error: f64,
    /// Bytes per response, head and body.
    pub bytes: Option<f64>,
    /// How connections were used.
    pub connections: Connections,
    /// In flight on average: bounds by Little's law.
    pub in_flight: Option<(f64, f64)>,
    /// The upper bound, if places that fell empty at the end of the run count as in use.
    pub in_flight_at_most: Option<f64>,
    /// Method, fields and body by the options of the command; of printed reports with a command alone.
    pub request_options: Option<Vec<String>>,
    /// Bytes of bodies were sent; of printed reports of ab alone.
    pub sent_bodies: Option<bool>,
    /// Method of the request.
    pub method: Option<String>,
    /// Path of the URL.
    pub path: Option<String>,
    /// Minor version of the requests: HTTP/1.0 or 1.1.
    pub http_version: Option<String>,
    /// TLS was spoken.
    pub tls: bool,
    /// Requests were sent on a schedule.
    pub open_loop: bool,
    /// So many per second, where that is known.
    pub asked_per_s: Option<f64>,
    /// So many per second were sent on a schedule, as vegeta prints it or as asked for.
    pub sent_per_s: Option<f64>,
    /// How fast a closed loop was permitted to be, where that is known: of printed reports by the command alone.
    pub pace: Option<Pace>,
    /// Threads of the client, as a printed report says.
    pub threads: Option<u64>,
    /// Length of the run, in seconds.
    pub taken_s: Option<f64>,
    /// What only a Run knows.
    pub circumstances: Option<Circumstances>,
}

/// What came back, roughly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Responses {
    /// Not a byte.
    Nothing,
    /// Responses, of which this share has a status of 2xx.
    Good(f64),
    /// Not printed.
    Unknown,
}

/// How fast the connections of a closed loop may send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each as soon as a response has come.
    Full,
    /// No more than so many per second, over all.
    AtMost(f64),
    /// After a pause, whose length is not known.
    Pauses,
}

/// What only a Run knows of how it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Circumstances {
    /// When, ns since 1970.
    pub started_unix_ns: u64,
    /// Threads of the client.
    pub client_threads: u32,
    /// The client's system calls: `io_uring` or `epoll`.
    pub backend: &'static str,
    /// The client's machine.
    pub machine: Machine,
    /// Who served, if that was on this host and to be seen.
    pub server: Option<Server>,
    /// What was found in the Run itself, graver than a note.
    pub found: Vec<DiagnosisId>,
    /// CPU time of client and server, where both are known.
    pub cpu: Option<CpuPerResponse>,
    /// Datagrams per system call, sent and received; over HTTP/3 alone.
    pub datagrams_per_call: Option<(f64, f64)>,
}

/// CPU time per response, ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuPerResponse {
    /// Of the client in user mode.
    pub client_user_ns: f64,
    /// Of the client in the kernel.
    pub client_system_ns: f64,
    /// Of these two the time of busy polling, which is no work; how much of it was in which mode is not known.
    pub client_polled_ns: f64,
    /// Of the server in user mode.
    pub server_user_ns: f64,
    /// Of the server in the kernel.
    pub server_system_ns: f64,
}

impl CpuPerResponse {
    /// All work.
    pub fn all_ns(&self) -> f64 {
        self.client_user_ns + self.server_user_ns + self.system_ns_at_most() - self.client_polled_ns
    }

    /// Work in the kernel, on both sides, if all busy polling was in user mode.
    pub fn system_ns_at_most(&self) -> f64 {
        self.client_system_ns + self.server_system_ns
    }

    /// Work of the client in the kernel, if as much of its busy polling was there as can have been.
    pub fn client_system_ns_at_least(&self) -> f64 {
        (self.client_system_ns - self.client_polled_ns).max(0.0)
    }

    /// The same of both sides.
    pub fn system_ns_at_least(&self) -> f64 {
        self.client_system_ns_at_least() + self.server_system_ns
    }
}

/// The server as the monitor saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// Words of its command line; empty where they are not to be seen.
    pub command_line: Vec<String>,
    /// Threads that did at least a fifth of the busiest one's work; `None` for a server that had time
    /// left, where chance decides that.
    pub threads: Option<usize>,
    /// Share of a core that the busiest used.
    pub busiest: f64,
    /// How long TCP could not send what the server had written, because a buffer of its own or of the
    /// client was full, ns. `None` where the server's sockets were not to be seen.
    pub write_waited_ns: Option<u64>,
}

impl Work {
    /// What a report prints of it.
    pub fn of_report(report: &Report) -> Self {
        Self {
            tool: report.tool,
            tool_version: None,
            answered: report.complete.unwrap_or(0),
            responses: responses(report),
            without_response: without_response(report),
            failed_transactions: failed_transactions(report),
            statuses: report.statuses.clone(),
            body_bytes: report.body_bytes_per_request(),
            body_bytes_error: 0.0,
            bytes: report.bytes_per_request(),
            connections: report.connections,
            in_flight: in_flight(report).filter(|(low, _)| is_possible(report, *low)),
            in_flight_at_most: in_flight_at_most(report),
            request_options: report.command.as_ref().map(|command| command.request_options.clone()),
            sent_bodies: report.tool.is_ab_like().then_some(report.sent_bytes.is_some()),
            method: None,
            path: report.path.clone(),
            http_version: http_version(report),
            tls: report.tls,
            open_loop: report.open_loop,
            asked_per_s: report.asked_per_s(),
            sent_per_s: report
                .own("the rate of the attack")
                .map(|rate| rate.value)
                .or_else(|| report.asked_per_s())
                .filter(|_| report.open_loop),
            pace: report.command.as_ref().and_then(|command| pace(report, command)),
            threads: report.threads,
            taken_s: report.taken_s.map(|taken| taken.value),
            circumstances: None,
        }
    }

    /// In flight on average, in words: as asked for where that is possible.
    pub fn in_flight_text(&self, asked: Option<u64>) -> Option<String> {
        let (low, high) = self.in_flight?;
        Some(match asked {
            Some(asked) if (low * 0.95..=high * 1.05).contains(&(asked as f64)) => grouped(asked),
            // Of times that were rounded to nothing.
            _ if amount(high) == "0" => return None,
            _ if low == 0.0 => format!("fewer than {}", amount(high)),
            _ if amount(low) == amount(high) => amount(low),
            _ => format!("{} to {}", amount(low), amount(high)),
        })
    }

    /// The share of responses after which the connection was closed, where that is known.
    pub fn opened_per_response(&self) -> Option<f64> {
        match self.connections {
            Connections::Kept(kept) => Some(1.0 - kept? as f64 / self.answered.max(1) as f64),
            Connections::PerRequest | Connections::Unknown => None,
        }
    }

    /// The server, where it was seen.
    pub fn server(&self) -> Option<&Server> {
        self.circumstances.as_ref()?.server.as_ref()
    }
}

/// siege's transactions are those that did not fail.
fn failed_transactions(report: &Report) -> Option<(u64, u64)> {
    let (good, failed) =
        report.complete.filter(|_| report.tool == Tool::Siege).zip(report.failed)?;
    Some((failed, good.saturating_add(failed)))
}

/// Whether so many fit into the places of a closed loop. Where they do not, the mean was not measured: wrk adds the times of
/// requests that it did not send while one was late.
fn is_possible(report: &Report, in_flight: f64) -> bool {
    report.open_loop || report.asked().is_none_or(|asked| in_flight <= asked as f64 * 1.05)
}

/// Once no request is left to send, each place is empty for as long as the longest request takes at most: in a short run
/// that is most of its time.
fn in_flight_at_most(report: &Report) -> Option<f64> {
    let (_, high) = in_flight(report)?;
    let longest_ms = report.total.as_ref().and_then(|total| total.max_ms).map(|max| max.high());
    let all = report.concurrency.zip(longest_ms).zip(report.taken_s);
    let Some(((asked, longest_ms), taken)) = all else { return Some(high) };
    let emptied = asked.saturating_sub(1) as f64 * longest_ms / 1e3 / taken.low();
    Some((high + emptied).min(asked as f64).max(high))
}

/// As the tool printed it; else HTTP/2 as the command asks for it, and HTTP/1.1 of tools that speak it unless they are told.
fn http_version(report: &Report) -> Option<String> {
    let command = report.command.as_ref();
    let asked = |command: &Command| match report.tool {
        _ if command.http2 => Some("2"),
        Tool::Hey | Tool::Bombardier => Some("1.1"),
        _ => None,
    };
    let version = match &report.protocol {
        Some(protocol) => match protocol.as_str() {
            "http/1.1" => Some("1.1"),
            "h2" | "h2c" => Some("2"),
            "h3" => Some("3"),
            _ => None,
        },
        None if report.http2 => Some("2"),
        None => command.and_then(asked),
    };
    version.map(str::to_owned)
}

/// From so large a share of siege's users in flight on average on, they had no pauses to speak of.
const NO_PAUSES: f64 = 0.9;
/// siege pauses for up to so many whole seconds or tenths of one; without work left to do a user is idle for less, s.
const PAUSE_S: f64 = 0.05;

/// Whether siege's users pause without `-b`: since version 4 they do not, unless its configuration (`delay`) says so. It prints
/// how many were in flight; for how long the others were idle per request follows.
pub(crate) fn pace_of_siege(report: &Report) -> Option<Pace> {
    let known = report.own("the concurrency").zip(report.rate()).zip(report.asked());
    let Some(((in_flight, per_s), users)) = known else { return Some(Pace::Pauses) };
    let idle = users as f64 - in_flight.value;
    if in_flight.value >= users as f64 * NO_PAUSES {
        Some(Pace::Full)
    } else if idle / per_s >= PAUSE_S {
        Some(Pace::Pauses)
    } else {
        None
    }
}

fn pace(report: &Report, command: &Command) -> Option<Pace> {
    match command.rate_per_s {
        Some(per_s) => Some(Pace::AtMost(per_s)),
        None if command.program == Program::Siege && command.open_loop => pace_of_siege(report),
        // The rate of a schedule is not read of every tool's command.
        None => (!command.open_loop).then_some(Pace::Full),
    }
}

fn responses(report: &Report) -> Responses {
    let complete = report.complete.unwrap_or(0);
    match report.non_2xx {
        _ if nothing_came_back(report) => Responses::Nothing,
        Some(others) if complete > 0 => {
            Responses::Good(complete.saturating_sub(others) as f64 / complete as f64)
        }
        _ => Responses::Unknown,
    }
}
