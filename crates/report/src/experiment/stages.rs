//! The figures of the stages of a search as numbers, each under the name of its condition with the unit in it: what CSV
//! and JSON have.

use ablaze_model::experiment::{Search, Stage};

use crate::condition::Condition;

/// The name of each condition's figure: `p99_ns`, `errors_percent`. Two conditions on one figure have one name.
pub(super) fn columns(search: &Search) -> Vec<String> {
    let name = |text: &str| match text.parse::<Condition>() {
        Ok(condition) => condition.column(),
        // Of a file that a later version wrote.
        Err(_) => text.to_owned(),
    };
    search.conditions().into_iter().map(name).collect()
}

/// The figures of a stage by these names, each once.
pub(super) fn values(stage: &Stage, columns: &[String]) -> Vec<(String, Option<f64>)> {
    let measured = stage.measured.as_ref();
    let value = |at: usize| measured.and_then(|measured| *measured.values.get(at)?);
    let mut values: Vec<(String, Option<f64>)> = Vec::new();
    for (at, name) in columns.iter().enumerate() {
        if values.iter().all(|(other, _)| other != name) {
            values.push((name.clone(), value(at)));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use ablaze_testing::experiments;

    use super::*;

    #[test]
    fn every_name_has_its_unit() {
        let goal = "p99<20ms, login.p99.9 < 1s,errors<0.1%,errors<3,rate>100,checks>=99%,lag<1ms,status.500<1";
        let names = columns(&experiments::search(goal));
        assert_eq!(
            names,
            [
                "p99_ns",
                "login.p99.9_ns",
                "errors_percent",
                "errors",
                "rate_per_s",
                "checks_percent",
                "lag_ns",
                "status.500"
            ]
        );
    }
}
