//! D18: the server closed kept connections after some requests, or without a word: those under way had to be sent again.

use ablaze_model::record::{Codes, Http2Facts};
use ablaze_model::{FailureKind, Run};

mod behind;
mod idle;
mod over_quic;
mod repeated;
pub(super) mod surplus;
mod unasked;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D18;
use crate::finding::{Finding, Severity};
use crate::live::options::{Opt, spelled};
use crate::printed::{Connections, Report};
use crate::words::{amount, counted, decimal, grouped, listed, percent};
pub(super) use idle::failed as failed_idle;
pub(super) use repeated::dropped;

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D18,
    shown_by: ShownBy::Text,
    severities: &[Severity::Note, Severity::Suspect, Severity::Invalid],
    explained_by: &[],
    forms: Forms {
        run: Some(OnRun { check: on_run, seen }),
        report: Some(on_report),
        ..Forms::NONE
    },
};

/// More requests than this that were sent twice are more than accidents.
const REPEATED: f64 = 0.01;
/// What a server says to a client whose load it takes for excessive (RFC 9113, section 7). Other codes say less than why.
const ENHANCE_YOUR_CALM: u32 = 11;
/// How many letters longer `keep-alive` is than `close`.
const LETTERS: u64 = 5;
/// How near to a round number of requests per connection counts as it.
const NEAR: f64 = 0.05;
/// Why a server ends connections without an error: nobody counts what each of them had carried.
const REPLACES: &str = "The server replaces connections: after a number of requests or a time, or because it restarts; which of \
                        these was not recorded.";
const RAISE: &str = "If the server has a limit for each connection, raise it (nginx: keepalive_requests, keepalive_time), or \
                     compare only with servers that close as often.";

fn on_run(run: &Run) -> Option<Finding> {
    if let Some(facts) = &run.record.http3 {
        return over_quic::found(run, facts);
    }
    match &run.record.http2 {
        Some(facts) => ended(run, facts).or_else(|| unprocessed(run)),
        None => {
            (unasked::found(run).or_else(|| repeated::found(run)).or_else(|| surplus::found(run)))
                .or_else(|| idle::found(run))
                .or_else(|| cut(run))
        }
    }
}

/// Over HTTP/2 a server announces the end of a connection, and says which requests it did nothing with:
/// none is done twice.
fn ended(run: &Run, facts: &Http2Facts) -> Option<Finding> {
    let record = &run.record;
    if facts.goaways == 0 {
        return None;
    }
    let each = record.responses as f64 / facts.goaways as f64;
    let codes: Vec<String> = facts
        .goaway_codes
        .named()
        .map(|(name, times)| format!("{} with {name}", grouped(times)))
        .collect();
    // Without a response nothing is known of how many a connection is for.
    let one_per = match record.responses {
        0 => String::new(),
        _ => format!(": one per {} responses", amount(each)),
    };
    let evidence = format!(
        "The server ended {} by GOAWAY ({}){one_per}. {} opened, \
         and {} sent again because the server had not processed them.",
        counted(facts.goaways, "connection"),
        codes.join(", "),
        were_connections(record.connections_opened),
        were(record.repeated)
    );
    let failed = record.failures_of(FailureKind::GoAway);
    let objections = facts.goaway_codes.0.iter().filter(|(code, _)| *code != 0);
    let objections = objections.map(|(code, _)| Codes::name(*code));
    let of_load =
        facts.goaway_codes.of(0) + facts.goaway_codes.of(ENHANCE_YOUR_CALM) == facts.goaways;
    if facts.goaways > facts.goaway_codes.of(0) {
        // What was sent again is no response to the first attempt either, as over HTTP/1.
        let of = (record.finished() + record.unfinished) as f64;
        let is_much = (failed + record.repeated) as f64 > of * REPEATED;
        let said = facts.last_goaway_said.as_ref();
        let said = said.map_or(String::new(), |said| format!(" Its last debug message: {said}."));
        return Some(Finding::new(
            D18,
            if is_much { Severity::Suspect } else { Severity::Note },
            match failed {
                0 => evidence,
                failed => {
                    format!("{evidence} {} failed because of it.", counted(failed, "request"))
                }
            },
            format!(
                "The server ended connections with an error ({}){}.{said}",
                listed(objections),
                if of_load {
                    ": it takes the load for excessive, and protects itself from it"
                } else {
                    ""
                }
            ),
            match of_load && run.plan.streams().is_some_and(|streams| streams > 1) {
                true => format!(
                    "Check the server's log and limits, and measure again with fewer {}.",
                    spelled(run, Opt::Streams)
                ),
                false => "See in the server's log why it ended these connections.".to_owned(),
            },
        ));
    }
    if record.responses == 0 {
        let cause =
            "The server ended these connections before it had responded, and named no error.";
        let fix = "See in the server's log why it ended these connections.";
        return Some(Finding::new(D18, Severity::Note, evidence, cause, fix));
    }
    Some(Finding::new(
        D18,
        Severity::Note,
        evidence,
        format!(
            "{REPLACES} Opening new ones and sending requests again is part of the rate and of the times.{}",
            of_nginx(each)
        ),
        RAISE,
    ))
}

