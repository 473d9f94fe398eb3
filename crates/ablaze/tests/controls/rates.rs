//! An open loop at 20,000/s for ten seconds: how many requests leave, and how evenly.

use crate::noise::if_quiet;
use crate::support::{Server, alone, load, long_tests_or_told};
use crate::verdict::Report;

const RATE: [&str; 5] = ["-r", "20000/s", "-d", "10s", "-t1"];

#[test]
fn a_rate_of_20000_per_second_is_exact_over_ten_seconds() {
    if !long_tests_or_told() {
        return;
    }
    let _alone = alone();
    let run = || {
        let server = Server::start(&[]);
        let report = load(&[&[server.url("/").as_str()][..], &RATE].concat());
        // However late: each that was due is accounted for.
        assert_eq!(due(&report), 200_000.0);
        // As the server counts, which may not have got to the last ones.
        let never_sent = report.number("/unfinished/never_sent");
        let unfinished = report.number("/unfinished/count");
        let counted = server.requests() as f64;
        let expected = 200_000.0 - unfinished..=200_000.0 - never_sent;
        assert!(expected.contains(&counted), "{counted}, {expected:?}");
        report
    };
    if_quiet(run, |report| {
        let never_sent = report.number("/unfinished/never_sent");
        (never_sent > 0.0).then(|| format!("{never_sent} requests were due and not sent"))
    });
}

/// Requests of a Poisson process, counted in windows of equal length, have a variance equal to
/// their mean. Of 100 windows the ratio strays by 0.14 (its standard error, √(2/99)): the seed is
/// fixed, and the plan of this one has 1.01.
#[test]
fn poisson_arrivals_are_as_dispersed_as_a_poisson_process() {
    if !long_tests_or_told() {
        return;
    }
    let _alone = alone();
    let server = Server::start(&[]);
    let poisson = ["--arrivals", "poisson", "--seed", "2"];
    let url = server.url("/");
    let words = [&[&*url][..], &RATE, &poisson].concat();
    if_quiet(
        || load(&words),
        |report| {
            let dispersion = dispersion(&report.answers_by_slice());
            println!("dispersion {dispersion:.3}");
            (!(0.9..=1.1).contains(&dispersion)).then(|| format!("dispersion {dispersion:.3}"))
        },
    );
}

/// Requests that became due.
fn due(report: &Report) -> f64 {
    ["/answers", "/failed/total", "/unfinished/count"].map(|at| report.number(at)).iter().sum()
}

/// Variance over mean of the counts in 100 windows.
fn dispersion(windows: &[f64]) -> f64 {
    assert_eq!(windows.len(), 100);
    let mean = windows.iter().sum::<f64>() / 100.0;
    windows.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 99.0 / mean
}
