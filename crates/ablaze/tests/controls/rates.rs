//! An open loop at 20,000/s for ten seconds: how many requests leave, and how evenly.

use crate::support::{Server, alone, load, long_tests_or_told};
use crate::verdict::Report;

const RATE: [&str; 4] = ["-r", "20000/s", "-d", "10s"];

#[test]
fn a_rate_of_20000_per_second_is_exact_over_ten_seconds() {
    if !long_tests_or_told() {
        return;
    }
    let _alone = alone();
    let server = Server::start(&[]);
    let report = load(&[&[&*server.url("/")][..], &RATE].concat());
    assert_eq!(asked(&report), 200_000.0);
    assert_eq!(report.number("/unfinished/never_sent"), 0.0);
    // As the server counts.
    let unfinished = report.number("/unfinished/count");
    let counted = server.requests() as f64;
    assert!((200_000.0 - unfinished..=200_000.0).contains(&counted), "{counted}, {unfinished}");
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
    let poisson = ["--arrivals", "poisson", "--seed", "2", "-t1"];
    let report = load(&[&[&*server.url("/")][..], &RATE, &poisson].concat());
    let windows = report.answers_by_slice();
    assert_eq!(windows.len(), 100);
    let mean = windows.iter().sum::<f64>() / 100.0;
    let variance = windows.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 99.0;
    let dispersion = variance / mean;
    println!("mean {mean:.1} in 100 ms, variance {variance:.1}, dispersion {dispersion:.3}");
    assert!((0.9..=1.1).contains(&dispersion), "{dispersion:.3}");
}

/// Requests that became due.
fn asked(report: &Report) -> f64 {
    ["/answers", "/failed/total", "/unfinished/count"].map(|at| report.number(at)).iter().sum()
}
