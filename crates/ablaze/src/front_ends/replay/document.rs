//! What a replay is made of: what a document did, the figures that it printed, its command lines,
//! and the files of the fair versions. One constant per document, in [`super::documents`].

use ablaze_report::number::decimal;
use ablaze_verdict::printed::{self, Printed, Text};

/// A document with measurements that can be replayed.
#[derive(Debug)]
pub struct Document {
    /// Its number: `000`.
    pub number: &'static str,
    /// What it compares, for headings.
    pub title: &'static str,
    /// The same in a line, for the list.
    pub about: &'static str,
    /// Where its figures are from.
    pub source: &'static str,
    /// What it did, in paragraphs.
    pub did: &'static [&'static str],
    /// The figures that it printed, in the form in which it printed them.
    pub printed: &'static [&'static str],
    /// Its command lines.
    pub lines: fn() -> Vec<Line>,
    /// How often each of them was run.
    pub times: u32,
    /// What is wrong with it, as far as the printed figures alone do not tell.
    pub wrong: &'static [&'static str],
    /// The fair versions: names and texts of files in `experiments/`.
    pub files: &'static [(&'static str, &'static str)],
    /// What the fair version asks, for the head of its part of the page.
    pub asks: &'static str,
    /// The parts of the fair version with flame graphs, by their names.
    pub profiled: &'static [&'static str],
}

/// One command line of a document.
#[derive(Debug, Clone)]
pub struct Line {
    /// What the table calls it: `LT, 1,048,576 B`.
    pub name: String,
    /// As it was printed.
    pub words: String,
    /// The server it was given to.
    pub server: Server,
    /// The rate that came out, by its place in the document.
    pub then: Then,
    /// Requests of the line where time is short.
    pub quick: u64,
    /// Words that it gets then: a shorter timeout, where responses are lost.
    pub quick_words: &'static str,
    /// Whether it is among those that are run with `--quick`.
    pub in_quick: bool,
}

/// What stands in for a document's server.
#[derive(Debug, Clone)]
pub enum Server {
    /// A built-in one: the words behind `ablaze serve`.
    BuiltIn(&'static str),
    /// nginx with this status, a body of this length, and this many requests per connection.
    Nginx(u16, usize),
}

/// The place of a figure in a document.
#[derive(Debug, Clone, Copy)]
pub enum Then {
    /// The rate of its report of this number, from 0, in the first text.
    Report(usize),
    /// Its lone rate of this number in this text.
    Rate(usize, usize),
    /// A curve by its name, at this concurrency.
    Point(&'static str, u64),
    /// In this text, the report of this number.
    ReportOf(usize, usize),
}

impl Document {
    /// The texts, read.
    pub fn read(&self) -> Vec<Text> {
        self.printed.iter().map(|text| printed::read(text)).collect()
    }
}

impl Then {
    /// The rate that was printed.
    pub fn rate_per_s(self, texts: &[Text]) -> Option<f64> {
        self.printed(texts).map(|rate| rate.value)
    }

    /// The same with the digits that it was printed with.
    pub fn in_its_digits(self, texts: &[Text]) -> Option<String> {
        let rate = self.printed(texts)?;
        Some(decimal(rate.value, (-rate.step.log10()).round().max(0.0) as usize))
    }

    fn printed(self, texts: &[Text]) -> Option<Printed> {
        let report = |text: usize, number: usize| {
            let report = texts.get(text)?.reports.get(number)?;
            report.rate_per_s.or_else(|| Some(Printed { value: report.rate()?, step: 1.0 }))
        };
        match self {
            Self::Report(number) => report(0, number),
            Self::ReportOf(text, number) => report(text, number),
            Self::Rate(text, number) => Some(texts.get(text)?.rates.get(number)?.rate_per_s),
            Self::Point(name, concurrency) => {
                let curves = texts.iter().flat_map(|text| &text.sweeps).flat_map(|s| &s.curves);
                let mut points =
                    curves.filter(|curve| curve.name == name).flat_map(|curve| &curve.points);
                let (_, rate) = points.find(|(at, _)| *at == concurrency)?;
                Some(Printed { value: *rate, step: 1.0 })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::documents::ALL;
    use crate::experiments::parts;

    #[test]
    fn every_line_has_the_figure_that_was_printed() {
        for document in ALL {
            let texts = document.read();
            for line in (document.lines)() {
                let rate = line.then.rate_per_s(&texts);
                assert!(rate.is_some_and(|rate| rate > 0.0), "{} {}", document.number, line.name);
            }
        }
    }

    #[test]
    fn figures_keep_the_digits_they_were_printed_with() {
        let shown = |number: &str| {
            let document = ALL.iter().find(|document| document.number == number).unwrap();
            let texts = document.read();
            let line = (document.lines)().into_iter().next().unwrap();
            line.then.in_its_digits(&texts).unwrap()
        };
        assert_eq!(
            ["001", "002", "003", "004"].map(shown),
            ["42.56", "9,709.59", "17,163.78", "14,046"]
        );
    }

    #[test]
    fn every_experiment_can_be_carried_out() {
        for document in ALL {
            let mut parts_of = Vec::new();
            for (name, text) in document.files {
                let whole = parts::read(text, false).unwrap_or_else(|e| panic!("{name}, {e}"));
                let quick = parts::read(text, true).unwrap_or_else(|e| panic!("{name}, {e}"));
                assert_eq!(whole.len(), quick.len(), "{name}");
                assert!(name.starts_with(document.number), "{name}");
                parts_of.extend(whole.into_iter().filter_map(|part| part.name));
            }
            let known = |name: &&str| parts_of.iter().any(|part| part == name);
            assert!(document.profiled.iter().all(known), "{}", document.number);
        }
    }
}
