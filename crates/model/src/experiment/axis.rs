//! What the loads of an experiment differ in: one axis, or two, whose second has a chart for each value.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Experiment, Load};

/// One thing that differs, and its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it is called: `connections`, `threads`, `GOMAXPROCS`.
    pub name: String,
    /// Where its values are put.
    pub of: Vec<Place>,
    /// The values, in their order.
    pub values: Vec<AxisValue>,
}

/// One value of an axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AxisValue {
    /// As it was written, without secrets.
    pub text: String,
    /// Its place among numbers, if it is one.
    pub x: Option<f64>,
}

/// Where the values of an axis are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// An option of the load.
    Load,
    /// An option of built-in servers.
    Server,
    /// A variable of the environment of targets that are started here.
    Environment,
    /// The path that is requested.
    Path,
    /// Wherever `{name}` was written.
    Placeholder,
}

impl Axis {
    /// Its name in labels, which stand in tables and in the names of files: `c`.
    pub fn short(&self) -> &str {
        if self.name == "connections" { "c" } else { &self.name }
    }

    /// One of its values by name: `c=10`.
    pub fn label(&self, at: usize) -> String {
        format!("{}={}", self.short(), self.values[at].text)
    }

    /// What charts write along it: an option that client and server both have is of one of them.
    pub fn title(&self) -> String {
        match self.of[..] {
            [Place::Server] => format!("{} of the server", self.name),
            _ => self.name.clone(),
        }
    }

    /// Its values as numbers; `None` where a number does not say what was asked for: `http=1.0` is a version, not
    /// one.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let is_number = |text: &str, x: f64| text.parse::<f64>().is_err() || x.to_string() == text;
        let number = |value: &AxisValue| value.x.filter(|x| is_number(&value.text, *x));
        self.values.iter().map(number).collect()
    }

    /// The one axis of loads that only their labels tell apart, as older versions kept them; `None` for a single load.
    pub fn of_labels(loads: &[Load]) -> Option<Self> {
        let (first, _) = loads.first().filter(|_| loads.len() > 1)?.label.split_once('=')?;
        let value = |load: &Load| {
            let text = load.label.split_once('=').map_or(load.label.as_str(), |(_, text)| text);
            AxisValue { text: text.to_owned(), x: load.x }
        };
        let name = if first == "c" { "connections" } else { first };
        let values = loads.iter().map(value).collect();
        Some(Self { name: name.to_owned(), of: vec![Place::Load], values })
    }
}

/// The loads that share a value of the second axis: those of one chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The value, `size=1k`; `None` where there is no second axis.
    pub label: Option<String>,
    /// The loads by their places, in the order of the first axis.
    pub loads: Range<usize>,
}

impl Experiment {
    /// The loads by charts: one for each value of the second axis.
    pub fn slices(&self) -> Vec<Slice> {
        match &self.axes[..] {
            [first, second] => {
                let length = first.values.len();
                let slice = |at: usize| Slice {
                    label: Some(second.label(at)),
                    loads: at * length..(at + 1) * length,
                };
                (0..second.values.len()).map(slice).collect()
            }
            _ => vec![Slice { label: None, loads: 0..self.loads.len() }],
        }
    }

    /// What a load is called in its own slice: by the first axis alone.
    pub fn label_in_slice(&self, load: usize) -> String {
        match &self.axes[..] {
            [first, _] => first.label(load % first.values.len()),
            _ => self.loads[load].label.clone(),
        }
    }

    /// The value that a load has on each axis.
    pub fn values_of(&self, load: usize) -> Vec<&AxisValue> {
        let mut place = load;
        let mut value = |axis: &'_ Axis| {
            let at = place % axis.values.len();
            place /= axis.values.len();
            at
        };
        let places: Vec<usize> = self.axes.iter().map(&mut value).collect();
        self.axes.iter().zip(places).map(|(axis, at)| &axis.values[at]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LoadSpec;

    fn axis(name: &str, values: &[(&str, Option<f64>)]) -> Axis {
        let value = |(text, x): &(&str, _)| AxisValue { text: (*text).to_owned(), x: *x };
        Axis {
            name: name.to_owned(),
            of: vec![Place::Load],
            values: values.iter().map(value).collect(),
        }
    }

    fn load(label: &str, x: Option<f64>) -> Load {
        Load { label: label.to_owned(), x, ..Load::of(LoadSpec::default()) }
    }

    #[test]
    fn loads_that_older_versions_kept_have_the_axis_of_their_labels() {
        let loads = [load("c=1", Some(1.0)), load("c=10", Some(10.0))];
        let expected = axis("connections", &[("1", Some(1.0)), ("10", Some(10.0))]);
        assert_eq!(Axis::of_labels(&loads), Some(expected.clone()));
        assert_eq!(expected.label(1), "c=10");
        assert_eq!(Axis::of_labels(&loads[..1]), None);
    }

    #[test]
    fn a_value_whose_number_says_less_than_its_text_is_a_name() {
        assert_eq!(
            axis("size", &[("1k", Some(1e3)), ("10", Some(10.0))]).numbers().unwrap().len(),
            2
        );
        assert_eq!(axis("http", &[("1.0", Some(1.0)), ("2", Some(2.0))]).numbers(), None);
        assert_eq!(axis("path", &[("/a", None)]).numbers(), None);
    }
}
