//! The loads of an experiment: one, or one for each value of an axis. Options and values are put
//! together as words, and read once, by the parser of `ablaze load`.

use ablaze_model::experiment::Load;
use ablaze_model::spec::Secrets;

use crate::{CommandError, native, values};

/// A load before it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Worded {
    /// What tables call it.
    pub label: String,
    /// Its place on the axis of a curve.
    pub x: Option<f64>,
    /// Options of `ablaze load`.
    pub options: Vec<String>,
}

impl Worded {
    /// The load that its words ask for.
    ///
    /// # Errors
    /// When `ablaze load` would not take them.
    pub fn read(self, secrets: &mut Secrets) -> Result<Load, CommandError> {
        let spec = native::of_words(&self.options, secrets)?;
        Ok(Load { label: self.label, x: self.x, spec })
    }
}

/// The one load, named by what matters of it.
pub fn one(mut options: Vec<String>) -> Worded {
    let value = |option: &str| {
        let at = options.iter().position(|word| word == option)?;
        options.get(at + 1).cloned()
    };
    let mut label = match value("--rate") {
        Some(rate) => format!("{rate} asked"),
        None => format!("c={}", value("--connections").unwrap_or_else(|| "50".to_owned())),
    };
    if options.iter().any(|word| word == "--no-keepalive") {
        label += " close";
    }
    if value("--duration").or(value("--requests")).is_none() {
        options.extend(["--duration".to_owned(), "3s".to_owned()]);
    }
    Worded { label, x: None, options }
}

/// One load per value of the one option that is a list.
///
/// # Errors
/// When none is, or more than one.
pub fn swept(words: Vec<String>, vary: Option<&str>) -> Result<Vec<Worded>, CommandError> {
    let mut words = words;
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for option in ["--connections", "--rate"] {
        if let Some(at) = words.iter().position(|word| word == option) {
            let values = pieces(&words[at + 1]);
            words.drain(at..at + 2);
            axes.push((option.to_owned(), values));
        }
    }
    if let Some(vary) = vary {
        let Some((option, list)) = vary.split_once('=') else {
            return Err(CommandError::usage(format!(
                "--vary {vary}: expected OPTION=VALUE,VALUE…, such as threads=1,2,4"
            )));
        };
        axes.push((format!("--{}", option.trim_start_matches('-')), pieces(list)));
    }
    let lists = axes.iter().filter(|(_, values)| values.len() > 1);
    let lists: Vec<&str> = lists
        .map(|(option, _)| match option.as_str() {
            "--connections" => "-c",
            "--rate" => "--rates",
            other => other,
        })
        .collect();
    if lists.len() > 1 {
        return Err(CommandError::usage(format!(
            "a sweep has one axis, but {} are lists: give a list to one of them",
            lists.join(" and ")
        )));
    }
    let at = axes.iter().position(|(_, values)| values.len() > 1);
    let Some((option, values)) = at.or((!axes.is_empty()).then_some(0)).map(|at| axes.remove(at))
    else {
        return Err(CommandError::usage(
            "nothing to sweep over: use -c 1,2,5,10, --rates or --vary",
        ));
    };
    for (option, value) in axes {
        words.extend([option, value.concat()]);
    }
    Ok(along(words, &option, values))
}

/// One load per value of an option, each as long as a load of an experiment unless the words say
/// otherwise.
pub fn along(mut words: Vec<String>, option: &str, values: Vec<String>) -> Vec<Worded> {
    let has_length = |word: &str| word == "--duration" || word == "--requests";
    if !words.iter().any(|word| has_length(word)) && !has_length(option) {
        words.extend(["--duration".to_owned(), "3s".to_owned()]);
    }
    let short = option.trim_start_matches('-');
    let short = if short == "connections" { "c" } else { short };
    let load = |value: String| {
        let mut options = words.clone();
        options.extend([option.to_owned(), value.clone()]);
        // A label stands in tables, and in the names of files.
        let shown = native::shown(&[option.to_owned(), value.clone()]).0.pop().unwrap_or_default();
        Worded { label: format!("{short}={shown}"), x: number(&value), options }
    };
    values.into_iter().map(load).collect()
}

fn pieces(list: &str) -> Vec<String> {
    let piece = |piece: &str| piece.trim().to_owned();
    list.split(',').map(piece).filter(|piece| !piece.is_empty()).collect()
}

/// The value as a place on an axis: counts and rates are.
fn number(text: &str) -> Option<f64> {
    values::count(text).ok().map(|count| count as f64).or_else(|| {
        values::rate(text).ok().filter(|rate| rate.is_constant()).map(|rate| rate.from_per_s)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(words: &[&str], vary: Option<&str>) -> Result<Vec<String>, String> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        match swept(words, vary) {
            Ok(loads) => Ok(loads
                .iter()
                .map(|load| format!("{} {}", load.label, load.options.join(" ")))
                .collect()),
            Err(error) => Err(error.line),
        }
    }

    #[test]
    fn one_load_per_value() {
        let swept = labels(&["--connections", "1,2, 5", "--duration", "1s"], None).unwrap();
        assert_eq!(swept[0], "c=1 --duration 1s --connections 1");
        assert_eq!(swept.len(), 3);
        let swept = labels(&["--rate", "1k,2k"], None).unwrap();
        assert_eq!(swept[1], "rate=2k --duration 3s --rate 2k");
        let swept = labels(&["--connections", "10"], Some("threads=1,2")).unwrap();
        assert_eq!(swept[1], "threads=2 --connections 10 --duration 3s --threads 2");
    }

    #[test]
    fn a_sweep_has_one_axis() {
        assert!(labels(&["--connections", "1,2"], Some("threads=1,2")).is_err());
        let both = labels(&["--connections", "1,2", "--rate", "1k,2k"], None).unwrap_err();
        assert!(both.contains("-c and --rates are lists"), "{both}");
        assert!(labels(&[], None).unwrap_err().contains("nothing to sweep over"));
        assert!(labels(&[], Some("threads")).is_err());
    }
}
