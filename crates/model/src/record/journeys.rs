//! What is kept of journeys: how many were walked whole, how long that took, and where the others ended.

use ablaze_stats::Latency;

/// What is kept of the journeys of a run: those that began in its measured window.
#[derive(Debug, Clone)]
pub struct Journeys {
    /// How many began.
    pub begun: u64,
    /// How many came to their end without a failure.
    pub whole: u64,
    /// How many failed. What is neither whole nor failed was unfinished when the run ended.
    pub failed: u64,
    /// Asserts that held.
    pub asserts_passed: u64,
    /// Asserts that did not.
    pub asserts_failed: u64,
    /// Cookies that responses set and that no jar took: too large, too many of a user, or not theirs to set.
    pub cookies_refused: u64,
    /// How long those that are whole took, pauses included, ns; in open loop from when they were due.
    pub duration: Latency,
    /// Each step, in the order of the file.
    pub steps: Vec<JourneyStep>,
    /// Each journey, where there are several: together they are all of these.
    pub each: Vec<OneJourney>,
    /// What became of the setup that users walk before the clock starts, if they have one.
    pub setup: Option<Setup>,
    /// How long users in the middle of a journey had nothing in flight because they thought, or a step says so, all of them
    /// together, ns.
    pub pauses_ns: u64,
    /// Of users that come over the measured time: when each did, ns from the beginning of the window.
    pub came: Latency,
}

/// One of several journeys.
#[derive(Debug, Clone)]
pub struct OneJourney {
    /// What it is called.
    pub name: String,
    /// How many of it began.
    pub begun: u64,
    /// How many came to their end without a failure.
    pub whole: u64,
    /// How many failed.
    pub failed: u64,
    /// How long whole ones took, ns, as in [`Journeys::duration`].
    pub duration: Latency,
}

/// What users did before the clock started. Its requests are counted nowhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// How many users began it.
    pub begun: u64,
    /// How many of them came to its end without a failure.
    pub whole: u64,
    /// How many of them failed in it, and walked no journey.
    pub failed: u64,
    /// Why the first of them did.
    pub first: Option<FirstMessage>,
}

/// A step, and the journeys that failed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JourneyStep {
    /// Its name.
    pub name: String,
    /// How many journeys failed in it first.
    pub failed: u64,
    /// Why the first of them did.
    pub first: Option<FirstMessage>,
}

/// Why a journey, or a check, failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstMessage {
    /// When, driver's clock: decides between workers.
    pub at_ns: u64,
    /// The line of the file if there is one, and what is wrong.
    pub text: String,
    /// Of a journey with rows of a feed: the line of its row in the feed's file, from 1.
    pub feed_line: Option<u32>,
}

impl FirstMessage {
    /// The one of two that came first.
    pub(super) fn earlier(own: Option<Self>, theirs: Option<Self>) -> Option<Self> {
        match (own, theirs) {
            (Some(own), Some(theirs)) if theirs.at_ns < own.at_ns => Some(theirs),
            (own, theirs) => own.or(theirs),
        }
    }
}

impl super::Record {
    /// How many users failed in their setup, and walk no journey: they have no place in the load.
    pub fn users_out(&self) -> u64 {
        let setup = self.journeys.as_ref().and_then(|journeys| journeys.setup.as_ref());
        setup.map_or(0, |setup| setup.failed)
    }
}

impl Journeys {
    /// Of steps with these names.
    pub fn new(steps: &[String]) -> Self {
        let step = |name: &String| JourneyStep { name: name.clone(), failed: 0, first: None };
        Self {
            begun: 0,
            whole: 0,
            failed: 0,
            asserts_passed: 0,
            asserts_failed: 0,
            cookies_refused: 0,
            duration: Latency::new(3),
            steps: steps.iter().map(step).collect(),
            each: Vec::new(),
            setup: None,
            pauses_ns: 0,
            came: Latency::new(3),
        }
    }

    /// The same with each of several journeys.
    pub fn of_several(steps: &[String], names: impl Iterator<Item = String>) -> Self {
        Self { each: names.map(OneJourney::new).collect(), ..Self::new(steps) }
    }

    /// How many were unfinished when the run ended.
    pub fn unfinished(&self) -> u64 {
        self.begun.saturating_sub(self.whole + self.failed)
    }

    /// Journeys that failed in a step; `text` says why, if it is the first. `feed_line` is that of its row.
    pub fn fails(
        &mut self,
        step: usize,
        at_ns: u64,
        feed_line: Option<u32>,
        text: impl FnOnce() -> String,
    ) {
        self.failed += 1;
        let Some(step) = self.steps.get_mut(step) else { return };
        step.failed += 1;
        if step.first.is_none() {
            step.first = Some(FirstMessage { at_ns, text: text(), feed_line });
        }
    }

