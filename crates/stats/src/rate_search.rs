//! Looks for the highest rate that still holds, one trial at a time: says which rate to try next,
//! is told how it went, and ends with an answer or a refusal. A state machine without clock and
//! network; `find` runs its trials.
//!
//! Exponential search for two rates, one that holds and one that does not, then bisection between
//! them on the logarithmic scale (J. L. Bentley, A. C. Yao, "An Almost Optimal Algorithm for
//! Unbounded Searching", Inf. Process. Lett. 5(3), 1976), until they are within the tolerance. Then
//! both are tried again: on a shared machine a single trial may fail by accident, and near the limit
//! it may hold by luck. A bound that does not stand by the majority of its trials changes sides, and
//! the search goes on from there in small steps that double.

/// The factor between rates of the first, exponential search.
const FIRST_FACTOR: f64 = 2.0;

/// How many trials must agree on each of the two last rates.
const AGREEING_TRIALS: u32 = 2;

/// What a search is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The first rate tried.
    pub start_per_s: f64,
    /// Lower rates are not tried.
    pub lowest_per_s: f64,
    /// Higher rates are not tried.
    pub highest_per_s: f64,
    /// The search ends when the lowest rate that fails is above the highest that holds by at most
    /// this share of it (0.02: two per cent).
    pub tolerance: f64,
    /// The search gives up after this many trials.
    pub most_trials: u32,
}

/// How a trial at a rate went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// Everything asked for was kept.
    Holds,
    /// Something asked for was not kept.
    Fails,
    /// The client could not offer this rate, so nothing is known of the target.
    LimitedByClient,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Try this rate, in requests per second, and tell how it went.
    Try(f64),
    /// The search is over.
    Done(Found),
}

/// What a search has found. Rates are per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found {
    /// The limit lies between these two rates.
    Limit {
        /// The highest rate that holds.
        holds_per_s: f64,
        /// The lowest rate that does not.
        fails_per_s: f64,
    },
    /// Even the highest permitted rate holds.
    HighestHolds {
        /// The highest permitted rate.
        holds_per_s: f64,
    },
    /// Not even the lowest permitted rate holds.
    LowestFails {
        /// The lowest permitted rate.
        fails_per_s: f64,
    },
    /// The client comes to its limit before the target does: the limit of the target is unknown.
    LimitedByClient {
        /// The highest rate that holds; `None` when the client could offer no rate.
        holds_per_s: Option<f64>,
        /// The lowest rate that the client could not offer.
        limited_at_per_s: f64,
    },
    /// The trials went on contradicting each other.
    Undecided {
        /// The highest rate that seems to hold.
        holds_per_s: Option<f64>,
        /// How many trials there were.
        trials: u32,
    },
}

/// A search under way.
#[derive(Debug, Clone)]
pub struct RateSearch {
    limits: Limits,
    holds: Option<Bound>,
    fails: Option<Bound>,
    /// The next step's factor while one of the bounds is missing.
    factor: f64,
    trials: u32,
}

/// A rate and how its trials went.
#[derive(Debug, Clone, Copy)]
struct Bound {
    per_s: f64,
    held: u32,
    failed: u32,
    limited_by_client: u32,
}

impl RateSearch {
    /// A search that has tried nothing yet. `limits.start_per_s` is moved between the lowest and
    /// the highest rate.
    ///
    /// # Panics
    /// Unless 0 < lowest <= highest, both finite, and the tolerance is positive.
    pub fn new(limits: Limits) -> Self {
        let Limits { lowest_per_s, highest_per_s, tolerance, .. } = limits;
        assert!(0.0 < lowest_per_s && lowest_per_s <= highest_per_s && highest_per_s.is_finite());
        assert!(tolerance > 0.0, "a search without tolerance never ends");
        Self { limits, holds: None, fails: None, factor: FIRST_FACTOR, trials: 0 }
    }

    /// How many trials there were so far.
    pub fn trials(&self) -> u32 {
        self.trials
    }

    /// The rate to try next, or what was found. Asking changes nothing.
    pub fn next(&self) -> Next {
        let Limits { start_per_s, lowest_per_s, highest_per_s, tolerance, .. } = self.limits;
        if let Some(found) = self.found() {
            return Next::Done(found);
        }
        if self.trials >= self.limits.most_trials {
            let holds_per_s = self.holds.map(|bound| bound.per_s);
            return Next::Done(Found::Undecided { holds_per_s, trials: self.trials });
        }
        Next::Try(match (self.holds, self.fails) {
            (None, None) => start_per_s.clamp(lowest_per_s, highest_per_s),
            (Some(holds), None) => (holds.per_s * self.factor).min(highest_per_s),
            (None, Some(fails)) => (fails.per_s / self.factor).max(lowest_per_s),
            (Some(holds), Some(fails)) if fails.per_s > holds.per_s * (1.0 + tolerance) => {
                (holds.per_s * fails.per_s).sqrt()
            }
            (Some(holds), Some(fails)) => {
                if holds.stands() {
                    fails.per_s
                } else {
                    holds.per_s
                }
            }
        })
    }

