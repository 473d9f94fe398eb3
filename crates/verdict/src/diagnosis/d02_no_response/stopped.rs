//! A process of the server that was stopped, and whether that is why requests waited.

use ablaze_model::Run;

use crate::live::figures::server_stopped;

/// Why a stopped process does not respond, and what to do. The kernel accepts connections for it meanwhile.
pub(in crate::diagnosis) const STOPPED: (&str, &str) = (
    "A stopped process does nothing, while the kernel takes in connections and data for it: a signal (SIGSTOP, Ctrl-Z) \
     or a debugger stopped it.",
    "See what stopped it; if it is still stopped, continue it: by `kill -CONT`, or, in state t, in the debugger that holds it. Then \
     measure again.",
);

/// Adds to the evidence that a process was stopped, if one was; and says whether for long enough to be why requests waited for so
/// many seconds.
pub(super) fn is_why(run: &Run, waited_s: f64, evidence: &mut String) -> bool {
    let Some(stopped) = server_stopped(run) else { return false };
    evidence.push(' ');
    evidence.push_str(&stopped.said);
    stopped.lasted(waited_s)
}

/// For how long requests waited that timed out: each until its time was over, and one behind the other for as long as any did.
/// A server that stops makes them time out at once, or for as long as it is stopped; one that drops some, all the time.
pub(super) fn of_timeouts_s(run: &Run) -> f64 {
    let usual_s = run.record.failed.total.quantile_ns(0.5).unwrap_or(0) as f64 / 1e9;
    let slices = &run.record.slices;
    let failed_in = slices.slices.iter().filter(|slice| slice.failures > 0).count();
    usual_s.max(failed_in as f64 * slices.slice_ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use ablaze_model::FailureKind;

    use super::super::on_run;
    use super::*;
    use crate::live::sample;

    /// Requests that time out after two seconds in so many slices, and a process that was stopped in so many of 100 readings.
    fn found(slices: usize, stopped_readings: u64) -> (String, String) {
        let mut run = sample::run();
        for slice in &mut run.record.slices.slices[50..50 + slices] {
            slice.failures = 300 / slices as u64;
        }
        run.record.failures[FailureKind::Timeout as usize] = 300;
        run.record.failed.total.record_many(2_000_000_000, 300);
        sample::monitor(&mut run).target.processes[0].stopped_readings = stopped_readings;
        let found = on_run(&run).unwrap();
        (found.evidence, found.cause)
    }

    #[test]
    fn a_process_that_was_stopped_for_a_moment_did_not_make_requests_wait_for_seconds() {
        let said = "was stopped (state T or t in /proc) in";
        let (evidence, cause) = found(1, 25);
        assert!(evidence.contains(said) && cause == STOPPED.0, "{evidence} {cause}");
        // SIGCONT does nothing to what a tracer holds.
        assert!(STOPPED.1.contains("in state t, in the debugger"), "{}", STOPPED.1);
        // A tool that dumps its memory stopped it for 100 ms.
        let (evidence, cause) = found(1, 1);
        assert!(evidence.contains(&format!("{said} 1 of the 100 readings")), "{evidence}");
        assert!(cause.contains("did not respond to some requests in time"), "{cause}");
        // Some hang all the time: a stop of two seconds is not why.
        let (_, cause) = found(50, 20);
        assert!(cause.contains("did not respond to some requests in time"), "{cause}");
    }
}
