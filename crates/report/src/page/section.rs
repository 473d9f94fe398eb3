//! The sections of a page, each from one Run or from several.

use ablaze_model::finding::{Finding, Judged};
use ablaze_model::run::Ended;
use ablaze_model::{Assessed, FailureKind, Run};

use super::{
    Banner, Block, Figure, FindingText, Section, ShownRun, TableBlock, charts, shell_text,
};
use crate::groups::{Columns, GroupTable};
use crate::number::{bytes, bytes_rate, counted, grouped, percent, rate, time, time_in, time_unit};
use crate::per_second::PerSecond;
use crate::text;

mod cpu;

pub use cpu::{cpu, server_unseen, servers_unseen};

/// What stands above findings.
pub const FOUND: &str = "What was found";

/// The verdict on one Run, and what limited it.
pub fn verdict(assessed: &Assessed) -> Section {
    let Assessed { run, judged } = assessed;
    let banner = Banner { verdict: judged.verdict, text: sentence(&judged.limited.to_string()) };
    let mut section = Section::default().with(Block::Verdict(banner));
    let after = time(run.elapsed_ns as f64);
    section.blocks.extend(match run.ended {
        Ended::Complete => None,
        Ended::Interrupted if run.elapsed_ns == 0 => {
            let first =
                if run.plan.sends_before_clock() { "clock started" } else { "first request" };
            Some(Block::Text(format!("Interrupted before the {first}.")))
        }
        Ended::Interrupted => {
            Some(Block::Text(format!("Interrupted after {after}: results up to then.")))
        }
        Ended::Unreachable => {
            Some(Block::Text(format!("Gave up: {}.", crate::gave_up::in_words(run))))
        }
        Ended::Failed => Some(Block::Text(format!(
            "Failed after {after}, which is a bug in ablaze: results up to then."
        ))),
    });
    section
}

/// What was found in one Run; `None` where nothing was.
pub fn found(judged: &Judged) -> Option<Section> {
    let findings = findings("", judged);
    (!findings.is_empty()).then(|| Section::new(FOUND).with(Block::Findings(findings)))
}

/// The findings of a judged Run as a page shows them: those that the verdict stands on, then notes.
pub fn findings(of: &str, judged: &Judged) -> Vec<FindingText> {
    let of_finding = |finding: &Finding, explains: Vec<String>| FindingText {
        of: of.to_owned(),
        finding: finding.clone(),
        explains,
    };
    let roots = judged.with_explained().map(|(root, explained)| {
        let names = explained.iter().map(|other| format!("{} {}", other.id, other.id.name()));
        of_finding(root, names.collect())
    });
    let notes = judged
        .notes()
        .filter(|note| !text::SAID_BY_THE_LIMIT.contains(&note.id))
        .map(|note| of_finding(note, Vec::new()));
    roots.chain(notes).collect()
}

/// The figures that matter most, the table of latencies and what came back.
pub fn figures(run: &Run) -> Section {
    let mut section = Section::default().with(Block::Figures(large(run)));
    let (head, rows, connects) = text::latency_table(run);
    if !rows.is_empty() {
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut table = Block::table(&head, rows);
        if let Block::Table(TableBlock { caption, .. }) = &mut table {
            *caption = connects;
        }
        section = section.with(table);
    }
    section
}

