//! From the file back to a Run. What it must be is checked before it is trusted: a file from
//! elsewhere gets a sentence, never a panic.

use std::collections::BTreeMap;

use ablaze_stats::{Latency, touched};
use serde::Deserialize;

use super::address::Address;
use super::checks::{Checks, Samples};
use super::distribution::Unreadable;
use super::document::*;
use super::groups::Group;
use super::http2::Http2;
use super::http3::Http3;
use super::journeys::Journeys;
use super::proxy::Proxy;
use super::tls::Tls;
use super::{FORMAT, SavedRun, consistent, foreign, upgrade};
use crate::plan::data::Data;
use crate::plan::groups::Groups;
use crate::plan::journey::PlannedJourney;
use crate::plan::{Plan, Requests};
use crate::run::{self, Run};
use crate::{FailureKind, Record, json_error, record};

/// Why a file could not be read as a saved run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Not JSON at all, or cut off.
    #[error(
        "not JSON, or cut off (line {line}, column {column}): was the file saved completely? `ablaze explain` reads what load testers print"
    )]
    NotJson {
        /// Line of the fault, from 1.
        line: usize,
        /// Column of the fault, from 1.
        column: usize,
    },
    /// JSON, but of something else.
    #[error("JSON, but not a run saved by ablaze (with -o FILE.json)")]
    NotARun,
    /// Written by a version that knows more.
    #[error(
        "saved by ablaze {written_by} in format {format}; this version reads formats up to {FORMAT}: \
         use the version that wrote it, or a newer one"
    )]
    Newer {
        /// Format of the file.
        format: u64,
        /// Version that wrote it.
        written_by: String,
    },
    /// A saved run that was changed or damaged.
    #[error("a saved run, but damaged or changed by hand: {0}")]
    Damaged(String),
}

impl From<Unreadable> for LoadError {
    fn from(unreadable: Unreadable) -> Self {
        Self::Damaged(format!("{}: {}", unreadable.name, unreadable.reason))
    }
}

/// What every version's file begins with.
#[derive(Deserialize)]
struct Envelope {
    format: u64,
    tool: Tool,
}

pub(super) fn saved_run(text: &str) -> Result<SavedRun, LoadError> {
    let mut value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        // A line of JSON with others behind it is whole: a run has many lines.
        let first = text.split_once('\n').unwrap_or_default().0;
        match serde_json::from_str::<serde::de::IgnoredAny>(first) {
            Ok(_) => LoadError::NotARun,
            Err(_) => LoadError::NotJson { line: error.line(), column: error.column() },
        }
    })?;
    let envelope: Envelope =
        Deserialize::deserialize(&value).map_err(|_: serde_json::Error| LoadError::NotARun)?;
    if envelope.tool.name != "ablaze" || envelope.format == 0 {
        return Err(LoadError::NotARun);
    }
    if envelope.format > u64::from(FORMAT) {
        let written_by = envelope.tool.version;
        return Err(LoadError::Newer { format: envelope.format, written_by });
    }
    // From the text again: only it knows the line of what is wrong.
    let changed = foreign::make_printable(&mut value);
    let upgraded = match envelope.format < u64::from(FORMAT) {
        true => Some(upgrade::to_present(value)),
        false => changed.then_some(value),
    };
    let upgraded = upgraded.map(|value| value.to_string());
    let document: Document = serde_json::from_str(upgraded.as_deref().unwrap_or(text))
        .map_err(|error| LoadError::Damaged(json_error::in_words(&error)))?;
    let (format, tool_version) = (document.format, document.tool.version.clone());
    Ok(SavedRun { run: run(document)?, format, tool_version })
}

fn run(document: Document) -> Result<Run, LoadError> {
    consistent::check(&document)?;
    let record = record(&document)?;
    let plan = plan(&document)?;
    Ok(Run {
        plan,
        asked: document.asked,
        command_line: document.command,
        started_unix_ns: document.started_unix_ns,
        elapsed_ns: document.elapsed_ns,
        setup_ns: document.setup_ns,
        ended: match document.ended {
            Ended::Complete => run::Ended::Complete,
            Ended::Interrupted => run::Ended::Interrupted,
            Ended::Unreachable => run::Ended::Unreachable,
            Ended::Failed => run::Ended::Failed,
        },
        record,
        workers: document.workers.iter().map(effort).collect(),
        backend: run::Backend {
            name: backend_name(&document.backend.name),
            fallback_reason: document.backend.fallback_reason,
        },
        connected_to: document.connected_to,
        machine: run::Machine {
            kernel: document.machine.kernel,
            cpu_model: document.machine.cpu_model,
            cpus_allowed: document.machine.cpus_allowed,
            memory_bytes: document.machine.memory_bytes,
        },
        monitor: document.monitor,
        rate_changes: document.rate_changes,
        fleet: document.fleet,
        shards: document.shards,
        profiling: document.profile,
    })
}

