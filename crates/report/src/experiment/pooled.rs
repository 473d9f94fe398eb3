//! All runs of a target under a load, put together: what the charts of a page are drawn of. Latencies are added;
//! CPU times per request are medians of the runs, as in the tables, and so is each of their parts.

use ablaze_chart::{BarRow, Bars, Chart, Unit};
use ablaze_model::Run;
use ablaze_model::experiment::Experiment;
use ablaze_stats::Latency;
use ablaze_stats::repeats::median;

use super::workers::{self, Workers};
use crate::effort::Effort;
use crate::number::{counted, grouped};
use crate::page::charts::{self as single, CpuParts, ShownLatency};
use crate::page::{Block, Section, section};

/// The runs of one target under one load.
#[derive(Debug, Clone)]
pub struct Pooled {
    /// The target, by its place.
    pub target: usize,
    /// The load, by its place.
    pub load: usize,
    /// The first of the runs: for what is the same in all of them, the machine above all.
    pub first: Run,
    /// How many runs there are.
    pub runs: u64,
    /// The latencies of all of them.
    pub latency: Latency,
    /// CPU time per request of the server in each run that has one.
    server_ns: Vec<CpuParts>,
    /// The same of the client.
    client_ns: Vec<CpuParts>,
    /// The machines that carried them out together; none where one did.
    pub(super) workers: Workers,
}

impl Pooled {
    /// Of the first run.
    pub fn of(target: usize, load: usize, run: Run) -> Self {
        let mut pooled = Self {
            target,
            load,
            runs: 1,
            latency: run.record.answered.latency().clone(),
            server_ns: Vec::new(),
            client_ns: Vec::new(),
            workers: Workers::new(),
            first: run,
        };
        workers::add(&mut pooled.workers, &pooled.first);
        let (server, client) = cpu_of(&pooled.first);
        pooled.server_ns.extend(server);
        pooled.client_ns.extend(client);
        pooled
    }

    /// Adds one more.
    pub fn add(&mut self, run: &Run) {
        self.runs += 1;
        self.latency.merge(run.record.answered.latency());
        workers::add(&mut self.workers, run);
        let (server, client) = cpu_of(run);
        self.server_ns.extend(server);
        self.client_ns.extend(client);
    }
}

fn cpu_of(run: &Run) -> (Option<CpuParts>, Option<CpuParts>) {
    (single::server_parts(run), Effort::of(run).map(|effort| single::client_parts(&effort)))
}

/// CPU time per request over runs, ns: the medians of its parts, and that of the whole. Each is a median by itself, so the
/// parts need not add up to the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Medians {
    parts: CpuParts,
    whole: f64,
}

impl Medians {
    /// What one of the runs does not tell apart is not told apart.
    fn of(runs: &[CpuParts]) -> Option<Self> {
        let known = |parts: &[f64]| parts.iter().filter(|part| part.is_finite()).sum::<f64>();
        let middle = |of: &dyn Fn(&CpuParts) -> f64| {
            let values: Vec<f64> = runs.iter().map(of).filter(|part| part.is_finite()).collect();
            median(&values).unwrap_or(f64::NAN)
        };
        let whole = median(&runs.iter().map(|parts| known(parts)).collect::<Vec<_>>())?;
        let polling = middle(&|parts| parts[2]);
        let together = runs.iter().any(|[user, ..]| user.is_nan());
        let parts = match together {
            true => {
                let work = middle(&|parts| known(&[parts[0], parts[1], parts[3]]));
                [f64::NAN, f64::NAN, polling, work]
            }
            false => [middle(&|parts| parts[0]), middle(&|parts| parts[1]), polling, f64::NAN],
        };
        Some(Self { parts, whole })
    }

    /// A bar, with the whole behind it where the parts do not add up to that.
    fn bar(&self, name: &str, slot: usize) -> BarRow {
        let mut row = BarRow::new(name, slot, &self.parts);
        let sum: f64 = self.parts.iter().filter(|part| part.is_finite()).sum();
        let [sum, whole] = [sum, self.whole].map(|ns| Unit::TimeNs.text(ns));
        row.text = (sum != whole).then_some(whole);
        row
    }
}

