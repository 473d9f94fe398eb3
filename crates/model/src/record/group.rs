//! What is kept of one group's exchanges, beside what is kept of all of them, and groups as one.

use std::collections::BTreeMap;

use ablaze_stats::Latency;

use super::Record;
use crate::failure::FailureKind;

/// What is kept of the exchanges of one group.
///
/// An exchange counts in the group of the request that it carries, whether it was pipelined, sent again, cut off or never
/// sent. So the groups of a run add up to its whole, with two exceptions: the one failure that is counted when no
/// connection could be made before there was any request belongs to no group, and a merged record may have parts
/// without groups. [`Record::ungrouped`] says how many.
#[derive(Debug, Clone)]
pub struct GroupRecord {
    /// Its name, as in [`Groups`](crate::plan::groups::Groups).
    pub name: String,
    /// Complete responses of any status.
    pub responses: u64,
    /// Those of them outside the expected statuses.
    pub unexpected: u64,
    /// Exchanges that ended without a valid response, by kind, in the order of [`FailureKind::ALL`].
    pub failures: [u64; FailureKind::ALL.len()],
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Bytes of bodies, without chunked coding, of failed and unfinished exchanges too.
    pub body_bytes: u64,
    /// Exchanges in flight, or due and not sent, when the run ended.
    pub unfinished: u64,
    /// Times of exchanges that were answered.
    pub answered: GroupTimes,
    /// Times of exchanges that failed.
    pub failed: GroupTimes,
}

/// Times of one outcome in a group.
#[derive(Debug, Clone)]
pub struct GroupTimes {
    /// From the request's sending to the first byte of the response.
    pub wait: Latency,
    /// From sending, connecting included where the exchange had to, to the last byte.
    pub total: Latency,
    /// From when the request was due to the last byte; in open loop only.
    pub response: Option<Latency>,
}

impl GroupTimes {
    /// Empty distributions.
    pub fn new(is_open_loop: bool) -> Self {
        let response = is_open_loop.then(|| Latency::new(3));
        Self { wait: Latency::new(3), total: Latency::new(3), response }
    }

    /// The time that a user waits: the response in open loop, the total in closed loop.
    pub fn latency(&self) -> &Latency {
        self.response.as_ref().unwrap_or(&self.total)
    }

    fn merge(&mut self, other: &Self) {
        let Self { wait, total, response } = other;
        self.wait.merge(wait);
        self.total.merge(total);
        if let Some(theirs) = response {
            self.response.get_or_insert_with(|| Latency::new(3)).merge(theirs);
        }
    }
}

impl GroupRecord {
    /// An empty record of a group.
    pub fn new(name: &str, is_open_loop: bool) -> Self {
        Self {
            name: name.to_owned(),
            responses: 0,
            unexpected: 0,
            failures: [0; FailureKind::ALL.len()],
            statuses: BTreeMap::new(),
            body_bytes: 0,
            unfinished: 0,
            answered: GroupTimes::new(is_open_loop),
            failed: GroupTimes::new(is_open_loop),
        }
    }

    /// Number of failures of all kinds.
    pub fn failures_total(&self) -> u64 {
        self.failures.iter().fold(0, |sum, number| sum.saturating_add(*number))
    }

    /// Exchanges finished: responses and failures.
    pub fn finished(&self) -> u64 {
        self.responses.saturating_add(self.failures_total())
    }

    /// Responses with an expected status.
    pub fn succeeded(&self) -> u64 {
        self.responses.saturating_sub(self.unexpected)
    }

    /// Adds what was recorded of the same group elsewhere.
    fn merge(&mut self, other: Self) {
        let Self {
            name: _,
            responses,
            unexpected,
            failures,
            statuses,
            body_bytes,
            unfinished,
            answered,
            failed,
        } = other;
        self.responses += responses;
        self.unexpected += unexpected;
        for (mine, theirs) in self.failures.iter_mut().zip(failures) {
            *mine += theirs;
        }
        for (status, count) in statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.body_bytes += body_bytes;
        self.unfinished += unfinished;
        self.answered.merge(&answered);
        self.failed.merge(&failed);
    }
}

