//! What can be found in a Run that is under way: by what is known then, and only where the evidence is complete, so that the
//! whole Run has the finding too, unless what comes behind it outweighs it.

use ablaze_model::Plan;
use ablaze_model::plan::Load;
use ablaze_model::progress::Interval;
use ablaze_model::rate_change::RateChange;

use crate::diagnosis::{Diagnosis, DiagnosisId};

/// What a Plan says that such findings go by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// The shape of the load.
    pub load: Load,
    /// Requests that can be in flight at once, at most.
    pub places: u64,
    /// The number of requests that ends the run.
    pub requests: Option<u64>,
    /// The time that ends the run, and that a change of the rate takes, ns.
    pub duration_ns: Option<u64>,
    /// Arrivals are journeys, not requests.
    pub walks: bool,
    /// Connections carry streams, which a server may permit none of.
    pub has_streams: bool,
}

/// A Run that is under way.
#[derive(Debug, Clone, Copy)]
pub struct UnderWay<'a> {
    /// What was asked for.
    pub asked: &'a Asked,
    /// Everything so far.
    pub so_far: &'a Interval,
    /// How the rate of an open loop was changed.
    pub rate_changes: &'a [RateChange],
    /// Names of the machines of a fleet that were lost.
    pub lost: &'a [&'a str],
}

impl Asked {
    /// By this plan.
    pub fn of(plan: &Plan) -> Self {
        let per_connection = u64::from(plan.places_per_connection());
        Self {
            load: plan.load,
            places: u64::from(plan.load.connections()) * per_connection,
            requests: plan.limits.requests,
            duration_ns: plan.limits.duration_ns,
            walks: plan.journey.is_some(),
            has_streams: plan.streams().is_some(),
        }
    }
}

impl Default for Asked {
    /// One connection in closed loop, without an end.
    fn default() -> Self {
        Self {
            load: Load::Closed { connections: 1, pipeline: 1 },
            places: 1,
            requests: None,
            duration_ns: None,
            walks: false,
            has_streams: false,
        }
    }
}

