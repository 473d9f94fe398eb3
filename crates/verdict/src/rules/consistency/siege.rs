//! siege: its shares, its bytes, and the requests in flight, which it prints itself.

use super::Contradiction;
use super::figure::Figure::{self, *};
use super::figure::{Column, Range, Row};
use super::peers::{divided, must_be, product, quotient_in_words, successes};
use crate::printed::{Printed, Report, SIEGE_PAGES as PAGES};
use crate::words::grouped;

pub fn contradictions(report: &Report) -> Vec<Contradiction> {
    let (data, through) = (Own("the data transferred"), Own("the throughput"));
    let range = |figure: Figure| figure.range(report);
    let mut found = Vec::new();
    // Older versions leave error pages out on one side of it.
    if report.non_2xx.is_none() {
        let hits = report.complete.unwrap_or(0);
        found.extend(successes(report, "the availability", hits, Complete));
    }
    found.extend(successful(report));
    found.extend(pages(report));
    let per_s = range(data).zip(range(Taken)).and_then(|(bytes, taken)| divided(bytes, taken));
    let how = quotient_in_words(report, data, Taken);
    found.extend(must_be(report, through, per_s, &[data, Taken], &how));
    // The time of all requests in that of the run.
    // The mean is 0 where there was no transaction, whatever those took that failed.
    if report.complete == Some(0) {
        return found;
    }
    let mean = Cell(Row::Total, Column::Mean);
    let in_flight = mean
        .printed(report)
        .map(|ms| product(nearest(ms), Range::exactly(1e-3)))
        .zip(range(Complete))
        .map(|(s, n)| product(s, n))
        .zip(Taken.printed(report).map(nearest))
        .and_then(|(sum, taken)| divided(sum, taken));
    let how = format!(
        "{} × {} / {} = {} × {} ms / {} s",
        Complete.name(report),
        mean.name(report),
        Taken.name(report),
        Complete.digits(report),
        mean.digits(report),
        Taken.digits(report)
    );
    let others = [Complete, mean, Taken];
    found.extend(must_be(report, Own("the concurrency"), in_flight, &others, &how));
    found
}

/// Lines of -v above the report, each of a transaction that is not successful: more of them than the report leaves.
fn pages(report: &Report) -> Option<Contradiction> {
    let figure = Own("the successful transactions");
    let (pages, successful) = (report.own(PAGES)?.value, figure.printed(report)?.value);
    let all = report.complete?.saturating_add(report.failed?) as f64;
    // What was under way at the end has a line, perhaps.
    (pages > all - successful + report.asked()? as f64).then(|| {
        let said = format!(
            "{} transactions above it had a status of 4xx, but {} are {} of {}.",
            grouped(pages as u64),
            figure.name(report),
            figure.digits(report),
            grouped(all as u64)
        );
        Contradiction::new([Own(PAGES), figure, Complete], said)
    })
}

/// A transaction may be a redirect and what that led to, and some are under way when the run ends: far more that were
/// successful than transactions there are not.
fn successful(report: &Report) -> Option<Contradiction> {
    let figure = Own("the successful transactions");
    let successful = figure.printed(report)?.value;
    let all = report.complete?.saturating_add(report.failed?) as f64;
    (successful > all * 2.0 + report.asked()? as f64).then(|| {
        let said = format!(
            "{} are {}, far more than {} ({}).",
            figure.name(report),
            figure.digits(report),
            Complete.name(report),
            Complete.digits(report)
        );
        Contradiction::new([figure, Complete], said)
    })
}

/// siege prints with `%.2f`, which rounds to the nearest, what it computes in single precision from the same sum.
fn nearest(printed: Printed) -> Range {
    Range { low: printed.low() * 0.9999, high: printed.high() * 1.0001 }
}

#[cfg(test)]
mod tests {
    use crate::DiagnosisId::D43;
    use crate::printed::read;
    use crate::rules::judge;

    /// siege's own report of a run that its clock does not see.
    #[test]
    fn a_run_of_no_time_has_no_rate() {
        let said = |rate: &str| {
            let text = format!(
                "{{\t\"transactions\":\t8,\n\t\"availability\":\t100.00,\n\t\"elapsed_time\":\t0.00,\n\
                 \t\"data_transferred\":\t0.00,\n\t\"response_time\":\t0.00,\n\t\"transaction_rate\":\t{rate},\n\
                 \t\"throughput\":\t0.00,\n\t\"concurrency\":\t0.00,\n\t\"successful_transactions\":\t8,\n\
                 \t\"failed_transactions\":\t0,\n\t\"longest_transaction\":\t0.00,\n\
                 \t\"shortest_transaction\":\t0.00\n}}\n"
            );
            judge(&read(&text)).reports.remove(0).findings.iter().any(|one| one.id == D43)
        };
        assert!(!said("0.00"));
        assert!(said("5.00"));
    }
}
