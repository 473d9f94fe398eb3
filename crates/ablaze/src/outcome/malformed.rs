//! What is said of responses that are no HTTP, by how the first of them began.

use ablaze_model::Run;
use ablaze_model::spec::FrontEnd;
use ablaze_verdict::live::request_shown;
use ablaze_wire::http1::response::{self, HeadError};

/// What is wrong with a response, as far as its beginning tells.
pub(super) fn malformed(to: &str, run: &Run) -> String {
    let began = &run.record.first_malformed;
    if began.is_empty() {
        return format!(
            "the bodies of {to} are not valid chunked coding, or have size lines or trailers longer than the client takes: see its \
             log"
        );
    }
    if run.record.began_with_http2() {
        let option = match run.front_end() {
            FrontEnd::Load => "--http 2",
            _ => "`ablaze load --http 2`",
        };
        return format!("{to} speaks HTTP/2 from the first byte on: use {option}");
    }
    if !began.starts_with(b"HTTP/1.") {
        return format!("{to} sent something that is not HTTP/1: is it the right port?");
    }
    let max_head_bytes = run.plan.limits.max_head_bytes;
    match response::scan(began, 0, false, max_head_bytes) {
        Err(HeadError::Malformed(fault)) => {
            format!("the response heads of {to} are not valid: {fault}")
        }
        _ => format!(
            "the response heads of {to} are not valid HTTP/1: see one with {}",
            request_shown(run, "-i")
        ),
    }
}
