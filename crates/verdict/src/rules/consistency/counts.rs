//! Counts and bytes that are parts of others, or multiples.

use super::Contradiction;
use super::figure::Figure::{self, *};
use super::rates::bytes_wrapped;
use crate::diagnosis::d02_no_response::all_bodies_came;
use crate::diagnosis::d32_counter_wrapped::{body_wrapped, shows_no_round};
use crate::printed::{AB_FINISHED, Connections, Document, Report, Tool};
use crate::words::{counted, grouped};

/// ab counts a head that is too long as failed, under no kind, as no 2xx and not as complete; it gives up at
/// the twelfth.
const TOO_LONG_MOST: u64 = 12;

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let rules = [
        impossible,
        finished,
        percentages,
        kinds,
        lengths,
        connects,
        non_2xx,
        kept,
        statuses,
        bodies,
        bodies_of_all,
        heads,
        bytes_below_zero,
    ];
    rules.into_iter().filter_map(|rule| rule(report)).collect()
}

/// No run has such a figure.
fn impossible(report: &Report) -> Option<Contradiction> {
    let (first, more) = report.impossible.split_first()?;
    let others = match more.len() {
        0 => String::new(),
        1 => " So is one more.".to_owned(),
        more => format!(" So are {} more.", grouped(more as u64)),
    };
    let said = format!(
        "`{first}` is impossible: a count, time or rate is a number, and not below 0, and no share is above 100 \
         %.{others}"
    );
    Some(Contradiction::new([Figure::Line], said))
}

/// ab says how many it has done, and then how many are complete: the same number.
fn finished(report: &Report) -> Option<Contradiction> {
    let (said, complete) = (report.own(AB_FINISHED)?.value as u64, report.complete?);
    (said != complete && report.tool.is_ab_like()).then(|| {
        let said = format!(
            "`Finished {said} requests` stands above it, but {} is {}.",
            Complete.name(report),
            grouped(complete)
        );
        Contradiction::new([Own(AB_FINISHED), Complete], said)
    })
}

/// Those whose times ab prints.
const PERCENTAGES: [f64; 9] = [50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 100.0];

fn percentages(report: &Report) -> Option<Contradiction> {
    let of_ab = matches!(report.tool, Tool::Ab | Tool::AblazeAb);
    let mut printed = report.percentiles.iter().map(|(percent, _)| *percent);
    let other = printed.find(|percent| of_ab && !PERCENTAGES.contains(percent))?;
    let said = format!(
        "{other} % has a time: ab prints those of 50, 66, 75, 80, 90, 95, 98, 99 and 100 % alone."
    );
    Some(Contradiction::new([Percentile(other)], said))
}

/// The kinds of failures are all failures.
fn kinds(report: &Report) -> Option<Contradiction> {
    let failed = report.failed?;
    let Some(parts) = report.failed_parts else {
        return (failed > 0 && is_untrimmed(report)).then(|| {
            let said = format!(
                "{} is {}, but the line of their kinds (Connect, Receive, Length, Exceptions), \
                 which ab prints below it, is missing.",
                Failed.name(report),
                grouped(failed)
            );
            Contradiction::new([Failed, FailedParts], said)
        });
    };
    let sum: u64 = [parts.connect, parts.receive, parts.length, parts.exceptions]
        .into_iter()
        .fold(0, u64::saturating_add);
    let too_long = report.non_2xx.unwrap_or(TOO_LONG_MOST).min(TOO_LONG_MOST);
    let fits = (sum..=sum.saturating_add(too_long)).contains(&failed);
    (!fits).then(|| {
        let said = format!(
            "Connect, Receive, Length and Exceptions add up to {}, but {} is {}.",
            grouped(sum),
            Failed.name(report),
            grouped(failed)
        );
        Contradiction::new([Failed, FailedParts], said)
    })
}

/// ab holds each response against the first once, also those that end after the last one that it counts as complete.
fn lengths(report: &Report) -> Option<Contradiction> {
    let (complete, length) = (report.complete?, report.failed_parts?.length);
    let most = complete.saturating_add(report.concurrency?);
    (report.tool.is_ab_like() && length > most).then(|| {
        let said = format!(
            "Length is {}, more than {} ({}): the length of each response is compared once.",
            grouped(length),
            Complete.name(report),
            grouped(complete)
        );
        Contradiction::new([FailedParts, Failed, Complete], said)
    })
}

