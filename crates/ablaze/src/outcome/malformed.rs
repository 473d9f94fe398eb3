//! What is said of responses that are no HTTP, by what nearly all of them are.

use ablaze_model::record::MalformedBy;
use ablaze_model::spec::FrontEnd;
use ablaze_model::{FailureKind, Run};
use ablaze_verdict::live::{malformed_alike, malformed_told_apart, request_shown};
use ablaze_wire::http1::response::{self, HeadError};

/// What is wrong with the responses, as far as is known of nearly all.
pub(super) fn malformed(to: &str, run: &Run) -> String {
    match malformed_alike(run) {
        None => {
            let apart = malformed_told_apart(run);
            format!("{to} sent no valid response, and not the same each time: {apart}")
        }
        Some(MalformedBy::Chunks) => format!(
            "the bodies of {to} are not valid chunked coding, or have size lines or trailers longer than the client takes: see its \
             log"
        ),
        Some(MalformedBy::Http2) => {
            let option = match run.front_end() {
                FrontEnd::Load => "--http 2",
                _ => "`ablaze load --http 2`",
            };
            format!("{to} speaks HTTP/2 from the first byte on: use {option}")
        }
        Some(MalformedBy::NotHttp1 | MalformedBy::Request) => {
            format!("{to} sent something that is not HTTP/1: is it the right port?")
        }
        Some(MalformedBy::Head) => of_heads(to, run),
    }
}

/// The fault of the first is the only one that is known.
fn of_heads(to: &str, run: &Run) -> String {
    let began = &run.record.first_malformed;
    let is_head = MalformedBy::of_head(began) == MalformedBy::Head;
    let max_head_bytes = run.plan.limits.max_head_bytes;
    match response::scan(began, 0, false, max_head_bytes) {
        Err(HeadError::Malformed(fault)) if is_head => {
            let first = match run.record.failures_of(FailureKind::Malformed) {
                1 => "",
                _ => ", in the first of them",
            };
            format!("the response heads of {to} are not valid{first}: {fault}")
        }
        _ => format!(
            "the response heads of {to} are not valid HTTP/1: see one with {}",
            request_shown(run, "-i")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_is_is_not_said_of_the_others() {
        let mut run = ablaze_model::by_hand::run();
        run.record.failures[FailureKind::Malformed as usize] = 300;
        run.record.first_malformed = b"220 mail ESMTP\r\n".to_vec();
        run.record.malformed.add(MalformedBy::NotHttp1, 1);
        run.record.malformed.add(MalformedBy::Chunks, 150);
        run.record.malformed.add(MalformedBy::Head, 149);
        let said = malformed("there", &run);
        assert!(!said.contains("right port") && said.contains("150 times a body"), "{said}");
        run.record.malformed.add(MalformedBy::Head, 100_000);
        let said = malformed("there", &run);
        assert!(said.starts_with("the response heads of there are not valid HTTP/1"), "{said}");
    }
}