/// The latencies of every load that is shown, by percentile, and the CPU times per request.
pub(crate) fn sections(experiment: &Experiment, pooled: &[Pooled]) -> Vec<Section> {
    let mut loads: Vec<usize> = pooled.iter().map(|pooled| pooled.load).collect();
    loads.sort_unstable();
    loads.dedup();
    let of = |load: usize| {
        pooled.iter().filter(move |pooled| pooled.load == load).collect::<Vec<&Pooled>>()
    };
    let shown = loads.iter().map(|load| percentiles(experiment, &of(*load), *load));
    let mut sections: Vec<Section> = of_some(experiment, &loads).into_iter().chain(shown).collect();
    // Over several loads the servers' CPU time has a curve.
    if experiment.loads.len() == 1 {
        sections.extend(loads.iter().map(|load| cpu(experiment, &of(*load), *load)));
    }
    sections
}

/// Which loads have a chart, where not all have.
fn of_some(experiment: &Experiment, loads: &[usize]) -> Option<Section> {
    let (shown, all) = (loads.len(), experiment.loads.len());
    let names = loads.iter().map(|load| experiment.loads[*load].label.as_str());
    (0 < shown && shown < all).then(|| {
        let names = names.collect::<Vec<_>>().join("; ");
        let text = format!("Latency by percentile of {shown} of {all} loads: {names}.");
        Section::default().with(Block::Remark(text))
    })
}

/// Which loads of an experiment have charts of their own: all of up to three, else the first, the middle one
/// and the last.
pub fn shown_loads(experiment: &Experiment) -> Vec<usize> {
    match experiment.loads.len() {
        count @ 0..=3 => (0..count).collect(),
        count => vec![0, count / 2, count - 1],
    }
}

fn percentiles(experiment: &Experiment, pooled: &[&Pooled], load: usize) -> Section {
    let name = |pooled: &Pooled| experiment.targets[pooled.target].name.as_str();
    let lines: Vec<ShownLatency<'_>> = pooled
        .iter()
        .map(|pooled| ShownLatency {
            name: name(pooled),
            slot: pooled.target,
            latency: &pooled.latency,
        })
        .collect();
    let Some(mut chart) = single::percentile_lines(&lines, "latency") else {
        return Section::default()
            .with(Block::Remark("Too few responses for percentiles.".to_owned()));
    };
    if !experiment.is_saved() {
        chart.title = format!("{} at {}", chart.title, experiment.loads[load].label);
    }
    let what = pooled.iter().map(|pooled| {
        let of = counted(pooled.runs, "run");
        format!("{}: {} responses of {of}", name(pooled), grouped(pooled.latency.count()))
    });
    let mut caption = format!(
        "All runs of a target together ({}); percentiles in a table above are medians of runs. Each further nine takes \
         the same width; the shaded band is the 95 % interval.",
        what.collect::<Vec<_>>().join("; ")
    );
    let few = pooled.iter().filter(|pooled| pooled.latency.count() < single::PERCENTILES_FROM);
    caption.push_str(&section::too_few(&few.map(|pooled| name(pooled)).collect::<Vec<_>>()));
    caption.push_str(&left_out(experiment, pooled));
    Section::default().with(Block::Chart { chart, caption, figures: false })
}

/// Targets whose runs were carried out by another program: they have no histogram.
fn left_out(experiment: &Experiment, pooled: &[&Pooled]) -> String {
    let is_missing = |at: &usize| {
        experiment.targets[*at].client != ablaze_model::experiment::Tool::Ablaze
            && !pooled.iter().any(|pooled| pooled.target == *at)
    };
    let names: Vec<&str> = (0..experiment.targets.len())
        .filter(is_missing)
        .map(|at| experiment.targets[at].name.as_str())
        .collect();
    if names.is_empty() {
        return String::new();
    }
    format!(" Not drawn: {}, loaded by a program that saves no histogram.", names.join(", "))
}

