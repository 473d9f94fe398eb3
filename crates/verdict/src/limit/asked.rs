//! Whether the rate was the client's: an open loop all of whose arrivals came. An arrival is a request, or a journey where
//! users walk one.

use ablaze_model::Run;
use ablaze_model::finding::{Limit, Limited};
use ablaze_model::plan::{Arrivals, Load};

use crate::live::{behind, figures};
use crate::words::{amount, counted, time};

/// Reaching this share of the requested rate counts as reaching all of it.
pub(super) const ASKED: f64 = 0.98;
/// An open loop whose server keeps up ends with the rate times the mean time in flight, one whose server does
/// not with twice that or more.
const KEPT_UP: f64 = 1.5;
/// Up to this share of what was due may wait for a connection when the run ends: the end cuts into a moment in which all are in
/// use, which is no backlog.
const A_FEW_WAIT: f64 = 0.001;

/// What came of the arrivals of an open loop.
struct Arrived {
    /// What they are.
    noun: &'static str,
    /// How many were due.
    due: f64,
    /// How many came to their end: with a response, or for journeys whole or failed.
    ended: u64,
    /// What the ended ones are called.
    how: &'static str,
    /// How many were under way when the run ended.
    left: u64,
    /// How long one of them is under way.
    mean_ns: Option<f64>,
}

impl Arrived {
    fn of(run: &Run) -> Self {
        let record = &run.record;
        match &record.journeys {
            None => Self {
                noun: "request",
                due: (record.finished() + record.unfinished) as f64,
                ended: record.responses,
                how: "answered",
                // What is in flight at the end was sent, too.
                left: record.unfinished,
                mean_ns: record.answered.total.mean_ns(),
            },
            Some(journeys) => Self {
                noun: "journey",
                due: journeys.begun as f64,
                ended: journeys.whole + journeys.failed,
                how: "ended",
                left: journeys.unfinished(),
                mean_ns: journeys.duration.mean_ns(),
            },
        }
    }
}

/// What a rate is a rate of: `200/s`, or `200 journeys/s`.
pub(super) fn per_s(run: &Run, rate_per_s: f64) -> String {
    let noun = if run.record.journeys.is_some() { " journeys" } else { "" };
    format!("{}{noun}/s", amount(rate_per_s))
}

/// All that was due was sent and answered. How much that was is the schedule's, with arrivals at random or a limited
/// number by more or less than the rate.
pub(super) fn rate(run: &Run) -> Option<Limited> {
    let Load::Open { arrivals, .. } = run.plan.load else { return None };
    let arrived = Arrived::of(run);
    let Arrived { noun, due, ended, how, left, mean_ns } = arrived;
    let asked = run.requested_per_s()?;
    let elapsed_s = figures::elapsed_s(run);
    let came = ended as f64 / elapsed_s;
    let even = arrivals == Arrivals::Constant && run.plan.limits.requests.is_none();
    if even && due < asked * elapsed_s * ASKED {
        return None;
    }
    let all_came = ended as f64 >= due * ASKED;
    let waiting = run.record.never_sent as f64;
    if waiting > 0.0 && (!all_came || waiting > due * A_FEW_WAIT) {
        return None;
    }
    if !all_came && ((ended + left) as f64) < due * ASKED {
        return None;
    }
    let in_flight = if all_came {
        String::new()
    } else {
        let usual = asked * mean_ns? / 1e9;
        if left as f64 > KEPT_UP * usual + 2.0 * usual.sqrt() || behind::behind(run).is_some() {
            return None;
        }
        let under_way = if noun == "request" { "in flight" } else { "under way" };
        format!(", {} still {under_way} at the end", counted(left, noun))
    };
    let mut evidence =
        format!("{} requested, {} {how}{in_flight}", per_s(run, asked), per_s(run, came));
    if all_came && (came - asked).abs() > asked * (1.0 - ASKED) {
        let were = if due as u64 == 1 { "was" } else { "were" };
        let all = counted(due as u64, noun);
        evidence.push_str(&format!(": {all} {were} due in {}", time(elapsed_s * 1e3)));
    }
    Some(Limited { by: Limit::AskedRate, evidence })
}
