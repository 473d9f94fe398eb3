//! The client's own cost per request, and how much of the times is its own.

use ablaze_model::Run;
use ablaze_model::plan::Load;

use crate::number::time;

/// CPU time per finished request, all workers together, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// User and kernel together.
    pub cpu_ns: f64,
    /// In user mode.
    pub user_ns: f64,
    /// In the kernel.
    pub system_ns: f64,
    /// Of `cpu_ns`: spent on watching actively for events, no work.
    pub spun_ns: f64,
    /// Whether there was enough of it to say how much was in user mode: the kernel divides the time by its
    /// ticks (100 to 1,000 a second), where a thread has no clock for each mode of its own.
    pub has_parts: bool,
}

/// CPU time from which its parts are told: 12 ticks of 4 ms.
const PARTS_FROM_NS: f64 = 50e6;

/// Whether so much of a process's or thread's time tells how much of it was in which mode.
pub(crate) fn has_parts(user_ns: f64, system_ns: f64) -> bool {
    user_ns > 0.0 && system_ns > 0.0 && user_ns + system_ns >= PARTS_FROM_NS
}

impl Effort {
    /// `None` when nothing finished or no worker reported its CPU time.
    pub fn of(run: &Run) -> Option<Self> {
        let finished = run.record.finished();
        if finished == 0 || run.workers.is_empty() {
            return None;
        }
        let sum = |field: fn(&ablaze_model::run::WorkerEffort) -> u64| {
            run.workers.iter().map(|worker| field(worker) as f64).sum::<f64>() / finished as f64
        };
        let (user_ns, system_ns) = (sum(|worker| worker.user_ns), sum(|worker| worker.system_ns));
        let cpu_ns = user_ns + system_ns;
        // Spinning is measured on the clock: a thread put aside while it spun used no CPU.
        let spun_ns = sum(|worker| worker.spun_ns.min(worker.user_ns + worker.system_ns));
        let all = finished as f64;
        let has_parts = has_parts(user_ns * all, system_ns * all);
        (cpu_ns > 0.0).then_some(Self { cpu_ns, user_ns, system_ns, spun_ns, has_parts })
    }

    /// CPU time without busy polling.
    pub fn work_ns(&self) -> f64 {
        self.cpu_ns - self.spun_ns
    }
}

/// A CPU time in words; `-` where so little was used that the kernel's account of it shows nothing.
pub fn cpu_time(ns: f64) -> String {
    if ns > 0.0 { time(ns) } else { "-".to_owned() }
}

/// CPU time of the server per finished request, ns, and who that is; `None` when its process was
/// not seen for long enough, or worked for something else than these requests.
pub fn of_the_server(run: &Run) -> Option<(f64, String)> {
    if run.beside_load().is_some() {
        return None;
    }
    let target = &run.monitor.as_ref()?.target;
    let busiest = target.busiest().filter(|process| process.is_believed())?;
    // One that died cost nothing from then on: its share is that of its life, which the responses end with.
    let ended = target.processes.iter().all(|process| process.ended);
    let slices = &run.record.slices;
    let last = slices.slices.iter().rposition(|slice| slice.responses > 0);
    let alive_ns = last.map_or(run.elapsed_ns, |last| (last as u64 + 1) * slices.slice_ns);
    if target.children_ended > 0 {
        return None;
    }
    // One that began later, or ended earlier, did nothing in the rest of the time.
    let longest_ns = target.processes.iter().map(|process| process.watched_ns).max()?.max(1);
    let (finished, elapsed_ns) = match ended {
        // Responses that came long after that are another's.
        true if longest_ns + 2 * slices.slice_ns < alive_ns => {
            let lived = (longest_ns / slices.slice_ns.max(1)) as usize + 1;
            let of_its_life = slices.slices.iter().take(lived).map(|slice| slice.responses);
            (of_its_life.sum::<u64>() as f64, longest_ns)
        }
        true => (run.record.responses as f64, alive_ns.min(run.elapsed_ns)),
        false => (run.record.finished() as f64, run.elapsed_ns),
    };
    let share = target.cpu_ns() as f64 / longest_ns as f64;
    let others = match target.processes.iter().filter(|process| process.cpu_ns() > 0).count() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let name = format!("{}, pid {}{others}", busiest.name, busiest.pid);
    (finished > 0.0).then(|| (share * elapsed_ns as f64 / finished, name))
}

/// So much of the time in which places were empty may be that of requests of the warm-up.
const OF_WARMUP_MOST: f64 = 0.1;