fn cpu(experiment: &Experiment, pooled: &[&Pooled], load: usize) -> Section {
    let label = &experiment.loads[load].label;
    let mut bars = single::cpu_bars(&if experiment.is_saved() {
        "median of the runs".to_owned()
    } else {
        format!("median of the runs at {label}")
    });
    for pooled in pooled {
        let name = |who: &str| of_whom(&experiment.targets[pooled.target].name, who);
        for (who, runs) in [("server", &pooled.server_ns), ("client", &pooled.client_ns)] {
            let medians = Medians::of(runs);
            bars.rows.extend(medians.map(|medians| medians.bar(&name(who), pooled.target)));
        }
    }
    single::drop_unused_parts(&mut bars);
    if bars.rows.is_empty() {
        return Section::default().with(Block::Remark("No CPU times were measured.".to_owned()));
    }
    let unseen = pooled.iter().map(|pooled| {
        let why = section::server_unseen(&pooled.first);
        let name = experiment.targets[pooled.target].name.as_str();
        (name, why.filter(|_| pooled.server_ns.is_empty()))
    });
    let caption = [what_adds_up(&bars), section::servers_unseen(unseen)];
    Section::default().with(Block::Chart {
        chart: Chart::of("CPU time per request", bars),
        caption: caption.into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>().join(" "),
        figures: true,
    })
}

/// What the parts of bars are where they are no parts of the whole behind them.
fn what_adds_up(bars: &Bars) -> String {
    if bars.rows.iter().all(|row| row.text.is_none()) {
        return String::new();
    }
    "Each part is the median of the runs by itself, as is the total behind the bar: in some rows the parts do not add up to that \
     total."
        .to_owned()
}

