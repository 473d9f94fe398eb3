//! Charts that answer, in a real browser: keys are pressed and entries of legends clicked as a person does, and what is
//! seen then is held against the figures of the run and against what Rust draws.

use ablaze_chart::svg::Width;
use ablaze_chart::{Axis, Chart, Mark, Panel, Plot, Series, Unit};
use ablaze_random::{Wyrand, unit as between_0_and_1};
use ablaze_testing::browser::{self, Scripts};
use serde_json::{Value, json};

use super::{Block, Page, Section, charts, of_run};
use crate::number;
use crate::sample::{self, assessed};

const ACTING: &str = include_str!("answering_tests.js");

fn ask(page: &str, script: &str) -> Option<Value> {
    let mut said = browser::ask(&[("page", page)], Scripts::Run, &format!("{ACTING}{script}"))?;
    Some(said["page"].take())
}

fn page_of(charts: impl IntoIterator<Item = Chart>) -> String {
    let mut page = Page::new("charts");
    for chart in charts {
        page.sections.push(Section::default().with(Block::chart(chart)));
    }
    page.html()
}

fn plots(chart: &Chart) -> Vec<&Plot> {
    chart.panels.iter().filter_map(plot).collect()
}

fn plot(panel: &Panel) -> Option<&Plot> {
    match panel {
        Panel::Plot(plot) => Some(plot),
        Panel::Bars(_) => None,
    }
}

#[test]
fn the_cursor_shows_the_figures_of_the_run() {
    let run = sample::ordinary();
    let script = "const [first] = figures; press(shown(first), 'ArrowRight'); press(shown(first), 'ArrowRight');
        say('second', reading(first)); say('spoken', page.querySelector('[role=status]').textContent);
        press(shown(first), 'End'); say('last', reading(first));
        press(shown(first), 'Escape'); say('left', reading(first));";
    let Some(said) = ask(&of_run(&assessed(&run)).html(), script) else { return };
    let slices = &run.record.slices;
    let per_s =
        |responses: u64| number::rate(responses as f64 * 1e9 / slices.slice_ns as f64) + "/s";
    let time = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| number::time(ns as f64));
    let reading = |at: usize| {
        let slice = &slices.slices[at];
        let answered = slice.responses > 0;
        vec![
            format!("time {}", number::time((at as f64 + 0.5) * slices.slice_ns as f64)),
            format!("responses = {}", per_s(slice.responses)),
            format!("p99 = {}", time(answered.then_some(slice.p99_ns))),
            format!("p50 = {}", time(answered.then_some(slice.p50_ns))),
        ]
    };
    let found = |name: &str| {
        let lines: Vec<String> = serde_json::from_value(said[name].clone()).unwrap();
        lines.into_iter().filter(|line| !line.starts_with("errors")).collect::<Vec<_>>()
    };
    assert_eq!(found("second"), reading(1));
    assert_eq!(found("last"), reading(slices.slices.len() - 1));
    assert_eq!(said["left"], Value::Null);
    assert!(
        said["spoken"].as_str().unwrap().contains(&per_s(slices.slices[1].responses)),
        "{said}"
    );
}

/// The formatters of the script, held against Rust's through the figures under the cursor.
#[test]
fn the_script_writes_figures_as_the_reports_do() {
    let mut bits = Wyrand::new(20_260_101, 0);
    let mut random = || between_0_and_1(bits.next_u64());
    let mut values = vec![
        0.0, 0.125, 0.5, 2.5, 62.5, 9.996, 99.95, 999.5, 999.6, 1e3, 999_700.0, 12_345.5, -0.02,
        -4_600.0,
    ];
    values.extend([1e-5, 5e-7, 0.994_99, 0.999_97, 1.0, f64::NAN, 1e6, 999_950.0, 3.6e12]);
    values.extend((0..80).map(|_| 10f64.powf(random() * 20.0 - 7.0)));
    values.extend((0..20).map(|_| random()));
    let units = [
        Unit::Count,
        Unit::PerSecond,
        Unit::TimeNs,
        Unit::Share,
        Unit::Ratio,
        Unit::Bytes,
        Unit::Quantile,
    ];
    let chart = |unit: &Unit| {
        let x = Axis::linear("at", Unit::Count);
        let mut plot = Plot::new(x, Axis::linear("value", *unit));
        let points = values.iter().enumerate().map(|(at, value)| (at as f64, *value));
        plot.series.push(Series::line("value", 0, points));
        Chart::of(&format!("{unit:?}"), plot)
    };
    let script = "say('texts', figures.map((figure) => {
        const texts = [];
        press(shown(figure), 'Escape');
        for (let last = null; ;) {
            press(shown(figure), 'ArrowRight');
            const [head, line] = reading(figure);
            if (head === last) return texts;
            last = head;
            texts.push(line.split(' = ')[1]);
        }
    }));";
    let Some(said) = ask(&page_of(units.iter().map(chart)), script) else { return };
    for (index, unit) in units.iter().enumerate() {
        for (at, value) in values.iter().enumerate() {
            assert_eq!(said["texts"][index][at], unit.text(*value), "{unit:?} of {value}");
        }
    }
}

