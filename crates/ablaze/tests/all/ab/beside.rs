//! The misbehaving server, once under the real ab and once under `ablaze ab`, with the same words.
//! Where both end alike, every count and label is compared; where they do not, what ab says is held
//! against what is known of it, and docs/ab-compatibility.md must have a row about it.

use std::sync::Mutex;
use std::time::Duration;

use ablaze_testing::hostile::{Behaviour as B, Chunks, Hostile};

use crate::ab::document::rows;
use crate::ab::report_reader::Report;
use crate::ab::support::{Ran, ablaze, real_ab};

/// How a run of four requests on one connection ends.
#[derive(Debug, Clone, PartialEq)]
struct End {
    status: i32,
    /// None when there is no report.
    reported: Option<Reported>,
}

#[derive(Debug, Clone, PartialEq)]
struct Reported {
    complete: u64,
    /// Connect, receive, length, exceptions.
    failed: [u64; 4],
    document_length: String,
}

/// What both must do.
enum Beside {
    /// The same.
    Same,
    /// Something else each; the row of the document that says so begins with these words.
    Differs(&'static str, End, End),
    /// As `Differs`, where what ab does depends on which of two events it sees first.
    DiffersByChance(&'static str, End),
}
use Beside::{Differs, DiffersByChance, Same};

/// Rows of the document, by how they begin.
const CLOSED_IS_FAILED: &str = "| 1 |";
const RESET_GOES_ON: &str = "| 2 |";
const TIMEOUT_GOES_ON: &str = "| 3 |";
const COUNTED_ONCE: &str = "| 5 |";
const LOST_IS_REPEATED: &str = "| 7 |";
const LONG_HEADS: &str = "| 11 |";
const CHUNKED: &str = "| 12 |";
const HTTP_IS_READ: &str = "| 21 |";
const LENGTH_COUNTS: &str = "| Without `-k` a response ends when the server closes";
const WHICH_LENGTH: &str = "| Two different lengths";
const NO_BODY: &str = "| With `-k`, waits for the body of 204 and 304";
const SURPLUS: &str = "| Bytes after a response";

/// The end of a run that printed a report, all of its four requests complete.
fn said(status: i32, failed: [u64; 4], document_bytes: u64) -> End {
    let document_length = format!("{document_bytes} bytes");
    End { status, reported: Some(Reported { complete: 4, failed, document_length }) }
}

/// The end of a run that ab broke off.
fn broken_off(status: i32) -> End {
    End { status, reported: None }
}

const NONE: [u64; 4] = [0; 4];
const RECEIVE: [u64; 4] = [0, 4, 0, 0];
const LENGTH: [u64; 4] = [0, 0, 4, 0];
const EXCEPTIONS: [u64; 4] = [0, 0, 0, 4];

type Row = (B, &'static [&'static [&'static str]], Beside);

const PLAIN: &[&[&str]] = &[&[]];
const KEPT: &[&[&str]] = &[&["-k"]];
const TOLERANT: &[&[&str]] = &[&["-r"]];
const BOTH: &[&[&str]] = &[&[], &["-k"]];

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Every behaviour of the server.
fn table() -> Vec<Row> {
    let mut rows = alike();
    rows.extend(closed_reset_silent());
    rows.extend(read_by_other_rules());
    rows
}

fn alike() -> Vec<Row> {
    let last = |announced| B::ResponsesThenClose { responses: 2, announced };
    vec![
        (B::Fine { body_bytes: 5 }, BOTH, Same),
        (B::Fine { body_bytes: 0 }, BOTH, Same),
        (B::Status(302), BOTH, Same),
        (B::Status(404), BOTH, Same),
        (B::Status(503), BOTH, Same),
        (B::Late(MS(20)), BOTH, Same),
        (B::Trickle { body_bytes: 5, pause: MS(5) }, BOTH, Same),
        (B::UntilClose { body_bytes: 100_000 }, BOTH, Same),
        (B::KeepAlive10, KEPT, Same),
        (B::Close10, BOTH, Same),
        (B::NoContent { bogus_length: None }, BOTH, Same),
        (B::NoContent { bogus_length: Some(5) }, PLAIN, Same),
        (B::NotModified { length: None }, BOTH, Same),
        (B::NotModified { length: Some(5) }, PLAIN, Same),
        (B::BareLf, BOTH, Same),
        (B::ObsFold, BOTH, Same),
        (B::SplitEverywhere { pause: Duration::ZERO }, BOTH, Same),
        (B::TwoInOne, BOTH, Same),
        (last(true), BOTH, Same),
        (last(false), PLAIN, Same),
        (B::ResponseBeforeBody, BOTH, Same),
        (B::ResponseBeforeBodyThenReset, BOTH, Same),
        (B::Stamped { delay: MS(1) }, BOTH, Same),
    ]
}

fn closed_reset_silent() -> Vec<Row> {
    let reset = |document_bytes| {
        Differs(RESET_GOES_ON, broken_off(104), said(104, RECEIVE, document_bytes))
    };
    let silent = || Differs(TIMEOUT_GOES_ON, broken_off(119), said(119, RECEIVE, 0));
    let closed = || Differs(CLOSED_IS_FAILED, said(0, NONE, 0), said(1, RECEIVE, 0));
    let mid_body = B::ResetMidBody { announced: 100, sent: 10 };
    vec![
        (B::CloseAtOnce, BOTH, closed()),
        (B::CloseWithoutResponse, BOTH, closed()),
        (B::ResetAtOnce, BOTH, reset(0)),
        (B::Reset, BOTH, reset(0)),
        (mid_body.clone(), BOTH, reset(0)),
        (mid_body, TOLERANT, Differs(COUNTED_ONCE, said(0, [0, 4, 4, 4], 0), said(1, RECEIVE, 0))),
        (B::Hang, PLAIN, silent()),
        (B::Stall { announced: 100, sent: 10 }, PLAIN, silent()),
        (
            B::ResponsesThenClose { responses: 2, announced: false },
            KEPT,
            DiffersByChance(LOST_IS_REPEATED, said(0, NONE, 14)),
        ),
    ]
}

fn read_by_other_rules() -> Vec<Row> {
    let short =
        |document_bytes| Differs(LENGTH_COUNTS, said(0, NONE, document_bytes), said(1, LENGTH, 0));
    let chunked = |chunks| B::Chunked { body_bytes: 100, chunks };
    let framing = |bytes| Differs(CHUNKED, said(0, NONE, bytes), said(0, NONE, 100));
    let which = |bytes| Differs(WHICH_LENGTH, said(0, NONE, bytes), said(1, EXCEPTIONS, 0));
    let waits = || Differs(NO_BODY, broken_off(119), said(0, NONE, 0));
    let too_long = || Differs(LONG_HEADS, broken_off(119), said(1, EXCEPTIONS, 0));
    vec![
        (B::ShortBody { announced: 100, sent: 10 }, BOTH, short(10)),
        (B::ShortHead, BOTH, short(0)),
        (B::KeepAlive10, PLAIN, Differs(LENGTH_COUNTS, broken_off(119), said(0, NONE, 14))),
        (chunked(Chunks::Whole), BOTH, framing(111)),
        (chunked(Chunks::ByteByByte), PLAIN, framing(605)),
        (chunked(Chunks::ExtensionsAndTrailers), BOTH, framing(213)),
        (
            chunked(Chunks::Broken),
            PLAIN,
            Differs(CHUNKED, said(0, NONE, 108), said(1, EXCEPTIONS, 0)),
        ),
        (
            chunked(Chunks::Unfinished),
            PLAIN,
            Differs(CHUNKED, said(0, NONE, 106), said(1, LENGTH, 0)),
        ),
        (B::ContinueFirst, PLAIN, Differs(HTTP_IS_READ, said(0, NONE, 115), said(0, NONE, 14))),
        (B::ContinueFirst, KEPT, Differs(HTTP_IS_READ, broken_off(119), said(0, NONE, 14))),
        (B::Garbage, BOTH, Differs(HTTP_IS_READ, said(0, NONE, 0), said(1, EXCEPTIONS, 0))),
        (B::ConflictingLengths, PLAIN, which(14)),
        (B::LengthAndChunked, PLAIN, which(24)),
        (B::LengthNoNumber, PLAIN, which(14)),
        (B::NoContent { bogus_length: Some(5) }, KEPT, waits()),
        (B::NotModified { length: Some(5) }, KEPT, waits()),
        (B::Surplus { bytes: 7 }, BOTH, Differs(SURPLUS, said(0, NONE, 21), said(0, NONE, 14))),
        (
            B::LongHead { field_bytes: 30_000 },
            PLAIN,
            Differs(LONG_HEADS, broken_off(119), said(0, NONE, 14)),
        ),
        (B::LongHead { field_bytes: 100_000 }, PLAIN, too_long()),
        (B::EndlessHead, PLAIN, too_long()),
    ]
}

#[test]
fn both_end_alike_or_the_document_says_why_not() {
    if real_ab(&["-V"]).is_none() {
        return;
    }
    let rows = Mutex::new(table());
    let wrong = Mutex::new(Vec::new());
    // Most of the time is waiting for timeouts.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let Some((behaviour, flags, beside)) = rows.lock().unwrap().pop() else {
                        break;
                    };
                    for flags in flags {
                        if let Err(what) = hold(&behaviour, flags, &beside) {
                            wrong.lock().unwrap().push(format!("{behaviour:?} {flags:?}: {what}"));
                        }
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn hold(behaviour: &B, flags: &[&str], beside: &Beside) -> Result<(), String> {
    let (theirs, asked_by_ab) = against(behaviour, flags, &|words| real_ab(words).unwrap());
    let (ours, asked_by_us) = against(behaviour, flags, &ablaze);
    let both = || format!("ab: {theirs:?}\nablaze ab: {ours:?}");
    if ours.stderr.contains("panicked") {
        return Err(both());
    }
    match beside {
        Same if comparable(&theirs) == comparable(&ours) && asked_by_ab == asked_by_us => Ok(()),
        Same => {
            let both = (comparable(&theirs), comparable(&ours));
            Err(format!("{asked_by_ab} and {asked_by_us} requests,\n{:?}\n{:?}", both.0, both.1))
        }
        Differs(row, ..) | DiffersByChance(row, ..) if !has_row(row) => {
            Err(format!("docs/ab-compatibility.md has no row that begins with {row}"))
        }
        Differs(_, of_ab, _) if end(&theirs) != *of_ab => {
            Err(format!("ab should have ended as {of_ab:?}: {theirs:?}"))
        }
        Differs(_, _, of_ours) | DiffersByChance(_, of_ours) if end(&ours) != *of_ours => {
            Err(format!("ablaze ab should have ended as {of_ours:?}: {ours:?}"))
        }
        _ if end(&ours) == end(&theirs) => Err(format!("no difference any more: {}", both())),
        _ => Ok(()),
    }
}

/// Four requests on one connection; with the number that arrived.
fn against(behaviour: &B, flags: &[&str], program: &dyn Fn(&[&str]) -> Ran) -> (Ran, u64) {
    let server = Hostile::always(behaviour.clone()).unwrap();
    let url = server.url();
    let ran = program(&[&["-n", "4", "-c", "1", "-s", "1"], flags, &[&url]].concat());
    (ran, server.requests())
}

fn end(ran: &Ran) -> End {
    let report = Report::read(&ran.stdout);
    let reported = report.value("Complete requests").map(|complete| Reported {
        complete: complete.parse().unwrap(),
        failed: report.failed_columns.unwrap_or_default(),
        document_length: report.value("Document Length").unwrap_or_default().to_owned(),
    });
    End { status: ran.status, reported }
}

/// Everything a script can read that does not depend on time or on the port.
fn comparable(ran: &Ran) -> (i32, String, Vec<(String, String)>, Vec<String>, usize) {
    const OF_TIME: [&str; 5] = [
        "Server Port",
        "Time taken for tests",
        "Requests per second",
        "Time per request",
        "Transfer rate",
    ];
    let report = Report::read(&ran.stdout);
    // Row 15: ab warns of times it has rounded.
    let of_rounding = |label: &str| ["WARNING", "ERROR"].contains(&label);
    let values = report.values.into_iter().filter(|(label, _)| !of_rounding(label));
    let values = values.map(|(label, value)| {
        let value = if OF_TIME.contains(&&label[..]) { String::new() } else { value };
        (label, value)
    });
    let rows = report.times.into_iter().map(|(label, _)| label).collect();
    (ran.status, ran.stderr.clone(), values.collect(), rows, report.percentiles.len())
}

fn has_row(begin: &str) -> bool {
    rows().iter().any(|row| row.starts_with(begin))
}
