//! What ended the connections, counted for each response: the first need not be like the others.

use ablaze_model::Run;
use ablaze_model::record::NotKeptBy;

use super::Reason;
use crate::words::{counted, grouped, listed};

/// From this share of the responses on a reason is said of all; those that have another are named behind it.
const NEARLY_ALL: f64 = 0.95;

/// What is known of all responses.
pub(super) enum Counted {
    /// Nearly all have this reason; and whether their heads have no length either.
    Nearly(Reason, bool),
    /// No reason is that of nearly all.
    Several,
    /// Older versions did not count.
    Unknown,
}

pub(super) fn of(run: &Run) -> Counted {
    let Some((by, count)) = most(run) else { return Counted::Unknown };
    if (count as f64) < run.record.responses as f64 * NEARLY_ALL {
        return Counted::Several;
    }
    match by {
        NotKeptBy::Close => Counted::Nearly(Reason::Close, false),
        NotKeptBy::CloseWithoutLength => Counted::Nearly(Reason::Close, true),
        NotKeptBy::NoKeepAlive => Counted::Nearly(Reason::NoKeepAlive, false),
        NotKeptBy::NoKeepAliveWithoutLength => Counted::Nearly(Reason::NoKeepAlive, true),
        NotKeptBy::NoLength => Counted::Nearly(Reason::NoLength, false),
        NotKeptBy::OldCoding => Counted::Nearly(Reason::OldCoding, false),
        NotKeptBy::Surplus => Counted::Nearly(Reason::Surplus, false),
        NotKeptBy::SurplusChunked => Counted::Nearly(Reason::SurplusChunked, false),
        NotKeptBy::SurplusResponse => Counted::Nearly(Reason::SurplusResponses, false),
    }
}

fn most(run: &Run) -> Option<(NotKeptBy, u64)> {
    run.record.not_kept.met().max_by_key(|(_, count)| *count)
}

/// Whether nearly all heads say that the server closes, or do not say that it does not.
pub(super) fn closes(run: &Run) -> bool {
    use NotKeptBy::{Close, CloseWithoutLength, NoKeepAlive, NoKeepAliveWithoutLength};
    let kinds = [Close, CloseWithoutLength, NoKeepAlive, NoKeepAliveWithoutLength];
    let these: u64 = kinds.into_iter().map(|by| run.record.not_kept.of(by)).sum();
    these as f64 >= run.record.responses as f64 * NEARLY_ALL
}

/// Whether every reason that was counted is in a head.
pub(super) fn in_heads(run: &Run) -> bool {
    use NotKeptBy::{Surplus, SurplusChunked, SurplusResponse};
    let behind = [Surplus, SurplusChunked, SurplusResponse];
    behind.into_iter().all(|by| run.record.not_kept.of(by) == 0)
}

/// The reasons with their numbers, the most frequent first.
pub(super) fn several(run: &Run) -> String {
    format!(
        "The responses differ in why their connection was not kept: {}.",
        listed(reasons(run, None))
    )
}

pub(super) fn fix_of_several(closes: String) -> String {
    format!(
        "Look at several responses with `curl -i` and the URL, and fix each of these by itself: a connection stays open only \
         behind a response that has none of them. If the server is meant to close, {closes}."
    )
}

/// Of how many responses a cause is true that was said of all, if not of all.
pub(super) fn of_how_many(run: &Run) -> String {
    match of(run) {
        Counted::Nearly(..) => {}
        Counted::Unknown if !run.record.first_head.is_empty() => {
            return " Of the heads only that of the first response was recorded: others may differ."
                .to_owned();
        }
        Counted::Unknown | Counted::Several => return String::new(),
    }
    let Some((by, count)) = most(run).filter(|(_, count)| *count < run.record.responses) else {
        return String::new();
    };
    format!(
        " So it was for {} of {}; {}.",
        grouped(count),
        counted(run.record.responses, "response"),
        listed(reasons(run, Some(by)))
    )
}

/// All reasons but one.
fn reasons(run: &Run, but: Option<NotKeptBy>) -> Vec<String> {
    let mut met: Vec<_> = run.record.not_kept.met().filter(|(by, _)| Some(*by) != but).collect();
    met.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let known = run.record.not_kept.total();
    let others = run.record.responses.saturating_sub(known);
    let others = (others > 0).then(|| format!("{} ended for another reason", grouped(others)));
    met.into_iter()
        .map(|(by, count)| format!("{} {}", grouped(count), what(by)))
        .chain(others)
        .collect()
}

