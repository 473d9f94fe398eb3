//! Open loop: when each request is due, whether or not responses come.
//!
//! One schedule for the whole run, of which worker `w` of `W` takes arrivals `w`, `w + W`,
//! `w + 2W` …: together they add up to the asked rate exactly, and nothing is shared. Time is
//! computed from the number of the arrival, never added up, so that no error builds up.
//!
//! An arrival's *ordinate* is how many arrivals the rate asks for before it. It is its number when
//! arrivals are evenly spaced; for Poisson arrivals the ordinates are the points of a Poisson
//! process of rate one ([`points`]), and [`Profile::time_of`] stretches them to the asked rate, whatever its
//! shape (time change of a Poisson process: Çinlar, "Introduction to Stochastic Processes", 4.7).
//! Each worker goes through the whole process and takes its own: that is a random number for each
//! arrival of the run, and the same schedule however many threads and machines it is dealt to.

mod points;

use ablaze_model::plan::{Arrivals, RateProfile};
use ablaze_model::rate_change::{RateChange, RatePiece};

use self::points::Points;

/// A rate over time, ready to be asked when the arrivals are due.
#[derive(Debug, Clone)]
pub struct Profile {
    pieces: Vec<RatePiece>,
}

impl Profile {
    /// The shape that a Plan asks for, with what was changed since; `duration_ns` is the time that a change of rate takes
    /// that the Plan asks for.
    pub fn new(rate: &RateProfile, duration_ns: u64, changes: &[RateChange]) -> Self {
        Self { pieces: rate.pieces(duration_ns, changes) }
    }

    /// When as many arrivals were asked for, ns since the clock started; `u64::MAX` for never.
    pub fn time_of(&self, ordinate: f64) -> u64 {
        let at = self.pieces.partition_point(|piece| piece.arrivals_before <= ordinate).max(1) - 1;
        let RatePiece { begin_s, arrivals_before: before, rate_per_s, growth } = self.pieces[at];
        let more = ordinate - before;
        // more = rate t + growth t²/2, solved for t in the form that loses no digits.
        let root = (rate_per_s * rate_per_s + 2.0 * growth * more).max(0.0).sqrt();
        let seconds = match rate_per_s + root {
            0.0 if more == 0.0 => begin_s,
            0.0 => return u64::MAX,
            sum => begin_s + 2.0 * more / sum,
        };
        // Beyond 2^64 it saturates.
        (seconds * 1e9).round() as u64
    }
}

/// One worker's share of the arrivals.
#[derive(Debug, Clone)]
pub struct Due {
    profile: Profile,
    arrivals: Arrivals,
    /// Poisson arrivals of the whole schedule.
    points: Points,
    /// Number of the next arrival in the run.
    next_number: u64,
    workers: u64,
    /// Which machine of how many this is, among which the schedule is dealt first.
    part: (u64, u64),
    /// Ordinate of the next arrival.
    ordinate: f64,
    limit: u64,
    /// Ordinate at which the time of a limited number of arrivals is over.
    over: f64,
    start_ns: u64,
    /// Arrivals from then on are not wanted.
    end_ns: u64,
    next_ns: u64,
}

impl Due {
    /// Worker `worker`'s share of `workers`; `limit` arrivals in all, or no end of them.
    pub fn new(
        profile: Profile,
        arrivals: Arrivals,
        (worker, workers): (u32, u32),
        limit: Option<u64>,
        seed: u64,
    ) -> Self {
        let mut due = Self {
            profile,
            arrivals,
            points: Points::new(seed),
            next_number: u64::from(worker),
            workers: u64::from(workers.max(1)),
            part: (0, 1),
            ordinate: 0.0,
            limit: limit.unwrap_or(u64::MAX),
            over: limit.unwrap_or(u64::MAX) as f64,
            start_ns: 0,
            end_ns: u64::MAX,
            next_ns: u64::MAX,
        };
        due.find_ordinate();
        due
    }

    /// The same on machine `index` of `of`, which have the same seed: its k-th arrival is number k `of` + `index` of the whole
    /// schedule, of whose rate its own is an `of`-th. Before anything is taken.
    pub fn on_machine(mut self, index: u32, of: u32) -> Self {
        self.part = (u64::from(index), u64::from(of.max(1)));
        self.find_ordinate();
        self
    }

    /// The same as a part of a schedule whose limited number of arrivals is over at this ordinate. Where the parts have not the
    /// same number, those that have less wait for the end of the whole, and those that have more do not go beyond it.
    pub fn ending_with(mut self, over: f64) -> Self {
        self.over = over;
        self
    }

    /// The clock starts; it will end, if not by number, at `end_ns`.
    pub fn start(&mut self, at_ns: u64, end_ns: u64) {
        self.start_ns = at_ns;
        self.end_ns = end_ns;
        self.find_next();
    }

    /// The rate was changed: what has not been taken is due when the new shape says. All workers see every arrival at the same
    /// place of it, so that they add up to it as before; those that one has taken that reads of the change late came early.
    pub fn change(&mut self, profile: Profile) {
        self.profile = profile;
        self.find_next();
    }

    /// When the next arrival is due, on the clock that [`Self::start`] was told; `u64::MAX` when
    /// there are no more.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Whether there are no more, by their number. Those that end with the clock leave it running: a rate is
    /// of all the time it was asked for, and not of that between the first arrival and the last.
    pub fn is_over(&self) -> bool {
        self.next_number >= self.limit
    }

    /// When the arrival behind the last would be due: until then the time is that of the arrivals there are, of each
    /// the time to the next one. 0 without a limit, and where the rate has ended.
    pub fn over_ns(&self) -> u64 {
        if self.limit == u64::MAX {
            return 0;
        }
        match self.profile.time_of(self.over) {
            u64::MAX => 0,
            time_ns => self.start_ns.saturating_add(time_ns).min(self.end_ns),
        }
    }

    /// Takes the next arrival if it is due: its number in the run, and when it was due.
    #[inline]
    pub fn take(&mut self, now_ns: u64) -> Option<(u64, u64)> {
        if self.next_ns > now_ns {
            return None;
        }
        let arrival = (self.next_number, self.next_ns);
        self.next_number += self.workers;
        self.find_ordinate();
        self.find_next();
        Some(arrival)
    }

    /// The ordinate of the next arrival, by the rate of this machine.
    fn find_ordinate(&mut self) {
        let (index, of) = self.part;
        self.ordinate = match self.arrivals {
            Arrivals::Constant => self.next_number as f64 + index as f64 / of as f64,
            Arrivals::Poisson if self.next_number >= self.limit => return,
            Arrivals::Poisson => self.points.of(self.next_number * of + index) / of as f64,
        };
    }

    fn find_next(&mut self) {
        let due_ns = if self.next_number < self.limit {
            self.start_ns.saturating_add(self.profile.time_of(self.ordinate))
        } else {
            u64::MAX
        };
        self.next_ns = if due_ns < self.end_ns { due_ns } else { u64::MAX };
    }
}

#[cfg(test)]
mod tests;
