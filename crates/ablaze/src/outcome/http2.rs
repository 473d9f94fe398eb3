//! What to tell a person whose run over HTTP/2 got no response: the codes that came, as often as they did, and the words of
//! the first failure as its own.

use ablaze_model::record::{Codes, Http2Facts};
use ablaze_model::{FailureKind, Run};
use ablaze_report::number::grouped;
use ablaze_wire::http2::error::ErrorCode;

use super::refused::without_http2;
use super::spoke_http2;

/// What to do about a failure that HTTP/2 has words of its own for.
pub(super) fn of_failure(kind: FailureKind, to: &str, run: &Run) -> String {
    let facts = run.record.http2.as_deref();
    if let Some(codes) = facts.and_then(|facts| different_codes(kind, facts)) {
        return of_codes(&codes, kind, to, run);
    }
    let words = facts.and_then(|facts| {
        let failed = facts.first_failure.as_ref().filter(|(of, _)| *of == kind);
        let failed = failed.map(|(_, words)| words);
        // That it refused a request twice says less than the error that it named.
        match kind {
            FailureKind::GoAway => facts.first_goaway.as_ref().or(failed),
            _ => failed,
        }
    });
    let Some(words) = words else {
        return format!("HTTP/2 with {to} failed: see the server's log");
    };
    // Of what breaks a rule only the first is kept.
    let is_violated = kind == FailureKind::Http2Violated;
    let first = match is_violated && run.record.failures_of(kind) > 1 {
        true => " (the first time)",
        false => "",
    };
    if is_violated && !spoke_http2(run) {
        return format!("HTTP/2 with {to} failed: {words}{first}; does it speak HTTP/2?");
    }
    match words.contains("HTTP_1_1_REQUIRED") {
        true => requires_http1(to, words, run),
        false => format!("HTTP/2 with {to} failed: {words}{first}"),
    }
}

fn requires_http1(to: &str, words: &str, run: &Run) -> String {
    format!("{to} requires HTTP/1.1 for this request ({words}): {}", without_http2(run))
}

/// The codes that came, the most frequent first; `None` where all are the same, which the first words say, or none says that
/// something failed.
fn different_codes(kind: FailureKind, facts: &Http2Facts) -> Option<Vec<(u32, u64)>> {
    let Codes(counted) = match kind {
        FailureKind::StreamReset => &facts.resets,
        FailureKind::GoAway => &facts.goaway_codes,
        _ => return None,
    };
    let mut codes = counted.clone();
    codes.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    (codes.len() > 1).then_some(codes)
}

fn of_codes(codes: &[(u32, u64)], kind: FailureKind, to: &str, run: &Run) -> String {
    let all: u64 = codes.iter().map(|(_, times)| times).sum();
    let Some(&(code, times)) = codes.first() else {
        return format!("HTTP/2 with {to} failed: see the server's log");
    };
    let of_all = format!("{} of {}", grouped(times), grouped(all));
    let name = Codes::name(code);
    let share = match kind {
        FailureKind::GoAway => format!("{of_all} GOAWAY frames have {name}"),
        _ => format!("the server reset {of_all} streams with {name}"),
    };
    match code == ErrorCode::HTTP_1_1_REQUIRED.0 && times * 2 > all {
        true => requires_http1(to, &share, run),
        false => format!("HTTP/2 with {to} failed: {share}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(kind: FailureKind, codes: &[(u32, u64)], first: (FailureKind, &str)) -> String {
        let mut run = ablaze_model::by_hand::run();
        run.record.failures = [0; FailureKind::ALL.len()];
        run.record.failures[kind as usize] = 200;
        let counted = || Codes(codes.to_vec());
        let is_goaway = kind == FailureKind::GoAway;
        let facts = Http2Facts {
            resets: if is_goaway { Codes::default() } else { counted() },
            goaway_codes: if is_goaway { counted() } else { Codes::default() },
            first_goaway: is_goaway.then(|| first.1.to_owned()),
            first_failure: Some((first.0, first.1.to_owned())),
            ..Http2Facts::default()
        };
        run.record.http2 = Some(facts.into());
        of_failure(kind, "there", &run)
    }

    /// The first may be the only one of its kind.
    #[test]
    fn the_code_that_came_most_is_the_one_that_is_told() {
        use FailureKind::{GoAway, Http2Violated, StreamReset};
        let said = with(StreamReset, &[(13, 1), (2, 199)], (StreamReset, "HTTP_1_1_REQUIRED"));
        let reset =
            "HTTP/2 with there failed: the server reset 199 of 200 streams with INTERNAL_ERROR";
        assert_eq!(said, reset);
        let said = with(GoAway, &[(11, 1), (2, 199)], (GoAway, "ENHANCE_YOUR_CALM: slower"));
        assert_eq!(said, "HTTP/2 with there failed: 199 of 200 GOAWAY frames have INTERNAL_ERROR");
        let said = with(StreamReset, &[(2, 1), (13, 199)], (StreamReset, "INTERNAL_ERROR"));
        assert!(said.starts_with("there requires HTTP/1.1 for this request"), "{said}");
        let said = with(GoAway, &[(11, 200)], (GoAway, "ENHANCE_YOUR_CALM: slower"));
        assert!(said.ends_with("failed: ENHANCE_YOUR_CALM: slower"), "{said}");
        // Nothing is counted of what breaks a rule.
        let said = with(Http2Violated, &[], (Http2Violated, "a bad index"));
        assert!(said.contains("failed: a bad index (the first time)"), "{said}");
        // What another kind failed by is not said of this one.
        let said = with(Http2Violated, &[], (StreamReset, "CANCEL"));
        assert!(said.ends_with("see the server's log"), "{said}");
    }
}
