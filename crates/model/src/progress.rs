//! How far a run is that is under way: what the progress line, live views, exporters and other machines are told about
//! ten times a second. The engine's workers hand over [`Interval`]s; [`Progress`] adds them up.

use std::collections::VecDeque;

use ablaze_stats::touched::{self, Touched};

use crate::failure::FailureKind;

/// What happened in a piece of a run's time. All numbers are those of this piece alone, so that the pieces of threads, of
/// machines and of time add up to the whole: in any order, and without loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// Where it begins, ns from the start of the clock.
    pub from_ns: u64,
    /// Where it ends, ns from the start of the clock.
    pub to_ns: u64,
    /// Complete responses of any status.
    pub responses: u64,
    /// Those of them outside the expected statuses.
    pub unexpected: u64,
    /// Exchanges that ended without a valid response, by kind, in the order of [`FailureKind::ALL`].
    pub failures: [u64; FailureKind::ALL.len()],
    /// Responses by status, in ascending order of statuses.
    pub statuses: Vec<(u16, u64)>,
    /// Connections opened.
    pub connections_opened: u64,
    /// Bytes received above TCP.
    pub received_bytes: u64,
    /// Bytes of requests handed to the kernel.
    pub sent_bytes: u64,
    /// Time that the threads which send and receive watched for events with nothing else to do, ns: of all of them together.
    pub spun_ns: u64,
    /// The buckets that the times of its responses fell in, in ascending order: total times in closed loop, response
    /// times in open loop.
    pub times: Vec<Touched>,
    /// The longest of these times, ns; 0 where there are none.
    pub max_ns: u64,
    /// The same of each group, in the order of the Plan; empty where the run has none, or more than
    /// [`Interval::GROUPS_MAX`].
    pub groups: Vec<GroupInterval>,
}

impl Default for Interval {
    /// Nothing happened, in no time.
    fn default() -> Self {
        Self {
            from_ns: 0,
            to_ns: 0,
            responses: 0,
            unexpected: 0,
            failures: [0; FailureKind::ALL.len()],
            statuses: Vec::new(),
            connections_opened: 0,
            received_bytes: 0,
            sent_bytes: 0,
            spun_ns: 0,
            times: Vec::new(),
            max_ns: 0,
            groups: Vec::new(),
        }
    }
}

/// What happened to one group in a piece of a run's time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupInterval {
    /// Complete responses of any status.
    pub responses: u64,
    /// Those of them outside the expected statuses.
    pub unexpected: u64,
    /// Exchanges that ended without a valid response.
    pub failures: u64,
    /// The buckets that the times of its responses fell in, in ascending order.
    pub times: Vec<Touched>,
}

/// The stages of a run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Stage {
    /// Connections are opened, users prepare, the server is warmed up.
    #[default]
    Preparing,
    /// The clock runs.
    Measuring,
    /// The run has ended.
    Over,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Its stage.
    pub stage: Stage,
    /// Time since the clock started, ns.
    pub elapsed_ns: u64,
    /// Everything so far: as of the last slice that all workers have ended. When the run is over, everything.
    pub so_far: Interval,
    /// The pieces that came since the watcher was told last, in order of time.
    pub news: Vec<Interval>,
    /// The last pieces, as many as make up [`Progress::RECENT_NS`].
    recent: VecDeque<Interval>,
}

impl Interval {
    /// Runs of more groups have no figures of groups while they run: handing them over would cost the workers more than it
    /// tells anyone.
    pub const GROUPS_MAX: usize = 64;

    /// Number of failures of all kinds.
    pub fn failures_total(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Exchanges finished: responses and failures.
    pub fn finished(&self) -> u64 {
        self.responses + self.failures_total()
    }

    /// Its length, ns.
    pub fn length_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    /// Responses per second; 0 where it has no length.
    pub fn rate_per_s(&self) -> f64 {
        match self.length_ns() {
            0 => 0.0,
            length_ns => self.responses as f64 * 1e9 / length_ns as f64,
        }
    }

    /// The time that a share `q` (0 to 1) of its responses took at most, ns; `None` where there are none.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        // A bucket's highest value can be above everything that was seen.
        touched::quantile_ns(&self.times, q).map(|time_ns| time_ns.min(self.max_ns))
    }

    /// Adds what happened elsewhere, or at another time.
    pub fn add(&mut self, other: &Self) {
        let Self {
            from_ns,
            to_ns,
            responses,
            unexpected,
            failures,
            statuses,
            connections_opened,
            received_bytes,
            sent_bytes,
            spun_ns,
            times,
            max_ns,
            groups,
        } = other;
        let was_empty = self.to_ns == 0;
        self.from_ns = if was_empty { *from_ns } else { self.from_ns.min(*from_ns) };
        self.to_ns = self.to_ns.max(*to_ns);
        self.responses += responses;
        self.unexpected += unexpected;
        for (mine, theirs) in self.failures.iter_mut().zip(failures) {
            *mine += theirs;
        }
        for &(status, count) in statuses {
            match self.statuses.binary_search_by_key(&status, |(status, _)| *status) {
                Ok(at) => self.statuses[at].1 += count,
                Err(at) => self.statuses.insert(at, (status, count)),
            }
        }
        self.connections_opened += connections_opened;
        self.received_bytes += received_bytes;
        self.sent_bytes += sent_bytes;
        self.spun_ns += spun_ns;
        add_times(&mut self.times, times);
        self.max_ns = self.max_ns.max(*max_ns);
        if self.groups.len() < groups.len() {
            self.groups.resize_with(groups.len(), GroupInterval::default);
        }
        for (mine, theirs) in self.groups.iter_mut().zip(groups) {
            mine.add(theirs);
        }
    }

