//! What a worker hands over while it runs: at the end of each slice an [`Interval`] with what happened since the one
//! before. One producer, one consumer, and a few intervals that travel between them: nothing is allocated on the way, and
//! nobody waits. A reader that is late gets several slices as one.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use ablaze_model::failure::FailureKind;
use ablaze_model::progress::{GroupInterval, Interval};
use ablaze_model::record::Record;
use ablaze_stats::Latency;
use ablaze_stats::touched::{self, Touched};

use super::Recorder;
use super::groups::GroupRecorder;

/// How many intervals travel between a worker and its reader: about a second's.
const INTERVALS: usize = 12;
/// Buckets that an interval has memory for from the start; most slices touch fewer.
const TOUCHED_USUALLY: usize = 512;

/// The worker's end.
#[derive(Debug)]
pub struct Teller {
    to: SyncSender<Box<Interval>>,
    emptied: Receiver<Box<Interval>>,
    /// The one that is being filled.
    next: Box<Interval>,
    /// What has been told so far.
    told: Told,
    /// Time that the worker has watched for events so far, ns.
    spun_ns: u64,
}

/// The end of whoever follows the run.
#[derive(Debug)]
pub struct Reader {
    from: Receiver<Box<Interval>>,
    emptied: SyncSender<Box<Interval>>,
}

/// The counters as they were at the end of the last interval.
#[derive(Debug)]
struct Told {
    until_ns: u64,
    responses: u64,
    unexpected: u64,
    failures: [u64; FailureKind::ALL.len()],
    statuses: Box<[u64; 1000]>,
    connections_opened: u64,
    received_bytes: u64,
    sent_bytes: u64,
    spun_ns: u64,
    /// Responses, unexpected ones and failures of each group.
    groups: Vec<[u64; 3]>,
}

/// A worker's end, and its reader's. `groups` are those whose figures are told apart.
pub fn line(groups: usize) -> (Teller, Reader) {
    let (to, from) = sync_channel(INTERVALS);
    let (empty, emptied) = sync_channel(INTERVALS);
    for _ in 1..INTERVALS {
        // There is room for all of them, and both ends are here.
        let _ = empty.try_send(with_memory(groups));
    }
    let told = Told {
        until_ns: 0,
        responses: 0,
        unexpected: 0,
        failures: [0; FailureKind::ALL.len()],
        statuses: Box::new([0; 1000]),
        connections_opened: 0,
        received_bytes: 0,
        sent_bytes: 0,
        spun_ns: 0,
        groups: vec![[0; 3]; groups],
    };
    let teller = Teller { to, emptied, next: with_memory(groups), told, spun_ns: 0 };
    (teller, Reader { from, emptied: empty })
}

fn with_memory(groups: usize) -> Box<Interval> {
    let group = || GroupInterval { times: times(TOUCHED_USUALLY / 4), ..GroupInterval::default() };
    Box::new(Interval {
        statuses: Vec::with_capacity(16),
        times: times(TOUCHED_USUALLY),
        groups: (0..groups).map(|_| group()).collect(),
        ..Interval::default()
    })
}

fn times(capacity: usize) -> Vec<Touched> {
    Vec::with_capacity(capacity)
}

impl Teller {
    /// A slice has ended, `to_ns` after the clock started: `slice` are the times of its responses, the rest is as the
    /// counters stand now.
    pub fn slice_ended(
        &mut self,
        to_ns: u64,
        slice: &Latency,
        record: &Record,
        statuses: &[u64; 1000],
        groups: Option<&mut GroupRecorder>,
    ) {
        touched::append(slice, &mut self.next.times);
        self.next.max_ns = self.next.max_ns.max(slice.max_ns().unwrap_or(0));
        if let Some(groups) = groups {
            groups.take_slices(&mut self.next.groups);
        }
        // Without another to fill, this one goes on.
        let Ok(next) = self.emptied.try_recv() else { return };
        self.count(to_ns, record, statuses);
        let full = std::mem::replace(&mut self.next, next);
        // There are no more of them than it holds; a reader that is gone misses nothing.
        let _ = self.to.try_send(full);
    }

