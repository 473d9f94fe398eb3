//! What of a machine can get in the way of a load: facts, and checks that judge them. `ablaze doctor` prints what they say, and
//! the worker of a fleet tells it of its own machine.

pub mod check;
pub mod checks;
pub mod facts;
#[cfg(test)]
pub mod sample;

use ablaze_model::fleet::{CheckState, MachineCheck};
use ablaze_model::plan::Plan;

use check::{Check, State};
use facts::Facts;

/// What a load does without.
const BESIDE_LOADS: [&str; 2] = ["profiling", "programs"];
/// What matters only where the server is.
const OF_SERVERS: [&str; 4] = ["target", "accept-queue", "syn-queue", "loopback"];

/// The problems and notes of this machine as to a load that is planned on it; found out in about a quarter of a second.
pub fn on(plan: &Plan) -> Vec<MachineCheck> {
    told(&Facts::of_plan(plan))
}

fn told(facts: &Facts) -> Vec<MachineCheck> {
    let matters = |check: &Check| {
        !BESIDE_LOADS.contains(&check.name)
            && (facts.target_is_here() || !OF_SERVERS.contains(&check.name))
    };
    checks::judge(facts).into_iter().filter(matters).filter_map(as_told).collect()
}

/// The same check for others; `None` where there is nothing to tell.
fn as_told(check: Check) -> Option<MachineCheck> {
    let Check { name, state, figure, effect, advice, command } = check;
    let state = match state {
        State::Problem => CheckState::Problem,
        State::Note => CheckState::Note,
        State::Ok | State::Unknown => return None,
    };
    Some(MachineCheck { name: name.to_owned(), state, figure, effect, advice, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_and_notes_are_told_and_what_is_fine_or_not_known_is_not() {
        let facts = &mut sample::with_target("192.0.2.1:80");
        // On another host; and nothing that a load needs.
        sample::set(facts, "net.core.somaxconn", "5");
        facts.preflight.programs.insert("wrk".to_owned(), None);
        let before: Vec<String> = told(facts).into_iter().map(|check| check.name).collect();
        sample::set(facts, "net.ipv4.ip_local_port_range", "60000 60100");
        let found = told(facts);
        let new: Vec<_> = found.iter().filter(|check| !before.contains(&check.name)).collect();
        let [ports] = new[..] else { panic!("{new:?}") };
        assert_eq!((ports.name.as_str(), ports.state), ("local-ports", CheckState::Problem));
        assert!(ports.figure.starts_with("101 local ports"), "{ports:?}");
        let left_out = |name: &str| BESIDE_LOADS.contains(&name) || OF_SERVERS.contains(&name);
        assert!(!found.iter().any(|check| left_out(&check.name)), "{found:?}");
        // The same where the server is on this host.
        let found = told(&sample::with_target("127.0.0.1:80"));
        let server = found.iter().find(|check| check.name == "target");
        assert!(server.is_some_and(|check| check.figure.contains("nothing listens")), "{found:?}");
    }
}
