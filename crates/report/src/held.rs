//! What had to hold of the responses and journeys of a run, one entry each: `--assert`, the asserts of a journey, its steps, and
//! the journeys themselves. Cases of a test are made of it.

use ablaze_model::Run;
use ablaze_model::experiment::Held;
use ablaze_model::record::{FirstMessage, Journeys};

use crate::{checks, journeys};

/// Everything that had to hold: `--assert` in its order, then journeys, their steps and their asserts.
pub fn of_run(run: &Run) -> Vec<Held> {
    let each = run.record.checks.iter().flat_map(|checks| &checks.each);
    let mut held: Vec<Held> = each
        .map(|check| Held {
            class: "check",
            what: check.text.clone(),
            of: "response",
            looked_at: check.looked_at(),
            failed: check.failed,
            first: checks::first(check),
        })
        .collect();
    held.extend(run.record.journeys.iter().flat_map(|journeys| of_journeys(journeys)));
    held
}

fn of_journeys(journeys: &Journeys) -> Vec<Held> {
    let whole = |name: Option<&str>, whole: u64, failed: u64| Held {
        class: "journey",
        what: match name {
            Some(name) => format!("journeys of {name} come whole to their end"),
            None => "journeys come whole to their end".to_owned(),
        },
        of: "journey",
        looked_at: whole.saturating_add(failed),
        failed,
        first: first_failure(journeys).filter(|_| name.is_none() && failed > 0).unwrap_or_default(),
    };
    let mut held: Vec<Held> = Vec::new();
    if let Some(setup) = &journeys.setup {
        held.push(Held {
            class: "setup",
            what: "users come through the setup".to_owned(),
            of: "user",
            looked_at: setup.begun,
            failed: setup.failed,
            first: setup.first.as_ref().map_or_else(String::new, |first| first.text.clone()),
        });
    }
    match journeys.each.is_empty() {
        true => held.push(whole(None, journeys.whole, journeys.failed)),
        false => {
            held.extend(
                journeys.each.iter().map(|one| whole(Some(&one.name), one.whole, one.failed)),
            );
        }
    }
    held.extend(journeys.steps.iter().map(|step| Held {
        class: "step",
        what: format!("no journey fails in {}", step.name),
        of: "journey",
        looked_at: journeys.whole.saturating_add(journeys.failed),
        failed: step.failed,
        first: journeys::reason(step),
    }));
    let asserts = journeys.asserts_passed.saturating_add(journeys.asserts_failed);
    if asserts > 0 {
        held.push(Held {
            class: "check",
            what: "asserts of journeys hold".to_owned(),
            of: "assert",
            looked_at: asserts,
            failed: journeys.asserts_failed,
            first: String::new(),
        });
    }
    held
}

/// The step in which a journey failed first, and why.
fn first_failure(journeys: &Journeys) -> Option<String> {
    let at = |first: &Option<FirstMessage>| first.as_ref().map_or(u64::MAX, |first| first.at_ns);
    let step = journeys::failed(journeys).min_by_key(|step| at(&step.first))?;
    Some(format!("in {}: {}", step.name, journeys::reason(step)))
}

#[cfg(test)]
mod tests {
    use ablaze_model::record::OneJourney;

    use super::*;
    use crate::sample;

    /// Ten journeys of two steps, of which four fail in the second.
    fn failing() -> Journeys {
        let mut journeys = Journeys::new(&["login".to_owned(), "pay".to_owned()]);
        (journeys.begun, journeys.whole) = (11, 6);
        (journeys.asserts_passed, journeys.asserts_failed) = (36, 4);
        (0..4).for_each(|at_ns| {
            journeys.fails(1, at_ns, None, || "line 9: status is 201".to_owned())
        });
        journeys
    }

    #[test]
    fn journeys_their_steps_and_their_asserts_are_entries() {
        let mut run = sample::ordinary();
        assert_eq!(of_run(&run), []);
        run.record.journeys = Some(Box::new(failing()));
        let held = of_run(&run);
        let counted: Vec<(&str, &str, u64, u64)> = held
            .iter()
            .map(|held| (held.class, held.what.as_str(), held.looked_at, held.failed))
            .collect();
        // Of eleven that began, one was unfinished: nobody knows what would have become of it.
        assert_eq!(
            counted,
            [
                ("journey", "journeys come whole to their end", 10, 4),
                ("step", "no journey fails in login", 10, 0),
                ("step", "no journey fails in pay", 10, 4),
                ("check", "asserts of journeys hold", 40, 4),
            ]
        );
        assert_eq!(held[0].first, "in pay: line 9: status is 201");
        assert_eq!(held[2].first, "line 9: status is 201");
    }

    #[test]
    fn each_of_several_journeys_is_an_entry() {
        let mut run = sample::ordinary();
        let mut journeys = failing();
        for (name, whole, failed) in [("buy", 2, 4), ("browse", 4, 0)] {
            let one = OneJourney::new(name.to_owned());
            journeys.each.push(OneJourney { whole, failed, ..one });
        }
        run.record.journeys = Some(Box::new(journeys));
        let held = of_run(&run);
        let said: Vec<(&str, u64)> = held
            .iter()
            .filter(|held| held.class == "journey")
            .map(|held| (held.what.as_str(), held.failed))
            .collect();
        let end = "come whole to their end";
        assert_eq!(
            said,
            [(&*format!("journeys of buy {end}"), 4), (&*format!("journeys of browse {end}"), 0)]
        );
    }
}