    /// The run is over: what was counted since the last slice, whether or not there is room for it.
    pub fn over(
        mut self,
        to_ns: u64,
        record: &Record,
        statuses: &[u64; 1000],
        groups: Option<&mut GroupRecorder>,
    ) {
        if let Some(groups) = groups {
            groups.take_slices(&mut self.next.groups);
        }
        self.count(to_ns, record, statuses);
        let Self { to, next, .. } = self;
        let _ = to.try_send(next);
    }

    /// Counters since the last interval.
    fn count(&mut self, to_ns: u64, record: &Record, statuses: &[u64; 1000]) {
        let (next, told) = (&mut *self.next, &mut self.told);
        next.from_ns = since(&mut told.until_ns, to_ns).0;
        next.to_ns = to_ns;
        next.responses = since(&mut told.responses, record.responses).1;
        next.unexpected = since(&mut told.unexpected, record.unexpected).1;
        let failures = told.failures.iter_mut().zip(record.failures);
        for (to, (told, now)) in next.failures.iter_mut().zip(failures) {
            *to = since(told, now).1;
        }
        let all = told.statuses.iter_mut().zip(statuses).enumerate();
        let changed = all.filter(|(_, (told, now))| *told != *now);
        next.statuses
            .extend(changed.map(|(status, (told, now))| (status as u16, since(told, *now).1)));
        next.connections_opened = since(&mut told.connections_opened, record.connections_opened).1;
        next.received_bytes = since(&mut told.received_bytes, record.received_bytes).1;
        next.sent_bytes = since(&mut told.sent_bytes, record.sent_bytes).1;
        next.spun_ns = since(&mut told.spun_ns, self.spun_ns).1;
        for (group, told) in next.groups.iter_mut().zip(&mut told.groups) {
            // They are told as they stand: see `take_slices`.
            let [responses, unexpected, failures] = told;
            group.responses = since(responses, group.responses).1;
            group.unexpected = since(unexpected, group.unexpected).1;
            group.failures = since(failures, group.failures).1;
        }
    }
}

/// What a counter was when it was told last, and how much has been added since; it is told now.
fn since(told: &mut u64, now: u64) -> (u64, u64) {
    let before = std::mem::replace(told, now);
    (before, now.saturating_sub(before))
}

impl Recorder {
    /// So long the worker has watched for events in the window, until now.
    pub fn watched_so_far(&mut self, spun_ns: u64) {
        if let Some(teller) = &mut self.teller {
            teller.spun_ns = spun_ns;
        }
    }

    /// The slice that ends at `end_ns` is handed over, if somebody follows the run.
    pub(super) fn tell_slice(&mut self, end_ns: u64) {
        if let Some(teller) = &mut self.teller {
            let to_ns = end_ns.saturating_sub(self.window_start_ns);
            let groups = self.groups.as_deref_mut();
            teller.slice_ended(to_ns, &self.slice, &self.record, &self.statuses, groups);
        }
    }

    /// The run is over: hands over what no slice had.
    pub(super) fn tell_the_rest(&mut self) {
        if let Some(teller) = self.teller.take() {
            let until_ns = self.last_finish_ns.max(self.slice_start_ns);
            let to_ns = until_ns.saturating_sub(self.window_start_ns);
            teller.over(to_ns, &self.record, &self.statuses, self.groups.as_deref_mut());
        }
    }
}

/// What came of a look at a worker's intervals.
pub enum Read {
    /// There is none at present.
    Nothing,
    /// The worker has ended, and all have been read.
    Ended,
}

impl Reader {
    /// Shows all intervals that there are.
    pub fn read(&self, mut show: impl FnMut(&Interval)) -> Read {
        loop {
            match self.from.try_recv() {
                Ok(mut interval) => {
                    show(&interval);
                    interval.clear();
                    let _ = self.emptied.try_send(interval);
                }
                Err(TryRecvError::Empty) => return Read::Nothing,
                Err(TryRecvError::Disconnected) => return Read::Ended,
            }
        }
    }
}