    /// Empties it for what comes next, and keeps its memory.
    pub fn clear(&mut self) {
        let Self { statuses, times, groups, .. } = self;
        let (mut statuses, mut times) = (std::mem::take(statuses), std::mem::take(times));
        let mut groups = std::mem::take(groups);
        statuses.clear();
        times.clear();
        for group in &mut groups {
            let mut times = std::mem::take(&mut group.times);
            times.clear();
            *group = GroupInterval { times, ..GroupInterval::default() };
        }
        *self = Self { statuses, times, groups, ..Self::default() };
    }
}

impl GroupInterval {
    /// The time that a share `q` (0 to 1) of its responses took at most, ns; `None` where there are none.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        touched::quantile_ns(&self.times, q)
    }

    fn add(&mut self, other: &Self) {
        let Self { responses, unexpected, failures, times } = other;
        self.responses += responses;
        self.unexpected += unexpected;
        self.failures += failures;
        add_times(&mut self.times, times);
    }
}

/// Adds buckets to others. Those that come may be those of several slices, one behind the other.
fn add_times(to: &mut Vec<Touched>, times: &[Touched]) {
    if !times.is_empty() {
        *to = touched::added(to, times);
    }
}

impl Progress {
    /// How far back "recent" goes.
    pub const RECENT_NS: u64 = 1_000_000_000;

    /// A piece came; the pieces come in order of time.
    pub fn hear(&mut self, interval: Interval) {
        self.so_far.add(&interval);
        self.recent.push_back(interval.clone());
        let from_ns = interval.to_ns.saturating_sub(Self::RECENT_NS);
        while self.recent.front().is_some_and(|oldest| oldest.to_ns <= from_ns) {
            self.recent.pop_front();
        }
        self.news.push(interval);
    }

    /// The watcher has been told: what comes now is new.
    pub fn told(&mut self) {
        self.news.clear();
    }

    /// The last second as one piece; shorter at the start.
    pub fn recent(&self) -> Interval {
        let mut recent = Interval::default();
        self.recent.iter().for_each(|interval| recent.add(interval));
        recent
    }

    /// Whether the clock runs or has run.
    pub fn has_started(&self) -> bool {
        self.stage > Stage::Preparing
    }
}

#[cfg(test)]
mod tests {
    use ablaze_stats::Latency;
    use proptest::prelude::*;

    use super::*;

    fn piece(from_ns: u64, times: &[u64]) -> Interval {
        let mut latency = Latency::new(touched::DIGITS);
        times.iter().for_each(|time| latency.record(*time));
        let mut piece = Interval {
            from_ns,
            to_ns: from_ns + 100_000_000,
            responses: times.len() as u64,
            max_ns: times.iter().copied().max().unwrap_or(0),
            statuses: vec![(200, times.len() as u64)],
            ..Interval::default()
        };
        touched::append(&latency, &mut piece.times);
        piece
    }

    proptest! {
        #[test]
        fn pieces_in_any_order_are_what_one_recorder_would_have(
            pieces in prop::collection::vec(prop::collection::vec(1..10_000_000u64, 0..30), 1..6),
            rotation in 0..6usize,
        ) {
            let all: Vec<u64> = pieces.concat();
            let mut sum = Interval::default();
            let mut rotated: Vec<_> = pieces.iter().enumerate().collect();
            let rotation = rotation % rotated.len();
            rotated.rotate_left(rotation);
            for (at, times) in rotated {
                sum.add(&piece(at as u64 * 100_000_000, times));
            }
            let whole = piece(0, &all);
            prop_assert_eq!(&sum.times, &whole.times);
            prop_assert_eq!(sum.responses, whole.responses);
            prop_assert_eq!(sum.max_ns, whole.max_ns);
            prop_assert_eq!(&sum.statuses, &whole.statuses);
            prop_assert_eq!((sum.from_ns, sum.to_ns), (0, pieces.len() as u64 * 100_000_000));
        }
    }

    #[test]
    fn slices_that_come_one_behind_the_other_are_one() {
        // A worker whose reader is late appends the buckets of several slices.
        let mut late = piece(0, &[10, 20]);
        late.times.extend(piece(0, &[10]).times);
        let mut sum = Interval::default();
        sum.add(&late);
        assert_eq!(sum.times, piece(0, &[10, 10, 20]).times);
    }

    #[test]
    fn recent_is_the_last_second_and_news_what_came_since_the_watcher_was_told() {
        let mut progress = Progress::default();
        for at in 0..15 {
            progress.hear(piece(at * 100_000_000, &[1_000 * (at + 1); 10]));
        }
        let recent = progress.recent();
        assert_eq!((recent.from_ns, recent.to_ns), (500_000_000, 1_500_000_000));
        assert_eq!((recent.responses, progress.so_far.responses), (100, 150));
        assert!((recent.rate_per_s() - 100.0).abs() < 1e-9);
        assert_eq!(recent.quantile_ns(1.0), Some(15_000));
        assert_eq!(progress.news.len(), 15);
        progress.told();
        progress.hear(piece(1_500_000_000, &[]));
        assert_eq!(progress.news.len(), 1);
    }

    #[test]
    fn cleared_it_is_as_new() {
        let mut interval = piece(5, &[1, 2]);
        interval.groups = vec![GroupInterval {
            responses: 2,
            times: interval.times.clone(),
            ..GroupInterval::default()
        }];
        interval.clear();
        let fresh = Interval { groups: vec![GroupInterval::default()], ..Interval::default() };
        assert_eq!(interval, fresh);
    }
}