    /// Takes in how the trial at the rate of `next` went. Nothing happens when the search is over.
    pub fn tell(&mut self, trial: Trial) {
        let Next::Try(per_s) = self.next() else { return };
        self.trials += 1;
        let tried_again = |bound: &&mut Bound| bound.per_s == per_s;
        if let Some(bound) = self.holds.as_mut().filter(tried_again) {
            bound.count(trial);
            if bound.held < bound.against() {
                self.fails = self.holds.take();
                self.factor = 1.0 + self.limits.tolerance;
            }
        } else if let Some(bound) = self.fails.as_mut().filter(tried_again) {
            bound.count(trial);
            if bound.held > bound.against() {
                self.holds = self.fails.take();
                self.factor = 1.0 + self.limits.tolerance;
            }
        } else {
            let mut bound = Bound { per_s, held: 0, failed: 0, limited_by_client: 0 };
            bound.count(trial);
            let side = if trial == Trial::Holds { &mut self.holds } else { &mut self.fails };
            let searching_on = side.is_some();
            *side = Some(bound);
            if searching_on {
                self.factor = (self.factor * self.factor).min(FIRST_FACTOR);
            }
        }
    }

    /// The answer, once the bounds are near enough and stand.
    fn found(&self) -> Option<Found> {
        let Limits { lowest_per_s, highest_per_s, tolerance, .. } = self.limits;
        match (self.holds, self.fails) {
            (Some(holds), None) if holds.per_s >= highest_per_s && holds.stands() => {
                Some(Found::HighestHolds { holds_per_s: holds.per_s })
            }
            (None, Some(fails)) if fails.per_s <= lowest_per_s && fails.stands() => {
                Some(if fails.is_of_the_client() {
                    Found::LimitedByClient { holds_per_s: None, limited_at_per_s: fails.per_s }
                } else {
                    Found::LowestFails { fails_per_s: fails.per_s }
                })
            }
            (Some(holds), Some(fails))
                if fails.per_s <= holds.per_s * (1.0 + tolerance)
                    && holds.stands()
                    && fails.stands() =>
            {
                Some(if fails.is_of_the_client() {
                    Found::LimitedByClient {
                        holds_per_s: Some(holds.per_s),
                        limited_at_per_s: fails.per_s,
                    }
                } else {
                    Found::Limit { holds_per_s: holds.per_s, fails_per_s: fails.per_s }
                })
            }
            _ => None,
        }
    }
}

impl Bound {
    fn count(&mut self, trial: Trial) {
        match trial {
            Trial::Holds => self.held += 1,
            Trial::Fails => self.failed += 1,
            Trial::LimitedByClient => self.limited_by_client += 1,
        }
    }

    fn against(&self) -> u32 {
        self.failed + self.limited_by_client
    }

    /// Enough trials agree, and more than disagree.
    fn stands(&self) -> bool {
        let (held, against) = (self.held, self.against());
        held != against && held.max(against) >= AGREEING_TRIALS
    }

