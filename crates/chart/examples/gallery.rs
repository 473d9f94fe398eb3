//! A page with a chart of every kind, for the eyes of whoever changes how charts look:
//! `cargo run -p ablaze-chart --example gallery > gallery.html`.

use ablaze_chart::svg::{self, Width};
use ablaze_chart::{Axis, BarLook, BarRow, Bars, Chart, Mark, Plot, Series, Unit};

fn main() {
    println!(
        "<!doctype html><meta charset=utf-8><style>{}body{{margin:2em;max-width:880px}}\
         @media screen and (prefers-color-scheme:dark){{body{{background:#15181c;color:#eee}}}}\
         .ablaze-chart{{margin:1em 0 3em;display:block}}</style>",
        svg::css()
    );
    for chart in [curves(), over_time(), percentiles(), histogram(), bars(), ratios()] {
        println!("<h3>{}</h3>{}{}", chart.title, chart.svg(Width::Wide), chart.svg(Width::Narrow));
    }
}

fn curves() -> Chart {
    let connections = [1., 2., 5., 10., 20., 50., 100., 200., 500., 1e3, 2e3, 5e3, 1e4];
    let rates = [
        [
            13749., 67334., 65765., 132917., 126955., 165590., 189071., 180558., 153112., 144514.,
            122809., 97396., 69237.,
        ],
        [
            14046., 34404., 74349., 106570., 123454., 151810., 160658., 148796., 82894., 75220.,
            71082., 69773., 54235.,
        ],
        [
            14123.,
            33339.,
            72036.,
            94964.,
            102283.,
            120448.,
            150480.,
            140439.,
            68127.,
            61219.,
            50186.,
            48724.,
            f64::NAN,
        ],
    ];
    let mut plot = Plot::new(
        Axis::categories("connections", Unit::Count, &connections),
        Axis::linear("responses per second", Unit::PerSecond),
    );
    for (slot, (name, rates)) in ["EXCLUSIVE", "REUSEPORT", "muduo"].iter().zip(rates).enumerate() {
        let points = connections.iter().zip(rates).map(|(x, y)| (*x, y, y * 0.95, y * 1.04));
        plot.series.push(Series::with_intervals(name, slot, points));
    }
    plot.marks.push(Mark::at(100.0, "knee"));
    plot.marks.push(Mark::at(500.0, "cliff"));
    plot.table = true;
    Chart::of("Rate over concurrency", plot).described("Three servers, a line each.")
}

fn wave(index: usize) -> f64 {
    (index as f64 * 0.7).sin() + (index as f64 * 2.3).cos() * 0.6
}

fn over_time() -> Chart {
    let time = |index: usize| index as f64 * 1e8;
    let x = || Axis::between("time", Unit::TimeNs, 0.0, 1e10);
    let mut rate = Plot::new(x(), Axis::linear("responses per second", Unit::PerSecond));
    let y = |index| if (40..44).contains(&index) { f64::NAN } else { 2e5 + 4e3 * wave(index) };
    rate.series.push(Series::line("rate", 0, (0..100).map(|index| (time(index), y(index)))));
    rate.marks.push(Mark::between(4e9, 4.4e9, "stall"));
    let mut latency = Plot::new(x(), Axis::linear("latency", Unit::TimeNs));
    for (slot, (name, ns)) in [("p50", 4.6e5), ("p99", 8.3e5)].into_iter().enumerate() {
        let points = (0..100).map(|index| (time(index), ns * (1.0 + 0.05 * wave(index))));
        latency.series.push(Series::line(name, slot, points));
    }
    latency.marks.push(Mark::level(7e5, "asked for: 700 µs"));
    Chart::of("Rate and latency over time", rate).above(latency)
}

fn percentiles() -> Chart {
    let mut plot = Plot::new(Axis::percentile("percentile"), Axis::log("latency", Unit::TimeNs));
    for (slot, (name, ns)) in [("response", 5e5), ("service", 4e5)].into_iter().enumerate() {
        let q = (0..=80).map(|index| 1.0 - 10f64.powf(-f64::from(index) / 20.0));
        let points = q.map(|q| {
            let ns = ns * (1.0 - q).powf(-0.2 - 0.3 * (1 - slot) as f64);
            (q, ns, ns * 0.9, ns * 1.2)
        });
        plot.series.push(Series::with_intervals(name, slot, points));
    }
    Chart::of("Percentiles", plot)
}

fn histogram() -> Chart {
    let mut plot = Plot::new(
        Axis::log("latency", Unit::TimeNs),
        Axis::linear("share of the responses", Unit::Share),
    );
    for (slot, name) in ["before", "after"].into_iter().enumerate() {
        let points = (0..50).map(|index| {
            let x = 2e5 * 10f64.powf(f64::from(index) / 40.0);
            (x, 0.08 * (-(f64::from(index) - 15.0 - 8.0 * slot as f64).powi(2) / 40.0).exp())
        });
        plot.series.push(Series::steps(name, slot, points));
    }
    Chart::of("Distribution", plot)
}

fn bars() -> Chart {
    let mut bars =
        Bars::new("CPU time per request", Unit::TimeNs, &["user", "kernel", "waiting actively"]);
    bars.rows.push(BarRow::new("server (nginx, pid 4711)", 0, &[1.2e3, 3.5e3]));
    bars.rows.push(BarRow::new("client", 0, &[2e2, 3.4e3, 4e2]));
    Chart::of("CPU", bars)
}

fn ratios() -> Chart {
    let mut bars = Bars::new("rate, divided by nginx's", Unit::Ratio, &[]);
    bars.look = BarLook::Dots;
    bars.reference = Some((1.0, "the same".to_owned()));
    for (slot, (name, value, low, high)) in
        [("mine", 0.87, 0.85, 0.89), ("fiber-asm", 1.01, 0.99, 1.03)].into_iter().enumerate()
    {
        let text = format!("{value} [{low}, {high}]");
        bars.rows.push(BarRow {
            interval: Some((low, high)),
            text: Some(text),
            ..BarRow::new(name, slot + 1, &[value])
        });
    }
    Chart::of("Ratios", bars)
}
