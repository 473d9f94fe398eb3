//! The hostile server against `ablaze ab`: columns and exit statuses of docs/ab-compatibility.md.

use std::time::Duration;

use ablaze_testing::hostile::{Behaviour as B, Chunks, Hostile};

use crate::e2e::support::ablaze;

const RECEIVE: usize = 1;
const LENGTH: usize = 2;
const EXCEPTIONS: usize = 3;

/// Each behaviour: the column all ten requests fail in, if they do; the exit status; that with -r.
fn table() -> Vec<(B, Option<usize>, i32, i32)> {
    let chunked = |chunks| B::Chunked { body_bytes: 100, chunks };
    vec![
        (B::Fine { body_bytes: 5 }, None, 0, 0),
        (B::Status(404), None, 0, 0),
        (B::Status(503), None, 0, 0),
        (B::CloseAtOnce, Some(RECEIVE), 1, 1),
        (B::CloseWithoutResponse, Some(RECEIVE), 1, 1),
        (B::ResetAtOnce, Some(RECEIVE), 104, 1),
        (B::Reset, Some(RECEIVE), 104, 1),
        (B::ResetMidBody { announced: 100, sent: 10 }, Some(RECEIVE), 104, 1),
        (B::ShortBody { announced: 100, sent: 10 }, Some(LENGTH), 1, 1),
        (B::ShortHead, Some(LENGTH), 1, 1),
        (B::Late(Duration::from_millis(30)), None, 0, 0),
        (B::Trickle { body_bytes: 5, pause: Duration::from_millis(1) }, None, 0, 0),
        (B::Hang, Some(RECEIVE), 119, 119),
        (B::Stall { announced: 100, sent: 10 }, Some(RECEIVE), 119, 119),
        (chunked(Chunks::Whole), None, 0, 0),
        (chunked(Chunks::ByteByByte), None, 0, 0),
        (chunked(Chunks::ExtensionsAndTrailers), None, 0, 0),
        (chunked(Chunks::Broken), Some(EXCEPTIONS), 1, 1),
        (chunked(Chunks::Unfinished), Some(LENGTH), 1, 1),
        (B::UntilClose { body_bytes: 1000 }, None, 0, 0),
        (B::KeepAlive10, None, 0, 0),
        (B::Close10, None, 0, 0),
        (B::NoContent { bogus_length: Some(5) }, None, 0, 0),
        (B::NotModified { length: Some(5) }, None, 0, 0),
        (B::ContinueFirst, None, 0, 0),
        (B::BareLf, None, 0, 0),
        (B::ObsFold, None, 0, 0),
        (B::SplitEverywhere { pause: Duration::ZERO }, None, 0, 0),
        (B::Garbage, Some(EXCEPTIONS), 1, 1),
        (B::Surplus { bytes: 7 }, None, 0, 0),
        (B::ConflictingLengths, Some(EXCEPTIONS), 1, 1),
        (B::LengthAndChunked, Some(EXCEPTIONS), 1, 1),
        (B::LengthNoNumber, Some(EXCEPTIONS), 1, 1),
        (B::LongHead { field_bytes: 30_000 }, None, 0, 0),
        (B::LongHead { field_bytes: 100_000 }, Some(EXCEPTIONS), 1, 1),
        (B::EndlessHead, Some(EXCEPTIONS), 1, 1),
        (B::ResponsesThenClose { responses: 3, announced: true }, None, 0, 0),
        (B::ResponsesThenClose { responses: 3, announced: false }, None, 0, 0),
        (B::ResponseBeforeBody, None, 0, 0),
        (B::ResponseBeforeBodyThenReset, None, 0, 0),
    ]
}

#[test]
fn columns_and_statuses_are_those_of_the_table_over_io_uring() {
    columns_and_statuses_are_those_of_the_table("uring");
}

#[test]
fn columns_and_statuses_are_those_of_the_table_over_epoll() {
    columns_and_statuses_are_those_of_the_table("epoll");
}

fn columns_and_statuses_are_those_of_the_table(io: &str) {
    let mut wrong = Vec::new();
    for (behaviour, column, plain, tolerant) in table() {
        for (more, status) in [(&[][..], plain), (&["-r"][..], tolerant)] {
            let server = Hostile::always(behaviour.clone()).unwrap();
            let url = server.url();
            // Short where requests are to run into it; where not, longer than the busiest machine takes.
            let timeout = if plain == 119 { "300ms" } else { "30s" };
            let words: &[&str] = &["ab", "-k", "-n10", "-c2", "--timeout", timeout, "--io", io];
            let ran = ablaze(&[words, more, &[&url]].concat());
            let mut columns = [0; 4];
            column.into_iter().for_each(|at| columns[at] = 10);
            let seen = (complete(&ran.stdout), failed(&ran.stdout), ran.status);
            if seen != (Some(10), columns, status) || ran.stderr.contains("panicked") {
                wrong.push(format!(
                    "{io} {behaviour:?} {more:?}: {seen:?} instead of {columns:?}, {status}: {}",
                    ran.stderr
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn complete(report: &str) -> Option<u64> {
    let line = report.lines().find(|line| line.starts_with("Complete requests:"))?;
    line.split_whitespace().last()?.parse().ok()
}

fn failed(report: &str) -> [u64; 4] {
    let Some(line) = report.lines().find(|line| line.starts_with("   (Connect:")) else {
        return [0; 4];
    };
    let digits = |word: &str| word.trim_matches(|letter: char| !letter.is_ascii_digit()).parse();
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| digits(word).ok()).collect();
    numbers.try_into().unwrap()
}
