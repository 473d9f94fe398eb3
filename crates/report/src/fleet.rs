//! The machines that carried a run out together, as a table and in sentences, for every report that has tables.

mod doctor;

use crate::number::{counted, grouped, percent, rate, time};
use ablaze_model::Run;
use ablaze_model::finding::Limit;
use ablaze_model::fleet::{Fleet, FleetWorker};

/// What stands above the columns.
pub(crate) const HEAD: [&str; 8] =
    ["worker", "host", "requests/s", "p50", "p99", "errors", "CPU", "limit"];

/// A row for each worker, the first two cells and the last words; nothing where one machine did it all.
pub(crate) fn rows(run: &Run) -> Vec<Vec<String>> {
    run.fleet.iter().flat_map(|fleet| &fleet.workers).map(row).collect()
}

fn row(worker: &FleetWorker) -> Vec<String> {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let time_of = |ns: Option<u64>| or_none(ns.map(|ns| time(ns as f64)));
    vec![
        worker.name.clone(),
        or_none(worker.machine.as_ref().map(|machine| machine.host.clone())),
        or_none(worker.rate_per_s().map(rate)),
        time_of(worker.p50_ns),
        time_of(worker.p99_ns),
        grouped(worker.failures),
        or_none(worker.busy.map(|busy| percent(busy, 1.0))),
        limit_of(worker),
    ]
}

/// What limited it, or that it is lost.
pub(crate) fn limit_of(worker: &FleetWorker) -> String {
    match (worker.counted, &worker.limit) {
        (true, Some(limit)) => {
            let text =
                Limit::of_key(&limit.key).map_or_else(String::new, |limit| limit.to_string());
            let text = text.strip_prefix("limited by ").unwrap_or("unknown");
            match (&worker.lost, worker.collected) {
                (_, true) => format!("{text}; fetched afterwards"),
                (Some(_), _) => format!("{text}; ended early"),
                _ => text.to_owned(),
            }
        }
        (true, None) => "unknown".to_owned(),
        (false, _) => "lost".to_owned(),
    }
}

/// `3 workers by ssh, which started within 210 µs of each other (±95 µs)`, what became of those that were lost, and what the
/// doctor found on their machines.
pub(crate) fn sentences(run: &Run) -> Vec<String> {
    let Some(fleet) = &run.fleet else { return Vec::new() };
    let mut sentences = vec![together(fleet)];
    sentences.extend(fleet.together.map(|part| {
        let seconds = (part.to_ns - part.from_ns.min(part.to_ns)) as f64 / 1e9;
        let of = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| time(ns as f64));
        let when = match part.from_ns {
            0 => format!("for the first {}", time(part.to_ns as f64)),
            from_ns => format!("from {} to {}", time(from_ns as f64), time(part.to_ns as f64)),
        };
        format!(
            "All ran {when}: {} requests/s, p50 {}, p99 {}, {} then.",
            rate(part.responses as f64 / seconds),
            of(part.p50_ns),
            of(part.p99_ns),
            counted(part.failures, "error")
        )
    }));
    sentences.extend(fleet.workers.iter().filter_map(lost));
    sentences.extend(doctor::sentences(fleet));
    sentences
}

fn together(fleet: &Fleet) -> String {
    let workers = counted(fleet.workers.len() as u64, "worker");
    let skew = fleet.skew.map_or_else(String::new, |skew| {
        let (ns, bound_ns) = (time(skew.ns as f64), time(skew.bound_ns as f64));
        format!(", which started within {ns} of each other (±{bound_ns})")
    });
    format!("{workers} by {}{skew}.", fleet.by)
}

/// What became of a lost worker.
fn lost(worker: &FleetWorker) -> Option<String> {
    let why = worker.lost.as_ref()?;
    let name = &worker.name;
    let figures = match (worker.counted, worker.responses) {
        (true, _) if worker.collected => {
            "its run was fetched afterwards and is in the figures".to_owned()
        }
        (true, _) => "what it measured until then is in the figures".to_owned(),
        (false, 0) => "nothing of it is in the figures".to_owned(),
        (false, responses) => {
            let responses = counted(responses, "response");
            format!("the {responses} that it told of until then are not in the figures")
        }
    };
    Some(format!("{name} was lost: {why}; {figures}."))
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::StartSkew;

    use super::*;

    #[test]
    fn a_lost_worker_is_told_with_what_became_of_its_figures() {
        let mut run = crate::sample::ordinary();
        assert!(rows(&run).is_empty() && sentences(&run).is_empty());
        let lost = FleetWorker {
            name: "b".to_owned(),
            lost: Some("said nothing for 10 s".to_owned()),
            responses: 1234,
            ..FleetWorker::default()
        };
        let whole = FleetWorker { name: "a".to_owned(), counted: true, ..FleetWorker::default() };
        run.fleet = Some(Box::new(Fleet {
            by: "ssh".to_owned(),
            skew: Some(StartSkew { ns: 210_000, bound_ns: 95_000 }),
            workers: vec![whole, lost],
            ..Fleet::default()
        }));
        let said = sentences(&run);
        let first = "2 workers by ssh, which started within 210 µs of each other (±95.0 µs).";
        assert_eq!(said[0], first);
        assert_eq!(
            said[1],
            "b was lost: said nothing for 10 s; the 1,234 responses that it told of until then are not in \
             the figures."
        );
        assert_eq!(rows(&run)[1].last().map(String::as_str), Some("lost"));
    }
}
