//! How the rate of an open loop was changed by hand while the run went on: in words, and as marks over time.

use ablaze_chart::{Mark, Place};
use ablaze_model::Run;
use ablaze_model::plan::Load;
use ablaze_model::rate_change::RateChange;

use crate::number::{amount, rate, time};

/// At most this many changes are said one by one.
const MOST: usize = 8;

/// `the rate was changed by hand: 110/s from 2.02 s, paused from 3.10 s, …`.
pub(crate) fn in_words(run: &Run) -> Option<String> {
    let changes = &run.rate_changes;
    if changes.is_empty() {
        return None;
    }
    let said = changes.iter().take(MOST);
    let mut items: Vec<String> = said
        .map(|change| format!("{} from {}", what(run, change), time(change.at_ns as f64)))
        .collect();
    if changes.len() > MOST {
        items.push(format!("{} more changes", changes.len() - MOST));
    }
    let mean = run.requested_per_s().map_or(String::new(), |per_s| {
        format!("; the figures are of the whole run, with {}/s requested on average", rate(per_s))
    });
    Some(format!("the rate was changed by hand: {}{mean}", items.join(", ")))
}

/// A mark over time for each change; where there is none, one for a constant rate of requests.
pub(crate) fn marks(run: &Run) -> Vec<Mark> {
    match run.plan.load {
        Load::Open { rate: asked, .. }
            if asked.is_constant()
                && run.rate_changes.is_empty()
                // The rate of journeys is not that of their requests.
                && run.plan.journey.is_none() =>
        {
            vec![Mark::level(asked.from_per_s, "asked for")]
        }
        _ => {
            let mark = |change: &RateChange| Mark::at(change.at_ns as f64, &what(run, change));
            run.rate_changes.iter().map(mark).collect()
        }
    }
}

/// Those of the stretches without a response in which something was due.
pub(crate) fn outside_of_pauses(run: &Run, stretches: Vec<Mark>) -> impl Iterator<Item = Mark> {
    stretches.into_iter().filter(|mark| match mark.place {
        Place::Between(from_ns, to_ns) => !run.was_paused_between(from_ns as u64, to_ns as u64),
        _ => true,
    })
}

/// The rate from a change on: `110/s`, for one that is not constant `1.10 × the rate`, or `paused`.
fn what(run: &Run, change: &RateChange) -> String {
    match run.plan.load {
        _ if change.times_asked == 0.0 => "paused".to_owned(),
        Load::Open { rate: asked, .. } if asked.is_constant() => {
            let journeys = if run.plan.journey.is_some() { " journeys" } else { "" };
            format!("{}{journeys}/s", rate(asked.from_per_s * change.times_asked))
        }
        _ => format!("{} × the rate", amount(change.times_asked)),
    }
}

#[cfg(test)]
mod tests {
    use ablaze_model::plan::{Arrivals, RateProfile};

    use super::*;
    use crate::{page, sample, text};

    #[test]
    fn a_rate_changed_by_hand_is_said_and_drawn() {
        let mut run = sample::ordinary();
        run.plan.load = Load::Open {
            rate: RateProfile::constant(2_000.0),
            arrivals: Arrivals::Constant,
            connections: 100,
            bounded: true,
        };
        assert_eq!(in_words(&run), None);
        let change = |share: f64, times_asked| RateChange {
            at_ns: (run.elapsed_ns as f64 * share) as u64,
            times_asked,
        };
        run.rate_changes = vec![change(0.25, 1.1), change(0.5, 0.0), change(0.75, 1.1)];
        let text = text::write(&sample::assessed(&run), &text::Style::default());
        assert!(text.contains("2,200/s from"), "{text}");
        assert!(text.contains("paused from"), "{text}");
        // 2,000 for a quarter of the time, nothing for one, 2,200 for two of them: 1,600 on average.
        assert!(text.contains("1,600/s requested on average"), "{text}");
        let svg = page::charts::over_time(&run).unwrap().svg_file();
        assert!(svg.contains("paused"), "{svg}");
    }
}