fn what(by: NotKeptBy) -> &'static str {
    match by {
        NotKeptBy::Close => "had `Connection: close`",
        NotKeptBy::CloseWithoutLength => "had `Connection: close` and no length",
        NotKeptBy::NoKeepAlive => "had HTTP/1.0 without `Connection: keep-alive`",
        NotKeptBy::NoKeepAliveWithoutLength => {
            "had HTTP/1.0 without `Connection: keep-alive` and without a length"
        }
        NotKeptBy::NoLength => "had neither `Content-Length` nor `Transfer-Encoding: chunked`",
        NotKeptBy::OldCoding => "had HTTP/1.0 with `Transfer-Encoding`, which it does not define",
        NotKeptBy::Surplus => "had more bytes than announced",
        NotKeptBy::SurplusChunked => "had bytes behind the last chunk",
        NotKeptBy::SurplusResponse => "had another response behind, which nobody had asked for",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::live::sample;

    const CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n";

    /// The first of 20,000 responses has that head; so many have these reasons.
    fn found(first_head: &[u8], reasons: &[(NotKeptBy, u64)]) -> Finding {
        let mut run = sample::run();
        (run.record.reused, run.record.connections_opened) = (0, 20_000);
        run.record.first_head = first_head.to_vec();
        for (by, count) in reasons {
            run.record.not_kept.add(*by, *count);
        }
        super::super::on_run(&run).unwrap()
    }

    #[test]
    fn what_one_response_has_is_not_said_of_the_others() {
        use NotKeptBy::{Close, NoKeepAlive, NoLength, Surplus};
        let found_of = found(CLOSE, &[(Close, 1), (NoLength, 19_999)]);
        assert!(found_of.cause.starts_with("The head of the response has neither"), "{found_of:?}");
        let rest = "So it was for 19,999 of 20,000 responses; 1 had `Connection: close`.";
        assert!(found_of.cause.ends_with(rest), "{found_of:?}");
        assert!(!found_of.fix.contains("Enable keep-alive"), "{found_of:?}");
        // Whatever the first has that ends its connection.
        for (first_head, by) in [
            (&b"HTTP/1.1 200 OK\r\n\r\n"[..], NoLength),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Surplus),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", NoKeepAlive),
        ] {
            let found = found(first_head, &[(Close, 19_999), (by, 1)]);
            assert!(found.cause.starts_with("The server announces the end"), "{found:?}");
            assert!(!found.cause.contains("It has no"), "{found:?}");
            assert!(found.fix.starts_with("Enable keep-alive"), "{found:?}");
        }
    }

    #[test]
    fn several_reasons_are_listed_with_their_numbers() {
        use NotKeptBy::{Close, NoLength, Surplus};
        let found = found(CLOSE, &[(Close, 9_000), (NoLength, 10_000), (Surplus, 900)]);
        let listed = "10,000 had neither `Content-Length` nor `Transfer-Encoding: chunked`, 9,000 had `Connection: close`, 900 \
                      had more bytes than announced and 100 ended for another reason.";
        assert!(found.cause.ends_with(listed), "{found:?}");
        assert!(!found.fix.contains("nable keep-alive"), "{found:?}");
    }

    #[test]
    fn all_alike_are_told_as_one() {
        let found_of = found(CLOSE, &[(NotKeptBy::Close, 20_000)]);
        assert!(
            found_of.cause.ends_with("the head of its response has `Connection: close`."),
            "{found_of:?}"
        );
        let chunked = found(CLOSE, &[(NotKeptBy::SurplusChunked, 20_000)]);
        assert!(chunked.cause.contains("behind the last chunk"), "{chunked:?}");
        let both = found(CLOSE, &[(NotKeptBy::CloseWithoutLength, 20_000)]);
        assert!(both.fix.contains("Content-Length"), "{both:?}");
    }

    /// Older versions kept the first head alone.
    #[test]
    fn where_nothing_was_counted_that_is_said() {
        let found = found(CLOSE, &[]);
        assert!(found.cause.contains("only that of the first response was recorded"), "{found:?}");
    }
}
