//! Over HTTP/3 a server announces the end of a connection (GOAWAY), or closes it with an error (CONNECTION_CLOSE).

use ablaze_model::record::Http3Facts;
use ablaze_model::{FailureKind, Run};

use super::{RAISE, REPEATED, REPLACES, of_nginx, unprocessed, were, were_connections};
use crate::DiagnosisId::D18;
use crate::finding::{Finding, Severity};
use crate::live::options::{Opt, spelled};
use crate::words::{amount, counted, grouped, listed};

pub fn found(run: &Run, facts: &Http3Facts) -> Option<Finding> {
    closed(run, facts).or_else(|| ended(run, facts)).or_else(|| unprocessed(run))
}

/// It closed connections with an error, and requests failed with them.
fn closed(run: &Run, facts: &Http3Facts) -> Option<Finding> {
    let record = &run.record;
    let failed = record.failures_of(FailureKind::QuicClosed);
    if failed as f64 <= record.finished() as f64 * REPEATED {
        return None;
    }
    let codes =
        facts.closes.0.iter().map(|(name, times)| format!("{} with {name}", grouped(*times)));
    let said = facts.first_close.as_ref().map(|said| format!(" The first of them said: {said}."));
    let total = |name: Option<&str>| -> u64 {
        let named = facts.closes.0.iter().filter(|(code, _)| name.is_none_or(|name| code == name));
        named.map(|(_, times)| times).sum()
    };
    // RFC 9114, 8.1. Other codes say less than why.
    let protects_itself = total(Some("H3_EXCESSIVE_LOAD")) * 2 > total(None);
    let (cause, fix) = match protects_itself {
        true => (
            "The server protects itself from the load: H3_EXCESSIVE_LOAD is what it says to a client that asks for too \
             much.",
            format!(
                "Check the server's limits, and measure again with fewer {}.",
                spelled(run, Opt::Streams)
            ),
        ),
        false => (
            "The server ended connections with an error. What it objects to is known only as far as the code tells.",
            "See in the server's log why it ended these connections.".to_owned(),
        ),
    };
    Some(Finding::new(
        D18,
        Severity::Suspect,
        format!(
            "The server closed connections ({}), and {} failed because of it.",
            listed(codes),
            counted(failed, "request")
        ),
        format!("{cause}{}", said.unwrap_or_default()),
        fix,
    ))
}

/// It replaces them, for a reason that nothing counts.
fn ended(run: &Run, facts: &Http3Facts) -> Option<Finding> {
    let record = &run.record;
    // Without a response nothing is known of how many a connection is for.
    if facts.goaways == 0 || record.responses == 0 {
        return None;
    }
    let each = record.responses as f64 / facts.goaways as f64;
    let one_per = format!(": one per {} responses", amount(each));
    Some(Finding::new(
        D18,
        Severity::Note,
        format!(
            "The server ended {} by GOAWAY{one_per}. {} opened, and {} sent again because the server had \
             not processed them.",
            counted(facts.goaways, "connection"),
            were_connections(record.connections_opened),
            were(record.repeated)
        ),
        format!(
            "{REPLACES} Opening new ones, each with a QUIC handshake, and sending requests again is part of the rate and of \
             the times.{}",
            of_nginx(each)
        ),
        RAISE,
    ))
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::NamedCounts;

    use super::super::on_run;
    use super::*;
    use crate::live::sample;

    #[test]
    fn an_end_that_is_announced_is_noted_and_one_that_costs_requests_is_suspect() {
        let mut run = sample::over_http3();
        assert_eq!(on_run(&run), None);
        run.record.http3.as_mut().unwrap().goaways = 20;
        let found = on_run(&run).unwrap();
        assert_eq!(found.severity, Severity::Note);
        assert!(found.evidence.contains("20 connections by GOAWAY"), "{}", found.evidence);
        assert!(found.cause.contains("or a time, or because it restarts"), "{}", found.cause);
        run.record.http3.as_mut().unwrap().closes =
            NamedCounts(vec![("H3_EXCESSIVE_LOAD".into(), 7)]);
        run.record.failures[FailureKind::QuicClosed as usize] = 700;
        let found = on_run(&run).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        assert!(
            found.evidence.contains("7 with H3_EXCESSIVE_LOAD), and 700 requests failed"),
            "{}",
            found.evidence
        );
        assert!(found.cause.contains("protects itself"), "{}", found.cause);
        // Another code is no sign of too much load.
        run.record.http3.as_mut().unwrap().closes =
            NamedCounts(vec![("H3_INTERNAL_ERROR".into(), 7)]);
        let found = on_run(&run).unwrap();
        assert!(!found.cause.contains("load") && !found.fix.contains("fewer"), "{found:?}");
    }
}
