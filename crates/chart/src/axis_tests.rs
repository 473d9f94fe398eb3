//! Where values lie on an axis, and which ticks are written beside them.

use super::*;

fn texts(fitted: &Fitted) -> Vec<&str> {
    fitted.ticks.iter().map(|tick| tick.text.as_str()).collect()
}

#[test]
fn steps_are_1_2_5() {
    for (least, step) in [(0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (5.1, 10.0)] {
        assert!((round_step(least) - step).abs() < 1e-9, "{least}");
        assert!((round_step(least * 1e-6) - step * 1e-6).abs() < 1e-15);
    }
    for senseless in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(round_step(senseless), 1.0);
    }
}

#[test]
fn a_linear_axis_begins_at_0_and_ends_round() {
    let axis = Axis::linear("", Unit::PerSecond).fitted([189_071.0, 13_749.0].into_iter(), 4);
    assert_eq!(texts(&axis), ["0", "50,000", "100,000", "150,000", "200,000"]);
    assert_eq!((axis.at(0.0), axis.at(200_000.0), axis.at(f64::NAN)), (Some(0.0), Some(1.0), None));
    let axis = Axis::linear("", Unit::Ratio).fitted([-0.2, 0.3].into_iter(), 5);
    assert_eq!(texts(&axis), ["−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"]);
    assert!((axis.base() - 0.4).abs() < 1e-9);
}

#[test]
fn times_share_one_unit_on_a_linear_axis_and_have_each_its_own_on_a_log_one() {
    let axis = Axis::linear("", Unit::TimeNs).fitted([1.4e6].into_iter(), 4);
    assert_eq!((texts(&axis), axis.unit_name), (vec!["0.0", "0.5", "1.0", "1.5"], "ms"));
    let axis = Axis::log("", Unit::TimeNs).fitted([150e3, 40e6].into_iter(), 5);
    assert_eq!(texts(&axis), ["100 µs", "300 µs", "1 ms", "3 ms", "10 ms", "30 ms", "100 ms"]);
    let axis = Axis::log("", Unit::TimeNs).fitted([250e3, 1.9e6].into_iter(), 4);
    assert_eq!(texts(&axis), ["200 µs", "500 µs", "1 ms", "2 ms"]);
}

#[test]
fn half_lies_as_far_from_1_as_twice() {
    let axis = Axis { title: String::new(), unit: Unit::Ratio, scale: Scale::Ratio(0.25, 4.0) };
    let axis = axis.fitted([].into_iter(), 5);
    let at = |value| axis.at(value).unwrap();
    assert!((at(1.0) - at(0.5) - (at(2.0) - at(1.0))).abs() < 1e-9);
    assert_eq!(texts(&axis), ["0.5", "1", "2"]);
    for (from, to, expected) in [
        (0.96, 1.04, vec!["0.96", "0.98", "1", "1.02", "1.04"]),
        (0.001, 1e6, vec!["0.001", "0.01", "0.1", "1", "10", "100", "1,000", "10,000"]),
        (f64::NAN, 1.0, vec!["0.5", "1", "1.5", "2"]),
    ] {
        let scale = Scale::Ratio(from, to);
        let axis = Axis { title: String::new(), unit: Unit::Ratio, scale };
        let axis = axis.fitted([].into_iter(), 5);
        assert!(texts(&axis).starts_with(&expected[..2]), "{:?}", texts(&axis));
        assert!(texts(&axis).contains(&"1"), "{:?}", texts(&axis));
    }
}

#[test]
fn every_nine_takes_the_same_room() {
    let axis = Axis::percentile("").fitted([0.5, 0.9999].into_iter(), 8);
    assert_eq!(texts(&axis), ["0", "50", "90", "99", "99.9", "99.99"]);
    for (q, at) in [(0.0, 0.0), (0.9, 0.25), (0.99, 0.5), (0.999, 0.75), (0.9999, 1.0)] {
        assert!((axis.at(q).unwrap() - at).abs() < 1e-9, "{q}");
    }
    assert_eq!(axis.at(1.0), None);
}

#[test]
fn categories_lie_side_by_side() {
    let axis = Axis::categories("", Unit::Count, &[1.0, 2.0, 10_000.0]).fitted([].into_iter(), 4);
    assert_eq!(texts(&axis), ["1", "2", "10,000"]);
    assert_eq!((axis.at(2.0), axis.at(3.0)), (Some(0.5), None));
}
