//! What the doctor found on the machines of a fleet before the run: each of it once, with the workers that it was found on.

use ablaze_model::fleet::{CheckState, Fleet, FleetWorker, MachineCheck};

use crate::number::grouped;

/// So many names are shown; the others are counted.
const NAMES: usize = 4;

/// A sentence for each problem, and one for all notes.
pub(super) fn sentences(fleet: &Fleet) -> Vec<String> {
    let looked = fleet.workers.iter().filter(|worker| worker.machine.is_some()).count();
    let mut sentences: Vec<String> =
        found(fleet, CheckState::Problem).iter().map(|found| problem(found, looked)).collect();
    let notes: Vec<String> = found(fleet, CheckState::Note)
        .iter()
        .map(|Found { check, workers }| format!("{} on {}", check.name, names(workers, looked)))
        .collect();
    if !notes.is_empty() {
        let notes = notes.join(", ");
        sentences
            .push(format!("The doctor's notes: {notes}; `ablaze doctor` there explains them."));
    }
    sentences
}

/// One check, as the first of these workers has it.
struct Found<'a> {
    check: &'a MachineCheck,
    workers: Vec<&'a FleetWorker>,
}

/// What was found in such a state, in the order of the workers and of their checks.
fn found(fleet: &Fleet, state: CheckState) -> Vec<Found<'_>> {
    let mut all: Vec<Found> = Vec::new();
    for worker in &fleet.workers {
        let checks = worker.machine.iter().flat_map(|machine| &machine.checks);
        for check in checks.filter(|check| check.state == state) {
            match all.iter_mut().find(|found| found.check.name == check.name) {
                Some(found) => found.workers.push(worker),
                None => all.push(Found { check, workers: vec![worker] }),
            }
        }
    }
    all
}

/// `The doctor's problem local-ports on load-1: 101 local ports (60000 to 60100); at most …`
fn problem(found: &Found, looked: usize) -> String {
    let Found { check, workers } = found;
    let name = &check.name;
    // Each has numbers of its own.
    let of = match workers.len() {
        1 => String::new(),
        _ => format!("on {}, ", workers[0].name),
    };
    let effect = check.effect.as_ref().map_or(String::new(), |effect| format!("; {effect}"));
    let command = check.command.as_ref().map(|command| format!("`{command}`"));
    let fix: Vec<String> = check.advice.iter().cloned().chain(command).collect();
    let fix = match fix.is_empty() {
        true => String::new(),
        false => format!(". Fix: {}", fix.join(" ")),
    };
    let names = names(workers, looked);
    format!("The doctor's problem {name} on {names}: {of}{}{effect}{fix}.", check.figure)
}

/// The names of these, of so many workers.
fn names(workers: &[&FleetWorker], looked: usize) -> String {
    if workers.len() == looked && looked > 1 {
        return format!("all {} workers", grouped(looked as u64));
    }
    let shown: Vec<&str> = workers.iter().take(NAMES).map(|worker| worker.name.as_str()).collect();
    match workers.len().saturating_sub(NAMES) {
        0 => shown.join(" and "),
        more => format!("{} and {} more", shown.join(", "), grouped(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::fleet::WorkerMachine;

    use super::*;

    fn check(name: &str, state: CheckState, figure: &str) -> MachineCheck {
        MachineCheck {
            name: name.to_owned(),
            state,
            figure: figure.to_owned(),
            effect: Some("ports run out".to_owned()),
            advice: None,
            command: Some("sudo sysctl".to_owned()),
        }
    }

    fn worker(name: &str, checks: Vec<MachineCheck>) -> FleetWorker {
        let machine = Some(WorkerMachine { checks, ..WorkerMachine::default() });
        FleetWorker { name: name.to_owned(), machine, ..FleetWorker::default() }
    }

    #[test]
    fn each_problem_is_told_once_by_the_names_of_the_workers() {
        let container = || check("container", CheckState::Note, "in docker");
        let ports = |count: &str| check("local-ports", CheckState::Problem, count);
        let workers = vec![
            worker("a", vec![ports("101 ports"), container()]),
            worker("b", vec![container(), check("swap", CheckState::Note, "1 GiB")]),
            worker("c", vec![ports("7 ports"), container()]),
            FleetWorker { name: "lost".to_owned(), ..FleetWorker::default() },
        ];
        let fleet = Fleet { workers, ..Fleet::default() };
        assert_eq!(
            sentences(&fleet),
            [
                "The doctor's problem local-ports on a and c: on a, 101 ports; ports run out. Fix: `sudo sysctl`.",
                "The doctor's notes: container on all 3 workers, swap on b; `ablaze doctor` there explains them.",
            ]
        );
    }

    #[test]
    fn where_it_found_nothing_nothing_is_told() {
        let fleet = Fleet { workers: vec![worker("a", Vec::new())], ..Fleet::default() };
        assert!(sentences(&fleet).is_empty());
    }

    #[test]
    fn many_workers_are_counted() {
        let ports = || vec![check("local-ports", CheckState::Problem, "101 ports")];
        let mut workers: Vec<FleetWorker> =
            (0..9).map(|number| worker(&format!("h{number}"), ports())).collect();
        workers.push(worker("fine", Vec::new()));
        let fleet = Fleet { workers, ..Fleet::default() };
        let said = &sentences(&fleet)[0];
        assert!(said.contains(" on h0, h1, h2, h3 and 5 more: on h0, 101 ports"), "{said}");
    }
}
