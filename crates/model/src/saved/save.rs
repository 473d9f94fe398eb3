//! From the Run to the file's shape.

use std::collections::BTreeMap;

use super::FORMAT;
use super::distribution::{Distribution, PhasesOf};
use ablaze_stats::touched;

use super::address::Address;
use super::checks::{Checks, Samples};
use super::circumstances::Circumstances;
use super::document::*;
use super::early::AnsweredEarly;
use super::groups::Group;
use super::idle::EndedIdle;
use super::journeys::Journeys;
use super::plan::{Connections, Limits, Load, Target, Threads};
use super::verdict::Assessment;
use super::{http2, http3, proxy, tls};
use crate::moment::rfc3339;
use crate::run::{self, Run};
use crate::{FailureKind, Record, record};

pub(super) fn document(run: &Run, verdict: Option<Assessment>) -> Document {
    let (plan, record) = (&run.plan, &run.record);
    Document {
        format: FORMAT,
        tool: Tool { name: "ablaze".into(), version: env!("CARGO_PKG_VERSION").into() },
        command: run.command_line.clone(),
        asked: run.asked.clone(),
        started_at: rfc3339(run.started_unix_ns),
        started_unix_ns: run.started_unix_ns,
        elapsed_ns: run.elapsed_ns,
        setup_ns: run.setup_ns,
        rate_changes: run.rate_changes.clone(),
        fleet: run.fleet.clone(),
        shards: run.shards,
        ended: match run.ended {
            run::Ended::Complete => Ended::Complete,
            run::Ended::Interrupted => Ended::Interrupted,
            run::Ended::Unreachable => Ended::Unreachable,
            run::Ended::Failed => Ended::Failed,
        },
        target: Target::save(&plan.target),
        connected_to: run.connected_to.clone(),
        request: Request {
            method: plan.requests.method.clone(),
            http_version: plan.http_version(),
            has_body: plan.requests.has_body,
            seed: plan.requests.seed,
            feed: plan.requests.data.as_ref().map(|data| Feed {
                name: data.name.clone(),
                rows: data.rows,
                order: data.order,
            }),
            journey: plan.journey.as_ref().map(|journey| Journey {
                name: journey.name.clone(),
                steps: journey.steps.clone(),
                any_status: journey.any_status.clone(),
                users: journey.users.clone(),
            }),
            groups_too_many: plan.requests.groups.too_many,
            expected_statuses: plan.expect.iter().map(|r| (*r.start(), *r.end())).collect(),
        },
        load: Load::save(plan.load),
        limits: Limits::save(&plan.limits),
        connections: Connections::save(&plan.connections),
        threads: Threads::save(&plan.workers),
        backend: Backend {
            name: run.backend.name.into(),
            fallback_reason: run.backend.fallback_reason.clone(),
        },
        machine: Machine {
            kernel: run.machine.kernel.clone(),
            cpu_model: run.machine.cpu_model.clone(),
            cpus_allowed: run.machine.cpus_allowed,
            memory_bytes: run.machine.memory_bytes,
        },
        rate_per_s: run.rate_per_s(),
        responses: record.responses,
        succeeded: record.succeeded(),
        unexpected: record.unexpected,
        failed: failed(record),
        unfinished: Unfinished {
            count: record.unfinished,
            never_sent: record.never_sent,
            oldest_ns: record.unfinished_oldest_ns,
            without_stream: record.streamless.unfinished,
            silent: record.silent.count,
            silent_of_warmup: record.silent.of_warmup,
            silent_interim: record.silent.interim,
            silent_connecting: record.silent.connecting,
            silent_longest_ns: record.silent.longest_ns,
        },
        stopped: stopped(record),
        faults: record.faults.iter().map(Fault::save).collect(),
        repeated: record.repeated,
        repeated_after_failure: record.repeated_after_failure,
        repeated_after_announced: record.repeated_after_announced,
        repeated_after_reset: record.repeated_after_reset,
        repeated_after_surplus: record.repeated_after_surplus,
        ended_idle: EndedIdle::save(&record.ended_idle),
        surplus: record.surplus,
        surplus_responses: record.surplus_responses,
        circumstances: Circumstances::save(&record.circumstances),
        awaited_close: record.awaited_close,
        left_open: record.left_open,
        closed_early: record.closed_early,
        answered_early: AnsweredEarly::save(record.answered_early),
        reused: record.reused,
        not_kept: tally(&record.not_kept),
        connections_opened: record.connections_opened,
        statuses: record.statuses.clone(),
        body_lengths: record.body_lengths.clone(),
        body_lengths_other: record.body_lengths_other,
        bytes: Bytes {
            received: record.received_bytes,
            body: record.body_bytes,
            sent: record.sent_bytes,
        },
        // Also of one that did not end: what is said of it depends on its head.
        first_response: (record.responses > 0 || !record.first_head.is_empty()).then(|| {
            FirstResponse {
                at_clock_ns: record.first_response_at_ns,
                body_bytes: record.first_body_bytes,
                head: characters(&record.first_head),
            }
        }),
        content_codings: record.content_codings.iter().cloned().collect(),
        tls: tls::save(run),
        http2: http2::save(run),
        http3: http3::save(run),
        proxy: proxy::save(run),
        latency_ns: PhasesOf::save(&record.answered),
        failed_latency_ns: PhasesOf::save(&record.failed),
        setup_connect_ns: Distribution::save(&record.setup_connect),
        setup_tls_ns: record.setup_tls.as_deref().map(Distribution::save),
        setup_failed: by_kind(&record.setup_failures),
        by_address: record.by_address.iter().map(Address::save).collect(),
        stream_wait_ns: record.stream_wait.as_deref().map(Distribution::save),
        event_age_ns: Distribution::save(&record.event_age),
        in_flight: InFlight {
            mean: (run.elapsed_ns > 0).then(|| record.in_flight_ns as f64 / run.elapsed_ns as f64),
            integral_ns: record.in_flight_ns.to_string(),
            drain_ns: record.drain_ns,
        },
        workers: run.workers.iter().map(worker).collect(),
        slice_ns: record.slices.slice_ns,
        slices: record
            .slices
            .slices
            .iter()
            .enumerate()
            .map(|(at, slice)| Slice {
                responses: slice.responses,
                failures: slice.failures,
                p50_ns: slice.p50_ns,
                p99_ns: slice.p99_ns,
                max_ns: slice.max_ns,
                buckets: touched::to_text(record.slices.touched(at)),
            })
            .collect(),
        groups: record.groups.iter().map(Group::save).collect(),
        journeys: record.journeys.as_ref().map(|own| Journeys::save(own, run.elapsed_ns)),
        checks: record.checks.as_deref().map(Checks::save),
        samples: record.samples.as_deref().map(Samples::save),
        monitor: run.monitor.clone(),
        profile: run.profiling.clone(),
        verdict,
    }
}

