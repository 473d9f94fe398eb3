//! What is drawn of an experiment: targets beside each other, ratios with their intervals, curves
//! over loads. The same charts stand on its page, in a file of their own and in a terminal.

use ablaze_chart::terminal::Characters;
use ablaze_chart::{BarLook, BarRow, Bars, Chart, Panel, Unit};
use ablaze_model::experiment::{Experiment, Results};

use super::comparison::{Against, Comparison, Metric, NoInterval};
use super::curve::{Pick, Point};
use super::over_loads::{latency_curves, rate_curves};

/// A terminal narrower than this has no room for a chart.
const LEAST_WIDTH: usize = 60;
/// Wider is not easier to read.
const MOST_WIDTH: usize = 100;

/// The one chart of an experiment where there is room for one. `ranked` tells whether ratios may be
/// shown.
pub fn main(experiment: &Experiment, results: &Results, pick: Pick, ranked: bool) -> Chart {
    if experiment.loads.len() > 1 {
        let mut chart = rate_curves(experiment, results, pick).chart();
        let latency = latency_curves(experiment, results, pick);
        chart.panels.extend(latency.into_iter().flat_map(|latency| latency.chart().panels));
        return titled(chart, experiment);
    }
    let comparison = Comparison::of(experiment, results, 0, experiment.control());
    let mut chart = targets(experiment, &comparison);
    if ranked {
        let ratios =
            comparison.against.iter().map(|against| ratios(experiment, &comparison, against));
        chart.panels.extend(ratios.filter(has_rows).flat_map(|chart| chart.panels));
    }
    titled(chart, experiment)
}

fn titled(chart: Chart, experiment: &Experiment) -> Chart {
    let names: Vec<&str> = experiment.targets.iter().map(|target| target.name.as_str()).collect();
    Chart { title: format!("{}: {}", chart.title, names.join(", ")), ..chart }
}

/// The chart in characters, for a terminal of this width in columns: the rates of a sweep, the ratios
/// of a comparison, and where there are none its rates. `None` where it does not fit, and
/// nothing to draw.
pub fn terminal(
    experiment: &Experiment,
    results: &Results,
    pick: Pick,
    ranked: bool,
    width: usize,
) -> Option<String> {
    if width < LEAST_WIDTH || results.measured().next().is_none() {
        return None;
    }
    let chart = if experiment.loads.len() > 1 {
        rate_curves(experiment, results, pick).chart()
    } else {
        let comparison = Comparison::of(experiment, results, 0, experiment.control());
        let drawn = comparison.against.iter().filter(|_| ranked);
        let mut drawn =
            drawn.map(|against| ratios(experiment, &comparison, against)).filter(has_intervals);
        match drawn.next() {
            Some(first) => drawn.fold(first, |mut all, next| {
                all.panels.extend(next.panels);
                all
            }),
            None => rates(experiment, &comparison),
        }
    };
    Some(chart.terminal(width.min(MOST_WIDTH), Characters::Unicode))
}

/// The targets of a comparison: rate from the slowest to the fastest run, CPU time per request.
pub(crate) fn targets(experiment: &Experiment, comparison: &Comparison) -> Chart {
    let mut chart = rates(experiment, comparison);
    let cpu = bars(experiment, comparison, "server CPU per request", Unit::TimeNs, |point| {
        point.server_cpu_ns.map(|cpu_ns| (cpu_ns, None))
    });
    if !cpu.rows.is_empty() {
        chart = chart.above(cpu);
    }
    chart
}

fn rates(experiment: &Experiment, comparison: &Comparison) -> Chart {
    let rate = bars(experiment, comparison, "responses per second", Unit::PerSecond, |point| {
        let extent = Some(point.extent()).filter(|_| point.rates_per_s.len() > 1);
        Some((point.rate_per_s, extent))
    });
    Chart::of("Rate and cost", rate)
        .described("The rate of each target, from its slowest to its fastest run.")
}