    fn is_of_the_client(&self) -> bool {
        self.limited_by_client >= self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_random::Random;

    const LIMITS: Limits = Limits {
        start_per_s: 1000.0,
        lowest_per_s: 1.0,
        highest_per_s: 10_000_000.0,
        tolerance: 0.02,
        most_trials: 60,
    };

    /// Runs a search to its end against what `trial` responses.
    fn search(limits: Limits, mut trial: impl FnMut(f64) -> Trial) -> (Found, u32) {
        let mut search = RateSearch::new(limits);
        loop {
            match search.next() {
                Next::Done(found) => return (found, search.trials()),
                Next::Try(rate) => {
                    assert!(rate >= limits.lowest_per_s && rate <= limits.highest_per_s);
                    search.tell(trial(rate));
                }
            }
        }
    }

    fn holds_up_to(capacity: f64) -> impl Fn(f64) -> Trial {
        move |rate| if rate <= capacity { Trial::Holds } else { Trial::Fails }
    }

    /// In how many of 1000 searches, each for another capacity, the answer is within 5 % of it.
    /// A trial sees the capacity with 2 % noise, and fails by accident with this probability.
    fn near(accidents: f64) -> (usize, u32) {
        let mut random = Random::new(17);
        let (mut near, mut most_trials) = (0, 0);
        for _ in 0..1000 {
            let capacity = 10f64.powf(2.0 + 4.0 * random.uniform());
            let (found, trials) = search(LIMITS, |rate| {
                let today = capacity * (0.02 * random.normal()).exp();
                let accident = random.uniform() < accidents;
                if rate <= today && !accident { Trial::Holds } else { Trial::Fails }
            });
            most_trials = most_trials.max(trials);
            if let Found::Limit { holds_per_s, .. } = found {
                near += usize::from((holds_per_s / capacity - 1.0).abs() <= 0.05);
            }
        }
        (near, most_trials)
    }

    #[test]
    fn a_noisy_capacity_is_found_within_a_twentieth() {
        let (near, most_trials) = near(0.0);
        println!("{near} of 1000, at most {most_trials} trials");
        assert!(near >= 990, "{near} of 1000");
        assert!(most_trials <= 50, "{most_trials}");
    }

    #[test]
    fn trials_that_fail_by_accident_do_not_end_the_search_early() {
        // Without trying again, a search of 16 trials would be spoilt by one of them in 28 %.
        let (near, most_trials) = near(0.02);
        println!("{near} of 1000, at most {most_trials} trials");
        assert!(near >= 985, "{near} of 1000");
    }

    #[test]
    fn a_quiet_capacity_is_found_within_the_tolerance_in_few_trials() {
        for capacity in [1.5, 37.0, 999.0, 1000.0, 1001.0, 64_000.0, 9_900_000.0] {
            let (found, trials) = search(LIMITS, holds_up_to(capacity));
            let Found::Limit { holds_per_s, fails_per_s } = found else { panic!("{found:?}") };
            assert!(holds_per_s <= capacity && capacity < fails_per_s);
            assert!(fails_per_s <= holds_per_s * 1.02 * (1.0 + 1e-12));
            // 14 doublings at most, 6 halvings of the factor 2 to 1.02, 2 to confirm.
            assert!(trials <= 1 + 14 + 6 + 2, "{capacity}: {trials}");
        }
    }

    #[test]
    fn the_ends_of_what_may_be_tried_are_named() {
        let (found, _) = search(LIMITS, |_| Trial::Holds);
        assert_eq!(found, Found::HighestHolds { holds_per_s: 10_000_000.0 });
        let (found, _) = search(LIMITS, |_| Trial::Fails);
        assert_eq!(found, Found::LowestFails { fails_per_s: 1.0 });
        let one_rate = Limits { lowest_per_s: 50.0, highest_per_s: 50.0, ..LIMITS };
        let (found, trials) = search(one_rate, |_| Trial::Holds);
        assert_eq!((found, trials), (Found::HighestHolds { holds_per_s: 50.0 }, 2));
    }

    #[test]
    fn a_limit_of_the_client_is_no_limit_of_the_target() {
        let client = |rate| if rate <= 30_000.0 { Trial::Holds } else { Trial::LimitedByClient };
        let (found, _) = search(LIMITS, client);
        let Found::LimitedByClient { holds_per_s: Some(holds), limited_at_per_s } = found else {
            panic!("{found:?}")
        };
        assert!(holds <= 30_000.0 && limited_at_per_s > 30_000.0);
        let (found, _) = search(LIMITS, |_| Trial::LimitedByClient);
        assert_eq!(found, Found::LimitedByClient { holds_per_s: None, limited_at_per_s: 1.0 });
        // The target's own limit below the client's is found anyway.
        let (found, _) = search(LIMITS, |rate| match rate {
            ..=20_000.0 => Trial::Holds,
            ..=30_000.0 => Trial::Fails,
            _ => Trial::LimitedByClient,
        });
        let Found::Limit { holds_per_s, .. } = found else { panic!("{found:?}") };
        assert!(holds_per_s <= 20_000.0 && holds_per_s > 19_600.0);
    }

    #[test]
    fn one_accident_early_on_is_found_out() {
        let mut trial = 0;
        let (found, _) = search(LIMITS, |rate| {
            trial += 1;
            if trial == 3 { Trial::Fails } else { holds_up_to(50_000.0)(rate) }
        });
        let Found::Limit { holds_per_s, .. } = found else { panic!("{found:?}") };
        assert!(holds_per_s <= 50_000.0 && holds_per_s > 49_000.0, "{holds_per_s}");
    }

    #[test]
    fn a_search_that_cannot_be_decided_ends() {
        let mut random = Random::new(3);
        for _ in 0..100 {
            let coin = |_| if random.below(2) == 0 { Trial::Holds } else { Trial::Fails };
            let (_, trials) = search(LIMITS, coin);
            assert!(trials <= LIMITS.most_trials);
        }
        let mut search = RateSearch::new(Limits { most_trials: 1, ..LIMITS });
        search.tell(Trial::Holds);
        let undecided = Found::Undecided { holds_per_s: Some(1000.0), trials: 1 };
        assert_eq!(search.next(), Next::Done(undecided));
        search.tell(Trial::Fails);
        assert_eq!(search.next(), Next::Done(undecided));
    }
}
