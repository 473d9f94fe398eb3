//! Tests of pages, in HTML and in Markdown.

use ablaze_model::Run;
use ablaze_model::plan::{Arrivals, Load, RateProfile};
use ablaze_model::record::GroupRecord;
use ablaze_verdict::printed;

use super::*;
use crate::json;
use crate::sample::{self, assessed};

/// Runs of every kind that there is.
pub(super) fn all() -> Vec<(&'static str, Run)> {
    let mut hostile = sample::troubled();
    hostile.plan.target.url = "http://h/</script><script>alert(1)</script>?a=\"'&b".into();
    hostile.command_line =
        vec!["ablaze".into(), "</code><img src=x>".into(), "-b".into(), "```".into()];
    hostile.record.first_head = b"HTTP/1.1 200 OK\r\nA: </script><!--\x00\r\n\r\n".to_vec();
    hostile.record.groups = sample::grouped().record.groups;
    hostile.record.groups[0].name = "</td><script>alert(2)</script>|*x*\n\u{1b}[31m".into();
    let mut unseen = sample::ordinary();
    unseen.monitor = None;
    let mut short = sample::ordinary();
    short.record.slices.slices.truncate(1);
    short.elapsed_ns = 100_000_000;
    let responses = short.record.slices.slices[0].responses;
    short.record.responses = responses;
    short.record.unexpected = 0;
    short.record.statuses = [(200, responses)].into();
    vec![
        ("ordinary", sample::ordinary()),
        ("troubled", sample::troubled()),
        ("refused", sample::refused()),
        ("empty", sample::empty()),
        ("open", open()),
        ("hostile", hostile),
        ("unseen", unseen),
        ("short", short),
        ("grouped", sample::grouped()),
    ]
}

/// An open loop whose client was late for some.
fn open() -> Run {
    let mut run = sample::ordinary();
    run.plan.load = Load::Open {
        rate: RateProfile::constant(2000.0),
        arrivals: Arrivals::Poisson,
        connections: 16_384,
        bounded: false,
    };
    let mut intended = ablaze_model::record::Intended::default();
    run.record.answered.total.clear();
    for number in 0..20_000u64 {
        // 5 to 75 µs late, then served within 300 to 700 µs.
        let (lag_ns, service_ns) =
            (5_000 + number % 700 * 100, 300_000 + number * 7919 % 20_000 * 20);
        intended.lag.record(lag_ns);
        intended.response.record(lag_ns + service_ns);
        run.record.answered.total.record(service_ns);
    }
    run.record.answered.intended = Some(Box::new(intended));
    run
}

fn parsed(html: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    roxmltree::Document::parse_with_options(html, options).expect("every text is escaped")
}

#[test]
fn nothing_in_a_run_becomes_markup() {
    for (name, run) in all() {
        let html = of_run(&assessed(&run)).html();
        let document = parsed(&html);
        let scripts = document.descendants().filter(|node| node.has_tag_name("script"));
        // The page's own, and data: the Run and what its charts are drawn from.
        let (data, own): (Vec<_>, Vec<_>) =
            scripts.partition(|script| script.attribute("type") == Some("application/json"));
        assert_eq!(own.len(), 1, "{name}");
        let charts = document.descendants().filter(|node| node.has_attribute("data-chart"));
        assert_eq!(data.len(), 1 + charts.count(), "{name}");
        assert!(!document.descendants().any(|node| node.has_tag_name("img")), "{name}");
    }
}

#[test]
fn a_page_asks_nothing_of_a_network() {
    for (name, run) in all() {
        let html = of_run(&assessed(&run)).html();
        let document = parsed(&html);
        for node in document.descendants() {
            for attribute in node.attributes() {
                let value = attribute.value();
                match attribute.name() {
                    "href" => {
                        assert!(value.starts_with('#') || value == "data:,", "{name} {value}")
                    }
                    "src" | "srcset" | "action" | "poster" | "data" => panic!("{name} {value}"),
                    _ => assert!(!value.contains("url("), "{name} {value}"),
                }
            }
            let text = node.text().unwrap_or_default();
            if node.has_tag_name("style") {
                assert!(!text.contains("@import") && !text.contains("url("), "{name}");
            }
        }
        assert!(html.contains("default-src 'none'"), "{name}");
    }
}