fn plan(document: &Document) -> Result<Plan, LoadError> {
    let request = &document.request;
    let minor_version = match request.http_version.as_str() {
        "1.0" => 0,
        "1.1" | "2" | "3" => 1,
        other => return Err(damaged("request.http_version", &format!("`{other}` is unknown"))),
    };
    Ok(Plan {
        target: document.target.clone().restore(),
        tls: document.tls.as_ref().map(Tls::plan).transpose()?,
        http2: document.http2.as_ref().map(Http2::plan),
        http3: document.http3.as_ref().map(Http3::plan),
        requests: Requests {
            templates: Vec::new(),
            order: Vec::new(),
            origins: Vec::new(),
            method: request.method.clone(),
            minor_version,
            has_body: request.has_body,
            seed: request.seed,
            data: request.feed.as_ref().map(|feed| Data {
                name: feed.name.clone(),
                rows: feed.rows,
                order: feed.order,
                table: None,
            }),
            groups: Groups { too_many: request.groups_too_many, ..Groups::default() },
        },
        journey: request.journey.as_ref().map(|journey| PlannedJourney {
            name: journey.name.clone(),
            steps: journey.steps.clone(),
            any_status: journey.any_status.clone(),
            users: journey.users.clone(),
            route: None,
        }),
        load: document.load.restore(),
        limits: document.limits.clone().restore(),
        connections: document.connections.clone().restore(),
        workers: document.threads.clone().restore(),
        expect: request.expected_statuses.iter().map(|(low, high)| *low..=*high).collect(),
        checks: None,
        keep_every_request: false,
        part: None,
        requests_of_all: None,
        seed_of_all: None,
    })
}

fn record(document: &Document) -> Result<Record, LoadError> {
    if document.unexpected > document.responses {
        return Err(damaged("unexpected", "more than there are responses"));
    }
    let failures = failures("failed", document.failed.total, &document.failed.by_kind)?;
    let first = document.first_response.as_ref();
    let first_head = bytes("first_response.head", first.map_or("", |response| &response.head))?;
    let in_flight = &document.in_flight.integral_ns;
    Ok(Record {
        responses: document.responses,
        unexpected: document.unexpected,
        failures,
        statuses: document.statuses.clone(),
        body_lengths: document.body_lengths.clone(),
        body_lengths_other: document.body_lengths_other,
        first_body_bytes: first.and_then(|response| response.body_bytes),
        first_response_at_ns: first.map_or(0, |response| response.at_clock_ns),
        first_head,
        content_codings: document.content_codings.iter().cloned().collect(),
        reused: document.reused,
        not_kept: tally(&document.not_kept),
        repeated: document.repeated,
        repeated_after_failure: document.repeated_after_failure,
        repeated_after_announced: document.repeated_after_announced,
        repeated_after_reset: document.repeated_after_reset,
        repeated_after_surplus: document.repeated_after_surplus,
        ended_idle: document.ended_idle.load(),
        surplus: document.surplus,
        surplus_responses: document.surplus_responses,
        circumstances: document.circumstances.load(),
        awaited_close: document.awaited_close,
        left_open: document.left_open,
        closed_early: document.closed_early,
        answered_early: document.answered_early.load(),
        unfinished: document.unfinished.count,
        never_sent: document.unfinished.never_sent,
        unfinished_oldest_ns: document.unfinished.oldest_ns,
        connections_opened: document.connections_opened,
        received_bytes: document.bytes.received,
        body_bytes: document.bytes.body,
        sent_bytes: document.bytes.sent,
        answered: document.latency_ns.restore("latency_ns")?,
        failed: document.failed_latency_ns.restore("failed_latency_ns")?,
        setup_connect: document.setup_connect_ns.restore("setup_connect_ns")?,
        setup_failures: by_kind(&document.setup_failed),
        by_address: document.by_address.iter().map(Address::restore).collect(),
        setup_tls: match &document.setup_tls_ns {
            Some(times) => Some(Box::new(times.restore("setup_tls_ns")?)),
            None => None,
        },
        stream_wait: match &document.stream_wait_ns {
            Some(times) => Some(Box::new(times.restore("stream_wait_ns")?)),
            None => None,
        },
        tls: document.tls.as_ref().map(Tls::facts).transpose()?,
        http2: document.http2.as_ref().map(Http2::facts),
        http3: document.http3.as_ref().map(Http3::facts),
        proxy: document.proxy.as_ref().map(Proxy::facts),
        event_age: document.event_age_ns.restore("event_age_ns")?,
        in_flight_ns: in_flight
            .parse()
            .map_err(|_| damaged("in_flight.integral_ns", "not a whole number"))?,
        drain_ns: document.in_flight.drain_ns,
        first_failure: document.failed.first.as_ref().map(|first| record::FirstFailure {
            at_ns: first.at_clock_ns,
            kind: kind(&first.kind),
            errno: first.errno,
            connecting: first.connecting,
        }),
        first_malformed: bytes("failed.first_malformed", &document.failed.first_malformed)?,
        malformed: tally(&document.failed.malformed_by),
        stopped: stopped(&document.stopped),
        silent: record::Silent {
            count: document.unfinished.silent,
            of_warmup: document.unfinished.silent_of_warmup,
            interim: document.unfinished.silent_interim,
            connecting: document.unfinished.silent_connecting,
            longest_ns: document.unfinished.silent_longest_ns,
        },
        streamless: record::Streamless {
            timed_out: document.failed.without_stream,
            unfinished: document.unfinished.without_stream,
        },
        slices: slices(document)?,
        worker_rates: Latency::new(3),
        each_connection: None,
        groups: document.groups.iter().map(Group::restore).collect::<Result<_, _>>()?,
        journeys: document.journeys.as_ref().map(Journeys::restore).transpose()?,
        checks: document
            .checks
            .as_ref()
            .map(|checks| Checks::restore(checks, document.responses))
            .transpose()?,
        samples: document.samples.as_ref().map(Samples::restore).transpose()?,
        every_request: Vec::new(),
        faults: document.faults.iter().map(Fault::load).collect(),
    })
}

