//! What else there is to know: how steady the rate was, what the run cost this machine, whether the client stood in
//! its own way, and what was agreed on with proxy and server.

use ablaze_model::Run;
use ablaze_model::feed::Order;
use ablaze_model::finding::LittleGap;
use ablaze_model::printable::printable;

use super::Style;
use crate::effort::{self, Effort, cpu_time};
use crate::number::{grouped, percent, rate, significant, time, time_in, time_unit};
use crate::per_second::PerSecond;
use crate::table::{sentence, wrapped};

/// More threads than this are summed up.
const THREADS_LISTED: usize = 8;

/// A label each, and what belongs to it.
pub(super) fn lines(run: &Run, gap: Option<LittleGap>, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut fact = |label: &str, text: Option<String>| {
        lines.extend(text.map(|text| labelled(label, &text, style)).unwrap_or_default());
    };
    fact("requests/s", steadiness(run));
    fact("CPU per request", cpu(run));
    fact("client busy", busy(run));
    fact("client delay", delay(run));
    fact("connections idle", resting(run));
    fact("body length", body_length(run));
    fact("content coding", content_coding(run));
    fact("groups", crate::groups::too_many(run));
    fact("feed", feed(run));
    fact("connected to", connected_to(run));
    fact("before the clock", crate::before_clock::in_words(run));
    fact("connecting", crate::before_clock::elsewhere_in_words(run));
    fact("threads", threads(run));
    if let Some(text) = gap.map(little) {
        lines.extend(labelled("in flight", &text, style).iter().map(|line| style.warning(line)));
    }
    let agreed = [
        ("addresses", crate::addresses::in_words(run)),
        ("proxy", crate::proxy::in_words(run)),
        ("TLS", crate::tls::in_words(run)),
        ("HTTP/2", crate::http2::in_words(run)),
        ("HTTP/3", crate::http3::in_words(run)),
        ("QUIC", crate::http3::quic_in_words(run)),
    ];
    for (label, items) in agreed {
        let items = items.map(|items| wrapped(&start(label), &items, " · ", style.width));
        lines.extend(items.unwrap_or_default());
    }
    if let Some(reason) = &run.backend.fallback_reason {
        let text = format!("{} instead of io_uring: {reason}", run.backend.name);
        lines.extend(labelled("I/O", &text, style).iter().map(|line| style.warning(line)));
    }
    lines
}

/// `gzip, br; bodies are counted as they came`, where requests said which they take.
fn content_coding(run: &Run) -> Option<String> {
    let codings: Vec<&str> = run.record.content_codings.iter().map(String::as_str).collect();
    let of = if run.plan.streams().is_some() { " in the first responses" } else { "" };
    match codings[..] {
        [] => None,
        ["identity"] => Some(format!("none{of}: the server sends bodies as they are")),
        _ => {
            let codings = printable(&codings.join(", ")).into_owned();
            Some(format!("{codings}{of}; bodies are counted as they came"))
        }
    }
}

/// `users.csv: 1,000 rows, each used once; the run ended when they were used up`.
fn feed(run: &Run) -> Option<String> {
    let data = run.plan.requests.data.as_ref()?;
    let used = match data.order {
        Order::Sequential => "used in turn",
        Order::Random => "used at random",
        Order::Unique => "each used once",
    };
    let rows =
        if data.rows == 1 { "1 row".to_owned() } else { format!("{} rows", grouped(data.rows)) };
    let ended = if data.ended(run) { "; the run ended when they were used up" } else { "" };
    Some(format!("{}: {rows}, {used}{ended}", printable(&data.name)))
}

fn start(label: &str) -> String {
    format!("  {label:<17}  ")
}

fn labelled(label: &str, text: &str, style: &Style) -> Vec<String> {
    sentence(&start(label), text, style.width)
}

/// `server 4.6 µs (nginx, pid 4711)    client 3.6 µs (0.2 user, 3.4 kernel)`.
fn cpu(run: &Run) -> Option<String> {
    let effort = Effort::of(run)?;
    let (unit_ns, unit) = time_unit(effort.cpu_ns);
    let part = |ns: f64| significant(ns / unit_ns, if ns < unit_ns { 1 } else { 2 });
    let parts = match effort.has_parts {
        true => format!(" ({} user, {} kernel)", part(effort.user_ns), part(effort.system_ns)),
        false => String::new(),
    };
    let text = if effort.spun_ns > 0.0 && effort.work_ns() <= 0.0 {
        // The kernel's account is coarser than the clock by which polling is measured.
        format!("client {} {unit}, busy polling included{parts}", time_in(effort.cpu_ns, unit_ns))
    } else if effort.spun_ns > 0.0 {
        let (work, spun) = (cpu_time(effort.work_ns()), cpu_time(effort.spun_ns));
        format!("client {work} of work and {spun} of busy polling{parts}")
    } else {
        format!("client {} {unit}{parts}", time_in(effort.cpu_ns, unit_ns))
    };
    let server = effort::of_the_server(run)
        .map(|(server_ns, name)| {
            format!("{} {} ({name})    ", crate::proxy::watched(run), cpu_time(server_ns))
        })
        .unwrap_or_default();
    Some(format!("{server}{text}"))
}