/// Whether more responses had another length than the first than there were responses.
pub fn lengths_are_too_many(report: &Report) -> bool {
    lengths(report).is_some()
}

/// So many connections ab tries again that it could not open; at the next one it ends without a report.
pub const TRIED_AGAIN: u64 = 11;

/// `ablaze ab` goes on, and says who it is.
fn connects(report: &Report) -> Option<Contradiction> {
    let connect = report.failed_parts?.connect;
    (report.tool == Tool::Ab && report.announced && connect > TRIED_AGAIN).then(|| {
        let said = format!(
            "Connect is {}, but ab ends without a report at connection {} that it cannot open.",
            grouped(connect),
            TRIED_AGAIN + 1
        );
        Contradiction::new([FailedParts, Failed], said)
    })
}

/// All other lines of ab's report are there.
fn is_untrimmed(report: &Report) -> bool {
    let head = report.host.is_some() && report.path.is_some() && report.document.is_some();
    let counts = report.concurrency.is_some() && report.total_bytes.is_some();
    let times = report.connect.is_some() && report.total.is_some();
    report.tool.is_ab_like() && head && counts && times && report.body_bytes.is_some()
}

fn non_2xx(report: &Report) -> Option<Contradiction> {
    let (complete, others) = (report.complete?, report.non_2xx?);
    let too_long = if report.tool.is_ab_like() { TOO_LONG_MOST } else { 0 };
    (others > complete.saturating_add(too_long)).then(|| {
        Contradiction::new([Complete, Non2xx], more_than(report, Non2xx, others, complete))
    })
}

fn kept(report: &Report) -> Option<Contradiction> {
    let Connections::Kept(Some(kept)) = report.connections else { return None };
    let complete = report.complete?;
    (kept > complete)
        .then(|| Contradiction::new([Complete, Kept], more_than(report, Kept, kept, complete)))
}

fn more_than(report: &Report, figure: Figure, count: u64, complete: u64) -> String {
    format!(
        "{} is {}, more than {} ({}).",
        figure.name(report),
        grouped(count),
        Complete.name(report),
        grouped(complete)
    )
}

/// Responses by status are all responses; ablaze may print them on several lines, of which some may be
/// missing.
fn statuses(report: &Report) -> Option<Contradiction> {
    if report.statuses.is_empty() {
        return None;
    }
    let complete = report.complete?;
    let sum = report.statuses.values().copied().fold(0, u64::saturating_add);
    let all = matches!(report.tool, Tool::Gurl | Tool::AblazeGurl);
    (sum > complete || all && sum < complete).then(|| {
        let said = format!(
            "The responses by status add up to {}, but {} is {}.",
            grouped(sum),
            Complete.name(report),
            grouped(complete)
        );
        Contradiction::new([Complete, Statuses], said)
    })
}

/// Bodies are a part of all bytes.
fn bodies(report: &Report) -> Option<Contradiction> {
    let (total, body) = (report.total_bytes?, report.body_bytes?);
    // h2load counts them at different moments, and not on connections that it opens again.
    let counted_alike = report.tool != Tool::H2load && !bytes_wrapped(report);
    (body > total && total >= 0 && counted_alike).then(|| {
        let said = format!(
            "{} ({} B) is a part of {} ({} B), and larger.",
            BodyBytes.name(report),
            grouped(body.unsigned_abs()),
            TotalBytes.name(report),
            grouped(total.unsigned_abs())
        );
        Contradiction::new([BodyBytes, TotalBytes], said)
    })
}

/// A counter of 32 bits shows such a number (D32), but not each.
fn bytes_below_zero(report: &Report) -> Option<Contradiction> {
    let (figure, others) = if shows_no_round(report) {
        (TotalBytes, [Received, BodyBytes, Document])
    } else if report.body_bytes.is_some_and(|body| body < 0) && body_wrapped(report) == Some(false)
    {
        (BodyBytes, [TotalBytes, Document, Complete])
    } else {
        return None;
    };
    let said = format!(
        "{} is {} bytes: a count is not below 0, and a counter of 32 bits that wrapped around would show another number here.",
        figure.name(report),
        figure.digits(report)
    );
    Some(Contradiction::new([&[figure], &others[..]].concat(), said))
}

