//! What malformed responses are, counted for each of them: the first need not be like the others.

use ablaze_model::Run;
use ablaze_model::record::{MalformedBy, Record};

use crate::words::{counted, grouped, listed};

/// From this share on a kind is said of all; those of another are named behind it.
const NEARLY_ALL: f64 = 0.95;

/// The record does not tell these from each other: the limits are the scanner's own.
const NOT_CHUNKED: &str = "are not valid chunked coding, or have a chunk whose size line (with its extensions) is longer than 16 KiB, or \
                           trailers longer than 64 KiB, which the client does not take";

/// What the malformed responses of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// Nearly all of those that were looked at are this.
    Nearly(MalformedBy),
    /// The first is this. Older versions did not look at others.
    First(MalformedBy),
    /// None is what nearly all are.
    Several,
}

/// What is known of a run with malformed responses.
pub fn kinds(run: &Run) -> Kinds {
    let record = &run.record;
    match record.malformed.met().max_by_key(|(_, count)| *count) {
        Some((by, count)) if count as f64 >= record.malformed.total() as f64 * NEARLY_ALL => {
            Kinds::Nearly(by)
        }
        Some(_) => Kinds::Several,
        // What came is kept where it was no valid head.
        None if record.first_malformed.is_empty() => Kinds::Nearly(MalformedBy::Chunks),
        None if Record::is_http2(&record.first_malformed) => Kinds::First(MalformedBy::Http2),
        None if record.first_malformed.starts_with(b"HTTP/1.") => Kinds::First(MalformedBy::Head),
        None => Kinds::First(MalformedBy::NotHttp1),
    }
}

/// `299 times a body that ..., 1 time something that is not HTTP/1`, the most frequent first; without one of them.
pub fn told_apart(run: &Run, but: Option<MalformedBy>) -> String {
    let mut met: Vec<_> = run.record.malformed.met().filter(|(by, _)| Some(*by) != but).collect();
    met.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    listed(met.into_iter().map(|(by, count)| format!("{} {}", counted(count, "time"), named(by))))
}

fn named(by: MalformedBy) -> &'static str {
    match by {
        MalformedBy::NotHttp1 => "something that is not HTTP/1",
        MalformedBy::Http2 => "SETTINGS of HTTP/2",
        MalformedBy::Request => "a request, as an echo sends it back",
        MalformedBy::Head => "a head that is not valid HTTP/1",
        MalformedBy::Chunks => {
            "a body that is not valid chunked coding, or has size lines or trailers longer than the client takes"
        }
    }
}

/// Why so many responses are malformed.
pub(super) fn cause(run: &Run, count: u64) -> String {
    let record = &run.record;
    let some = record.responses > 0;
    let by = match kinds(run) {
        // How they begin says nothing then.
        _ if some && record.circumstances.malformed_behind == count => return behind(count),
        Kinds::Several => {
            return format!(
                "What came instead of valid responses differs: {}.",
                told_apart(run, None)
            );
        }
        Kinds::Nearly(by) | Kinds::First(by) => by,
    };
    let said = if some { of_some(run, by, count) } else { of_all(by) };
    said + &of_others(run, by)
}

/// What is not as was said of all, or not known to be.
fn of_others(run: &Run, by: MalformedBy) -> String {
    match kinds(run) {
        Kinds::First(_) if run.record.failures_of(ablaze_model::FailureKind::Malformed) > 1 => {
            " Of these only the first was recorded: others may differ.".to_owned()
        }
        _ => match told_apart(run, Some(by)) {
            others if others.is_empty() => others,
            others => format!(" Other things came as well: {others}."),
        },
    }
}

fn behind(count: u64) -> String {
    format!(
        "{} times bytes that begin no response came on a connection whose responses before had been whole: more \
         than the length of the response before that comes late, or something that is not HTTP/1; nothing tells \
         these apart.",
        grouped(count)
    )
}

/// The same where other responses were valid.
fn of_some(run: &Run, by: MalformedBy, count: u64) -> String {
    let what = match by {
        MalformedBy::Chunks => format!("had bodies that {NOT_CHUNKED}"),
        MalformedBy::Head => "had heads that are not valid HTTP/1".to_owned(),
        // Whatever comes behind a response there is taken for the next one.
        _ if run.plan.load.pipeline() > 1 => {
            "were not HTTP/1; on pipelined connections bytes beyond the length of a response are taken for \
             the next one"
                .to_owned()
        }
        _ => "were not HTTP/1".to_owned(),
    };
    format!("{} of the responses {what}.", grouped(count))
}

fn of_all(by: MalformedBy) -> String {
    match by {
        MalformedBy::Chunks => format!("The server's responses have bodies that {NOT_CHUNKED}."),
        MalformedBy::Head => {
            "The server speaks HTTP/1, but the heads of its responses are not valid.".to_owned()
        }
        MalformedBy::Http2 => {
            "What the server sends is not HTTP/1: it begins with SETTINGS of HTTP/2.".to_owned()
        }
        MalformedBy::NotHttp1 | MalformedBy::Request => {
            "What the server sends is not HTTP/1.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind;

    use super::*;
    use crate::live::sample;

    fn with(first: &[u8], kinds: &[(MalformedBy, u64)]) -> String {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        run.record.first_malformed = first.to_vec();
        let count = kinds.iter().map(|(_, count)| count).sum();
        run.record.failures[FailureKind::Malformed as usize] = count;
        for (by, count) in kinds {
            run.record.malformed.add(*by, *count);
        }
        cause(&run, count)
    }

    const BANNER: &[u8] = b"220 mail ESMTP\r\n";
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n";

    #[test]
    fn what_the_first_is_is_not_said_of_the_others() {
        use MalformedBy::{Chunks, Head, NotHttp1};
        let said = with(BANNER, &[(NotHttp1, 1), (Head, 150), (Chunks, 149)]);
        assert!(!said.contains("What the server sends"), "{said}");
        let heads = "150 times a head that is not valid HTTP/1, 149 times a body";
        assert!(said.contains(heads), "{said}");
        assert!(said.ends_with("and 1 time something that is not HTTP/1."), "{said}");
        let said = with(HEAD, &[(Head, 1), (NotHttp1, 299)]);
        assert!(said.starts_with("What the server sends is not HTTP/1. Other"), "{said}");
        assert!(said.ends_with(": 1 time a head that is not valid HTTP/1."), "{said}");
    }

    #[test]
    fn all_alike_are_told_as_one() {
        let said = with(HEAD, &[(MalformedBy::Head, 300)]);
        assert!(said.ends_with("but the heads of its responses are not valid."), "{said}");
    }

    /// Older versions kept how the first began, and nothing of the others.
    #[test]
    fn where_nothing_was_counted_that_is_said() {
        let mut run = sample::run();
        sample::nobody_answers(&mut run);
        run.record.first_malformed = BANNER.to_vec();
        run.record.failures[FailureKind::Malformed as usize] = 2;
        let said = cause(&run, 2);
        assert!(said.ends_with("only the first was recorded: others may differ."), "{said}");
        assert!(run.record.malformed.total() == 0 && said.contains("is not HTTP/1."), "{said}");
    }
}