#[test]
fn the_verdict_comes_first_and_every_finding_leads_to_its_meaning() {
    for (name, run) in all() {
        let html = of_run(&assessed(&run)).html();
        let document = parsed(&html);
        let judged = assessed(&run).judged;
        let body = html.split_once("</h1>").expect("a title").1;
        let verdict =
            body.find(&format!("<strong>{}</strong>", judged.verdict)).expect("a verdict");
        let rest = body.find("class=\"figures\"").expect("figures");
        assert!(verdict < rest, "{name}");
        let ids: Vec<&str> =
            document.descendants().filter_map(|node| node.attribute("id")).collect();
        for link in document.descendants().filter(|node| node.has_tag_name("a")) {
            let to = link.attribute("href").expect("a link").trim_start_matches('#');
            assert!(ids.contains(&to), "{name}: {to} is not on the page");
        }
        for (root, _) in judged.with_explained() {
            assert!(ids.contains(&root.id.anchor().as_str()), "{name}");
        }
    }
}

#[test]
fn the_run_in_the_page_is_the_run() {
    for (name, run) in all() {
        let html = of_run(&assessed(&run)).html();
        let saved =
            json::load(run_json(&html).expect("a run")).unwrap_or_else(|e| panic!("{name}: {e}"));
        let kept = json::load(&json::write(&assessed(&run))).expect("a run in a file");
        assert_eq!(json::write(&assessed(&saved.run)), json::write(&assessed(&kept.run)), "{name}");
    }
}

#[test]
fn figures_are_those_of_the_report() {
    let run = sample::ordinary();
    let html = of_run(&assessed(&run)).html();
    let report = crate::text::write(
        &assessed(&run),
        &crate::text::Style { width: 200, ..Default::default() },
    );
    let total = report.lines().find(|line| line.trim_start().starts_with("total ")).unwrap();
    let cells: Vec<&str> =
        total.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    // Its name, the minimum, the mean, the deviation, six percentiles with one interval, the maximum.
    assert_eq!(cells.len(), 12, "{total}");
    let cells: Vec<String> = cells[1..].iter().map(|cell| format!("<td>{cell}</td>")).collect();
    assert!(html.contains(&format!("<th scope=\"row\">total</th>{}", cells.concat())), "{total}");
    for part in ["<b>2,000/s</b>", "1,950 to 2,040", "ablaze -c 100 http://127.0.0.1:8080/"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn an_open_loop_shows_response_beside_service() {
    let run = open();
    let chart = charts::percentiles(&[ShownRun::new("x", 0, &run)]).unwrap();
    let ablaze_chart::Panel::Plot(plot) = &chart.panels[0] else { panic!("a plot") };
    let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["response", "service"]);
    let at_half = |series: &ablaze_chart::Series| {
        let point = series
            .points
            .iter()
            .min_by(|left, right| (left.x - 0.5).abs().total_cmp(&(right.x - 0.5).abs()));
        point.unwrap().y
    };
    let lag_ns = at_half(&plot.series[0]) - at_half(&plot.series[1]);
    assert!((20_000.0..60_000.0).contains(&lag_ns), "{lag_ns}");
}

#[test]
fn slices_are_put_together_when_there_are_many() {
    let mut run = sample::ordinary();
    let slice = run.record.slices.slices[0];
    run.record.slices.slices = vec![slice; 36_000];
    run.record.slices.slices[100].p99_ns = 99_000_000;
    run.elapsed_ns = 3_600_000_000_000;
    let chart = charts::over_time(&run).unwrap();
    let ablaze_chart::Panel::Plot(rate) = &chart.panels[0] else { panic!("a plot") };
    assert_eq!(rate.series[0].points.len(), 240);
    // 195 responses in 100 ms, whatever is put together.
    assert!(rate.series[0].points.iter().all(|point| (point.y - 1950.0).abs() < 1e-9));
    let ablaze_chart::Panel::Plot(latency) = &chart.panels[1] else { panic!("a plot") };
    let p99 = latency.series.iter().find(|series| series.name == "p99").unwrap();
    assert_eq!(p99.points[0].y, 99_000_000.0);
}

#[test]
fn shares_of_a_distribution_add_up() {
    let run = sample::ordinary();
    let chart = charts::distribution(&[ShownRun::new("x", 0, &run)]).unwrap();
    let ablaze_chart::Panel::Plot(plot) = &chart.panels[0] else { panic!("a plot") };
    let sum: f64 = plot.series[0].points.iter().map(|point| point.y).sum();
    assert!((0.998..=1.0).contains(&sum), "{sum}");
}

#[test]
fn markdown_is_read_back_by_explain() {
    for (name, run) in all() {
        let Markdown { text, files } = markdown_of_run(&assessed(&run), "run");
        let read = printed::read(&text);
        assert_eq!(read.reports.len(), 1, "{name}\n{text}");
        let report = &read.reports[0];
        assert_eq!(report.complete.unwrap_or(0), run.record.responses, "{name}");
        for (file, svg) in &files {
            assert!(text.contains(&format!("]({file})")), "{name} {file}");
            roxmltree::Document::parse(svg).expect("a well-formed chart");
        }
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("|:--")) {
            let columns = |line: &str| line.replace("\\|", "").matches('|').count();
            let table = lines[index - 1..].iter().take_while(|line| line.starts_with('|'));
            assert!(table.clone().count() > 2, "{name}");
            assert!(table.clone().all(|row| columns(row) == columns(line)), "{name} {line}");
        }
    }
}

