//! Rate, latency and cost over the loads of an experiment, a line per target. With two axes there is a plot for each
//! value of the second, all on one scale: small multiples.

use ablaze_chart::{Axis, Chart, Plot, Scale, Series, Unit};
use ablaze_model::experiment::{Axis as Varied, Experiment, Results, Slice};

use super::curve::{Curve, Pick, Point};

/// Longer names of values are cut.
const MOST_LETTERS: usize = 18;

/// Where a load stands, and what was measured under it: the line has a gap where nothing was.
type Measured<'a> = (f64, Option<&'a Point>);

/// One figure over the loads: a plot, or one for each value of the second axis.
#[derive(Debug, Clone)]
pub(crate) struct Multiples {
    title: String,
    description: String,
    plots: Vec<(Option<String>, Plot)>,
}

impl Multiples {
    /// All plots in one chart, below each other.
    pub(crate) fn chart(self) -> Chart {
        let mut plots = self.plots.into_iter().map(|(label, mut plot)| {
            if let Some(label) = label {
                plot.y.title = format!("{label}: {}", plot.y.title);
            }
            plot
        });
        let first = plots.next().unwrap_or_else(|| {
            Plot::new(Axis::named("", Vec::new()), Axis::linear("", Unit::Count))
        });
        let chart = Chart::of(&self.title, first).described(&self.description);
        plots.fold(chart, Chart::above)
    }

    /// A chart for each plot, called by its value; one alone has the title of them all.
    pub(crate) fn charts(self) -> Vec<Chart> {
        let of = |(label, plot): (Option<String>, Plot)| {
            Chart::of(label.as_ref().unwrap_or(&self.title), plot).described(&self.description)
        };
        self.plots.into_iter().map(of).collect()
    }

    /// What all of them show.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Whether anything is drawn.
    fn shows(&self) -> bool {
        let drawn = |line: &Series| line.points.iter().any(|point| point.y.is_finite());
        self.plots.iter().any(|(_, plot)| plot.series.iter().any(drawn))
    }

    /// The ends of what is drawn, with intervals.
    fn extent(&self) -> Option<(f64, f64)> {
        let series = self.plots.iter().flat_map(|(_, plot)| &plot.series);
        let points = series.flat_map(|series| &series.points);
        let ends = points.flat_map(|point| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            [low, high]
        });
        ends.filter(|end| end.is_finite()).fold(None, |extent, end| {
            let (low, high): (f64, f64) = extent.unwrap_or((end, end));
            Some((low.min(end), high.max(end)))
        })
    }

    /// Several plots on one scale, so that they can be held against each other.
    fn on_one_scale(mut self) -> Self {
        let Some((low, high)) = self.extent().filter(|_| self.plots.len() > 1) else { return self };
        for (_, plot) in &mut self.plots {
            plot.y.scale = match plot.y.scale {
                Scale::Log if low > 0.0 => Scale::Ratio(low / 1.25, high * 1.25),
                _ => Scale::Between(0.0, high * 1.05),
            };
        }
        self
    }
}

/// Responses per second.
pub(crate) fn rate_curves(experiment: &Experiment, results: &Results, pick: Pick) -> Multiples {
    let y = Axis::linear("responses per second", Unit::PerSecond);
    let line = |curve: &Curve, slot: usize, points: &[Measured<'_>]| match experiment.repeats {
        1 => {
            let rate = |point: &Point| point.rate_per_s;
            let points = points.iter().map(|(x, point)| (*x, point.map_or(f64::NAN, rate)));
            Series::line(&curve.name, slot, points.collect::<Vec<_>>())
        }
        _ => {
            let points = points.iter().map(|(x, point)| {
                point.map_or((*x, f64::NAN, f64::NAN, f64::NAN), |point| {
                    let (low, high) = point.extent();
                    (*x, point.rate_per_s, low, high)
                })
            });
            Series::with_intervals(&curve.name, slot, points.collect::<Vec<_>>())
        }
    };
    let mut rate = drawn(experiment, results, pick, ("Rate", y), line);
    rate.plots.iter_mut().for_each(|(_, plot)| plot.table = true);
    rate.description = "Responses per second of each target over the loads.".to_owned();
    rate
}

/// The 99th percentile; `None` where no run had responses enough for one.
pub(crate) fn latency_curves(
    experiment: &Experiment,
    results: &Results,
    pick: Pick,
) -> Option<Multiples> {
    let y = Axis::log("p99 latency", Unit::TimeNs);
    let mut p99 = drawn(experiment, results, pick, ("Latency", y), line_of(|point| point.p99_ns));
    p99.description = "The 99th percentile of latency of each target over the loads.".to_owned();
    Some(p99).filter(Multiples::shows)
}

/// CPU time of the servers; `None` where none was seen.
pub(crate) fn cpu_curves(
    experiment: &Experiment,
    results: &Results,
    pick: Pick,
) -> Option<Multiples> {
    let y = Axis::linear("CPU per request", Unit::TimeNs);
    let of = line_of(|point| point.server_cpu_ns);
    Some(drawn(experiment, results, pick, ("Server CPU", y), of)).filter(Multiples::shows)
}

fn line_of(
    figure: impl Fn(&Point) -> Option<f64>,
) -> impl Fn(&Curve, usize, &[Measured<'_>]) -> Series {
    move |curve, slot, points| {
        let y = |point: &Option<&Point>| point.and_then(&figure).unwrap_or(f64::NAN);
        let points = points.iter().map(|(x, point)| (*x, y(point)));
        Series::line(&curve.name, slot, points.collect::<Vec<_>>())
    }
}

/// A plot for each slice, with a line for each curve.
fn drawn(
    experiment: &Experiment,
    results: &Results,
    pick: Pick,
    (title, y): (&str, Axis),
    line: impl Fn(&Curve, usize, &[Measured<'_>]) -> Series,
) -> Multiples {
    let x = Along::of(experiment);
    let curves = Curve::all(experiment, results, pick);
    let plot = |slice: Slice| {
        let mut plot = Plot::new(x.axis.clone(), y.clone());
        for (slot, curve) in curves.iter().enumerate() {
            let points = curve.points[slice.loads.clone()].iter().zip(&x.places);
            let points: Vec<Measured<'_>> = points.map(|(point, x)| (*x, point.as_ref())).collect();
            plot.series.push(line(curve, slot, &points));
        }
        (slice.label, plot)
    };
    let plots = experiment.slices().into_iter().map(plot).collect();
    let multiples = Multiples { title: title.to_owned(), description: String::new(), plots };
    multiples.on_one_scale()
}

/// The axis along which the loads of a slice stand, and where each stands.
struct Along {
    axis: Axis,
    places: Vec<f64>,
}

impl Along {
    fn of(experiment: &Experiment) -> Self {
        let of_labels = || Varied::of_labels(&experiment.loads);
        let Some(varied) = experiment.axes.first().cloned().or_else(of_labels) else {
            let places: Vec<f64> = (1..=experiment.loads.len()).map(|at| at as f64).collect();
            return Self { axis: Axis::categories("load", Unit::Count, &places), places };
        };
        let title = varied.title();
        if let Some(places) = varied.numbers() {
            return Self { axis: Axis::categories(&title, Unit::Count, &places), places };
        }
        let names = varied.values.iter().map(|value| shortened(&value.text)).collect();
        let places = (1..=varied.values.len()).map(|at| at as f64).collect();
        Self { axis: Axis::named(&title, names), places }
    }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}
