//! A Run of what is known of one that goes on: with it, the sections of the finished page show it before its end.

use ablaze_model::plan::{Plan, Requests};
use ablaze_model::progress::{GroupInterval, Progress};
use ablaze_model::rate_change::RateChange;
use ablaze_model::record::{GroupRecord, Intended, Record};
use ablaze_model::run::{Backend, Ended, Machine};
use ablaze_model::{FailureKind, Run};
use ablaze_stats::{Latency, touched};

use super::over_time::OverTime;

/// What is known of a run that goes on.
#[derive(Debug, Clone)]
pub struct SoFar {
    run: Run,
    over_time: OverTime,
}

impl SoFar {
    /// Of a run of this plan, before its first request.
    pub fn of(plan: &Plan) -> Self {
        let mut record = Record::new();
        if plan.load.is_open() {
            record.answered.intended = Some(Box::default());
        }
        let names = &plan.requests.groups.names;
        record.groups =
            names.iter().map(|name| GroupRecord::new(name, plan.load.is_open())).collect();
        let run = Run {
            plan: without_requests(plan),
            asked: None,
            command_line: Vec::new(),
            started_unix_ns: 0,
            elapsed_ns: 0,
            setup_ns: 0,
            ended: Ended::Complete,
            record,
            workers: Vec::new(),
            backend: Backend { name: "", fallback_reason: None },
            connected_to: String::new(),
            machine: Machine::default(),
            monitor: None,
            rate_changes: Vec::new(),
            shards: None,
            profiling: None,
            fleet: None,
        };
        Self { run, over_time: OverTime::default() }
    }

    /// The run got on: adds what came since this was called last.
    pub fn hear(&mut self, progress: &Progress) {
        progress.news.iter().for_each(|piece| self.over_time.hear(piece));
    }

    /// Everything that is known, as a Run. Its distributions are those of the totals (closed loop) or of the response times
    /// (open loop), in buckets that are 1 % wide; it has no phases, no bodies and no monitor.
    pub fn run(&mut self, progress: &Progress, rate_changes: Vec<RateChange>) -> &Run {
        let Run { record, elapsed_ns, rate_changes: changes, .. } = &mut self.run;
        let so_far = &progress.so_far;
        // As of the last slice that is whole, of which the counts are.
        (*elapsed_ns, *changes) = (so_far.to_ns, rate_changes);
        record.slices = self.over_time.slices();
        record.responses = so_far.responses;
        record.unexpected = so_far.unexpected;
        record.failures = so_far.failures;
        record.statuses = so_far.statuses.iter().copied().collect();
        record.connections_opened = so_far.connections_opened;
        (record.received_bytes, record.sent_bytes) = (so_far.received_bytes, so_far.sent_bytes);
        let times = touched::latency(&so_far.times);
        match &mut record.answered.intended {
            Some(intended) => **intended = Intended { response: times, ..Intended::default() },
            None => record.answered.total = times,
        }
        for (group, heard) in record.groups.iter_mut().zip(&so_far.groups) {
            of_group(group, heard);
        }
        &self.run
    }
}

fn of_group(group: &mut GroupRecord, heard: &GroupInterval) {
    group.responses = heard.responses;
    group.unexpected = heard.unexpected;
    // Which kinds of failures a group had is told at the end: here only their number is shown.
    group.failures = [0; FailureKind::ALL.len()];
    group.failures[0] = heard.failures;
    let times: Latency = touched::latency(&heard.times);
    match &mut group.answered.response {
        Some(response) => *response = times,
        None => group.answered.total = times,
    }
}

/// The plan without the bytes of its requests, of which there may be a hundred megabytes.
fn without_requests(plan: &Plan) -> Plan {
    let requests = &plan.requests;
    Plan {
        target: plan.target.clone(),
        tls: None,
        http2: plan.http2,
        http3: plan.http3,
        requests: Requests {
            templates: Vec::new(),
            order: Vec::new(),
            origins: Vec::new(),
            method: requests.method.clone(),
            minor_version: requests.minor_version,
            has_body: requests.has_body,
            seed: requests.seed,
            groups: requests.groups.clone(),
            data: None,
        },
        journey: None,
        load: plan.load,
        limits: plan.limits.clone(),
        connections: plan.connections.clone(),
        workers: plan.workers.clone(),
        expect: plan.expect.clone(),
        checks: None,
        keep_every_request: false,
        part: plan.part,
        requests_of_all: plan.requests_of_all,
        seed_of_all: plan.seed_of_all,
    }
}
