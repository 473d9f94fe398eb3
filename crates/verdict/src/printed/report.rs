//! The figures of one printed report. What a report does not print is `None`, never zero.

use std::collections::BTreeMap;

use super::above::Setting;
use super::peers::hey;
use super::{Command, PrintedVerdict, Tool};

/// A figure and the step it was printed in: 0.5 in steps of 0.1 lies between 0.45 and 0.55.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// As printed.
    pub value: f64,
    /// The last printed digit's worth.
    pub step: f64,
}

impl Printed {
    /// The least it may stand for, if it was rounded to the nearest.
    pub fn low(self) -> f64 {
        (self.value - self.step / 2.0).max(0.0)
    }

    /// The most it may stand for.
    pub fn high(self) -> f64 {
        self.value + self.step / 2.0
    }
}

/// `Document Length`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// The first response's body.
    Bytes(u64),
    /// `Variable`: ab was told not to compare (`-l`).
    Variable,
}

/// Whether connections were kept, as far as the report tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connections {
    /// One for each request.
    PerRequest,
    /// Kept, for this many of the responses where that is printed.
    Kept(Option<u64>),
    /// Not printed.
    Unknown,
}

/// ab's four kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailedParts {
    /// No connection.
    pub connect: u64,
    /// The connection broke.
    pub receive: u64,
    /// Another length than the first response's.
    pub length: u64,
    /// Anything else.
    pub exceptions: u64,
}

/// wrk's four kinds of errors: events on connections, not requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketErrors {
    /// Attempts to open a connection that failed.
    pub connect: u64,
    /// Connections that broke, or that the server closed: before, within or right behind a response.
    pub read: u64,
    /// Requests that could not be sent.
    pub write: u64,
    /// wrk: responses that took longer than `--timeout`, which are in its rate and not in its latencies. wrk2: how
    /// often a connection was found to wait that long.
    pub timeout: u64,
}

/// What a client says of failed requests, and of how many where it prints that, the most frequent first.
pub type Errors = Vec<(String, Option<u64>)>;

/// TLS handshakes that failed, of which ab says so on stderr and nothing in its report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Handshakes {
    /// How many.
    pub failed: u64,
    /// What OpenSSL said of the first.
    pub reason: Option<String>,
}

/// One row of times, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Times {
    /// The shortest.
    pub min_ms: Option<Printed>,
    /// The mean.
    pub mean_ms: Option<Printed>,
    /// The standard deviation.
    pub deviation_ms: Option<Printed>,
    /// The median.
    pub median_ms: Option<Printed>,
    /// The longest.
    pub max_ms: Option<Printed>,
}