fn failed(record: &Record) -> Failed {
    Failed {
        total: record.failures_total(),
        by_kind: by_kind(&record.failures),
        first: record.first_failure.map(|first| FirstFailure {
            kind: first.kind.key().to_string(),
            errno: first.errno,
            connecting: first.connecting,
            at_clock_ns: first.at_ns,
        }),
        first_malformed: characters(&record.first_malformed),
        malformed_by: tally(&record.malformed),
        without_stream: record.streamless.timed_out,
    }
}

/// The reasons that were met, by their names.
fn tally<R: record::Reason>(tally: &record::Tally<R>) -> BTreeMap<String, u64> {
    tally.met().map(|(reason, count)| (reason.key().to_owned(), count)).collect()
}

/// The kinds that there were any of, by their names.
pub(super) fn by_kind(failures: &[u64; FailureKind::ALL.len()]) -> BTreeMap<String, u64> {
    let numbered = FailureKind::ALL.into_iter().map(|kind| (kind, failures[kind as usize]));
    let any = numbered.filter(|(_, number)| *number > 0);
    any.map(|(kind, number)| (kind.key().to_string(), number)).collect()
}

fn stopped(record: &Record) -> Stopped {
    Stopped {
        timed_out: record.stopped.timed_out,
        unfinished: record.stopped.unfinished,
        partway: record.stopped.partway,
        endless: record.stopped.endless,
        begun: record.stopped.begun,
        begun_without_length: record.stopped.begun_without_length,
        longest: record.stopped.longest.map(|longest| StoppedResponse {
            silent_ns: longest.silent_ns,
            body_bytes: longest.body_bytes,
            missing_bytes: longest.missing_bytes,
        }),
    }
}

/// One character per byte (ISO 8859-1), so that any bytes can be given back.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn worker(effort: &run::WorkerEffort) -> Worker {
    Worker {
        user_ns: effort.user_ns,
        system_ns: effort.system_ns,
        spun_ns: effort.spun_ns,
        busy_ns: effort.busy_ns,
        window_ns: effort.window_ns,
        system_calls: effort.system_calls,
        turns: effort.turns,
        events: effort.events,
        involuntary_switches: effort.involuntary_switches,
    }
}
