//! How a worker stands while its run lasts, by what it says of itself: how busy it is and was, what limits it, what it has found.

use ablaze_model::fleet::BusyCourse;

use crate::message::Found;

/// How a worker stands. What it holds is bounded, whatever is said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// How busy its threads are on average, from 0 to 1.
    pub busy: Option<f64>,
    /// What limits it: a key of a limit. A foreign string.
    pub limit: Option<String>,
    /// What it found, in the order in which it came. Foreign strings.
    pub found: Vec<Found>,
    /// How busy it was over time.
    pub course: BusyCourse,
}

impl Standing {
    /// Findings of more diagnoses than these are not kept.
    const FOUND_MAX: usize = 64;
    /// A longer text is not kept.
    const TEXT_MAX: usize = 2_000;

    /// It says so, that long after its start.
    pub(super) fn hear(&mut self, busy: Option<f64>, limit: Option<String>, after_ns: u64) {
        self.busy = busy.filter(|busy| (0.0..=1.0).contains(busy));
        self.limit = limit.filter(|limit| limit.len() <= Self::TEXT_MAX);
        if let Some(busy) = self.busy {
            self.course.hear(busy, after_ns);
        }
    }

    /// It found this, or it holds no more.
    pub(super) fn find(&mut self, found: Found) {
        if found.id.len() + found.evidence.len() > Self::TEXT_MAX {
            return;
        }
        match self.found.iter().position(|known| known.id == found.id) {
            Some(at) => self.found[at] = found,
            None if self.found.len() < Self::FOUND_MAX => self.found.push(found),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_more_is_kept_as_that_and_a_flood_is_not_kept() {
        let found = |id: &str, holds| Found { id: id.to_owned(), evidence: "x".to_owned(), holds };
        let mut standing = Standing::default();
        standing.find(found("D20", true));
        standing.find(found("D02", true));
        standing.find(found("D20", false));
        assert_eq!(standing.found, [found("D20", false), found("D02", true)]);
        (0..1000).for_each(|at| standing.find(found(&format!("D{at}"), true)));
        assert_eq!(standing.found.len(), Standing::FOUND_MAX);
        for after_s in 0..100_000 {
            standing.hear(Some(0.5), Some("client".to_owned()), after_s * 1_000_000_000);
        }
        standing.hear(Some(f64::NAN), None, u64::MAX);
        assert_eq!((standing.busy, standing.limit), (None, None));
        assert!(standing.course.busy.len() <= BusyCourse::PIECES_MAX);
    }
}
