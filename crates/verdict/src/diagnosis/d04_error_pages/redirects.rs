//! Redirects that a journey followed: they have a row of their own, and where they led is counted, too.

use ablaze_model::Run;

/// The responses by status of those statuses that count, without redirects that were followed.
pub(super) fn without_followed(run: &Run, counts: impl Fn(u16) -> bool) -> Vec<(u16, u64)> {
    let mut followed = followed(run);
    let statuses = run.record.statuses.iter().filter(|(status, _)| counts(**status));
    let left = statuses.map(|(&status, &responses)| {
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
    let groups = run.record.groups.iter().filter(|group| is_redirect(&group.name));
    groups
        .map(|group| group.responses + group.failures.iter().sum::<u64>() + group.unfinished)
        .sum()
}
