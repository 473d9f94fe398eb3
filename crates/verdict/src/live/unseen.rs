//! Why some rules have nothing to go by in a Run: what was not asked for, and what was not seen.

use ablaze_model::Run;

use super::figures::{server, target};

/// The reasons that hold for this Run, in a few words each.
pub(super) fn why(run: &Run) -> String {
    let mut reasons = Vec::new();
    if run.record.responses == 0 {
        reasons.push("no response came");
    }
    reasons.push(match run.plan.load.is_open() {
        true => "an open loop has no requested number in flight",
        false => "in a closed loop no request is late",
    });
    if !run.plan.connections.keep_alive {
        reasons.push("keep-alive was off");
    }
    if run.monitor.is_none() {
        reasons.push("there was no monitor");
    } else if target(run).is_none() {
        reasons.push("the server is on another machine");
    } else if server(run).is_none() {
        reasons.push("the server's process was not seen for long enough");
    } else {
        reasons.push("D24 needs the server's debug data, D25 `ablaze serve` with an epoll model");
    }
    reasons.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::sample;

    #[test]
    fn the_reasons_are_those_of_the_run() {
        let mut run = sample::run();
        assert!(why(&run).starts_with("in a closed loop no request is late; D24 needs"));
        sample::monitor(&mut run).target.on_this_host = false;
        assert!(why(&run).ends_with("late; the server is on another machine"), "{}", why(&run));
        run.monitor = None;
        sample::open_loop(&mut run, 10.0);
        assert_eq!(
            why(&run),
            "an open loop has no requested number in flight; there was no monitor"
        );
    }
}