fn large(run: &Run) -> Vec<Figure> {
    let record = &run.record;
    let figure =
        |name: &str, value: String, note: String| Figure { name: name.into(), value, note };
    let steady = PerSecond::of(run).map(|steady| {
        format!("second by second {} to {}", rate(steady.slowest_per_s), rate(steady.fastest_per_s))
    });
    let latency = record.answered.latency();
    let quantile = |q| latency.supported_quantile_ns(q).map_or("-".into(), |ns| time(ns as f64));
    let what = if run.plan.load.is_open() { "response" } else { "latency" };
    let interval = latency.quantile_interval_ns(0.99).map(|(low, high)| {
        let (length, unit) = time_unit(high as f64);
        let end = |ns: u64| time_in(ns as f64, length);
        format!("95 % interval {}–{} {unit}", end(low), end(high))
    });
    let failures = record.failures_total();
    let errors = match (failures, record.unexpected) {
        (0, 0) => "all as expected".to_owned(),
        (0, unexpected) => format!("{} with an unexpected status", grouped(unexpected)),
        (_, unexpected) => {
            let share = percent(failures as f64, record.finished() as f64);
            let beside = match unexpected {
                0 => String::new(),
                _ => format!("; {} with an unexpected status", grouped(unexpected)),
            };
            format!("{share} of the requests{beside}")
        }
    };
    vec![
        figure(
            "rate",
            run.rate_per_s().map_or("-".into(), |per_s| format!("{}/s", rate(per_s))),
            steady.unwrap_or_default(),
        ),
        figure(&format!("{what}, p50"), quantile(0.5), String::new()),
        figure(&format!("{what}, p99"), quantile(0.99), interval.unwrap_or_default()),
        figure(
            "responses",
            grouped(record.responses),
            format!("in {}", crate::number::length(run.elapsed_ns as f64)),
        ),
        figure("errors", grouped(failures), errors),
    ]
}

/// What came back: responses by status, bodies, errors by kind, and what was neither.
pub fn outcome(run: &Run) -> Section {
    let record = &run.record;
    // One denominator for all rows: what finished, one way or the other.
    let finished = record.finished();
    let share = |part: u64| percent(part as f64, finished as f64);
    let mut rows: Vec<Vec<String>> = record
        .statuses
        .iter()
        .map(|(status, n)| vec![format!("responses {status}"), grouped(*n), share(*n)])
        .collect();
    for kind in FailureKind::ALL {
        let n = record.failures_of(kind);
        if n > 0 {
            rows.push(vec![format!("error: {}", kind.label()), grouped(n), share(n)]);
        }
    }
    let (lengths, others) = body_lengths(run);
    for (length, n) in lengths {
        rows.push(vec![format!("body of {} B", grouped(length)), grouped(n), share(n)]);
    }
    if others > 0 {
        rows.push(vec!["body of another length".to_owned(), grouped(others), share(others)]);
    }
    for (name, n) in [("unfinished", record.unfinished), ("sent again", record.repeated)] {
        if n > 0 {
            rows.push(vec![name.into(), grouped(n), String::new()]);
        }
    }
    let mut caption = format!(
        "Shares are of all {} that finished, with or without a valid response.",
        counted(finished, "request")
    );
    if run.elapsed_ns > 0 && record.received_bytes > 0 {
        let per_s = record.received_bytes as f64 * 1e9 / run.elapsed_ns as f64;
        caption.push_str(&format!(" {} received, heads included.", bytes_rate(per_s)));
    }
    let mut block = Block::table(&["", "requests", "share of requests"], rows);
    if let Block::Table(TableBlock { caption: below, .. }) = &mut block {
        *below = caption;
    }
    let section = Section::new("What came back").with(block);
    let said = [
        ("Before the clock started", crate::before_clock::in_words(run).map(|text| vec![text])),
        ("Connecting", crate::before_clock::elsewhere_in_words(run).map(|text| vec![text])),
        ("Addresses", crate::addresses::in_words(run)),
        ("HTTP/2", crate::http2::in_words(run)),
        ("HTTP/3", crate::http3::in_words(run)),
        ("QUIC", crate::http3::quic_in_words(run)),
    ];
    said.into_iter().fold(section, |section, (what, items)| match items {
        Some(items) => section.with(Block::Remark(format!("{what}: {}.", items.join(" · ")))),
        None => section,
    })
}

/// The most frequent lengths of bodies, from the shortest on, each with its responses; and how many responses had others.
fn body_lengths(run: &Run) -> (Vec<(u64, u64)>, u64) {
    const MOST: usize = 8;
    let mut lengths: Vec<(u64, u64)> =
        run.record.body_lengths.iter().map(|(length, n)| (*length, *n)).collect();
    lengths.sort_by_key(|(length, n)| (std::cmp::Reverse(*n), *length));
    let rest = lengths.split_off(lengths.len().min(MOST));
    lengths.sort_unstable();
    let others = rest.iter().map(|(_, n)| n).sum::<u64>() + run.record.body_lengths_other;
    (lengths, others)
}