#[test]
fn findings_are_footnotes_of_markdown() {
    let run = sample::troubled();
    let text = markdown_of_run(&assessed(&run), "run").text;
    let judged = assessed(&run).judged;
    let mut number = 0;
    for finding in section::findings("", &judged) {
        number += 1;
        let name = format!("[^{}-{number}]", finding.finding.id.to_string().to_lowercase());
        assert_eq!(text.matches(&name).count(), 2, "{name}: a reference and a note");
    }
    assert!(number > 0);
}

#[test]
fn a_stall_is_pointed_at() {
    let mut run = sample::ordinary();
    for slice in &mut run.record.slices.slices[40..45] {
        *slice = ablaze_model::record::Slice::default();
    }
    let chart = charts::over_time(&run).unwrap();
    let ablaze_chart::Panel::Plot(rate) = &chart.panels[0] else { panic!("a plot") };
    assert_eq!(
        rate.marks,
        [ablaze_chart::Mark::between(4e9, 4.5e9, "no response for at least 500 ms")]
    );
    // One response now and then: empty pieces are what is usual.
    for slice in &mut run.record.slices.slices {
        slice.responses = u64::from(slice.responses > 200);
    }
    let chart = charts::over_time(&run).unwrap();
    let ablaze_chart::Panel::Plot(rate) = &chart.panels[0] else { panic!("a plot") };
    assert_eq!(rate.marks, []);
}

#[test]
fn runs_on_one_page_stand_beside_each_other() {
    let runs = [
        ("before".to_owned(), assessed(&sample::ordinary())),
        ("after".to_owned(), assessed(&sample::troubled())),
    ];
    let page = of_runs(&runs, &[]);
    let html = page.html();
    parsed(&html);
    let saved: Vec<Run> = runs_json(&html).map(|json| json::load(json).unwrap().run).collect();
    assert_eq!(saved.len(), 2);
    assert_eq!(json::write(&assessed(&saved[1])), json::write(&runs[1].1));
    // What is wrong with one of them is said of it.
    let judged = &runs[1].1.judged;
    assert!(html.contains(&format!("<strong>{}</strong>", judged.verdict)), "the worst of both");
    let (root, _) = judged.with_explained().next().unwrap();
    assert!(html.contains(&format!("after: <a href=\"#{}\">", root.id.anchor())));
    for cell in ["<th scope=\"row\">before</th>", "<td>2,000</td>"] {
        assert!(html.contains(cell), "{cell}");
    }
    assert_eq!(printed::read(&page.markdown("both").text).reports.len(), 2);
}

#[test]
fn every_group_is_on_the_page() {
    let mut run = sample::grouped();
    let group = run.record.groups[0].clone();
    for number in 0..30 {
        let group = GroupRecord { name: format!("/item/{number}"), ..group.clone() };
        run.record.groups.push(group);
    }
    let shown = assessed(&run);
    let pages = [of_run(&shown).html(), markdown_of_run(&shown, "run").text];
    for page in pages {
        assert!(page.contains("By group"), "{page}");
        for number in 0..30 {
            // Again in the report as the terminal shows it, of which ten rows are enough.
            assert!(page.contains(&format!("/item/{number}")), "{number}: {page}");
        }
    }
    let mut many = sample::ordinary();
    many.plan.requests.groups.too_many = 300;
    let page = of_run(&assessed(&many)).html();
    assert!(page.contains("No table of groups: 300 were named"), "{page}");
}

/// The page without its style, scripts and code: what a reader sees as prose.
fn prose(html: &str) -> String {
    let mut prose = html.to_owned();
    for (from, to) in
        [("<style", "</style>"), ("<script", "</script>"), ("<code", "</code>"), ("<pre", "</pre>")]
    {
        while let Some((before, rest)) = prose.split_once(from) {
            let after = rest.split_once(to).map_or("", |(_, after)| after);
            prose = format!("{before}{after}");
        }
    }
    prose
}

