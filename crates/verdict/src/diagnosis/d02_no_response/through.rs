//! Who is named where a tunnel of a proxy lies between: what the proxy ends, or holds up, looks as if the target did. Where the
//! proxy forwards requests, it is the one that was met.

use ablaze_model::{FailureKind, Run};

use super::opening;
use crate::live::whose::is_forwarded;

/// In front of what is said of a server.
const SUBJECTS: [&str; 3] =
    ["The server, or something in front of it,", "The server ", "the server "];

/// A cause of this kind, told of both where tunnels stood and either can be why.
pub(super) fn tunnels(run: &Run, kind: FailureKind, cause: String) -> String {
    use FailureKind::{ClosedWithoutResponse, Reset, ShortBody, ShortHead, Timeout, TlsTruncated};
    let either = [ClosedWithoutResponse, Reset, ShortBody, ShortHead, Timeout, TlsTruncated];
    match either.contains(&kind) {
        true => of_both(run, cause),
        false => cause,
    }
}

/// The same of anything that both can do.
pub(super) fn of_both(run: &Run, cause: String) -> String {
    let found = SUBJECTS.into_iter().find(|subject| cause.contains(subject));
    let is_forwarded = is_forwarded(run);
    let is_through = is_forwarded || opening::tunnels(run) > 0;
    let Some(subject) = found.filter(|_| is_through) else { return cause };
    let the = &subject[..3];
    let both = match is_forwarded {
        true => format!("{the} proxy, or the target behind it,"),
        false => format!("{the} target, or the proxy in front of it,"),
    };
    let space = if subject.ends_with(' ') { " " } else { "" };
    cause.replacen(subject, &(both + space), 1)
}