/// How much of their time the threads worked: the figure by which the limit is found ([`Run::workers_busy`]).
fn busy(run: &Run) -> Option<String> {
    let shares = run.workers_busy();
    let text = match shares.as_slice() {
        // Less than the clocks of CPUs show.
        all if all.iter().all(|share| *share <= 0.0) => return None,
        [one] => format!("{} of its one thread's time", percent(*one, 1.0)),
        some if some.len() <= THREADS_LISTED => {
            let listed: Vec<String> = some.iter().map(|share| percent(*share, 1.0)).collect();
            format!("{} of its threads' time", listed.join(" · "))
        }
        many => {
            let least = many.iter().copied().fold(f64::INFINITY, f64::min);
            let most = many.iter().copied().fold(0.0, f64::max);
            let (least, most) = (percent(least, 1.0), percent(most, 1.0));
            format!("{least} to {most} of its {} threads' time", grouped(many.len() as u64))
        }
    };
    Some(text)
}

/// How long a response that had arrived lay in the client, and what share of the times that is.
fn delay(run: &Run) -> Option<String> {
    let age = &run.record.event_age;
    if run.record.responses == 0 {
        return None;
    }
    let p50_ns = age.quantile_ns(0.5)?;
    let p99 = age.supported_quantile_ns(0.99).map(|ns| format!(", p99 {}", time(ns as f64)));
    let total_ns = run.record.answered.total.quantile_ns(0.5).filter(|ns| *ns > 0);
    let share = total_ns.map(|total_ns| {
        format!(" ({} of the median time)", percent(p50_ns as f64, total_ns as f64))
    });
    Some(format!(
        "at most p50 {}{}{} from a response's arrival to its handling",
        time(p50_ns as f64),
        share.unwrap_or_default(),
        p99.unwrap_or_default()
    ))
}

/// How long the client left connections without a request: in no latency, but in the rate.
fn resting(run: &Run) -> Option<String> {
    let share = effort::resting(run)?;
    // A stream may have to wait for its first request, too: until the server has said how many it permits.
    let when = match run.plan.http2.is_some() || run.plan.http3.is_some() {
        true => "with no request in flight",
        false => "between a response and the next request",
    };
    Some(format!("{} of the time, {when}", percent(share, 1.0)))
}

/// Only when the requests in flight and their times do not fit together.
fn little(LittleGap { measured, expected }: LittleGap) -> String {
    format!(
        "{} measured, {} by rate × mean time (Little's law): they should agree, so do not trust \
         the times",
        significant(measured, 3),
        significant(expected, 3)
    )
}

/// The slowest and the fastest whole second, or shorter piece of a short run.
fn steadiness(run: &Run) -> Option<String> {
    let PerSecond { window_ns, slowest_per_s, fastest_per_s } = PerSecond::of(run)?;
    let piece = match window_ns {
        1_000_000_000 => "second".to_string(),
        _ => time(window_ns as f64),
    };
    let (slowest, fastest) = (rate(slowest_per_s), rate(fastest_per_s));
    Some(format!("slowest {piece} {slowest} · fastest {fastest}"))
}

/// How long the bodies were.
fn body_length(run: &Run) -> Option<String> {
    let lengths = &run.record.body_lengths;
    let (shortest, longest) = (lengths.keys().next()?, lengths.keys().next_back()?);
    if lengths.len() == 1 && run.record.body_lengths_other == 0 {
        return Some(format!("{} B each", grouped(*shortest)));
    }
    let more = if run.record.body_lengths_other > 0 { " and others" } else { "" };
    Some(format!("{}–{} B{more}", grouped(*shortest), grouped(*longest)))
}

/// Where the connections really went, where the URL does not show it.
fn connected_to(run: &Run) -> Option<String> {
    let target = &run.plan.target;
    let named = run.connected_to.trim_start_matches('[').starts_with(&target.host);
    let tls = run.record.tls.as_ref().map_or(0, |facts| facts.connected);
    let stood = run.record.connections_opened + tls > 0;
    let shown = stood && !run.connected_to.is_empty() && !named && target.proxy.is_none();
    shown.then(|| run.connected_to.clone())
}

/// Why this number of threads was used.
fn threads(run: &Run) -> Option<String> {
    let workers = &run.plan.workers;
    let told = !workers.count_reason.is_empty() && workers.count_reason != "as asked";
    told.then(|| format!("{}: {}", grouped(workers.count.into()), workers.count_reason))
}