/// What stands along the axes of a chart as Rust draws it, in the order of the script's `ticks`.
fn ticks_of(chart: &Chart) -> Value {
    let svg = chart.svg(Width::Wide);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let class = |node: &roxmltree::Node<'_, '_>, class| node.attribute("class") == Some(class);
    let areas = document.descendants().filter(|node| class(node, "area"));
    let texts = areas.map(|area| {
        let quiet = area.descendants().filter(|node| class(node, "m"));
        let texts =
            quiet.flat_map(|quiet| quiet.children().filter(|node| node.has_tag_name("text")));
        let mut texts: Vec<String> = texts
            .map(|text| {
                format!("{} {}", text.attribute("text-anchor").unwrap(), text.text().unwrap_or(""))
            })
            .collect();
        texts.sort();
        texts
    });
    json!(texts.collect::<Vec<_>>())
}

/// Two lines over an axis, far apart.
fn two_lines(x: Axis, places: &[f64], y: Axis) -> Chart {
    let mut plot = Plot::new(x, y);
    plot.series.push(Series::line("high", 0, places.iter().map(|x| (*x, 40e6 + x.sqrt()))));
    plot.series.push(Series::line("low", 1, places.iter().map(|x| (*x, 2e5 + x.sqrt()))));
    Chart::of("two lines", plot)
}

#[test]
fn what_is_drawn_again_has_the_axes_that_rust_gives_it() {
    let places: Vec<f64> = (0..100).map(|at| (f64::from(at) + 0.5) * 1e8).collect();
    let latency = |log| {
        if log { Axis::log("latency", Unit::TimeNs) } else { Axis::linear("latency", Unit::TimeNs) }
    };
    let quantiles: Vec<f64> = (0..64).map(|at| 1.0 - 10f64.powf(-f64::from(at) / 16.0)).collect();
    let time = || Axis::between("time", Unit::TimeNs, 0.0, 1e10);
    let mut all = vec![
        two_lines(time(), &places, latency(true)),
        two_lines(time(), &places, latency(false)),
        two_lines(Axis::percentile("percentile"), &quantiles, latency(true)),
        two_lines(Axis::linear("requested", Unit::PerSecond), &places, latency(false)),
        two_lines(Axis::log("requested", Unit::PerSecond), &places, latency(true)),
        two_lines(
            Axis::categories("connections", Unit::Count, &[1.0, 10.0, 100.0]),
            &[1.0, 10.0, 100.0],
            latency(false),
        ),
        charts::over_time(&sample::ordinary()).unwrap(),
    ];
    for chart in &mut all {
        for panel in &mut chart.panels {
            if let Panel::Plot(plot) = panel {
                plot.marks.push(Mark::level(3e5, "permitted"));
            }
        }
    }
    let script = "say('whole', figures.map(ticks));
        say('hidden', figures.map((figure) => {
            const key = shown(figure).querySelector('.key');
            click(key);
            const hidden = [key.getAttribute('aria-pressed'), ticks(figure)];
            press(key, 'Enter');
            return [...hidden, key.getAttribute('aria-pressed'), ticks(figure)];
        }));";
    let Some(said) = ask(&page_of(all.clone()), script) else { return };
    for (at, chart) in all.iter().enumerate() {
        let mut without = chart.clone();
        let first = without.panels.iter_mut().find_map(|panel| match panel {
            Panel::Plot(plot) if plot.series.len() > 1 => Some(plot),
            _ => None,
        });
        first.unwrap().series.remove(0);
        let whole = ticks_of(chart);
        assert_eq!(said["whole"][at], whole, "{}", chart.title);
        assert_eq!(said["hidden"][at], json!(["false", ticks_of(&without), "true", whole]), "{at}");
    }
}

