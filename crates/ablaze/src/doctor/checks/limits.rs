//! Descriptors: every connection takes one, at both ends.

use ablaze_verdict::words::{counted, grouped};

use crate::doctor::check::Check;
use crate::doctor::facts::Facts;

const DESCRIPTORS: &str = "descriptors";

/// Below this, tests of a server soon end at the limit; the kernel's own default is 1,024.
const FEW: u64 = 4096;
/// What is worth asking for, if one asks at all.
const PLENTY: u64 = 65_536;

/// Whether this process, and a server started in the same shell, may have enough of them.
pub fn descriptors(facts: &Facts) -> Option<Check> {
    let limits = facts.preflight.environment.descriptors;
    let (soft, hard) = (limits.soft.unwrap_or(u64::MAX), limits.hard.unwrap_or(u64::MAX));
    let limit = |limit: Option<u64>| limit.map_or("no limit".to_owned(), grouped);
    let figure = format!("soft limit {}, hard limit {}", limit(limits.soft), limit(limits.hard));
    let (needed, load) = match (facts.load.connections, facts.load.descriptors) {
        (Some(connections), Some(needed)) => {
            let connections = counted(connections.into(), "connection");
            (needed, format!("{connections} need {} descriptors", grouped(needed)))
        }
        _ => (1024, "1,000 connections need about 1,050 descriptors".to_owned()),
    };
    if hard < needed {
        let check = Check::problem(
            DESCRIPTORS,
            figure,
            format!("{load}: ablaze refuses to start a run that it cannot open"),
        );
        return Some(raised(check, needed));
    }
    if facts.load.connections.is_none() && hard < FEW {
        let effect = format!("ablaze and a server can have at most {} connections", grouped(hard));
        return Some(raised(Check::note(DESCRIPTORS, figure, effect), needed));
    }
    if soft <= needed {
        let effect = format!(
            "ablaze raises its own soft limit; a server started in this shell keeps {} and stops \
             accepting at that",
            grouped(soft)
        );
        let to = limits.hard.unwrap_or(PLENTY).min(PLENTY.max(needed.next_power_of_two()));
        return Some(
            Check::note(DESCRIPTORS, figure, effect)
                .advice("in the shell that starts the server:")
                .command(format!("ulimit -n {to}")),
        );
    }
    Some(Check::ok(DESCRIPTORS, figure))
}

/// Only root raises a hard limit; prlimit(1) does so for the shell that is there already.
fn raised(check: Check, needed: u64) -> Check {
    let to = PLENTY.max(needed.next_power_of_two());
    check
        .advice("for this shell and what it starts:")
        .command(format!("sudo prlimit --pid $$ --nofile={to}:{to}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::check::State;
    use crate::doctor::sample::{quiet, with_load};

    fn judged(facts: &mut Facts, soft: Option<u64>, hard: Option<u64>) -> Check {
        facts.preflight.environment.descriptors.soft = soft;
        facts.preflight.environment.descriptors.hard = hard;
        descriptors(facts).unwrap()
    }

    #[test]
    fn a_hard_limit_too_low_is_a_problem_and_a_soft_one_the_servers() {
        let facts = &mut quiet();
        assert_eq!(judged(facts, Some(65_536), Some(65_536)).state, State::Ok);
        assert_eq!(judged(facts, None, None).state, State::Ok);
        let low = judged(facts, Some(64), Some(64));
        assert_eq!(low.state, State::Problem);
        assert!(low.command.unwrap().starts_with("sudo prlimit --pid $$ --nofile=65536"));
        let soft = judged(facts, Some(1024), Some(524_288));
        assert_eq!((soft.state, soft.command.as_deref()), (State::Note, Some("ulimit -n 65536")));
        let soft = judged(facts, Some(1024), Some(4096));
        assert_eq!(soft.command.as_deref(), Some("ulimit -n 4096"), "no more than permitted");
        assert_eq!(judged(facts, Some(2048), Some(2048)).state, State::Note);
    }

    #[test]
    fn with_a_load_its_own_number_counts() {
        let facts = &mut with_load(1000, None);
        let needed = facts.load.descriptors.unwrap();
        assert_eq!(judged(facts, Some(needed - 1), Some(needed - 1)).state, State::Problem);
        assert_eq!(judged(facts, Some(needed + 1), Some(needed + 1)).state, State::Ok);
        let facts = &mut with_load(200_000, None);
        let check = judged(facts, Some(1024), Some(100_000));
        assert!(check.effect.unwrap().contains("200,000 connections"));
        assert!(check.command.unwrap().ends_with("262144:262144"));
    }
}
