//! D18: the server closed kept connections now and then.

use crate::DiagnosisId::D18;
use crate::finding::{Finding, Severity};
use crate::printed::{Connections, Report};
use crate::words::{amount, decimal, grouped};

/// `keep-alive` has so many letters more than `close`.
const LETTERS: u64 = 5;

/// How near to a round number of requests per connection counts as it.
const NEAR: f64 = 0.05;

pub fn check(report: &Report) -> Option<Finding> {
    let complete = report.complete?;
    let Connections::Kept(Some(kept)) = report.connections else { return None };
    if kept == 0 || kept >= complete || report.failed != Some(0) {
        return None;
    }
    let closes = complete - kept;
    let each = complete as f64 / closes as f64;
    let mut evidence = format!(
        "{} of {} answers were on a connection that went on: {} closes, one in {}.",
        grouped(kept),
        grouped(complete),
        grouped(closes),
        decimal(each, 1)
    );
    evidence.push_str(&bytes_agree(report, complete, closes).unwrap_or_default());
    let near = |limit: f64| (each / limit - 1.0).abs() < NEAR;
    let cause = if near(100.0) {
        "The server closes each connection after 100 requests, as nginx did until 1.19.10 \
         (keepalive_requests 100)."
            .to_owned()
    } else if near(1000.0) {
        "The server closes each connection after 1,000 requests, as nginx does since 1.19.10 \
         (keepalive_requests 1000)."
            .to_owned()
    } else {
        format!("The server closes connections, on average after {} requests.", amount(each))
    };
    Some(Finding::new(
        D18,
        Severity::Note,
        evidence,
        cause,
        "Before it is compared with a server that never closes, raise its limit (nginx: \
         keepalive_requests 100000) or give the other one the same.",
    ))
}

/// The bytes prove it where the head says `close` instead of `keep-alive` on the last answer.
fn bytes_agree(report: &Report, complete: u64, closes: u64) -> Option<String> {
    let total = u64::try_from(report.total_bytes?).ok()?;
    let whole = total + LETTERS * closes;
    whole.is_multiple_of(complete).then(|| {
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
mod tests {
    use super::*;
    use crate::rules::sample;

    #[test]
    fn requests_per_connection_name_the_limit() {
        let with_kept = |kept| {
            let mut report = sample::ab();
            report.connections = Connections::Kept(Some(kept));
            check(&report).map(|finding| finding.cause)
        };
        assert!(with_kept(990_000).unwrap().contains("100 requests"));
        assert!(with_kept(999_000).unwrap().contains("1,000 requests"));
        assert!(with_kept(950_000).unwrap().contains("after 20.0 requests"));
        assert_eq!(with_kept(1_000_000), None);
        assert_eq!(with_kept(0), None);
    }
}
