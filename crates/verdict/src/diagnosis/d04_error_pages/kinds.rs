//! What kinds of responses those are that do not count as a success, and what is said of each.

use ablaze_model::Run;

use super::expected::Beside;
use super::{MOST, expected, idle, redirects};
use crate::live::options::{Opt, spelled};
use crate::live::{curl, headers, walk};

pub(super) const CAUSE_OF_ALL: &str = "The rate is that of an error page or a redirect, which costs a \
                             server different work than the intended page.";
pub(super) const CAUSE_OF_MOST: &str = "Most responses are error pages or redirects, which cost a server \
                             different work than the intended page, and they count in the rate \
                             and in the times.";
pub(super) const CAUSE_OF_SOME: &str = "Some responses are error pages or redirects, which cost a server \
                             different work than the intended page, and they count in the rate \
                             and in the times.";

/// What the responses are that do not count as a success.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Redirects, and nothing else.
    Redirects,
    /// Successes, of which `--expect` names none.
    Unnamed,
    /// 304, where nobody named it and no request asked for it.
    NotModified,
    /// Beside others that succeeded: 429 or 503.
    Refusals,
    /// The connection speaks something else from then on.
    Switched,
    /// 408 on connections that were kept, which may have come before the request.
    Idle,
    /// Statuses of clients' and servers' errors, and nothing else.
    Errors,
    /// Errors and redirects.
    Pages,
    /// Several of these, some of which are neither an error nor a redirect.
    Several,
}

impl Kind {
    pub fn of(statuses: impl Iterator<Item = u16> + Clone, refuses_a_part: bool) -> Self {
        let all = |these: &dyn Fn(u16) -> bool| statuses.clone().all(these);
        if all(&|status| (300..400).contains(&status) && status != 304) {
            Self::Redirects
        } else if all(&|status| (200..300).contains(&status) || status == 304) {
            Self::Unnamed
        } else if refuses_a_part && all(&|status| matches!(status, 429 | 503)) {
            Self::Refusals
        } else if all(&|status| status >= 400) {
            Self::Errors
        } else if all(&|status| status == 101) {
            Self::Switched
        } else if all(&|status| status >= 300 && status != 304) {
            Self::Pages
        } else {
            Self::Several
        }
    }