#[test]
fn a_span_has_the_ticks_of_its_ends_and_every_chart_of_the_axis_follows() {
    let places: Vec<f64> = (0..100).map(|at| (f64::from(at) + 0.5) * 1e8).collect();
    let y = || Axis::linear("latency", Unit::TimeNs);
    let time = |from, to| Axis::between("time", Unit::TimeNs, from, to);
    let chart = two_lines(time(0.0, 1e10), &places, y());
    let other = two_lines(Axis::percentile("percentile"), &[0.0, 0.5, 0.9, 0.99], y());
    let page = page_of([chart.clone(), chart.clone(), other.clone()]);
    // The cursor on the first point, 0.5 % of the axis: twice as near, its first half of a percent stays where it is.
    let script = "const svg = shown(figures[0]);
        press(svg, 'ArrowRight'); press(svg, '+'); press(svg, '+');
        say('zoomed', figures.map(ticks)); say('cursors', figures.map(reading));
        press(svg, '0'); say('whole', figures.map(ticks));
        press(svg, 'Home'); press(svg, 'ArrowRight'); press(svg, 'ArrowRight', { shiftKey: true });
        for (let at = 0; at !== 9; at += 1) press(svg, 'ArrowRight', { shiftKey: true });
        press(svg, 'Enter'); say('span', ticks(figures[0]));
        svg.dispatchEvent(new inner.MouseEvent('dblclick', { bubbles: true })); say('again', figures.map(ticks));
        const { left, top, width } = svg.getBoundingClientRect();
        const [x, y, w] = svg.querySelector('.area').dataset.area.split(' ').map(Number);
        const scale = width / svg.viewBox.baseVal.width;
        const at = (type, share) => svg.dispatchEvent(new inner.PointerEvent(type, { bubbles: true, button: 0, pointerType: 'mouse',
            clientX: left + (x + w * share) * scale, clientY: top + (y + 50) * scale }));
        at('pointerdown', 0.25); at('pointermove', 0.4); at('pointerup', 0.5); say('dragged', ticks(figures[1]));";
    let Some(said) = ask(&page, script) else { return };
    let shown = |from: f64, to: f64| {
        let near: Vec<f64> =
            places.iter().copied().filter(|x| *x >= from - 1e8 && *x <= to + 1e8).collect();
        ticks_of(&two_lines(time(from, to), &near, y()))
    };
    let wholes = json!([ticks_of(&chart), ticks_of(&chart), ticks_of(&other)]);
    let cursor = 5e7;
    let zoomed = shown(cursor - cursor / 4.0, cursor + (1e10 - cursor) / 4.0);
    assert_eq!(said["zoomed"], json!([zoomed, zoomed, ticks_of(&other)]));
    assert_eq!(said["cursors"][0], said["cursors"][1]);
    assert_eq!(said["cursors"][2], Value::Null);
    assert_eq!((&said["whole"], &said["again"]), (&wholes, &wholes));
    // From the second point to the twelfth.
    assert_eq!(said["span"], shown(1.5e8, 11.5e8));
    assert_eq!(said["dragged"], shown(2.5e9, 5e9));
}

#[test]
fn a_chart_is_saved_with_every_figure() {
    let run = sample::ordinary();
    let over_time = charts::over_time(&run).unwrap();
    // A search comes back to a rate, and a name may have anything in it.
    let mut search = Plot::new(
        Axis::linear("requested per second", Unit::PerSecond),
        Axis::linear("answered per second", Unit::PerSecond),
    );
    search.series.push(Series::line(
        "holds, \"well\"",
        0,
        [(1e3, 999.5), (2e3, 1998.25), (2e3, 2e3)],
    ));
    search.series.push(Series::line("does not", 1, [(2e3, 1.5e3)]));
    let twice = Chart::of("search", search);
    let script = "const [first] = figures; say('csv', await (await saved(first, 'CSV')).text());
        const svg = await (await saved(first, 'SVG')).text();
        const parsed = new inner.DOMParser().parseFromString(svg, 'image/svg+xml');
        say('svg', [parsed.documentElement.tagName, parsed.querySelectorAll('style, .ground').length, parsed.querySelectorAll('.series').length]);
        const png = await saved(first, 'PNG');
        const bytes = new Uint8Array(await png.arrayBuffer());
        say('png', [png.type, [...bytes.slice(1, 4)], bytes.length > 10000]);";
    let script = script.replace(
        "const svg",
        "say('twice', await (await saved(figures[1], 'CSV')).text());
        press(shown(figures[1]), 'End'); say('both', reading(figures[1])); const svg",
    );
    let Some(said) = ask(&page_of([over_time.clone(), twice]), &script) else { return };
    let csv = said["csv"].as_str().unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let series: Vec<&Series> =
        plots(&over_time).into_iter().flat_map(|plot| &plot.series).collect();
    assert_eq!(rows[0].len(), 1 + series.len(), "{csv}");
    assert_eq!((rows[0][0], rows[0][1]), ("time (ns)", "responses per second: responses"));
    assert_eq!(rows.len(), 1 + series[0].points.len());
    for (at, row) in rows[1..].iter().enumerate() {
        for (cell, series) in row[1..].iter().zip(&series) {
            let y = series.points[at].y;
            assert_eq!(row[0].parse(), Ok(series.points[at].x));
            assert!(
                if y.is_nan() { cell.is_empty() } else { cell.parse() == Ok(y) },
                "{cell} for {y}"
            );
        }
    }
    let name = |series: &str| format!("answered per second: {series}");
    let head =
        format!("requested per second,\"{}\",{}", name("holds, \"\"well\"\""), name("does not"));
    let rows = ["1000,999.5,", "2000,1998.25,1500", "2000,2000,", ""].join("\r\n");
    assert_eq!(said["twice"], format!("{head}\r\n{rows}"));
    let lines = ["holds, \"well\" = 1,998/s", "holds, \"well\" = 2,000/s", "does not = 1,500/s"];
    let reading = [&["requested per second 2,000/s"], &lines[..]].concat();
    assert_eq!(said["both"], json!(reading));
    assert_eq!(said["svg"], json!(["svg", 2, series.len()]));
    assert_eq!(said["png"], json!(["image/png", [0x50, 0x4e, 0x47], true]));
}