/// The one chart of a Run where there is room for one: see [`charts::main`].
pub fn main(run: &Run) -> Section {
    let chart = charts::main(run);
    Section::default().with(Block::Chart { chart, caption: String::new(), figures: false })
}

/// Rate and latency over time.
pub fn over_time(run: &Run) -> Section {
    let block = charts::over_time(run).map(|chart| Block::Chart {
        chart,
        caption: charts::over_time_caption(run),
        figures: false,
    });
    of_block("", block, "The run was too short to draw over time.")
}

/// Latency by percentile.
pub fn percentiles(subjects: &[ShownRun<'_>]) -> Section {
    let caption = "Each further nine takes the same width. The shaded band is the 95 % interval; \
                   where there are few values, longer runs would show a different line.";
    let caption = format!("{caption}{}", of_lines(subjects, charts::PERCENTILES_FROM));
    let block =
        charts::percentiles(subjects).map(|chart| Block::Chart { chart, caption, figures: false });
    of_block("", block, "Too few responses for percentiles.")
}

/// How the latencies are spread.
pub fn distribution(subjects: &[ShownRun<'_>]) -> Section {
    let caption = "Up to the 99.9th percentile. Bins are as wide as drawn.";
    let caption = format!("{caption}{}", of_lines(subjects, charts::DISTRIBUTION_FROM));
    let block =
        charts::distribution(subjects).map(|chart| Block::Chart { chart, caption, figures: false });
    of_block("", block, "Too few responses for a distribution.")
}

/// Which of several have something else on the axis than the others, and whose line is missing, as it has fewer values
/// than this.
fn of_lines(subjects: &[ShownRun<'_>], least: u64) -> String {
    let is_open = |subject: &&ShownRun<'_>| subject.run.plan.load.is_open();
    let open: Vec<&str> = subjects.iter().filter(is_open).map(|subject| subject.name).collect();
    let of_open = match (open.len(), subjects.len()) {
        (0, _) | (_, 1) => String::new(),
        _ => format!(" {}: response time, since a request was due (open loop).", open.join(", ")),
    };
    let is_too_few =
        |subject: &&ShownRun<'_>| subject.run.record.answered.latency().count() < least;
    let names: Vec<&str> = subjects.iter().filter(is_too_few).map(|subject| subject.name).collect();
    of_open + &too_few(&names)
}

/// ` Not drawn: slow, too few responses.`
pub(crate) fn too_few(names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(" Not drawn: {}, too few responses.", names.join(", "))
}

/// Where the time of a response went.
pub fn phases(subjects: &[ShownRun<'_>]) -> Section {
    let without = "Nearly all of a response's time was spent waiting for its first byte: there is \
                   no chart of its phases.";
    of_block("", charts::phases(subjects).map(Block::chart), without)
}

fn of_block(heading: &str, block: Option<Block>, without: &str) -> Section {
    Section::new(heading).with(block.unwrap_or_else(|| Block::Remark(without.to_owned())))
}

/// A row per group of requests, all of them; nothing where there are no groups.
pub fn groups(run: &Run) -> Option<Section> {
    const NAME_CHARS: usize = 120;
    let section = Section::new("By group");
    if let Some(reason) = crate::groups::too_many(run) {
        return Some(section.with(Block::Remark(format!("No table of groups: {reason}."))));
    }
    let GroupTable { head, rows } = crate::groups::table(run, Columns::All, NAME_CHARS)?;
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    Some(section.with(Block::table(&head, rows)))
}

/// What became of journeys, and the steps in which they failed; nothing where requests are none's steps.
pub fn journeys(run: &Run) -> Option<Section> {
    let own = run.record.journeys.as_ref()?;
    let mut items = vec![format!("{} journeys/s", crate::journeys::rate_text(run, own))];
    items.extend(crate::journeys::durations(own));
    items.extend(crate::journeys::counts(own));
    items.extend(crate::users::over_time(run));
    items.extend(crate::users::setup(run).map(|(text, _)| text));
    let mut section =
        Section::new("Journeys").with(Block::Remark(format!("{}.", items.join(" · "))));
    if let Some((head, rows)) = crate::users::table(run) {
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        section = section.with(Block::table(&head, rows));
    }
    let row = |step: &ablaze_model::record::JourneyStep| {
        let name = ablaze_model::printable::printable(&step.name).into_owned();
        vec![name, crate::number::grouped(step.failed), crate::journeys::reason(step)]
    };
    let rows: Vec<Vec<String>> = crate::journeys::failed(own).map(row).collect();
    if rows.is_empty() {
        return Some(section);
    }
    Some(section.with(Block::table(&["step", "journeys failed", "the first"], rows)))
}

/// The command that gives this Run again.
pub fn command(words: &[String]) -> Section {
    Section::new("The command").with(Block::Command(shell_text(words)))
}

/// The report as the terminal shows it, folded away.
pub fn report(assessed: &Assessed) -> Section {
    let text = text::write(assessed, &text::Style::default());
    Section::default().with(Block::Report { name: "The report".into(), text })
}

/// The machine and how it was used.
pub fn environment(run: &Run) -> Section {
    Section::new("The environment").with(Block::list(environment_rows(run)))
}

/// What is known of the machine, by name.
pub fn environment_rows(run: &Run) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            rows.push(vec![name.to_owned(), value]);
        }
    };
    let machine = &run.machine;
    let proxied = run.plan.target.proxy.is_some();
    let seen = run.monitor.as_ref().map(|monitor| &monitor.environment);
    add("started", Some(started(run)));
    let fallback = run.backend.fallback_reason.as_ref();
    let why = fallback.map(|reason| format!(" instead of io_uring: {reason}")).unwrap_or_default();
    let threads = counted(run.plan.workers.count.into(), "thread");
    add("client", Some(format!("{threads}: {}", run.plan.workers.count_reason)));
    add("input and output", Some(format!("{}{why}", run.backend.name)));
    let tls = run.record.tls.as_ref().map_or(0, |facts| facts.connected);
    let proxy = run.record.proxy.as_ref().map_or(0, |facts| facts.connected);
    let stood = run.record.connections_opened + tls + proxy > 0;
    add("connected to", stood.then(|| run.connected_to.clone()));
    add("proxy", crate::proxy::in_words(run).map(|items| items.join(" · ")));
    add(if proxied { "process of the proxy" } else { "server" }, server(run));
    add("kernel", seen.and_then(|seen| seen.kernel.clone()).or_else(|| machine.kernel.clone()));
    add("processor", processor(run));
    let memory = seen.and_then(|seen| seen.memory_bytes).or(machine.memory_bytes);
    add("memory", memory.map(|held| bytes(held as f64)));
    if let Some(seen) = seen {
        add("virtual machine or container", seen.virtualisation.clone());
        add("frequency governor", seen.governor.clone());
        add("quota", seen.cpu_quota.map(|cpus| format!("{cpus} CPUs' time")));
        add("load before", seen.load_average.map(|load| format!("{load:.2}")));
        add("clock source", seen.clock_source.clone());
        let settings = seen.settings.iter().map(|(name, value)| format!("{name}={value}"));
        add("settings", Some(settings.collect::<Vec<_>>().join(" · ")));
    }
    rows
}

fn server(run: &Run) -> Option<String> {
    let process = run.monitor.as_ref()?.target.busiest()?;
    let threads = process.thread_count.map(|range| format!(", {}", counted(range.max, "thread")));
    Some(format!("{}, pid {}{}", process.name, process.pid, threads.unwrap_or_default()))
}

fn processor(run: &Run) -> Option<String> {
    let seen = run.monitor.as_ref().map(|monitor| &monitor.environment);
    let model =
        seen.and_then(|seen| seen.cpu_model.clone()).or_else(|| run.machine.cpu_model.clone());
    let cpus =
        run.machine.cpus_allowed.map(|cpus| format!("{} permitted", counted(cpus.into(), "CPU")));
    let parts: Vec<String> = model.into_iter().chain(cpus).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// When the run began, to the second, in UTC.
pub fn started(run: &Run) -> String {
    let text = ablaze_model::moment::rfc3339(run.started_unix_ns);
    let text = text.split('.').next().unwrap_or_default().replace('T', " ");
    format!("{text} UTC")
}

/// A sentence of what is the end of one.
pub(crate) fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) || text.is_empty() { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}