/// One printed report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The tool that printed it.
    pub tool: Tool,
    /// Its first line in the text, from 1.
    pub line: usize,
    /// That line says which program printed it.
    pub announced: bool,
    /// The heading or the words above it.
    pub label: Option<String>,
    /// What else was typed above it.
    pub setting: Setting,
    /// The command line above it.
    pub command: Option<Command>,
    /// `Server Software`.
    pub server: Option<String>,
    /// Host name or address.
    pub host: Option<String>,
    /// Port.
    pub port: Option<u16>,
    /// Path of the URL.
    pub path: Option<String>,
    /// TLS was spoken.
    pub tls: bool,
    /// HTTP/2 was spoken.
    pub http2: bool,
    /// What was agreed upon, as the tool prints it: `http/1.1`, `h2`, `h3`.
    pub protocol: Option<String>,
    /// `Document Length`.
    pub document: Option<Document>,
    /// Responses by status, where the tool prints them.
    pub statuses: BTreeMap<u16, u64>,
    /// Responses by the first digit of their status, where the tool prints no more of it.
    pub classes: BTreeMap<u16, u64>,
    /// Requests in flight that were asked for.
    pub concurrency: Option<u64>,
    /// Requests were sent on a schedule, whether or not responses came.
    pub open_loop: bool,
    /// Connections that were asked for, where each may have several requests in flight, and siege's users.
    pub clients: Option<u64>,
    /// The client's threads.
    pub threads: Option<u64>,
    /// Length of the run that was asked for.
    pub asked_s: Option<Printed>,
    /// Length of the run.
    pub taken_s: Option<Printed>,
    /// Requests that ended, failed ones included where the tool does so.
    pub complete: Option<u64>,
    /// Failed requests.
    pub failed: Option<u64>,
    /// Events on connections, of which requests need not have failed.
    pub socket_errors: Option<SocketErrors>,
    /// What the client says of failed requests: on its report, and siege on stderr above it.
    pub errors: Errors,
    /// Lines with figures that no run can have: below 0, or more than all.
    pub impossible: Vec<String>,
    /// TLS handshakes that failed, as far as the text has ab's stderr.
    pub handshakes: Handshakes,
    /// Failed requests by kind.
    pub failed_parts: Option<FailedParts>,
    /// Responses whose status is not 200 to 299. ab prints no line when there were none.
    pub non_2xx: Option<u64>,
    /// How connections were used.
    pub connections: Connections,
    /// Its head says that they were to be kept, whatever the server made of that.
    pub asked_to_keep: bool,
    /// Bytes received. May be negative: gurl counted in 32 bits.
    pub total_bytes: Option<i64>,
    /// Bytes of bodies received.
    pub body_bytes: Option<i64>,
    /// Bytes sent, heads included.
    pub sent_bytes: Option<u64>,
    /// Responses per second.
    pub rate_per_s: Option<Printed>,
    /// Time per request as ab has it: concurrency × length / requests.
    pub per_request_ms: Option<Printed>,
    /// Kilobytes received per second, in the tool's own kilobytes.
    pub kilobytes_per_s: Option<Printed>,
    /// Time to open connections.
    pub connect: Option<Times>,
    /// Time to the first byte of the response.
    pub waiting: Option<Times>,
    /// All of a request's time.
    pub total: Option<Times>,
    /// Failed writes: gurl's name for every request that failed.
    pub write_errors: Option<u64>,
    /// Time from one response to the next, over all connections: length / requests.
    pub across_ms: Option<Printed>,
    /// Kilobytes of 1024 bytes received, where a tool prints them rounded.
    pub received_kilobytes: Option<Printed>,
    /// Kilobytes sent per second, in the tool's own kilobytes.
    pub sent_kilobytes_per_s: Option<Printed>,
    /// Kilobytes received and sent per second, together.
    pub both_kilobytes_per_s: Option<Printed>,
    /// Time from a connection that stands to the end of the response.
    pub processing: Option<Times>,
    /// Percentiles of the total, ascending: percent and ms. 100 is the longest.
    pub percentiles: Vec<(f64, Printed)>,
    /// Percentiles of the wait for the first byte, where a tool prints them.
    pub waiting_percentiles: Vec<(f64, Printed)>,
    /// wrk2's percentiles once more, finer: percent and ms.
    pub spectrum: Vec<(f64, Printed)>,
    /// Figures that only this tool prints, by what they are called in a sentence.
    pub own: Vec<(&'static str, Printed)>,
    /// The histogram of the total, where it is printed: times in ms, and requests.
    pub histogram: Vec<(Printed, u64)>,
    /// The verdict and the findings that ablaze printed with it.
    pub said: Option<PrintedVerdict>,
    /// ab warned that median and mean are apart.
    pub warned: bool,
}

impl Report {
    /// A report of which nothing is known yet.
    pub fn empty(tool: Tool, line: usize) -> Self {
        Self {
            tool,
            line,
            announced: false,
            label: None,
            setting: Setting::default(),
            command: None,
            server: None,
            host: None,
            port: None,
            path: None,
            tls: false,
            http2: false,
            protocol: None,
            document: None,
            statuses: BTreeMap::new(),
            classes: BTreeMap::new(),
            concurrency: None,
            open_loop: false,
            clients: None,
            threads: None,
            asked_s: None,
            taken_s: None,
            complete: None,
            failed: None,
            socket_errors: None,
            errors: Errors::new(),
            impossible: Vec::new(),
            handshakes: Handshakes::default(),
            failed_parts: None,
            non_2xx: None,
            connections: Connections::Unknown,
            asked_to_keep: false,
            total_bytes: None,
            body_bytes: None,
            sent_bytes: None,
            rate_per_s: None,
            per_request_ms: None,
            kilobytes_per_s: None,
            connect: None,
            waiting: None,
            total: None,
            write_errors: None,
            across_ms: None,
            received_kilobytes: None,
            sent_kilobytes_per_s: None,
            both_kilobytes_per_s: None,
            processing: None,
            percentiles: Vec::new(),
            waiting_percentiles: Vec::new(),
            spectrum: Vec::new(),
            own: Vec::new(),
            histogram: Vec::new(),
            said: None,
            warned: false,
        }
    }

    /// A figure that only this tool prints.
    pub fn own(&self, name: &str) -> Option<Printed> {
        self.own.iter().find(|(own, _)| *own == name).map(|(_, figure)| *figure)
    }

