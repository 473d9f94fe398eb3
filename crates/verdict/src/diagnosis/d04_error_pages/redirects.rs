//! Redirects that a journey followed: they have a row of their own, and where they led is counted, too. And printed reports
//! that show that there were none.

use ablaze_model::Run;

use super::MOST;
use super::kinds::{CAUSE_OF_ALL, CAUSE_OF_MOST, CAUSE_OF_SOME};
use crate::printed::{Report, Tool};

/// The responses by status of those statuses that count, without redirects that were followed.
pub(super) fn without_followed(run: &Run, counts: impl Fn(u16) -> bool) -> Vec<(u16, u64)> {
    let mut followed = followed(run);
    // Of steps that permit any status none counts.
    let statuses = run.statuses_judged().into_iter().filter(|(status, _)| counts(*status));
    let left = statuses.map(|(status, responses)| {
        let these = if (300..400).contains(&status) { followed.min(responses) } else { 0 };
        followed -= these;
        (status, responses - these)
    });
    left.filter(|(_, responses)| *responses > 0).collect()
}

/// How many requests went where a redirect led: those of the groups called `GET / redirect 1`, the last of them with
/// a `+`.
fn followed(run: &Run) -> u64 {
    let is_redirect = |name: &str| {
        let number = name.rsplit_once(" redirect ").map(|(_, number)| number);
        number.is_some_and(|number| number.trim_end_matches('+').parse::<u64>().is_ok())
    };
    let permits = |name: &str| run.plan.journey.as_ref().is_some_and(|own| own.permits_any(name));
    let counts = |name: &str| is_redirect(name) && !permits(name);
    let groups = run.record.groups.iter().filter(|group| counts(&group.name));
    groups
        .map(|group| group.responses + group.failures.iter().sum::<u64>() + group.unfinished)
        .sum()
}

/// Whether the steps of a journey were to follow redirects: then those that are left lead where they could not.
pub(super) fn are_to_be_followed(run: &Run) -> bool {
    let asked = run.asked.as_ref().and_then(|asked| asked.requests.journey.as_ref());
    let route = run.plan.journey.as_ref().and_then(|journey| journey.route.as_ref());
    let of_steps = route.is_some_and(|route| {
        route.journey.steps.iter().any(|step| step.options.location == Some(true))
    });
    let of_all = asked.is_some_and(|journey| journey.location || journey.location_trusted);
    of_all || of_steps || followed(run) > 0
}

/// Whether the first response was a redirect without a place to go.
pub(super) fn lead_nowhere(run: &Run) -> bool {
    let head = String::from_utf8_lossy(&run.record.first_head).to_ascii_lowercase();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split_whitespace().nth(1)?.parse::<u16>().ok());
    status.is_some_and(|status| (300..400).contains(&status))
        && !lines.any(|line| line.starts_with("location:"))
}

/// Whether a report shows that none of the responses was a redirect: by its statuses, or by wrk's line, which counts
/// neither 2xx nor 3xx.
fn excluded(report: &Report) -> bool {
    let redirect = |status: &u16| (300..400).contains(status);
    let printed = !report.statuses.is_empty() && !report.statuses.keys().any(redirect);
    printed || matches!(report.tool, Tool::Wrk | Tool::Wrk2)
}

/// The cause where half of the responses or more had another status than 2xx.
pub fn of_most(report: &Report, share: f64) -> &'static str {
    match (excluded(report), share >= 1.0) {
        (true, false) => {
            "The rate is in large part that of error pages, which cost a server different work than the intended page."
        }
        (true, true) => {
            "The rate is that of an error page, which costs a server different work than the intended page."
        }
        (false, false) if share > MOST => CAUSE_OF_MOST,
        (false, false) => CAUSE_OF_SOME,
        (false, true) => CAUSE_OF_ALL,
    }
}

/// And where some had.
pub fn of_some(report: &Report) -> &'static str {
    match excluded(report) {
        true => {
            "Some responses are error pages, which cost a server different work than the intended page, and they count \
             in the rate and in the times."
        }
        false => CAUSE_OF_SOME,
    }
}
