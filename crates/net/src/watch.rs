//! How long a thread watched for events, without the time that others had its processor and that of the work done
//! meanwhile: what it spent is taken off its CPU time by whoever reports work.

/// Two looks at the clock are less than a microsecond of work apart, or one system call; who is this late did not run.
const NOT_RUNNING_NS: u64 = 50_000;

/// One watch.
#[derive(Debug)]
pub(crate) struct Watch {
    last_ns: u64,
    spent_ns: u64,
    /// Something else than watching was done since the last look.
    worked: bool,
}

impl Watch {
    /// It begins.
    pub fn new(now: u64) -> Self {
        Self { last_ns: now, spent_ns: 0, worked: false }
    }

    /// Something was submitted or fetched: nothing counts from the last look to the next. That leaves out the little that
    /// was watched between the two, which is better than to call a system call that every request needs no work.
    #[inline]
    pub fn worked(&mut self) {
        self.worked = true;
    }

    /// The clock was looked at.
    pub fn looked(&mut self, now: u64) {
        let since_ns = now.saturating_sub(self.last_ns);
        let watched = since_ns < NOT_RUNNING_NS && !std::mem::take(&mut self.worked);
        self.spent_ns += if watched { since_ns } else { 0 };
        self.last_ns = now;
    }

    /// It ends. How long it was, ns.
    pub fn spent_ns(mut self, now: u64) -> u64 {
        self.looked(now);
        self.spent_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_had_of_the_processor_was_not_spent() {
        let mut watch = Watch::new(1_000);
        watch.looked(1_500);
        watch.looked(1_900);
        // Three milliseconds of somebody else's.
        watch.looked(3_001_900);
        assert_eq!(watch.spent_ns(3_002_400), 1_400);
    }

    #[test]
    fn work_was_not_spent_on_watching() {
        let mut watch = Watch::new(1_000);
        watch.worked();
        watch.looked(9_000);
        watch.looked(9_300);
        assert_eq!(watch.spent_ns(9_500), 500);
        let mut watch = Watch::new(1_000);
        watch.looked(1_200);
        watch.worked();
        assert_eq!(watch.spent_ns(9_000), 200);
    }
}
