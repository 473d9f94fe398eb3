//! Tests of charts as characters.

use super::Characters::{Ascii, Unicode};
use crate::{Axis, BarLook, BarRow, Bars, Chart, Mark, Plot, Series, Unit};

fn rates() -> Chart {
    let connections = [1.0, 10.0, 100.0, 1000.0];
    let mut plot = Plot::new(
        Axis::categories("connections", Unit::Count, &connections),
        Axis::linear("responses per second", Unit::PerSecond),
    );
    for (slot, (name, top)) in [("mine", 2e5), ("theirs", 1e5)].into_iter().enumerate() {
        let rates = [0.0, top / 2.0, top, top / 2.0];
        plot.series.push(Series::line(name, slot, connections.into_iter().zip(rates)));
    }
    plot.marks.push(Mark::at(100.0, "knee"));
    Chart::of("Rates", plot)
}

#[test]
fn every_series_has_its_sign_at_each_of_its_values() {
    let drawn = rates().terminal(60, Ascii);
    // Each value in the row of its tick, above its category.
    let row = |tick: &str| drawn.lines().find(|line| line.trim_start().starts_with(tick)).unwrap();
    let axis = drawn.lines().find(|line| line.ends_with("1,000")).unwrap();
    let middle = |text: &str| axis.find(text).unwrap() + text.len() / 2;
    assert!(row("200,000 |").find('o').unwrap().abs_diff(middle("100 ")) <= 1, "{drawn}");
    assert!(row("0 |").find('#').unwrap().abs_diff(middle("1 ")) <= 1, "{drawn}");
    assert_eq!(row("50,000 |").matches('#').count(), 2);
    let signs = |text: &str, sign: char| {
        text.lines().skip(1).take(9).map(|l| l.matches(sign).count()).sum::<usize>()
    };
    // The lowest points of both lie on each other.
    assert_eq!((signs(&drawn, 'o'), signs(&drawn, '#')), (3, 4), "{drawn}");
    let unicode = rates().terminal(60, Unicode);
    assert_eq!((signs(&unicode, '●'), signs(&unicode, '■')), (3, 4), "{unicode}");
    for part in ["200,000 ┤", "knee at 100", "● mine  ■ theirs", "connections"] {
        assert!(unicode.contains(part), "{part}\n{unicode}");
    }
}

#[test]
fn bars_are_as_long_as_their_values() {
    let mut bars = Bars::new("CPU per request", Unit::TimeNs, &[]);
    bars.rows.push(BarRow::new("server", 0, &[8000.0]));
    bars.rows.push(BarRow::new("client", 0, &[2000.0]));
    bars.rows.push(BarRow::new("none", 0, &[f64::NAN]));
    // 40 characters less 6 for the names, 7 for the values, 6 around them.
    let expected = "\
CPU per request
  server █████████████████████ 8.00 µs
  client █████▎ 2.00 µs
  none    -
";
    assert_eq!(Chart::of("", bars.clone()).terminal(40, Unicode), expected);
    bars.parts = vec!["user".into(), "kernel".into()];
    bars.rows.truncate(1);
    bars.rows[0].values = vec![2000.0, 6000.0];
    let expected = "\
CPU per request
  # user  = kernel
  server #####================ 8.00 us
";
    assert_eq!(Chart::of("", bars).terminal(40, Ascii), expected);
}

#[test]
fn a_ratio_lies_in_its_interval_and_beside_the_reference() {
    let mut bars = Bars::new("rate, divided", Unit::Ratio, &[]);
    bars.look = BarLook::Dots;
    bars.reference = Some((1.0, "same".into()));
    let row = BarRow::new("mine", 0, &[0.8]);
    bars.rows.push(BarRow { interval: Some((0.7, 0.9)), ..row });
    let drawn = Chart::of("", bars).terminal(40, Ascii);
    let places = |sign: char| drawn.lines().nth(1).and_then(|line| line.find(sign)).unwrap();
    assert!(places('|') < places('o') && places('o') < places(':'), "{drawn}");
}