    /// Adds what another worker kept of the same steps.
    pub fn merge(&mut self, other: Self) {
        let Self {
            begun,
            whole,
            failed,
            asserts_passed,
            asserts_failed,
            cookies_refused,
            duration,
            steps,
            each,
            setup,
            pauses_ns,
            came,
        } = other;
        self.begun += begun;
        self.whole += whole;
        self.failed += failed;
        self.asserts_passed += asserts_passed;
        self.asserts_failed += asserts_failed;
        self.cookies_refused += cookies_refused;
        self.duration.merge(&duration);
        self.pauses_ns = self.pauses_ns.saturating_add(pauses_ns);
        self.came.merge(&came);
        if self.steps.len() < steps.len() {
            let known = self.steps.len();
            let rest = steps[known..].iter();
            self.steps.extend(rest.map(|step| JourneyStep {
                failed: 0,
                first: None,
                ..step.clone()
            }));
        }
        for (own, theirs) in self.steps.iter_mut().zip(steps) {
            own.failed += theirs.failed;
            own.first = FirstMessage::earlier(own.first.take(), theirs.first);
        }
        for theirs in each {
            match self.each.iter_mut().find(|own| own.name == theirs.name) {
                Some(own) => own.merge(&theirs),
                None => self.each.push(theirs),
            }
        }
        if let Some(theirs) = setup {
            let own = self.setup.get_or_insert_default();
            own.begun += theirs.begun;
            own.whole += theirs.whole;
            own.failed += theirs.failed;
            own.first = FirstMessage::earlier(own.first.take(), theirs.first);
        }
    }
}

impl Setup {
    /// How many users were in the middle of it when the run ended.
    pub fn unfinished(&self) -> u64 {
        self.begun.saturating_sub(self.whole + self.failed)
    }
}

impl OneJourney {
    /// Of this name, none walked.
    pub fn new(name: String) -> Self {
        Self { name, begun: 0, whole: 0, failed: 0, duration: Latency::new(3) }
    }

    /// How many were unfinished when the run ended.
    pub fn unfinished(&self) -> u64 {
        self.begun.saturating_sub(self.whole + self.failed)
    }

    fn merge(&mut self, other: &Self) {
        let Self { name: _, begun, whole, failed, duration } = other;
        self.begun += begun;
        self.whole += whole;
        self.failed += failed;
        self.duration.merge(duration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_adds_everything_and_keeps_the_earliest_message() {
        let names = ["a".to_owned(), "b".to_owned()];
        let of = |at_ns: u64| {
            let mut journeys = Journeys::new(&names);
            journeys.begun = 5;
            journeys.whole = 2;
            journeys.asserts_passed = 7;
            journeys.cookies_refused = 3;
            journeys.duration.record(at_ns);
            journeys.fails(1, at_ns, None, || format!("at {at_ns}"));
            journeys.fails(1, at_ns + 1, None, || unreachable!("only the first is said"));
            journeys
        };
        let mut both = of(20);
        both.merge(of(10));
        assert_eq!((both.begun, both.whole, both.failed, both.unfinished()), (10, 4, 4, 2));
        assert_eq!((both.asserts_passed, both.duration.count()), (14, 2));
        assert_eq!(both.cookies_refused, 6);
        assert_eq!((both.steps[0].failed, both.steps[1].failed), (0, 4));
        assert_eq!(both.steps[1].first.as_ref().unwrap().text, "at 10");
    }

    #[test]
    fn several_journeys_and_their_setup_are_merged_by_name() {
        let of = |names: &[&str], at_ns: u64| {
            let names = names.iter().map(|name| (*name).to_owned());
            let mut journeys = Journeys::of_several(&[], names);
            for one in &mut journeys.each {
                (one.begun, one.whole, one.failed) = (at_ns, 2, 1);
                one.duration.record(at_ns);
            }
            let text = format!("at {at_ns}");
            let first = Some(FirstMessage { at_ns, text, feed_line: None });
            journeys.setup = Some(Setup { begun: 3, whole: 1, failed: 1, first });
            journeys
        };
        let mut all = of(&["buy", "browse"], 20);
        all.merge(of(&["browse", "sell"], 10));
        let counts: Vec<_> =
            all.each.iter().map(|one| (one.name.as_str(), one.begun, one.unfinished())).collect();
        assert_eq!(counts, [("buy", 20, 17), ("browse", 30, 24), ("sell", 10, 7)]);
        assert_eq!(all.each[1].duration.count(), 2);
        let setup = all.setup.unwrap();
        assert_eq!((setup.begun, setup.whole, setup.failed), (6, 2, 2));
        assert_eq!(setup.unfinished(), 2);
        assert_eq!(setup.first.unwrap().text, "at 10");
    }
}
