//! One exporter per file: each turns an assessed run into text and does nothing else. A reporter never
//! measures, never judges and never asks the machine anything. [`exporters`] is the table of formats.
//!
//! [`text`] is for the terminal, [`page`] for people who were not there, [`json`] for keeping, [`csv`] for spreadsheets, [`hlog`] for other
//! tools of the HDR histogram. [`condition`] decides `--fail-if`, [`mod@file`] puts a report where
//! it belongs. [`experiment`] has the same forms for experiments and searches. [`ab`], [`gurl`], [`wrk`], [`hey`], [`h2load`], [`oha`] and [`vegeta`] print
//! what those tools print.

pub mod ab;
mod addresses;
mod before_clock;
pub mod checks;
pub mod condition;
pub mod csv;
pub mod effort;
pub mod experiment;
pub mod exporters;
pub mod fifo;
pub mod file;
mod fleet;
mod gave_up;
mod groups;
pub mod gurl;
pub mod h2load;
pub mod held;
pub mod hey;
pub mod hlog;
mod http2;
mod http3;
mod journeys;
pub mod json;
pub mod junit;
pub mod metrics;
pub mod ndjson;
pub mod oha;
pub mod page;
pub mod per_second;
mod phases;
pub mod profiling;
mod proxy;
mod rate_changes;
pub mod shown_command;
pub mod system_error;
pub mod table;
pub mod text;
pub mod tls;
mod users;
pub mod vegeta;
pub mod wrk;

#[cfg(test)]
mod sample;

pub use ablaze_chart::number;

use ablaze_model::Run;
use ablaze_model::plan::Load;

/// The concurrency that reports in other tools' form print: the connections asked for, or, in an open
/// loop without a bound, the mean number of requests in flight, rounded up.
pub(crate) fn concurrency(run: &Run) -> u32 {
    match run.plan.load {
        Load::Closed { connections, .. } | Load::Open { connections, bounded: true, .. } => {
            connections
        }
        Load::Open { .. } => {
            let mean = run.record.in_flight_ns as f64 / run.elapsed_ns.max(1) as f64;
            (mean.ceil() as u32).max(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::plan::{Arrivals, RateProfile};

    #[test]
    fn an_open_loop_without_a_bound_has_the_concurrency_it_had() {
        let mut run = sample::ordinary();
        assert_eq!(concurrency(&run), 100);
        let (rate, arrivals) = (RateProfile::constant(9.0), Arrivals::Constant);
        let open = |bounded| Load::Open { rate, arrivals, connections: 16_384, bounded };
        run.plan.load = open(true);
        assert_eq!(concurrency(&run), 16_384);
        run.plan.load = open(false);
        // 2.5 s in flight within one second.
        (run.record.in_flight_ns, run.elapsed_ns) = (2_500_000_000, 1_000_000_000);
        assert_eq!(concurrency(&run), 3);
        run.record.in_flight_ns = 0;
        assert_eq!(concurrency(&run), 1);
    }
}
