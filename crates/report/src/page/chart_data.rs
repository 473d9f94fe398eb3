//! What a chart is drawn from, as JSON beside its drawings: a page's script reads figures, draws spans and saves
//! CSV from it. Numbers have all their digits; what is no number is `null`.

use ablaze_chart::{
    Axis, BarLook, BarRow, Bars, Chart, Look, Panel, Place, Plot, Scale, Series, Unit,
};
use serde_json::{Value, json};

/// The chart's panels, as the script reads them.
pub(super) fn of_chart(chart: &Chart) -> String {
    let panels: Vec<Value> = chart.panels.iter().map(of_panel).collect();
    json!({ "title": chart.title, "panels": panels }).to_string()
}

fn of_panel(panel: &Panel) -> Value {
    match panel {
        Panel::Plot(plot) => of_plot(plot),
        Panel::Bars(bars) => of_bars(bars),
    }
}

fn of_plot(plot: &Plot) -> Value {
    let mut data = json!({
        "x": of_axis(&plot.x),
        "y": of_axis(&plot.y),
        "series": plot.series.iter().map(of_series).collect::<Vec<_>>(),
    });
    // The same places for all series are written once.
    let places = |series: &Series| numbers(series.points.iter().map(|point| point.x));
    let mut all = plot.series.iter().map(places);
    match all.next() {
        Some(first) if all.all(|other| other == first) => data["xs"] = first,
        _ => {
            for (at, series) in plot.series.iter().enumerate() {
                data["series"][at]["xs"] = places(series);
            }
        }
    }
    if !plot.marks.is_empty() {
        let marks = plot.marks.iter().map(|mark| match mark.place {
            Place::At(x) => json!({ "at": number(x), "text": mark.text }),
            Place::Between(from, to) => {
                json!({ "from": number(from), "to": number(to), "text": mark.text })
            }
            Place::Level(y) => json!({ "level": number(y), "text": mark.text }),
        });
        data["marks"] = marks.collect();
    }
    data
}

fn of_series(series: &Series) -> Value {
    let mut data = json!({
        "name": series.name,
        "slot": series.slot,
        "ys": numbers(series.points.iter().map(|point| point.y)),
    });
    if series.look == Look::Steps {
        data["steps"] = true.into();
    }
    if series.points.iter().any(|point| point.interval.is_some()) {
        let ends = |end: fn((f64, f64)) -> f64| {
            numbers(series.points.iter().map(|point| point.interval.map_or(f64::NAN, end)))
        };
        data["lows"] = ends(|(low, _)| low);
        data["highs"] = ends(|(_, high)| high);
    }
    data
}

fn of_axis(axis: &Axis) -> Value {
    let mut data = json!({ "title": axis.title, "unit": name_of(axis.unit) });
    let (scale, key, values) = match &axis.scale {
        Scale::Linear => ("linear", "", Value::Null),
        Scale::Between(from, to) => ("between", "ends", numbers([*from, *to])),
        Scale::Log => ("log", "", Value::Null),
        Scale::Ratio(from, to) => ("ratio", "ends", numbers([*from, *to])),
        Scale::Percentile => ("percentile", "", Value::Null),
        Scale::Categories(values) => ("categories", "values", numbers(values.iter().copied())),
        Scale::Named(names) => ("categories", "names", json!(names)),
    };
    data["scale"] = scale.into();
    if !key.is_empty() {
        data[key] = values;
    }
    data
}

fn of_bars(bars: &Bars) -> Value {
    json!({
        "title": bars.title,
        "unit": name_of(bars.unit),
        "dots": bars.look == BarLook::Dots,
        "parts": bars.parts,
        "rows": bars.rows.iter().map(of_row).collect::<Vec<_>>(),
    })
}

fn of_row(row: &BarRow) -> Value {
    let mut data = json!({ "name": row.name, "values": numbers(row.values.iter().copied()) });
    if let Some((low, high)) = row.interval {
        data["low"] = number(low);
        data["high"] = number(high);
    }
    if let Some(text) = &row.text {
        data["text"] = json!(text);
    }
    data
}

fn name_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "count",
        Unit::PerSecond => "per_s",
        Unit::TimeNs => "ns",
        Unit::Share => "share",
        Unit::Ratio => "ratio",
        Unit::Bytes => "bytes",
        Unit::Quantile => "quantile",
    }
}

fn numbers(values: impl IntoIterator<Item = f64>) -> Value {
    values.into_iter().map(number).collect()
}

/// A whole number without its `.0`, which a page has thousands of.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_chart::Mark;

    fn parsed(chart: &Chart) -> Value {
        serde_json::from_str(&of_chart(chart)).unwrap()
    }

    #[test]
    fn every_digit_of_a_chart_is_in_its_data_and_gaps_are_null() {
        let mut plot = Plot::new(
            Axis::between("time", Unit::TimeNs, 0.0, 3e8),
            Axis::log("latency", Unit::TimeNs),
        );
        let third = 1.0 / 3.0;
        plot.series.push(Series::line("p50", 0, [(5e7, third), (1.5e8, f64::NAN)]));
        plot.series.push(Series::line("p99", 1, [(5e7, 7.0), (1.5e8, f64::INFINITY)]));
        plot.marks.push(Mark::between(1e8, 2e8, "no response"));
        let panel = &parsed(&Chart::of("</script>", plot))["panels"][0];
        assert_eq!(panel["xs"], json!([50_000_000, 150_000_000]));
        assert_eq!(panel["series"][0]["ys"][0].as_f64(), Some(third));
        assert_eq!(panel["series"][0]["ys"][1], Value::Null);
        assert_eq!(panel["series"][1]["ys"], json!([7, null]));
        assert_eq!(panel["series"][0].get("xs"), None);
        assert_eq!(panel["x"]["ends"], json!([0, 300_000_000]));
        assert_eq!(panel["y"]["scale"], "log");
        let mark = json!({ "from": 100_000_000, "to": 200_000_000, "text": "no response" });
        assert_eq!(panel["marks"], json!([mark]));
    }

    #[test]
    fn series_with_places_of_their_own_keep_them_and_intervals_their_ends() {
        let mut plot = Plot::new(
            Axis::linear("requested", Unit::PerSecond),
            Axis::linear("answered", Unit::PerSecond),
        );
        plot.series.push(Series::line("holds", 0, [(1e3, 1e3)]));
        plot.series.push(Series::with_intervals("does not", 1, [(2e3, 1.5e3, 1.4e3, f64::NAN)]));
        let panel = &parsed(&Chart::of("search", plot))["panels"][0];
        assert_eq!(panel.get("xs"), None);
        assert_eq!(panel["series"][1]["xs"], json!([2000]));
        assert_eq!(panel["series"][1]["lows"], json!([1400]));
        assert_eq!(panel["series"][1]["highs"], json!([null]));
    }

    #[test]
    fn bars_have_their_parts_and_what_stands_behind_them() {
        let mut bars = Bars::new("CPU", Unit::TimeNs, &["user", "kernel"]);
        bars.rows.push(BarRow { text: Some("free".into()), ..BarRow::new("a", 0, &[1.5, 2.0]) });
        bars.rows.push(BarRow { interval: Some((1.0, 2.0)), ..BarRow::new("b", 1, &[3.0]) });
        let panel = &parsed(&Chart::of("cost", bars))["panels"][0];
        assert_eq!(panel["parts"], json!(["user", "kernel"]));
        assert_eq!(panel["rows"][0], json!({ "name": "a", "values": [1.5, 2], "text": "free" }));
        assert_eq!(panel["rows"][1]["high"], 2);
    }
}