/// Adds groups to groups: those of the same name become one, the others stand behind.
pub(super) fn merge(mine: &mut Vec<GroupRecord>, theirs: Vec<GroupRecord>) {
    for (at, group) in theirs.into_iter().enumerate() {
        // Workers of one run have the same groups in the same order.
        let same = |own: &GroupRecord| own.name == group.name;
        let place = match mine.get(at) {
            Some(own) if same(own) => Some(at),
            _ => mine.iter().position(same),
        };
        match place {
            Some(place) => mine[place].merge(group),
            None => mine.push(group),
        }
    }
}

impl Record {
    /// Finished exchanges that belong to none of the groups, of a record that has groups.
    pub fn ungrouped(&self) -> u64 {
        let grouped = self.groups.iter().map(GroupRecord::finished).fold(0, u64::saturating_add);
        if self.groups.is_empty() { 0 } else { self.finished().saturating_sub(grouped) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, responses: u64) -> GroupRecord {
        let mut group = GroupRecord::new(name, false);
        group.responses = responses;
        group.unexpected = responses / 2;
        group.failures[FailureKind::Timeout as usize] = responses + 1;
        group.statuses = BTreeMap::from([(200, responses - responses / 2), (404, responses / 2)]);
        group.body_bytes = 10 * responses;
        group.unfinished = 3;
        for number in 1..=responses {
            group.answered.total.record(1_000 * number);
            group.answered.wait.record(900 * number);
        }
        (0..=responses).for_each(|_| group.failed.total.record(20_000_000));
        group
    }

    fn record(groups: Vec<GroupRecord>) -> Record {
        let mut record = Record::new();
        record.responses = groups.iter().map(|group| group.responses).sum();
        record.failures[FailureKind::Timeout as usize] =
            groups.iter().map(GroupRecord::failures_total).sum();
        record.groups = groups;
        record
    }

    #[test]
    fn groups_are_added_by_name_and_none_is_lost() {
        let mut all = record(vec![group("/a", 4), group("/b", 6)]);
        all.merge(record(vec![group("/b", 10), group("/c", 2)]));
        let names: Vec<&str> = all.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["/a", "/b", "/c"]);
        let b = &all.groups[1];
        assert_eq!((b.responses, b.unexpected, b.succeeded()), (16, 8, 8));
        assert_eq!((b.failures_total(), b.finished()), (18, 34));
        assert_eq!(b.statuses, BTreeMap::from([(200, 8), (404, 8)]));
        assert_eq!((b.body_bytes, b.unfinished), (160, 6));
        assert_eq!(b.answered.total.sum_ns(), 1_000 * (21 + 55));
        assert_eq!(b.answered.wait.count(), 16);
        assert_eq!(b.failed.total.count(), 18);
        assert_eq!((all.groups[0].responses, all.groups[2].responses), (4, 2));
        assert_eq!(all.ungrouped(), 0);
    }

    #[test]
    fn the_order_of_the_groups_does_not_matter() {
        let mut all = record(vec![group("/a", 4), group("/b", 6)]);
        all.merge(record(vec![group("/b", 1), group("/a", 2)]));
        let responses: Vec<u64> = all.groups.iter().map(|group| group.responses).collect();
        assert_eq!(responses, [6, 7]);
    }

    #[test]
    fn what_has_no_group_is_known_after_a_merge() {
        let mut without = record(vec![group("/a", 4)]);
        without.groups.clear();
        assert_eq!(without.ungrouped(), 0, "a run without groups has nothing outside of them");
        without.merge(record(vec![group("/a", 6), group("/b", 6)]));
        assert_eq!(without.groups.len(), 2);
        assert_eq!(without.ungrouped(), 9);
    }

    #[test]
    fn times_of_an_open_loop_are_added_where_only_one_side_has_them() {
        let mut closed = group("/a", 1);
        let mut open = GroupRecord::new("/a", true);
        open.answered.response.as_mut().unwrap().record(70);
        assert_eq!(open.answered.latency().max_ns(), Some(70));
        closed.merge(open);
        assert_eq!(closed.answered.response.unwrap().count(), 1);
    }
}