/// A row per target that has the figure, with what lies around it.
fn bars(
    experiment: &Experiment,
    comparison: &Comparison,
    title: &str,
    unit: Unit,
    figure: impl Fn(&Point) -> Option<(f64, Option<(f64, f64)>)>,
) -> Bars {
    let mut bars = Bars::new(title, unit, &[]);
    for (slot, (target, point)) in experiment.targets.iter().zip(&comparison.rows).enumerate() {
        if let Some((value, interval)) = point.as_ref().and_then(&figure) {
            let row = BarRow::new(&target.name, slot, &[value]);
            bars.rows.push(BarRow { interval, ..row });
        }
    }
    bars
}

/// The ratios of a target and what it is compared with, as dots around 1 with their intervals. Where the runs
/// give no interval, the ratios of their medians stand alone, and the title says why.
pub(crate) fn ratios(experiment: &Experiment, comparison: &Comparison, against: &Against) -> Chart {
    let name = |at: usize| experiment.targets[at].name.as_str();
    let title = format!("{} / {}", name(against.target), name(against.control));
    let mut bars = Bars::new("", Unit::Ratio, &["ratio"]);
    bars.look = BarLook::Dots;
    bars.reference = Some((1.0, "equal".to_owned()));
    let (mut without, mut corrected) = (None, false);
    for compared in &against.metrics {
        let row = |ratio| BarRow::new(compared.metric.name(), against.target, &[ratio]);
        match compared.ratio {
            Ok(ratio) => {
                // The one that belongs to the answer.
                let among = compared.among_several.map(|among| (among.low, among.high));
                corrected |= among.is_some();
                let interval = among.or(Some((ratio.low, ratio.high)));
                bars.rows.push(BarRow { interval, ..row(ratio.ratio) });
            }
            // One by definition: nothing was measured by it.
            Err(NoInterval::AsRequested) => {}
            Err(why) => {
                without.get_or_insert(why);
                bars.rows.extend(of_medians(comparison, against, compared.metric).map(row));
            }
        }
    }
    let has_interval = bars.rows.iter().any(|row| row.interval.is_some());
    let what = match (without, has_interval) {
        (None, _) => "median ratio with 99 % interval".to_owned(),
        (Some(_), true) => "median ratio with 99 % interval, where there is one".to_owned(),
        (Some(why), false) => format!("ratio of the medians ({why})"),
    };
    let wider = if corrected { ", wider where it is one of several questions" } else { "" };
    bars.title = format!("{title}: {what}{wider}");
    Chart::of(&title, bars)
}

/// The ratio of two targets' medians; `None` where one is not known or not above zero.
fn of_medians(comparison: &Comparison, against: &Against, metric: Metric) -> Option<f64> {
    let figure = |at: usize| {
        let point = comparison.rows.get(at)?.as_ref()?;
        let figure = match metric {
            Metric::ServerCpu => point.server_cpu_ns,
            Metric::Rate => Some(point.rate_per_s),
            Metric::Median => point.p50_ns,
            Metric::P99 => point.p99_ns,
        };
        figure.filter(|figure| *figure > 0.0)
    };
    Some(figure(against.target)? / figure(against.control)?)
}

/// Whether something is drawn in it.
pub(crate) fn has_rows(chart: &Chart) -> bool {
    chart.panels.iter().any(|panel| matches!(panel, Panel::Bars(bars) if !bars.rows.is_empty()))
}

