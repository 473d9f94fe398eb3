//! What built-in servers counted per response in the runs of a comparison: whether a response could be written at once, and
//! what it cost where it could not.

use ablaze_model::experiment::{Counted, Experiment, Results};

use crate::number::amount;

/// Below the table; where the rest of them is, if that is beside what shows it.
pub fn caption(whence: &str) -> String {
    format!(
        "Per response, over all runs{whence}. EAGAIN: writes that could not go on, because the socket's buffer was full."
    )
}

/// Where the rest is, beside the page of the experiment.
pub const WHENCE: &str = "; the rest is in `counters/` of the results folder";

/// A head and a row per target whose counters were kept, under the first load; `None` where none were.
pub fn table(
    experiment: &Experiment,
    results: &Results,
) -> Option<(Vec<&'static str>, Vec<Vec<String>>)> {
    let mut head = vec!["target"];
    let mut rows = Vec::new();
    for (at, target) in experiment.targets.iter().enumerate() {
        let counted = results.of(at, 0).into_iter().filter_map(|figures| figures.counted);
        let Some(each) = counted.reduce(std::ops::Add::add).and_then(|c| c.per_response()) else {
            continue;
        };
        head.truncate(1);
        head.extend(each.map(|(name, _)| name));
        let cells =
            each.map(|(_, count)| if count == 0.0 { "0".to_owned() } else { amount(count) });
        rows.push(std::iter::once(target.name.clone()).chain(cells).collect());
    }
    (!rows.is_empty()).then_some((head, rows))
}

/// Whether a response of any of them could not be written at once.
pub fn any_blocked(results: &Results) -> bool {
    let counted = results.measured().filter_map(|(_, figures)| figures.counted);
    counted
        .reduce(std::ops::Add::add)
        .is_some_and(|Counted { write_eagains, .. }| write_eagains > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::experiment::{Figures, Outcome};
    use ablaze_testing::experiments;

    #[test]
    fn a_row_has_what_all_runs_of_a_target_counted_per_response() {
        let experiment = experiments::experiment();
        let outcome = |trial: ablaze_model::experiment::Trial| {
            let counted = Counted {
                requests: 100,
                writes: 150 + u64::from(trial.repeat) * 50,
                write_eagains: 50,
                out_events: 50,
                epoll_mods: if trial.target == 0 { 100 } else { 0 },
            };
            // The second target served another's runs, too.
            let counted = (trial.target == 0 || trial.repeat == 0).then_some(counted);
            (trial, Outcome::Measured(Box::new(Figures { counted, ..experiments::figures(1e3) })))
        };
        let trials = experiment.trials().into_iter().map(outcome).collect();
        let results = Results { trials, ..Results::default() };
        let (head, rows) = table(&experiment, &results).unwrap();
        assert_eq!(head, ["target", "writes", "EAGAIN", "EPOLLOUT events", "epoll_ctl MOD"]);
        assert_eq!(rows[0], ["one", "2.00", "0.500", "0.500", "1.00"]);
        assert_eq!(rows[1], ["other", "1.50", "0.500", "0.500", "0"]);
        assert!(any_blocked(&results));
        let none = Results::default();
        assert_eq!((table(&experiment, &none), any_blocked(&none)), (None, false));
    }
}