    pub fn verb(self, run: &Run) -> &'static str {
        match self {
            Self::Redirects if redirects::lead_nowhere(run) => "were redirects",
            Self::Redirects if redirects::are_to_be_followed(run) => {
                "were redirects that the journey did not follow"
            }
            Self::Redirects => "were redirects, which nobody followed",
            Self::Switched => "changed the protocol",
            Self::Unnamed | Self::Several => "had a status that is not expected",
            Self::NotModified => "said that nothing has changed, without being asked",
            Self::Refusals | Self::Idle | Self::Errors | Self::Pages => "did not succeed",
        }
    }

    pub fn in_words(self, run: &Run, share: f64) -> (String, String) {
        let option = spelled(run, Opt::Expect);
        // The file of a journey says what is expected.
        let expect = &match &run.plan.journey {
            Some(_) => "in the journey's file (`HTTP` and the status below the request)".to_owned(),
            None => format!("with {option}"),
        };
        let cause = match self {
            Self::Redirects => {
                "The rate has redirects in it, which cost a server different work than the page \
                 that they lead to."
            }
            Self::NotModified => {
                return (
                    "The server says that what the client has is still valid (304), and no request said that it \
                     has anything: the rate is that of responses without a body."
                        .to_owned(),
                    format!(
                        "Find out why the server responds so to a request without If-None-Match and \
                         If-Modified-Since; if that is what is measured, name the status {expect}."
                    ),
                );
            }
            Self::Unnamed => {
                return (
                    format!(
                        "Neither errors nor redirects: these statuses are outside of those expected, which are {}.",
                        expected::in_words(run)
                    ),
                    format!(
                        "Give the statuses that are intended {expect}, or find out why others \
                         come."
                    ),
                );
            }
            // 503 says no more than that it cannot for the time being (RFC 9110, 15.6.4).
            Self::Refusals if run.record.statuses.contains_key(&503) => {
                "The server refuses a part of the load. Why, the status does not say: a limit on requests or connections, \
                 overload, a worker or a backend that fails, and a server that is down for a part of the run look the \
                 same. Refusals cost it different work, and they count in the rate and in the times."
            }
            Self::Refusals => {
                "The server refuses a part of the load, as too many requests (429): it limits requests or \
                 connections, or is overloaded. Refusals cost it different work, and they count \
                 in the rate and in the times."
            }
            Self::Switched => {
                "The connection speaks another protocol from such a response on: the rate is that \
                 of connections, each with one request."
            }
            Self::Idle => idle::CAUSE,
            Self::Errors if share >= 1.0 => {
                "The rate is that of an error page, which costs a server different work than the \
                 intended page."
            }
            Self::Errors if share > MOST => {
                "Most responses are error pages, which cost a server different work than the \
                 intended page, and they count in the rate and in the times."
            }
            Self::Errors => {
                "Some responses are error pages, which cost a server different work than the \
                 intended page, and they count in the rate and in the times."
            }
            Self::Several => {
                "Not all of these are errors or redirects: their statuses are outside of those expected, and they count in \
                 the rate and in the times."
            }
            Self::Pages if share >= 1.0 => CAUSE_OF_ALL,
            Self::Pages if share > MOST => CAUSE_OF_MOST,
            Self::Pages => CAUSE_OF_SOME,
        };
        (cause.to_owned(), self.fix(run, expect))
    }

    fn fix(self, run: &Run, expect: &str) -> String {
        let look = match &run.plan.journey {
            Some(_) => {
                format!("Look at the responses with `{}`", walk::command_with_response(run, ""))
            }
            None => format!(
                "Look at one response with `curl -i {}`",
                curl::arguments_where(run, |group| expected::without_success(run, group))
            ),
        };
        match self {
            Self::Redirects if redirects::are_to_be_followed(run) => format!(
                "{look} to see why they were not followed: they are followed to hosts that are known before the run (a step \
                 with `skip: true` makes one known), and no more of them than --max-redirs says; if redirects are what is \
                 measured, name their status {expect}, with `location: false` in the step's `[Options]`."
            ),
            Self::Idle => format!(
                "{}; where requests are slow or not whole, {}. If these responses are intended, give their status {expect}.",
                idle::fix(run),
                look.replacen("Look", "look", 1)
            ),
            Self::Redirects => {
                let way = match redirects::lead_nowhere(run) {
                    true => ": the first has no Location, and leads nowhere",
                    false if run.plan.journey.is_some() => {
                        ", and have the steps follow them: `location: true` in their `[Options]`, or --location for all"
                    }
                    false => " and load the URL that it leads to",
                };
                format!(
                    "{look}{way}; if redirects are what is measured, name their status {expect}."
                )
            }
            Self::Refusals if run.record.statuses.contains_key(&503) => format!(
                "See in the server's log, or in one of these responses, why it refuses. Where it has a limit, measure below it; if \
                 refusals are intended, give their status {expect}."
            ),
            // A search has no option for it: it sets the rate itself.
            Self::Refusals if run.plan.load.is_open() => format!(
                "Take a rate at which no request is refused, or raise the server's limit; if refusals are intended, give \
                 their status {expect}."
            ),
            Self::Refusals => format!(
                "Use a rate ({}) below the server's limit, or fewer connections ({}) where these are what it limits, or raise its \
                 limit; if refusals are intended, give their status {expect}.",
                spelled(run, Opt::Rate),
                spelled(run, Opt::Connections)
            ),
            Self::Switched => match headers::given(run, "upgrade") {
                Some(_) => format!("{look}, and leave out the header that asks for the change."),
                None => format!("{look}: no request asked for the change (Upgrade)."),
            },
            // One that nobody had asked for is no answer.
            Self::Errors
                if run.record.surplus_responses > 0
                    && expected::success_beside(run) != Beside::Nothing =>
            {
                format!(
                    "See in the server's log why these failed, and whether they were answers: the server also sent responses that \
                     nobody had asked for, and one that comes as the next request leaves is taken for its response. If they are \
                     intended, give their status {expect}."
                )
            }
            // The same request had success as well: one response alone shows either.
            Self::Errors if expected::success_beside(run) == Beside::Same => format!(
                "See in the server's log why these failed: they were answers to the same request as those that did not. \
                 If they are intended, give their status {expect}."
            ),
            Self::Errors if expected::success_beside(run) == Beside::Alike => {
                let (what, look) = match &run.plan.journey {
                    Some(_) => (
                        "steps",
                        format!("Walk a journey with `{}`. ", walk::command_with_response(run, "")),
                    ),
                    None if run.record.groups.is_empty() => ("URL", String::new()),
                    None => ("URLs", String::new()),
                };
                format!(
                    "{look}See in the server's log which requests failed, and why: others of the same {what} had success, with other \
                     contents or at another time. If these responses are intended, give their status {expect}."
                )
            }
            Self::Errors | Self::Pages | Self::Several | Self::Unnamed | Self::NotModified => {
                format!(
                    "{look}, fix the URL or the server, and measure again; if these responses are \
                 intended, give their status {expect}."
                )
            }
        }
    }
}