/// Streams that were refused although their connection went on.
fn unprocessed(run: &Run) -> Option<Finding> {
    let record = &run.record;
    // Those in flight at the end may have been sent again, too.
    let of = record.finished() + record.unfinished;
    let share = record.repeated as f64 / of as f64;
    (record.finished() > 0 && share > REPEATED).then(|| {
        Finding::new(
            D18,
            Severity::Note,
            format!(
                "{} of {} ({}) were sent again because the server had not processed them; {} \
                 opened.",
                grouped(record.repeated),
                counted(of, "request"),
                percent(share),
                were_connections(record.connections_opened)
            ),
            "The server refuses streams (REFUSED_STREAM, H3_REQUEST_REJECTED): above a limit of its own, or of the load that \
             it takes. The time of a repeated request includes both attempts.",
            format!(
                "See in the server's log and limits why it refuses them{}; {} counts such requests as errors.",
                match run.plan.streams() {
                    Some(0 | 1) | None => String::new(),
                    Some(_) => format!(", or lower {}", spelled(run, Opt::Streams)),
                },
                spelled(run, Opt::NoRepeat)
            ),
        )
    })
}

/// `1 request was`, `2 requests were`.
fn were(requests: u64) -> String {
    counted(requests, "request") + if requests == 1 { " was" } else { " were" }
}

/// A limit that nginx comes with, and that would show as such a mean.
fn of_nginx(each: f64) -> &'static str {
    match each {
        99.0..=102.0 => {
            " A limit of 100 requests for each, as nginx has up to 1.19.9 (keepalive_requests), looks like this."
        }
        990.0..=1020.0 => {
            " A limit of 1,000 requests for each, as nginx has since 1.19.10 (keepalive_requests), looks like this."
        }
        _ => "",
    }
}

/// Connections that the server closed with a response.
fn cut(run: &Run) -> Option<Finding> {
    let (record, connections) = (&run.record, &run.plan.connections);
    if !connections.keep_alive || connections.requests_per_connection.is_some() {
        return None;
    }
    let cut = record.responses.saturating_sub(record.reused);
    // One cut per connection may be the end of the run.
    if record.reused == 0 || cut == 0 || record.connections_opened <= run.plan.connections_max() {
        return None;
    }
    let each = record.responses as f64 / cut as f64;
    Some(Finding::new(
        D18,
        Severity::Note,
        format!(
            "{} of {} closed their connection: one in {}. {} opened.",
            grouped(cut),
            counted(record.responses, "response"),
            amount(each),
            were_connections(record.connections_opened)
        ),
        format!(
            "The server closes connections behind some responses, and pays for opening new ones. By a limit of requests or \
             of time for each, as it restarts, or with certain responses: which of these was not recorded.{}",
            with_errors(run, cut).unwrap_or_else(|| of_nginx(each).to_owned())
        ),
        format!("{RAISE} `curl -v` shows which responses have `Connection: close`."),
    ))
}

/// Where error responses are as many as the cuts: servers and proxies often close behind these.
fn with_errors(run: &Run, cut: u64) -> Option<String> {
    let statuses = run.record.statuses.range(400..);
    let errors: u64 = statuses.map(|(_, responses)| responses).sum();
    (errors >= cut).then(|| {
        let errors = counted(errors, "response");
        format!(" {errors} had a status of 400 or above: these may be the ones that close.")
    })
}

