//! Which statuses were expected.

use ablaze_model::Run;
use ablaze_model::plan::journey::{Step, StepBody};
use ablaze_model::plan::statuses_in_words;
use ablaze_model::record::GroupRecord;
use ablaze_model::spec::Bodies;

use crate::live::headers;

/// Whether nobody said which statuses are expected: a 304 is among those of the default.
pub(super) fn are_by_default(run: &Run) -> bool {
    let asked = run.asked.as_ref().is_some_and(|asked| asked.expect_asked);
    !asked && run.record.statuses.get(&304).is_some_and(|count| *count > 0)
}

/// `2xx, 3xx`, `404`.
pub(super) fn in_words(run: &Run) -> String {
    run.plan.expect.iter().map(statuses_in_words).collect::<Vec<_>>().join(", ")
}

/// What was expected; of a redirect that is so only if it was named.
pub(super) fn is_success(run: &Run, status: u16) -> bool {
    // Where nothing is known of it, the usual statuses are those that nobody asked for.
    let asked = run.asked.as_ref().is_some_and(|asked| asked.expect_asked);
    let expected = run.plan.expect.iter().any(|range| range.contains(&status));
    // Beside the default are the statuses that the steps of a journey ask for.
    let mut named = run.plan.expect.iter().filter(|range| asked || **range != (200..=399));
    let by_default = !named.any(|range| range.contains(&status));
    if status == 304 && expected && is_conditional(run) {
        return true;
    }
    expected && !(by_default && status >= 300)
}

/// Whether the request asks for a body only if it has changed (RFC 9110, 13.1): 304 is then what it may get.
fn is_conditional(run: &Run) -> bool {
    ["if-none-match", "if-modified-since"].iter().any(|name| headers::given(run, name).is_some())
}

/// What had success beside the requests that had not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// The same request.
    Same,
    /// Others of the same line, or of the same step, that may differ in what they send.
    Alike,
    /// Nothing, as far as is known.
    Nothing,
}

/// Whether each request that got such a response got others as well.
pub(super) fn success_beside(run: &Run) -> Beside {
    let record = &run.record;
    let asked = run.asked.as_ref().map(|asked| &asked.requests);
    let had_it = if record.groups.is_empty() {
        let is_one = asked.is_some_and(|asked| asked.urls.is_none());
        is_one && record.statuses.keys().any(|status| (200..300).contains(status))
    } else {
        let mut failed = record.groups.iter().filter(|group| group.unexpected > 0).peekable();
        failed.peek().is_some() && failed.all(|group| group.responses > group.unexpected)
    };
    match (had_it, vary(run)) {
        (false, _) => Beside::Nothing,
        (true, false) => Beside::Same,
        (true, true) => Beside::Alike,
    }
}

/// Whether two requests of one line, or of one step, may differ: by rows of a feed, by bodies in turn, by `{seq}`, by what a journey
/// captured and by cookies.
fn vary(run: &Run) -> bool {
    let Some(asked) = run.asked.as_ref() else { return true };
    let requests = &asked.requests;
    let patched = run.plan.requests.templates.iter().any(|template| !template.patches.is_empty());
    // Of a saved run the requests themselves are not known.
    let url = asked.destination.url.as_ref().map_or("", |url| &url.shown);
    let counted = ["{seq}", "{rand:"].iter().any(|word| url.contains(word));
    let in_turn = matches!(requests.bodies, Bodies::InTurn(_));
    requests.data.is_some() || in_turn || patched || counted || steps_vary(run)
}

/// Of several steps each but the first may send what those before it got.
fn steps_vary(run: &Run) -> bool {
    let Some(journey) = run.plan.journey.as_ref() else { return false };
    let Some(route) = journey.route.as_ref() else { return journey.steps.len() != 1 };
    let varies = |step: &Step| {
        let body = match &step.body {
            StepBody::None => true,
            StepBody::Template(text) => text.as_constant().is_some(),
            StepBody::File(_) | StepBody::Multipart(_) => false,
        };
        !body || step.url.as_constant().is_none() || step.query.as_constant().is_none()
    };
    route.journey.steps.len() != 1 || route.journey.steps.iter().any(varies)
}

/// The responses of a group that were no success.
pub(super) fn without_success(run: &Run, group: &GroupRecord) -> u64 {
    if run.plan.journey.as_ref().is_some_and(|own| own.permits_any(&group.name)) {
        return 0;
    }
    let others = group.statuses.iter().filter(|(status, _)| !is_success(run, **status));
    others.map(|(_, responses)| responses).sum()
}

/// Whether requests are told apart, and those that got such a response never got another: no part of a load is refused there.
pub(super) fn always_fail(run: &Run) -> bool {
    let each = run.record.groups.iter().map(|group| (without_success(run, group), group.responses));
    let mut failed = each.filter(|(failed, _)| *failed > 0).peekable();
    failed.peek().is_some() && failed.all(|(failed, responses)| failed == responses)
}