    /// Requests in flight that were asked for: as printed, else by the command above. Where that asks for other connections
    /// than are printed one of the two is another run's, or wrong (D36).
    pub fn asked(&self) -> Option<u64> {
        let by_command = self.connections_by_command();
        let printed = self.clients.or(self.concurrency);
        let is_of_other = printed.zip(by_command).is_some_and(|(one, other)| one != other);
        let streams = self.command.as_ref().map_or(1, |command| command.streams);
        let asked = match streams > 1 {
            true => by_command.map(|connections| connections.saturating_mul(streams)),
            false => self.concurrency.or(by_command),
        };
        asked.filter(|_| !is_of_other).map(|asked| self.shared_out(asked))
    }

    /// wrk and wrk2 give each thread as many connections as the others, and open none for what is left over: 100 on 3
    /// threads are 99.
    fn shared_out(&self, asked: u64) -> u64 {
        let shares = matches!(self.tool, Tool::Wrk | Tool::Wrk2) && !self.is_of_ablaze();
        match self.threads.filter(|threads| shares && (1..=asked).contains(threads)) {
            Some(threads) => asked - asked % threads,
            None => asked,
        }
    }

    /// Connections that were asked for: as printed, else by the command above.
    pub fn asked_connections(&self) -> Option<u64> {
        let asked = self.clients.or(self.concurrency).or_else(|| self.connections_by_command());
        asked.map(|asked| self.shared_out(asked))
    }

    fn connections_by_command(&self) -> Option<u64> {
        let (low, high) = self.command.as_ref()?.concurrency;
        (low == high && low > 0).then_some(low)
    }

    /// Requests per second that were asked for, at most, where the command above says so.
    pub fn asked_per_s(&self) -> Option<f64> {
        self.command.as_ref()?.rate_per_s
    }

    /// Requests were sent no faster than asked for: connections are a bound at most, and may be idle.
    pub fn is_paced(&self) -> bool {
        let command = self.command.as_ref();
        let is_paced = |line: &Command| line.open_loop || line.ramps || line.rate_per_s.is_some();
        self.open_loop || command.is_some_and(is_paced)
    }

    /// HTTP/1 was spoken, as the report prints it or, where it does not, the command asks for: there are no streams.
    pub fn speaks_http1(&self) -> bool {
        let asks = |line: &Command| line.words().any(|word| word == "--h1");
        match &self.protocol {
            Some(protocol) => protocol.starts_with("http/1"),
            None => self.command.as_ref().is_some_and(asks),
        }
    }

    /// Responses by status whose status is not 200 to 299.
    pub fn other_statuses(&self) -> u64 {
        let others = self.statuses.iter().filter(|(status, _)| !(200..300).contains(*status));
        others.map(|(_, responses)| *responses).fold(0, u64::saturating_add)
    }

    /// Responses in all, where hey keeps no times of the rest.
    pub fn responses_beyond_kept(&self) -> Option<u64> {
        hey::responses_beyond_kept(self)
    }

    /// A percentile of the total time, in ms.
    pub fn percentile(&self, percent: f64) -> Option<Printed> {
        self.percentiles.iter().find(|(of, _)| *of == percent).map(|(_, ms)| *ms)
    }

    /// The median of the total time: from the percentiles, else from the table of times.
    pub fn median_ms(&self) -> Option<Printed> {
        self.percentile(50.0).or_else(|| self.total.and_then(|row| row.median_ms))
    }

    /// The longest total time.
    pub fn max_ms(&self) -> Option<Printed> {
        self.total.and_then(|row| row.max_ms).or_else(|| self.percentile(100.0))
    }

    /// The mean of the total time, where the tool measured it. ab's and gurl's `Time per request`
    /// is no such thing: it is computed from the rate.
    pub fn mean_ms(&self) -> Option<Printed> {
        self.total.and_then(|row| row.mean_ms)
    }

    /// Responses per second: as printed, else from count and length.
    pub fn rate(&self) -> Option<f64> {
        self.rate_per_s.map(|rate| rate.value).or_else(|| self.rate_by_count())
    }

    /// Responses per second from count and length.
    pub fn rate_by_count(&self) -> Option<f64> {
        let taken_s = self.taken_s.filter(|taken| taken.value > 0.0)?;
        Some(self.complete? as f64 / taken_s.value)
    }

    /// Bytes received per request, head and body.
    pub fn bytes_per_request(&self) -> Option<f64> {
        let complete = self.complete.filter(|complete| *complete > 0)?;
        Some(self.total_bytes? as f64 / complete as f64)
    }

    /// Bytes of the body per request.
    pub fn body_bytes_per_request(&self) -> Option<f64> {
        let all = self.responses_beyond_kept().or(self.complete);
        let complete = all.filter(|complete| *complete > 0)?;
        Some(self.body_bytes? as f64 / complete as f64)
    }
}