#[test]
fn the_figures_stand_before_the_findings_and_no_markdown_is_left() {
    for run in [sample::ordinary(), sample::troubled()] {
        let page = super::of_run(&sample::assessed(&run));
        let place = |wanted: fn(&Block) -> bool| {
            page.sections.iter().flat_map(|section| &section.blocks).position(wanted)
        };
        let figures = place(|block| matches!(block, Block::Figures(_))).unwrap();
        assert!(place(|block| matches!(block, Block::Findings(_))).is_none_or(|at| figures < at));
        let prose = prose(&page.html());
        for mark in ["`", "**", "]("] {
            assert!(!prose.contains(mark), "{mark}: {prose}");
        }
        let text = page.markdown("run").text;
        for only_there in ["ablaze-figures", "Point at", "this page"] {
            assert!(!text.contains(only_there), "{only_there}");
        }
    }
}

#[test]
fn what_came_back_has_one_denominator() {
    let run = sample::troubled();
    let section = super::section::outcome(&run);
    let Block::Table(block) = &section.blocks[0] else { panic!("{section:?}") };
    let finished = run.record.finished() as f64;
    let number = |text: &str| text.replace([',', ' ', '%'], "").parse::<f64>().unwrap();
    let mut outcomes = 0.0;
    for row in block.table.rows.iter().filter(|row| !row[2].is_empty()) {
        let expected = number(&row[1]) / finished * 100.0;
        assert!((number(&row[2]) / expected - 1.0).abs() < 0.05, "{row:?}");
        if row[0].starts_with("responses ") || row[0].starts_with("error: ") {
            outcomes += number(&row[1]);
        }
    }
    assert_eq!(outcomes, finished);
    assert!(block.caption.contains(&crate::number::grouped(finished as u64)), "{}", block.caption);
}

#[test]
fn the_parts_of_a_mean_add_up_to_it_where_requests_were_sent_again() {
    let mut run = sample::ordinary();
    run.record.repeated = 400;
    let latency = run.record.answered.latency();
    let mean_ns = latency.sum_ns() as f64 / run.record.responses as f64;
    // Each took 7 µs longer than its phases.
    let extra_ns = 7_000 * run.record.responses;
    for _ in 0..run.record.responses / 100 {
        run.record.answered.total.record(extra_ns / (run.record.responses / 100) + mean_ns as u64);
    }
    let total_ns = run.record.answered.latency().sum_ns() as f64 / run.record.responses as f64;
    let chart = charts::phases(&[ShownRun::new("x", 0, &run)]).unwrap();
    let table = chart.tables().remove(0);
    let part = table.head.iter().position(|name| name == "first attempts");
    assert!(part.is_some(), "{table:?}");
    let ablaze_chart::Panel::Bars(bars) = &chart.panels[0] else { panic!("bars") };
    let sum: f64 = bars.rows[0].values.iter().sum();
    assert!((sum / total_ns - 1.0).abs() < 0.01, "{sum} {total_ns}");
}

#[test]
fn connects_of_two_kinds_are_told_apart_in_a_narrow_table() {
    let mut run = sample::ordinary();
    for connects in [&mut run.record.setup_connect, &mut run.record.answered.connect] {
        connects.record(50_000);
    }
    let (_, rows, caption) = crate::text::latency_table(&run);
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(&names[..2], ["connect, before", "connect, during"]);
    assert!(
        caption.starts_with("connect: ") && caption.contains("before the clock; then 1×, during"),
        "{caption}"
    );
    // Over HTTP/3 there is no connect.
    let (_, _, caption) = crate::text::latency_table(&sample::over_http3());
    assert!(caption.starts_with("quic: ") && caption.contains("before the clock"), "{caption}");
}

#[test]
fn the_most_frequent_lengths_of_bodies_are_shown_and_how_many_had_others() {
    let mut run = sample::ordinary();
    run.record.body_lengths = (1..=20u64).map(|at| (at * 10, 50)).collect();
    run.record.body_lengths.insert(5_000, 18_900);
    run.record.body_lengths_other = 100;
    let section = super::section::outcome(&run);
    let Block::Table(block) = &section.blocks[0] else { panic!("{section:?}") };
    let bodies: Vec<_> =
        block.table.rows.iter().filter(|row| row[0].starts_with("body of ")).collect();
    assert_eq!(bodies.len(), 9);
    assert_eq!(bodies[0][..2], ["body of 10 B", "50"]);
    assert_eq!(bodies[7][..2], ["body of 5,000 B", "18,900"]);
    assert_eq!(*bodies[8], ["body of another length", "750", "3.8 %"]);
}

