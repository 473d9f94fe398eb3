//! What to do about requests that got no valid response, where no cause has a fix of its own.

use ablaze_model::{FailureKind, Run};

use super::{begun, causes, hosts, opening, told};
use crate::live::options::{Opt, spelled};
use crate::live::request_shown;

/// In the words of the kinds that most of the failures are of.
pub(super) fn fix(run: &Run) -> String {
    if causes::is_stream_that_timed_out(run) {
        return begun::fix_of_stream(run);
    }
    if causes::timed_out_here(run) && !causes::held_by_the_server(run) {
        return format!(
            "Permit more connections ({}), or lower the rate ({}), until requests leave when they are \
             due.",
            spelled(run, Opt::Connections),
            spelled(run, Opt::Rate)
        );
    }
    let unopened = opening::unopened(run);
    if unopened * 2 > run.record.failures_total() {
        return opening::fix(run, unopened).to_owned();
    }
    let refused = run.record.failures_of(FailureKind::Refused);
    if refused * 2 > run.record.failures_total()
        && let Some(fix) = of_refused(run)
    {
        return fix.to_owned();
    }
    if let Some(fix) = told::fix(run) {
        return fix;
    }
    let too_long = run.record.failures_of(FailureKind::TooLarge);
    if too_long * 2 > run.record.failures_total() {
        return format!(
            "Allow longer heads ({}), or look with {} at what makes them so long.",
            spelled(run, Opt::MaxHead),
            request_shown(run, "-i")
        );
    }
    let shown = request_shown(run, "-v");
    let what = match run.plan.journey {
        Some(_) => "the requests of one journey get",
        None => "a single one gets",
    };
    // Who speaks another protocol, or none, has no log of requests.
    let is_met = run.record.responses > 0 || run.plan.journey.is_some() && !speaks_otherwise(run);
    if is_met && let Some(groups) = hosts::one_of_several(run) {
        return format!(
            "See in the log of the server of {groups} what became of these requests; {shown} shows what {what}."
        );
    }
    if is_met {
        return format!(
            "See in the server's log what became of these requests; {shown} shows what {what}."
        );
    }
    format!(
        "Try the target once with {shown} to see what it does, and measure again once a response \
         comes whole."
    )
}

/// Where to look at what refuses connections: no request reached a log.
fn of_refused(run: &Run) -> Option<&'static str> {
    let over_tcp = run.plan.target.unix_socket.is_none();
    if hosts::never_listened(run).is_some() {
        return Some(hosts::FIX_OF_NEVER);
    }
    match run.record.responses {
        0 => (run.plan.journey.is_some() && over_tcp).then_some(hosts::FIX_OF_NEVER),
        _ => Some(
            "See in the server's log whether it ended, or closed its listening socket: what is refused does not reach it. Measure \
             again once it listens all the time.",
        ),
    }
}

/// Whether most of the failures are those of a peer that does not speak what was spoken to it.
fn speaks_otherwise(run: &Run) -> bool {
    use FailureKind::{
        AnsweredInPlain, AnsweredInTls, LocalPorts, Malformed, NoHttp2, NoHttp3, Refused,
        Unreachable,
    };
    let kinds = [
        Malformed,
        NoHttp2,
        NoHttp3,
        AnsweredInPlain,
        AnsweredInTls,
        Refused,
        Unreachable,
        LocalPorts,
    ];
    let of_these: u64 = kinds.into_iter().map(|kind| run.record.failures_of(kind)).sum();
    of_these * 2 > run.record.failures_total()
}
