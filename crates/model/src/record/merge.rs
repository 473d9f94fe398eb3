//! An empty record, and two records as one: across the threads of a run, and across machines.

use std::collections::BTreeMap;

use ablaze_stats::Latency;

use super::{
    AddressRecord, AnsweredEarly, Circumstances, EndedIdle, Phases, Record, Silent, Slices,
    Stopped, Streamless, Tally, group,
};
use crate::failure::FailureKind;

impl Record {
    /// An empty record.
    pub fn new() -> Self {
        Self {
            responses: 0,
            unexpected: 0,
            failures: [0; FailureKind::ALL.len()],
            statuses: Default::default(),
            body_lengths: Default::default(),
            body_lengths_other: 0,
            first_body_bytes: None,
            first_response_at_ns: 0,
            first_head: Vec::new(),
            content_codings: Default::default(),
            reused: 0,
            not_kept: Tally::default(),
            repeated: 0,
            repeated_after_failure: 0,
            repeated_after_announced: 0,
            repeated_after_reset: 0,
            repeated_after_surplus: 0,
            ended_idle: EndedIdle::default(),
            surplus: 0,
            surplus_responses: 0,
            awaited_close: 0,
            left_open: 0,
            closed_early: 0,
            answered_early: AnsweredEarly::default(),
            unfinished: 0,
            never_sent: 0,
            unfinished_oldest_ns: 0,
            connections_opened: 0,
            received_bytes: 0,
            body_bytes: 0,
            sent_bytes: 0,
            answered: Phases::new(),
            failed: Phases::new(),
            setup_connect: Latency::new(3),
            setup_tls: None,
            setup_failures: [0; FailureKind::ALL.len()],
            by_address: Vec::new(),
            stream_wait: None,
            tls: None,
            http2: None,
            http3: None,
            proxy: None,
            event_age: Latency::new(3),
            in_flight_ns: 0,
            drain_ns: None,
            first_failure: None,
            first_malformed: Vec::new(),
            malformed: Tally::default(),
            stopped: Stopped::default(),
            silent: Silent::default(),
            streamless: Streamless::default(),
            circumstances: Circumstances::default(),
            slices: Slices::new(),
            worker_rates: Latency::new(3),
            groups: Vec::new(),
            journeys: None,
            checks: None,
            samples: None,
            each_connection: None,
            every_request: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Adds what another worker recorded over the same window.
    pub fn merge(&mut self, other: Self) {
        // Every field by name: one that is added later and forgotten here does not compile.
        let Self {
            responses,
            unexpected,
            failures,
            statuses,
            body_lengths,
            body_lengths_other,
            first_body_bytes,
            first_response_at_ns,
            first_head,
            content_codings,
            reused,
            not_kept,
            repeated,
            repeated_after_failure,
            repeated_after_announced,
            repeated_after_reset,
            repeated_after_surplus,
            ended_idle,
            surplus,
            surplus_responses,
            awaited_close,
            left_open,
            closed_early,
            answered_early,
            unfinished,
            never_sent,
            unfinished_oldest_ns,
            connections_opened,
            received_bytes,
            body_bytes,
            sent_bytes,
            answered,
            failed,
            setup_connect,
            setup_tls,
            setup_failures,
            by_address,
            stream_wait,
            tls,
            http2,
            http3,
            proxy,
            event_age,
            in_flight_ns,
            drain_ns,
            first_failure,
            first_malformed,
            malformed,
            stopped,
            silent,
            streamless,
            circumstances,
            slices,
            worker_rates,
            groups,
            journeys,
            checks,
            samples,
            each_connection,
            every_request,
            faults,
        } = other;
        self.merge_first_response(first_body_bytes, first_response_at_ns, first_head);
        self.merge_body_lengths(body_lengths, body_lengths_other);
        self.first_failure = match (self.first_failure, first_failure) {
            (Some(mine), Some(theirs)) if theirs.at_ns < mine.at_ns => Some(theirs),
            (mine, theirs) => mine.or(theirs),
        };
        if self.first_malformed.is_empty() {
            self.first_malformed = first_malformed;
        }
        self.malformed.merge(malformed);
        self.not_kept.merge(not_kept);
        self.stopped.merge(stopped);
        self.silent.merge(silent);
        self.streamless.merge(streamless);
        self.circumstances.merge(circumstances);
        self.responses += responses;
        self.unexpected += unexpected;
        for (mine, theirs) in self.failures.iter_mut().zip(failures) {
            *mine += theirs;
        }
        for (status, count) in statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        for coding in content_codings {
            self.add_content_coding(coding);
        }
        self.reused += reused;
        self.repeated += repeated;
        self.repeated_after_failure += repeated_after_failure;
        self.repeated_after_announced += repeated_after_announced;
        self.repeated_after_reset += repeated_after_reset;
        self.repeated_after_surplus += repeated_after_surplus;
        self.ended_idle.merge(ended_idle);
        self.surplus += surplus;
        self.surplus_responses += surplus_responses;
        self.awaited_close += awaited_close;
        self.left_open += left_open;
        self.closed_early += closed_early;
        self.answered_early.merge(answered_early);
        self.unfinished += unfinished;
        self.never_sent += never_sent;
        self.unfinished_oldest_ns = self.unfinished_oldest_ns.max(unfinished_oldest_ns);
        self.connections_opened += connections_opened;
        self.received_bytes += received_bytes;
        self.body_bytes += body_bytes;
        self.sent_bytes += sent_bytes;
        self.answered.merge(&answered);
        self.failed.merge(&failed);
        self.setup_connect.merge(&setup_connect);
        for (mine, theirs) in self.setup_failures.iter_mut().zip(setup_failures) {
            *mine += theirs;
        }
        AddressRecord::merge(&mut self.by_address, by_address);
        if let Some(theirs) = setup_tls {
            self.setup_tls.get_or_insert_with(|| Box::new(Latency::new(3))).merge(&theirs);
        }
        if let Some(theirs) = stream_wait {
            self.stream_wait.get_or_insert_with(|| Box::new(Latency::new(3))).merge(&theirs);
        }
        if let Some(theirs) = tls {
            self.tls.get_or_insert_default().merge(*theirs);
        }
        if let Some(theirs) = http2 {
            self.http2.get_or_insert_default().merge(*theirs);
        }
        if let Some(theirs) = http3 {
            self.http3.get_or_insert_default().merge(*theirs);
        }
        if let Some(theirs) = proxy {
            self.proxy.get_or_insert_default().merge(*theirs);
        }
        self.event_age.merge(&event_age);
        self.in_flight_ns += in_flight_ns;
        self.drain_ns = self.drain_ns.max(drain_ns);
        self.slices.merge(slices);
        self.worker_rates.merge(&worker_rates);
        if let Some(theirs) = each_connection {
            self.each_connection.get_or_insert_default().merge(&theirs);
        }
        group::merge(&mut self.groups, groups);
        match (&mut self.journeys, journeys) {
            (Some(own), Some(theirs)) => own.merge(*theirs),
            (own @ None, theirs) => *own = theirs,
            (Some(_), None) => {}
        }
        if let Some(theirs) = checks {
            self.checks.get_or_insert_default().merge(*theirs);
        }
        if let Some(theirs) = samples {
            self.samples.get_or_insert_default().merge(*theirs);
        }
        self.every_request.extend(every_request);
        self.faults.extend(faults);
    }

    /// Keeps the response that was complete first, of mine and theirs.
    fn merge_first_response(&mut self, body_bytes: Option<u64>, at_ns: u64, head: Vec<u8>) {
        let theirs_is_first = match (self.first_body_bytes, body_bytes) {
            (None, _) => true,
            (_, None) => false,
            _ => at_ns < self.first_response_at_ns,
        };
        if theirs_is_first {
            self.first_body_bytes = body_bytes;
            self.first_response_at_ns = at_ns;
            if !head.is_empty() {
                self.first_head = head;
            }
        }
    }

    fn merge_body_lengths(&mut self, lengths: BTreeMap<u64, u64>, other: u64) {
        for (length, count) in lengths {
            self.add_body_length(length, count);
        }
        self.body_lengths_other += other;
    }

    /// Adds a content coding.
    pub fn add_content_coding(&mut self, coding: String) {
        if self.content_codings.len() < Self::CODINGS_KEPT {
            self.content_codings.insert(coding);
        }
    }

    /// Adds `times` responses with a body of this length.
    pub fn add_body_length(&mut self, body_bytes: u64, times: u64) {
        if self.body_lengths.len() < Self::BODY_LENGTHS_KEPT
            || self.body_lengths.contains_key(&body_bytes)
        {
            *self.body_lengths.entry(body_bytes).or_default() += times;
        } else {
            self.body_lengths_other += times;
        }
    }
}

impl Default for Record {
    fn default() -> Self {
        Self::new()
    }
}
