//! D41: bodies of requests waited for the server's windows for much of their time.

use ablaze_model::Run;
use ablaze_model::record::WindowWaits;

use super::{Diagnosis, Forms, OnRun, ShownBy};
use crate::DiagnosisId::D41;
use crate::finding::{Finding, Severity};
use crate::limit::{self, Limit};
use crate::words::{counted, grouped, percent, time};

pub(super) const DIAGNOSIS: Diagnosis = Diagnosis {
    id: D41,
    shown_by: ShownBy::Run,
    severities: &[Severity::Note, Severity::Suspect],
    explained_by: &[],
    forms: Forms { run: Some(OnRun { check: on_run, seen }), ..Forms::NONE },
};

/// This share of the time of all requests is worth a word.
const NOTED: f64 = 0.1;
/// Half of it, where nothing else was at its limit: the windows made the rate.
const MOST: f64 = 0.5;

const CAUSE: &str = "A body larger than the server's window is sent in pieces, and each piece waits until the server has taken the \
                     one before and opened the window again";

fn on_run(run: &Run) -> Option<Finding> {
    let share = share(run)?;
    // Who responds before the bodies came does not wait for the windows (D59).
    let is_early = run.record.answered_early.count * 2 >= run.record.responses.max(1);
    if share < NOTED || is_early {
        return None;
    }
    let free = matches!(limit::of(run).by, Limit::RoundTrip | Limit::ResponseTime);
    let severity = if share >= MOST && free { Severity::Suspect } else { Severity::Note };
    let settings = run.record.http2.as_ref().and_then(|facts| facts.settings);
    let window = settings.map(|settings| first_window(settings.stream_window_bytes));
    Some(Finding::new(
        D41,
        severity,
        format!("{}{}", waited(run, share)?, window.unwrap_or_default()),
        match severity {
            Severity::Note => CAUSE.to_owned(),
            _ => format!(
                "{CAUSE}: the rate is that at which it opens windows. Whether they are small for the time that a round trip takes, what \
                 reads the bodies is slow, or the network carries no more, this run does not show"
            ),
        } + ".",
        match run.plan.http3 {
            None => {
                "Send the same load over HTTP/1.1, which has no such windows: at the same rate, bodies are read slowly or the network \
                 carries no more; at a higher rate, raise the windows on the server (nginx: http2_body_preread_size; elsewhere the initial window \
                 size of streams and of connections), or send bodies that fit."
            }
            Some(_) => {
                "Send the same load over HTTP/1.1, which has no such windows: at the same rate, bodies are read slowly or the network \
                 carries no more; at a higher rate, raise the windows on the server (nginx: http3_stream_buffer_size; elsewhere the initial flow \
                 control limits of streams and of connections), or send bodies that fit."
            }
        },
    ))
}

/// The part of the requests' time in which their bodies waited.
pub(super) fn share(run: &Run) -> Option<f64> {
    let waits = waits(run)?;
    (run.record.in_flight_ns > 0).then(|| waits.total_ns() as f64 / run.record.in_flight_ns as f64)
}

fn waits(run: &Run) -> Option<WindowWaits> {
    let http3 = run.record.http3.as_ref().map(|facts| facts.waits);
    http3.or(run.record.http2.as_ref().map(|facts| facts.waits))
}

pub(super) fn waited(run: &Run, share: f64) -> Option<String> {
    let waits = waits(run)?;
    let ms = |ns: u128| time(ns as f64 / 1e6);
    Some(format!(
        "Request bodies waited {} for the window of their stream and {} for the connection's, for \
         {} of the {} that all requests took together ({}); on one connection some did for {} without a break.",
        counted(waits.stream_times, "time"),
        counted(waits.connection_times, "time"),
        ms(waits.total_ns()),
        ms(run.record.in_flight_ns),
        percent(share),
        ms(waits.longest_ns.into())
    ))
}

/// With a space before it.
pub(super) fn first_window(bytes: u32) -> String {
    format!(" A stream starts with a window of {} B.", grouped(bytes.into()))
}

fn seen(run: &Run) -> Option<String> {
    if waits(run).is_none() {
        return Some("Neither HTTP/2 nor HTTP/3 was used.".to_owned());
    }
    waited(run, share(run)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    fn waiting(share: f64) -> Run {
        let mut run = sample::over_http2(1);
        let waits = &mut run.record.http2.as_mut().unwrap().waits;
        waits.stream_times = 20;
        waits.stream_ns = (run.record.in_flight_ns as f64 * share) as u128;
        waits.longest_ns = 40_000_000;
        run
    }

    #[test]
    fn a_server_that_responds_before_the_bodies_does_not_wait_for_its_windows() {
        let mut run = waiting(0.9);
        run.record.answered_early.count = run.record.responses;
        assert_eq!(on_run(&run), None);
    }

    #[test]
    fn waiting_for_windows_is_noted_from_a_tenth_of_the_time_on() {
        assert_eq!(on_run(&waiting(0.0)), None);
        assert_eq!(on_run(&waiting(0.09)), None);
        let finding = on_run(&waiting(0.11)).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert!(finding.evidence.contains("waited 20 times"), "{finding:?}");
        // A server that is busy takes bodies as fast as it can: its windows say no more than that.
        assert_eq!(on_run(&waiting(0.9)).map(|found| found.severity), Some(Severity::Note));
    }

    #[test]
    fn windows_that_held_an_idle_server_back_are_a_doubt() {
        let mut run = waiting(0.6);
        sample::idle(&mut run);
        assert_eq!(limit::of(&run).by, Limit::ResponseTime);
        let found = on_run(&run).unwrap();
        assert_eq!(found.severity, Severity::Suspect);
        // A handler that reads slowly opens its window as late.
        assert!(found.cause.contains("what reads the bodies is slow"), "{found:?}");
        // On a link that is full a window opens when its bytes have passed it.
        assert!(found.cause.contains("the network carries no more"), "{found:?}");
        assert!(found.fix.contains("or the network carries no more; at a higher"), "{found:?}");
        let mut run = waiting(0.4);
        sample::idle(&mut run);
        assert_eq!(on_run(&run).map(|found| found.severity), Some(Severity::Note));
    }
}
