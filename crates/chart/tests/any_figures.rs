//! Whatever figures and names a chart is given, its SVG is well-formed and has nothing but numbers for
//! places, and its lines fit the terminal.

use ablaze_chart::svg::Width;
use ablaze_chart::terminal::Characters;
use ablaze_chart::{
    Axis, BarLook, BarRow, Bars, Chart, Look, Mark, Plot, Point, Scale, Series, Unit,
};
use proptest::prelude::*;

/// Numbers as they come, and those that break things.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e9f64,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![
            0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN,
            f64::MIN_POSITIVE, 5e-324, 0.999_999_999_999, 1e18, 1e-18,
        ]),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,12}",
        any::<String>(),
        Just("<script>\u{0}\u{b}&\"'>]]>\u{ffff}".to_owned()),
        Just("一个很长的名字".repeat(20)),
    ]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop::sample::select(vec![
        Unit::Count,
        Unit::PerSecond,
        Unit::TimeNs,
        Unit::Share,
        Unit::Ratio,
        Unit::Bytes,
        Unit::Quantile,
    ])
}

fn axis() -> impl Strategy<Value = Axis> {
    let scale = prop_oneof![
        Just(Scale::Linear),
        Just(Scale::Log),
        Just(Scale::Percentile),
        (number(), number()).prop_map(|(from, to)| Scale::Between(from, to)),
        prop::collection::vec(number(), 0..15).prop_map(Scale::Categories),
    ];
    (name(), unit(), scale).prop_map(|(title, unit, scale)| Axis { title, unit, scale })
}

fn series() -> impl Strategy<Value = Series> {
    let interval = prop::option::of((number(), number()));
    let point =
        (number(), number(), interval).prop_map(|(x, y, interval)| Point { x, y, interval });
    let look = prop::sample::select(vec![Look::Line, Look::Steps]);
    (name(), 0..20usize, look, prop::collection::vec(point, 0..60))
        .prop_map(|(name, slot, look, points)| Series { name, slot, look, points })
}

fn mark() -> impl Strategy<Value = Mark> {
    (number(), number(), name(), 0..3).prop_map(|(from, to, text, kind)| match kind {
        0 => Mark::at(from, &text),
        1 => Mark::between(from, to, &text),
        _ => Mark::level(from, &text),
    })
}

fn plot() -> impl Strategy<Value = Plot> {
    let all = prop::collection::vec(series(), 0..10);
    (axis(), axis(), all, prop::collection::vec(mark(), 0..6), any::<bool>())
        .prop_map(|(x, y, series, marks, table)| Plot { x, y, series, marks, table })
}

fn bars() -> impl Strategy<Value = Bars> {
    let row = (
        name(),
        0..20usize,
        prop::collection::vec(number(), 0..5),
        prop::option::of((number(), number())),
        prop::option::of(name()),
    )
        .prop_map(|(name, slot, values, interval, text)| BarRow {
            name,
            slot,
            values,
            interval,
            text,
        });
    (
        name(),
        unit(),
        prop::collection::vec(name(), 0..4),
        prop::collection::vec(row, 0..6),
        prop::option::of((number(), name())),
        prop::sample::select(vec![BarLook::Bars, BarLook::Dots]),
    )
        .prop_map(|(title, unit, parts, rows, reference, look)| Bars {
            title,
            unit,
            look,
            parts,
            rows,
            reference,
        })
}

fn chart() -> impl Strategy<Value = Chart> {
    (name(), name(), plot(), bars(), prop::option::of(plot())).prop_map(
        |(title, description, plot, bars, more)| {
            let chart = Chart::of(&title, plot).described(&description).above(bars);
            match more {
                Some(plot) => chart.above(plot),
                None => chart,
            }
        },
    )
}

/// Attributes that hold places and lengths.
const PLACES: [&str; 14] = [
    "x",
    "y",
    "x1",
    "x2",
    "y1",
    "y2",
    "cx",
    "cy",
    "r",
    "width",
    "height",
    "d",
    "viewBox",
    "transform",
];

fn check(svg: &str) {
    let document = roxmltree::Document::parse(svg).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("role")), ("svg", Some("img")));
    assert_eq!(root.first_element_child().map(|first| first.tag_name().name()), Some("title"));
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        for attribute in node.attributes().filter(|attribute| PLACES.contains(&attribute.name())) {
            let text = attribute.value();
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            if ["width", "height", "r"].contains(&attribute.name()) {
                assert!(text.parse::<f64>().is_ok_and(|length| length >= 0.0), "{text}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_chart_can_be_drawn(chart in chart()) {
        check(&chart.svg_file());
        check(&chart.svg(Width::Wide));
        check(&chart.svg(Width::Narrow));
        for table in chart.tables() {
            prop_assert!(table.rows.iter().all(|row| row.len() == table.head.len()));
        }
    }

    #[test]
    fn any_chart_fits_the_terminal(chart in chart(), width in 0..200usize) {
        for characters in [Characters::Unicode, Characters::Ascii] {
            let drawn = chart.terminal(width, characters);
            prop_assert!(drawn.lines().all(|line| line.chars().count() <= width.max(24)));
            prop_assert!(characters == Characters::Unicode || drawn.is_ascii());
            prop_assert!(drawn.chars().all(|c| c == '\n' || !c.is_control()));
        }
    }
}

#[test]
fn a_text_wider_than_its_chart_is_drawn() {
    let mut bars = Bars::new("", Unit::Ratio, &["ratio"]);
    bars.reference = Some((1.0, "as fast as the other ".repeat(40)));
    bars.rows.push(BarRow::new("rate", 0, &[1.2]));
    let chart = Chart::of("", bars);
    check(&chart.svg_file());
    check(&chart.svg(Width::Narrow));
}

#[test]
fn a_chart_of_nothing_is_a_frame() {
    let plot = Plot::new(Axis::linear("", Unit::Count), Axis::log("", Unit::TimeNs));
    let chart = Chart::of("", plot).above(Bars::new("", Unit::Ratio, &[]));
    check(&chart.svg_file());
    assert!(!chart.terminal(80, Characters::Unicode).is_empty());
}

#[test]
fn every_point_says_what_it_is_and_a_gap_breaks_the_line() {
    let mut plot = Plot::new(
        Axis::categories("connections", Unit::Count, &[1.0, 2.0, 5.0, 10.0]),
        Axis::linear("rate", Unit::PerSecond),
    );
    let points = [(1.0, 10_000.0), (2.0, 20_000.0), (5.0, f64::NAN), (10.0, 12_345.0)];
    plot.series.push(Series::line("a<b", 0, points));
    plot.table = true;
    let chart = Chart::of("Rate", plot);
    let svg = chart.svg_file();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "circle")
        .filter_map(|node| node.first_element_child()?.text())
        .collect();
    let expected = [
        "a<b: connections 1: 10,000/s",
        "a<b: connections 2: 20,000/s",
        "a<b: connections 10: 12,345/s",
    ];
    assert_eq!(titles, expected);
    let lines: Vec<&str> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("l"))
        .filter_map(|node| node.attribute("d"))
        .collect();
    // Two pieces, and the sample in the table.
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(chart.tables()[0].rows, [["a<b", "10,000", "20,000", "-", "12,345"]]);
}