#[test]
fn what_is_replaced_is_seen_as_it_was() {
    let places: Vec<f64> = (0..100).map(|at| (f64::from(at) + 0.5) * 1e8).collect();
    let chart = two_lines(
        Axis::between("time", Unit::TimeNs, 0.0, 1e10),
        &places,
        Axis::log("latency", Unit::TimeNs),
    );
    let script = "const section = figures[0].parentElement, fresh = section.innerHTML;
        const svg = shown(figures[0]); svg.focus(); press(svg, 'ArrowRight'); press(svg, '+'); click(svg.querySelector('.key'));
        const seen = () => { const figure = section.querySelector('figure'); return [ticks(figure), reading(figure),
            [...shown(figure).querySelectorAll('.key')].map((key) => key.getAttribute('aria-pressed'))]; };
        say('before', seen());
        inner.ablazeCharts.attach(section); inner.ablazeCharts.attach(page);
        say('buttons', section.querySelectorAll('.chart-more').length);
        section.innerHTML = SERVED; inner.ablazeCharts.attach(section);
        say('after', seen()); say('focused', page.activeElement === shown(section.querySelector('figure')));
        say('names', Object.keys(inner.ablazeCharts));";
    let page = page_of([chart]);
    let served = page.split_once("<section>").unwrap().1.split_once("</section>").unwrap().0;
    let script = script.replace("SERVED", &json!(served).to_string().replace("</", "<\\/"));
    let Some(said) = ask(&page, &script) else { return };
    assert_eq!(said["before"], said["after"]);
    assert_eq!(said["before"][2], json!(["false", "true"]));
    assert_eq!((&said["buttons"], &said["focused"]), (&json!(1), &json!(true)));
    assert_eq!(said["names"], json!(["attach"]));
}

#[test]
fn paper_has_no_controls_and_without_a_script_the_page_is_whole() {
    let html = of_run(&assessed(&sample::ordinary())).html();
    let script = "press(shown(figures[0]), 'ArrowRight');
        const controls = () => [...page.querySelectorAll('.chart-more, .readout, .cursor')];
        const seen = () => controls().filter((control) => inner.getComputedStyle(control).display !== 'none').length;
        say('screen', seen());
        for (const sheet of page.styleSheets) for (const rule of sheet.cssRules) {
            if (rule.media?.mediaText === 'print') rule.media.mediaText = 'all';
        }
        say('paper', seen());";
    let Some(said) = ask(&html, script) else { return };
    assert!(said["screen"].as_u64().unwrap() > 3, "{said}");
    assert_eq!(said["paper"], 0);
    let script = "const drawn = (figure) => shown(figure).querySelectorAll('path, rect').length > 1;
        say('drawn', figures.length > 3 && figures.every(drawn));
        say('controls', page.querySelectorAll('.chart-more, [tabindex] svg, svg[tabindex], [aria-pressed]').length);
        say('empty', [...page.querySelectorAll('button')].filter((button) => !button.hidden).length);";
    let script = format!("{ACTING}{script}");
    let Some(said) = browser::ask(&[("page", &html)], Scripts::Refused, &script) else { return };
    assert_eq!(said["page"], json!({ "drawn": true, "controls": 0, "empty": 0 }));
}