#[test]
fn it_says_whose_cpu_time_is_not_known() {
    let (seen, mut unseen) = (sample::ordinary(), sample::ordinary());
    unseen.monitor = None;
    let caption = |subjects: &[ShownRun<'_>]| match super::section::cpu(subjects).blocks.remove(0) {
        Block::Chart { caption, .. } => caption,
        other => panic!("{other:?}"),
    };
    let without = "The server's CPU time was not measured: there was no monitor.";
    let of = |name: &'static str, run| ShownRun::new(name, 0, run);
    assert_eq!(caption(&[of("a", &seen), of("b", &unseen)]), format!("b: {without}"));
    assert_eq!(caption(&[of("a", &unseen), of("b", &unseen)]), without);
    assert_eq!(caption(&[of("a", &seen)]), "");
}

#[test]
fn whose_line_is_not_drawn_is_said() {
    let (many, mut few) = (sample::ordinary(), sample::ordinary());
    few.record.answered.total.clear();
    few.record.answered.total.record_many(1_000_000, 9);
    let subjects = [ShownRun::new("fast", 0, &many), ShownRun::new("slow", 1, &few)];
    let caption = |mut section: Section| match section.blocks.remove(0) {
        Block::Chart { caption, .. } => caption,
        other => panic!("{other:?}"),
    };
    let missing = " Not drawn: slow, too few responses.";
    for of in [super::section::percentiles, super::section::distribution] {
        assert!(caption(of(&subjects)).ends_with(missing));
        assert!(!caption(of(&subjects[..1])).contains("Not drawn"));
    }
}

#[test]
fn both_lines_of_an_open_loop_end_on_a_ground_that_says_few_values() {
    let run = open();
    let marks = |run: &Run| match charts::percentiles(&[ShownRun::new("x", 0, run)])
        .unwrap()
        .panels
        .remove(0)
    {
        ablaze_chart::Panel::Plot(plot) => plot.marks,
        other => panic!("{other:?}"),
    };
    assert_eq!(marks(&run).len(), 1);
    assert_eq!(marks(&run)[0].text, "few values");
}

#[test]
fn errors_do_not_hide_unexpected_statuses() {
    let run = sample::troubled();
    let section = super::section::figures(&run);
    let Block::Figures(figures) = &section.blocks[0] else { panic!("{section:?}") };
    let errors = figures.iter().find(|figure| figure.name == "errors").unwrap();
    assert_eq!(errors.note, "0.075 % of the requests; 100 with an unexpected status");
}

#[test]
fn merged_runs_had_monitors_of_their_own() {
    let mut run = sample::ordinary();
    (run.monitor, run.plan.workers.count_reason) = (None, "2 shards".to_owned());
    let why = super::section::server_unseen(&run).unwrap();
    assert!(why.ends_with("is with each of them.") && !why.contains("no monitor"), "{why}");
}

#[test]
fn the_response_time_of_an_open_loop_is_called_so() {
    let (closed, open) = (sample::ordinary(), open());
    let of = |name: &'static str, run| ShownRun::new(name, 0, run);
    let caption =
        |subjects: &[ShownRun<'_>]| match super::section::distribution(subjects).blocks.remove(0) {
            Block::Chart { chart, caption, .. } => (chart.title, caption),
            other => panic!("{other:?}"),
        };
    let (title, text) = caption(&[of("x", &open)]);
    assert_eq!(title, "Distribution of the response time");
    assert!(!text.contains("due"), "{text}");
    let (title, text) = caption(&[of("a", &closed), of("b", &open)]);
    assert_eq!(title, "Distribution of the latency");
    assert!(text.ends_with(" b: response time, since a request was due (open loop)."), "{text}");
}

#[test]
fn the_p99_of_few_responses_is_said_to_be_the_longest() {
    let mut run = sample::ordinary();
    assert_eq!(charts::over_time_caption(&run), "Each point stands for 100 ms.");
    run.record.slices.slices[7].responses = 99;
    let text = charts::over_time_caption(&run);
    assert!(
        text.ends_with("p99 of a point with fewer than 100 responses is the longest."),
        "{text}"
    );
}

/// The file of a run has the version that measured it; the page is of this one.
#[test]
fn a_page_does_not_say_that_its_program_measured_the_run() {
    let page = of_run(&assessed(&sample::ordinary()));
    assert!(page.when.contains(", page written by ablaze "), "{}", page.when);
    let rows = super::section::environment_rows(&sample::ordinary());
    assert!(
        rows.iter().flatten().all(|cell| !cell.contains(env!("CARGO_PKG_VERSION"))),
        "{rows:?}"
    );
}
