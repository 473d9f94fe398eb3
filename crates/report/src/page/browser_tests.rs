//! Pages in a real browser.

use super::{Block, Page, Section, ShownRun, of_run, of_runs, section, tests};
use crate::sample::{self, assessed};
use ablaze_testing::browser;

#[test]
fn pages_of_runs_fit_every_window_and_say_nothing_on_the_console() {
    browser::check(&pages_of_runs());
}

#[test]
fn pages_of_several_runs_fit_every_window_and_say_nothing_on_the_console() {
    browser::check(&pages_of_several_runs());
}

/// Every page of the other tests.
fn pages_of_runs() -> Vec<(String, String)> {
    let runs = tests::all().into_iter();
    runs.map(|(name, run)| (name.to_owned(), of_run(&assessed(&run)).html())).collect()
}

/// Pages of two runs with names that are too long.
fn pages_of_several_runs() -> Vec<(String, String)> {
    let (before, after) = (sample::ordinary(), sample::troubled());
    let name = "a-name-that-somebody-gave-to-a-target-and-that-goes-on-and-on";
    let subjects = [ShownRun::new(name, 0, &before), ShownRun::new("after", 1, &after)];
    let mut page = Page::new(&name.repeat(3));
    page.sections.push(section::percentiles(&subjects));
    page.sections.push(section::distribution(&subjects));
    page.sections.push(section::phases(&subjects));
    page.sections.push(section::cpu(&subjects));
    page.sections.push(curves(name));
    page.sections.push(section::environment(&after));
    let runs = [(name.to_owned(), assessed(&before)), ("after".to_owned(), assessed(&after))];
    vec![("several".to_owned(), page.html()), ("runs".to_owned(), of_runs(&runs, &[]).html())]
}

/// The widest chart there is: thirteen categories with six digits each under the axis.
fn curves(name: &str) -> Section {
    use ablaze_chart::{Axis, Chart, Mark, Plot, Series, Unit};
    let x = [1., 2., 5., 10., 20., 50., 100., 200., 500., 1e3, 2e3, 5e3, 1e4];
    let connections = Axis::categories("connections", Unit::Count, &x);
    let mut plot = Plot::new(connections, Axis::linear("responses per second", Unit::PerSecond));
    for slot in 0..3 {
        let points = x.iter().enumerate().map(|(index, x)| {
            let rate = 189_071.0 - 9_000.0 * (index as f64 - 6.0).powi(2) / (slot + 1) as f64;
            (*x, rate.max(0.0), rate.max(0.0) * 0.9, rate.max(0.0) * 1.1)
        });
        let name = if slot == 0 { name.to_owned() } else { format!("target {slot}") };
        plot.series.push(Series::with_intervals(&name, slot, points));
    }
    plot.marks.extend([
        Mark::at(100.0, "knee"),
        Mark::at(200.0, "cliff"),
        Mark::at(1e4, "the end"),
    ]);
    plot.table = true;
    Section::new("Curves").with(Block::chart(Chart::of("Rate over connections", plot)))
}

/// Thirteen columns in a window of 1000 pixels: the longest time is not to be looked for to the side.
#[test]
fn the_table_of_phases_is_seen_whole_on_a_desk() {
    let page = of_run(&assessed(&sample::ordinary())).html();
    let script = "const table = page.querySelector('.scroll');\n\
                  say('columns', table.querySelectorAll('thead th').length);\n\
                  say('hidden', table.scrollWidth - table.clientWidth);";
    let Some(said) = browser::ask(&[("page", &page)], browser::Scripts::Run, script) else {
        return;
    };
    assert!(said["page"]["columns"].as_u64().unwrap() >= 12, "{said}");
    assert_eq!(said["page"]["hidden"], 0, "{said}");
}
