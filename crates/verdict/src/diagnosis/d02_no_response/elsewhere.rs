//! Requests that got no valid response either, and that other diagnoses tell of: the share named here is not that of all.

use crate::words::{grouped, listed};

/// A sentence on so many of each; empty where there are none.
pub(super) fn in_words(told: &[(&str, u64)]) -> String {
    let told: Vec<String> = told
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(which, count)| format!("{} {which}", grouped(*count)))
        .collect();
    match told.is_empty() {
        true => String::new(),
        false => format!(" Not among them, and told separately, are {}.", listed(told)),
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind;
    use ablaze_model::record::{Stopped, StoppedResponse};

    use super::super::{d29_stuck_connection, on_run};
    use super::*;
    use crate::live::sample;

    /// Of sixteen requests none was answered: four got nothing, twelve a part of their response.
    #[test]
    fn a_share_of_those_that_failed_is_not_told_as_all() {
        let mut run = sample::run();
        let record = &mut run.record;
        record.responses = 0;
        record.answered = ablaze_model::record::Phases::new();
        record.failures[FailureKind::Timeout as usize] = 16;
        let longest =
            StoppedResponse { silent_ns: 1_100_000_000, body_bytes: 5, missing_bytes: Some(45) };
        record.stopped =
            Stopped { timed_out: 12, partway: 12, longest: Some(longest), ..Stopped::default() };
        assert!(d29_stuck_connection::is_found(&run));
        let said = on_run(&run).unwrap().evidence;
        assert!(said.starts_with("4 of 16 requests (25 %) got no valid response: 4 timed out."));
        let rest = "told separately, are 12 whose responses stopped partway (D29).";
        assert!(said.contains(rest), "{said}");
        assert_eq!(in_words(&[("of nobody", 0)]), "");
    }
}