/// What is found already: the evidence of each finding. It may go away again where it is a share of something that grows.
pub fn while_it_runs(run: &UnderWay<'_>) -> Vec<(DiagnosisId, String)> {
    let found =
        |diagnosis: &Diagnosis| Some((diagnosis.id, (diagnosis.forms.while_it_runs?)(run)?));
    Diagnosis::all().iter().filter_map(found).collect()
}

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind::{self, *};
    use ablaze_model::record::Intended;

    use super::*;
    use crate::DiagnosisId::*;
    use crate::live::{judge, sample};

    fn found(asked: &Asked, so_far: &Interval, lost: &[&str]) -> Vec<(DiagnosisId, String)> {
        while_it_runs(&UnderWay { asked, so_far, rate_changes: &[], lost })
    }

    /// The numbers of what is found in a closed loop.
    fn ids(so_far: &Interval) -> Vec<DiagnosisId> {
        found(&Asked::default(), so_far, &[]).iter().map(|one| one.0).collect()
    }

    fn with(responses: u64, failed: &[(FailureKind, u64)]) -> Interval {
        let mut so_far = Interval { to_ns: 1_000_000_000, responses, ..Interval::default() };
        failed.iter().for_each(|(kind, count)| so_far.failures[*kind as usize] = *count);
        so_far.received_bytes = responses * 100;
        so_far
    }

    /// Whether the whole Run has it, with as many responses and failures.
    fn stands(id: DiagnosisId, responses: u64, failed: &[(FailureKind, u64)]) -> bool {
        let mut run = sample::run();
        if responses == 0 {
            sample::nobody_answers(&mut run);
            run.record.failures = [0; FailureKind::ALL.len()];
        }
        run.record.responses = responses;
        failed.iter().for_each(|(kind, count)| run.record.failures[*kind as usize] = *count);
        judge(&run).findings.iter().any(|finding| finding.id == id)
    }

    #[test]
    fn what_is_found_while_it_runs_is_found_in_the_whole_run() {
        for (kind, id) in
            [(LocalPorts, D20), (LocalDescriptors, D21), (Refused, D02), (Malformed, D02)]
        {
            assert_eq!(ids(&with(1_000, &[])), []);
            let failed = [(kind, 20)];
            assert_eq!(ids(&with(1_000, &failed)), [id]);
            assert!(stands(id, 1_000, &failed), "{id}");
        }
        let unexpected = |unexpected| Interval { unexpected, ..with(1_000, &[]) };
        assert_eq!(ids(&unexpected(1)), []);
        assert_eq!(ids(&unexpected(2)), [D04]);
    }

    #[test]
    fn no_response_is_said_only_of_failures_that_nothing_else_explains() {
        // An accident.
        assert_eq!(ids(&with(1_000, &[(Refused, 10)])), []);
        // Reused connections that the server had closed (D18), or responses that stopped (D29).
        for kind in [ClosedWithoutResponse, Reset, Timeout] {
            assert_eq!(ids(&with(1_000, &[(kind, 500)])), [], "{kind:?}");
            // Not where there was none at all.
            assert_eq!(ids(&with(0, &[(kind, 500)])), [D02], "{kind:?}");
            assert!(stands(D02, 0, &[(kind, 500)]), "{kind:?}");
        }
        let streams = Asked { has_streams: true, ..Asked::default() };
        assert_eq!(found(&streams, &with(0, &[(Timeout, 500)]), &[]), []);
        let begun = Interval { received_bytes: 17, ..with(0, &[(Timeout, 500)]) };
        assert_eq!(ids(&begun), []);
        let evidence = &found(&Asked::default(), &with(80, &[(Refused, 20)]), &[])[0].1;
        assert!(evidence.contains("20 of 100 requests (20 %)"), "{evidence}");
    }

    #[test]
    fn requests_of_an_open_loop_that_cannot_be_in_flight_have_not_left() {
        let mut run = sample::run();
        sample::open_loop(&mut run, 2_000.0);
        let asked = Asked::of(&run.plan);
        // 2,000 are due, 100 may be in flight, and 1 % is no matter.
        let seen = |responses| found(&asked, &with(responses, &[]), &[]);
        assert_eq!(seen(1_890), []);
        let late = seen(1_500);
        assert_eq!(late[0].0, D30);
        assert!(
            late[0].1.contains("of 2,000 requests due so far, at least 399 (20 %)"),
            "{late:?}"
        );
        // Those that failed have left.
        assert_eq!(found(&asked, &with(1_500, &[(Timeout, 390)]), &[]), []);
        // A number of requests is sent in the end, and of journeys the number of requests is not known.
        for other in [Asked { requests: Some(5_000), ..asked }, Asked { walks: true, ..asked }] {
            assert_eq!(found(&other, &with(1_500, &[]), &[]), []);
        }
        let ids = |found: Vec<(DiagnosisId, String)>| found[0].0;
        assert_eq!(ids(found(&asked, &with(1_500, &[]), &["left"])), D44);
        let changes = [RateChange { at_ns: 500_000_000, times_asked: 0.0 }];
        let so_far = with(990, &[]);
        let paused = UnderWay { asked: &asked, so_far: &so_far, rate_changes: &changes, lost: &[] };
        assert_eq!(while_it_runs(&paused), []);
        // The whole Run says so, too.
        let mut intended = Intended::default();
        intended.lag.record_many(10_000, 1_500);
        intended.response.record_many(510_000, 1_500);
        run.record.answered.intended = Some(Box::new(intended));
        (run.record.responses, run.record.unfinished, run.record.never_sent) = (1_500, 499, 399);
        assert!(judge(&run).findings.iter().any(|finding| finding.id == D30));
    }

    #[test]
    fn a_lost_worker_stays_lost() {
        let found = found(&Asked::default(), &with(1_000, &[]), &["left", "right"]);
        assert_eq!(found, [(D44, "lost: left and right".to_owned())]);
    }
}