/// The share of the time for which places in flight of a closed loop stood empty, between a response
/// and the next request: the client's own time, which is in no latency. `None` where other things
/// empty them too: an open loop, errors, connections that are opened in between, requests that ran
/// out, and requests of the warm-up, which are in no figure while they are in flight in the measured time.
pub fn resting(run: &Run) -> Option<f64> {
    let Load::Closed { connections, pipeline } = run.plan.load else { return None };
    let record = &run.record;
    // The places above what the server permits never were (D40).
    if record.streams_permitted().is_some_and(|permitted| permitted < u64::from(pipeline)) {
        return None;
    }
    let steady = record.failures_total() == 0
        && record.connections_opened == u64::from(connections)
        && record.setup_connect.count() == u64::from(connections);
    let measured_ns = run.elapsed_ns.saturating_sub(record.drain_ns.unwrap_or(0));
    if !steady || measured_ns * 100 < run.elapsed_ns * 95 || run.elapsed_ns == 0 {
        return None;
    }
    // With one request for each place there is none behind a response.
    // Who failed in the setup has no request to send.
    let places = u64::from(connections) * u64::from(pipeline);
    let places = places.saturating_sub(record.users_out());
    if places == 0 || record.finished() <= places {
        return None;
    }
    let places_ns = places as f64 * measured_ns as f64;
    let share = (1.0 - record.in_flight_ns as f64 / places_ns).max(0.0);
    let of_warmup = match run.plan.limits.warmup_ns {
        0 => 0.0,
        _ => record.answered.total.max_ns().unwrap_or(0) as f64 / measured_ns as f64,
    };
    (of_warmup <= share * OF_WARMUP_MOST).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::Effort;
    use crate::sample;

    #[test]
    fn the_workers_cpu_time_is_shared_by_all_finished_requests() {
        let effort = Effort::of(&sample::ordinary()).unwrap();
        assert!(effort.has_parts);
        // 4 ms user and 68 ms kernel over 20,000 responses.
        assert_eq!((effort.user_ns, effort.system_ns), (200.0, 3400.0));
        assert_eq!((effort.cpu_ns, effort.work_ns()), (3600.0, 3600.0));
        // Two workers like that with 20 ms of spinning each, and 15 failures more.
        let effort = Effort::of(&sample::troubled()).unwrap();
        assert!((effort.spun_ns - 40e6 / 20_015.0).abs() < 1e-9);
        assert!((effort.work_ns() - 104e6 / 20_015.0).abs() < 1e-9);
        assert_eq!(Effort::of(&sample::refused()), None);
    }

    /// 0.9 of a core for the 3 s until the responses ended, out of a run of 10 s.
    #[test]
    fn a_server_that_died_cost_nothing_from_then_on() {
        let mut run = sample::ordinary();
        let (alive_ns, _) = super::of_the_server(&run).unwrap();
        let slices = &mut run.record.slices.slices;
        let kept = slices.len() * 3 / 10;
        for slice in &mut slices[kept..] {
            slice.responses = 0;
        }
        let process = &mut run.monitor.as_mut().unwrap().target.processes[0];
        process.watched_ns = run.elapsed_ns * 3 / 10;
        process.user_ns = process.user_ns * 3 / 10;
        process.system_ns = process.system_ns * 3 / 10;
        process.ended = true;
        run.record.failures[0] += 100_000;
        let (died_ns, _) = super::of_the_server(&run).unwrap();
        assert!((died_ns / alive_ns - 0.3).abs() < 0.02, "{died_ns} {alive_ns}");
        // Another took its place a second later: what that responded cost the first nothing.
        let slices = &mut run.record.slices.slices;
        let from = slices.len() * 4 / 10;
        for slice in &mut slices[from..] {
            slice.responses = 1_000;
        }
        let (anew_ns, _) = super::of_the_server(&run).unwrap();
        assert!((anew_ns / alive_ns - 1.0).abs() < 0.1, "{anew_ns} {alive_ns}");
        run.monitor.as_mut().unwrap().target.children_ended = 1;
        assert_eq!(super::of_the_server(&run), None);
    }

    /// 20,000 requests of 10 µs on a server that used 9 s of a core.
    #[test]
    fn what_the_server_did_for_others_is_no_cost_of_these_requests() {
        let mut run = sample::ordinary();
        assert!(super::of_the_server(&run).is_some());
        run.record.in_flight_ns = 20_000 * 10_000;
        assert_eq!(super::of_the_server(&run), None);
    }

    #[test]
    fn few_ticks_have_no_parts() {
        let mut run = sample::ordinary();
        for worker in &mut run.workers {
            (worker.user_ns, worker.system_ns) = (2_000_000, 1_000);
        }
        assert!(!Effort::of(&run).unwrap().has_parts);
    }

    #[test]
    fn nothing_rests_behind_a_last_request() {
        let mut run = sample::ordinary();
        assert!(super::resting(&run).is_some());
        (run.record.responses, run.record.drain_ns) = (100, None);
        assert_eq!(super::resting(&run), None);
    }

    #[test]
    fn places_that_the_server_does_not_permit_do_not_rest() {
        let mut run = sample::ordinary();
        let facts = |permitted| ablaze_model::record::Http2Facts {
            streams_permitted: Some(permitted),
            ..Default::default()
        };
        run.record.http2 = Some(facts(1).into());
        assert!(super::resting(&run).is_some());
        run.record.http2 = Some(facts(0).into());
        assert_eq!(super::resting(&run), None);
    }

    /// Each place may have had one of its requests for as long as the longest took.
    #[test]
    fn what_requests_of_the_warmup_may_have_held_does_not_rest() {
        let mut run = sample::ordinary();
        run.plan.limits.warmup_ns = 1_000_000_000;
        let share = super::resting(&sample::ordinary()).unwrap();
        run.record.answered.total.clear();
        run.record.answered.total.record((share * 0.05 * run.elapsed_ns as f64) as u64);
        assert_eq!(super::resting(&run), Some(share));
        run.record.answered.total.record((share * 0.2 * run.elapsed_ns as f64) as u64);
        assert_eq!(super::resting(&run), None);
    }

    #[test]
    fn no_cpu_time_is_no_figure() {
        assert_eq!([0.0, 3600.0].map(super::cpu_time), ["-", "3.60 µs"]);
    }

    #[test]
    fn little_is_mentioned_only_when_figures_disagree() {
        for run in [sample::ordinary(), sample::refused(), sample::empty()] {
            assert_eq!(sample::assessed(&run).judged.little, None);
        }
        assert!(sample::assessed(&sample::troubled()).judged.little.is_some());
    }
}
