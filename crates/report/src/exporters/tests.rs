//! The table of formats: who asks for one gets it, and what is refused before the run is what cannot be
//! written after it.

use super::*;
use crate::page;
use crate::sample::{self, assessed};

/// One of each kind.
fn with_each(mut check: impl FnMut(Kind, &Exported<'_>)) {
    let run = assessed(&sample::ordinary());
    let conditions = Conditions::default();
    check(Kind::Run, &Exported::Run { assessed: &run, explain: false, conditions: &conditions });
    let runs = [("one".to_owned(), run.clone()), ("other".to_owned(), run)];
    let page = page::of_runs(&runs, &[]);
    check(Kind::Runs, &Exported::Runs(&page));
    let mut contents = Contents {
        page: Ok(page),
        chart: Some(page::charts::main(&runs[0].1.run)),
        json: "{}".to_owned(),
        csv: Some("a,b".to_owned()),
        text: "words".to_owned(),
        suites: Vec::new(),
    };
    check(Kind::Experiment, &Exported::Experiment(&contents));
    (contents.chart, contents.csv) = (None, None);
    check(Kind::Parts, &Exported::Experiment(&contents));
}

#[test]
fn a_format_fits_what_it_gives_a_text_for() {
    with_each(|kind, what| {
        for exporter in all() {
            let export = exporter.export(what, "stem");
            assert_eq!(export.is_ok(), exporter.fits(kind), "{exporter:?} {kind:?}");
            assert!(export.is_ok_and(|export| !export.text.is_empty()) == exporter.fits(kind));
        }
    });
}

#[test]
fn files_beside_are_those_that_were_checked() {
    with_each(|kind, what| {
        for exporter in all().iter().filter(|exporter| exporter.fits(kind)) {
            let beside = exporter.export(what, "stem").unwrap().beside;
            let mut expected: Vec<&str> =
                beside.iter().map(|(name, _)| name.rsplit_once('.').unwrap().1).collect();
            expected.dedup();
            assert_eq!(exporter.beside(), expected, "{exporter:?} {kind:?}");
        }
    });
}

#[test]
fn no_extension_asks_for_two_formats() {
    let mut extensions: Vec<&str> =
        all().iter().flat_map(|exporter| exporter.extensions()).copied().collect();
    let number = extensions.len();
    extensions.sort_unstable();
    extensions.dedup();
    assert_eq!(extensions.len(), number);
}

#[test]
fn what_does_not_fit_is_refused_with_what_does() {
    let refused = |path: &str, kind| checked(Path::new(path), kind).unwrap_err().to_string();
    assert!(
        refused("x.csv", Kind::Parts).contains("several experiments: use .html .md .json .txt")
    );
    assert!(
        refused("x.hlog", Kind::Experiment)
            .contains("a .hlog file holds one run; those of the runs")
    );
    assert!(refused("x.json", Kind::Runs).contains("several runs make a page (.html .svg .md"));
    assert!(refused("x.json5", Kind::Run).contains("use one of .html .svg"));
    assert!(checked(Path::new("/dev/null"), Kind::Run).is_err(), "no extension");
}

/// Whatever a message offers is taken where it is offered.
#[test]
fn no_format_is_offered_that_cannot_hold_the_result() {
    for kind in [Kind::Run, Kind::Runs, Kind::Experiment, Kind::Parts] {
        for name in ["x.pdf", "x"] {
            let refused = checked(Path::new(name), kind).unwrap_err().to_string();
            let (_, offered) = refused.split_once("use one of ").unwrap();
            let offered = offered.split(';').next().unwrap();
            assert_eq!(offered, extensions(kind), "{refused}");
        }
    }
}