/// Reasons by their names; those of later versions are left out.
fn tally<R: record::Reason>(numbers: &BTreeMap<String, u64>) -> record::Tally<R> {
    let mut tally = record::Tally::default();
    for reason in R::ALL {
        tally.add(*reason, numbers.get(reason.key()).copied().unwrap_or(0));
    }
    tally
}

/// Failures by kind, whose sum must be `total`; `what` is the object that has them.
pub(super) fn failures(
    what: &str,
    total: u64,
    by_kind: &BTreeMap<String, u64>,
) -> Result<[u64; FailureKind::ALL.len()], LoadError> {
    let failures = self::by_kind(by_kind);
    match failures.iter().try_fold(0u64, |sum, number| sum.checked_add(*number)) {
        Some(sum) if sum == total => Ok(failures),
        _ => Err(damaged(&format!("{what}.total"), "not the sum of its kinds")),
    }
}

pub(super) fn by_kind(numbers: &BTreeMap<String, u64>) -> [u64; FailureKind::ALL.len()] {
    let mut failures = [0u64; FailureKind::ALL.len()];
    for (key, number) in numbers {
        let count = &mut failures[kind(key) as usize];
        *count = count.saturating_add(*number);
    }
    failures
}

/// The bytes that a text's characters stand for.
fn bytes(what: &str, text: &str) -> Result<Vec<u8>, LoadError> {
    let bytes: Option<Vec<u8>> = text.chars().map(|one| u8::try_from(one).ok()).collect();
    bytes.ok_or_else(|| damaged(what, "a character outside of the bytes 0 to 255"))
}

fn stopped(stopped: &Stopped) -> record::Stopped {
    record::Stopped {
        timed_out: stopped.timed_out,
        unfinished: stopped.unfinished,
        partway: stopped.partway,
        endless: stopped.endless,
        begun: stopped.begun,
        begun_without_length: stopped.begun_without_length,
        longest: stopped.longest.as_ref().map(|longest| record::StoppedResponse {
            silent_ns: longest.silent_ns,
            body_bytes: longest.body_bytes,
            missing_bytes: longest.missing_bytes,
        }),
    }
}

fn slices(document: &Document) -> Result<record::Slices, LoadError> {
    let mut slices = record::Slices::new();
    slices.slice_ns = document.slice_ns;
    for slice in &document.slices {
        let touched = touched::from_text(&slice.buckets)
            .ok_or_else(|| damaged("slices.buckets", "not a list of buckets"))?;
        let slice = record::Slice {
            responses: slice.responses,
            failures: slice.failures,
            p50_ns: slice.p50_ns,
            p99_ns: slice.p99_ns,
            max_ns: slice.max_ns,
        };
        slices.restore(slice, &touched);
    }
    Ok(slices)
}

fn effort(worker: &Worker) -> run::WorkerEffort {
    run::WorkerEffort {
        user_ns: worker.user_ns,
        system_ns: worker.system_ns,
        spun_ns: worker.spun_ns,
        busy_ns: worker.busy_ns,
        window_ns: worker.window_ns,
        system_calls: worker.system_calls,
        turns: worker.turns,
        events: worker.events,
        involuntary_switches: worker.involuntary_switches,
    }
}

/// A kind that a later version knows and this one does not is one of the others.
pub(super) fn kind(key: &str) -> FailureKind {
    let key = upgrade::kind(key);
    let known = FailureKind::ALL.into_iter().find(|kind| kind.key() == key);
    known.unwrap_or(FailureKind::Other)
}

fn backend_name(name: &str) -> &'static str {
    let known = ["io_uring", "epoll", "simulated"].into_iter().find(|known| *known == name);
    known.unwrap_or("unknown")
}

pub(super) fn damaged(what: &str, why: &str) -> LoadError {
    LoadError::Damaged(format!("{what}: {why}"))
}