/// `1 connection was`, `20 connections were`
fn were_connections(count: u64) -> String {
    counted(count, "connection") + if count == 1 { " was" } else { " were" }
}

fn seen(run: &Run) -> Option<String> {
    let record = &run.record;
    (run.plan.connections.keep_alive && record.responses > 0).then(|| {
        format!(
            "{} of {} left their connection open; {} were opened and {} sent again.",
            grouped(record.reused),
            counted(record.responses, "response"),
            counted(record.connections_opened, "connection"),
            counted(record.repeated, "request")
        )
    })
}

fn on_report(report: &Report) -> Option<Finding> {
    kept_for_some(report).or_else(|| behind::found(report))
}

fn kept_for_some(report: &Report) -> Option<Finding> {
    let complete = report.complete?;
    let Connections::Kept(Some(kept)) = report.connections else { return None };
    // A page of another length is whole.
    let of_length = report.failed_parts.map_or(0, |parts| parts.length);
    if kept == 0 || kept >= complete || report.failed != Some(of_length) {
        return None;
    }
    let closes = complete - kept;
    if behind::are_of_failures(report, closes, of_length) {
        return None;
    }
    let each = complete as f64 / closes as f64;
    let mut evidence = format!(
        "{} of {} responses left their connection open: {} closes, one in {}.",
        grouped(kept),
        grouped(complete),
        grouped(closes),
        decimal(each, 1)
    );
    evidence.push_str(&bytes_agree(report, complete, closes).unwrap_or_default());
    let near = |limit: f64| (each / limit - 1.0).abs() < NEAR;
    let cause = if near(100.0) {
        "The server closes one connection in 100 requests on average: so does a limit of 100 for each, as nginx had up to \
         1.19.9 (keepalive_requests 100). Whether each connection was for as many is not printed."
            .to_owned()
    } else if near(1000.0) {
        "The server closes one connection in 1,000 requests on average: so does a limit of 1,000 for each, as nginx has since \
         1.19.10 (keepalive_requests 1000). Whether each connection was for as many is not printed."
            .to_owned()
    } else {
        // Those that stand at the end have had a part of theirs.
        let open = report.asked_connections().unwrap_or(0);
        let least = complete as f64 / closes.saturating_add(open) as f64;
        match closes > open.saturating_mul(100) {
            true => {
                format!("The server closes connections after {} requests on average.", amount(each))
            }
            false => format!(
                "The server closes connections after {} to {} requests on average, as those that still \
                 stood at the end are counted or not.",
                amount(least),
                amount(each)
            ),
        }
    };
    Some(Finding::new(
        D18,
        Severity::Note,
        evidence,
        cause,
        "Before comparing it with a server that never closes, raise its limit (nginx: \
         keepalive_requests 100000) or set the same limit on the other one.",
    ))
}

/// The bytes prove it where the head says `close` instead of `keep-alive` on the last response, and no equal heads explain them.
fn bytes_agree(report: &Report, complete: u64, closes: u64) -> Option<String> {
    let (total, fewer) = (u64::try_from(report.total_bytes?).ok()?, LETTERS * closes);
    let whole = total + fewer;
    (!fewer.is_multiple_of(complete) && whole.is_multiple_of(complete)).then(|| {
        format!(
            " The bytes agree: {} × {} - {} × {LETTERS} = {}, as `close` is {LETTERS} letters shorter \
             than `keep-alive`.",
            grouped(whole / complete),
            grouped(complete),
            grouped(closes),
            grouped(total)
        )
    })
}

#[cfg(test)]
mod tests_on_runs;

#[cfg(test)]
mod tests_on_reports {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn requests_per_connection_name_the_limit() {
        let with_kept = |kept| {
            let mut report = sample::ab();
            report.connections = Connections::Kept(Some(kept));
            on_report(&report).map(|finding| finding.cause)
        };
        assert!(with_kept(990_000).unwrap().contains("100 requests"));
        assert!(with_kept(999_000).unwrap().contains("1,000 requests"));
        assert!(with_kept(950_000).unwrap().contains("after 20.0 requests"));
        assert_eq!(with_kept(1_000_000), None);
        assert_eq!(with_kept(0), None);
    }
}
