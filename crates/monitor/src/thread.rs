//! A thread of a watched process: how long it ran, and how long it waited for a processor.

use std::collections::VecDeque;

use ablaze_model::monitor::{Shares, Thread};

use crate::proc_text::name_in;
use crate::series::Series;

/// Number of readings that count as the last ones.
const LATELY: usize = 5;
/// So many of the last readings are kept, more than a second's.
const LATEST: usize = 24;

/// A thread under watch.
#[derive(Debug)]
pub(crate) struct WatchedThread {
    name: String,
    looks: u64,
    accounts: Series<Account>,
    /// The last readings, all of them: the others are fewer the longer it is watched.
    latest: VecDeque<(u64, Account)>,
}

/// The scheduler's account of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    pub cpu_ns: u64,
    pub waited_ns: u64,
}

impl WatchedThread {
    pub(crate) fn new() -> Self {
        Self {
            name: String::new(),
            looks: 0,
            accounts: Series::new(),
            latest: VecDeque::with_capacity(LATEST + 1),
        }
    }

    pub(crate) fn look(&mut self, at_ns: u64, account: Account, folder: &str) {
        self.accounts.add(at_ns, account);
        self.latest.push_back((at_ns, account));
        if self.latest.len() > LATEST {
            self.latest.pop_front();
        }
        self.looks += 1;
        // A thread gives itself a name after it has begun.
        if self.looks <= 2 {
            self.name = name_in(folder).unwrap_or_default();
        }
    }

    /// The share of a core that it used between two of the last readings, at most: the very last may lie behind
    /// the end of the load. Interrupts that its packets cause may be missing in that, a fifth of it
    /// over loopback.
    pub(crate) fn most_lately(&self) -> f64 {
        let readings = self.accounts.within((0, u64::MAX));
        let lately = &readings[readings.len().saturating_sub(LATELY)..];
        shares(lately).fold(0.0, f64::max)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The share of a core that it has used since then; `None` for fewer than two readings.
    pub(crate) fn share_since(&self, from_ns: u64) -> Option<f64> {
        let last = self.latest.back()?;
        let first = self.latest.iter().find(|(at_ns, _)| *at_ns >= from_ns)?;
        let length_ns = last.0.checked_sub(first.0).filter(|length_ns| *length_ns > 0)?;
        Some(last.1.cpu_ns.saturating_sub(first.1.cpu_ns) as f64 / length_ns as f64)
    }

    /// What was seen in the window; `None` for fewer than two readings.
    pub(crate) fn seen(&self, tid: u32, window_ns: (u64, u64)) -> Option<Thread> {
        let readings = self.accounts.within(window_ns);
        let (first, last) = readings.first().zip(readings.last())?;
        let shares: Vec<f64> = shares(readings).collect();
        Some(Thread {
            tid,
            name: self.name.clone(),
            cpu_ns: last.1.cpu_ns.saturating_sub(first.1.cpu_ns),
            waited_ns: last.1.waited_ns.saturating_sub(first.1.waited_ns),
            share: Shares {
                min: shares.iter().copied().reduce(f64::min)?,
                max: shares.iter().copied().reduce(f64::max)?,
                last: *shares.last()?,
            },
        })
    }
}

/// The shares of a core between each two readings.
fn shares(readings: &[(u64, Account)]) -> impl Iterator<Item = f64> {
    readings.windows(2).map(|pair| {
        let ((before_ns, before), (at_ns, now)) = (pair[0], pair[1]);
        now.cpu_ns.saturating_sub(before.cpu_ns) as f64 / (at_ns - before_ns).max(1) as f64
    })
}

/// schedstat: `time on a processor, time waiting for one, turns`, times in ns.
pub(crate) fn account_of(schedstat: &str) -> Option<Account> {
    let mut numbers = schedstat.split_whitespace().map(str::parse);
    Some(Account { cpu_ns: numbers.next()?.ok()?, waited_ns: numbers.next()?.ok()? })
}
