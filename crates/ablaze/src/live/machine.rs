//! The part of a frame that says how busy both sides are, and what bounds the rate by now.

use ablaze_model::finding::Limited;
use ablaze_model::progress::Interval;
use ablaze_monitor::{Present, Side};
use ablaze_verdict::limit::{LastSecond, Part, at_present};

use super::line::{Line, Look};
use super::sections::bar;

/// Columns of the name of a side.
const NAME: usize = 13;
/// Columns of the longest bar.
const BAR: usize = 20;
/// With this share of a core a thread has hardly any left.
const FULL: f64 = 0.95;

/// The rows: each side that can be observed, and the limit. `paused` is by hand.
pub fn rows(
    present: &Present,
    requested_per_s: Option<f64>,
    recent: &Interval,
    paused: bool,
) -> Vec<Line> {
    let mut lines = Vec::new();
    lines.extend(present.client.as_ref().map(|side| row("client CPU", side, false)));
    lines.extend(present.server.as_ref().map(|side| row("server CPU", side, true)));
    let limited = limited_now(present, requested_per_s, recent);
    let limit = Line::empty().with(Look::Plain, "limit now").up_to_column(NAME);
    lines.push(match limited {
        _ if paused => limit.with(Look::Attention, "paused by hand"),
        Some(limited) => limit.with(Look::Strong, &limited.to_string()),
        None => limit.with(Look::Faint, "not shown by the last second; the report says more"),
    });
    lines
}

/// What bounds the rate, as far as the last second shows it.
pub fn limited_now(
    present: &Present,
    requested_per_s: Option<f64>,
    recent: &Interval,
) -> Option<Limited> {
    let part = |side: &Side, busiest| Part { busiest, cores: side.cores, threads: side.threads };
    at_present(&LastSecond {
        requested_per_s,
        came_per_s: recent.rate_per_s(),
        client: present.client.as_ref().map(|side| part(side, working(side, recent))),
        server: present.server.as_ref().map(|side| part(side, side.busiest)),
        processors: present.processors,
    })
}

/// How much of their time the threads work that send and receive, on average, without what they watch for events. They have
/// no names here: the busiest works at least as much.
pub fn working(side: &Side, recent: &Interval) -> f64 {
    let spun = recent.spun_ns as f64 / recent.length_ns().max(1) as f64;
    ((side.cores - spun) / side.threads.max(1) as f64).clamp(0.0, 1.0)
}

/// `server CPU   ███████████████████▌ 98 %  nginx, 2 threads, 1.9 cores`
fn row(label: &str, side: &Side, shows_full: bool) -> Line {
    let is_full = shows_full && side.busiest >= FULL;
    let look = if is_full { Look::Attention } else { Look::Figure };
    let threads = match side.threads {
        1 => "its one thread".to_owned(),
        threads => format!("the busiest of {threads} threads; {:.2} cores in all", side.cores),
    };
    let line = Line::empty()
        .with(Look::Plain, label)
        .up_to_column(NAME)
        .with(look, &bar(side.busiest, BAR));
    let line = line
        .up_to_column(NAME + BAR + 1)
        .with(Look::Strong, &format!("{:3.0} %", side.busiest * 100.0));
    line.with(Look::Faint, &format!("  {}, {threads}", side.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(name: &str, busiest: f64) -> Side {
        Side { name: name.to_owned(), busiest, cores: 1.4, threads: 2 }
    }

    #[test]
    fn each_side_that_is_seen_has_its_row_and_the_limit_its_evidence() {
        let recent = Interval { to_ns: 1_000_000_000, responses: 90_000, ..Interval::default() };
        let present = Present {
            client: Some(side("ablaze", 0.5)),
            server: Some(side("nginx", 0.97)),
            processors: None,
        };
        let text = |lines: &[Line]| lines.iter().map(Line::text).collect::<Vec<_>>();
        let lines = text(&rows(&present, None, &recent, false));
        assert!(lines[0].contains(" 50 %") && lines[1].contains(" 97 %  nginx"), "{lines:?}");
        assert_eq!(lines[0].matches('█').count(), 10);
        assert!(lines[2].contains("limited by the server"), "{lines:?}");
        // What cannot be seen is left out, and no limit is made up.
        let lines = text(&rows(&Present::default(), None, &recent, false));
        assert!(lines.len() == 1 && lines[0].contains("not shown"), "{lines:?}");
        assert!(
            text(&rows(&present, Some(0.0), &Interval::default(), true))[2]
                .contains("paused by hand")
        );
    }

    #[test]
    fn a_client_that_has_no_time_left_is_the_limit_and_watching_is_time_left() {
        let busy = Side { name: "ablaze".to_owned(), busiest: 1.0, cores: 1.94, threads: 2 };
        let present = Present { client: Some(busy), server: None, processors: Some(8) };
        let recent = |spun_ns| Interval {
            to_ns: 1_000_000_000,
            responses: 90_000,
            spun_ns,
            ..Interval::default()
        };
        let last = |recent: &Interval| rows(&present, None, recent, false).last().unwrap().text();
        let text = last(&recent(0));
        assert!(
            text.contains("limited by the client: the busiest of its 2 threads works 97 %"),
            "{text}"
        );
        let text = last(&recent(1_000_000_000));
        assert!(text.contains("not shown"), "{text}");
    }
}