fn has_intervals(chart: &Chart) -> bool {
    let mut rows = chart.panels.iter().flat_map(|panel| match panel {
        Panel::Bars(bars) => bars.rows.as_slice(),
        Panel::Plot(_) => &[],
    });
    rows.any(|row| row.interval.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_model::experiment::{Axis, AxisValue, Load, Outcome, Place, Trial};
    use ablaze_testing::experiments;

    /// The second target has half the first one's rate; at each next load it is twice as high.
    fn results(loads: usize, repeats: u32) -> (Experiment, Results) {
        let mut experiment = experiments::experiment();
        experiment.repeats = repeats;
        experiment.loads = (0..loads)
            .map(|at| Load {
                label: format!("c={}", 1 << at),
                x: Some(f64::from(1 << at)),
                ..Load::of(Default::default())
            })
            .collect();
        let mut results = Results::default();
        for trial in experiment.trials() {
            let noise = 1.0 + f64::from(trial.repeat % 3) * 0.01;
            let rate = 1000.0 * f64::from(1 << trial.load) / (trial.target + 1) as f64 * noise;
            let Trial { .. } = trial;
            results.trials.push((trial, Outcome::Measured(Box::new(experiments::figures(rate)))));
        }
        (experiment, results)
    }

    #[test]
    fn a_terminal_shows_the_curve_or_the_ratios_where_there_is_room() {
        let (sweep, measured) = results(3, 1);
        let drawn = terminal(&sweep, &measured, Pick::Median, true, 80).unwrap();
        assert!(drawn.contains("● one  ■ other") && drawn.contains("connections"), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        assert_eq!(terminal(&sweep, &measured, Pick::Median, true, 59), None);
        assert_eq!(terminal(&sweep, &Results::default(), Pick::Median, true, 80), None);
        let (comparison, measured) = results(1, 6);
        let drawn = terminal(&comparison, &measured, Pick::Median, true, 200).unwrap();
        assert!(
            drawn.starts_with("one / other: median ratio with 99 % interval, log scale\n"),
            "{drawn}"
        );
        assert!(drawn.contains("rate") && drawn.contains("equal"), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() <= 100), "{drawn}");
        // Without a ranking, and without enough runs for one, the rates themselves.
        for (ranked, repeats) in [(false, 6), (true, 2)] {
            let (comparison, measured) = results(1, repeats);
            let drawn = terminal(&comparison, &measured, Pick::Median, ranked, 80).unwrap();
            assert!(drawn.starts_with("responses per second\n"), "{drawn}");
            assert!(!drawn.contains("ratio"), "{drawn}");
        }
    }

    #[test]
    fn what_is_no_number_stands_on_the_axis_by_its_name() {
        for values in [["1.0", "1.1"], ["X: 1", "Y: 2"], ["1s", "500ms"]] {
            let (mut sweep, measured) = results(2, 1);
            for (load, value) in sweep.loads.iter_mut().zip(values) {
                load.label = format!("option={value}");
                load.x = value.parse().ok();
            }
            let chart = rate_curves(&sweep, &measured, Pick::Median).chart();
            assert_eq!(chart.tables()[0].head, ["option", values[0], values[1]]);
            let drawn = chart.svg(ablaze_chart::svg::Width::Wide);
            let note = format!("one: option {}: 1,000/s", values[0]);
            assert!(
                values.iter().all(|value| drawn.contains(value)) && drawn.contains(&note),
                "{drawn}"
            );
        }
    }

    #[test]
    fn the_interval_that_belongs_to_the_answer_is_drawn_and_is_in_the_table() {
        let (experiment, measured) = results(1, 6);
        let mut comparison = Comparison::of(&experiment, &measured, 0, 0);
        let title = |comparison: &Comparison| {
            let chart = ratios(&experiment, comparison, &comparison.against[0]);
            let table = chart.tables().remove(0);
            (table.head[1].clone(), table.rows[0].join(" "))
        };
        let (head, _) = title(&comparison);
        assert!(head.ends_with(": median ratio with 99 % interval"), "{head}");
        let among = super::super::comparison::AmongSeveral { questions: 2, low: 0.9, high: 2.5 };
        comparison.against[0].metrics[0].among_several = Some(among);
        let (head, row) = title(&comparison);
        assert!(
            head.ends_with("99 % interval, wider where it is one of several questions"),
            "{head}"
        );
        assert!(row.ends_with(" [0.900–2.50]"), "{row}");
    }

    /// A line through loads on both sides of it would be a figure for a load that has none.
    #[test]
    fn a_line_has_a_gap_where_a_load_failed_or_has_no_such_figure() {
        for repeats in [1, 2] {
            let (sweep, mut measured) = results(4, repeats);
            for (trial, outcome) in &mut measured.trials {
                match (trial.load, outcome) {
                    (1, outcome) => *outcome = Outcome::Failed("refused".to_owned()),
                    (2, Outcome::Measured(figures)) => figures.p99_ns = None,
                    _ => {}
                }
            }
            let gaps = |chart: Chart| match chart.panels.into_iter().next() {
                Some(Panel::Plot(plot)) => {
                    plot.series[0].points.iter().map(|point| point.y.is_nan()).collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            };
            let rate = rate_curves(&sweep, &measured, Pick::Median).chart();
            assert_eq!(rate.tables()[0].rows[0][2], "-");
            assert_eq!(gaps(rate), [false, true, false, false]);
            let latency = latency_curves(&sweep, &measured, Pick::Median).unwrap().chart();
            assert_eq!(gaps(latency), [false, true, true, false]);
        }
    }

    /// Two values of the second axis are two plots that can be held against each other.
    #[test]
    fn a_second_axis_has_a_plot_for_each_value_on_one_scale() {
        let (mut sweep, measured) = results(4, 1);
        sweep.axes = ["threads", "size"].map(|name| axis(name, &["1", "2"])).to_vec();
        let rate = rate_curves(&sweep, &measured, Pick::Median);
        let titles: Vec<String> = rate.clone().charts().into_iter().map(|c| c.title).collect();
        assert_eq!(titles, ["size=1", "size=2"]);
        let chart = rate.chart();
        let plots: Vec<_> = chart
            .panels
            .iter()
            .map(|panel| match panel {
                Panel::Plot(plot) => plot,
                Panel::Bars(bars) => panic!("{bars:?}"),
            })
            .collect();
        assert_eq!(
            (plots[0].y.scale.clone(), plots[0].x.title.as_str()),
            (plots[1].y.scale.clone(), "threads")
        );
        assert!(plots[1].y.title.starts_with("size=2: "), "{:?}", plots[1].y);
        // The first axis varies fastest: the loads of the second chart are the third and fourth.
        let drawn = |plot: &ablaze_chart::Plot| {
            plot.series[0].points.iter().map(|point| point.y).collect::<Vec<_>>()
        };
        assert_eq!(
            plots.iter().map(|plot| drawn(plot)).collect::<Vec<_>>(),
            [[1e3, 2e3], [4e3, 8e3]]
        );
        let text = terminal(&sweep, &measured, Pick::Median, true, 80).unwrap();
        assert!(text.contains("size=1: responses") && text.contains("size=2: responses"), "{text}");
    }

    fn axis(name: &str, values: &[&str]) -> Axis {
        let value = |text: &&str| AxisValue { text: (*text).to_owned(), x: text.parse().ok() };
        let values = values.iter().map(value).collect();
        Axis { name: name.to_owned(), of: vec![Place::Load], values }
    }

    #[test]
    fn the_chart_alone_has_what_was_measured() {
        let (sweep, measured) = results(3, 2);
        let table = &main(&sweep, &measured, Pick::Best, true).tables()[0];
        assert_eq!(table.head, ["connections", "1", "2", "4"]);
        assert_eq!(
            table.rows[1],
            ["other", "505 [500–505]", "1,010 [1,000–1,010]", "2,020 [2,000–2,020]"]
        );
        let (comparison, measured) = results(1, 6);
        let chart = main(&comparison, &measured, Pick::Median, true);
        assert_eq!((chart.panels.len(), chart.title.as_str()), (3, "Rate and cost: one, other"));
        assert_eq!(main(&comparison, &measured, Pick::Median, false).panels.len(), 2);
    }
}
