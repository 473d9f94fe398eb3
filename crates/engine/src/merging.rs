//! What the workers of a run recorded, merged into a Run.

use std::sync::Arc;

use ablaze_model::plan::Plan;
use ablaze_model::record::{GroupRecord, Record};
use ablaze_model::run::{Backend, Ended, Machine, Run, WorkerEffort};
use ablaze_net::Endpoint;

use crate::worker::WorkerRecord;

/// The Run of these workers. `begun_ns` is when its threads were started, by the clock of their windows.
pub(crate) fn merge(
    records: Vec<WorkerRecord>,
    plan: Arc<Plan>,
    backend: Backend,
    endpoints: &[Endpoint],
    begun_ns: u64,
    begun_unix_ns: u64,
) -> Run {
    let (start_ns, end_ns) = window(&records).unwrap_or((begun_ns, begun_ns));
    let failed = records.iter().any(|record| !record.record.faults.is_empty());
    let unreachable = records.iter().all(|record| record.ended == Ended::Unreachable);
    let interrupted = records.iter().any(|record| record.ended == Ended::Interrupted);
    let address = records.first().map_or(0, |record| record.address);
    let workers: Vec<WorkerEffort> = records.iter().map(|record| record.effort).collect();
    let draining_since_ns = records.iter().filter_map(|record| record.draining_since_ns).min();
    let mut merged = Record::new();
    for record in records {
        merged.merge(record.record);
    }
    leave_unused_redirects_out(&mut merged, &plan);
    merged.drain_ns = draining_since_ns.map(|since_ns| end_ns.saturating_sub(since_ns));
    Run {
        plan: Arc::unwrap_or_clone(plan),
        asked: None,
        command_line: Vec::new(),
        started_unix_ns: begun_unix_ns + start_ns.saturating_sub(begun_ns),
        elapsed_ns: end_ns - start_ns,
        rate_changes: Vec::new(),
        fleet: None,
        setup_ns: start_ns.saturating_sub(begun_ns),
        ended: match (unreachable, interrupted) {
            _ if failed => Ended::Failed,
            (true, _) => Ended::Unreachable,
            (_, true) => Ended::Interrupted,
            _ => Ended::Complete,
        },
        record: merged,
        workers,
        backend,
        connected_to: endpoints.get(address).map(|e| e.address.to_string()).unwrap_or_default(),
        machine: Machine::default(),
        monitor: None,
        shards: None,
        profiling: None,
    }
}

/// From the first start to the last end. Who could not connect gave up before a start that is told from elsewhere: its moment is
/// the run's only where nobody else has one.
fn window(records: &[WorkerRecord]) -> Option<(u64, u64)> {
    let of = |all: bool| {
        let in_time = records.iter().filter(move |one| all || one.ended != Ended::Unreachable);
        in_time
            .filter_map(|record| record.window_ns)
            .reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    };
    of(false).or_else(|| of(true))
}

/// A redirect that no response led to has no row.
fn leave_unused_redirects_out(record: &mut Record, plan: &Plan) {
    let route = plan.journey.as_ref().and_then(|journey| journey.route.as_ref());
    let Some(route) = route.filter(|route| route.rows() > route.journey.steps.len()) else {
        return;
    };
    let groups = &plan.requests.groups;
    let is_of_step = |name: &String| {
        let steps = route.journey.steps.len();
        groups.of_templates.iter().take(steps).any(|group| &groups.names[*group as usize] == name)
    };
    let was_sent = |group: &GroupRecord| group.finished() + group.unfinished > 0;
    record.groups.retain(|group| is_of_step(&group.name) || was_sent(group));
    if record.groups.len() == 1 {
        // The run as a whole.
        record.groups.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(window_ns: Option<(u64, u64)>, ended: Ended) -> WorkerRecord {
        WorkerRecord {
            record: Record::new(),
            effort: WorkerEffort::default(),
            window_ns,
            ended,
            address: 0,
            draining_since_ns: None,
        }
    }

    #[test]
    fn who_gave_up_before_the_start_does_not_begin_the_run() {
        let early = || record(Some((100, 100)), Ended::Unreachable);
        let whole = || record(Some((500, 900)), Ended::Complete);
        assert_eq!(window(&[early(), whole()]), Some((500, 900)));
        assert_eq!(window(&[early(), record(Some((50, 80)), Ended::Unreachable)]), Some((50, 100)));
        assert_eq!(window(&[record(None, Ended::Failed), whole()]), Some((500, 900)));
        assert_eq!(window(&[]), None);
    }
}