/// ab takes a response for one of 2xx where its head has at least `HTTP/1.1 200` and a blank line (ab.c: `read_connection`).
const SHORTEST_HEAD_BYTES: u64 = 14;

/// Each of the bodies that came had a head.
fn heads(report: &Report) -> Option<Contradiction> {
    let all_succeeded = report.non_2xx.unwrap_or(0) == 0;
    if !all_succeeded || !all_bodies_came(report) || bytes_wrapped(report) {
        return None;
    }
    let (total, body) = (report.total_bytes?, report.body_bytes?);
    let (heads, complete) =
        (total.checked_sub(body).filter(|heads| *heads >= 0)?, report.complete?);
    let least = complete.saturating_mul(SHORTEST_HEAD_BYTES);
    (heads.unsigned_abs() < least).then(|| {
        let said = format!(
            "{} − {} leaves {} B for the heads of {}, whose bodies all came: {SHORTEST_HEAD_BYTES} B each, {} B, is the least that they have.",
            TotalBytes.name(report),
            BodyBytes.name(report),
            grouped(heads.unsigned_abs()),
            counted(complete, "response"),
            grouped(least)
        );
        Contradiction::new([TotalBytes, BodyBytes, Complete, Document], said)
    })
}

/// A request that ab could not send is complete to it, and has no body. Where the others have the length of the first,
/// theirs are all bodies; on a connection that was kept ab may send it once more.
fn bodies_of_sent(
    report: &Report,
    complete: u64,
    unsent: u64,
    length: u64,
    body: u64,
) -> Option<Contradiction> {
    let alone = report.failed == Some(0) && report.connections == Connections::PerRequest;
    let in_flight = report.concurrency.unwrap_or(1).saturating_add(1);
    let sent = complete.saturating_sub(unsent).saturating_add(in_flight);
    (alone && length > 0 && body > sent.saturating_mul(length)).then(|| {
        let said = format!(
            "{} is {} and {} {}: requests that were not sent have no body, but {} is {} B, which is {} of {length} B.",
            WriteErrors.name(report),
            grouped(unsent),
            Complete.name(report),
            grouped(complete),
            BodyBytes.name(report),
            grouped(body),
            match body / length {
                1 => "1 body".to_owned(),
                bodies => format!("{} bodies", grouped(bodies)),
            }
        );
        Contradiction::new([WriteErrors, Complete, Document, BodyBytes], said)
    })
}

/// ab compares each body with the first, and counts another length as failed: the others have that length.
/// Bodies of requests that were cut off at the end count too.
fn bodies_of_all(report: &Report) -> Option<Contradiction> {
    let Document::Bytes(length) = report.document? else { return None };
    let complete = report.complete.filter(|complete| *complete > 0)?;
    let body = u64::try_from(report.body_bytes?).ok()?;
    let failed = report.failed?;
    if !report.tool.is_ab_like() || bytes_wrapped(report) {
        return None;
    }
    let unsent = report.write_errors.unwrap_or(0);
    if unsent > 0 {
        return bodies_of_sent(report, complete, unsent, length, body);
    }
    // ab counts no TLS handshake that failed before the first response.
    let uncounted = report.tls && report.tool == Tool::Ab;
    let in_flight = report.concurrency.unwrap_or(1).saturating_add(1);
    // After a failure ab may have taken the length of a broken response for the first one's.
    let sure = if failed == 0 { 0 } else { failed.saturating_add(in_flight) };
    let least = complete.saturating_sub(sure).saturating_mul(length);
    let most = complete.saturating_add(in_flight).saturating_mul(length);
    let too_few = body < least && !uncounted;
    let too_many = body > most && failed == 0 && !(uncounted && length == 0);
    (too_few || too_many).then(|| {
        let said = format!(
            "{} of {}, of which {} failed, have {length} B each ({}): {} or more, but {} is {} B.",
            counted(complete, "response"),
            Complete.name(report),
            grouped(failed),
            Document.name(report),
            grouped(least),
            BodyBytes.name(report),
            grouped(body)
        );
        let only = format!(
            "{} of {length} B each and none of another length are {} B, but {} is {} B.",
            counted(complete, "response"),
            grouped(complete.saturating_mul(length)),
            BodyBytes.name(report),
            grouped(body)
        );
        let said = if failed == 0 { only } else { said };
        Contradiction::new([Complete, Document, BodyBytes, Failed], said)
    })
}
