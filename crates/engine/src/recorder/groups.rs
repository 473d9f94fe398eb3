//! Keeps apart what happened to each group of requests, beside what the recorder keeps of all. All memory is
//! reserved before the run.

use ablaze_model::failure::FailureKind;
use ablaze_model::plan::Plan;
use ablaze_model::progress::GroupInterval;
use ablaze_model::record::GroupRecord;
use ablaze_stats::Latency;
use ablaze_stats::touched;

use crate::connection::Exchange;

/// What one worker keeps of each group.
#[derive(Debug)]
pub(crate) struct GroupRecorder {
    /// The group of each template.
    of_templates: Box<[u32]>,
    groups: Vec<GroupRecord>,
    /// Responses of each group by status.
    statuses: Vec<[u64; 1000]>,
    /// Times of the responses of each group in the slice under way; empty unless somebody follows the run.
    slices: Vec<Latency>,
}

impl GroupRecorder {
    /// For one worker; `None` where the Plan has no groups.
    pub fn of(plan: &Plan) -> Option<Box<Self>> {
        let groups = &plan.requests.groups;
        if groups.names.is_empty() {
            return None;
        }
        let is_open_loop = plan.load.is_open();
        let record = |name: &String| GroupRecord::new(name, is_open_loop);
        Some(Box::new(Self {
            of_templates: groups.of_templates.clone().into(),
            groups: groups.names.iter().map(record).collect(),
            statuses: vec![[0; 1000]; groups.names.len()],
            slices: Vec::new(),
        }))
    }

    /// Somebody follows the run: figures of each slice, too.
    pub fn keep_slices(&mut self) {
        self.slices = self.groups.iter().map(|_| Latency::new(touched::DIGITS)).collect();
    }

    /// A slice has ended: its times are added to those of `to`, and the counters put there as they stand.
    pub fn take_slices(&mut self, to: &mut [GroupInterval]) {
        for ((slice, group), to) in self.slices.iter_mut().zip(&self.groups).zip(to) {
            touched::append(slice, &mut to.times);
            slice.clear();
            to.responses = group.responses;
            to.unexpected = group.unexpected;
            to.failures = group.failures_total();
        }
    }

    /// The window opens: bytes of bodies that came before do not count.
    pub fn open_window(&mut self) {
        self.groups.iter_mut().for_each(|group| group.body_bytes = 0);
    }

    /// Bytes of a body came for a request of this template.
    pub fn add_body(&mut self, template: u32, body_bytes: u64) {
        let index = self.index(template);
        self.groups[index].body_bytes += body_bytes;
    }

    /// An exchange was answered at `at`; `status` is below 1000.
    pub fn answered(&mut self, exchange: &Exchange, at: u64, status: usize, expected: bool) {
        let index = self.index(exchange.template);
        let group = &mut self.groups[index];
        group.responses += 1;
        group.unexpected += u64::from(!expected);
        self.statuses[index][status] += 1;
        let times = &mut group.answered;
        times.wait.record(exchange.first_byte_ns.saturating_sub(exchange.sent_ns));
        let mut time_ns = at.saturating_sub(exchange.started_ns);
        times.total.record(time_ns);
        if let Some(response) = &mut times.response {
            time_ns = at.saturating_sub(exchange.intended_ns);
            response.record(time_ns);
        }
        if let Some(slice) = self.slices.get_mut(index) {
            slice.record(time_ns);
        }
    }

    /// An exchange ended at `at` without a valid response.
    pub fn failed(&mut self, exchange: &Exchange, at: u64, kind: FailureKind) {
        let index = self.index(exchange.template);
        let group = &mut self.groups[index];
        group.failures[kind as usize] += 1;
        let times = &mut group.failed;
        times.total.record(at.saturating_sub(exchange.started_ns));
        if exchange.first_byte_ns > 0 {
            times.wait.record(exchange.first_byte_ns.saturating_sub(exchange.sent_ns));
        }
        if let Some(response) = &mut times.response {
            response.record(at.saturating_sub(exchange.intended_ns));
        }
    }

    /// An exchange was in flight when the run ended.
    pub fn unfinished(&mut self, exchange: &Exchange) {
        let index = self.index(exchange.template);
        self.groups[index].unfinished += 1;
    }

    /// The run is over: everything recorded.
    pub fn finish(mut self) -> Vec<GroupRecord> {
        for (group, statuses) in self.groups.iter_mut().zip(&self.statuses) {
            let any = statuses.iter().enumerate().filter(|(_, count)| **count > 0);
            group.statuses = any.map(|(status, count)| (status as u16, *count)).collect();
        }
        self.groups
    }

    fn index(&self, template: u32) -> usize {
        self.of_templates[template as usize] as usize
    }
}
