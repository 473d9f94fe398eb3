//! How long a connection may wait for input. Two ways: a coarse sweep, which costs a request the
//! store of one number; and a timer set and taken back around every wait for input, as sylar
//! does it.

use std::collections::BTreeSet;
use std::time::Duration;

use ablaze_sys::clock::monotonic_ns;

use crate::conditions::PerAccept;
use crate::options::Options;

/// What sylar allows where nothing else is said: `tcp_server.read_timeout`.
pub const SYLAR_TIMEOUT: Duration = Duration::from_secs(120);

/// Sweeps in the time of a read timeout.
const SWEEPS_PER_TIMEOUT: u64 = 16;

/// A worker's read timeouts. Each connection keeps one number for them.
#[derive(Debug)]
pub enum ReadTimeouts {
    /// Connections may wait for ever.
    Never,
    /// The number is the sweep before the last turn.
    Sweep {
        /// Time between two sweeps, ns.
        every_ns: u64,
        /// Number of sweeps so far.
        sweeps: u64,
    },
    /// The number is when the timer that is set is due; 0 if none is.
    Each {
        /// The timeout, ns.
        timeout_ns: u64,
        /// Timers by the time they are due, with the keys of connections.
        set: BTreeSet<(u64, u64)>,
    },
}

impl ReadTimeouts {
    /// As the options have it.
    pub fn new(options: &Options) -> Self {
        let ns = |timeout: Duration| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        match (options.per_accept, options.read_timeout) {
            (PerAccept::Sylar, timeout) => Self::Each {
                timeout_ns: ns(timeout.unwrap_or(SYLAR_TIMEOUT)),
                set: BTreeSet::new(),
            },
            (PerAccept::Nothing, None) => Self::Never,
            (PerAccept::Nothing, Some(timeout)) => Self::Sweep {
                every_ns: (ns(timeout) / SWEEPS_PER_TIMEOUT).max(1_000_000),
                sweeps: 0,
            },
        }
    }

    /// A connection has its turn.
    #[inline]
    pub fn turn(&mut self, number: &mut u64, key: u64) {
        match self {
            Self::Never => {}
            Self::Sweep { sweeps, .. } => *number = *sweeps,
            Self::Each { set, .. } => take_back(set, number, key),
        }
    }

    /// A connection begins to wait for input. Returns whether a timer was set for it.
    #[inline]
    pub fn wait(&mut self, number: &mut u64, key: u64) -> bool {
        match self {
            Self::Each { timeout_ns, set } => set_timer(set, number, *timeout_ns, key),
            _ => false,
        }
    }

    /// A connection is gone.
    pub fn forget(&mut self, mut number: u64, key: u64) {
        if let Self::Each { set, .. } = self {
            take_back(set, &mut number, key);
        }
    }

    /// When the first of the timers is due.
    pub fn first_due_ns(&self) -> Option<u64> {
        match self {
            Self::Each { set, .. } => set.first().map(|&(due_ns, _)| due_ns),
            _ => None,
        }
    }

    /// A connection whose timer is due at `now_ns`.
    pub fn pop(&mut self, now_ns: u64) -> Option<u64> {
        let Self::Each { set, .. } = self else { return None };
        let &(due_ns, key) = set.first()?;
        (due_ns <= now_ns).then(|| {
            set.pop_first();
            key
        })
    }

    /// Time to the next sweep, ns; nothing if there are none.
    pub fn sweep_every_ns(&self) -> Option<u64> {
        match self {
            Self::Sweep { every_ns, .. } => Some(*every_ns),
            _ => None,
        }
    }

    /// It is time for a sweep.
    pub fn begin_sweep(&mut self) {
        if let Self::Sweep { sweeps, .. } = self {
            *sweeps += 1;
        }
    }

    /// In a sweep: whether a connection that waits for input has done so for too long. Its last
    /// turn may have been just before the next sweep: that one does not count.
    pub fn is_over(&self, number: u64) -> bool {
        match self {
            Self::Sweep { sweeps, .. } => sweeps - number > SWEEPS_PER_TIMEOUT,
            _ => false,
        }
    }
}

// Out of line, so that who has no such timers pays for a comparison only.
#[inline(never)]
fn set_timer(set: &mut BTreeSet<(u64, u64)>, number: &mut u64, timeout_ns: u64, key: u64) -> bool {
    take_back(set, number, key);
    *number = monotonic_ns().saturating_add(timeout_ns);
    set.insert((*number, key))
}

#[inline(never)]
fn take_back(set: &mut BTreeSet<(u64, u64)>, number: &mut u64, key: u64) {
    if *number > 0 {
        set.remove(&(*number, key));
        *number = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_finds_who_has_waited_for_the_whole_timeout() {
        let timeout = Duration::from_millis(160);
        let options = Options { read_timeout: Some(timeout), ..Options::default() };
        let mut timeouts = ReadTimeouts::new(&options);
        assert_eq!(timeouts.sweep_every_ns(), Some(10_000_000));
        let mut number = 0;
        timeouts.begin_sweep();
        timeouts.turn(&mut number, 1);
        // 16 sweeps later, between 150 and 160 ms have passed.
        for _ in 0..16 {
            timeouts.begin_sweep();
            assert!(!timeouts.is_over(number));
        }
        timeouts.begin_sweep();
        assert!(timeouts.is_over(number));
    }

    #[test]
    fn sylars_timers_are_set_and_taken_back() {
        let options = Options { per_accept: PerAccept::Sylar, ..Options::default() };
        let mut timeouts = ReadTimeouts::new(&options);
        let (mut one, mut two) = (0, 0);
        assert!(timeouts.wait(&mut one, 1) && timeouts.wait(&mut two, 2));
        assert_eq!(timeouts.first_due_ns(), Some(one));
        timeouts.turn(&mut one, 1);
        assert_eq!((one, timeouts.first_due_ns()), (0, Some(two)));
        assert_eq!(timeouts.pop(two - 1), None);
        assert_eq!(timeouts.pop(two), Some(2));
        assert!(timeouts.wait(&mut one, 1));
        timeouts.forget(one, 1);
        assert_eq!(timeouts.first_due_ns(), None);
    }
}
