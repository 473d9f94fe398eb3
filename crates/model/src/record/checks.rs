//! What is kept of the checks of a run: how many responses passed and failed each. A response that failed one is a
//! response all the same.

use super::FirstMessage;

/// How the checks of a run went, on the responses that it counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks {
    /// Each, in the order in which they were given.
    pub each: Vec<CheckRecord>,
    /// Responses that were looked at.
    pub responses: u64,
    /// Those of them that failed at least one.
    pub failed_responses: u64,
}

/// How one check went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRecord {
    /// As it was written.
    pub text: String,
    /// Responses of which it was true.
    pub passed: u64,
    /// Responses of which it was not.
    pub failed: u64,
    /// What the first of these was instead.
    pub first: Option<FirstMessage>,
}

impl CheckRecord {
    /// Of nothing yet.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), passed: 0, failed: 0, first: None }
    }

    /// Responses that it looked at.
    pub fn looked_at(&self) -> u64 {
        self.passed.saturating_add(self.failed)
    }

    fn merge(&mut self, other: Self) {
        let Self { text: _, passed, failed, first } = other;
        self.passed += passed;
        self.failed += failed;
        self.first = FirstMessage::earlier(self.first.take(), first);
    }
}

impl Checks {
    /// Of these checks, and no response yet.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let each = texts.into_iter().map(CheckRecord::new).collect();
        Self { each, ..Self::default() }
    }

    /// Adds what was kept elsewhere: checks of the same text become one.
    pub fn merge(&mut self, other: Self) {
        let Self { each, responses, failed_responses } = other;
        self.responses += responses;
        self.failed_responses += failed_responses;
        for (at, check) in each.into_iter().enumerate() {
            // Workers of one run have the same checks in the same order.
            let same = |own: &CheckRecord| own.text == check.text;
            let place = match self.each.get(at) {
                Some(own) if same(own) => Some(at),
                _ => self.each.iter().position(same),
            };
            match place {
                Some(place) => self.each[place].merge(check),
                None => self.each.push(check),
            }
        }
    }
}

impl super::Record {
    /// How often checks, and the asserts of journeys, were true, and how often they were looked at at all; `None` if
    /// none ever was.
    pub fn passed_checks(&self) -> Option<(u64, u64)> {
        let checks = self.checks.iter().flat_map(|checks| &checks.each);
        let each = checks.map(|check| (check.passed, check.looked_at()));
        let of_journeys = self
            .journeys
            .iter()
            .map(|own| (own.asserts_passed, own.asserts_passed.saturating_add(own.asserts_failed)));
        let sum = each.chain(of_journeys).fold((0u64, 0u64), |sum, one| {
            (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1))
        });
        (sum.1 > 0).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(passed: u64, failed: u64, at_ns: u64) -> Checks {
        let mut checks = Checks::new(["status==200", "size>0"]);
        let first = Some(FirstMessage { at_ns, text: format!("at {at_ns}"), feed_line: None });
        checks.each[0] = CheckRecord { passed, failed, first, ..checks.each[0].clone() };
        checks.each[1].passed = passed + failed;
        (checks.responses, checks.failed_responses) = (passed + failed, failed);
        checks
    }

    #[test]
    fn a_merge_adds_everything_and_keeps_the_earliest_message() {
        let mut all = checks(10, 2, 20);
        all.merge(checks(5, 1, 10));
        all.merge(Checks::new(["size>0", "other"]));
        assert_eq!((all.responses, all.failed_responses), (18, 3));
        let first = &all.each[0];
        assert_eq!((first.passed, first.failed, first.looked_at()), (15, 3, 18));
        assert_eq!(first.first.as_ref().unwrap().text, "at 10");
        let texts: Vec<&str> = all.each.iter().map(|check| check.text.as_str()).collect();
        assert_eq!(texts, ["status==200", "size>0", "other"]);
        assert_eq!((all.each[1].passed, all.each[2].looked_at()), (18, 0));
    }

    #[test]
    fn the_share_is_that_of_checks_and_asserts_together() {
        let mut record = super::super::Record::new();
        assert_eq!(record.passed_checks(), None);
        record.checks = Some(Box::new(checks(9, 1, 0)));
        assert_eq!(record.passed_checks(), Some((19, 20)));
        let mut journeys = super::super::Journeys::new(&[]);
        (journeys.asserts_passed, journeys.asserts_failed) = (3, 7);
        record.journeys = Some(Box::new(journeys));
        assert_eq!(record.passed_checks(), Some((22, 30)));
    }
}