/// `mine: server`, with a long name cut, so that the chart need not cut off whose time it is.
fn of_whom(target: &str, who: &str) -> String {
    const LONGEST: usize = 22;
    match target.char_indices().nth(LONGEST) {
        None => format!("{target}: {who}"),
        Some(_) => format!("{}…: {who}", target.chars().take(LONGEST - 1).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ablaze_chart::Panel;
    use ablaze_testing::experiments::{experiment, load};

    /// Ten thousand responses that took this long each, with this CPU time of the client, ns.
    fn run(each_ns: u64, client_ns: u64) -> Run {
        let mut run = crate::sample::empty();
        run.record.answered.total.record_many(each_ns, 10_000);
        run.record.responses = 10_000;
        run.workers = crate::sample::ordinary().workers;
        (run.workers[0].user_ns, run.workers[0].system_ns) = (0, client_ns * 10_000);
        run
    }

    fn pooled(target: usize, load: usize, each: [u64; 3]) -> Pooled {
        let mut pooled = Pooled::of(target, load, run(each[0], each[0]));
        each[1..].iter().for_each(|each_ns| pooled.add(&run(*each_ns, *each_ns)));
        pooled
    }

    fn chart(section: &Section) -> (&Chart, &str) {
        match &section.blocks[..] {
            [Block::Chart { chart, caption, .. }] => (chart, caption),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_percentiles_of_a_comparison_are_of_all_its_runs() {
        // The first run was the slow one.
        let all = [pooled(0, 0, [120_000_000, 1_000_000, 2_000_000]), pooled(1, 0, [3_000; 3])];
        let sections = sections(&experiment(), &all);
        let (chart, caption) = chart(&sections[0]);
        let Panel::Plot(plot) = &chart.panels[0] else { panic!("{chart:?}") };
        let of_first = &plot.series[0].points;
        let at = |q: f64| of_first.iter().rfind(|point| point.x <= q).unwrap().y;
        // One third of the responses took 1 ms, one 2 ms, one 120 ms.
        for (q, expected_ns) in [(0.3, 1e6), (0.6, 2e6), (0.999, 120e6)] {
            assert!((at(q) / expected_ns - 1.0).abs() < 0.01, "{q}: {}", at(q));
        }
        assert_eq!(chart.title, "Latency by percentile at c=10");
        assert!(caption.contains("one: 30,000 responses of 3 runs; other: 30,000"), "{caption}");
    }

    #[test]
    fn the_bars_of_cpu_time_are_the_medians_that_the_table_has() {
        let sections = sections(&experiment(), &[pooled(0, 0, [120_000, 1_000, 2_000])]);
        let (chart, _) = chart(&sections[1]);
        let Panel::Bars(bars) = &chart.panels[0] else { panic!("{chart:?}") };
        assert_eq!(bars.title, "median of the runs at c=10");
        assert_eq!(bars.rows[0].name, "one: client");
        assert!((bars.rows[0].values.iter().sum::<f64>() - 2_000.0).abs() < 1e-6, "{bars:?}");
    }

    #[test]
    fn what_one_run_does_not_tell_apart_is_one_part() {
        let nan = f64::NAN;
        let known = |runs: &[CpuParts]| {
            Medians::of(runs).unwrap().parts.map(|part| (!part.is_nan()).then_some(part))
        };
        let [one, two, three] =
            [[1.0, 3.0, nan, nan], [4.0, 4.0, nan, nan], [10.0, 10.0, nan, nan]];
        assert_eq!(known(&[one, two, three]), [Some(4.0), Some(4.0), None, None]);
        assert_eq!(known(&[one, [nan, nan, nan, 8.0], three]), [None, None, None, Some(8.0)]);
        assert_eq!(known(&[[nan, nan, 2.0, 6.0]]), [None, None, Some(2.0), Some(6.0)]);
    }

    /// What JSON and CSV have of each run has these medians.
    #[test]
    fn parts_are_medians_of_their_own_and_say_where_they_do_not_add_up() {
        let mut all = [pooled(0, 0, [1_000, 2_000, 3_000])];
        let nan = f64::NAN;
        all[0].client_ns =
            [[1e3, 9e3, 0.0, nan], [2e3, 5e3, 0.0, nan], [4e3, 4e3, 0.0, nan]].to_vec();
        let sections = sections(&experiment(), &all);
        let (shown, caption) = chart(&sections[1]);
        let rows = shown.tables().remove(0).rows;
        assert_eq!(rows[0], ["one: client", "2.00 µs", "5.00 µs", "8.00 µs"]);
        assert!(caption.contains("the parts do not add up to that total"), "{caption}");
        all[0].client_ns.truncate(1);
        let sections = super::sections(&experiment(), &all);
        let (shown, caption) = chart(&sections[1]);
        assert_eq!(shown.tables().remove(0).rows[0][3], "10.0 µs");
        assert!(!caption.contains("add up"), "{caption}");
    }

    #[test]
    fn every_load_of_a_sweep_has_its_own_chart_with_its_name() {
        let mut sweep = experiment();
        sweep.loads = [1, 10, 100].map(load).to_vec();
        let all: Vec<Pooled> =
            shown_loads(&sweep).into_iter().map(|at| pooled(0, at, [1_000_000; 3])).collect();
        let titles: Vec<String> =
            sections(&sweep, &all).iter().map(|section| chart(section).0.title.clone()).collect();
        let at = |load: &str| format!("Latency by percentile at {load}");
        assert_eq!(titles, ["c=1", "c=10", "c=100"].map(at));
        sweep.loads = (1..=13).map(load).collect();
        assert_eq!(shown_loads(&sweep), [0, 6, 12]);
        let all: Vec<Pooled> =
            shown_loads(&sweep).into_iter().map(|at| pooled(0, at, [1_000_000; 3])).collect();
        let expected = "Latency by percentile of 3 of 13 loads: c=1; c=7; c=13.";
        let blocks = &super::sections(&sweep, &all)[0].blocks;
        assert!(matches!(&blocks[..], [Block::Remark(text)] if text == expected), "{blocks:?}");
    }

    #[test]
    fn a_long_name_is_cut_before_whose_time_it_is() {
        assert_eq!(of_whom("mine", "server"), "mine: server");
        let long = "a-very-long-name-of-a-target-that-nobody-would-type";
        assert_eq!(of_whom(long, "client"), "a-very-long-name-of-a…: client");
    }
}
