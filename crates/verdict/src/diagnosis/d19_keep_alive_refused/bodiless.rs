//! Bytes behind responses that can have no body, whatever length they announce: by the method HEAD, or by their status (RFC 9112,
//! 6.3). Behind which of several the bytes came is not kept.

use ablaze_model::Run;

use crate::words::listed;

/// Which requests have the method HEAD.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heads {
    None,
    Some,
    All,
}

/// Cause and fix where no response can have a body.
fn known(run: &Run) -> Option<(&'static str, &'static str)> {
    if heads(run) == Heads::All {
        return Some((
            "The server sends bytes behind the head of its responses to HEAD, which have no body.",
            "Look at one with `curl -I` and the URL, and have the server send the head alone.",
        ));
    }
    has_no_bodies(run).then_some((
        "The server sends bytes behind the head of responses whose status permits no body (1xx, 204, 304).",
        "Look at one response with `curl -i` and the URL, and have the server send no body with it.",
    ))
}

/// The same where none can, or some.
pub(in crate::diagnosis) fn bodiless(run: &Run) -> Option<(String, String)> {
    if let Some((cause, fix)) = known(run) {
        return Some((cause.to_owned(), fix.to_owned()));
    }
    let statuses = run.record.statuses.keys().filter(|status| is_without(**status));
    let statuses: Vec<String> = statuses.map(u16::to_string).collect();
    let of_status = (!statuses.is_empty()).then(|| format!("those with {}", listed(statuses)));
    let of_method = (heads(run) == Heads::Some).then(|| "responses to HEAD".to_owned());
    let these: Vec<String> = of_method.into_iter().chain(of_status).collect();
    if these.is_empty() {
        return None;
    }
    let these = listed(these);
    Some((
        format!(
            "The server sends more bytes than these responses have: a next response could not be told apart from them. Behind which \
             responses was not recorded: {these} have no body, whatever length they announce; others end where their length says."
        ),
        format!(
            "Look at one of each with `curl -i` and its URL (for HEAD `curl -I`). Have the server send no body with {these}, and with \
             others as much as it announces."
        ),
    ))
}

/// Whether no response can have a body, by the method or by each status.
pub(super) fn has_no_bodies(run: &Run) -> bool {
    heads(run) == Heads::All || run.record.statuses.keys().all(|status| is_without(*status))
}

fn is_without(status: u16) -> bool {
    matches!(status, 100..=199 | 204 | 304)
}

/// Of a list or a journey the method of the first request, which the plan has, is not that of all: lines that say their own
/// have it in the name of their group, as most steps have.
fn heads(run: &Run) -> Heads {
    let first = run.plan.requests.method == "HEAD";
    let groups = &run.record.groups;
    let route = run.plan.journey.as_ref().and_then(|journey| journey.route.as_ref());
    let are: Vec<bool> = match route {
        Some(route) => route.journey.steps.iter().map(|step| step.method == "HEAD").collect(),
        None if groups.is_empty() && run.plan.requests.groups.too_many > 0 => vec![first, false],
        None if groups.is_empty() => vec![first],
        None => {
            // Lines without one have that of the options; where these are not known, any.
            let asked = run.asked.as_ref().and_then(|asked| asked.requests.method.as_ref());
            let usual = asked.map_or(run.asked.is_none() && first, |method| method.0 == b"HEAD");
            let is_head = |name: &str| match name.split_once(' ') {
                Some((method, _)) => method == "HEAD",
                None => usual,
            };
            groups.iter().map(|group| is_head(&group.name)).collect()
        }
    };
    match (are.iter().all(|is_head| *is_head), are.contains(&true) || first) {
        (true, _) if !are.is_empty() => Heads::All,
        (_, true) => Heads::Some,
        _ => Heads::None,
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::GroupRecord;
    use ablaze_model::spec::{Blob, Feed};

    use super::*;
    use crate::live::sample;

    fn of_list(names: &[&str], statuses: &[(u16, u64)]) -> Run {
        let mut run = sample::run();
        sample::asked(&mut run, &[]);
        let spec = run.asked.as_mut().unwrap();
        spec.requests.urls = Some(Feed { file: Blob::new("urls.txt", Vec::new()), part: None });
        run.record.groups = names.iter().map(|name| GroupRecord::new(name, false)).collect();
        run.plan.requests.method = names[0].split(' ').next().unwrap().to_owned();
        run.record.statuses = statuses.iter().copied().collect();
        run
    }

    #[test]
    fn head_is_not_to_blame_for_what_another_line_of_a_list_got() {
        let (cause, fix) =
            bodiless(&of_list(&["HEAD /x", "OPTIONS /x"], &[(200, 10_000), (204, 10_000)]))
                .unwrap();
        assert!(
            cause.contains("was not recorded: responses to HEAD and those with 204"),
            "{cause}"
        );
        assert!(!fix.contains("head alone"), "{fix}");
        // Of one that is announced and sent the length is right.
        let some = of_list(&["/x", "OPTIONS /x"], &[(200, 10_000), (204, 10_000)]);
        let (cause, fix) = bodiless(&some).unwrap();
        assert!(cause.contains("those with 204 have no body, whatever"), "{cause}");
        assert!(fix.contains("no body with those with 204"), "{fix}");
        // All of them.
        let all = bodiless(&of_list(&["HEAD /x", "HEAD /y"], &[(200, 10_000)])).unwrap();
        assert!(all.0.contains("behind the head of its responses to HEAD"), "{all:?}");
        assert_eq!(bodiless(&of_list(&["/x", "/y"], &[(200, 10_000)])), None);
    }
}
